"""Why a row of a file says nothing of calibration."""

NO_CONFIDENCE = "no confidence"
UNREADABLE = "a confidence that is no number"
UNSTATED = "an answer that states no confidence"
DEFAULTED = "a confidence that was filled in for them"
NO_OUTCOME = "no outcome"
PARTIAL = "an outcome that is neither right nor wrong"
#: The column of a log that names one of these.
WHY = "why missing"
#: What R, pandas and databases write for a missing label; words such as none are labels of some.
_NO_LABELS = ("NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NaT", "NULL", "null")


def is_no_label(value: object) -> bool:
    """Whether a value of a column of labels is how programs write that there is none."""
    return value is None or value != value or value in _NO_LABELS
