"""What to do next: how to recalibrate, or how many labelled rows would settle an inconclusive result."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot._stats.quantiles import quantile
from surefoot.assessment.result import Assessment
from surefoot.render.numbers import points

#: The 80% point of the normal distribution.
_POWER = 0.841621
#: Rows from which a plan is no help.
_TOO_MANY = 10**9
_NOT_ROWS = re.compile(r"\.(tally|json)$")


@dataclass(frozen=True)
class Step:
    """A sentence, and the command or the Python call that it is about; empty where there is none."""

    words: str
    command: str = ""

    @property
    def is_python(self) -> bool:
        """Whether the command is a Python call, and not for a shell."""
        return self.command.startswith("sf.")

    def command_lines(self, width: int) -> list[str]:
        """The command in lines that can be pasted, at most so long where its parts are not longer."""
        if not self.command:
            return []
        end = "" if self.is_python else " \\"
        # the parts of a shell command may hold spaces in quotes
        parts = self.command.split(" ") if self.is_python else map(shlex.quote, shlex.split(self.command))
        lines = [""]
        for part in parts:
            longer = f"{lines[-1]} {part}" if lines[-1] else part
            if len(longer) + len(end) <= width or not lines[-1].strip():
                lines[-1] = longer
            else:
                lines.append(f"    {part}")
        return [f"{line}{end}" for line in lines[:-1]] + lines[-1:]


def next_steps(a: Assessment) -> list[Step]:
    """At most two steps, the first of them the answer to the verdict."""
    if a.warnings:
        return [Step("Check the labels first, as the warning says. No other number means much if they are swapped.")]
    if a.verdict == "inconclusive":
        return [_collect(a)]
    if a.verdict == "no evidence against calibration":
        return [_slice(a)] if not a.slices else [Step("Nothing to correct on this evidence. Check again on new rows.")]
    return [_recalibrate(a)]


def rows_needed(a: Assessment) -> int | None:
    """Labelled rows like these that settle an inconclusive result four times in five; None if a billion are too few.

    With so many, an overstatement of the margin shows in the errors, and the interval of a calibrated model leaves it
    out: either happens with a probability of 80%.
    """
    # errors in rows, whatever the scale of the weights
    rows, scale = a.risk.n, a.risk.n / a.weight if a.risk.is_weighted else 1.0
    share = min(0.5, max(a.risk.observed_errors * scale, a.risk.expected_errors * scale, 1.0) / (rows or 1.0))
    reach = (quantile(1 - a.level) + _POWER) / a.margin
    detected = share * (1 - share) * reach**2
    excluded = _rows_that_exclude(a.margin, share)
    if excluded is None or not detected < _TOO_MANY:
        return None
    needed = a.risk.design_effect * _loss(a) * max(detected, excluded)
    size = int(10.0 ** max(0, math.floor(math.log10(needed)) - 1))
    return math.ceil(needed / size) * size if needed < _TOO_MANY else None


def _rows_that_exclude(margin: float, share: float) -> float | None:
    """Rows after which the 95% interval of a calibrated model excludes the margin, four times in five."""
    from scipy.special import bdtrik

    def is_enough(n: float) -> bool:
        errors = max(0.0, math.ceil(float(bdtrik(0.8, n, share)))) if share else 0.0
        return float(limits(errors, n)[1]) - share <= margin

    most = 1.0
    while not is_enough(most):
        most *= 2
        if most > _TOO_MANY:
            return None
    least = most / 2
    while most - least > 0.01 * most:
        middle = (least + most) / 2
        least, most = (least, middle) if is_enough(middle) else (middle, most)
    return most


def _loss(a: Assessment) -> float:
    """How many weighted rows tell as much as one row of equal weights."""
    if a.predictions is None or not a.predictions.is_weighted:
        return 1.0
    weight = a.predictions.weight
    return float(len(weight) * (weight**2).sum() / weight.sum() ** 2)


def _collect(a: Assessment) -> Step:
    margin = points(a.margin)
    needed = rows_needed(a)
    if needed is None:
        return Step(f"No realistic number of rows settles this at a margin of {margin}: choose a wider margin.")
    if needed <= a.risk.n:
        # enough for most data sets like this one, and this is one of the others
        return Step(f"Label more rows: {a.risk.n:,} are usually enough to find or exclude {margin}, but not here.")
    return Step(
        f"Label more rows. About {needed:,} in all would settle it: enough to detect an overstatement of {margin}, or "
        "to exclude it, four times in five."
    )


def _slice(a: Assessment) -> Step:
    words = "Nothing to correct on this evidence. Look into groups of rows next"
    if a.path and (a.options or _NOT_ROWS.search(a.path)):
        return Step(
            f"{words}:", shlex.join(["surefoot", "assess", printable(a.path, 500), *a.options, "--by", "COLUMN"])
        )
    return Step(f"{words}:", "sf.assess(..., by=groups)")


def _recalibrate(a: Assessment) -> Step:
    words = "Recalibrate, on labelled rows that the model was not trained on"
    options = _options(a)
    if options and not _NOT_ROWS.search(a.path):
        return Step(f"{words}:", shlex.join(["surefoot", "calibrate", "--fit", printable(a.path, 500), *options]))
    if a.predictions is None:
        has_classes = has_labels = "auc" in a.metrics
    else:
        has_classes, has_labels = a.predictions.probabilities is not None, a.predictions.truth is not None
    where = ", in Python" if a.path else ""
    return Step(f"{words}{where}:", _python_call(has_classes=has_classes, has_labels=has_labels))


def _python_call(*, has_classes: bool, has_labels: bool) -> str:
    if has_classes:
        return "sf.calibrate(y_true, probabilities)"
    correct = "y_true == y_pred" if has_labels else "correct"
    return f"sf.calibrate({correct}, np.column_stack([1 - np.asarray(confidence), confidence]))"


def _options(a: Assessment) -> list[str]:
    """The options of ``surefoot calibrate`` that name the columns used; none if it takes no such columns."""
    used = dict(zip(a.options[::2], a.options[1::2], strict=True))
    if "--correct" in used and "--confidence" in used:
        return ["--truth", used["--correct"], "--probabilities", used["--confidence"]]
    scores = next((role for role in ("--probabilities", "--logits") if role in used), None)
    if scores is None or "--truth" not in used:
        return []
    positive = ["--positive", used["--positive"]] if "--positive" in used else []
    return ["--truth", used["--truth"], scores, used[scores], *positive]
