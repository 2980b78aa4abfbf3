"""Calibration error without bins: correctness smoothed by a kernel, on the scale of log-odds or of confidence."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Unpack

import numpy as np

from surefoot._stats.logistic import expit
from surefoot._stats.roots import root
from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.view import ANY_VIEW, ONE_A_ROW
from surefoot.metrics.by_confidence import NOTHING, TERMS, Levels, levels
from surefoot.metrics.function import function_of
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

#: The paper's clip: log-odds beyond are not told apart.
_CLIP = 1e-8
#: Steps of the grid in a bandwidth, and bandwidths beyond which a kernel is 0.
_STEPS, _REACH = 200, 8.5
#: Steps of the grid on [0, 1].
_CELLS = 1 << 15
#: Steps in a bandwidth that an integral needs.
_FINENESS = 400


@cache
def ls_ece_metric(bandwidth: float = 1 / 15) -> Metric:
    """Logit-smoothed calibration error with a normal kernel of this bandwidth."""

    def formula(t: Tally) -> float | Outcome:
        from scipy.special import expit

        at = levels(t)
        if not len(at.weight):
            return NOTHING
        grid, density, correct = _smooth(at, bandwidth)
        return float(np.abs(correct - density * expit(grid)).sum()) * bandwidth / _STEPS

    return Metric(
        "ls_ece",
        TERMS,
        formula,
        title=f"Logit-smoothed calibration error, bandwidth {bandwidth:.3g}",
        reading="Mean gap, smoothed by a kernel on the scale of log-odds.",
        notation=r"\int \Bigl| \frac1N \sum_i K_s(t - z_i) (y_i - \sigma(t)) \Bigr| \, dt",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Chidambaram, Lee, McSwiggen and Rezchikov, NeurIPS (2024)",
    )


def _smooth(at: Levels, bandwidth: float) -> tuple[Floats, Floats, Floats]:
    """A grid of log-odds, the density of rows there, and of correct ones."""
    from scipy.fft import irfft, next_fast_len, rfft

    confidence = np.clip(at.confidence, _CLIP, 1 - _CLIP)
    odds = np.log(confidence) - np.log1p(-confidence)
    step = bandwidth / _STEPS
    margin = math.ceil(_REACH * _STEPS)
    first = math.floor(odds[0] / step) - margin
    place = odds / step - first
    below = np.floor(place).astype(np.intp)
    share = place - below
    size = int(below[-1]) + margin + 2
    reach = np.arange(-margin, margin + 1) / _STEPS
    kernel = np.exp(-(reach**2) / 2) / math.sqrt(2 * math.pi) / bandwidth
    length = next_fast_len(size + 2 * margin, real=True)
    waves = rfft(kernel, length)
    spread = []
    for mass in (at.weight, at.correct):
        # between the two neighbours on the grid, so that means stay
        binned = np.bincount(below, mass * (1 - share), size) + np.bincount(below + 1, mass * share, size)
        spread.append(irfft(rfft(binned / at.weight.sum(), length) * waves, length)[margin : margin + size])
    return (np.arange(size) + first) * step, spread[0], spread[1]


def _smooth_ece(t: Tally) -> float | Outcome:
    """The bandwidth at which the smoothed error is the bandwidth itself."""
    from scipy.fft import dct, idct

    at = levels(t)
    if not len(at.weight):
        return NOTHING
    place = at.confidence * _CELLS
    below = np.minimum(np.floor(place).astype(np.intp), _CELLS - 1)
    share = place - below
    gap = at.gap / at.weight.sum()
    # end points stand for themselves and their mirror images, so what falls there counts double
    binned = np.bincount(below, gap * (1 - share), _CELLS + 1) + np.bincount(below + 1, gap * share, _CELLS + 1)
    binned[[0, -1]] *= 2
    waves = dct(binned, type=1)
    frequency = np.pi * np.arange(_CELLS + 1)
    # undo the blur that sharing between neighbours makes
    waves /= np.sinc(np.arange(_CELLS + 1) / (2 * _CELLS)) ** 2

    def error(bandwidth: float) -> float:
        # what is smooth needs no fine grid: its high frequencies are gone
        size = min(_CELLS, 1 << math.ceil(math.log2(_FINENESS / bandwidth)))
        kept = waves[: size + 1] * np.exp(-((bandwidth * frequency[: size + 1]) ** 2) / 2)
        smooth = np.abs(idct(kept, type=1))
        return float(smooth.sum() - (smooth[0] + smooth[-1]) / 2)

    if error(_LEAST) <= _LEAST:
        return error(_LEAST)
    return root(lambda bandwidth: error(bandwidth) - bandwidth, _LEAST, 1.0, xtol=1e-12)


#: The least bandwidth, four steps of the grid.
_LEAST = 4 / _CELLS

SMOOTH_ECE = Metric(
    "smooth_ece",
    TERMS,
    _smooth_ece,
    title="Smooth calibration error",
    reading="Mean gap, smoothed with a bandwidth equal to the gap itself.",
    notation=r"\sigma = \int_0^1 \Bigl| \frac1N \sum_i K_\sigma(t, c_i) (y_i - c_i) \Bigr| \, dt",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="Błasiok and Nakkiran, ICLR (2024)",
)


@takes_predictions
def ls_ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    bandwidth: float = 1 / 15,
    rng: np.random.Generator | None = None,
    draws: int = 10_000,
    **columns: Unpack[Columns],
) -> float:
    r"""Logit-smoothed ECE: the mean gap between accuracy and confidence, smoothed over log-odds.

    Lower is better. It depends less on ``bandwidth`` than ECE does on bins.

    Parameters
    ----------
    bandwidth : float, default=1/15
        The standard deviation of the normal kernel, in log-odds, from 0.001 to 100.
    rng : numpy.random.Generator, optional
        Integrate by random draws, as its authors do, instead of by quadrature.
    draws : int, default=10000
        The number of random draws, with ``rng``.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \int \Bigl| \frac1N \sum_i K_s(t - z_i) (y_i - \sigma(t)) \Bigr| \, dt

    where z are log-odds of confidences, clipped to [1e-8, 1 - 1e-8]. It takes O(N log N) time and needs the rows; a
    :class:`Tally` is not enough.

    Examples
    --------
    >>> round(ls_ece([1, 1], [1, 0], [0.75, 0.75]), 3)
    0.25
    """
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, int | float) or not 0.001 <= bandwidth <= 100:
        raise ValueError(f"bandwidth is {bandwidth!r}; it should be a number from 0.001 to 100.")
    views = ANY_VIEW if rng is None else ONE_A_ROW
    p = as_predictions(x, second, third, columns, function="ls_ece", views=views)
    if rng is None:
        return float(ls_ece_metric(float(bandwidth))(p))
    at = levels(p.rows("ls_ece").tally(TERMS))
    grid, density, correct = _smooth(at, float(bandwidth))
    clipped = np.clip(at.confidence, _CLIP, 1 - _CLIP)
    odds = np.log(clipped) - np.log1p(-clipped)
    t = rng.choice(odds, draws, p=at.weight / at.weight.sum()) + bandwidth * rng.standard_normal(draws)
    t = np.clip(t, grid[0] + 0.5 * bandwidth, grid[-1] - 0.5 * bandwidth)
    fit = np.interp(t, grid, correct) / np.interp(t, grid, density)
    return float(np.abs(fit - expit(t)).mean())


@function_of(SMOOTH_ECE)
def smooth_ece() -> None:
    r"""Smooth ECE: the gap between accuracy and confidence, smoothed with a bandwidth equal to the gap itself.

    Lower is better. It has no bins and no parameters, and is within constant factors of the distance to calibration.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \sigma = \int_0^1 \Bigl| \frac1N \sum_i K_\sigma(t, c_i) (y_i - c_i) \Bigr| \, dt

    where K is the normal kernel, reflected at 0 and 1. It takes O(N log N) time and needs the rows; a :class:`Tally` is
    not enough.

    References
    ----------
    Błasiok and Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR (2024).

    Examples
    --------
    >>> round(smooth_ece([1, 1], [1, 0], [0.75, 0.75]), 4)
    0.25
    """
