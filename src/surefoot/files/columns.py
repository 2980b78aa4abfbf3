"""The columns of a file by the role that each plays."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot._io.printable import printable
from surefoot.core.tally import Label

#: Names that say what a column is, small letters and digits only, the plainest first.
NAMES = {
    "truth": "truth ytrue true truelabel trueclass label labels target targets y groundtruth gold goldlabel actual "
    "answer reference",
    "predicted": "predicted prediction ypred pred predictedlabel predictedclass predlabel preds predictions guess "
    "yhat output response",
    "confidence": "confidence conf confidences maxprob maxprobability topprob certainty maxconfidence "
    "verbalizedconfidence verbalisedconfidence statedconfidence predictedconfidence confidencepercent "
    "confidencepercentage confidencepct",
    "doubt": "doubt doubts",
    "correct": "correct iscorrect correctness hit right acc",
    "weight": "weight weights sampleweight sampleweights",
    "attempted": "attempted isattempted wasattempted",
}


@dataclass(frozen=True)
class Columns:
    """The columns that play a role, by name."""

    truth: str | None = None
    predicted: str | None = None
    confidence: str | None = None
    doubt: str | None = None
    correct: str | None = None
    probabilities: str | tuple[str, ...] | None = None
    logits: str | tuple[str, ...] | None = None
    weight: str | None = None
    attempted: str | None = None

    def names(self) -> list[str]:
        """All of them, each once."""
        given = [
            x for role in vars(self).values() if role is not None for x in ([role] if isinstance(role, str) else role)
        ]
        return list(dict.fromkeys(given))

    def numbers(self) -> list[str]:
        """Those that hold numbers."""
        roles = (self.confidence, self.doubt, self.probabilities, self.logits, self.weight)
        return [name for role in roles for name in each_of(role)]

    def options(self, all_columns: Sequence[str], labels: tuple[Label, ...] | None = None) -> tuple[str, ...]:
        """The options of the command line that name them; empty if a family of columns has no prefix of its own.

        ``labels`` are those of a single column of probabilities: the second is its own.
        """
        words: list[str] = []
        for role, column in vars(self).items():
            if column is None:
                continue
            name = column if isinstance(column, str) else self.prefix_of(column, all_columns)
            if name is None:
                return ()
            words += [f"--{role}", name]
        if labels is not None and labels not in ((0, 1), (False, True)):
            words += ["--positive", str(labels[1])]
        return tuple(words)

    def prefix_of(self, family: Sequence[str], all_columns: Sequence[str]) -> str | None:
        """What exactly these columns start with, of all that play no other role; None if nothing does."""
        others = {name for role, name in vars(self).items() if isinstance(name, str)}
        common = os.path.commonprefix(list(family))  # noqa: RUF071 (characters are meant)
        for prefix in (re.sub(r"[^_ .\-]+$", "", common), common):
            if prefix and [c for c in all_columns if c.startswith(prefix) and c not in {*others, prefix}] == list(
                family
            ):
                return prefix
        return None

    def said(
        self, classes: int | None = None, second: object = "the second label", *, is_predicted: bool = True
    ) -> str:
        """What was taken, in words; ``second`` is the label whose probability a single column holds."""
        words = []
        for role, column in vars(self).items():
            if column is None:
                continue
            if not isinstance(column, str):
                words.append(f"{role}: {printable(column[0])} … {printable(column[-1])} ({len(column)})")
            elif role in ("probabilities", "logits") and classes:
                words.append(f"{role}: {printable(column)} ({classes})")
            elif role == "probabilities":
                words.append(f"probability of {printable(second, 24)}: {printable(column)}")
            else:
                words.append(f"{role}: {printable(column)}")
        if is_predicted and (self.probabilities or self.logits) and not self.predicted:
            words.append("largest is predicted")
        return ", ".join(words)


def each_of(role: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if role is None else (role,) if isinstance(role, str) else role


def plain(column: str) -> str:
    """A column's name without capitals and punctuation.

    Examples
    --------
    >>> plain("True_Label")
    'truelabel'
    """
    return re.sub(r"[^a-z0-9]", "", column.lower())
