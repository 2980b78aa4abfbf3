"""Why a row of a file says nothing of calibration."""

NO_CONFIDENCE = "no confidence"
UNREADABLE = "a confidence that is no number"
UNSTATED = "an answer that states no confidence"
DEFAULTED = "a confidence that was filled in for them"
NO_OUTCOME = "no outcome"
PARTIAL = "an outcome that is neither right nor wrong"
#: The column of a log that names one of these.
WHY = "why missing"
