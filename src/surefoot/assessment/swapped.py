"""Whether accuracy is so low that labels or columns may have been mixed up."""

from __future__ import annotations

import math
import shlex

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot.core.tally import Label
from surefoot.predictions import ArrayPredictions
from surefoot.risk.result import RiskResult

#: How far accuracy must lie below what needs no model before it is suspicious.
_WIDE = 0.1
#: The level of the limit above which accuracy would have to lie: a warning that is seldom by chance.
_LEVEL = 0.999
#: The same in standard deviations.
_FAR = 3.09


def swap_warnings(
    accuracy: float,
    risk: RiskResult,
    labels: tuple[Label, ...] | None,
    commonest: tuple[Label, float] | None,
    rows: ArrayPredictions | None,
) -> tuple[str, ...]:
    """A warning where accuracy is far below what always naming one class, or guessing, would give."""
    if math.isnan(accuracy) or not risk.n:
        return ()
    # as many rows as would leave the share as uncertain: fewer than there are if weights are unequal
    size = float(risk.n)
    if rows is not None and rows.is_weighted:
        size = float(rows.weight.sum()) ** 2 / float((rows.weight**2).sum())
    highest = float(limits(accuracy * size, size, _LEVEL)[1])
    if labels is None:
        return _inverted(accuracy, highest, risk, rows)
    chance = 1 / max(len(labels), 1)
    label, share = commonest if commonest is not None else (None, math.nan)
    if len(labels) > 1 and highest < chance - min(_WIDE, 0.5 * chance):
        words = f"guessing among {len(labels)} classes would be right on {chance:.1%}"
    elif highest < share - _WIDE and share < 1:
        words = f"always predicting {label!r}, the most common class, would be right on {share:.1%}"
    else:
        return ()
    head = f"Accuracy is {accuracy:.1%}, but {words}"
    if len(labels) == 2 and accuracy >= 0.5:
        # swapping the two would make it worse
        return (
            f"{head}. This is usual for a model trained with balanced class weights. If yours was not, labels or "
            "columns may be swapped in some rows: check that labels and probabilities belong to the same rows.",
        )
    return (f"{head}: labels or columns may be swapped. {_way_out(labels, rows)}",)


def _way_out(labels: tuple[Label, ...], rows: ArrayPredictions | None) -> str:
    if rows is not None and not rows.has_probabilities:
        return "Check that true and predicted labels use the same codes, and that they come from the same rows."
    if len(labels) > 2:
        listed = ", ".join(repr(label) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
        return f"The columns of probabilities were read in the order {listed}; if that is wrong, set labels=."
    one, other = labels
    command = shlex.quote(printable(str(one)))
    single = (
        f"The probabilities were read as those of {other!r}; if they are those of {one!r}, set pos_label={one!r} "
        f"(command line: --positive {command})."
    )
    several = (
        f"The columns of probabilities were read in the order {one!r}, {other!r}; if it is the other way round, set "
        f"labels=[{other!r}, {one!r}]."
    )
    if rows is None or not rows.has_probabilities:
        return f"If one column holds probabilities: {single} If there are two: {several}"
    return single if rows.has_second else several


def _inverted(accuracy: float, highest: float, risk: RiskResult, rows: ArrayPredictions | None) -> tuple[str, ...]:
    """Of bare correctness: whether it fits the confidences far better when it is inverted."""
    confidence = accuracy + risk.overstatement
    if highest >= 0.5 or abs(1 - accuracy - confidence) > abs(risk.overstatement) - 2 * _WIDE:
        return ()
    if rows is not None and rows.correct.any():
        # of a hard task that is answered honestly, right answers are the surer ones
        right, wrong = rows.confidence[rows.correct], rows.confidence[~rows.correct]
        if right.mean() > wrong.mean():
            return ()
    return (
        f"Accuracy is {accuracy:.1%} at a mean confidence of {confidence:.1%}. Either the model is wrong where it is "
        "sure, or the column marks errors rather than correct predictions. If it does, invert it: correct=1 - column.",
    )


def reversed_warnings(auc: float, risk: RiskResult, event: Label | None) -> tuple[str, ...]:
    """A warning where events were given lower probabilities than what did not happen, beyond chance."""
    events, others = risk.observed_events, risk.n - risk.observed_events
    if math.isnan(auc) or risk.is_weighted or min(events, others) < 1:
        return ()
    # the standard deviation of a C-statistic of predictions that tell nothing
    spread = math.sqrt((events + others + 1) / (12 * events * others))
    if auc + _FAR * spread >= 0.5 - _WIDE / 2:
        return ()
    return (
        f"The C-statistic is {auc:.2f}: rows in which {event!r} happened were given lower probabilities than the "
        "others. The probabilities may be those of the other class, or the labels may be swapped: check pos_label= "
        "(command line: --positive).",
    )
