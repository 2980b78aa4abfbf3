"""The calibration error of public leaderboards: root mean square over bins of equally many samples."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Literal, Unpack, get_args

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot.core.keys import EACH_ROW
from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.function import measure
from surefoot.predictions.arguments import Columns, takes_predictions

Ties = Literal["average", "as_published"]

_CONFIDENCE = Term("confidence of each row", lambda row: row.confidence, EACH_ROW)
_CORRECT = Term("correctness of each row", lambda row: row.correct, EACH_ROW)
_COUNTS = Term("whether each row counts", lambda row: row.weight > 0, EACH_ROW)


@cache
def rms_ce_metric(bin_size: int = 100, drop_last: bool = False, ties: Ties = "as_published") -> Metric:
    """RMS calibration error over bins of so many rows."""

    def formula(t: Tally) -> float | Outcome:
        passed, gap = _by_level(t) if ties == "average" else _by_row(t)
        rows = int(passed[-1])
        if not rows:
            return NOTHING
        bins = max(rows // bin_size, 1)
        if drop_last and bins == 1:
            return Outcome(
                0.0, f"{rows} rows make one bin of {bin_size}, which drop_last leaves out: 0 says nothing here"
            )
        edges = np.append(np.arange(bins) * bin_size, rows)
        # the part of a group of equal confidences that falls into a bin is like the whole group
        gaps = np.diff(np.interp(edges, passed, gap))
        sizes = np.diff(edges)
        if drop_last:
            gaps, sizes = gaps[:-1], sizes[:-1]
        return math.sqrt(float((gaps**2 / sizes).sum()) / rows)

    return Metric(
        "rms_ce",
        TERMS if ties == "average" else (_CONFIDENCE, _CORRECT, _COUNTS),
        formula,
        title=f"RMS calibration error, bins of {bin_size} samples" + (", without the last" if drop_last else ""),
        reading="Root mean square gap over bins of equally many samples, as public leaderboards of LLMs report it.",
        notation=r"\sqrt{\sum_b \frac{n_b}{N} \bigl(\mathrm{acc}_b - \mathrm{conf}_b\bigr)^2}",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Hendrycks, Mazeika and Dietterich, ICLR (2019); Phan et al., Humanity's Last Exam (2025)",
        takes_weights=False,
    )


def _by_level(t: Tally) -> tuple[Floats, Floats]:
    """After each distinct confidence, how many rows were passed, and how many of them are correct beyond it."""
    at = levels(t)
    return np.append(0.0, np.cumsum(at.rows)), np.append(
        0.0, np.cumsum(at.correct * at.rows / at.weight - at.rows * at.confidence)
    )


def _by_row(t: Tally) -> tuple[Floats, Floats]:
    """The same after each row, equal confidences in the order that NumPy's default sort leaves them in."""
    table = t.table(EACH_ROW)
    confidence, correct, counts = (table.totals[term.name].value for term in (_CONFIDENCE, _CORRECT, _COUNTS))
    confidence, correct = confidence[counts > 0], correct[counts > 0]
    order = np.argsort(confidence)
    return np.arange(len(order) + 1.0), np.append(0.0, np.cumsum((correct - confidence)[order]))


@takes_predictions
def rms_ce(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    bin_size: int = 100,
    drop_last: bool = False,
    ties: Ties = "as_published",
    **columns: Unpack[Columns],
) -> float:
    r"""RMS calibration error in bins of equally many samples, as public leaderboards of language models report it.

    Lower is better. Samples are sorted by confidence and cut into bins of ``bin_size``; what is left over joins the
    last bin, which holds the most confident samples. The code that leaderboards share leaves this last bin out, by a
    loop that ends one bin early, and so never sees the most confident answers: ``drop_last=True`` reproduces it.

    Parameters
    ----------
    bin_size : int, default=100
        Samples in a bin.
    drop_last : bool, default=False
        Leave out the last bin, as the published code does. The weights of the others stay as they are.
    ties : {"as_published", "average"}, default="as_published"
        What to do with samples of equal confidence on both sides of a border between bins. ``"as_published"`` leaves
        them as NumPy's default sort does, as the published code does; the value then depends on the order of rows, and
        may depend on the processor. ``"average"`` shares them out evenly, each bin getting as large a share of the
        correct ones, so that the order of rows does not matter.

    Returns
    -------
    float
        From 0 to 1; 0, with a warning, if ``drop_last`` leaves no bin.

    See Also
    --------
    equal_mass_ece : mean absolute gap in a given number of bins.

    Notes
    -----
    .. math:: \sqrt{\sum_b \frac{n_b}{N} \bigl(\mathrm{acc}_b - \mathrm{conf}_b\bigr)^2}

    Where no tie lies across a border, both treatments of ties agree with the published code. Fewer than ``bin_size``
    samples are one bin; the published code fails on them. With fewer than two full bins it returns 0, whatever the
    confidences, because its only bin is the one it drops: ``drop_last=True`` does so too, and warns. It takes
    O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Hendrycks, Mazeika and Dietterich, Deep anomaly detection with outlier exposure, ICLR (2019).
    Phan et al., Humanity's Last Exam (2025).

    Examples
    --------
    >>> correct, confidence = [False, True, True, True], [0.5, 0.5, 0.75, 0.75]
    >>> round(rms_ce(correct=correct, confidence=confidence, bin_size=2), 6)
    0.176777
    >>> rms_ce(correct=correct, confidence=confidence, bin_size=2, drop_last=True)
    0.0
    """
    check_whole("bin_size", bin_size)
    if not isinstance(drop_last, bool):
        raise ValueError(f"drop_last is {drop_last!r}; it should be True or False.")
    if ties not in get_args(Ties):
        raise ValueError(f"ties is {ties!r}; it should be 'average' or 'as_published'.")
    return measure(rms_ce_metric(int(bin_size), drop_last, ties), x, second, third, columns)
