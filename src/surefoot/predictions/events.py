"""Views: the same rows asked about an event, or about each class, in place of the predicted label.

An event view is rows like any other: the event happened or not (``correct``), and had a probability (``confidence``).
Whatever is written for correctness against confidence is thereby written for events, and for each class in turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.core.tally import Label, Tally
from surefoot.core.term import ClassTerm, Term
from surefoot.core.view import View, check_view
from surefoot.errors import InvalidPredictions

if TYPE_CHECKING:
    from surefoot.predictions.base import Predictions

#: The labels of an event view: whether the event happened.
HAPPENED: tuple[Label, ...] = (False, True)


def view_of(predictions: Predictions, of: Any, pos_label: Any = None) -> Predictions:
    """The predictions in the view that was asked for; as they are if none was."""
    view = check_view(of)
    if view is not None:
        predictions = predictions._with_labels()
    if view is None or (view == predictions.view != "prediction" and pos_label in (None, predictions.event_label)):
        return predictions
    if predictions.view == "event":
        raise InvalidPredictions(
            f"of={view!r} asks something else of predictions that were made for the event {predictions.event_label!r}",
            hint="make them again, without of=",
        )
    if view == "event":
        return predictions.event(event_label(predictions, pos_label))
    if view == "classes":
        _need_labels(predictions, "of='classes' asks about every label")
        if not predictions.has_probabilities and len(predictions.labels or ()) != 2:
            raise InvalidPredictions(
                "of='classes' needs the probability of each class",
                hint="give (y_true, probabilities), with one column for each class",
            )
    viewed: Predictions = replace(predictions, chosen_view=view)  # type: ignore[type-var]
    return viewed


def event_label(predictions: Predictions, pos_label: Any = None) -> Label:
    """The label whose occurrence is the event: the one named, or 1, or True; raise where it has to be named."""
    _need_labels(predictions, "of='event' asks whether a label occurs")
    labels = predictions.labels or ()
    shown = ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    if pos_label is not None:
        named: Label = pos_label.item() if hasattr(pos_label, "item") else pos_label
        if named not in labels:
            raise InvalidPredictions(argument="pos_label", value=pos_label, hint=f"the labels are {shown}")
        return named
    if predictions.has_second or tuple(labels) in ((0, 1), (False, True)):
        return labels[1]
    raise InvalidPredictions(
        f"of='event' does not say which of the labels {shown} is the event",
        hint="name it with pos_label= (on the command line --positive)",
    )


def _need_labels(predictions: Predictions, asked: str) -> None:
    if predictions.truth is None:
        raise InvalidPredictions(
            f"{asked}, and these predictions hold only whether each was correct",
            hint="give y_true and probabilities",
        )


def position_of(predictions: Predictions, label: Any) -> int:
    """Where a label stands among those of the predictions."""
    places: dict[Any, int] = predictions._positions
    position = places.get(label) if isinstance(label, Hashable) else None
    if position is None:
        labels = predictions.labels or ()
        raise InvalidPredictions(
            argument="label", value=label, hint=f"the labels are {', '.join(map(repr, labels[:5]))}"
        )
    return position


def tally_views(predictions: Predictions, terms: Iterable[Term], *, exact: bool, by: Any) -> Tally:
    """The totals of terms in the view of the predictions; those of classes, class by class."""
    every = list(terms)
    of_rows = [term for term in every if not isinstance(term, ClassTerm)]
    is_of_classes = predictions.view == "classes"
    of_classes = of_rows if is_of_classes else [term.inner for term in every if isinstance(term, ClassTerm)]
    has_rows = of_rows and not is_of_classes
    whole = predictions._add_up(of_rows, exact=exact, by=by) if has_rows else Tally({})
    if of_classes:
        sliced, values = predictions._with_slices(by)
        together = sliced._add_up_events(of_classes, by=values)
        if together is not None:
            parts = {label: _in_view(part, "event", label) for label, part in together.items()}
        else:
            parts = {
                label: tally_views(sliced.event(label), of_classes, exact=exact, by=values)
                for label in predictions.labels or ()
            }
        whole = _with_events(whole, parts, predictions, by)
    return _in_view(whole, predictions.view, predictions.event_label)


def _in_view(tally: Tally, view: View, event: Label | None) -> Tally:
    """A tally and its slices, which say what their rows are about."""
    slices = None if tally.slices is None else {v: _in_view(part, view, event) for v, part in tally.slices.items()}
    return replace(tally, slices=slices, view=view, event=event)


def _with_events(whole: Tally, parts: dict[Label, Tally], predictions: Predictions, by: Any) -> Tally:
    """A tally, and those of its slices, with the totals of each class."""
    slices = None
    if by is not None:
        values = next(iter(parts.values())).slices or {}
        own = whole.slices or dict.fromkeys(values, Tally({}, predictions.labels))
        slices = {
            value: replace(own[value], events={label: (part.slices or {})[value] for label, part in parts.items()})
            for value in values
        }
    return replace(
        whole,
        labels=whole.labels or predictions.labels,
        rounded=predictions.rounded,
        events={label: replace(part, slices=None, by=None) for label, part in parts.items()},
        slices=slices,
        by=whole.by or (by if by is None or isinstance(by, str) else "slice"),
    )
