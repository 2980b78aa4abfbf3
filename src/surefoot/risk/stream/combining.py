r"""The evidence of several streams together: partitions of one stream, or shards, each with a monitor of its own."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot.risk.evalues import e_mean
from surefoot.risk.stream.monitor import Monitor


def combine(monitors: Iterable[Monitor]) -> float:
    r"""Combine the evidence of partitions that are watched apart: the logarithm of the mean of their e-values.

    Compare it with :math:`\log(1 / \text{level})`, whenever and as often as you like. Evidence of partitions must not
    be multiplied: one look at some of them and a later look at the others would be two different times.

    Parameters
    ----------
    monitors : iterable of Monitor
        One for each partition, all of them as they stand now.

    Returns
    -------
    float
        The logarithm of the combined e-value.

    Raises
    ------
    ValueError
        If there is none.

    Notes
    -----
    Of J calibrated partitions, each e-process :math:`E_j` is a nonnegative supermartingale that starts at 1, given all
    that has happened in any of them; so is their mean, since a row that moves one of them leaves the others as they
    are. Hence :math:`\mathrm{E}[\frac1J \sum_j E_j(\tau)] \le 1` at any stopping time, and by Ville's inequality the
    mean ever reaches 1/a with probability at most a.

    This takes labels that come in time, or with delays that do not depend on the outcome. Where mistakes are reported
    sooner than confirmations, each monitor still holds its own promise, but partitions may stand at moments picked by
    their outcomes, and the mean of such values is not bounded. Then require that a single partition reaches J / level:
    by the union bound this happens with probability at most ``level``, whatever decides when labels come.

    Examples
    --------
    >>> import math
    >>> one, other = Monitor(), Monitor()
    >>> one.update([False], [0.99])
    >>> math.isclose(combine([one, other]), math.log((one.e_value + other.e_value) / 2))
    True
    """
    return e_mean([monitor.log_e for monitor in monitors])
