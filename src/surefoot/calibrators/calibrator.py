"""What calibrators share: how probabilities come in, what a map is fitted to, and how fitted ones are kept.

A map turns the stated probability of an event into a better one. Of the top label the event is that the prediction is
wrong, and what is stated is the doubt; the decision stays, and what is left goes to the other classes in the shares
they had. One against the rest, the event is that a row is of a class, and rows are brought back to 1 afterwards.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from surefoot._io import documents
from surefoot.core.table import Floats
from surefoot.core.tally import Label
from surefoot.errors import InvalidCalibrator, InvalidPredictions
from surefoot.predictions import ArrayPredictions, Predictions

SCHEMA = 1
#: Far beyond what any fit gives.
_LARGEST = 1e100

#: What "add one wrong" proves.
SAFE = "On fresh exchangeable samples the mean CSR is at most 1."


class Events(NamedTuple):
    """A question with the answer yes or no for each row: how likely yes was said to be, and what it was."""

    probability: Floats
    log_odds: Floats
    happened: npt.NDArray[np.bool_]
    weight: Floats

    def equally_weighted(self, who: str) -> Events:
        """The rows that count, where a guarantee needs each to count once."""
        counting = self.weight > 0
        if not (self.weight[counting] == self.weight[counting][:1]).all():
            raise InvalidPredictions(f"{who} counts rows and accepts no unequal weights; leave out sample_weight.")
        probability, log_odds, happened, weight = self
        return Events(probability[counting], log_odds[counting], happened[counting], weight[counting])


@dataclass(frozen=True)
class Map(ABC):
    """A fitted map: from stated probabilities and their log-odds to those of the event and of its opposite."""

    @abstractmethod
    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True)
class Support:
    """What a number of rows can support: no probability of 0 or 1.

    A doubt that keeps the mean CSR at 1 or less may be 1, as where all rows of a bin were wrong; that says that a
    correct prediction is impossible, which no number of rows shows. Its reciprocal is averaged with that of the doubt
    ``overall``, which keeps the mean CSR too, and so their average does: 1 of ``rows`` + 1 parts.
    """

    rows: int
    #: The share of errors, with one more added, as if all rows were alike.
    overall: float

    def __post_init__(self) -> None:
        if not isinstance(self.rows, int) or self.rows < 1 or not self.share / 2 <= self.overall < 1:
            # with one more error counted, rows show 1 / (rows + 1) at least; half of it leaves room for rounding
            raise ValueError("support needs a number of rows, and a doubt below 1 that so many rows can show")

    @property
    def share(self) -> float:
        return 1 / (self.rows + 1)

    def bound(self, doubt: Floats, confidence: Floats) -> tuple[Floats, Floats]:
        """The same doubts and confidences, away from 0 and 1."""
        # 1 / doubt - 1, the odds of being right, are averaged: so no digits are lost at either end
        odds = (1 - self.share) * confidence / doubt + self.share * (1 - self.overall) / self.overall
        return 1 / (1 + odds), odds / (1 + odds)


class Calibrator(ABC):
    """The base class of calibrators, which correct the probabilities of a classifier.

    Fit one to probabilities and true labels of samples that the model was not trained on; it then corrects the
    probabilities of others.

    Parameters
    ----------
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities; it is never guessed.

    Attributes
    ----------
    cost : str
        What the method costs, in a sentence.
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes, in the order of the columns of :meth:`predict_proba`.
    maps_ : tuple
        The fitted functions: one for each class, or one in all.
    support_ : Support or None
        For calibrators with a guarantee: what keeps their probabilities away from 0 and 1.
    """

    cost: ClassVar[str]
    #: What a fitted one consists of, by which a saved one is read.
    _map: ClassVar[type[Any]]

    from_logits: bool
    classes_: npt.NDArray[Any]
    maps_: tuple[Any, ...]
    support_: Support | None = None
    #: Whether the file that it was fitted to held percentages: numbers of up to 1 are then not taken for shares.
    is_of_percentages: bool = False
    #: The columns of the file that it was fitted to, one for each class; empty where no file told.
    columns: tuple[str, ...] = ()

    def __init__(self, *, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """What is guaranteed, in a sentence that you can quote."""

    @property
    def is_safe(self) -> bool:
        """Whether it guarantees that errors on fresh samples do not carry too much confidence."""
        return False

    @property
    def takes_weights(self) -> bool:
        """Whether :meth:`fit` accepts unequal weights."""
        return True

    @abstractmethod
    def fit(self, probabilities: Any, y: Any, sample_weight: Any = None, *, labels: Any = None) -> Any:
        """Fit to probabilities and true labels.

        Parameters
        ----------
        probabilities : array-like of shape (n,) or (n, n_classes)
            P(second label), or a column for each class; logits if ``from_logits``.
        y : array-like of shape (n,)
            The true labels.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample, for calibrators that take weights.
        labels : sequence, optional
            The classes, in the order of the columns; by default 0, 1, ... or the sorted labels that occur.

        Returns
        -------
        Calibrator
            The calibrator itself.

        Raises
        ------
        InvalidPredictions
            If the data are not valid predictions, or have weights that the calibrator does not take.
        """

    @abstractmethod
    def predict_proba(self, probabilities: Any) -> Floats:
        """Return corrected probabilities.

        Calibrators of the top label correct the confidence in the model's own decision. Keep that decision when you
        assess them (``y_pred=``), or use :meth:`predictions`.

        Parameters
        ----------
        probabilities : array-like of shape (n,) or (n, n_classes)
            P(second label), or a column for each class; logits if ``from_logits``.

        Returns
        -------
        numpy.ndarray of shape (n, n_classes)
            A column for each of ``classes_``.

        Raises
        ------
        InvalidCalibrator
            If it is not fitted.
        """

    @abstractmethod
    def _map_count(self, classes: int) -> int:
        """How many maps it has for so many classes."""

    def predictions(self, y: Any, probabilities: Any, sample_weight: Any = None) -> ArrayPredictions:
        """Return the corrected probabilities with the model's own decisions, ready to be assessed.

        Parameters
        ----------
        y : array-like of shape (n,)
            The true labels.
        probabilities : array-like of shape (n,) or (n, n_classes)
            The model's probabilities, or logits if ``from_logits``.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.

        Returns
        -------
        Predictions
            To be passed to :func:`surefoot.assess`.
        """
        raw = self._predictions(y, probabilities, sample_weight, self._labels())
        table = self.predict_proba(probabilities)
        return Predictions.from_probabilities(
            y, table, labels=self._labels(), y_pred=raw.predicted, sample_weight=sample_weight
        ).rows()

    # -- how rows come in ----------------------------------------------------------------------------------------------

    def _labels(self) -> list[Label]:
        if not hasattr(self, "classes_"):
            raise InvalidCalibrator(f"this {type(self).__name__} is not fitted yet: call fit(probabilities, y) first.")
        labels: list[Label] = self.classes_.tolist()
        return labels

    def _predictions(self, y: Any, probabilities: Any, sample_weight: Any, labels: Any) -> ArrayPredictions:
        if not isinstance(self.from_logits, bool | np.bool_):
            raise ValueError(f"from_logits is {self.from_logits!r}; it should be True or False.")
        constructor = Predictions.from_logits if self.from_logits else Predictions.from_probabilities
        return constructor(y, probabilities, labels=labels, sample_weight=sample_weight).rows()

    def _without_truth(self, probabilities: Any) -> ArrayPredictions:
        labels = self._labels()
        rows = len(probabilities) if hasattr(probabilities, "__len__") else 0
        # the truth is not looked at
        return self._predictions(np.full(rows, labels[0]), probabilities, None, labels)

    # -- scikit-learn's manner -----------------------------------------------------------------------------------------

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor, as scikit-learn's estimators do.

        Parameters
        ----------
        deep : bool, default=True
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        dict
            Values by the name of the parameter.
        """
        return {name: getattr(self, name) for name in self._parameters()}

    def unfitted(self, **parameters: Any) -> Self:
        """Return a new calibrator with the same parameters, not fitted.

        Parameters
        ----------
        **parameters : object
            Parameters to change.

        Returns
        -------
        Calibrator
            One of the same class.
        """
        return type(self)(**{**self.get_params(), **parameters})

    def set_params(self, **parameters: Any) -> Any:
        """Change parameters; it has to be fitted again afterwards.

        Parameters
        ----------
        **parameters : object
            Parameters to change.

        Returns
        -------
        Calibrator
            The calibrator itself.
        """
        self.unfitted(**parameters)  # refuses what it does not know
        for name, value in parameters.items():
            setattr(self, name, value)
        for name in ("classes_", "maps_", "support_"):
            # fitted with other parameters, they would mean something else
            self.__dict__.pop(name, None)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    # -- keeping it ----------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a small JSON file; read it with :func:`surefoot.calibrators.load`.

        Parameters
        ----------
        path : str or path-like
            The file to write.

        Raises
        ------
        InvalidCalibrator
            If it is not fitted.
        """
        body: dict[str, Any] = {
            "method": type(self).__name__,
            "parameters": {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in self.get_params().items()
            },
            "classes": self._labels(),
            "maps": [
                {
                    name: value.tolist() if isinstance(value, np.ndarray) else value
                    for name, value in asdict(own).items()
                }
                for own in self.maps_
            ],
            "support": None if self.support_ is None else asdict(self.support_),
        }
        if self.is_of_percentages:
            body["percentages"] = True
        if self.columns:
            body["columns"] = list(self.columns)
        documents.write(path, "calibrator", SCHEMA, body)


class EventCalibrator(Calibrator):
    """A calibrator that fits one function to the confidence of the decision, or one to each class against the rest.

    Parameters
    ----------
    top_label : bool, default=False
        Whether to correct only the confidence in the decision, rather than each class against the rest.
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities; it is never guessed.
    """

    top_label: bool

    def __init__(self, *, top_label: bool = False, from_logits: bool = False) -> None:
        super().__init__(from_logits=from_logits)
        self.top_label = top_label

    @property
    def is_of_top_label(self) -> bool:
        """Whether it corrects the confidence of the decision only, rather than each class."""
        return self.top_label

    @abstractmethod
    def _fit_map(self, events: Events) -> Map: ...

    def fit(self, probabilities: Any, y: Any, sample_weight: Any = None, *, labels: Any = None) -> Any:
        rows = self._predictions(y, probabilities, sample_weight, labels)
        questions = self._questions(rows)
        if not self.takes_weights:
            questions = [events.equally_weighted(type(self).__name__) for events in questions]
        maps = tuple(self._fit_map(events) for events in questions)
        support = self._support(questions[0]) if self.is_safe else None
        # all or none
        self.classes_, self.maps_, self.support_ = np.array(rows.labels), maps, support
        return self

    def _support(self, events: Events) -> Support:
        rows, errors = len(events.happened), int(events.happened.sum())
        # where all rows were wrong no doubt below 1 keeps the mean CSR; one row more that is right is then supposed
        return Support(rows, self._overall(errors, rows) if errors < rows else (rows + 1) / (rows + 2))

    def _overall(self, errors: int, rows: int) -> float:
        """A doubt for all rows alike that keeps what is guaranteed."""
        return (errors + 1) / (rows + 1)

    def predict_proba(self, probabilities: Any) -> Floats:
        rows = self._without_truth(probabilities)
        if self.is_of_top_label:
            return self._top_label(rows)
        assert rows.labels is not None
        count = len(rows.labels)
        if count == 2:
            second, first = self.maps_[0](*_class_probability(rows, 1))
            return np.stack([first, second], axis=1)
        table = np.stack([own(*_class_probability(rows, k))[0] for k, own in enumerate(self.maps_)], axis=1)
        total = table.sum(axis=1, keepdims=True)
        # all classes ruled out: nothing is known
        shares: Floats = np.divide(table, total, out=np.full_like(table, 1 / count), where=total > 0)
        return shares

    def _map_count(self, classes: int) -> int:
        """How many maps it has for so many classes."""
        return 1 if self.is_of_top_label or classes == 2 else classes

    def _questions(self, rows: ArrayPredictions) -> list[Events]:
        if self.is_of_top_label:
            return [Events(*_doubt_and_log_odds(rows), rows.wrong, rows.weight)]
        assert rows.labels is not None
        classes = range(1, 2) if len(rows.labels) == 2 else range(len(rows.labels))
        return [Events(*_class_probability(rows, k), rows.is_truly(k), rows.weight) for k in classes]

    def _top_label(self, rows: ArrayPredictions) -> Floats:
        doubt, confidence = self.maps_[0](*_doubt_and_log_odds(rows))
        if self.support_ is not None:
            doubt, confidence = self.support_.bound(doubt, confidence)
        assert rows.probabilities is not None
        table = rows.probabilities.astype(np.float64)
        if table.ndim == 1:
            table = np.stack([1 - table, table], axis=1)
        chosen = rows.codes("predicted")
        at = np.arange(len(table))
        table[at, chosen] = 0
        others = table.sum(axis=1, keepdims=True)
        even = np.full_like(table, 1 / (table.shape[1] - 1))
        even[at, chosen] = 0
        shares = np.where(others > 0, table / np.where(others > 0, others, 1), even)
        if self.support_ is not None:
            # a class that was given nothing is not impossible either
            shares = (1 - self.support_.share) * shares + self.support_.share * even
        corrected: Floats = shares * doubt[:, None]
        corrected[at, chosen] = confidence
        return corrected


def check_steps(start: Floats, *values: Floats, more: int = 0) -> None:
    """Raise unless steps rise and their values, as many as steps and some more, are probabilities."""
    if start.ndim != 1 or not np.isfinite(start).all() or (np.diff(start) < 0).any():
        raise ValueError("steps do not rise")
    for value in values:
        if value.shape != (len(start) + more,) or not len(value) or not ((value >= 0) & (value <= 1)).all():
            raise ValueError("the values of the steps must be probabilities, one for each step")


def check_finite(*values: float) -> None:
    """Raise unless all are numbers that stay finite when they are multiplied by log-odds and added."""
    if not all(isinstance(value, int | float) and abs(value) <= _LARGEST for value in values):
        raise ValueError("a parameter is not a finite number")


def _class_probability(rows: ArrayPredictions, label: int) -> tuple[Floats, Floats]:
    """The probability of a class and its log-odds."""
    assert rows.probabilities is not None
    table = rows.probabilities
    # of P(second label) no other is asked for
    p = table if table.ndim == 1 else table[:, label]
    return p.astype(np.float64), rows.score_log_odds(label, slice(None))


def _doubt_and_log_odds(rows: ArrayPredictions) -> tuple[Floats, Floats]:
    """The doubt and its log-odds."""
    with np.errstate(divide="ignore"):
        return rows.doubt, np.log(rows.doubt) - np.log(rows.confidence_of(slice(None)))
