"""What can go wrong, by name."""


class InvalidPredictions(ValueError):
    """The data handed in cannot be predictions; the message names argument, row, value and way out."""


class AmbiguousLabels(InvalidPredictions):
    """Nobody can know which label a single column of probabilities is of; the caller has to say."""


class InvalidTally(ValueError):
    """A saved tally is damaged, foreign or from a newer version, or two tallies do not belong together."""


class InvalidMonitor(ValueError):
    """A saved monitor that cannot be used, and why."""


class InvalidCalibrator(ValueError):
    """A calibrator that is not fitted, or a saved one that cannot be used, and why."""


class MetricUnavailable(ValueError):
    """A metric was asked of data that do not hold what it needs."""


class MissingPackage(ImportError):
    """An optional package is needed; the message names it and the extra that installs it."""


class UndefinedMetricWarning(UserWarning):
    """A metric, or its value for one class, is not defined on these data and is reported as nan."""


class FewMistakesWarning(UserWarning):
    """Too few mistakes, rows of a class or groups for an interval to hold its level."""


class CertaintyWarning(UserWarning):
    """A calibrator says exactly 0 or 1, which no number of rows can show."""


class RoundedConfidenceWarning(UserWarning):
    """Confidences lie so close to 1 that their doubt is a rounding, not a number the model gave."""
