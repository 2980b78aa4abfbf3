"""The border: how columns become predictions, the same for arrays and tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from surefoot.core.tally import Label
from surefoot.errors import InvalidPredictions
from surefoot.predictions import doubt as doubts
from surefoot.predictions.base import Predictions
from surefoot.predictions.checks import (
    NOT_NEGATIVE,
    WEIGHT_IN_RANGE,
    Check,
    check_classes,
    check_floor,
    check_lengths,
    complements,
    refuse_positive,
    sums_to_one,
)
from surefoot.predictions.columns import as_python
from surefoot.predictions.doubt import Claim, Numbers
from surefoot.predictions.labels import (
    Kind,
    check_labels,
    kind_of_label,
    labels_of_count,
    labels_of_second,
    refuse_foreign,
    refuse_mixture,
)
from surefoot.predictions.log_odds import LogOdds, OddsOfSecond


class Border(ABC):
    """Columns of one kind, arrays or tensors: how they are read, and predictions made of them."""

    #: NumPy or torch.
    xp: Any

    @abstractmethod
    def takes(self, columns: Sequence[Any]) -> bool:
        """Whether it reads such columns."""

    @abstractmethod
    def labels(self, argument: str, given: Any) -> Any:
        """A column of labels of one kind; whole floats count as integers."""

    @abstractmethod
    def numbers(self, argument: str, given: Any, *, dimensions: int = 1, fractions: bool = True) -> Numbers:
        """Finite floats in their own type, from 0 to 1 if they are fractions; of two dimensions at most, if not one."""

    @abstractmethod
    def outcome(self, correct: Any, argument: str = "correct") -> Any:
        """Whether each row is correct, or something else is the case: booleans, or 0 and 1."""

    @abstractmethod
    def kind(self, labels: Any) -> Kind: ...

    @abstractmethod
    def distinct(self, labels: Any) -> tuple[Label, ...]: ...

    @abstractmethod
    def encode(self, labels: Any, names: tuple[Label, ...]) -> tuple[Any, Any]:
        """The position of each label among names, and which are none of them."""

    @abstractmethod
    def first(self, fails: Any) -> tuple[int, ...]:
        """The index of the first element that fails."""

    @abstractmethod
    def count_up(self, size: int, like: Any) -> Any:
        """0, 1, 2, ... where ``like`` lies."""

    @abstractmethod
    def cast(self, values: Any, float_type: str) -> Any:
        """Numbers that are of a narrower type, stored so."""

    @abstractmethod
    def build(self, correct: Any, claim: Claim, weight: Any, **rest: Any) -> Predictions:
        """The predictions. ``truth`` and ``predicted`` are labels; where ``labels`` are given, ``predicted`` and
        ``codes``, which are the truth once more, are positions among them.
        """

    def check_together(self, **columns: Any) -> None:  # noqa: B027 (arrays always do)
        """Raise unless all columns lie in one place."""

    # -- constructors --------------------------------------------------------------------------------------------------

    def from_labels(
        self,
        y_true: Any,
        y_pred: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        floor: Any = None,
        float32: bool = True,
    ) -> Predictions:
        """As :meth:`Predictions.from_labels`."""
        truth, predicted = self.labels("y_true", y_true), self.labels("y_pred", y_pred)
        self._check_kind("y_true", truth, "y_pred", self.kind(predicted), predicted)
        check_lengths(y_true=truth, y_pred=predicted)
        claim = self._claim(confidence, doubt, floor, len(truth), float32=float32)
        weight = self.weight(sample_weight, len(truth))
        return self.build(truth == predicted, claim, weight, truth=truth, predicted=predicted)

    def from_correct(
        self,
        correct: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        floor: Any = None,
        float32: bool = True,
    ) -> Predictions:
        """As :meth:`Predictions.from_correct`."""
        outcome = self.outcome(correct)
        check_lengths(correct=outcome)
        claim = self._claim(confidence, doubt, floor, len(outcome), float32=float32)
        return self.build(outcome, claim, self.weight(sample_weight, len(outcome)))

    def from_probabilities(
        self,
        y_true: Any,
        probabilities: Any,
        *,
        labels: Any = None,
        pos_label: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        floor: Any = None,
        float32: bool = True,
    ) -> Predictions:
        """As :meth:`Predictions.from_probabilities`."""
        truth = self.labels("y_true", y_true)
        table = self.numbers("probabilities", probabilities, dimensions=2)
        values = table.values
        classes, is_second = check_classes("probabilities", values, truth), values.ndim == 1
        if not is_second:
            self._check_sums(table)
        names, codes = self._name_classes(truth, labels, classes, is_second=is_second, pos_label=pos_label)
        largest = values > 0.5 if is_second else self.xp.argmax(values, axis=1)
        chosen = self._chosen(y_pred, names, largest, len(truth))
        # booleans are compared in a tenth of the time
        correct = (codes == 1) == (chosen == 1 if y_pred is not None else chosen) if is_second else codes == chosen
        clip = check_floor(floor)
        table = doubts.narrow(table, self.cast) if float32 and clip is None else table
        if is_second and clip is not None:
            claim = doubts.clip_to_floor(doubts.confidence_of_second(table.values, chosen, self.xp), clip)
        elif is_second:
            claim = doubts.claim_of_second(table, None if chosen is largest else chosen == 1, self.xp)
        else:
            at = self.count_up(len(truth), values)
            if clip is not None:
                claim = doubts.clip_to_floor(table.values[at, chosen], clip)
            else:
                claim = doubts.claim_of_columns(table, chosen, at, self.xp)
        weight = self.weight(sample_weight, len(truth))
        rest = {"truth": truth, "codes": codes, "predicted": chosen, "labels": names, "probabilities": table.values}
        return self.build(correct, claim, weight, **rest, floor=clip)

    def from_scores(
        self, y_true: Any, scores: Any, *, labels: Any = None, y_pred: Any = None, confidence: Any = None
    ) -> Predictions:
        """As :meth:`Predictions.from_scores`."""
        truth = self.labels("y_true", y_true)
        table = self.numbers("scores", scores, dimensions=2)
        if table.values.ndim == 1:
            raise InvalidPredictions(
                "is a single column", argument="scores", hint="give one for each class, or use from_probabilities"
            )
        classes = check_classes("scores", table.values, truth)
        names, codes = self._name_classes(truth, labels, classes, is_second=False, pos_label=None)
        chosen = self._chosen(y_pred, names, self.xp.argmax(table.values, axis=1), len(truth))
        if confidence is None:
            own = table.values[self.count_up(len(truth), table.values), chosen]
            claim = doubts.claim_alone("scores", doubts.narrow(replace(table, values=own), self.cast))
        else:
            claim = self._claim(confidence, None, None, len(truth), float32=True)
        rest = {"truth": truth, "codes": codes, "predicted": chosen, "labels": names, "scores": table.values}
        return self.build(codes == chosen, claim, None, **rest)

    def from_logits(
        self,
        y_true: Any,
        logits: Any,
        *,
        labels: Any = None,
        pos_label: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        floor: Any = None,
    ) -> Predictions:
        """As :meth:`Predictions.from_logits`."""
        truth = self.labels("y_true", y_true)
        values = self.numbers("logits", logits, dimensions=2, fractions=False).values
        classes, is_second = check_classes("logits", values, truth), values.ndim == 1
        names, codes = self._name_classes(truth, labels, classes, is_second=is_second, pos_label=pos_label)
        at = self.count_up(len(truth), values)
        odds = OddsOfSecond(values, self.xp) if is_second else LogOdds.of(values, at, self.xp)
        chosen = self._chosen(y_pred, names, odds.top, len(truth))
        claim = odds.claim(at, chosen)
        if (clip := check_floor(floor)) is not None:
            claim = doubts.clip_to_floor(claim.confidence, clip)
        weight = self.weight(sample_weight, len(truth))
        # probabilities are made of log-odds when they are asked for
        rest = {"truth": truth, "codes": codes, "predicted": chosen, "labels": names}
        return self.build(codes == chosen, claim, weight, **rest, log_odds=odds, floor=clip)

    # -- columns -------------------------------------------------------------------------------------------------------

    def verify(self, check: Check, argument: str, values: Any, shown: Any = None) -> None:
        """Raise for the first row that fails a check; the value ``shown`` is its own unless others are given."""
        fails = check.fails(values)
        if bool(fails.any()):
            where = self.first(fails)
            value = as_python((values if shown is None else shown)[where])
            raise check.error(argument, where[0] if len(where) == 1 else where or None, value)

    def _claim(self, confidence: Any, doubt: Any, floor: Any, rows: int, *, float32: bool) -> Claim:
        """Confidence and doubt, whichever of them were given, checked against each other and clipped if asked for."""
        if confidence is None and doubt is None:
            raise InvalidPredictions("is missing: give confidence=, or doubt= (1 - confidence)", argument="confidence")
        stated = None if confidence is None else self.numbers("confidence", confidence)
        doubted = None if doubt is None else self.numbers("doubt", doubt)
        for name, column in (("confidence", stated), ("doubt", doubted)):
            check_lengths(rows=rows, **{name: None if column is None else column.values})
        clip = check_floor(floor)
        if doubted is not None:
            exact = doubts.raise_tiny(doubted.values)
            own = 1 - exact if stated is None else stated.values
            if stated is not None:
                self._check_complements(stated, doubted, exact)
            return Claim(own, exact) if clip is None else doubts.clip_to_floor(own, clip)
        assert stated is not None
        if clip is not None:
            return doubts.clip_to_floor(stated.values, clip)
        return doubts.claim_alone("confidence", doubts.narrow(stated, self.cast) if float32 else stated)

    def weight(self, sample_weight: Any, rows: int) -> Any:
        """Sample weights as float64: finite, not negative, not all zero; None if none were given."""
        if sample_weight is None:
            return None
        weight = doubts.widen(self.numbers("sample_weight", sample_weight, fractions=False).values)
        check_lengths(sample_weight=weight, rows=rows)
        self.verify(NOT_NEGATIVE, "sample_weight", weight)
        if not bool(weight.any()):
            raise InvalidPredictions(
                "as are all others: no row would count", argument="sample_weight", row=0, value=0.0
            )
        self.verify(WEIGHT_IN_RANGE, "sample_weight", weight)
        return weight

    def _check_complements(self, stated: Numbers, doubted: Numbers, doubt: Any) -> None:
        tolerance = max(stated.complement_tolerance, doubted.complement_tolerance)
        fails = complements(tolerance, "confidence").fails(doubts.widen(stated.values) + doubt)
        if bool(fails.any()):
            (row,) = self.first(fails)
            raise InvalidPredictions(
                f"but {{other}}[{row}] is {float(stated.values[row])!r}: they should add up to 1",
                argument="doubt",
                other="confidence",
                row=row,
                value=float(doubt[row]),
                hint="Give one of them, or correct the other",
            )

    def _check_sums(self, table: Numbers) -> None:
        sums = table.values.sum(axis=1, dtype=self.xp.float64)
        check = sums_to_one(table.sum_tolerance)
        fails = check.fails(sums)
        if bool(fails.any()):
            (row,) = self.first(fails)
            reason = f"adds up to {float(sums[row]):.6g}, {check.reason}"
            raise InvalidPredictions(reason, argument="probabilities", row=row, hint=check.hint)

    def _check_kind(self, argument: str, labels: Any, other_name: str, other: Kind, others: Any) -> None:
        """Raise if one column holds, say, integers and the other strings: they could never be equal."""
        if len(labels) and len(others) and self.kind(labels) != other:
            first = others[0] if isinstance(others, tuple) else as_python(others[0])
            refuse_mixture((argument, self.kind(labels), as_python(labels[0])), (other_name, other, first))

    def _name_classes(
        self, truth: Any, labels: Any, classes: int, *, is_second: bool, pos_label: Any
    ) -> tuple[tuple[Label, ...], Any]:
        """The labels of the classes, and the position of each true label among them."""
        refuse_positive(is_second, pos_label)
        kind = self.kind(truth)
        names = None if labels is None else check_labels(labels, kind, classes)
        if names is None or is_second:
            found = () if names else self._occurring(truth, kind, classes)
            names = (
                labels_of_second(found, kind, pos_label, names) if is_second else labels_of_count(found, kind, classes)
            )
        return names, self._encode("y_true", truth, names)

    def _occurring(self, truth: Any, kind: Kind, classes: int) -> tuple[Label, ...]:
        """The labels that occur; where they can only be 0, 1, ... without a look at each."""
        if kind == "booleans" and classes == 2:
            return (False, True)
        if kind == "integers" and int(truth.min()) >= 0 and int(truth.max()) < classes:
            return tuple(range(classes))
        return self.distinct(truth)

    def _encode(self, argument: str, labels: Any, names: tuple[Label, ...]) -> Any:
        codes, foreign = self.encode(labels, names)
        if bool(foreign.any()):
            (row,) = self.first(foreign)
            raise refuse_foreign(argument, row, as_python(labels[row]), names)
        return codes

    def _chosen(self, y_pred: Any, names: tuple[Label, ...], largest: Any, rows: int) -> Any:
        """The predicted class of each row: the largest, unless the caller says otherwise."""
        if y_pred is None:
            return largest
        predicted = self.labels("y_pred", y_pred)
        check_lengths(rows=rows, y_pred=predicted)
        self._check_kind("y_pred", predicted, "labels", kind_of_label(names[0]), names)
        return self._encode("y_pred", predicted, names)
