"""What a row is about: the predicted label, an event, or each class in turn."""

from __future__ import annotations

from typing import Any, Literal, get_args

View = Literal["prediction", "event", "classes"]

#: Metrics of any outcome against its probability; of predicted labels; and of events (each class is one).
ANY_VIEW: frozenset[View] = frozenset(get_args(View))
OF_PREDICTIONS: frozenset[View] = frozenset(("prediction",))
#: What has one number a row, and no class beside it.
ONE_A_ROW: frozenset[View] = frozenset(("prediction", "event"))
OF_EVENTS: frozenset[View] = frozenset(("event", "classes"))
#: Numbers that are above and below their ideal in turn, of which a mean over classes says nothing.
OF_ONE_EVENT: frozenset[View] = frozenset(("event",))


def check_view(of: Any) -> View | None:
    """The view that was asked for; None if none was."""
    if of is None:
        return None
    if of not in get_args(View):
        raise ValueError(
            f"of is {of!r}; it should be 'prediction' (is the predicted label right?), 'event' (does pos_label happen "
            "as often as predicted?) or 'classes' (the same of every class)."
        )
    view: View = of
    return view
