"""Figures of events as data and geometry: every point is counted again in the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import surefoot as sf
from surefoot.figures.bands import risk_bands
from surefoot.figures.decision import decision_figure, looks_useful, marked, useful_range
from surefoot.figures.decomposition import decomposition_of
from surefoot.figures.event_reliability import event_figure, log_odds_bins, log_odds_figure

RNG = np.random.default_rng(0)
P = RNG.beta(1, 4, 3000)
Y = (RNG.random(3000) < 0.7 * P).astype(int)
EVENT = sf.Predictions.from_probabilities(Y, P, of="event")
A = sf.assess(EVENT)


def test_the_diagram_covers_the_whole_range_and_is_not_folded() -> None:
    curve = sf.flexible_curve(EVENT)
    figure = event_figure({"all": A.reliability}, curve)
    assert (figure.x.low, figure.x.high, figure.y.low, figure.y.high) == (0, 1, 0, 1)
    assert figure.ideal == ((0, 0), (1, 1))
    for point in figure.layers["all"].points:
        inside = (point.left < P) & (point.right >= P)
        assert point.marks[0].x == pytest.approx(P[inside].mean())
        assert point.marks[0].y == pytest.approx(Y[inside].mean())
        assert point.interval is not None
        low, high = point.interval
        assert low <= Y[inside].mean() <= high
        # below the line, fewer events than predicted
        assert (point.kind == "over") == (high < P[inside].mean())
    assert sum(int(bar.height > 0) for bar in figure.layers["all"].bars) == len(A.reliability)
    (drawn,), (band,) = figure.curves, figure.areas
    assert drawn.y == tuple(curve.observed.tolist())
    assert band.lower == tuple(curve.lower.tolist())
    assert all(low <= y <= high for low, y, high in zip(band.lower, drawn.y, band.upper, strict=True))


def test_one_point_has_no_curve() -> None:
    curve = sf.flexible_curve(sf.Predictions.from_probabilities([0, 1, 0], [0.3] * 3, of="event"))
    figure = event_figure({"all": A.reliability}, curve)
    assert figure.curves == figure.areas == ()


def test_small_pictures_have_no_words() -> None:
    figure = event_figure({"all": A.reliability}, None, is_small=True)
    assert (figure.x.title, figure.y.title, figure.texts) == ("", "", ())
    assert figure.height < 200
    assert not any(bar.label for bar in figure.layers["all"].bars)


@pytest.mark.parametrize("p", [P, 10.0 ** RNG.uniform(-30, -1, 3000), 1 - 10.0 ** RNG.uniform(-12, -1, 3000)])
def test_bins_at_both_ends_hold_every_row_once(p: np.ndarray) -> None:
    y = (RNG.random(len(p)) < p).astype(int)
    a = sf.assess(y, p, of="event", pos_label=1, labels=[0, 1], metrics=())
    assert a.counts is not None
    bins = log_odds_bins(a.counts)
    assert sum(one.rows for one in bins) == len(p)
    assert sum(one.rows - one.seen for one in bins) == pytest.approx(y.sum())
    assert sum(one.rows - one.stated for one in bins) == pytest.approx(p.sum())
    assert all(one.least <= 1 - one.doubt <= one.most for one in bins)
    assert [one.least for one in bins] == sorted(one.least for one in bins)
    figure = log_odds_figure({"all": bins})
    for one, point in zip(bins, figure.layers["all"].points, strict=True):
        share = 1 - one.error
        if 0 < share < 1 and 1e-4 < share < 1 - 1e-4:
            assert point.marks[0].y == pytest.approx(math.log10(share / (1 - share)))
        assert figure.x.low <= point.marks[0].x <= figure.x.high
        assert figure.y.low <= point.marks[0].y <= figure.y.high


def test_probabilities_of_0_and_1_alone_have_no_log_odds() -> None:
    a = sf.assess([0, 1] * 20, [0.0, 1.0] * 20, of="event", metrics=())
    assert a.counts is not None
    assert log_odds_bins(a.counts) == ()


def test_bands_are_counted_again_in_the_rows() -> None:
    found = risk_bands(A.counts, A.reliability)
    assert len(found) == 10
    assert (found[0].least, found[-1].most) == (0, 1)
    for band in found:
        inside = (band.least < P) & (band.most >= P)
        assert inside.sum() == band.rows
        assert Y[inside].sum() == pytest.approx(band.observed)
        assert P[inside].sum() == pytest.approx(band.expected)
    assert max(band.rows for band in found) < 1.2 * min(band.rows for band in found)


def test_few_probabilities_have_a_band_each_and_keep_their_digits() -> None:
    a = sf.assess([0, 0, 1] * 40, [1e-20, 0.3, 0.7] * 40, of="event", metrics=())
    found = risk_bands(a.counts, a.reliability)
    assert [band.most for band in found] == pytest.approx([1e-20, 0.3, 0.7])
    assert [band.least for band in found] == [band.most for band in found]
    assert [band.observed for band in found] == pytest.approx([0, 0, 40])
    assert [band.expected for band in found] == pytest.approx([4e-19, 12, 28])


def test_the_decision_curve_is_counted_by_hand() -> None:
    curve = sf.decision_curve(EVENT)
    figure = decision_figure(curve)
    model, everybody = (next(one for one in figure.curves if one.is_main is main) for main in (True, False))
    share = Y.mean()
    for t, value in zip(everybody.x, everybody.y, strict=True):
        assert value == pytest.approx(share - (1 - share) * t / (1 - t))
    for t, value in zip(model.x, model.y, strict=True):
        acted = t <= P
        by_hand = (Y[acted].sum() - (1 - Y[acted]).sum() * t / (1 - t)) / len(P)
        assert value == pytest.approx(by_hand)
    assert figure.ideal == ((0, 0), (1, 0))
    assert len(figure.layers["all"].points) <= len(marked(curve))
    useful = useful_range(curve, len(P))
    assert useful is not None
    for end in useful:
        i = int(np.abs(curve.threshold - end).argmin())
        assert curve.net_benefit[i] > max(curve.treat_all[i], 0)
        acted = end <= P
        # events among those acted on are more than the threshold says, and among the others fewer, by exact limits
        assert stats.binomtest(int(Y[acted].sum()), int(acted.sum())).proportion_ci(0.95).low > end
        assert stats.binomtest(int(Y[~acted].sum()), int((~acted).sum())).proportion_ci(0.95).high < end


def test_a_useless_model_has_no_useful_threshold() -> None:
    curve = sf.decision_curve([0] * 50, [0.9] * 50, labels=[0, 1], of="event", pos_label=1)
    assert useful_range(curve, 50) is None
    assert not looks_useful(curve)
    assert decision_figure(curve).y.high > 0


def test_noise_is_seldom_called_useful() -> None:
    rng = np.random.default_rng(11)
    claimed = looks = 0
    for _ in range(60):
        y = rng.random(300) < 0.2
        curve = sf.decision_curve(y.astype(int), rng.beta(0.8, 3.2, 300), of="event", pos_label=1)
        claimed += useful_range(curve, 300) is not None
        looks += looks_useful(curve)
    assert looks > 20
    assert claimed <= 3


def test_of_several_ranges_the_one_with_the_largest_advantage_is_named() -> None:
    # telling at 2% against 0.1%, and at 90% against 10%: nothing between
    groups = ((0.002, 20_000, 4), (0.05, 5_000, 250), (0.3, 500, 150), (0.9, 500, 450))
    p = np.repeat([one[0] for one in groups], [one[1] for one in groups])
    y = np.concatenate([np.arange(rows) < events for _, rows, events in groups]).astype(int)
    curve = sf.decision_curve(y, p, of="event", pos_label=1)
    useful = useful_range(curve, len(p))
    assert useful is not None
    advantage = curve.net_benefit - np.maximum(curve.treat_all, 0)
    best = float(curve.threshold[advantage.argmax()])
    assert useful[0] <= best <= useful[1]


def test_the_parts_of_the_score_add_up() -> None:
    found = decomposition_of(A.metrics)
    assert found is not None
    uncertainty, discrimination, miscalibration, score = found.steps
    assert uncertainty.end == pytest.approx(Y.mean() * (1 - Y.mean()))
    assert score.end == pytest.approx(np.mean((P - Y) ** 2))
    assert discrimination.start == uncertainty.end
    assert miscalibration.start == discrimination.end <= discrimination.start
    assert miscalibration.end == pytest.approx(score.end)
    assert all(0 <= found.axis.share(end) <= 1 for step in found.steps for end in (step.start, step.end))
    limits = sf.score_decomposition(EVENT).intervals
    drawn = decomposition_of(A.metrics, limits)
    assert drawn is not None
    start, cost = drawn.steps[2].start, limits["miscalibration"]
    assert drawn.steps[2].interval == pytest.approx((start + cost.low, start + cost.high))
    assert decomposition_of({"uncertainty": 0.2}) is None
    perfect = decomposition_of({"uncertainty": 0.0, "discrimination": 0.0, "miscalibration": 0.0})
    assert perfect is not None
    assert perfect.axis.high > 0
