"""A metric: terms, a formula over their totals, and facts about the number."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.errors import MetricUnavailable, NeedsRows, UndefinedMetricWarning

if TYPE_CHECKING:
    from surefoot.predictions import Predictions

About = Literal["risk", "value", "calibration", "score"]
Direction = Literal["higher", "lower", "nearest", "none"]


class Outcome(NamedTuple):
    """A value together with what has to be said about it: why it is nan, or what was left out."""

    value: Any
    note: str


@dataclass(frozen=True, eq=False)
class Metric:
    """What a number is made of and how to read it. ``metric(predictions)`` and ``metric.of(tally)`` give its value."""

    name: str
    terms: tuple[Term, ...]
    formula: Callable[[Tally], Any] = field(repr=False)
    title: str
    #: What it speaks of: risk, value, calibration on the whole, or several of them at once.
    about: About = "calibration"
    #: How to read a value, in a sentence.
    reading: str = ""
    #: The formula as it is printed, in LaTeX.
    notation: str = ""
    #: The value of perfect predictions, if there is one.
    ideal: float | None = None
    #: Which values are better: "higher", "lower", "nearest" to the ideal, or "none" when better has no meaning.
    direction: Direction = "none"
    range: tuple[float, float] = (-math.inf, math.inf)
    reference: str = "Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026)"
    #: Whether it speaks of evidence: then a weight of 2 is not the same as two rows.
    inferential: bool = False
    #: Whether unequal weights have a meaning for it.
    takes_weights: bool = True
    #: For metrics of scores in cells: how far the value may be from that on the rows themselves.
    error: Callable[[Tally], float] | None = field(default=None, repr=False)

    @cached_property
    def additive(self) -> bool:
        """Whether a tally of bounded size holds all it needs, so that :meth:`of` exists."""
        return all(term.key.is_bounded for term in self.terms)

    @cached_property
    def is_ranking(self) -> bool:
        """Whether it is made of the order of scores."""
        return any(term.key.operation == "scores" for term in self.terms)

    @cached_property
    def is_of_classes(self) -> bool:
        """Whether it is made class by class."""
        return any(term.key.classes for term in self.terms)

    def __call__(self, predictions: Predictions) -> Any:
        """The value on these predictions; nan with a warning where it is not defined."""
        if not self.additive and not predictions.has_rows:
            raise NeedsRows(self.name)
        missing = self.missing(predictions)
        if missing:
            raise MetricUnavailable(missing)
        return self._warn_and_return(self.evaluate(predictions.tally(self.terms, exact=True)))

    def of(self, tally: Tally) -> Any:
        """The value from a tally; for rankings within :meth:`bound` of that on the rows."""
        if not self.additive:
            raise MetricUnavailable(
                f"{self.name} needs the rows themselves; no tally of bounded size holds what it is made of."
            )
        absent = next((term for term in self.terms if not tally.has(term)), None)
        if absent is not None:
            raise MetricUnavailable(
                f"{self.name} needs the total {absent.name!r}, which this tally does not hold; name the metric in "
                "tally(..., metrics=), and use a constructor that gives what it needs."
            )
        return self._warn_and_return(self.evaluate(tally))

    def evaluate(self, tally: Tally) -> Outcome:
        """The value and what has to be said about it, in silence."""
        result = self.formula(tally)
        return result if isinstance(result, Outcome) else Outcome(result, "")

    def bound(self, tally: Tally) -> float:
        """How far :meth:`of` may be from the value on the rows that were tallied, beyond rounding."""
        return 0.0 if self.error is None else self.error(tally)

    def missing(self, predictions: Predictions) -> str:
        """Why these predictions cannot give the metric, or an empty string."""
        if not predictions.has_rows and not self.additive:
            return str(NeedsRows(self.name))
        if not self.takes_weights and not predictions.has_equal_weights:
            return f"{self.name} counts rows, and unequal weights have no meaning for it; leave out sample_weight."
        if self.is_ranking and predictions.probabilities is None:
            return (
                f"{self.name} ranks the scores of each class, and these predictions hold none; "
                "use Predictions.from_probabilities or from_logits."
            )
        if self.is_of_classes and predictions.truth is None:
            return (
                f"{self.name} needs true and predicted labels, and these predictions hold only whether each was "
                "correct; use Predictions.from_labels."
            )
        return ""

    def _warn_and_return(self, outcome: Outcome) -> Any:
        if outcome.note:
            warnings.warn(f"{self.name}: {outcome.note}", UndefinedMetricWarning, stacklevel=4)
        return outcome.value


def undefined(why: str) -> Outcome:
    """Not a number, and why."""
    return Outcome(math.nan, why)
