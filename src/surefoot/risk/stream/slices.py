r"""Which slices of a stream are off, each watched by a monitor of its own, whenever one looks.

**The evidence.** Given a slice's confidences and all that happened before, in this slice or another, its e-process is a
nonnegative supermartingale if the slice is calibrated. What a monitor shows while labels are awaited lies below that
process at some row, but labels decide which row: if mistakes are reported first, the value that one sees is no e-value
(of one prediction of doubt q it would be 1 until a mistake is reported). What holds whatever decides when labels come
is Ville's inequality: the largest value ever seen, :math:`Y`, exceeds y with probability at most 1/y.

**From there to e-values.** 1/Y is therefore a p-value at all times, and a function A that rises has
:math:`\mathrm{E}[A(Y)] \le 1` if :math:`\int_1^\infty A(y) y^{-2} dy \le 1` (Shafer, Shen, Vereshchagin and Vovk,
Statistical Science 26, 2011; Vovk and Wang, Annals of Statistics 49, 2021). Ours is half all or nothing at u, and half
:math:`(y - 1 - \ln y) / \ln^2 y`.

**Slices that appear later.** The i-th slice to appear has the weight :math:`w_i = 1 / (i (i + 1))`. These sum to 1
however many slices come, and cannot depend on what the outcomes were. Dividing by the number of slices so far would:
it changes while one looks.

**e-BH** (Wang and Ramdas, JRSS B 84, 2022) flags the k largest :math:`w_i A_i(Y_i)`, for the largest k at which the
smallest of them is at least 1 / (k level). With :math:`u_i = 2 / (w_i\,\text{level})` a slice is flagged alone once
its e-value has reached :math:`u_i`, and others with it from less. As the values only rise, a slice that is flagged
stays flagged, and at any time, chosen however one likes, calibrated slices are on average at most a share ``level`` of
those flagged; if all slices are calibrated, any is ever flagged with probability at most ``level``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot._io.arguments import check_level
from surefoot.risk.evalues import e_bh


def weight(number: int) -> float:
    """The weight of the slice that appeared as the ``number``-th, from 1; all together have 1."""
    return 1.0 / (number * (number + 1))


def limit(number: int, level: float) -> float:
    """The e-value from which the ``number``-th slice is flagged whatever the others are.

    Examples
    --------
    >>> round(limit(1, 0.05)), round(limit(10, 0.05))
    (80, 4400)
    """
    return 2.0 / (weight(number) * level)


def flag_slices(log_peaks: Sequence[float], level: float = 0.05) -> list[bool]:
    """Decide which slices are flagged, from the largest evidence that each has ever shown.

    Parameters
    ----------
    log_peaks : sequence of float
        Logarithms of the largest e-value that each slice has shown, in the order in which the slices appeared.
    level : float, default 0.05
        The false discovery rate: the share of calibrated slices among those flagged, on average, at most.

    Returns
    -------
    list of bool
        Whether each is flagged.

    Examples
    --------
    >>> flag_slices([math.log(100), 0.0, math.log(100)])
    [True, False, False]
    """
    check_level(level)
    values = [
        _log_adjusted(max(peak, 0.0), math.log(limit(i, level))) + math.log(len(log_peaks) * weight(i))
        for i, peak in enumerate(log_peaks, 1)
    ]
    return e_bh(values, level)


def _log_adjusted(log_y: float, log_u: float) -> float:
    """The logarithm of A(y): half u if y has reached it, and half (y - 1 - ln y) / (ln y)^2, which is 1/2 at 1."""
    if log_y == math.inf:
        return math.inf
    if log_y < 1e-4:
        gradual = math.log(0.5)
    else:
        gradual = log_y + math.log1p(-(1 + log_y) * math.exp(-log_y)) - 2 * math.log(log_y)
    at_once = log_u if log_y >= log_u else -math.inf
    return float(np.logaddexp(gradual, at_once) - math.log(2))
