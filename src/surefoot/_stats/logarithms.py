"""Sums and means of numbers that are known by their logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def log_sum(logs: Any, axis: int = 0) -> Any:
    """The logarithm of the sum of numbers, from their logarithms; an infinite one makes it infinite.

    Examples
    --------
    >>> round(float(log_sum([1000.0, 1000.0])) - 1000, 6)
    0.693147
    """
    logs = np.asarray(logs, dtype=np.float64)
    top = logs.max(axis=axis, keepdims=True)
    # an infinity less itself is no number: it stays, and decides
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        return np.log(np.exp(logs - top).sum(axis=axis)) + np.squeeze(top, axis=axis)


def log_mean(logs: Any, axis: int = 0) -> Any:
    """The logarithm of the mean of numbers, from their logarithms.

    Examples
    --------
    >>> float(log_mean([2.0, 2.0]))
    2.0
    """
    return log_sum(logs, axis) - math.log(np.shape(logs)[axis])
