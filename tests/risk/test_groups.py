"""Rows that belong together: design effects by hand, evidence by hand, and the same numbers from lazy frames."""

import itertools
import json
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from benchmarks.evidence import group_alarms, grouped_rows
from surefoot import InvalidPredictions, Predictions, risk_test
from surefoot.cli import run
from surefoot.risk.evalues import MIXTURE
from surefoot.risk.groups import dependence_of, design_effect


def rows(seed: int = 0, count: int = 40, size: int = 5) -> tuple[Predictions, np.ndarray]:
    return grouped_rows("tight_hi", count, size, 0.6, np.random.default_rng(seed))


def test_the_design_effect_is_what_sums_of_groups_vary_more() -> None:
    rng = np.random.default_rng(1)
    values, groups = rng.normal(size=30), np.repeat(np.arange(10), 3)
    by_hand = sum(values[groups == g].sum() ** 2 for g in range(10)) / (values**2).sum()
    assert design_effect(values, groups) == pytest.approx(max(1, by_hand))
    # four copies of each row vary four times as much
    assert design_effect(np.repeat(values, 4), np.repeat(np.arange(30), 4)) == pytest.approx(4)
    assert design_effect(np.zeros(3), np.arange(3)) == 1


def test_groups_of_one_row_change_no_p_value() -> None:
    p, _ = rows()
    alone, together = risk_test(p), risk_test(p, groups=np.arange(len(p)))
    assert together.design_effect == 1
    assert together.pvalue == pytest.approx(alone.pvalue, rel=1e-9)
    assert together.pvalue_capped == pytest.approx(alone.pvalue_capped, rel=1e-9)
    assert together.log_e == pytest.approx(alone.log_e, rel=1e-6)
    assert together.groups == len(p)


def test_what_was_seen_is_brought_nearer_to_its_mean() -> None:
    """One doubt for all rows: the sum is a count, its law binomial."""
    from scipy.stats import binom

    groups = np.repeat(np.arange(20), 10)
    wrong = np.repeat(np.arange(20) < 8, 10)  # 80 of 200 wrong, group by group; 40 expected
    r = risk_test(Predictions.from_correct(~wrong, np.full(200, 0.8)), groups=groups)
    effect = (8 * 8.0**2 + 12 * 2.0**2) / (80 * 0.8**2 + 120 * 0.2**2)
    assert r.design_effect == pytest.approx(effect) == pytest.approx(10)
    assert r.pvalue == pytest.approx(binom.sf(math.ceil(40 + 40 / math.sqrt(10)) - 1, 200, 0.2), rel=1e-6)
    assert risk_test(Predictions.from_correct(~wrong, np.full(200, 0.8))).pvalue < 1e-9


def test_the_e_value_averages_within_groups_and_multiplies_across() -> None:
    p, groups = rows(count=12)
    q, wrong = p.doubt, p.wrong
    total = 0.0
    for bet in MIXTURE:
        rate = q**bet.power if bet.power else np.where(q < bet.below, q + bet.shortfall * (1 - q), q)
        gains = np.where(wrong, rate / q, (1 - rate) / (1 - q))
        total += bet.share * np.prod([gains[groups == g].mean() for g in range(12)])
    assert risk_test(p, groups=groups).e_value == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("cell", [(20, 10, 0.6), (50, 10, 0.9), (200, 5, 0.3)])
def test_calibrated_groups_are_seldom_called(cell) -> None:
    """A quick part of what benchmarks/VALIDITY.md has at length."""
    omnibus, csr, evidence = group_alarms(cell, 150)
    for share in (omnibus, csr):
        assert share <= 0.065 + 3 * math.sqrt(0.065 * 0.935 / 150)
    assert evidence <= 0.05


def test_all_rows_say_more_than_one_of_each_group() -> None:
    rng = np.random.default_rng(3)
    found = np.zeros(2)
    for _ in range(40):
        p, groups = grouped_rows("tight_hi", 60, 10, 0.3, rng, truth=lambda q: q + 0.12 * (1 - q))
        first = np.arange(0, 600, 10)
        found += (
            risk_test(p, groups=groups).pvalue_omnibus <= 0.05,
            risk_test(p[first]).pvalue_omnibus <= 0.05,
        )
    assert found[0] > found[1]


def as_frame(p: Predictions, groups: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"correct": p.correct, "confidence": p.confidence, "doubt": p.doubt, "patient": groups})


def numbers(r: sf.RiskResult) -> dict[str, float]:
    return {name: x for name, x in r.to_dict().items() if isinstance(x, int | float) and not isinstance(x, bool)}


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("alternative", ["overconfident", "underconfident"])
def test_lazy_frames_give_the_same_numbers(engine: str, alternative) -> None:
    rng = np.random.default_rng(4)
    p, groups = grouped_rows("skew_high", 50, 6, 0.5, rng)
    certain = Predictions.from_correct([True, False], doubt=[0.0, 1.0])
    frame = pl.concat([as_frame(p, groups), as_frame(certain, np.array([3, 4]))])
    expected = risk_test(
        Predictions.from_frame(frame, correct="correct", doubt="doubt"),
        groups=frame["patient"],
        alternative=alternative,
    )
    if engine == "duckdb":
        lazy = pytest.importorskip("duckdb").sql("select * from frame")
    elif engine == "dask":
        lazy = pytest.importorskip("dask.dataframe").from_pandas(frame.to_pandas(), npartitions=3)
    else:
        lazy = frame.lazy()
    held = Predictions.from_frame(lazy, correct="correct", doubt="doubt")
    found = risk_test(held, groups="patient", alternative=alternative)
    for name, value in numbers(found).items():
        assert value == pytest.approx(numbers(expected)[name], rel=1e-9, nan_ok=True), name
    assert found.oe_interval == pytest.approx(expected.oe_interval, rel=1e-9)
    a = sf.assess(lazy, correct="correct", doubt="doubt", groups="patient")
    assert (a.group, a.risk.groups) == ("patient", 50)


def test_groups_that_cannot_be_are_refused() -> None:
    p, groups = rows()
    frame = as_frame(p, groups)
    lazy = Predictions.from_frame(frame.lazy(), correct="correct", doubt="doubt")
    for call, match in (
        (lambda: risk_test(p, groups=groups[:-1]), "groups has 199 rows"),
        (lambda: risk_test(p, groups=np.zeros(len(p), dtype=int)), "all rows are in one group"),
        (lambda: risk_test(sf.tally(p), groups=groups), "a tally does not hold which rows belong together"),
        (lambda: sf.assess(sf.tally(p), groups=groups), "a tally does not hold which rows belong together"),
        (lambda: sf.assess(p, groups="patient"), "give a column of values"),
        (lambda: risk_test(lazy, groups="nobody"), "pass the name of one of its columns"),
        (lambda: risk_test(lazy, groups=groups), "pass the name of one of its columns"),
    ):
        with pytest.raises(InvalidPredictions, match=match):
            call()
    holes = frame.with_columns(patient=pl.when(pl.col("patient") > 0).then(pl.col("patient"))).lazy()
    with pytest.raises(InvalidPredictions, match="5 rows without a group"):
        sf.assess(holes, correct="correct", doubt="doubt", groups="patient")


def test_an_assessment_says_what_rows_belong_to() -> None:
    p, groups = rows(5)
    frame = as_frame(p, groups).with_columns(region=pl.Series(["a", "b"] * 100))
    named = {"correct": "correct", "doubt": "doubt"}
    a = sf.assess(frame, **named, groups="patient", by="region")
    assert "rows belong to 40 groups (patient)" in str(a).replace("\n        ", " ")
    assert all(one.risk.groups == 40 for one in a.slices)
    assert json.loads(a.to_json())["groups"] == "patient"
    # what the intervals of bins allow for is what rows allow for
    alone = sf.assess(frame, **named)
    assert a.risk.design_effect > 1.5
    assert a.risk.overstatement_interval[1] > alone.risk.overstatement_interval[1]
    assert a.reliability[-1].high > alone.reliability[-1].high
    # where nothing was said of groups, what looks like one is named; a row number is not
    assert alone.looks_grouped == "patient"
    assert "column 'patient' has repeated values" in str(alone)
    numbered = frame.with_columns(patient=pl.Series(np.arange(200)))
    assert sf.assess(numbered, **named).looks_grouped == ""


def test_slices_hold_only_the_groups_of_their_rows() -> None:
    p, groups = rows(6)
    half = groups < 20
    a = sf.assess(p, groups=groups, by=np.where(half, "first", "second"))
    alone = risk_test(p[half], groups=groups[half])
    assert a.slices[0].risk.groups == 20
    assert a.slices[0].risk.pvalue_omnibus == alone.pvalue_omnibus
    assert a.slices[0].risk.design_effect == pytest.approx(dependence_of(p[half], groups[half]).of_errors())


def test_a_group_is_not_parted_between_pieces() -> None:

    from surefoot.files.reading import _keep_groups_whole
    from surefoot.files.source import Batch

    values = [1, 1, 2, 2, 2, 3, 3, 3, 3, 4]
    table = pa.table({"g": values})
    for size in (1, 2, 3, 4, 10):
        pieces = (Batch(table.slice(i, size)) for i in range(0, 10, size))
        found = [batch.table.column("g").to_pylist() for batch in _keep_groups_whole(pieces, "g")]
        assert [x for part in found for x in part] == values
        assert all(a[-1] != b[0] for a, b in itertools.pairwise(found))


def test_a_hint_never_fails() -> None:
    import pandas as pd

    frame = pd.DataFrame({"correct": [True, False] * 50, "confidence": [0.8] * 100, "prompt": [[{"role": "u"}]] * 100})
    assert sf.assess(frame, correct="correct", confidence="confidence").looks_grouped == ""


def test_dependence_in_one_band_is_not_thinned_by_the_others() -> None:
    """Rows at 0.95 that are wrong together, beside many that are independent: calibrated, and seldom called."""
    rng, found = np.random.default_rng(8), 0
    doubt = np.tile(np.append(np.full(100, 0.45), np.full(10, 0.05)), 100)
    groups = np.repeat(np.arange(100), 110)
    sure = doubt < 0.1
    for _ in range(40):
        wrong = rng.random(11_000) < doubt
        wrong[sure] = np.repeat(rng.random(100) < 0.05, 10)
        found += risk_test(Predictions.from_correct(~wrong, doubt=doubt), groups=groups).pvalue_omnibus <= 0.025
    assert found <= 4  # one expected; by the design effect of all errors it was eight


def test_the_variance_of_weighted_groups_is_the_jackknife_s() -> None:
    rng = np.random.default_rng(9)
    correct, groups = rng.random(100) < 0.7, np.repeat(np.arange(10), 10)
    weight = np.where(groups == 0, 5.0, 1.0) * rng.uniform(0.5, 1.5, 100)

    def accuracy(kept: np.ndarray) -> float:
        return float((weight * correct)[kept].sum() / weight[kept].sum())

    left = np.array([accuracy(groups != g) for g in range(10)])
    whole = accuracy(groups >= 0)
    by_hand = math.sqrt(9 / 10 * ((left - whole) ** 2).sum())
    p = Predictions.from_correct(correct, np.full(100, 0.8), sample_weight=weight)
    with pytest.warns(sf.FewMistakesWarning):
        assert sf.intervals(p, groups=groups)["accuracy"].standard_error == pytest.approx(by_hand, rel=1e-9)


def test_rows_without_weight_change_no_interval() -> None:
    rng = np.random.default_rng(10)
    y, p, groups = rng.integers(0, 2, 120), rng.random(120), np.repeat(np.arange(20), 6)
    plain = Predictions.from_probabilities(y, p, sample_weight=np.ones(120))
    padded = Predictions.from_probabilities(
        np.append(y, np.ones(50, dtype=int)),
        np.append(p, rng.random(50)),
        sample_weight=np.append(np.ones(120), np.zeros(50)),
    )
    for one, other in (
        (sf.intervals(plain), sf.intervals(padded)),
        (sf.intervals(plain, groups=groups), sf.intervals(padded, groups=np.append(groups, np.arange(50) + 100))),
    ):
        for name, interval in one.items():
            assert other[name].low == pytest.approx(interval.low, rel=1e-9), name
            assert other[name].high == pytest.approx(interval.high, rel=1e-9), name


def test_lazy_slices_by_label_and_of_one_group() -> None:
    p, groups = rows(11)
    truth = np.arange(200) % 2
    frame = as_frame(p, groups).with_columns(
        truth=pl.Series(truth),
        predicted=pl.Series(np.where(p.correct, truth, 1 - truth)),
        part=pl.Series(np.where(groups == 0, "one", "rest")),
    )
    named = {"truth": "truth", "predicted": "predicted", "doubt": "doubt", "groups": "patient"}
    for by in ("predicted", "part"):
        lazy, held = (sf.assess(x, **named, by=by) for x in (frame.lazy(), frame))
        assert [one.value for one in lazy.slices] == [one.value for one in held.slices]
        for one, other in zip(lazy.slices, held.slices, strict=True):
            assert one.risk.groups == other.risk.groups
            assert one.risk.pvalue_omnibus == pytest.approx(other.risk.pvalue_omnibus, rel=1e-6)


def test_the_command_line_takes_a_column_of_groups(tmp_path, capsys) -> None:
    p, groups = rows(7)
    path = tmp_path / "rows.csv"
    as_frame(p, groups).drop("doubt").write_csv(path)
    assert run(["assess", str(path)]) == 0
    assert "column 'patient' has repeated values" in capsys.readouterr().out
    assert run(["assess", str(path), "--group", "patient", "--html", str(tmp_path / "r.html")]) == 0
    assert "; 40 groups (design effect" in capsys.readouterr().out
    assert "40 groups" in (tmp_path / "r.html").read_text()
    assert run(["compare", f"a={path}", f"b={path}", "--group", "patient"]) == 0
    assert run(["assess", str(path), "--group", "nobody"]) == 3
    assert "there is no column 'nobody' to group by" in capsys.readouterr().err
    # the monitor averages within groups, also where a pipe or a file comes in pieces
    assert run(["monitor", str(path), "--group", "patient", "--state", str(tmp_path / "m")]) == 0
    m = sf.Monitor(alternative="overconfident")
    held = sf.load(path)
    m.update(held.correct, held.confidence, groups=groups)
    assert sf.Monitor.load(tmp_path / "m").log_e == pytest.approx(m.log_e, rel=1e-9)


def test_models_that_disagree_on_groups_are_not_compared() -> None:
    p, groups = rows(12)
    with pytest.raises(InvalidPredictions, match="groups= needs predictions"):
        sf.compare({"a": sf.assess(p), "b": p}, groups=groups)
    with pytest.raises(InvalidPredictions, match="the models have different groups"):
        sf.compare({"a": sf.assess(p, groups=groups), "b": sf.assess(p, groups=groups[::-1] // 2)})
    # the same groups by other names are the same
    names = np.array([f"patient {g}" for g in groups])
    assert sf.compare({"a": sf.assess(p, groups=groups), "b": sf.assess(p, groups=names)}).is_paired
