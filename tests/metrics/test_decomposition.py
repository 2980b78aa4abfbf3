"""Scores taken apart: against other implementations, from rows, tables of cells, and a billion rows."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.isotonic import IsotonicRegression

import surefoot as sf
from surefoot.core.doubt_table import CELLS, cells_of, exact_codes
from surefoot.core.keys import DOUBT_CELL
from surefoot.metrics.terms import ROWS

SCORES = ("brier", "log_loss")
PARTS = ("miscalibration", "discrimination", "uncertainty", "score")


def _sample(kind: str, n: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Outcomes, confidences, weights."""
    rng = np.random.default_rng(sum(map(ord, kind)))
    p = rng.beta(3, 1, n).clip(1e-9, 1 - 1e-9)
    weight = None
    if kind == "ties":
        p = np.round(p, 1).clip(0.05, 0.95)
    if kind == "weights":
        weight = rng.uniform(0.1, 3, n)
    if kind == "reversed":
        return rng.random(n) < 1 - p, p, None
    if kind == "all correct":
        return np.ones(n, dtype=bool), p, None
    if kind == "one row":
        return np.array([False]), np.array([0.3]), None
    return rng.random(n) < p**1.5, p, weight


KINDS = ("plain", "ties", "weights", "reversed", "all correct", "one row")


def _score(score: str, correct: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> float:
    if score == "brier":
        rows = (p - correct) ** 2
    else:
        with np.errstate(divide="ignore"):
            rows = -np.log(np.where(correct, p, 1 - p))
    return float(np.average(rows, weights=weight))


def _by_sklearn(score: str, correct: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> list[float]:
    fit = IsotonicRegression(y_min=0, y_max=1).fit_transform(p, correct.astype(float), sample_weight=weight)
    base = np.full(len(p), np.average(correct, weights=weight))
    given, fitted, constant = (_score(score, correct, q, weight) for q in (p, fit, base))
    return [given - fitted, constant - fitted, constant, given]


def _parts(found: sf.Decomposition) -> list[float]:
    return [getattr(found, part) for part in PARTS]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_are_those_of_isotonic_regression(kind: str, score: str) -> None:
    correct, p, weight = _sample(kind)
    found = sf.score_decomposition(correct=correct, confidence=p, sample_weight=weight, score=score)
    assert _parts(found) == pytest.approx(_by_sklearn(score, correct, p, weight), abs=1e-10)
    assert found.bound == 0


@pytest.mark.heavy
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", ["plain", "ties", "weights", "reversed"])
def test_the_parts_are_those_of_model_diagnostics(kind: str, score: str) -> None:
    scoring = pytest.importorskip("model_diagnostics.scoring")
    correct, p, weight = _sample(kind)
    rule = scoring.SquaredError() if score == "brier" else scoring.LogLoss()
    theirs = scoring.decompose(correct.astype(float), p, weights=weight, scoring_function=rule)
    found = sf.score_decomposition(correct=correct, confidence=p, sample_weight=weight, score=score)
    assert _parts(found) == pytest.approx([theirs[part][0] for part in PARTS], abs=1e-10)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_add_up(kind: str, score: str) -> None:
    correct, p, weight = _sample(kind)
    found = sf.score_decomposition(correct=correct, confidence=p, sample_weight=weight, score=score)
    assert abs(found.miscalibration - found.discrimination + found.uncertainty - found.score) <= 1e-14
    assert found.score == getattr(sf, score)(correct=correct, confidence=p, sample_weight=weight)


def test_each_part_has_a_function() -> None:
    correct, p, _ = _sample("plain")
    columns = {"correct": correct, "confidence": p}
    for score in SCORES:
        found = sf.score_decomposition(**columns, score=score)
        assert sf.miscalibration(**columns, score=score) == found.miscalibration
        assert sf.discrimination(**columns, score=score) == found.discrimination
        assert sf.uncertainty(**columns, score=score) == found.uncertainty


def test_only_the_order_of_confidences_discriminates() -> None:
    correct, p, _ = _sample("plain")
    for score in SCORES:
        one, other = (sf.discrimination(correct=correct, confidence=q, score=score) for q in (p, p**7))
        assert one == pytest.approx(other, abs=1e-14)


def test_an_infinite_log_loss_is_infinite_miscalibration() -> None:
    columns = {"correct": [True, False, True], "confidence": [0.5, 1.0, 1.0]}
    found = sf.score_decomposition(**columns, score="log_loss")
    assert found.miscalibration == found.score == math.inf
    assert math.isfinite(found.discrimination)
    assert "infinite" in found.note
    assert "infinite" in found.intervals["miscalibration"].note
    with pytest.warns(sf.UndefinedMetricWarning, match="confidence 1 is wrong"):
        assert sf.miscalibration(**columns, score="log_loss") == math.inf
    assert sf.score_decomposition(**columns).note == ""


def test_doubts_that_confidence_cannot_tell_apart_are_told_apart() -> None:
    """Both confidences round to 1; by their doubts the second model is right where it is surer."""
    p = sf.Predictions.from_correct([False, True], doubt=[1e-18, 1e-20])
    assert sf.miscalibration(p, score="log_loss") == pytest.approx(18 * math.log(10) / 2)
    assert sf.discrimination(p) == 0.25


@pytest.mark.parametrize("option", [{"score": "auc"}, {"level": 2}])
def test_options_are_checked(option: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="it should be"):
        sf.score_decomposition(correct=[True], confidence=[0.5], **option)


# -- cells -------------------------------------------------------------------------------------------------------------


def _many(order: str, n: int = 30_000) -> sf.Predictions:
    """More values than a tally keeps apart; ``order`` says where in their cell the errors are."""
    rng = np.random.default_rng(7)
    p = 1 - rng.beta(1, 4, n) / 2
    correct = rng.random(n) < p**1.3
    if order != "random":
        # whatever cells there are, they are narrower than a thousandth of the rows in order
        p = np.sort(p)
        blocks = np.arange(n) // 60
        correct = correct[np.lexsort((correct if order == "errors first" else ~correct, blocks))]
    return sf.Predictions.from_correct(correct, p)


ORDERED = ("miscalibration", "discrimination", "aurc", "augrc")


@pytest.mark.parametrize("order", ["random", "errors first", "errors last"])
@pytest.mark.parametrize("name", ORDERED)
def test_a_tally_of_many_values_is_within_its_bound(name: str, order: str) -> None:
    p, metric = _many(order), sf.metrics.ALL[name]
    t = sf.tally(p)
    assert not t.table(DOUBT_CELL).is_exact
    exact, bound = metric(p), metric.bound(t)
    assert 0 < bound < 0.01
    assert abs(metric.of(t) - exact) <= bound
    assert metric.of(t) != exact


@pytest.mark.parametrize("name", ORDERED)
def test_bounds_hold_where_all_rows_of_a_cell_are_ordered_at_their_worst(name: str) -> None:
    metric = sf.metrics.ALL[name]
    p = _many("random")
    t = sf.tally(p)
    kept = np.sort(t.table(DOUBT_CELL).codes)
    cell = cells_of(exact_codes(p.doubt_of(slice(None)), p.confidence_of(slice(None))))
    worst = 0.0
    for errors_first in (True, False):
        # within each cell, the outcomes in order of confidence, or against it
        order = np.lexsort((np.where(errors_first, p.correct, ~p.correct), -cell))
        places = np.argsort(p.confidence, kind="stable")
        correct = np.empty(len(p), dtype=bool)
        correct[places] = p.correct[order]
        other = sf.Predictions.from_correct(correct, p.confidence)
        again = sf.tally(other)
        assert (np.sort(again.table(DOUBT_CELL).codes) == kept).all()
        off = abs(metric.of(again) - metric(other))
        assert off <= metric.bound(again)
        worst = max(worst, off / metric.bound(again))
    # and they are not much wider than what such orders make of it
    assert worst > 0.75


@pytest.mark.parametrize("score", SCORES)
def test_weighted_cells_and_lazy_frames_are_within_the_bound(score: str) -> None:
    rows = _many("random")
    weight = np.random.default_rng(3).integers(1, 4, len(rows)) / 2
    frame = pl.DataFrame({"correct": rows.correct, "confidence": rows.confidence, "weight": weight})
    eager, lazy = (sf.Predictions.from_frame(one) for one in (frame, frame.lazy()))
    exact, of_tally, of_frame = (sf.score_decomposition(x, score=score) for x in (eager, sf.tally(eager), lazy))
    assert exact.bound == 0
    for found in (of_tally, of_frame):
        assert 0 < found.bound < 0.02
        assert 0 <= exact.miscalibration - found.miscalibration <= found.bound
        assert 0 <= exact.discrimination - found.discrimination <= found.bound
        assert found.score == pytest.approx(exact.score, rel=1e-12)
        assert found.uncertainty == pytest.approx(exact.uncertainty, rel=1e-12)
        assert found.intervals["score"].is_absent
        assert "unequal weights" in found.intervals["score"].note
    assert not exact.intervals["score"].is_absent


def test_a_billion_rows_take_the_memory_of_one_table() -> None:
    p = _many("random")
    t = sf.tally(p)
    size = len(t.table(DOUBT_CELL).codes)
    while t[ROWS] < 1e9:
        t = t + t
    assert len(t.table(DOUBT_CELL).codes) == size < CELLS
    for score in SCORES:
        exact, found = sf.score_decomposition(p, score=score), sf.score_decomposition(t, score=score)
        assert found.n >= 1e9
        assert 0 <= exact.miscalibration - found.miscalibration <= found.bound < 0.02
        assert 0 <= exact.discrimination - found.discrimination <= found.bound
        assert found.score == pytest.approx(exact.score, rel=1e-12)
        # as many rows leave nothing to chance but the bound
        high = found.intervals["miscalibration"].high
        assert found.miscalibration + found.bound < high < found.miscalibration + found.bound + 1e-4


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_intervals_are_the_same_wherever_rows_lie() -> None:
    correct, p, _ = _sample("ties")
    frame = pl.DataFrame({"correct": correct, "confidence": p})
    rows = sf.Predictions.from_frame(frame)
    for score in SCORES:
        one, *others = (
            sf.score_decomposition(x, score=score).intervals
            for x in (rows, sf.Predictions.from_frame(frame.lazy()), sf.tally(rows), rows[::-1])
        )
        for other in others:
            for part in PARTS:
                assert (other[part].low, other[part].high) == pytest.approx((one[part].low, one[part].high), rel=1e-9)


def test_intervals_hold_their_numbers_and_narrow_with_rows() -> None:
    wide, narrow = (
        sf.score_decomposition(correct=correct, confidence=p).intervals
        for correct, p, _ in (_sample("plain", 500), _sample("plain", 20_000))
    )
    for part in PARTS:
        for one in (wide[part], narrow[part]):
            assert one.low <= one.value <= one.high
            assert one.standard_error > 0
        assert narrow[part].high - narrow[part].low < (wide[part].high - wide[part].low) / 3


def test_weights_of_one_give_the_interval_of_rows_without() -> None:
    """Unequal weights go by rows, equal ones by a table: the folds differ, and nothing else."""
    correct, p, _ = _sample("plain", 4000)
    nearly = np.ones(len(p))
    nearly[0] = 1.5
    one, other = (
        sf.score_decomposition(correct=correct, confidence=p, sample_weight=w).intervals for w in (None, nearly)
    )
    for part in PARTS:
        assert other[part].high == pytest.approx(one[part].high, rel=5e-3)
        assert other[part].low == pytest.approx(one[part].low, abs=2e-3)


@pytest.mark.parametrize("score", SCORES)
def test_a_calibrated_model_has_an_interval_from_zero(score: str) -> None:
    """A fit to its own rows finds miscalibration where there is none; the interval knows."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.beta(3, 1, 400).clip(1e-6, 1 - 1e-6)
        found = sf.score_decomposition(correct=rng.random(400) < p, confidence=p, score=score)
        assert found.miscalibration > 0
        assert found.intervals["miscalibration"].low == 0


@pytest.mark.parametrize("score", SCORES)
def test_intervals_cover_the_truth_as_often_as_they_say(score: str) -> None:
    """An overconfident model whose true parts are integrals over a uniform confidence, of which pi = c^2 is right."""
    c = (np.arange(200_000) + 0.5) / 200_000
    pi, base = c**2, 1 / 3
    if score == "brier":
        truth = [((c - pi) ** 2).mean(), pi.var(), base * (1 - base), ((c - pi) ** 2 + pi * (1 - pi)).mean()]
    else:

        def cross(p: np.ndarray | float) -> float:
            return float(-(pi * np.log(p) + (1 - pi) * np.log1p(-np.asarray(p))).mean())

        truth = [cross(c) - cross(pi), cross(base) - cross(pi), cross(base), cross(c)]
    rng = np.random.default_rng(5)
    held = np.zeros(4)
    draws = 200
    for _ in range(draws):
        c = rng.random(400)
        found = sf.score_decomposition(correct=rng.random(400) < c**2, confidence=c, score=score)
        held += [
            found.intervals[part].low <= true <= found.intervals[part].high
            for part, true in zip(PARTS, truth, strict=True)
        ]
    # three standard errors below 95%
    assert (held / draws >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / draws)).all()


def test_few_errors_make_an_approximate_interval() -> None:
    found = sf.score_decomposition(correct=[True] * 50 + [False] * 3, confidence=np.linspace(0.5, 0.9, 53))
    assert found.intervals["miscalibration"].note == "approximate: only 3 of the 53 rows had the rarer outcome"


def test_a_tally_without_what_it_takes_says_so() -> None:
    correct, p, _ = _sample("plain")
    rows = sf.Predictions.from_correct(correct, p)
    with pytest.raises(sf.MetricUnavailable, match=r"make it with surefoot\.tally"):
        sf.score_decomposition(sf.tally(rows, metrics=["csr"]))
    with pytest.raises(sf.InvalidPredictions, match="takes no other data"):
        sf.score_decomposition(sf.tally(rows), [0.5])


def test_plain_data_for_json() -> None:
    correct, p, _ = _sample("plain")
    found = sf.score_decomposition(correct=correct, confidence=p).to_dict()
    assert found["rule"] == "brier"
    assert found["intervals"]["score"]["level"] == 0.95
    assert json.loads(json.dumps(found)) == found


def test_an_assessment_holds_the_parts() -> None:
    correct, p, _ = _sample("plain")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = sf.assess(correct=correct, confidence=p)
    assert a["miscalibration"] - a["discrimination"] + a["uncertainty"] == pytest.approx(a["brier"], abs=1e-14)


# -- views -------------------------------------------------------------------------------------------------------------


def _classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    table = rng.dirichlet([1.0, 0.7, 0.5], 700)
    return (rng.random(700)[:, None] > np.cumsum(table**1.2 / (table**1.2).sum(axis=1, keepdims=True), axis=1)).sum(
        axis=1
    ), table


@pytest.mark.parametrize("score", SCORES)
def test_an_event_is_taken_apart_against_its_probability(score: str) -> None:
    y, table = _classes()
    happened, p = y == 1, table[:, 1]
    found = sf.score_decomposition(happened.astype(int), p, of="event", score=score)
    assert _parts(found) == pytest.approx(_by_sklearn(score, happened, p, None), abs=1e-10)
    assert found.intervals == sf.score_decomposition(correct=happened, confidence=p, score=score).intervals


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_classes_are_averaged(score: str, weighted: bool) -> None:
    y, table = _classes()
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    p = sf.Predictions.from_probabilities(y, table, of="classes", sample_weight=weight)
    found = sf.score_decomposition(p, score=score)
    expected = np.mean([_by_sklearn(score, y == k, table[:, k], weight) for k in range(3)], axis=0)
    assert _parts(found) == pytest.approx(expected, abs=1e-10)
    assert _parts(sf.score_decomposition(sf.tally(p), score=score)) == pytest.approx(expected, abs=1e-10)
    assert found.miscalibration == pytest.approx(sf.miscalibration(p, score=score), abs=1e-14)
    if score == "brier":
        assert 3 * found.score == pytest.approx(sf.multiclass_brier(y, table, sample_weight=weight), rel=1e-12)
    for part in PARTS:
        one = found.intervals[part]
        assert 0 <= one.low <= one.value < one.high
        highs = [sf.score_decomposition(p.event(k), score=score).intervals[part].high for k in range(3)]
        assert one.high == pytest.approx(np.mean(highs))


def test_many_rows_are_assessed_in_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.assessment import evidence

    rows = _many("random", 6000)
    table = np.stack([rows.doubt_of(slice(None)), rows.confidence_of(slice(None))], axis=1)
    y = rows.correct.astype(int)
    exact = {of: sf.assess(y, table, of=of, metrics=["miscalibration"]) for of in ("prediction", "event", "classes")}
    for limit in ("MOST_ORDERED", "MOST_RANKED"):
        monkeypatch.setattr(evidence, limit, 5000)
    for of, one in exact.items():
        found = sf.assess(y, table, of=of, metrics=["miscalibration"])
        assert one.bounds.get("miscalibration", 0) == 0
        assert 0 < abs(found["miscalibration"] - one["miscalibration"]) <= found.bounds["miscalibration"]
