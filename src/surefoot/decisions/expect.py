"""What to expect of predictions whose labels are not known yet, judged by others whose labels are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from os import PathLike
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_level
from surefoot.calibrators.calibrator import Calibrator
from surefoot.core.table import Floats
from surefoot.core.view import OF_PREDICTIONS
from surefoot.decisions.calibrating import calibrated_confidences, calibrator_named
from surefoot.decisions.correction import correct
from surefoot.decisions.expected import Expected
from surefoot.decisions.forecast import confusion_matrix, forecasts, observed
from surefoot.decisions.limits import limits, with_edges
from surefoot.decisions.outcomes import OutcomeModel
from surefoot.decisions.shift import shift_between
from surefoot.errors import InvalidPredictions
from surefoot.metrics.confusion import confusion_of
from surefoot.predictions import ArrayPredictions, as_predictions
from surefoot.predictions.arguments import Columns
from surefoot.predictions.borders import attempts_of
from surefoot.predictions.columns import dimensions
from surefoot.predictions.dataframe import FrameColumns, frame_column, is_frame
from surefoot.predictions.labels import quote
from surefoot.predictions.unlabelled import Unlabelled
from surefoot.predictions.unlabelled import unlabelled as make_unlabelled
from surefoot.risk.estimates import drop_weightless

#: Reference rows below which nothing is said.
_FEWEST_ROWS = 10
#: What names columns of rows without labels.
_ROLES = {"y_pred": "predicted", "predicted": "predicted", "y_proba": "probabilities", "probabilities": "probabilities"}
_ROLES |= {"confidence": "confidence", "doubt": "doubt", "labels": "labels", "from_logits": "from_logits"}


def expect(
    unlabelled: Any,
    *,
    reference: Any,
    calibrator: str | Calibrator = "SafePlatt",
    level: float = 0.05,
    cost_error: Any = None,
    **columns: Unpack[Columns],
) -> Expected:
    r"""Say what accuracy, AUC, log loss and other metrics to expect of predictions that have no labels yet.

    A calibrator learns from the reference, whose labels are known, how often predictions of each confidence are right.
    Each metric comes with a prediction interval: it holds the value that the metric will have once the labels are
    known, for 95% of such data sets. This supposes that a confidence means what it meant in the reference. A change in
    what the labels mean (concept drift) cannot be seen without labels.

    Parameters
    ----------
    unlabelled : array-like of shape (n,) or (n, K), dataframe, path, or Unlabelled
        The predictions without labels: confidences (one column) or probabilities of each class (several); a dataframe
        or a file with columns named as in the reference; or :meth:`Predictions.unlabelled`. One column is read like
        that of the reference: if this holds the probability of its second class, so does the column.
    reference : Predictions, tuple of arrays, dataframe or path
        Predictions of the same model with their labels, as :func:`assess` takes them, on rows that the model was not
        trained on. A pair of arrays is (y_true, probabilities).
    calibrator : str or Calibrator, default "SafePlatt"
        The name of a calibrator, or one of your own; if that is fitted, it is used as it is.
    level : float, default 0.05
        The significance level: prediction intervals have a level of 1 - ``level``.
    cost_error : float or array-like of shape (K, K), optional
        What an error costs, or the cost of each true class (row) and predicted class (column); adds ``"mean_cost"``.
    **columns : str or object
        Names of columns of dataframes and files, and how to read them, as in :func:`assess`: ``y_true``, ``y_pred``,
        ``confidence``, ``correct``, ``probabilities``, ``doubt``, ``labels``, ``pos_label``, ``from_logits``.

    Returns
    -------
    Expected
        A mapping of metric names to :class:`Interval`; print it, or compare it with labels when they arrive.

    Raises
    ------
    InvalidPredictions
        If either cannot be predictions, they are of different classes, or the reference has fewer than 10 rows or
        unequal weights.

    Notes
    -----
    Every row counts once for each label that it may have, with the probability of that label as its weight; the
    ordinary metrics of such rows are the expected ones. The probability of being right is the calibrator's, moved by a
    logistic regression on the reference so that it is right on average, also for each predicted class:

    .. math:: \operatorname{logit} P(\text{right}) = \operatorname{logit} \hat c + \beta^\top x

    The width of an interval comes from chance in the labels and from the uncertainty of :math:`\beta`, by the delta
    method; where fewer than 30 errors decide, they are counted instead. For two classes, precision, recall, F1 and AUC
    are those of the second class; for more, means over classes.

    References
    ----------
    NannyML's CBPE (confidence-based performance estimation) rests on the same idea, with isotonic calibration.

    Examples
    --------
    >>> import numpy as np, surefoot as sf
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0, 1, 4000)
    >>> y = (rng.random(4000) < p).astype(int)
    >>> known = sf.Predictions.from_probabilities(y[:3000], p[:3000])
    >>> expected = sf.expect(p[3000:], reference=known)
    >>> accuracy = float(np.mean(y[3000:] == (p[3000:] > 0.5)))
    >>> expected["accuracy"].low < accuracy < expected["accuracy"].high
    True
    """
    check_level(level)
    _refuse_unread(unlabelled, reference, columns)
    unlabelled, reference, words = _read_files(unlabelled, reference, columns)
    known, skipped = _reference(reference, columns)
    new = _unlabelled(unlabelled, known, reference, columns)
    known, rows = _on_common_ground(known, new)
    cost = _checked_cost(cost_error, known)
    chosen = calibrator_named(calibrator)
    fitted, corrected = calibrated_confidences(chosen, known, rows)
    model = OutcomeModel(known, fitted)
    outcomes = model.weigh(rows, corrected)
    found = forecasts(outcomes, cost)
    seen = observed(known, cost, found)
    if known.labels is not None and len(known.labels) > 2:
        found = correct(found, forecasts(model.weigh(known, fitted), cost), seen)
    # counts of the reference are of other rows
    counts = {name: len(rows) / len(known) for name in ("errors", "tp", "fp", "fn", "tn")}
    matrix = None if outcomes.shares is None else confusion_matrix(outcomes, outcomes.table)
    return Expected(
        intervals=with_edges(
            {name: limits(name, one, 1 - level, outcomes) for name, one in found.items()},
            found,
            outcomes,
        ),
        reference={name: value * counts.get(name, 1.0) for name, value in seen.items()},
        level=level,
        rows=len(rows),
        reference_rows=len(known),
        labels=known.labels,
        confusion=None if matrix is None or known.labels is None else confusion_of(known.labels, matrix),
        shift=shift_between(rows, known, level, of_classes=known.labels is not None),
        calibrator=type(chosen).__name__,
        columns=words,
        not_attempted=new.not_attempted,
        reference_not_attempted=skipped,
        _chance={name: one.wider**2 * one.chance for name, one in found.items()},
        _telling=(outcomes.telling, outcomes.rarest),
        _cost=cost,
        _spread=float(rows.confidence_of(slice(None)).std()),
    )


def _refuse_unread(new: Any, reference: Any, columns: Mapping[str, Any]) -> None:
    """Raise if something is named that neither the reference nor the new rows are read by."""
    if is_frame(reference) or isinstance(reference, tuple | str | PathLike):
        # whatever is named is read there, or refused
        return
    known: set[str] = {"labels", "from_logits"}
    if is_frame(new) or isinstance(new, str | PathLike):
        known = {*_ROLES, "attempted"}
    elif isinstance(new, Unlabelled):
        known = set()
    extra = next((name for name, value in columns.items() if value is not None and name not in known), None)
    if extra is not None:
        raise InvalidPredictions(
            "is not read here: the reference holds predictions already, and so do the new rows, or they are arrays",
            argument=extra,
            hint="give only rows that were attempted" if extra == "attempted" else "leave it out",
        )


def _read_files(new: Any, reference: Any, columns: Mapping[str, Any]) -> tuple[Any, Any, str]:
    """Files as predictions, and which columns were used."""
    if not isinstance(new, str | PathLike) and not isinstance(reference, str | PathLike):
        return new, reference, ""
    read = import_module("surefoot.files.unlabelled").read_both
    found: tuple[Any, Any, str] = read(
        os.fspath(new) if isinstance(new, str | PathLike) else new,
        os.fspath(reference) if isinstance(reference, str | PathLike) else reference,
        columns,
    )
    return found


def _reference(given: Any, columns: Mapping[str, Any]) -> tuple[ArrayPredictions, int]:
    """The reference rows, each of which counts once; and how many more were not attempted."""
    if isinstance(given, Unlabelled):
        raise InvalidPredictions("has no labels", argument="reference", hint="give predictions whose labels are known")
    named = columns if is_frame(given) or isinstance(given, tuple) else {}
    is_pair = isinstance(given, tuple) and len(given) == 2
    # a pair is of labels and probabilities, also where labels are 0 and 1
    read = as_predictions(given, columns=named, function="expect", is_ranking=is_pair, views=OF_PREDICTIONS)
    known = read.rows("expect")
    skipped = known.not_attempted
    known, _ = drop_weightless(known, None)
    if not known.has_equal_weights:
        raise InvalidPredictions(
            "has unequal weights, and expect counts each row once", argument="reference", hint="leave out the weights"
        )
    if len(known) < _FEWEST_ROWS:
        raise InvalidPredictions(
            f"has only {len(known)} rows",
            argument="reference",
            hint=f"give at least {_FEWEST_ROWS} labelled rows; some hundreds make intervals useful",
        )
    return replace(known, _weight=None), skipped


def _unlabelled(given: Any, known: ArrayPredictions, reference: Any, columns: Mapping[str, Any]) -> Unlabelled:
    """The rows without labels, read like the reference."""
    if isinstance(given, Unlabelled):
        return given
    if isinstance(given, ArrayPredictions):
        raise InvalidPredictions(
            "these predictions have labels, so nothing need be expected: assess(predictions) measures them. To set "
            "their labels aside, give Predictions.unlabelled(probabilities=predictions.probabilities), or confidence="
        )
    options = {_ROLES[name]: value for name, value in columns.items() if name in _ROLES}
    if is_frame(given):
        rows, skipped = _attempted(given, columns.get("attempted"))
        made = make_unlabelled(rows, **options)
        _check_columns(given, reference, columns.get("probabilities", columns.get("y_proba")))
        return replace(made, not_attempted=skipped)
    reading = {name: value for name, value in options.items() if name in ("labels", "from_logits")}
    if dimensions(given) == 2:
        return make_unlabelled(probabilities=given, **reading)
    # of two classes no confidence is below one half: such numbers are probabilities of the second
    is_second = known.has_second or (
        known.probabilities is not None and len(known.labels or ()) == 2 and float(np.min(given, initial=1.0)) < 0.5
    )
    if is_second or "from_logits" in reading:
        made = make_unlabelled(probabilities=given, **reading)
        _refuse_confidences(made, known)
        return made
    return make_unlabelled(confidence=given)


def _check_columns(frame: Any, reference: Any, probabilities: Any) -> None:
    """Raise if what names the columns of probabilities names those of other classes in the reference."""
    if not isinstance(probabilities, str) or not is_frame(reference):
        return
    own, known = (FrameColumns(one, {"probabilities": probabilities}).probability_names() for one in (frame, reference))
    if len(own) > 1 and len(own) == len(known) and set(own) != set(known):
        raise InvalidPredictions(
            f"are the columns {quote(tuple(own))}, and those of the reference are {quote(tuple(known))}",
            argument="probabilities",
            hint="call the columns of the same classes alike",
        )


def _attempted(frame: Any, column: Any) -> tuple[Any, int]:
    """The rows of a dataframe that were attempted, by the column of that name; and how many were not."""
    if not isinstance(column, str) or column not in frame.columns:
        return frame, 0
    import narwhals as nw

    attempts = attempts_of(frame_column(frame, column))
    flags = np.asarray(attempts.flags, dtype=bool)
    return nw.from_native(frame).filter(flags.tolist()).to_native(), attempts.skipped


def _refuse_confidences(new: Unlabelled, known: ArrayPredictions) -> None:
    """Raise if one column is taken for that of the second class, and looks like confidences."""
    assert new.probabilities is not None
    if new._is_logits or known.labels is None or len(new) < 50:
        return
    share = float((known.probabilities < 0.5).mean())
    if share > 0.1 and float(new.probabilities.min()) >= 0.5:
        raise InvalidPredictions(
            f"one column is read as the probability of {known.labels[1]!r}, as in the reference, where {share:.0%} are "
            "below 0.5; here none is. If these are confidences, say so: "
            "Predictions.unlabelled(confidence=numbers). If not: Predictions.unlabelled(probabilities=numbers)"
        )


def _on_common_ground(known: ArrayPredictions, new: Unlabelled) -> tuple[ArrayPredictions, ArrayPredictions]:
    """Both with the columns that both have."""
    if new.probabilities is not None:
        if known.probabilities is None:
            raise InvalidPredictions(
                "the rows without labels have class probabilities, and the reference has none",
                hint="give both alike: probabilities for both, or Predictions.unlabelled(confidence=...)",
            )
        return known, new.rows_for(known.labels)
    known = replace(known, _probabilities=None, _log_odds=None)
    if new.predicted is None or known.truth is None:
        known = replace(known, _truth=None, _predicted=None, _labels=None)
        return known, replace(new, predicted=None).rows_for(None)
    # the labels that occur, which would be found anew without probabilities
    known = replace(known, _labels=known.labels)
    return known, new.rows_for(known.labels)


def _checked_cost(cost: Any, known: ArrayPredictions) -> float | Floats | None:
    if cost is None:
        return None
    try:
        values = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"cost_error is {cost!r}; give a number, or one for each true and predicted class.") from None
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"cost_error is {cost!r}; costs are 0 or more, and finite.")
    if values.ndim == 0:
        return float(values)
    if known.labels is None:
        raise InvalidPredictions("a cost for each class needs predicted labels or probabilities", argument="cost_error")
    count = len(known.labels)
    if values.shape != (count, count):
        raise ValueError(
            f"cost_error has the shape {values.shape}; give a number, or {count} rows (true classes) of {count} "
            "columns (predicted classes)."
        )
    return values
