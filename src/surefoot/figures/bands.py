"""Bands of confidence, or of risk, as they are shown: fixed, one for each value where these are few, or deciles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.core.doubt_table import CUT, CUTS, LAST, cells_of, exact_codes
from surefoot.core.table import Floats
from surefoot.figures.reliability import Band, Bin
from surefoot.predictions.doubt import NARROW_DOUBTS, doubt_of_rounded_text
from surefoot.risk.law.counts import Counts

#: Distinct confidences up to which each is a band, and rows that they have on average at least.
_FEW, _ROWS_EACH = 12, 3
#: The share of rows in one fixed band from which bands hold equally many rows, how many bands, and rows in each.
_CROWDED, _DECILES, _LEAST_ROWS = 0.9, 10, 10
#: The doubt below which bands are not divided.
_FINEST = 1e-9
#: Doubts that confidences of 1 have by convention where they are rounded numbers.
_CONVENTIONS = (*NARROW_DOUBTS, *(doubt_of_rounded_text(decimals) for decimals in range(1, 10)))


def shown_bands(fixed: Sequence[Band], counts: Counts | None, *, rounded: int = 0) -> tuple[Band, ...]:
    """The bands that tell most about these rows, surest first.

    ``fixed`` are the bands that a verdict rests on, a factor of ten of doubt each. Few distinct confidences, as a
    language model states them, get a band each, whose ends are equal. Where nine in ten rows share a fixed band, bands
    hold equally many rows instead. ``rounded`` rows have a confidence of 1 that is a rounded number: their band is that
    of 1. ``counts`` is None where rows weigh differently.
    """
    if counts is None or not len(fixed):
        return tuple(fixed)
    if counts.is_exact and len(counts.doubt) <= _FEW and counts.n >= _ROWS_EACH * len(counts.doubt):
        return _by_value(counts, rounded)
    total = sum(band.rows for band in fixed)
    if max(band.rows for band in fixed) >= _CROWDED * total and counts.n >= 2 * _LEAST_ROWS:
        deciles = _deciles(counts)
        # many equal confidences leave nothing to divide
        return deciles if len(deciles) > len(fixed) else tuple(fixed)
    return tuple(fixed)


@dataclass(frozen=True)
class RiskBand:
    """Samples of similar predicted probability, with the events expected and observed among them.

    Attributes
    ----------
    least, most : float
        The predicted probability of these samples is above ``least`` and at most ``most``; if both are equal, it is
        this one.
    rows : float
        The number of samples.
    expected, observed : float
        The events that the probabilities imply, and those that happened.
    """

    least: float
    most: float
    rows: float
    expected: float
    observed: float


def risk_bands(counts: Counts | None, bins: Sequence[Bin], *, rounded: int = 0) -> tuple[RiskBand, ...]:
    """The bands of predicted probability that tell most about an event, the lowest first.

    Few distinct probabilities get a band each; more of them, bands of about equally many rows. ``counts`` is None where
    rows weigh differently: then they are the ``bins`` of the reliability diagram.
    """
    if counts is None:
        return tuple(
            RiskBand(one.least, one.most, one.rows, max(0.0, one.rows - one.stated), max(0.0, one.rows - one.seen))
            for one in bins
        )
    if counts.is_exact and len(counts.doubt) <= _FEW and counts.n >= _ROWS_EACH * len(counts.doubt):
        values = _by_value(counts, rounded)
        # of probabilities near 0 the confidence has the digits, of those near 1 the doubt
        exact = counts.confidence[np.argsort(counts.doubt, kind="stable")].tolist()
        edges = [(p, p) if p <= 0.5 else (1 - one.least, 1 - one.least) for p, one in zip(exact, values, strict=True)]
        found = values
    elif counts.n >= 2 * _LEAST_ROWS:
        found = _deciles(counts, both_ends=True)
        edges = [(1 - band.below, 1 - band.least) for band in found]
    else:
        return ()
    return tuple(
        RiskBand(least, most, band.rows, max(0.0, band.rows - band.stated), max(0.0, band.rows - band.seen))
        for (least, most), band in reversed(list(zip(edges, found, strict=True)))
    )


def _by_value(counts: Counts, rounded: int) -> tuple[Band, ...]:
    """A band for each confidence."""
    order = np.argsort(counts.doubt, kind="stable").tolist()
    found = []
    left = rounded
    for i in order:
        doubt, rows = float(counts.doubt[i]), float(counts.rows[i])
        # rounded ones are the surest: a stated 95% has the doubt of a 1 that is rounded to one decimal, and is none
        is_one = 0 < left <= rows and any(abs(doubt - one) <= 1e-9 * one for one in _CONVENTIONS)
        left = 0 if is_one else left
        place = 0.0 if is_one else doubt
        found.append(Band(place, place, rows, rows * doubt, float(counts.wrong[i])))
    return tuple(found)


def _deciles(counts: Counts, *, both_ends: bool = False) -> tuple[Band, ...]:
    """Bands of equally many rows, cut between cells of doubt, which are at most 1.6% wide.

    Rows and tallies have the same cells. Lazy frames cut theirs elsewhere: rows within a cell of an edge may be counted
    on its other side.
    """
    cells = cells_of(exact_codes(counts.doubt, counts.confidence))
    codes, where = np.unique(cells, return_inverse=True)
    columns = (counts.rows, counts.rows * counts.doubt, counts.wrong)
    rows, stated, seen = (np.bincount(where, column).astype(np.float64) for column in columns)
    bands = int(max(2, min(_DECILES, counts.n // _LEAST_ROWS)))
    # each cell goes to the band that the middle of its rows lies in
    middle = (np.cumsum(rows) - rows / 2) / counts.n
    own = np.minimum((middle * bands).astype(np.int64), bands - 1)
    # beyond nine nines edges are rows of digits that nobody reads: those rows are one band
    own[codes < cells_of(exact_codes(np.array([_FINEST]), np.array([1 - _FINEST])))[0]] = -1
    if both_ends:
        own[codes > cells_of(exact_codes(np.array([1 - _FINEST]), np.array([_FINEST])))[0]] = bands
    starts = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
    edges = [0.0, *(_start(int(code)) for code in codes[starts[1:]]), 1.0]

    def totals(values: Floats) -> list[float]:
        return [float(total) for total in np.add.reduceat(values, starts)]

    groups = zip(edges[:-1], edges[1:], totals(rows), totals(stated), totals(seen), strict=True)
    return tuple(Band(*group) for group in groups)


def _start(code: int) -> float:
    """The least doubt of a cell."""
    if code <= LAST // 2:
        return _least(code)
    # cells of confidences, counted down
    return 1 - min(0.5, _least(LAST - code + 1))


def _least(cell: int) -> float:
    """The least value of a cell of the lesser of doubt and confidence."""
    starts = (float(np.int64((cell - i) << CUT).view(np.float64)) for i in range(min(len(CUTS), cell) + 1))
    candidates = [*starts, *CUTS]
    return min(x for x in candidates if _cell(x) >= cell)


def _cell(x: float) -> int:
    return (int(np.float64(x).view(np.int64)) >> CUT) + sum(x >= cut for cut in CUTS)
