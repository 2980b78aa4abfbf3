"""The confidences of two sets of rows as a calibrator corrects them, fitted to one of them."""

from __future__ import annotations

import difflib
import warnings
from typing import Any

import numpy as np

from surefoot.calibrators.calibrator import Calibrator
from surefoot.calibrators.registry import METHODS, NAMED
from surefoot.core.table import Floats
from surefoot.decisions.outcomes import logit
from surefoot.errors import CertaintyWarning, InvalidPredictions
from surefoot.predictions import ArrayPredictions

#: Those so flexible that they follow the noise of the rows they are fitted to.
_FLEXIBLE = ("Isotonic", "VennAbers", "SafeBins")
_FOLDS = 5


def calibrator_named(given: Any) -> Calibrator:
    """A calibrator by the name of its class or of its kind, or the one that was given."""
    if isinstance(given, Calibrator):
        return given
    if isinstance(given, type) and issubclass(given, Calibrator):
        return given()
    if not isinstance(given, str):
        raise TypeError(f"calibrator is {given!r}; give a name such as 'SafePlatt', or a calibrator.")
    plain = given.lower().replace("_", "").replace("-", "")
    for name, one in NAMED.items():
        if name.replace("_", "") == plain:
            return one.unfitted()
    for name, kind in METHODS.items():
        if name.lower() == plain:
            return kind()
    close = difflib.get_close_matches(given.lower(), [*(name.lower() for name in METHODS), *NAMED], 1)
    found = next((name for name in METHODS if close and name.lower() == close[0]), close[0] if close else "")
    hint = f"did you mean {found!r}? " if found else ""
    raise ValueError(f"calibrator is {given!r}; {hint}There are {', '.join(METHODS)}.")


def calibrated_confidences(
    calibrator: Calibrator, known: ArrayPredictions, new: ArrayPredictions
) -> tuple[Floats, Floats]:
    """The corrected confidences of the reference and of the new rows.

    Those of the reference come from a fit to the other rows where a calibrator is flexible, so that it does not look
    better there than it is.
    """
    scores, truth, labels = _inputs(calibrator, known)
    others = _inputs(calibrator, new)[0]
    if hasattr(calibrator, "classes_"):
        _check_classes(calibrator, labels)
        return _of_decision(calibrator.predict_proba(scores), known), _of_decision(
            calibrator.predict_proba(others), new
        )
    fitted = calibrator.unfitted()
    with warnings.catch_warnings():
        # outcomes near 0 and 1 are moved away from there afterwards
        warnings.simplefilter("ignore", CertaintyWarning)
        fitted.fit(scores, truth, labels=labels)
        inside = fitted.predict_proba(scores)
        if type(calibrator).__name__ in _FLEXIBLE and len(known) >= 2 * _FOLDS:
            fold = np.arange(len(known)) % _FOLDS
            for each in range(_FOLDS):
                part = fitted.unfitted()
                part.fit(scores[fold != each], truth[fold != each], labels=labels)
                inside[fold == each] = part.predict_proba(scores[fold == each])
        return _of_decision(inside, known), _of_decision(fitted.predict_proba(others), new)


def _inputs(calibrator: Calibrator, rows: ArrayPredictions) -> tuple[Any, Any, list[Any]]:
    """What a calibrator is fitted to: class probabilities, or whether a prediction is right and how sure it was."""
    if not rows.has_probabilities or rows.labels is None:
        confidence = rows.confidence_of(slice(None))
        scores = logit(confidence) if calibrator.from_logits else confidence
        return scores, np.asarray(rows.correct).astype(int), [0, 1]
    table = rows.probabilities
    if calibrator.from_logits:
        p = table.astype(np.float64)
        with np.errstate(divide="ignore"):
            table = logit(p) if p.ndim == 1 else np.maximum(np.log(p), -745.0)
    return table, rows.truth, list(rows.labels)


def _of_decision(table: Floats, rows: ArrayPredictions) -> Floats:
    """The probability of what was predicted."""
    if not rows.has_probabilities or rows.labels is None:
        return table[:, 1]
    own: Floats = table[np.arange(len(table)), rows.codes("predicted")]
    return own


def _check_classes(calibrator: Calibrator, labels: list[Any]) -> None:
    own = calibrator.classes_.tolist()
    if own != labels:
        raise InvalidPredictions(
            f"was fitted to the classes {own}, and those of the reference are {labels}",
            argument="calibrator",
            hint="give its name instead, and it is fitted to the reference",
        )
