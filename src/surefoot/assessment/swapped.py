"""Whether accuracy is so low that labels or columns may have been mixed up."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot._stats.quantiles import quantile
from surefoot.assessment.slices import Slice
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
    size = _size(risk, rows)
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


def reversed_warnings(
    auc: float, risk: RiskResult, event: Label | None, rows: ArrayPredictions | None
) -> tuple[str, ...]:
    """A warning where events were given lower probabilities than what did not happen, beyond chance."""
    if not _is_reversed(auc, risk, rows, _FAR):
        return ()
    return (
        f"The C-statistic is {auc:.2f}: rows in which {event!r} happened were given lower probabilities than the "
        "others. The probabilities may be those of the other class, or the labels may be swapped: check pos_label= "
        "(command line: --positive).",
    )


def reversed_class_warnings(parts: Sequence[Slice], rows: ArrayPredictions | None) -> tuple[str, ...]:
    """The same of classes, each of which is looked at: beyond the chance that any of them is."""
    far = quantile(1 - (1 - _LEVEL) / max(len(parts), 1))
    found = [(part.metrics["auc"], part) for part in parts if "auc" in part.metrics]
    low = [(auc, part) for auc, part in found if _is_reversed(auc, part.risk, rows, far)]
    if not low:
        return ()
    auc, worst = min(low, key=lambda pair: pair[0])
    whose = f"of class {worst.value!r} is {auc:.2f}: its rows"
    if len(low) > 1:
        whose = f"of {len(low)} of {len(parts)} classes is below 0.5 (of {worst.value!r} it is {auc:.2f}): their rows"
    labels = tuple(part.value for part in parts) if rows is None else rows.labels or ()
    way_out = _way_out(labels, rows) if len(labels) > 2 else "Check the order of the columns of probabilities."
    return (f"The C-statistic {whose} were given lower probabilities than the others. {way_out}",)


def _is_reversed(auc: float, risk: RiskResult, rows: ArrayPredictions | None, far: float) -> bool:
    """Whether a C-statistic is below one half by so many standard deviations of one that tells nothing, and clearly."""
    weight = risk.observed_events + risk.observed_errors
    size = _size(risk, rows)
    if math.isnan(auc) or not weight or math.isnan(size):
        return False
    events = size * risk.observed_events / weight
    others = size - events
    if min(events, others) < 1:
        return False
    return auc + far * math.sqrt((events + others + 1) / (12 * events * others)) < 0.5 - _WIDE / 2


def _size(risk: RiskResult, rows: ArrayPredictions | None) -> float:
    """As many rows as would leave a share as uncertain: fewer than there are if weights are unequal."""
    if rows is not None and rows.is_weighted:
        return float(rows.weight.sum()) ** 2 / float((rows.weight**2).sum())
    return math.nan if risk.is_weighted else float(risk.n)
