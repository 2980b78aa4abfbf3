"""The words for an event: of generated data whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

import surefoot as sf
from surefoot.assessment.judging import judge
from surefoot.assessment.verdict import Judgement
from surefoot.metrics.tallying import ALWAYS
from surefoot.risk.effects import OF_EVENTS
from surefoot.risk.test import TERMS, both_sides

Draw = Callable[[int, np.random.Generator], Any]


def judged(happened: Any, p: Any) -> tuple[Judgement, float]:
    """The judgement of an assessment without the rest of it, and O/E."""
    one = sf.Predictions.from_probabilities(np.asarray(happened).astype(int), p, labels=[0, 1], of="event", pos_label=1)
    tally = one.tally((*ALWAYS, *TERMS, *OF_EVENTS), exact=True)
    over, under = both_sides(tally)
    return judge(tally, over, under, (), level=0.05, margin=0.02), over.oe_ratio


def sloped(slope: float) -> Callable[[Any], Any]:
    """Chances whose log-odds have that slope in those of the predictions, and O/E = 1."""

    def chances(p: Any) -> Any:
        odds = logit(p)
        shift = brentq(lambda a: expit(a + slope * odds).sum() - p.sum(), -30, 30)
        return expit(shift + slope * odds)

    return chances


def common(n: int, rng: np.random.Generator) -> Any:
    return expit(rng.normal(-1, 1.5, n))


def rare(n: int, rng: np.random.Generator) -> Any:
    """One in fifty."""
    return rng.beta(0.5, 24.5, n)


def near_one(n: int, rng: np.random.Generator) -> Any:
    return 1 - 10 ** rng.uniform(-4, -1, n)


def below_two_fifths(n: int, rng: np.random.Generator) -> Any:
    return np.minimum(rng.beta(1, 6, n), 0.399)


CASES = {
    "1.2 times too high": (common, lambda p: p / 1.2, 3000, "overpredicts"),
    "odds too high": (common, lambda p: expit(logit(p) - 0.6), 1500, "overpredicts"),
    "odds too low": (common, lambda p: expit(logit(p) + 0.6), 1500, "underpredicts"),
    "rare, twice too high": (rare, lambda p: p / 2, 5000, "overpredicts"),
    "rare, half as high": (rare, lambda p: np.minimum(2 * p, 1), 5000, "underpredicts"),
    "near 1, three times the non-events": (near_one, lambda p: 1 - 3 * (1 - p), 3000, "overpredicts"),
    "near 1, a third of the non-events": (
        lambda n, rng: 1 - rng.beta(1, 9, n),
        lambda p: 1 - (1 - p) / 3,
        3000,
        "underpredicts",
    ),
    "slope 0.6": (common, sloped(0.6), 2000, "too extreme"),
    "slope 1.6": (common, sloped(1.6), 2000, "too timid"),
    "slope 0.7, both ends": (lambda n, rng: expit(rng.normal(0, 5, n)), sloped(0.7), 2000, "too extreme"),
    "slope 0.5, all below 0.4": (below_two_fifths, sloped(0.5), 4000, "too extreme"),
    "slope 0.5, all above 0.6": (lambda n, rng: 1 - below_two_fifths(n, rng), sloped(0.5), 4000, "too extreme"),
    "slope 2, all below 0.4": (lambda n, rng: 0.05 + 0.35 * rng.beta(2, 6, n), sloped(2.0), 4000, "too timid"),
    "rare, slope 0.5": (lambda n, rng: expit(rng.normal(-4.5, 1.3, n)), sloped(0.5), 8000, "too extreme"),
    "rare, slope 2.2": (lambda n, rng: expit(rng.normal(-4, 0.5, n)), sloped(2.2), 8000, "too timid"),
    "calibrated": (common, lambda p: p, 8000, "no evidence against calibration"),
    "calibrated and rare": (rare, lambda p: p, 3000, "no evidence against calibration"),
    "calibrated and few": (common, lambda p: p, 60, "inconclusive"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_word_for_a_known_truth(name: str) -> None:
    draw, truth, size, word = CASES[name]
    rng = np.random.default_rng(list(CASES).index(name))
    p = draw(size, rng)
    judgement, oe_ratio = judged(rng.random(size) < truth(p), p)
    assert judgement.verdict == word
    assert (judgement.degree is None) == (word in ("no evidence against calibration", "inconclusive"))
    if word in ("overpredicts", "underpredicts"):
        assert (oe_ratio < 1) == (word == "overpredicts")


@pytest.mark.parametrize("seed", range(3))
def test_a_few_surprises_where_the_model_is_sure_are_not_overprediction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 2, 3000)
    happened = rng.random(3000) < p
    for sure in (1 - 1e-6, 1e-6, 1.0, 0.0):
        judgement, oe_ratio = judged(np.append(happened, [sure < 0.5] * 3), np.append(p, [sure] * 3))
        assert oe_ratio == pytest.approx(1, abs=0.06)
        # a probability of 0 leaves no room for what happened, however few the rows
        assert judgement == Judgement("too extreme", "clearly" if sure in (0, 1) else "slightly")


@pytest.mark.parametrize("rest", [(0.2, 0.3), (0.2, 0.3, 0.4), (0.1, 0.2, 0.3, 0.4)])
def test_impossible_outcomes_among_few_rows_are_not_too_many_events(rest: tuple[float, ...]) -> None:
    """One row at each end came out the other way, so that as many events are expected of them as occurred."""
    happened = [False, True, *[False] * (len(rest) - 1), True]
    judgement, _ = judged(np.array(happened), np.array([1.0, 0.0, *rest]))
    assert judgement.verdict == "too extreme"


#: Predictions that are off at one end alone, where a single band may say more than the slope.
ENDS = {
    "above 0.99 it happens in 90%": (lambda p: np.where(p > 0.99, 0.9, p), "too extreme"),
    "below 0.01 it happens in 10%": (lambda p: np.where(p < 0.01, 0.1, p), "too extreme"),
    "below 0.1 a fifth as often": (lambda p: np.where(p < 0.1, 0.2 * p, p), "too timid"),
    "above 0.9 a fifth of the non-events": (lambda p: np.where(p > 0.9, 1 - 0.2 * (1 - p), p), "too timid"),
}


@pytest.mark.parametrize("name", ENDS)
def test_one_end_that_is_off_is_not_called_the_opposite(name: str) -> None:
    truth, word = ENDS[name]
    opposite = {"too extreme": "too timid", "too timid": "too extreme"}[word]
    words = []
    for seed in range(12):
        rng = np.random.default_rng([3, seed])
        p = rng.random(3000)
        words.append(judged(rng.random(3000) < truth(p), p)[0].verdict)
    assert words.count(word) >= 6
    assert opposite not in words


def counted(*groups: tuple[float, int, int]) -> sf.Assessment:
    """An assessment of probabilities, each with its rows and its events."""
    p = np.repeat([p for p, _, _ in groups], [rows for _, rows, _ in groups])
    happened = np.concatenate([np.arange(rows) < events for _, rows, events in groups])
    return sf.assess(happened, p, of="event", metrics=())


@pytest.mark.parametrize(
    ("groups", "word", "degree"),
    [
        # separated, each row off by that many points
        (((0.45, 1000, 0), (0.55, 1000, 1000)), "too timid", "strongly"),
        (((0.05, 1000, 0), (0.95, 1000, 1000)), "too timid", "clearly"),
        (((0.01, 1000, 0), (0.99, 1000, 1000)), "too timid", "slightly"),
        (((0.45, 1000, 1000), (0.55, 1000, 0)), "too extreme", "strongly"),
        # a quarter of those that were certain came out the other way
        (((0.0, 500, 125), (1.0, 500, 375)), "too extreme", "strongly"),
        # no slope shows that bins are off by 8, 20, 24, 20 and 8 points: 16 in the mean
        (
            ((0.1, 1000, 180), (0.3, 1000, 100), (0.5, 1000, 740), (0.7, 1000, 500), (0.9, 1000, 980)),
            "too timid",
            "strongly",
        ),
        # one bin of a hundredth of the rows is off by 20 points, and all else is right
        (((0.1, 9900, 990), (0.5, 100, 30), (0.9, 9900, 8910)), None, "clearly"),
    ],
)
def test_the_degree_is_by_how_far_predictions_are_from_what_happened(
    groups: tuple[tuple[float, int, int], ...], word: str | None, degree: str
) -> None:
    a = counted(*groups)
    assert a.degree == degree
    assert word is None or a.verdict == word


def test_the_degree_of_weighted_rows_heeds_bins_too() -> None:
    rng = np.random.default_rng(0)
    # off by 15, 25, 0, 25 and 15 points
    chances = {0.1: 0.25, 0.3: 0.05, 0.5: 0.5, 0.7: 0.95, 0.9: 0.75}
    p = np.repeat(list(chances), 1000)
    happened = rng.random(5000) < np.repeat(list(chances.values()), 1000)
    weight = rng.uniform(0.5, 1.5, 5000)
    for scale in (1.0, 2.0**-20):
        assert sf.assess(happened, p, of="event", sample_weight=scale * weight, metrics=()).degree == "strongly"


def test_a_reversed_ranking_that_separates_is_called_so() -> None:
    a = counted((0.4, 300, 300), (0.6, 300, 0))
    assert "Higher predictions go with fewer events" in str(a)
    few = counted((0.1, 2, 1), (0.6, 40, 0))
    assert few.verdict == "overpredicts"
    assert "Higher predictions go with fewer events" not in str(few)


def test_classes_that_are_always_right_are_too_timid() -> None:
    y = np.repeat([0, 1, 2], [380, 340, 280])
    p = np.full((1000, 3), 0.25)
    p[np.arange(1000), y] = 0.5
    a = sf.assess(y, p, of="classes", metrics=())
    # of class 2, 320 are expected and 280 happen: O/E is below 1, and yet it is told from the others too timidly
    assert a.slices[2].risk.oe_interval[1] < 1
    assert [(part.verdict, part.degree) for part in a.slices] == [("too timid", "strongly")] * 3
    assert (a.verdict, a.degree) == ("too timid", "strongly")


@pytest.mark.parametrize(
    ("share", "p", "word"),
    [
        (0.4, 0.2, "underpredicts"),
        (0.05, 0.2, "overpredicts"),
        (0.0, 0.05, "overpredicts"),
        (1.0, 0.9, "underpredicts"),
        (0.03, 0.0, "underpredicts"),
        (0.97, 1.0, "overpredicts"),
    ],
)
def test_one_probability_for_all_rows(share: float, p: float, word: str) -> None:
    assert judged(np.arange(300) < 300 * share, np.full(300, p))[0].verdict == word


def test_an_assessment_says_the_same() -> None:
    rng = np.random.default_rng(8)
    for word, truth in (("overpredicts", lambda p: p / 1.5), ("too extreme", sloped(0.5))):
        p = common(1500, rng)
        happened = rng.random(1500) < truth(p)
        a = sf.assess(happened.astype(int), p, of="event", metrics=())
        assert a.verdict == word
        assert Judgement(a.verdict, a.degree) == judged(happened, p)[0]


def test_columns_in_another_order_than_the_labels_are_warned_of() -> None:
    rng = np.random.default_rng(1)
    scores = np.exp(2 * rng.normal(size=(3000, 5)))
    table = scores / scores.sum(axis=1, keepdims=True)
    y = (table.cumsum(axis=1) < rng.random(3000)[:, None]).sum(axis=1).clip(0, 4)
    assert sf.assess(y, table, of="classes").warnings == ()
    (warning,) = sf.assess(y, table[:, [1, 0, 2, 3, 4]], of="classes").warnings
    assert "C-statistic of class 1 is 0.4" in warning
    assert "read in the order 0, 1, 2, 3, 4" in warning
    (warning,) = sf.assess(y, np.roll(table, 1, axis=1), of="classes", sample_weight=rng.uniform(1, 2, 3000)).warnings
    assert "classes is below 0.5" in warning


def test_a_reversed_event_is_warned_of_with_weights_too() -> None:
    rng = np.random.default_rng(2)
    p = rng.uniform(0.05, 0.95, 2000)
    y, weight = (rng.random(2000) < 1 - p).astype(int), rng.uniform(1, 2, 2000)
    (warning,) = sf.assess(y, p, of="event", sample_weight=weight).warnings
    assert "rows in which 1 happened were given lower probabilities" in warning
    assert sf.assess(1 - y, p, of="event", sample_weight=weight).warnings == ()
