"""What many indicators start from: how often rows of each confidence are correct."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.core.keys import EXACT_CONFIDENCE, from_ordered_bits
from surefoot.core.metric import undefined
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term

WEIGHT_AT = Term("weight by confidence", lambda row: row.weight, EXACT_CONFIDENCE)
ROWS_AT = Term("rows by confidence", lambda row: row.one * (row.weight > 0), EXACT_CONFIDENCE)
CORRECT_AT = Term("correct by confidence", lambda row: row.weight * row.correct, EXACT_CONFIDENCE)

TERMS = (WEIGHT_AT, ROWS_AT, CORRECT_AT)

NOTHING = undefined("no row counts")


class Levels(NamedTuple):
    """The distinct confidences, rising, with their weight, how many rows they are, and the weight that is correct."""

    confidence: Floats
    weight: Floats
    rows: Floats
    correct: Floats

    @property
    def gap(self) -> Floats:
        """How much weight is correct beyond what the confidence says."""
        return self.correct - self.weight * self.confidence


def levels(t: Tally) -> Levels:
    """The confidences that some weight stands behind."""
    table = t.table(EXACT_CONFIDENCE)
    weight, rows, correct = (table.totals[term.name].value for term in TERMS)
    held = weight > 0
    return Levels(from_ordered_bits(table.codes)[held], weight[held], rows[held], correct[held])
