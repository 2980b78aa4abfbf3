"""The geometry of reliability diagrams, from bins whose numbers are worked out by hand."""

from __future__ import annotations

import math

import pytest

from surefoot.figures.figure import Axis, Figure
from surefoot.figures.placing import SMALL, Canvas
from surefoot.figures.reliability import Bin, near_certainty_figure, reliability_figure

#: 60 rows between 80% and 87%, 9 errors expected and 24 made; 120 rows from 93% on, 6 expected and 6 made.
LOW = Bin(0.8, 13 / 15, 60, 9, 24, 0.28, 0.53)
HIGH = Bin(14 / 15, 1.0, 120, 6, 6, 0.02, 0.11)


def labels(figure: Figure) -> tuple[list[str], list[str]]:
    return [tick.label for tick in figure.x.ticks], [tick.label for tick in figure.y.ticks]


def test_confidence_begins_at_the_tenth_below_the_lowest_bin() -> None:
    figure = reliability_figure({"all": [LOW, HIGH]})
    assert (figure.x.low, figure.x.high) == (0.8, 1)
    assert labels(figure) == (["80%", "85%", "90%", "95%", "100%"], ["0%", "25%", "50%", "75%", "100%"])
    assert figure.ideal == ((0.8, 0.8), (1, 1))
    wide = reliability_figure({"all": [HIGH], "s0": [Bin(0.3, 0.4, 5, 3, 3, math.nan, math.nan)]})
    assert wide.x.low == 0.3
    assert labels(wide)[0] == ["30%", "50%", "70%", "90%"]
    # a single bin near certainty still has a tenth to stand in
    assert reliability_figure({"all": [HIGH]}).x.low == 0.9


def test_points_stand_at_mean_confidence_and_share_correct() -> None:
    first, second = reliability_figure({"all": [LOW, HIGH]}).layers["all"].points
    assert (first.marks[0].x, first.marks[0].y) == pytest.approx((0.85, 0.6))
    assert first.interval == pytest.approx((0.47, 0.72))
    assert (first.kind, second.kind) == ("over", "fair")
    assert (second.row, second.left, second.right) == (1, 14 / 15, 1.0)


def test_a_bin_without_an_interval_is_a_dot() -> None:
    (point,) = reliability_figure({"all": [Bin(0.9, 1.0, 8, 0.4, 1, math.nan, math.nan)]}).layers["all"].points
    assert point.interval is None
    assert point.marks[0].kind == "dot"


def test_bars_are_linear_in_rows_and_never_invisible() -> None:
    tiny = Bin(13 / 15, 14 / 15, 1, 0.1, 0, 0, 0.975)
    bars = reliability_figure({"all": [LOW, HIGH, tiny]}).layers["all"].bars
    assert [bar.height for bar in bars] == pytest.approx([0.5, 1, 1 / 30])
    assert [bar.label for bar in bars] == ["60", "120", "1"]
    assert bars[1].x == pytest.approx(29 / 30)
    assert bars[1].width == pytest.approx(0.7 / 15)


def test_each_slice_is_a_layer_on_the_same_axes() -> None:
    figure = reliability_figure({"all": [LOW, HIGH], "s0": [HIGH], "s1": []})
    assert [len(layer.points) for layer in figure.layers.values()] == [2, 1, 0]
    assert figure.layers["s0"].points[0].row == 0
    assert figure.layers["s0"].bars[0].height == 1


def test_doubt_is_drawn_in_powers_of_ten() -> None:
    # a mean doubt of 0.001 and an error of 0.01
    sure = Bin(1e-4, 10**-2.5, 1000, 1, 10, 0.0048, 0.0183)
    figure = near_certainty_figure({"all": [sure]})
    assert (figure.x.high, figure.y.high) == pytest.approx((4, 4))
    assert labels(figure) == (
        ["1 in 10", "100", "1,000", "10,000"],
        ["always", "1 in 10", "100", "1,000", "10,000"],
    )
    (point,) = figure.layers["all"].points
    assert (point.marks[0].x, point.marks[0].y) == pytest.approx((3, 2))
    assert (point.left, point.right) == pytest.approx((2.5, 4))
    assert point.interval == pytest.approx((-math.log10(0.0183), -math.log10(0.0048)))
    (bar,) = figure.layers["all"].bars
    assert (bar.x, bar.width) == pytest.approx((3.25, 0.4))


def test_axes_of_doubt_reach_two_to_thirteen_powers_of_ten() -> None:
    assert near_certainty_figure({"all": [Bin(0.1, 1, 10, 3, 3, 0.07, 0.65)]}).x.high == 2
    far = near_certainty_figure({"all": [Bin(1e-20, 1e-12, 10, 1e-19, 0, 0, 0.31)]})
    assert far.x.high == 13
    assert labels(far)[0] == ["1 in 1,000", "10⁶", "10⁹", "10¹²"]
    # no error observed: a mark at the rate that is still possible, and no line over all that is rarer
    (point,) = far.layers["all"].points
    assert point.marks[0].kind == "none"
    assert (point.marks[0].x, point.marks[0].y) == pytest.approx((13, -math.log10(0.31)))
    assert point.interval is None


@pytest.mark.parametrize(
    ("bin_", "words"),
    [
        (Bin(1e-3, 1e-2, 1000, 4, 30, 0.02, 0.043), "×7.5"),
        # over, but not three times as many
        (Bin(1e-3, 1e-2, 1000, 8, 20, 0.012, 0.031), None),
        # three times as many, which may be chance
        (Bin(1e-3, 1e-2, 100, 0.3, 2, 0.0024, 0.07), None),
    ],
)
def test_only_clear_excess_is_labelled_with_its_factor(bin_: Bin, words: str | None) -> None:
    label = near_certainty_figure({"all": [bin_]}).layers["all"].points[0].label
    assert (label.words if label else None) == words


def test_a_factor_stands_under_its_interval_where_there_is_room() -> None:
    roomy = near_certainty_figure({"all": [Bin(1e-3, 1e-2, 1000, 4, 30, 0.02, 0.043)]}).layers["all"].points[0].label
    assert roomy is not None
    assert (roomy.y, roomy.offset) == (pytest.approx(-math.log10(0.043)), (0, 14))
    # 0.8 is 0.097 of 3 powers of ten, 9.7 of 300 pixels over the axis: too few for a line of text
    tight = near_certainty_figure({"all": [Bin(1e-3, 0.1, 20, 1, 10, 0.18, 0.8)]}).layers["all"].points[0].label
    assert tight is not None
    assert (tight.y, tight.offset) == (pytest.approx(-math.log10(0.18)), (0, -6))


def test_factors_that_would_cover_each_other_are_left_out_the_largest_first() -> None:
    # half decades from 1 in 1,000 on, each with ten times the errors expected, on an axis of twelve powers of ten
    close = [
        Bin(10**-e / 3.1, 10**-e, 10_000, 10_000 * 10**-e / 2, 10_000 * 10**-e * 5, 10**-e * 4, 10**-e * 6)
        for e in (3.0, 3.5, 4.0, 4.5, 5.0, 5.5)
    ]
    far = Bin(1e-12, 3e-12, 10, 1e-11, 0, 0, 0.31)
    points = near_certainty_figure({"all": [*close, far]}).layers["all"].points
    labelled = [point for point in points if point.label is not None]
    assert 1 <= len(labelled) < len(close)
    canvas = Canvas(Axis("", 0, 12, ()), Axis("", 0, 12, ()))
    boxes = [canvas.box_of(point.label, SMALL) for point in labelled if point.label is not None]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_counts_over_bars_that_would_touch_are_left_out_the_highest_bar_first() -> None:
    narrow = [Bin(i / 15, (i + 1) / 15, 1000 + i, 10, 10, 0.005, 0.02) for i in range(15)]
    labels_ = [bar.label for bar in reliability_figure({"all": narrow}).layers["all"].bars]
    assert labels_[-1] == "1.0k"
    assert "" in labels_
    roomy = [narrow[0], narrow[7], narrow[14]]
    assert [bar.label for bar in reliability_figure({"all": roomy}).layers["all"].bars] == ["1.0k"] * 3


def test_an_interval_of_no_error_stands_back() -> None:
    none = Bin(0.8, 13 / 15, 3, 0.5, 0, 0, 0.7)
    first, second = reliability_figure({"all": [none, HIGH]}).layers["all"].points
    assert (first.is_faint, second.is_faint) == (True, False)
    assert first.marks[0].y == 1


def test_notes_stand_where_no_data_are_or_nowhere() -> None:
    assert "calibrated" in [text.words for text in reliability_figure({"all": [LOW, HIGH]}).texts]
    # points with intervals over the whole height, all along
    full = [Bin(i / 15, (i + 1) / 15, 2, 2 - (2 * i + 1) / 15, 1, 0.0, 1.0) for i in range(15)]
    assert reliability_figure({"all": full}).texts == ()
