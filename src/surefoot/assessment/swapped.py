"""Whether accuracy is so low that labels or columns may have been mixed up."""

from __future__ import annotations

import math

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot.core.tally import Label
from surefoot.predictions import ArrayPredictions
from surefoot.risk.result import RiskResult

#: How far accuracy must lie below what needs no model before it is suspicious.
_WIDE = 0.1
#: The level of the limit above which accuracy would have to lie: a warning that is seldom by chance.
_LEVEL = 0.999


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
    highest = float(limits(accuracy * risk.n, float(risk.n), _LEVEL)[1])
    if labels is None:
        return _inverted(accuracy, highest, risk)
    label, share = commonest if commonest is not None else (None, math.nan)
    if highest < share - _WIDE:
        words = f"always predicting {label!r}, the most common class, would be right on {share:.1%}"
    elif len(labels) > 1 and highest < 1 / len(labels) - min(_WIDE, 0.5 / len(labels)):
        words = f"guessing among {len(labels)} classes would be right on {1 / len(labels):.1%}"
    else:
        return ()
    return (f"Accuracy is {accuracy:.1%}, but {words}: labels or columns may be swapped. {_way_out(labels, rows)}",)


def _way_out(labels: tuple[Label, ...], rows: ArrayPredictions | None) -> str:
    if rows is not None and rows.probabilities is not None and rows.probabilities.ndim == 1:
        return (
            f"The probabilities were read as those of {labels[1]!r}; if they are those of {labels[0]!r}, set "
            f"pos_label={labels[0]!r} (command line: --positive {printable(str(labels[0]))})."
        )
    if rows is not None and rows.probabilities is not None:
        if len(labels) == 2:
            return (
                f"The columns of probabilities were read in the order {labels[0]!r}, {labels[1]!r}; if it is the other "
                f"way round, set labels=[{labels[1]!r}, {labels[0]!r}]."
            )
        listed = ", ".join(repr(label) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
        return f"The columns of probabilities were read in the order {listed}; if that is wrong, set labels=."
    return "Check that true and predicted labels use the same codes, and that they come from the same rows."


def _inverted(accuracy: float, highest: float, risk: RiskResult) -> tuple[str, ...]:
    """Of bare correctness: whether it fits the confidences far better when it is inverted."""
    confidence = accuracy + risk.overstatement
    if highest >= 0.5 or abs(1 - accuracy - confidence) > abs(risk.overstatement) - 2 * _WIDE:
        return ()
    return (
        f"Accuracy is {accuracy:.1%} at a mean confidence of {confidence:.1%}: the column may mark errors rather than "
        "correct predictions. If it does, invert it: correct=1 - column.",
    )
