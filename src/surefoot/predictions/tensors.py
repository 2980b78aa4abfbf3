"""Predictions that stay on an accelerator: tensors, checked where they are.

The border is that of arrays; labels are booleans or integers, which is what tensors hold.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from surefoot.core.tally import Label
from surefoot.errors import InvalidPredictions
from surefoot.predictions.arrays import ArrayPredictions
from surefoot.predictions.border import Border
from surefoot.predictions.checks import FRACTION, OUTCOME, WHOLE, refuse_infinite
from surefoot.predictions.columns import check_tensor, refuse_shape
from surefoot.predictions.doubt import Claim, Numbers, narrow, split_second, warn_of_rounding
from surefoot.predictions.labels import Kind, refuse_fraction
from surefoot.predictions.log_odds import LogOdds
from surefoot.predictions.memory import InMemory

Tensor = Any

#: Programs for each multiprocessor.
_PROGRAMS = 8


def has_kernels(device: Any) -> bool:
    """Whether Triton is at hand for a device."""
    return device.type == "cuda" and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


@cache
def multiprocessors(device: Any) -> int:
    """How many a GPU has."""
    import torch

    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@dataclass(frozen=True, eq=False, repr=False)
class TensorPredictions(InMemory):
    """What :class:`Predictions` are, as tensors on one device."""

    engine = "torch"

    #: The doubt of a bare confidence of 1: 0, a claim of certainty, unless its type is so narrow that it was rounded.
    doubt_of_one: float = 0.0
    #: Whether the labels are held as positions in ``labels``.
    is_coded: bool = False
    #: Whether rows are predicted by what P(second label) says: confidence and doubt are made of it when asked for.
    follows_second: bool = False
    #: A number that no confidence is below.
    least: float = 0.0
    #: How many rows each row stands for; None if one. Only sums read it.
    times: Tensor = None

    @property
    def xp(self) -> Any:
        return sys.modules["torch"]

    @property
    def stores_doubt(self) -> bool:
        return self.follows_second or self._doubt is not None

    @cached_property
    def _of_second(self) -> tuple[Tensor, Tensor]:
        return split_second(self.probabilities, self._predicted.bool(), self._rounded, self.doubt_of_one, self.xp)

    @property
    def confidence(self) -> Tensor:
        return self._of_second[0] if self.follows_second else self._confidence

    @property
    def _stored_doubt(self) -> Tensor | None:
        return self._of_second[1] if self.follows_second else self._doubt

    @property
    def truth(self) -> Tensor | None:
        """The true labels."""
        return self._name(self._truth)

    @property
    def predicted(self) -> Tensor | None:
        """The predicted labels."""
        return self._name(self._predicted)

    def _name(self, values: Tensor | None) -> Tensor | None:
        if values is None or not self.is_coded:
            return values
        return self.xp.tensor(self._labels, device=values.device)[values.long()]

    def _as_labels(self, argument: str, given: Any) -> Tensor:
        BORDER.check_together(**{argument: given, "correct": self.correct})
        return BORDER.labels(argument, given)

    def _distinct(self, *columns: Tensor) -> tuple[Label, ...]:
        return tuple(sorted({label for column in columns for label in column.unique().tolist()}))

    @property
    def _is_certain(self) -> Tensor:
        return self.doubt_of(slice(None)) == 0

    def columns(self) -> list[Tensor]:
        """Correct, confidence, doubt and weight, as far as they are stored, each in one piece."""
        given = [self.correct, self.confidence, self._stored_doubt, self._weight]
        return [None if column is None else column.contiguous() for column in given]

    def doubt_of(self, rows: Any) -> Tensor:
        if self._stored_doubt is not None:
            return self._stored_doubt[rows].double()
        doubt = 1 - self.confidence_of(rows)
        return doubt.masked_fill_(doubt == 0, self.doubt_of_one) if self.doubt_of_one else doubt

    def codes(self, column: str, rows: Any = slice(None)) -> Tensor:
        values = getattr(self, f"_{column}")[rows].long()
        assert self.labels is not None
        if self.is_coded or self.labels == tuple(range(len(self.labels))):
            return values
        return self.xp.searchsorted(self.xp.tensor(self.labels, device=values.device).long(), values)

    def is_label(self, column: str, label: int) -> Tensor:
        return self.codes(column) == label

    def _replace_rows(self, **columns: Any) -> TensorPredictions:
        for name in ("_truth", "_predicted"):
            # positions in the labels, of which the second is the event unless it is the first
            happened = columns[name]
            columns[name] = (happened if columns["_labels"][1] else ~happened).long()
        return replace(self, **columns, doubt_of_one=0.0, is_coded=True, follows_second=False, least=0.0)

    def ranking_scores(self, label: int) -> Tensor:
        """Numbers that rise with a class's probability, free of ties made by rounding.

        They rise strictly, but for those that are clipped.
        """
        if self._log_odds is not None:
            return self._clip_odds(self._log_odds.of_class(label))
        if self.has_second:
            p = self._clip_scores(self.probabilities)
            return p if label == 1 else -p
        return self._clip_scores(self.probabilities[:, label].contiguous())

    def ranking_table(self, labels: range) -> Tensor:
        """The same of several classes, a row for each."""
        if isinstance(self._log_odds, LogOdds):
            return self._clip_odds(self._log_odds.table(labels)).T.contiguous()
        return self._clip_scores(self.probabilities[:, labels.start : labels.stop].T.contiguous())

    def rows(self, what: str = "this") -> ArrayPredictions:
        def array(values: Tensor | None) -> Any:
            if values is None:
                return None
            return (values.float() if str(values.dtype) == "torch.bfloat16" else values).cpu().numpy()

        def named(column: str) -> Any:
            return None if self._truth is None else np.array(self.labels)[array(self.codes(column))]

        return ArrayPredictions(
            array(self.correct),
            array(self.confidence),
            named("truth"),
            named("predicted"),
            array(self._probabilities),
            # the doubt of rounded rows is not 1 - confidence
            array(self.doubt) if self.doubt_of_one or self.stores_doubt else None,
            array(self._weight),
            self.labels,
            None if self._log_odds is None else self._log_odds.each(array, np),
            array(self._rounded),
            self._floor,
            chosen_view=self.chosen_view,
            event_label=self.event_label,
            attempted=array(self.attempted),
        )


class TensorBorder(Border):
    """Tensors on one device that is not the host. Their owner has loaded torch already."""

    @property
    def xp(self) -> Any:
        return sys.modules["torch"]

    def takes(self, columns: Sequence[Any]) -> bool:
        torch = sys.modules.get("torch")
        return torch is not None and any(isinstance(c, torch.Tensor) and c.device.type != "cpu" for c in columns)

    def labels(self, argument: str, given: Any) -> Tensor:
        values = self._column(argument, given)
        if values.dtype.is_complex:
            raise InvalidPredictions(
                f"is of type {values.dtype}", argument=argument, hint="labels are booleans or integers"
            )
        if values.dtype.is_floating_point:
            wide = values.double()
            if bool(wide.isnan().any()):
                raise refuse_infinite(argument, self.first(wide.isnan()), math.nan)
            fails = WHOLE.fails(wide)
            if bool(fails.any()):
                (row,) = self.first(fails)
                raise refuse_fraction(argument, row, float(wide[row]))
            return wide.long()
        if self.kind(values) == "booleans":
            return values
        whole = values.long()
        if str(values.dtype) == "torch.uint64" and bool((whole < 0).any()):
            (row,) = self.first(whole < 0)
            raise InvalidPredictions("too large for a label", argument=argument, row=row, value=values[row].item())
        return whole

    def numbers(self, argument: str, given: Any, *, dimensions: int = 1, fractions: bool = True) -> Numbers:
        values = self._column(argument, given) if dimensions == 1 else self._tensor(argument, given)
        kind = str(values.dtype).removeprefix("torch.")
        if argument == "logits" and kind == "bool":
            raise InvalidPredictions(
                "must hold numbers, not true and false", argument=argument, hint="convert them with .float()"
            )
        if not values.dtype.is_floating_point and not fractions and not values.dtype.is_complex:
            values, kind = values.double(), "float64"
        if kind not in ("float64", "float32", "float16", "bfloat16"):
            what = "integers" if not values.dtype.is_floating_point else kind
            raise InvalidPredictions(
                f"holds {what}, but should hold numbers from 0 to 1 in float64, float32, float16 or bfloat16",
                argument=argument,
                hint="convert it with .float()",
            )
        if not values.numel():
            return Numbers(values, kind)
        # one look at the smallest and the largest tells of nan and infinities too
        least, most = self.xp.stack(values.aminmax()).tolist()
        if not math.isfinite(least) or not math.isfinite(most):
            where = self.first(~self.xp.isfinite(values))
            raise refuse_infinite(argument, where, float(values[where]))
        if fractions and (least < 0 or most > 1):
            self.verify(FRACTION, argument, values)
        return Numbers(values, kind, most=most, least=least)

    def outcome(self, correct: Any, argument: str = "correct") -> Tensor:
        values = self._column(argument, correct)
        if values.dtype.is_complex:
            raise InvalidPredictions(f"is of type {values.dtype}", argument=argument, hint=OUTCOME.hint)
        if str(values.dtype) != "torch.bool":
            self.verify(OUTCOME, argument, values)
        return values.bool()

    def kind(self, labels: Tensor) -> Kind:
        return "booleans" if str(labels.dtype) == "torch.bool" else "integers"

    def distinct(self, labels: Tensor) -> tuple[Label, ...]:
        return tuple(labels.unique().tolist())

    def encode(self, labels: Tensor, names: tuple[Label, ...]) -> tuple[Tensor, Tensor]:
        if names == tuple(range(len(names))) and self.kind(labels) == "integers":
            return labels, (labels < 0) | (labels >= len(names))
        given, order = self.xp.tensor(names, device=labels.device).long().sort()
        place = self.xp.searchsorted(given, labels.long()).clamp_(max=len(names) - 1)
        return order[place], given[place] != labels.long()

    def first(self, fails: Tensor) -> tuple[int, ...]:
        where = int(fails.reshape(-1).int().argmax())
        return tuple(int(i) for i in np.unravel_index(where, tuple(fails.shape)))

    def count_up(self, size: int, like: Tensor) -> Tensor:
        return self.xp.arange(size, device=like.device)

    def cast(self, values: Tensor, float_type: str) -> Tensor:
        return values.detach().to(getattr(self.xp, float_type))

    def build(self, correct: Tensor, claim: Claim, weight: Tensor | None, **rest: Any) -> TensorPredictions:
        return TensorPredictions(
            correct,
            claim.confidence,
            rest.get("codes", rest.get("truth")),
            rest.get("predicted"),
            rest.get("probabilities"),
            claim.doubt,
            weight,
            rest.get("labels"),
            rest.get("log_odds"),
            claim.rounded,
            rest.get("floor"),
            doubt_of_one=claim.doubt_of_one,
            is_coded=rest.get("labels") is not None,
            follows_second=rest.get("follows_second", False),
            least=claim.least,
        )

    # -- what tensors have besides -------------------------------------------------------------------------------------

    def from_labels(self, y_true: Any, y_pred: Any, confidence: Any = None, **options: Any) -> Any:
        self.check_together(y_true=y_true, y_pred=y_pred, confidence=confidence, **options)
        return super().from_labels(y_true, y_pred, confidence, **options)

    def from_correct(self, correct: Any, confidence: Any = None, **options: Any) -> Any:
        self.check_together(correct=correct, confidence=confidence, **options)
        return super().from_correct(correct, confidence, **options)

    def from_scores(self, y_true: Any, scores: Any, **options: Any) -> Any:
        raise InvalidPredictions(
            "lies on an accelerator, where classes are ranked by probabilities only",
            argument="scores",
            hint="move it, and what is given beside it, to the CPU with .cpu()",
        )

    def from_logits(self, y_true: Any, logits: Any, **options: Any) -> Any:
        self.check_together(y_true=y_true, logits=logits, **options)
        return super().from_logits(y_true, logits, **options)

    def from_probabilities(self, y_true: Any, probabilities: Any, **options: Any) -> Any:
        self.check_together(y_true=y_true, probabilities=probabilities, **options)
        plain = all(options.get(name) is None for name in ("pos_label", "y_pred", "floor"))
        if plain and _may_be_zero_and_one(options.get("labels")) and y_true is not None and probabilities is not None:
            weight, float32 = options.get("sample_weight"), options.get("float32", True)
            made = self._in_one_pass(y_true, probabilities, weight, float32=float32)
            if made is not None:
                return made
        return super().from_probabilities(y_true, probabilities, **options)

    def _in_one_pass(self, y_true: Tensor, p: Tensor, sample_weight: Any, *, float32: bool) -> Any:
        """What a compiled pass over P(second label) makes; None where it does not apply, or finds something wrong."""
        if p.ndim != 1 or y_true.ndim != 1 or len(p) != len(y_true) or not len(p) or not has_kernels(p.device):
            return None
        kind = str(p.dtype).removeprefix("torch.")
        if kind not in ("float64", "float32", "float16", "bfloat16") or str(y_true.dtype) != "torch.int64":
            return None
        from surefoot.predictions.triton import read_second

        column = Numbers(p.detach(), kind)
        column = narrow(column, self.cast) if float32 else column
        found = read_second(column.values, y_true, column.near_one, _PROGRAMS * multiprocessors(p.device))
        if found.bad:
            return None
        warn_of_rounding(
            "probabilities", column, len(p), found.ones if column.is_narrow else 0, found.near - found.ones
        )
        rounded = column.values == 1 if column.is_narrow and found.ones else None
        return self.build(
            found.correct,
            Claim(None, None, rounded, column.doubt_of_one, least=0.5),
            self.weight(sample_weight, len(p)),
            codes=y_true,
            predicted=found.predicted,
            probabilities=column.values,
            labels=(0, 1),
            follows_second=True,
        )

    def check_together(self, **columns: Any) -> None:
        """Raise unless all columns are tensors on one device."""
        torch = self.xp
        named = (
            "y_true",
            "y_pred",
            "correct",
            "confidence",
            "doubt",
            "probabilities",
            "logits",
            "sample_weight",
            "attempted",
            "by",
            "groups",
        )
        given = {name: columns[name] for name in named if columns.get(name) is not None}
        away = [
            (name, column.device)
            for name, column in given.items()
            if isinstance(column, torch.Tensor) and column.device.type != "cpu"
        ]
        name, device = away[0] if away else ("another column", torch.device("cpu"))
        for other, column in given.items():
            if not isinstance(column, torch.Tensor):
                raise InvalidPredictions(
                    f"is a {type(column).__name__}, but {name} is a tensor",
                    argument=other,
                    hint=f"make it one on the same device, with torch.tensor(..., device={str(device)!r})",
                )
            if column.device != device:
                raise InvalidPredictions(
                    f"is a tensor on {column.device}, but {name} is on {device}",
                    argument=other,
                    hint="move them to one device with .to()",
                )
        if device.type == "mps":
            raise InvalidPredictions(
                f"is a tensor on {device}, which has no float64", argument=name, hint="move it to the CPU with .cpu()"
            )

    def _tensor(self, argument: str, given: Any) -> Tensor:
        if given is None:
            raise InvalidPredictions("is missing", argument=argument)
        if isinstance(given, self.xp.Tensor):
            check_tensor(argument, given)
        return given.detach()

    def _column(self, argument: str, given: Any) -> Tensor:
        values = self._tensor(argument, given)
        if values.ndim != 1:
            raise refuse_shape(argument, tuple(values.shape))
        return values


def _may_be_zero_and_one(labels: Any) -> bool:
    """Whether nothing speaks against labels 0 and 1, which are not false and true."""
    return labels is None or (isinstance(labels, list | tuple) and list(map(repr, labels)) == ["0", "1"])


BORDER = TensorBorder()
