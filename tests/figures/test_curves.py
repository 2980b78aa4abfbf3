"""The geometry of ROC, concentration and coverage, and the axis of CSR, from numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.figures.concentration import Concentration
from surefoot.figures.coverage import Coverage, round_numbers
from surefoot.figures.figure import Axis
from surefoot.figures.labels import decade, short_count, significant, typeset
from surefoot.figures.roc import Roc
from surefoot.figures.ruler import csr_axis


def labels(axis: Axis) -> list[str]:
    return [tick.label for tick in axis.ticks]


def test_positions_on_linear_and_log_axes() -> None:
    linear, log = Axis("", 2, 4, ()), Axis("", 1, 1000, (), is_log=True)
    assert [linear.share(v) for v in (2, 3.5, 4)] == [0, 0.75, 1]
    assert [log.share(v) for v in (1, 10, 1000)] == pytest.approx([0, 1 / 3, 1])
    assert [axis.value(axis.share(3)) for axis in (linear, log)] == pytest.approx([3, 3])
    assert [log.clipped_share(v) for v in (0, 1e9)] == [0, 1]


# -- ROC ------------------------------------------------------------------------------------------------------------


def test_a_poor_ranking_is_drawn_whole() -> None:
    figure = Roc(np.array([0, 0.5, 1]), np.array([0, 0.8, 1]), np.array([0, 0.9, 1]), 0.65, 0.7).figure()
    assert (figure.x.high, figure.y.low) == (1, 0)
    assert labels(figure.x) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert labels(figure.y) == ["0%", "25%", "50%", "75%", "100%"]
    assert figure.ideal == ((0, 0), (1, 1))
    points = figure.layers["all"].points
    # 5% of false alarms: a tenth of the way to 0.8 and 0.9
    assert [mark.y for mark in points[0].marks] == pytest.approx([0.08, 0.09])
    assert [mark.kind for mark in points[0].marks] == ["ring", "dot"]
    assert [text.words for text in figure.texts] == ["cwROC, area 0.7000", "ROC, area 0.6500"]


def test_of_a_good_ranking_the_corner_is_drawn() -> None:
    false = np.array([0, 0.01, 0.1, 1])
    roc = Roc(false, np.array([0.5, 0.92, 0.96, 1]), np.array([0.5, 0.85, 0.98, 1]), 0.98, 0.985)
    figure = roc.figure()
    # 0.2% of false alarms find 0.5 + 0.2 * 0.42 = 0.584
    assert (figure.x.high, figure.y.low) == (0.1, 0.5)
    assert labels(figure.x) == ["0%", "2%", "4%", "6%", "8%", "10%"]
    assert labels(figure.y) == ["50%", "62.5%", "75%", "87.5%", "100%"]
    assert figure.ideal is None
    assert [max(curve.x) for curve in figure.curves] == [0.1, 0.1]
    assert roc.samples[-1] == pytest.approx((0.1, 0.96, 0.98))


def test_what_lies_under_the_corner_is_left_out() -> None:
    false = np.array([0, 0.002, 0.05, 0.1, 1])
    figure = Roc(false, np.array([0.9, 0.95, 0.97, 0.98, 1]), np.array([0.1, 0.2, 0.6, 0.95, 1]), 0.98, 0.9).figure()
    assert figure.y.low == 0.9
    assert [[mark.kind for mark in point.marks] for point in figure.layers["all"].points] == [["ring"]] * 4 + [
        ["ring", "dot"]
    ]
    assert figure.curves[1].y == (0.95,)


# -- concentration ----------------------------------------------------------------------------------------------------


def test_concentration_on_a_log_axis() -> None:
    # 40 errors that carry the same, over 60 rows: CSR 4, and 6 of 4 x 60 for each
    found = Concentration(np.array([40.0]), np.array([1.0]), 4.0, 60.0)
    assert found.ranks == [1, 2, 5, 10, 20, 40]
    figure = found.figure()
    assert (figure.x.low, figure.x.high, figure.x.is_log) == (1, 40, True)
    assert labels(figure.x) == ["1", "2", "5", "10", "20"]
    marks = [point.marks[0] for point in figure.layers["all"].points]
    assert [mark.x for mark in marks] == found.ranks
    assert [mark.y for mark in marks] == pytest.approx([k / 40 for k in found.ranks])
    assert [text.words for text in figure.texts] == ["without them, CSR is 1", "10 rows, 25%"]
    # the rest is (1 - k / 40) 240 over 60 - k: 36 / 26 at 34 and 12 / 22 at 38; 1 at 36
    assert found.rows_to_remove == 36
    assert figure.title == "Many rows contribute: CSR is above 1 until 36 are removed"
    assert figure.ideal == ((1, pytest.approx(0.9)), (40, pytest.approx(0.9)))


def test_a_few_rows_are_named_where_there_are_ten_errors() -> None:
    one = Concentration(np.array([1.0, 10.0]), np.array([0.99, 1.0]), 2.0, 100.0)
    assert one.figure().title == "A few rows decide: without 1 row, CSR is at most 1"
    neutral = "How CSR is spread over the errors"
    few = Concentration(np.array([1.0, 9.0]), np.array([0.99, 1.0]), 2.0, 100.0)
    assert few.figure().title == neutral
    calm = Concentration(np.array([1.0, 20.0]), np.array([0.5, 1.0]), 0.8, 100.0).figure()
    assert calm.title == neutral
    assert calm.ideal is None


# -- coverage ---------------------------------------------------------------------------------------------------------


def test_coverage_begins_at_its_first_step_and_leaves_a_margin() -> None:
    # four rows: the surest right, the second wrong, then right, then wrong
    found = Coverage(np.array([0.25, 0.5, 0.75, 1.0]), np.array([0, 0.25, 0.25, 0.5]))
    figure = found.figure()
    assert figure.curves[0].x[0] == 0.25
    assert figure.y.high == pytest.approx(0.525, rel=0.02)
    assert labels(figure.y) == ["0%", "20%", "40%"]
    assert figure.ideal == ((0, 0.5), (1, 0.5))
    assert [share for share, _ in found.samples] == [0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    assert [error for _, error in found.samples] == pytest.approx([0, 0, 0.5, 1 / 3, 0.4 / 0.9, 0.5])


def test_no_errors_at_all_have_an_axis_too() -> None:
    figure = Coverage(np.array([1.0]), np.array([0.0])).figure()
    assert figure.y.high == 0.01
    assert labels(figure.y) == ["0%", "0.2%", "0.4%", "0.6%", "0.8%", "1%"]


@pytest.mark.parametrize(
    ("highest", "expected"),
    [(1.05, [0, 0.5, 1]), (0.3, [0, 0.1, 0.2, 0.3]), (0.0021, [0, 0.001, 0.002]), (0.45, [0, 0.1, 0.2, 0.3, 0.4])],
)
def test_round_numbers(highest: float, expected: list[float]) -> None:
    assert round_numbers(highest) == pytest.approx(expected)


# -- the axis of CSR, and labels --------------------------------------------------------------------------------------


def test_the_axis_of_csr_holds_calibration_and_this_model() -> None:
    assert labels(csr_axis(3.0, (0.4, 1.8))) == ["0.1", "1", "10", "100"]
    # 80 x 1.5 is over 100, and calibrated models begin under 0.1
    assert labels(csr_axis(80.0, (0.02, 1.8))) == ["0.01", "0.1", "1", "10", "100", "1,000"]
    # 10¹² x 1.5 is under 10¹³: every third power has room, and 1 is one of them
    far = csr_axis(1e30, None)
    assert (far.low, far.high) == (0.1, 1e13)
    assert labels(far) == ["1", "1,000", "10⁶", "10⁹", "10¹²"]


def test_labels() -> None:
    assert [short_count(n) for n in (812, 9_230, 1_260_000)] == ["812", "9.2k", "1.3M"]
    assert [decade(d) for d in (-2, 0, 3, 6, 7)] == ["0.01", "1", "1,000", "1,000,000", "10⁷"]
    assert typeset(f"×{significant(2.63e6, 2)}") == "×2.6\u00a0×\u00a010⁶"
