"""What the user holds, checked once: predictions in arrays, in tensors on a device, or in a lazy frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from surefoot.core.tally import Label, Tally, add_not_attempted
from surefoot.core.term import Term
from surefoot.core.view import View
from surefoot.predictions.constructors import Constructors
from surefoot.predictions.events import tally_views

if TYPE_CHECKING:
    from surefoot.predictions.arrays import ArrayPredictions


class Predictions(Constructors, ABC):
    """Predictions, checked: what was predicted, how sure the model was, and what was true.

    Made by its constructors, :meth:`from_labels`, :meth:`from_correct`, :meth:`from_probabilities`,
    :meth:`from_scores`, :meth:`from_logits` and :meth:`from_frame`. Columns that were arrays already are looked at, not
    copied: do not write into them. Tensors on an accelerator and lazy frames stay where they are; what needs the rows
    themselves asks for :meth:`rows`.

    Attributes
    ----------
    correct, wrong, confidence, doubt, weight
        A value for each row: arrays, tensors, or names of columns of the lazy frame.
    truth, predicted
        The labels; None where only correctness is known.
    probabilities
        P(second label) if one-dimensional, else a column for each of ``labels``; None where not given.
    scores
        In memory, a score of each class that is no probability, from :meth:`from_scores`; else None.
    labels : tuple or None
        The classes: those given, or those that occur.
    rounded : int
        How many confidences that count are a narrow float type's 1, with a doubt set by convention.
    not_attempted : int
        How many rows were given besides and not attempted: they are neither right nor wrong, and not among the rows.
    view : str
        ``"prediction"``, or ``"event"``: ``correct`` says whether it happened and ``confidence`` is its probability; or
        ``"classes"``.
    chosen_view : str or None
        The view that was asked for; None if none was, which is ``"prediction"``.
    event_label : label or None
        Of an event view, the class that is the event.
    """

    #: The module of :mod:`surefoot.engines` that adds up such rows, loaded when it is first needed.
    engine: ClassVar[str]
    #: Whether rows can be had: not from a lazy frame.
    has_rows: ClassVar[bool] = True

    if TYPE_CHECKING:
        correct: Any
        probabilities: Any
        chosen_view: View | None
        event_label: Label | None

        @property
        def confidence(self) -> Any: ...

        @property
        def doubt(self) -> Any: ...

        @property
        def weight(self) -> Any: ...

        @property
        def truth(self) -> Any: ...

        @property
        def predicted(self) -> Any: ...

        @property
        def labels(self) -> tuple[Label, ...] | None: ...

        @property
        def rounded(self) -> int: ...

        @property
        def not_attempted(self) -> int: ...

        @property
        def is_weighted(self) -> bool: ...

        @property
        def has_equal_weights(self) -> bool: ...

    def __new__(cls, *_: Any, **__: Any) -> Self:
        if cls is Predictions:
            raise TypeError(
                "Predictions is made by its constructors: Predictions.from_probabilities(y_true, probabilities), "
                "from_labels(y_true, y_pred, confidence), from_correct(correct, confidence), from_logits or from_frame."
            )
        return super().__new__(cls)

    @property
    def view(self) -> View:
        """What rows are about: ``"prediction"``, ``"event"`` or ``"classes"``."""
        return self.chosen_view or "prediction"

    @cached_property
    def _positions(self) -> dict[Label, int]:
        """Where each label stands among all."""
        return {label: position for position, label in enumerate(self.labels or ())}

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities were given: to ask does not make them, where they follow from logits."""
        return self.probabilities is not None

    @property
    @abstractmethod
    def has_second(self) -> bool:
        """Whether one column of probabilities was given, those of the second label."""

    @property
    def has_ranking(self) -> bool:
        """Whether there are numbers that each class is ranked by."""
        return self.probabilities is not None

    @abstractmethod
    def event(self, label: Label) -> Self:
        """Return the same rows asked about one class: did it occur, and how probable was it?

        Parameters
        ----------
        label : label
            The class; one of ``labels``.

        Returns
        -------
        Predictions
            An event view: ``correct`` says whether the class is the true one, ``confidence`` is its probability.

        Examples
        --------
        >>> p = Predictions.from_probabilities(["a", "b"], [[0.9, 0.1], [0.6, 0.4]]).event("b")
        >>> p.correct.tolist(), p.confidence.tolist()
        ([False, True], [0.1, 0.4])
        """

    def _with_labels(self) -> Self:
        """The same with its labels known, where there are any."""
        return self

    @abstractmethod
    def _with_slices(self, by: Any) -> tuple[Self, Any]:
        """These predictions, and what their event views are sliced by so that slices are the same."""

    @abstractmethod
    def _skipped_by(self, by: Any) -> dict[Label, int]:
        """How many rows of each slice were not attempted; those by a label that was predicted have none."""

    @abstractmethod
    def rows(self, what: str = "this") -> ArrayPredictions:
        """Return the same predictions as arrays in memory.

        Parameters
        ----------
        what : str
            What needs the rows, for the error message.

        Returns
        -------
        Predictions
            The rows as NumPy arrays.

        Raises
        ------
        MetricUnavailable
            If the predictions are in a lazy frame.
        """

    def tally(self, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
        """Sum terms over all rows; see :func:`surefoot.tally` for all that metrics need.

        Parameters
        ----------
        terms : iterable of Term
            What to sum.
        exact : bool, default=False
            Keep every distinct score apart instead of binning scores; such a tally is not meant to be saved.
        by : array-like of shape (n,) or str, optional
            Also sum each slice: a column of values, ``"predicted"`` or ``"truth"``; for a lazy frame the name of a
            column.

        Returns
        -------
        Tally
            The totals.
        """
        found = tally_views(self, terms, exact=exact, by=by)
        return add_not_attempted(found, self.not_attempted, self._skipped_by(by)) if self.not_attempted else found

    def _add_up(self, terms: Iterable[Term], *, exact: bool, by: Any) -> Tally:
        """The totals of the rows as they are, by the engine of where they lie."""
        tally: Tally = import_module(f"surefoot.engines.{self.engine}").tally(self, terms, exact=exact, by=by)
        return tally

    def _add_up_events(self, terms: Iterable[Term], *, by: Any) -> dict[Label, Tally] | None:
        """The totals of each class as an event from one pass, where the engine can; else each view is added up."""
        return None
