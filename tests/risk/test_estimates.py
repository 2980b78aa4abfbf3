"""Numbers that appear in several places are one number: estimates, differences, bins and metrics agree."""

import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.keys import Bins
from surefoot.metrics.binned import bin_codes, ece_metric, equal_width
from surefoot.metrics.tallying import BIN_GAP, BIN_WEIGHT, DOUBT_BANDS, RELIABILITY_BINS, tally
from surefoot.metrics.terms import CORRECT, DOUBT, WEIGHT
from surefoot.metrics.weighted import GAIN, gain_between
from surefoot.risk.differences import differences
from surefoot.risk.estimates import row_values

pytestmark = pytest.mark.filterwarnings("ignore::surefoot.errors.FewMistakesWarning")


def samples() -> dict[str, sf.Predictions]:
    rng = np.random.default_rng(11)
    table = rng.dirichlet([1.5, 1.0, 0.6], 400)
    truth = (rng.random(400)[:, None] > np.cumsum(table, axis=1)[:, :2]).sum(axis=1)
    p, weight = rng.beta(0.6, 0.6, 300), rng.integers(0, 3, 400) * 1e-3
    edges = rng.integers(0, 31, 500) / 30
    return {
        "two classes": sf.Predictions.from_probabilities((rng.random(300) < p).astype(int), p),
        "three classes": sf.Predictions.from_probabilities(truth, table),
        "three classes, weighted": sf.Predictions.from_probabilities(truth, table, sample_weight=weight),
        "logits": sf.Predictions.from_logits(truth, 3 * np.log(table)),
        "at the edges of bins": sf.Predictions.from_correct(rng.random(500) < edges, edges),
        "all correct": sf.Predictions.from_correct([True] * 50, [0.9] * 50),
        "all wrong": sf.Predictions.from_correct([False] * 50, [0.2] * 50),
    }


@pytest.mark.parametrize("name", samples())
def test_the_middle_of_an_interval_is_the_metric(name: str) -> None:
    p = samples()[name]
    for groups in (None, np.arange(len(p)) % 40):
        found = sf.intervals(p, groups=groups)
        for metric in ("accuracy", "cw_accuracy", "auc", "cw_auc", "ece"):
            if metric in found:
                assert found[metric].value == pytest.approx(sf.metrics.ALL[metric](p), rel=1e-12), metric
        gap = found["cw_accuracy - accuracy"].value
        assert gap == pytest.approx(sf.cw_accuracy(p) - sf.accuracy(p), abs=1e-14)
    assert ("auc" in found) == (p.probabilities is not None)


@pytest.mark.parametrize("same_rows", [True, False])
def test_a_difference_is_that_of_the_metrics(same_rows: bool) -> None:
    every = samples()
    weight = every["three classes, weighted"].weight
    heavier = sf.Predictions.from_logits(
        every["three classes"].truth, 2 * np.log(every["three classes"].probabilities), sample_weight=weight
    )
    pairs = ((every["logits"], every["three classes"]), (heavier, every["three classes, weighted"]))
    for one, other in pairs:
        found = differences(one, other, level=0.95, with_ranking=True, same_rows=same_rows)
        first, second = sf.risk_test(one), sf.risk_test(other)
        expected = {
            name: sf.metrics.ALL[name](one) - sf.metrics.ALL[name](other)
            for name in ("accuracy", "cw_accuracy", "log_loss", "brier", "auc", "cw_auc")
        }
        expected["overstatement"] = first.overstatement - second.overstatement
        expected["log_oe"] = math.log(first.oe_ratio / second.oe_ratio)
        assert {name: interval.value for name, interval in found.items()} == pytest.approx(expected, abs=1e-12)


def test_influence_values_add_up_to_nothing() -> None:
    from surefoot.risk.differences import _values

    for p in (one for one in samples().values() if one.weight.all()):
        for name, estimate in _values(p, with_ranking=True).items():
            if not estimate.few:
                assert estimate.influence.mean() == pytest.approx(0, abs=1e-12), name
            if estimate.terms is not None:
                assert estimate.offset - estimate.terms.mean() == pytest.approx(estimate.value, abs=1e-12), name


def test_what_rows_add_is_what_a_tally_holds() -> None:
    for p in samples().values():
        total = tally(p)
        for term, values in zip((WEIGHT, CORRECT, DOUBT), row_values(p, WEIGHT, CORRECT, DOUBT), strict=True):
            assert values.sum() == pytest.approx(total[term], rel=1e-12)


@pytest.mark.parametrize(
    "bins", [RELIABILITY_BINS, equal_width(15, "left"), equal_width(10, "right"), equal_width(7, "left"), DOUBT_BANDS]
)
def test_a_bin_is_the_one_that_a_tally_counts_in(bins: Bins) -> None:
    inner = np.array(bins.edges)
    values = np.concatenate([[0.0, 1.0, 0.5], inner, np.nextafter(inner, 0), np.nextafter(inner, 1)])
    p = sf.Predictions.from_correct(np.ones(len(values), dtype=bool), **{bins.column: values})
    if bins is DOUBT_BANDS:
        counted = [band.rows for band in sf.assess(p).bands]
        assert np.bincount(bin_codes(bins, values), minlength=bins.size).tolist() == counted
    else:
        metric = ece_metric(bins.size, bins.closed)
        gaps = np.bincount(bin_codes(bins, values), values - 1, bins.size)
        assert metric(p) == pytest.approx(np.abs(gaps).sum() / len(values), rel=1e-12)


def test_the_interval_of_ece_looks_at_the_bins_of_ece() -> None:
    # just above an edge, a confidence times the number of bins may round to the number of the edge
    for edge in RELIABILITY_BINS.edges:
        for confidence in (edge, np.nextafter(edge, 0), np.nextafter(edge, 1)):
            p = sf.Predictions.from_correct([True, False] * 40, [confidence] * 40 + [edge - 0.01] * 40)
            codes = bin_codes(RELIABILITY_BINS, p.confidence)
            table = tally(p, [ece_metric(), "mce"]).table(RELIABILITY_BINS)
            weight, gap = (table.totals[term.name].value for term in (BIN_WEIGHT, BIN_GAP))
            assert np.bincount(codes, minlength=15).tolist() == weight.tolist()
            spread = [np.std(np.where(codes == k, p.confidence - p.correct, 0.0)) for k in np.unique(codes)]
            error = sf.intervals(p)["ece"].standard_error
            assert error == pytest.approx(math.hypot(*spread) / math.sqrt(79), rel=1e-9)
            assert sf.intervals(p)["ece"].value == pytest.approx(np.abs(gap).sum() / 80, rel=1e-12)


def test_a_gain_is_one_of_numbers_and_of_arrays() -> None:
    weighted, plain = np.array([0.9, 0.5, 1.0, 0.2, np.nan]), np.array([0.8, 0.75, 1.0, 0.2, 0.5])
    by_hand = [0.5, -0.5, 0.0, 0.0, math.nan]
    assert gain_between(weighted, plain).tolist() == pytest.approx(by_hand, nan_ok=True)
    assert [gain_between(float(w), float(p)) for w, p in zip(weighted, plain, strict=True)] == pytest.approx(
        by_hand, nan_ok=True
    )
    p = samples()["two classes"]
    assert GAIN(p) == gain_between(sf.cw_accuracy(p), sf.accuracy(p))
