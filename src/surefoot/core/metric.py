"""A metric: terms, a formula over their totals, and facts about the number."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from surefoot.core.tally import Tally
from surefoot.core.term import ClassTerm, Term
from surefoot.core.view import ANY_VIEW, View
from surefoot.errors import AmbiguousViewWarning, MetricUnavailable, NeedsRows, UndefinedMetricWarning

if TYPE_CHECKING:
    from surefoot.predictions import Predictions

About = Literal["risk", "value", "calibration", "score"]
Direction = Literal["higher", "lower", "nearest", "none"]


class Outcome(NamedTuple):
    """A value, and a note on it.

    Attributes
    ----------
    value : object
        The value: a number, or several for metrics that return one for each class.
    note : str
        Why it is nan, or what was left out; empty if there is nothing to add.
    """

    value: Any
    note: str


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric: its terms, its formula, and how to read it.

    ``metric(predictions)`` and ``metric.of(tally)`` give its value. ``surefoot.metrics.ALL`` has every metric by name.

    Parameters
    ----------
    name : str
        The name of the metric, as in ``surefoot.metrics.ALL``.
    terms : tuple of Term
        The sums that the formula needs.
    formula : callable
        Called with a :class:`Tally` of these terms, returns the value, or an ``Outcome`` with a note.
    title : str
        The name to print.
    about : {"risk", "value", "calibration", "score"}
        What it measures: risk, the value of confidences, calibration on the whole, or several of them at once.
    reading : str
        How to read a value, in a sentence.
    notation : str
        The formula in LaTeX.
    ideal : float or None
        The value of perfect predictions, if there is one.
    direction : {"higher", "lower", "nearest", "none"}
        Which values are better; ``"nearest"`` means nearest to ``ideal``.
    range : tuple of float
        The least and the largest possible value.
    reference : str
        Where it is published.
    inferential : bool
        Whether it measures evidence: then a weight of 2 is not the same as two rows.
    takes_weights : bool
        Whether it accepts unequal weights.
    views : frozenset of str
        What it may be asked of: ``"prediction"`` (correctness against confidence), ``"event"`` (an outcome against its
        probability), ``"classes"`` (each class as an event).
    renamed : str
        For names that mean another number in textbooks: what this one is called in the view of predictions.
    renamed_of_events : str
        For former names: what the same number is called in the view of events.
    error : callable or None
        For metrics read from binned scores: how far the value of a :class:`Tally` may be from that on the rows.

    Examples
    --------
    >>> import surefoot as sf
    >>> p = sf.Predictions.from_correct([True, False], [0.75, 0.5])
    >>> csr = sf.metrics.ALL["csr"]
    >>> csr(p), csr.of(sf.tally(p)), csr.ideal, csr.direction
    (1.0, 1.0, 1.0, 'nearest')
    """

    name: str
    terms: tuple[Term, ...]
    formula: Callable[[Tally], Any] = field(repr=False)
    title: str
    about: About = "calibration"
    reading: str = ""
    notation: str = ""
    ideal: float | None = None
    direction: Direction = "none"
    range: tuple[float, float] = (-math.inf, math.inf)
    reference: str = "Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026)"
    inferential: bool = False
    takes_weights: bool = True
    views: frozenset[View] = ANY_VIEW
    renamed: str = ""
    renamed_of_events: str = ""
    error: Callable[[Tally], float] | None = field(default=None, repr=False)

    @cached_property
    def additive(self) -> bool:
        """Whether a :class:`Tally` holds all that it needs, so that :meth:`of` works."""
        return all(term.key.is_bounded for term in self.terms)

    @cached_property
    def is_ranking(self) -> bool:
        """Whether it depends on the order of scores, as AUC does."""
        return any(term.key.operation == "scores" for term in self.terms)

    @cached_property
    def is_of_every_class(self) -> bool:
        """Whether it is made of the probabilities of all classes, each class an event."""
        return any(isinstance(term, ClassTerm) for term in self.terms)

    @cached_property
    def is_of_classes(self) -> bool:
        """Whether it is computed class by class."""
        return self.is_of_every_class or any(term.key.classes for term in self.terms)

    def __call__(self, predictions: Predictions) -> Any:
        """Return the value on these predictions.

        Parameters
        ----------
        predictions : Predictions
            The samples.

        Returns
        -------
        float
            The value; nan, with an :class:`UndefinedMetricWarning`, where it is not defined. Metrics with a value for
            each class return several.

        Raises
        ------
        MetricUnavailable
            If the predictions lack what the metric needs, such as class probabilities.
        """
        if not self.additive and not predictions.has_rows:
            raise NeedsRows(self.name)
        missing = self.missing(predictions)
        if missing:
            raise MetricUnavailable(missing)
        if self.renamed and predictions.chosen_view is None and len(predictions.labels or ()) == 2:
            warnings.warn(
                f"{self.name} is of correctness here: it asks whether predicted labels are right, not whether an event "
                f"occurs as often as predicted. For the number of the textbooks, say of='event'; for this one, say "
                f"of='prediction' or call {self.renamed}.",
                AmbiguousViewWarning,
                stacklevel=4,
            )
        return self._warn_and_return(self.evaluate(predictions.tally(self.terms, exact=True)))

    def of(self, tally: Tally) -> Any:
        """Return the value from a tally; for rankings it is within :meth:`bound` of that on the rows.

        Parameters
        ----------
        tally : Tally
            Totals that hold the terms of the metric.

        Returns
        -------
        float
            The value, as ``metric(predictions)`` returns it.

        Raises
        ------
        MetricUnavailable
            If the tally lacks a term, or the metric needs the rows themselves.
        """
        if not self.additive:
            raise MetricUnavailable(
                f"{self.name} needs the rows themselves, which a tally does not hold; call it with predictions."
            )
        if tally.view not in self.views:
            raise MetricUnavailable(self.not_of(tally.view))
        absent = next((term for term in self.terms if not tally.has(term)), None)
        if absent is not None:
            raise MetricUnavailable(
                f"{self.name} needs the total {absent.name!r}, which this tally does not hold; name the metric in "
                "tally(..., metrics=), and use a constructor that gives what it needs."
            )
        return self._warn_and_return(self.evaluate(tally))

    def evaluate(self, tally: Tally) -> Outcome:
        """Return the value with a note, without warnings.

        Parameters
        ----------
        tally : Tally
            Totals that hold the terms of the metric.

        Returns
        -------
        Outcome
            ``value``, and ``note``: why it is nan, or empty.
        """
        if tally.view == "classes":
            return self._mean_of_classes(tally)
        result = self.formula(tally)
        return result if isinstance(result, Outcome) else Outcome(result, "")

    def _mean_of_classes(self, tally: Tally) -> Outcome:
        """The mean over classes, each an event; those for which there is no value are left out, and named."""
        found = {label: self.evaluate(part) for label, part in (tally.events or {}).items()}
        values = [float(one.value) for one in found.values() if not math.isnan(one.value)]
        without = [repr(label) for label, one in found.items() if math.isnan(one.value)]
        if not values:
            return Outcome(math.nan, next(iter(found.values())).note if found else "there are no classes")
        named = ", ".join(without[:3]) + (", ..." if len(without) > 3 else "")
        note = f"there is no value for {len(without)} of {len(found)} classes ({named})" if without else ""
        return Outcome(math.fsum(values) / len(values) if all(map(math.isfinite, values)) else sum(values), note)

    def bound(self, tally: Tally) -> float:
        """Return how far :meth:`of` may be from the value on the rows, because a tally bins scores.

        Parameters
        ----------
        tally : Tally
            Totals that hold the terms of the metric.

        Returns
        -------
        float
            The largest possible difference; 0 for metrics that a tally holds exactly.
        """
        if self.error is None:
            return 0.0
        if tally.view == "classes":
            return max((self.error(part) for part in (tally.events or {}).values()), default=0.0)
        return self.error(tally)

    def missing(self, predictions: Predictions) -> str:
        """Return why the metric is not available for these predictions.

        Parameters
        ----------
        predictions : Predictions
            The samples.

        Returns
        -------
        str
            The reason, in a sentence; empty if the metric is available.
        """
        if predictions.view not in self.views:
            return self.not_of(predictions.view)
        if not predictions.has_rows and not self.additive:
            return str(NeedsRows(self.name))
        if not self.takes_weights and not predictions.has_equal_weights:
            return f"{self.name} counts rows and accepts no unequal weights; leave out sample_weight."
        lacks_scores = self.is_ranking and not predictions.has_ranking
        if lacks_scores or (self.is_of_every_class and not predictions.has_probabilities):
            return (
                f"{self.name} needs the probability of each class, which these predictions do not have; "
                "use Predictions.from_probabilities or from_logits."
            )
        if self.is_of_classes and predictions.truth is None:
            return (
                f"{self.name} needs true and predicted labels, and these predictions have only whether each was "
                "correct; use Predictions.from_labels."
            )
        return ""

    def not_of(self, view: View) -> str:
        """Return why there is no value in a view that the metric is not defined for.

        Parameters
        ----------
        view : str
            ``"prediction"``, ``"event"`` or ``"classes"``.

        Returns
        -------
        str
            The reason, and the views that have it.
        """
        asked = " or ".join(f"of={one!r}" for one in get_args(View) if one in self.views)
        return f"{self.name} is not defined for of={view!r}; ask for it with {asked}."

    def title_of(self, view: View) -> str:
        """Return the name to print in a view.

        Parameters
        ----------
        view : str
            ``"prediction"``, ``"event"`` or ``"classes"``.

        Returns
        -------
        str
            The title; where rows are about events, without the words that speak of predictions.
        """
        if view == "prediction":
            return self.title
        return self.title.replace(" of correctness", "").replace("Mean confidence", "Mean predicted probability")

    def is_offered(self, view: View) -> bool:
        """Return whether an assessment of a view holds the metric, under this name.

        Parameters
        ----------
        view : str
            ``"prediction"``, ``"event"`` or ``"classes"``.

        Returns
        -------
        bool
            Whether it does.
        """
        return view in self.views and not (self.renamed if view == "prediction" else self.renamed_of_events)

    def _warn_and_return(self, outcome: Outcome) -> Any:
        if outcome.note:
            warnings.warn(f"{self.name}: {outcome.note}", UndefinedMetricWarning, stacklevel=4)
        return outcome.value


def undefined(why: str) -> Outcome:
    """Not a number, and why."""
    return Outcome(math.nan, why)
