"""Events and classes where a number or a word was wrong once."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit, softmax
from scipy.stats import poisson

import surefoot as sf
from surefoot.cli import run


def _write(path: Path, names: str, *columns: np.ndarray) -> Path:
    rows = zip(*columns, strict=True)
    path.write_text(names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def test_a_risk_that_text_rounded_to_zero_counts_as_what_it_is_in_the_mean(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    exact = rng.exponential(0.002, 20_000)
    y = (rng.random(20_000) < exact).astype(int)
    text = np.array([f"{p:.3f}" for p in exact])
    a = sf.assess(_write(tmp_path / "rare.csv", "y,risk", y, text), of="event")
    # each of them lies between 0 and 0.0005, and 0.00025 is what it is taken for
    zeros = int((text == "0.000").sum())
    assert a.risk.expected_events == pytest.approx(text.astype(float).sum() + 0.00025 * zeros, rel=1e-9)
    assert a.risk.expected_events == pytest.approx(exact.sum(), rel=0.02)
    assert a.risk.rounded == zeros
    assert a.verdict in ("no evidence against calibration", "inconclusive")


def test_a_class_that_text_rounded_to_zero_is_not_impossible(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = rng.dirichlet([0.15] * 3, 3000)
    y = (rng.random((3000, 1)) > table.cumsum(axis=1)).sum(axis=1).clip(max=2)
    text = [[f"{p:.3f}" for p in column] for column in table.T]
    a = sf.assess(_write(tmp_path / "three.csv", "y,p_0,p_1,p_2", y, *map(np.array, text)), of="classes")
    assert ((table[np.arange(3000), y] < 0.0005).sum()) > 0
    assert np.isfinite(a.log_loss)
    assert a.verdict in ("no evidence against calibration", "inconclusive")
    assert a.weight == 3000


def test_weights_that_differ_by_a_hair_change_no_word_and_no_interval() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(1, 200, 20_000)
    y = rng.random(20_000) < p / 4
    plain = sf.assess(y, p, of="event")
    for spread in (1e-4, 1e-2):
        weighted = sf.assess(y, p, of="event", sample_weight=1 + spread * rng.uniform(-1, 1, 20_000))
        assert (weighted.verdict, weighted.degree) == (plain.verdict, plain.degree) == ("overpredicts", "strongly")
        assert weighted.risk.oe_interval == pytest.approx(plain.risk.oe_interval, rel=0.02)


def test_a_shift_is_a_shift_also_near_zero_and_one() -> None:
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = np.where(np.arange(2000) < 1000, 0.02, 0.98) + rng.normal(0, 0.002, 2000)
        found.append(sf.assess(rng.random(2000) < expit(logit(p) - 0.8), p, of="event").verdict)
    assert set(found) == {"overpredicts"}


def test_the_word_on_weighted_rows_is_by_their_weights() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    p = np.r_[rng.uniform(0.25, 0.35, n), rng.uniform(0.65, 0.75, n)]
    y = rng.random(2 * n) < np.r_[np.full(n, 0.15), np.full(n, 0.85)]
    assert sf.assess(y, p, of="event").verdict == "too timid"
    weight = np.r_[np.full(n, 10.0), np.full(n, 0.1)] * rng.uniform(0.9, 1.1, 2 * n)
    assert sf.assess(y, p, of="event", sample_weight=weight).verdict == "overpredicts"


def test_classes_that_are_off_in_different_ways_are_not_called_too_extreme() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3000, 4))
    y = (
        (rng.random((3000, 1)) > softmax(scores + np.array([1.0, 0, 0, 0]), axis=1).cumsum(axis=1))
        .sum(axis=1)
        .clip(max=3)
    )
    a = sf.assess(y, softmax(scores, axis=1), of="classes")
    assert [part.verdict for part in a.slices] == ["underpredicts", *["overpredicts"] * 3]
    assert a.verdict == "mixed"
    loud = sf.assess(
        (rng.random((3000, 1)) > softmax(scores, axis=1).cumsum(axis=1)).sum(axis=1).clip(max=3),
        softmax(2 * scores, axis=1),
        of="classes",
    )
    assert loud.verdict == "too extreme"
    with pytest.raises(sf.MetricUnavailable, match="not defined for of='classes'"):
        a["oe_ratio"]


def test_events_rarer_than_the_margin_are_not_settled_by_it() -> None:
    a = sf.assess(np.zeros(300, dtype=bool), np.linspace(0.002, 0.003, 300), of="event")
    assert a.risk.overstatement_interval[1] < a.margin
    assert a.verdict == "inconclusive"


def test_the_degree_does_not_depend_on_which_label_is_the_event() -> None:
    rng = np.random.default_rng(0)
    p = 1 - rng.uniform(0.5e-3, 1.5e-3, 20_000)
    y = rng.random(20_000) < 1 - 5 * (1 - p)
    one, other = sf.assess(y, p, of="event"), sf.assess(~y, 1 - p, of="event")
    assert (one.verdict, other.verdict) == ("overpredicts", "underpredicts")
    assert one.degree == other.degree == "strongly"


@pytest.mark.parametrize("seed", range(4))
def test_rare_events_of_many_rows_have_a_p_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.0006, 0.00061, 60_000)
    y = rng.random(60_000) < p
    events, expected = int(y.sum()), float(p.sum())
    # all weights are within 2%, so that the sum is ordered by the number of events, which is nearly Poisson
    over = sf.risk_test(y, p, of="event").pvalue
    assert poisson.cdf(events - 1, expected) - 1e-3 <= over <= poisson.cdf(events, expected) + 1e-3


def test_a_p_value_of_rare_events_is_as_small_as_it_is() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.0004, 0.0008, 60_000)
    y = rng.random(60_000) < 0.4 * p
    found = sf.risk_test(y, p, of="event")
    assert found.pvalue == pytest.approx(poisson.cdf(y.sum(), p.sum()), rel=0.02)
    assert found.pvalue_mid < found.pvalue


def _visits(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    risk = rng.beta(2, 4, 600)
    died = np.where(rng.random(600) < risk / 3, "died", "alive")
    return _write(folder / "visits.csv", "outcome,risk", died, risk.round(4))


def test_the_gate_holds_for_events_and_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(_visits(tmp_path))
    for view in (["--of", "event", "--positive", "died"], ["--of", "classes", "--positive", "died"]):
        wanted = ["assess", file, "--truth", "outcome", "--probabilities", "risk", *view, "--fail-on", "risky"]
        assert run(wanted) == 1
        assert "risky" in capsys.readouterr().out
    assert run(["assess", file, "--of", "event", "--positive", "died", "--fail-on", "oe_ratio<0.8"]) == 1
    assert run(["assess", file, "--of", "event", "--positive", "died", "--fail-on", "oe_ratio<0.1"]) == 0


def test_tallies_of_classes_are_merged_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, one, both = str(_visits(tmp_path)), str(tmp_path / "one.tally"), str(tmp_path / "both.tally")
    read = ["--truth", "outcome", "--probabilities", "risk", "--positive", "died"]
    assert run(["assess", file, *read, "--of", "classes", "-o", one]) == 0
    shutil.copy(one, other := str(tmp_path / "other.tally"))
    assert run(["merge", one, other, "-o", both]) == 0
    assert "1,200 rows" in capsys.readouterr().out
    assert run(["assess", both]) == 0
    assert run(["assess", both, "--of", "event"]) == 3


def test_correctness_has_no_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _write(tmp_path / "c.csv", "correct,confidence", np.array([1, 0, 1]), np.array([0.9, 0.8, 0.7]))
    assert run(["assess", str(file), "--of", "event", "--positive", "1"]) in (2, 3)
    assert "only whether each was correct" in capsys.readouterr().err


def test_an_estimator_is_asked_about_its_event() -> None:
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(1500, random_state=0)
    model = LogisticRegression().fit(X[:500], y[:500])
    a = sf.assess_estimator(model, X[500:], y[500:], of="event")
    assert (a.view, a.event) == ("event", 1)
    assert a["oe_ratio"] == pytest.approx(y[500:].sum() / model.predict_proba(X[500:])[:, 1].sum())


@pytest.mark.parametrize(
    "named", [{}, {"sample_weight": "weight"}, {"groups": "site"}], ids=["plain", "weights", "groups"]
)
def test_the_interval_of_oe_needs_no_rows(named: dict[str, str]) -> None:
    """Frames whose rows never come here, and tallies, have the limits that the text prints."""
    rng = np.random.default_rng(4)
    p = rng.beta(1, 5, 600)
    columns = {"y": (rng.random(600) < p).astype(int), "p": p, "site": np.arange(600) % 40, "weight": 1 + p}
    frame = pl.DataFrame(columns)
    lazy, rows = (sf.assess(f, y_true="y", probabilities="p", of="event", **named) for f in (frame.lazy(), frame))
    found = lazy.intervals["oe_ratio"]
    assert (found.value, found.low, found.high) == pytest.approx(
        (lazy.risk.oe_ratio, *lazy.risk.oe_interval), rel=1e-12
    )
    assert set(lazy.intervals) == {"oe_ratio"}
    if "sample_weight" not in named:  # of these, sums allow for any probabilities
        of_rows = rows.intervals["oe_ratio"]
        assert (found.low, found.high, found.standard_error) == pytest.approx(
            (of_rows.low, of_rows.high, of_rows.standard_error), rel=1e-9
        )
        assert rows.risk.oe_interval == pytest.approx((of_rows.low, of_rows.high), rel=1e-12)


def test_the_interval_of_oe_of_a_tally() -> None:
    p = sf.Predictions.from_probabilities([1, 0, 0, 1, 0, 0], [0.5, 0.25, 0.25, 0.5, 0.25, 0.25], of="event")
    kept = sf.assess(sf.tally(p)).intervals["oe_ratio"]
    # Clopper and Pearson of 2 in 6, over the mean probability of 1/3
    assert (kept.value, kept.low, kept.high) == pytest.approx((1.0, 3 * 0.0432719, 3 * 0.7772219), rel=1e-6)
    assert not sf.assess(sf.tally(sf.Predictions.from_probabilities(p.truth, p.confidence, of="classes"))).intervals
