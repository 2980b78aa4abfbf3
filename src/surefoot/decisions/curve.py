"""The risk-coverage curve: how many rows may be acted on, and how many of those are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.core.frames import CurveTable
from surefoot.core.thresholds import THRESHOLDS
from surefoot.decisions.thresholds import Accepted, Floats


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve(CurveTable):
    """Error rate among accepted samples, by how many are accepted.

    Attributes
    ----------
    threshold : array of shape (n_thresholds,)
        Confidences from which samples are accepted, falling: the first accepts the fewest.
    coverage : array of shape (n_thresholds,)
        The share of samples that are accepted.
    error_rate : array of shape (n_thresholds,)
        The share of wrong ones among these.
    lower, upper : array of shape (n_thresholds,)
        The error rates that the test of each threshold leaves possible, at the level at which the tests of the promised
        rate hold together: ``upper`` is at most that rate just where the promise holds. As a band for all thresholds
        at once they are meant for rates near the promised one; for larger rates they are a little too narrow.
    rows, errors : array of shape (n_thresholds,)
        How many samples are accepted, and how many of these are wrong.
    """

    threshold: Floats
    coverage: Floats
    error_rate: Floats
    lower: Floats
    upper: Floats
    rows: Floats
    errors: Floats


def curve_of(accepted: Accepted, error: float, level: float) -> RiskCoverageCurve:
    """The curve at the thresholds that tell samples apart."""
    at = np.flatnonzero(accepted.is_new)[::-1]
    lower, upper = accepted.limits(error, level)
    rows, errors = accepted.rows[at], accepted.errors[at]
    return RiskCoverageCurve(THRESHOLDS[at], rows / accepted.total, errors / rows, lower[at], upper[at], rows, errors)
