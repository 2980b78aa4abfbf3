"""Terms that several metrics share."""

from surefoot.tallies import Term

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
