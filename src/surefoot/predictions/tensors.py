"""Predictions that stay on an accelerator: tensors, checked where they are.

The doors of :class:`Predictions` lead here when they are given tensors that are not on the host. What is checked, how
doubt is found and what is said are the same; labels are booleans or integers, which is what tensors hold.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._stats.logistic import expit
from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import checked_floor, count_classes
from surefoot.predictions.columns import Numbers, check_lengths, check_weight
from surefoot.predictions.doubt import SMALLEST, log_odds_of_block, near_one, warn_if_near_one
from surefoot.predictions.labels import Label, refuse_mixture
from surefoot.predictions.tensor_checks import (
    Tensor,
    as_claim,
    as_column,
    as_labels,
    as_numbers,
    blocks,
    check_sums,
    check_together,
    chosen_classes,
    chosen_confidence,
    claim_of_second,
    clipped,
    doubt_of_one,
    first_row,
    kind_of,
    narrowed,
    of_columns,
    of_second,
    refuse_missing,
    with_labels,
)

if TYPE_CHECKING:
    from surefoot.predictions.arrays import Predictions


#: Programs for each multiprocessor.
_PROGRAMS = 8


def are_on_device(*columns: Any) -> bool:
    """Whether any of these is a tensor that does not lie on the host. Its owner has loaded torch already."""
    torch = sys.modules.get("torch")
    return torch is not None and any(isinstance(c, torch.Tensor) and c.device.type != "cpu" for c in columns)


def has_kernels(device: Any) -> bool:
    """Whether Triton is at hand for a device."""
    return device.type == "cuda" and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def multiprocessors(device: Any) -> int:
    """How many a GPU has."""
    import torch

    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@dataclass(frozen=True, eq=False, repr=False)
class TensorPredictions:
    """What :class:`Predictions` are, as tensors on one device."""

    correct: Tensor
    _confidence: Tensor | None = None
    #: Labels, or positions in ``labels`` where there are probabilities.
    _truth: Tensor | None = None
    _predicted: Tensor | None = None
    probabilities: Tensor | None = None
    _doubt: Tensor | None = None
    #: The doubt of a bare confidence of 1: 0, a claim of certainty, unless its type is so narrow that it was rounded.
    doubt_of_one: float = 0.0
    _weight: Tensor | None = None
    _labels: tuple[Label, ...] | None = None
    _log_odds: Tensor | None = None
    _rounded: Tensor | None = None
    #: Whether rows are predicted by what P(second label) says: confidence and doubt are made of it when asked for.
    follows_second: bool = False

    def __len__(self) -> int:
        return len(self.correct)

    def __repr__(self) -> str:
        return f"TensorPredictions({len(self):,} rows on {self.correct.device})"

    @property
    def is_weighted(self) -> bool:
        return self._weight is not None

    @property
    def stores_doubt(self) -> bool:
        return self.follows_second or self._doubt is not None

    @cached_property
    def _of_second(self) -> tuple[Tensor, Tensor]:
        assert self._predicted is not None
        return claim_of_second(self.probabilities, self._predicted.bool(), self._rounded, self.doubt_of_one)

    @property
    def confidence(self) -> Tensor:
        return self._of_second[0] if self.follows_second else self._confidence

    @property
    def _stored_doubt(self) -> Tensor | None:
        return self._of_second[1] if self.follows_second else self._doubt

    @property
    def has_equal_weights(self) -> bool:
        """Whether all rows that count weigh the same."""
        if self._weight is None:
            return True
        counting = self._weight[self._weight > 0]
        return not len(counting) or bool((counting == counting[0]).all())

    @cached_property
    def rounded(self) -> int:
        """How many confidences that count are a narrow float type's 1, with a doubt set by convention."""
        if self._rounded is None:
            return 0
        return int((self._rounded if self._weight is None else self._rounded & (self._weight > 0)).sum())

    @cached_property
    def labels(self) -> tuple[Label, ...] | None:
        """The classes: those given, or those that occur; None when only correctness is known."""
        if self._labels is not None or self._truth is None or self._predicted is None:
            return self._labels
        return tuple(sorted({*self._truth.unique().tolist(), *self._predicted.unique().tolist()}))

    @property
    def doubt(self) -> Tensor:
        return self.doubt_of(slice(None))

    @property
    def weight(self) -> Tensor:
        """The weight of each row; ones where none were given."""
        import torch

        return torch.ones_like(self.correct, dtype=torch.float64) if self._weight is None else self._weight

    @property
    def wrong(self) -> Tensor:
        return ~self.correct

    @property
    def truth(self) -> Tensor | None:
        """The true labels."""
        return self._named("truth")

    @property
    def predicted(self) -> Tensor | None:
        """The predicted labels."""
        return self._named("predicted")

    def _named(self, column: str) -> Tensor | None:
        import torch

        values = getattr(self, f"_{column}")
        if values is None or self._labels is None:
            return values
        return torch.tensor(self._labels, device=values.device)[values.long()]

    @cached_property
    def certain(self) -> int:
        """How many rows that count claim certainty: a doubt of exactly 0."""
        return int(self._is_certain.sum())

    @cached_property
    def certain_wrong(self) -> int:
        """How many of them are wrong."""
        return int((self._is_certain & self.wrong).sum())

    @property
    def _is_certain(self) -> Tensor:
        certain = self.doubt == 0
        return certain if self._weight is None else certain & (self._weight > 0)

    def columns(self) -> list[Tensor]:
        """Correct, confidence, doubt and weight, as far as they are stored, each in one piece."""
        given = [self.correct, self.confidence, self._stored_doubt, self._weight]
        return [None if column is None else column.contiguous() for column in given]

    def confidence_of(self, rows: Any) -> Tensor:
        return self.confidence[rows].double()

    def doubt_of(self, rows: Any) -> Tensor:
        if self._stored_doubt is not None:
            return self._stored_doubt[rows].double()
        doubt = 1 - self.confidence_of(rows)
        return doubt.masked_fill_(doubt == 0, self.doubt_of_one) if self.doubt_of_one else doubt

    def codes(self, column: str, rows: Any = slice(None)) -> Tensor:
        """The positions in ``labels`` of the true or the predicted labels."""
        import torch

        values = getattr(self, f"_{column}")[rows].long()
        assert self.labels is not None
        if self._labels is not None or self.labels == tuple(range(len(self.labels))):
            return values
        return torch.searchsorted(torch.tensor(self.labels, device=values.device).long(), values)

    def ranking_scores(self, label: int) -> Tensor:
        """Numbers that rise strictly with a class's probability, free of ties made by rounding."""
        assert self.probabilities is not None
        if self._log_odds is not None:
            return self._log_odds[:, label].contiguous()
        if self.probabilities.ndim == 1:
            return self.probabilities if label == 1 else -self.probabilities
        return self.probabilities[:, label].contiguous()

    def score_probabilities(self, scores: Any, label: int) -> Any:
        """The probabilities that :meth:`ranking_scores` stand for, of an array of them."""
        if self._log_odds is not None:
            return expit(scores)
        assert self.probabilities is not None
        return 1 + scores if self.probabilities.ndim == 1 and label == 0 else scores

    def score_log_odds(self, label: int, rows: slice) -> Tensor:
        """The log-odds of a class on some rows."""
        if self._log_odds is not None:
            return self._log_odds[rows, label]
        assert self.probabilities is not None
        second_only = self.probabilities.ndim == 1
        p = (self.probabilities[rows] if second_only else self.probabilities[rows, label]).double()
        odds = p.log() - (-p).log1p()
        return -odds if second_only and label == 0 else odds

    def __getitem__(self, rows: Any) -> TensorPredictions:
        """Some of the rows, over the same labels."""
        names: tuple[str, ...] = ("correct", "_confidence", "_truth", "_predicted", "probabilities")
        names += ("_doubt", "_weight", "_log_odds", "_rounded")
        cut: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in names
        }
        part = replace(self, **cut)
        if self.labels is not None and self._labels is None:
            part = replace(
                part,
                _truth=self.codes("truth", rows),
                _predicted=self.codes("predicted", rows),
                _labels=self.labels,
            )
        return part

    def on_host(self) -> Predictions:
        """The same on the host, for what needs the rows themselves there."""
        from surefoot.predictions.arrays import Predictions

        def array(values: Tensor | None) -> Any:
            if values is None:
                return None
            return (values.float() if str(values.dtype) == "torch.bfloat16" else values).cpu().numpy()

        def named(column: str) -> Any:
            return None if self._truth is None else np.array(self.labels)[array(self.codes(column))]

        return Predictions(
            correct=array(self.correct),
            confidence=array(self.confidence),
            truth=named("truth"),
            predicted=named("predicted"),
            probabilities=array(self.probabilities),
            # the doubt of rounded rows is not 1 - confidence
            _doubt=array(self.doubt) if self.doubt_of_one or self.stores_doubt else None,
            _weight=array(self._weight),
            _labels=self.labels,
            _log_odds=array(self._log_odds),
            _rounded=array(self._rounded),
            _is_checked=True,
        )


# -- doors -----------------------------------------------------------------------------------------------------------


def from_labels(
    y_true: Any,
    y_pred: Any,
    confidence: Any,
    *,
    doubt: Any = None,
    sample_weight: Any = None,
    floor: Any = None,
    float32: bool = True,
) -> TensorPredictions:
    """As :meth:`Predictions.from_labels`."""
    check_together(y_true=y_true, y_pred=y_pred, confidence=confidence, doubt=doubt, sample_weight=sample_weight)
    truth, predicted = as_labels("y_true", y_true), as_labels("y_pred", y_pred)
    check_lengths(y_true=truth, y_pred=predicted)
    if kind_of(truth) != kind_of(predicted):
        refuse_mixture(("y_true", kind_of(truth), truth[0].item()), ("y_pred", kind_of(predicted), predicted[0].item()))
    return _made(
        truth == predicted,
        as_claim(confidence, doubt, floor, len(truth), float32=float32),
        sample_weight,
        _truth=truth,
        _predicted=predicted,
    )


def from_correct(
    correct: Any,
    confidence: Any,
    *,
    doubt: Any = None,
    sample_weight: Any = None,
    floor: Any = None,
    float32: bool = True,
) -> TensorPredictions:
    """As :meth:`Predictions.from_correct`."""
    check_together(correct=correct, confidence=confidence, doubt=doubt, sample_weight=sample_weight)
    outcome = as_column("correct", correct)
    check_lengths(correct=outcome)
    if outcome.dtype.is_complex:
        raise InvalidPredictions(f"correct is of type {outcome.dtype}; it should hold true or false, 1 or 0.")
    if str(outcome.dtype) != "torch.bool":
        other = (outcome != 0) & (outcome != 1)
        if other.any():
            row = first_row(other)
            raise InvalidPredictions(f"correct[{row}] is {outcome[row].item()!r}; it should be true or false, 1 or 0.")
        outcome = outcome.bool()
    return _made(outcome, as_claim(confidence, doubt, floor, len(outcome), float32=float32), sample_weight)


def from_probabilities(
    y_true: Any,
    probabilities: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    floor: Any = None,
    float32: bool = True,
) -> TensorPredictions:
    """As :meth:`Predictions.from_probabilities`."""
    refuse_missing(y_true=y_true, probabilities=probabilities)
    check_together(y_true=y_true, probabilities=probabilities, y_pred=y_pred, sample_weight=sample_weight)
    stored = str(probabilities.dtype)
    if float32 and floor is None:
        probabilities = narrowed(probabilities)
    is_stored_wide = str(probabilities.dtype) != stored
    if (
        _may_be_zero_and_one(labels)
        and pos_label is None
        and y_pred is None
        and floor is None
        and (found := _in_one_pass(y_true, probabilities, is_stored_wide))
    ):
        return _made(**found, sample_weight=sample_weight)
    truth, table = as_labels("y_true", y_true), as_numbers("probabilities", probabilities)
    table = replace(table, is_stored_wide=is_stored_wide)
    values = table.values
    count = count_classes("probabilities", values, truth)
    if values.ndim == 2:
        check_sums(table)
    names, truth = with_labels(truth, labels, count, is_second=values.ndim == 1, pos_label=pos_label)
    chosen = chosen_classes(
        y_pred, names, (values > 0.5).long() if values.ndim == 1 else values.argmax(dim=1), len(truth)
    )
    if (clip := checked_floor(floor)) is not None:
        claim = clipped(chosen_confidence(values, chosen), clip)
    else:
        claim = of_second(table, chosen) if values.ndim == 1 else of_columns(table, chosen)
    return _made(
        truth == chosen,
        claim,
        sample_weight,
        _truth=truth,
        _predicted=chosen,
        probabilities=values,
        _labels=names,
    )


def _may_be_zero_and_one(labels: Any) -> bool:
    """Whether nothing speaks against labels 0 and 1, which are not false and true."""
    return labels is None or (isinstance(labels, list | tuple) and list(map(repr, labels)) == ["0", "1"])


def _in_one_pass(y_true: Tensor, p: Tensor, is_stored_wide: bool) -> dict[str, Any] | None:
    """What a compiled pass over P(second label) makes; None where it does not apply, or found something to refuse."""
    if p.ndim != 1 or y_true.ndim != 1 or len(p) != len(y_true) or not len(p) or not has_kernels(p.device):
        return None
    kind = str(p.dtype).removeprefix("torch.")
    if kind not in ("float64", "float32", "float16", "bfloat16") or str(y_true.dtype) != "torch.int64":
        return None
    from surefoot.predictions.triton import claimed

    column = Numbers(p.detach(), kind, is_stored_wide)
    found = claimed(column.values, y_true, near_one(column), _PROGRAMS * multiprocessors(p.device))
    if found.bad:
        return None
    warn_if_near_one("probabilities", column, found.ones, lambda bound: found.near)
    return {
        "correct": found.correct,
        "claim": {
            "doubt_of_one": doubt_of_one(column),
            "_rounded": column.values == 1 if column.is_narrow and found.ones else None,
        },
        "_truth": y_true,
        "_predicted": found.predicted,
        "probabilities": column.values,
        "_labels": (0, 1),
        "follows_second": True,
    }


def from_logits(
    y_true: Any,
    logits: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    floor: Any = None,
) -> TensorPredictions:
    """As :meth:`Predictions.from_logits`."""
    import torch

    refuse_missing(y_true=y_true, logits=logits)
    check_together(y_true=y_true, logits=logits, y_pred=y_pred, sample_weight=sample_weight)
    truth, table = as_labels("y_true", y_true), as_numbers("logits", logits, fractions=False)
    values = table.values
    count = count_classes("logits", values, truth)
    second_only = values.ndim == 1
    names, truth = with_labels(truth, labels, count, is_second=second_only, pos_label=pos_label)
    wide = torch.stack([torch.zeros_like(values), values], dim=1) if second_only else values
    chosen = chosen_classes(y_pred, names, wide.argmax(dim=1), len(truth))
    odds = torch.empty(wide.shape, dtype=torch.float64, device=wide.device)
    for rows in blocks(wide):
        block = wide[rows].double()
        odds[rows] = log_odds_of_block(block, torch.arange(len(block), device=block.device), torch)
    own = odds.gather(1, chosen[:, None])[:, 0]
    claim: dict[str, Any] = {"_confidence": expit(own, torch), "_doubt": expit(-own, torch).clamp_(min=SMALLEST)}
    if (clip := checked_floor(floor)) is not None:
        claim = clipped(claim["_confidence"], clip)
    return _made(
        truth == chosen,
        claim,
        sample_weight,
        _truth=truth,
        _predicted=chosen,
        probabilities=expit(odds[:, 1] if second_only else odds, torch),
        _labels=names,
        _log_odds=odds,
    )


def _made(correct: Tensor, claim: dict[str, Any], sample_weight: Any, **rest: Any) -> TensorPredictions:
    weight = None
    if sample_weight is not None:
        weight = as_numbers("sample_weight", sample_weight, fractions=False, dimensions=1).values.double()
        check_lengths(sample_weight=weight, rows=len(correct))
        check_weight(weight, first_row)
    return TensorPredictions(correct=correct, **claim, _weight=weight, **rest)
