"""The risk-coverage curve of a result of ``act_alone``, for the page and for matplotlib."""

from __future__ import annotations

import numpy as np

from surefoot.decisions.act_alone import ActAlone
from surefoot.figures.risk_coverage import Chosen, RiskCoverage
from surefoot.render.act_alone_wording import certainty, keeps_promise
from surefoot.render.numbers import exact_percent, percent


def risk_coverage_of(found: ActAlone) -> RiskCoverage:
    """The curve, the promise and the threshold."""
    curve = found.curve
    promise = "" if found.error is None else f"promised: {exact_percent(found.error)}"
    return RiskCoverage(
        curve.coverage, curve.error_rate, curve.lower, curve.upper, found.error, promise, _chosen(found)
    )


def _chosen(found: ActAlone) -> Chosen | None:
    if found.threshold is None or not found.accepted:
        return None
    at = int(np.flatnonzero(found.curve.threshold >= found.threshold)[-1])
    limits = (float(found.curve.lower[at]), float(found.curve.upper[at]))
    words = "every row" if found.accepted == found.rows else f"from {exact_percent(found.threshold)} on"
    return Chosen(found.coverage, found.error_rate, limits, words)


def figure_title(found: ActAlone) -> str:
    """The finding; with slices, that of all rows together."""
    title = _title(found)
    return f"One threshold for all rows: {title[0].lower()}{title[1:]}" if found.slices else title


def _title(found: ActAlone) -> str:
    if found.error is None:
        if found.threshold is None:
            return "It costs least to review every row"
        return f"It costs least to accept {percent(found.coverage)} of rows"
    rate = exact_percent(found.error)
    if found.threshold is None:
        if keeps_promise(found):
            return "It costs least to review every row"
        return f"No threshold keeps errors at {rate} with {certainty(found)} confidence"
    rows = "Every row" if found.accepted == found.rows else f"{percent(found.coverage)} of rows"
    return f"{rows} may be accepted with at most {rate} wrong"
