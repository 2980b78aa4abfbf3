"""Assessments and comparisons as plain data, fit for JSON: what JSON cannot hold is None, with the reason beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

from surefoot._io.documents import strict
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole

if TYPE_CHECKING:
    from surefoot.assessment.compare import Comparison
    from surefoot.assessment.result import Assessment

SCHEMA = 2

#: The fields of a slice that hold several numbers.
_NESTED = ("risk", "underconfidence", "metrics")
_FIGURES = ("reliability", "near_certainty")


def write_json(document: dict[str, Any], path: str | PathLike[str] | None) -> str:
    """The document as strict JSON text, also written to a path if one is given: whole, or not at all."""
    text = json.dumps(document, allow_nan=False, indent=2) + "\n"
    if path is not None:
        write_whole(path, text)
    return text


def plain_assessment(a: Assessment) -> dict[str, Any]:
    """All that an assessment tells."""
    absent = [name for name in a.reasons if name not in a.metrics]
    return {
        "surefoot": "assessment",
        "schema": SCHEMA,
        "source": a.source,
        "columns": a.columns,
        "view": a.view,
        **({} if a.view == "prediction" else _of_events(a)),
        "verdict": a.verdict,
        "degree": a.degree,
        "warnings": list(a.warnings),
        **present("wording", "in_words", a),
        "level": a.level,
        "margin": a.margin,
        "expected_errors": a.risk.expected_errors,
        "observed_errors": a.risk.observed_errors,
        "groups": a.group or None,
        "classes": a.classes,
        "weight": a.weight,
        "not_attempted": a.not_attempted,
        "share_not_attempted": a.share_not_attempted,
        "risk": strict(a.risk.to_dict()),
        "underconfidence": strict(a.underconfidence.to_dict()),
        "intervals": {name: strict(asdict(interval)) for name, interval in a.intervals.items()},
        "surprises": [asdict(surprise) for surprise in a.surprises],
        "metrics": {name: _metric(a, name) for name in (*a.metrics, *absent)},
        "bands": [strict(asdict(band)) for band in a.bands],
        **{name: [strict(asdict(one)) for one in getattr(a, name)] for name in _FIGURES},
        "act_alone": [asdict(offer) for offer in a.offers],
        "recalibrated": None if a.recalibrated is None else strict(asdict(a.recalibrated)),
        "by": a.by,
        "slices": [
            {
                **strict({name: value for name, value in vars(part).items() if name not in (*_NESTED, *_FIGURES)}),
                **{name: strict(_fields(getattr(part, name))) for name in _NESTED},
            }
            for part in a.slices
        ],
        "slices_not_attempted": [{"value": value, "rows": rows} for value, rows in a.slices_not_attempted.items()],
    }


def _of_events(a: Assessment) -> dict[str, Any]:
    return {"event": a.event, "expected_events": a.risk.expected_events, "observed_events": a.risk.observed_events}


def _metric(a: Assessment, name: str) -> dict[str, Any]:
    value = a.metrics.get(name)
    entry: dict[str, Any] = {"value": value if value is not None and math.isfinite(value) else None}
    if name in a.reasons:
        entry["reason"] = a.reasons[name]
    elif value is not None and math.isinf(value):
        entry["reason"] = "infinite: something that was given no probability happened"
    if a.bounds.get(name):
        entry["bound"] = a.bounds[name]
    return entry


def _fields(nested: Any) -> dict[str, Any]:
    return dict(nested) if isinstance(nested, Mapping) else nested.to_dict()


def plain_comparison(c: Comparison) -> dict[str, Any]:
    """All that a comparison tells."""
    return {
        "surefoot": "comparison",
        "schema": SCHEMA,
        "paired": c.is_paired,
        "pairing": c.pairing,
        "compared_with": c.first,
        "sign": "each model minus the first",
        "level": c.level,
        "differences": {
            name: {
                "csr": _finite(c.csr[name]) if name in c.csr else None,
                "riskier": _finite(c.riskier[name]) if name in c.riskier else None,
                **{key: _finite(interval) for key, interval in c.values.get(name, {}).items()},
            }
            for name in list(c.assessments)[1:]
        },
        "models": {name: a.to_dict() for name, a in c.assessments.items()},
    }


def _finite(result: Any) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(result).items()}
