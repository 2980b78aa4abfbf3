"""Terms that several metrics share."""

from surefoot.core import doubt_table
from surefoot.core.expression import reciprocal
from surefoot.core.keys import DOUBT_CELL
from surefoot.core.term import Term
from surefoot.core.thresholds import THRESHOLD_CELL

#: Rows that count.
ROWS = Term("rows", lambda row: row.one * (row.weight > 0))
WEIGHT = Term("weight", lambda row: row.weight)
CORRECT = Term("correct", lambda row: row.weight * row.correct)
WRONG = Term("wrong", lambda row: row.weight * row.wrong)
CONFIDENCE = Term("confidence", lambda row: row.weight * row.confidence)
CORRECT_CONFIDENCE = Term("confidence of correct rows", lambda row: row.weight * row.confidence * row.correct)
#: The mistakes the model allowed for.
DOUBT = Term("doubt", lambda row: row.weight * row.doubt)

DOUBTFUL = Term("rows with doubt", lambda row: row.weight * (row.doubt > 0))
#: Rows, not weight: what is counted is claims.
CERTAIN = Term("certain rows", lambda row: (row.weight > 0) * (row.doubt == 0))
CERTAIN_WRONG = Term("certain rows that are wrong", lambda row: (row.weight > 0) * row.wrong * (row.doubt == 0))
ERRORS = Term("mistakes", lambda row: (row.weight > 0) * row.wrong)

#: What the law of the mistakes is made of: at each doubt, how many rows and how many of them wrong. A row is one draw,
#: whatever it weighs; the sums tell the mean value of a cell, near 0 and near 1 alike.
ROWS_BY_DOUBT = Term(doubt_table.ROWS, lambda row: row.one * (row.weight > 0), DOUBT_CELL)
WRONG_BY_DOUBT = Term("mistakes by doubt", lambda row: (row.weight > 0) * row.wrong, DOUBT_CELL)
DOUBT_BY_DOUBT = Term("doubt by doubt", lambda row: (row.weight > 0) * row.doubt, DOUBT_CELL)
CONFIDENCE_BY_DOUBT = Term("confidence by doubt", lambda row: (row.weight > 0) * row.confidence, DOUBT_CELL)
SURPRISE_BY_DOUBT = Term(
    "surprise by doubt", lambda row: (row.weight > 0) * row.wrong * reciprocal(row.doubt), DOUBT_CELL
)
#: Its mirror image: a row that doubts itself and is right.
RELIEF_BY_DOUBT = Term(
    "relief by doubt", lambda row: (row.weight > 0) * row.correct * reciprocal(row.confidence), DOUBT_CELL
)
#: Tells whether weights are equal.
SQUARED_WEIGHT = Term("squared weight", lambda row: row.weight**2)
BY_DOUBT = (
    SQUARED_WEIGHT,
    ROWS_BY_DOUBT,
    WRONG_BY_DOUBT,
    DOUBT_BY_DOUBT,
    CONFIDENCE_BY_DOUBT,
    SURPRISE_BY_DOUBT,
    RELIEF_BY_DOUBT,
)

#: Between thresholds of confidence: what decisions are made of.
ROWS_BY_THRESHOLD = Term("rows by threshold", lambda row: row.one * (row.weight > 0), THRESHOLD_CELL)
ERRORS_BY_THRESHOLD = Term("errors by threshold", lambda row: (row.weight > 0) * row.wrong, THRESHOLD_CELL)
BY_THRESHOLD = (ROWS_BY_THRESHOLD, ERRORS_BY_THRESHOLD)
