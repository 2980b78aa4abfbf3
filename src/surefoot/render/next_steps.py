"""What to do next: how to recalibrate, or how many labelled rows would settle an inconclusive result."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from itertools import takewhile

from surefoot.assessment.result import Assessment
from surefoot.render.numbers import points

#: The 97.5% point of the normal distribution, and the 80% point.
_Z, _POWER = 1.959964, 0.841621
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
    rows = a.weight if a.risk.is_weighted else a.risk.n
    share = min(0.5, max(a.risk.observed_errors, a.risk.expected_errors, 1.0) / (rows or 1.0))
    reach = (_Z + _POWER) / a.margin
    needed = a.risk.design_effect * (share * (1 - share) * reach**2 + 1 / a.margin)
    if not needed < _TOO_MANY:
        return None
    size = int(10.0 ** max(0, math.floor(math.log10(needed)) - 1))
    return math.ceil(needed / size) * size


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
    if a.path:
        return Step(f"{words}:", f"surefoot assess {shlex.quote(a.path)} --by COLUMN")
    return Step(f"{words}:", "sf.assess(..., by=groups)")


def _recalibrate(a: Assessment) -> Step:
    words = "Recalibrate, on labelled rows that the model was not trained on"
    columns = _columns(a)
    if a.predictions is None and not a.path:
        has_classes = "auc" in a.metrics
        return Step(f"{words}:", _python_call(has_classes=has_classes, has_labels=has_classes))
    if not a.path:
        assert a.predictions is not None
        has_classes, has_labels = a.predictions.probabilities is not None, a.predictions.truth is not None
        return Step(f"{words}:", _python_call(has_classes=has_classes, has_labels=has_labels))
    options = _options(columns)
    if options is None or _NOT_ROWS.search(a.path):
        call = _python_call(has_classes="auc" in a.metrics, has_labels="predicted" in columns)
        return Step(f"{words}, in Python:", call)
    return Step(f"{words}:", shlex.join(["surefoot", "calibrate", "--fit", a.path, *options]))


def _python_call(*, has_classes: bool, has_labels: bool) -> str:
    if has_classes:
        return "sf.calibrate(y_true, probabilities)"
    correct = "y_true == y_pred" if has_labels else "correct"
    return f"sf.calibrate({correct}, np.column_stack([1 - confidence, confidence]))"


def _columns(a: Assessment) -> dict[str, str]:
    """The columns used, by role, as the first line of the output names them."""
    pairs = (part.rpartition(": ") for part in re.split(r", (?=[a-z][\w ]*: )", a.columns.partition(", largest is")[0]))
    return {role: column for role, _, column in pairs if role}


def _options(columns: dict[str, str]) -> list[str] | None:
    """The options of ``surefoot calibrate`` that name these columns; None if it takes no such columns."""
    truth = columns.get("truth")
    for role in ("probabilities", "logits"):
        if truth and role in columns:
            return ["--truth", truth, f"--{role}", _prefix(columns[role])]
    for role, column in columns.items():
        if truth and role.startswith("probability of "):
            label = role.removeprefix("probability of ")
            return ["--truth", truth, "--probabilities", column, *([] if label in _PLAIN else ["--positive", label])]
    if "correct" in columns and "confidence" in columns:
        return ["--truth", columns["correct"], "--probabilities", columns["confidence"]]
    return None


#: Labels that need no mention: of two, the second is the positive one.
_PLAIN = ("1", "True", "true")


def _prefix(names: str) -> str:
    """What the names of a family of columns start with; of one column its name."""
    name = re.sub(r" \(\d+\)$", "", names)
    first, _, last = name.partition(" … ")
    if not last:
        return first
    common = "".join(takewhile(bool, (a if a == b else "" for a, b in zip(first, last, strict=False))))
    # p_a, common to p_apple and p_avocado, is no prefix of p_banana
    return re.sub(r"(?<=[_ .\-])[^_ .\-]+$", "", common)
