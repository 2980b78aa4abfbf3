"""The order of slices and classes: worst first."""

from __future__ import annotations

import math
from typing import Any

from surefoot.assessment.slices import Slice

_DEGREES = (None, "slightly", "clearly", "strongly")
_NAMED = ("overconfident", "mixed", "underconfident")
_OF_EVENTS = ("overpredicts", "underpredicts", "too extreme", "too timid")


def severity(part: Slice) -> Any:
    """By verdict, then by how much, then by how sure."""
    if not math.isnan(part.risk.expected_events):
        return _severity_of_event(part)
    p = part.risk.pvalue_omnibus if not math.isnan(part.risk.pvalue_omnibus) else 1.0
    order = _NAMED.index(part.verdict) if part.verdict in _NAMED else len(_NAMED)
    return (order, -_DEGREES.index(part.degree), p if p > 1e-12 else 0.0, -part.risk.overstatement)


def _severity_of_event(part: Slice) -> Any:
    """Of an event both sides are alike."""
    p = min(part.risk.pvalue_omnibus, part.underconfidence.pvalue_omnibus)
    p = 1.0 if math.isnan(p) else p
    is_found = part.verdict in _OF_EVENTS
    return (not is_found, -_DEGREES.index(part.degree), p if p > 1e-12 else 0.0, -abs(part.risk.overstatement))
