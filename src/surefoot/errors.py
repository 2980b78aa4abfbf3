"""Errors and warnings, by name. An error is data first and text second."""

from __future__ import annotations

from typing import Any, Self

from surefoot._io.printable import printable, printable_value


class InvalidPredictions(ValueError):
    """The data are not valid predictions.

    The message names the argument or the column, the first row and value at fault, and what to do instead. The same
    facts are attributes.

    Parameters
    ----------
    reason : str
        What is wrong. ``{name}`` stands for the argument, or its column, and ``{other}`` for another one.
    argument : str
        The argument at fault; empty if it is none in particular.
    column : str or None
        The column of a frame or file that the argument was read from.
    other : str
        A second argument that the reason speaks of.
    row : int, tuple of int or None
        The first row at fault, counted from 0; for a table, row and column.
    value : object
        The value found there, if ``has_value``.
    count : int or None
        Number of rows at fault, for lazy frames, which have no first row.
    hint : str
        What to do about it.
    file : str
        The file, if the data came from one; the message counts its rows from 1.

    Attributes
    ----------
    has_value : bool
        Whether ``value`` is known.

    Examples
    --------
    >>> from surefoot import Predictions
    >>> try:
    ...     Predictions.from_correct([True, False], [0.9, 97.5])
    ... except InvalidPredictions as error:
    ...     error.argument, error.row, error.value
    ('confidence', 1, 97.5)
    """

    def __init__(
        self,
        reason: str = "",
        *,
        argument: str = "",
        column: str | None = None,
        other: str = "",
        row: int | tuple[int, ...] | None = None,
        value: Any = ...,
        count: int | None = None,
        hint: str = "",
        file: str = "",
    ) -> None:
        self.argument, self.column, self.other, self.other_column = argument, column, other, None
        self.row = row[0] if isinstance(row, tuple) and len(row) == 1 else row
        self.has_value, self.value = value is not ..., None if value is ... else value
        self.count, self.reason, self.hint, self.file = count, reason, hint, file
        super().__init__(str(self))

    @classmethod
    def of(cls, error: InvalidPredictions, **facts: Any) -> Self:
        """Return another error as one of this class, with more facts.

        Parameters
        ----------
        error : InvalidPredictions
            The error to copy.
        **facts : object
            Attributes to set, such as ``file`` or ``row``.

        Returns
        -------
        InvalidPredictions
            A new error of this class.
        """
        located = cls()
        located.__dict__.update({**vars(error), **facts})
        located.args = (str(located),)
        return located

    def at(self, **facts: Any) -> Self:
        """Return the same error with more facts about where it occurred: its file, column or row.

        Parameters
        ----------
        **facts : object
            Attributes to set, such as ``file`` or ``row``.

        Returns
        -------
        InvalidPredictions
            A new error of the same class.
        """
        return type(self).of(self, **facts)

    def __copy__(self) -> Self:
        return self.at()

    def __str__(self) -> str:
        text = " ".join(part for part in (self._subject(), self._predicate()) if part)
        text = text.replace("{name}", self._name(self.argument, self.column))
        text = text.replace("{other}", self._name(self.other, self.other_column))
        if self.hint:
            text += f"{'. ' if self.hint[0].isupper() else '; '}{self.hint}"
        if self.file:
            return f"{self._place()}: {text}".rstrip(".")
        return text if text.endswith((".", "?", "!")) else f"{text}."

    def _name(self, argument: str, column: str | None) -> str:
        if self.file:
            return printable(argument if column is None else column)
        return argument if column is None else f"column {column!r}"

    def _place(self) -> str:
        """The file, and the row in it as people count."""
        if self.row is None:
            return printable(self.file)
        return f"{printable(self.file)}, row {(self.row if isinstance(self.row, int) else self.row[0]) + 1:,}"

    def _subject(self) -> str:
        name = self._name(self.argument, self.column)
        if self.count is not None:
            such = f" (such as {printable_value(self.value)})" if self.has_value else ""
            return f"{name}: {self.count:,} values{such}"
        if self.row is None or self.file:
            return name
        index = self.row if isinstance(self.row, tuple) else (self.row,)
        return f"{name}[{', '.join(map(str, index))}]"

    def _predicate(self) -> str:
        if not self.has_value or self.count is not None:
            return self.reason
        return f"is {printable_value(self.value)}" + (f", {self.reason}" if self.reason else "")


class AmbiguousLabels(InvalidPredictions):
    """It is ambiguous which label a single column of probabilities belongs to; name it with ``pos_label``."""


class InvalidTally(ValueError):
    """A saved tally cannot be used, or two tallies cannot be added because they hold different terms."""


class InvalidMonitor(ValueError):
    """A saved monitor cannot be used: it is damaged, not a monitor, or from a newer version."""


class InvalidPolicy(ValueError):
    """A saved policy cannot be used: it is damaged, not a policy, or from a newer version."""


class InvalidCalibrator(ValueError):
    """A calibrator is not fitted, or a saved one cannot be used."""


class MetricUnavailable(ValueError):
    """A metric is not available for these data; the message says what it needs."""


class NeedsRows(MetricUnavailable):
    """An operation needs the rows in memory, and these predictions are in a lazy frame."""

    def __init__(self, what: str = "this") -> None:
        self.what = what
        super().__init__(
            f"{what} needs the rows in memory, and these predictions are in a lazy frame; collect it first: "
            "Predictions.from_frame(frame.collect(), ...)."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what,)


class UnsupportedKey(TypeError):
    """An engine was asked for totals under a key, or for an operation, that it does not know."""

    def __init__(self, engine: str, key: str) -> None:
        super().__init__(f"the {engine} engine does not know {key}.")
        self.engine, self.key = engine, key

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.engine, self.key)


class MissingPackage(ImportError):
    """An optional package is needed; the message names it and the extra that installs it."""


class UndefinedMetricWarning(UserWarning):
    """A metric, or its value for one class, is not defined on these data and is nan."""


class AmbiguousViewWarning(UserWarning):
    """A name of the textbooks was called on two classes without ``of=``, and returns the number of correctness."""


class FewMistakesWarning(UserWarning):
    """A confidence interval rests on few errors, few rows of a class or few groups, and is approximate."""


class CertaintyWarning(UserWarning):
    """A calibrator returns probabilities of exactly 0 or 1, which no number of rows can support."""


class RoundedConfidenceWarning(UserWarning):
    """Confidences are so close to 1 that 1 - confidence is rounding error rather than what the model gave."""
