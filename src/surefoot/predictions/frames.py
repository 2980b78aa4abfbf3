"""Predictions that stay where they are: columns of a lazy dataframe, never collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, NoReturn

from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.core.view import View
from surefoot.errors import InvalidPredictions, NeedsRows
from surefoot.predictions.base import Predictions
from surefoot.predictions.dataframe import collect
from surefoot.predictions.doubt import SAFE_SIDE
from surefoot.predictions.events import HAPPENED, position_of


@dataclass(frozen=True, eq=False, repr=False)
class FramePredictions(Predictions):
    """What :class:`Predictions` are, as columns of a lazy frame: their names begin with ``sf_``."""

    has_rows = False

    frame: Any
    labels: tuple[Label, ...] | None = None
    truth: str | None = None
    predicted: str | None = None
    #: The column of P(second label), or a column for each class.
    probabilities: tuple[str, ...] | None = None
    rounded: int = 0
    is_weighted: bool = False
    #: What probabilities are clipped to, and one less it.
    floor: float | None = None
    chosen_view: View | None = None
    event_label: Label | None = None
    #: What the places in the column ``sf_slice`` stand for, if it holds places among labels.
    slice_labels: tuple[Label, ...] | None = None
    not_attempted: int = 0
    #: The rows that were not attempted, which are not in ``frame``.
    skipped: Any = None
    correct: str = field(default="sf_correct", init=False)
    confidence: str = field(default="sf_confidence", init=False)
    doubt: str = field(default="sf_doubt", init=False)
    weight: str = field(default="sf_weight", init=False)

    def __repr__(self) -> str:
        classes = "" if self.labels is None else f", {len(self.labels)} classes"
        return f"Predictions(a lazy frame{classes})"

    def __len__(self) -> NoReturn:
        raise NeedsRows("the number of rows")

    def __bool__(self) -> bool:
        return True

    @property
    def engine(self) -> str:  # type: ignore[override]
        import narwhals as nw

        if self.frame.implementation == nw.Implementation.PYSPARK:
            return "spark"
        # earlier versions of Polars hand out no batches
        return "polars" if hasattr(self.frame.to_native(), "collect_batches") else "narwhals"

    @cached_property
    def has_equal_weights(self) -> bool:
        """Whether all rows that count weigh the same."""
        import narwhals as nw

        if not self.is_weighted:
            return True
        weight = nw.col(self.weight)
        found = collect(self.frame.filter(weight > 0).select(low=weight.min(), high=weight.max()))
        return bool(found["low"].to_list() == found["high"].to_list())

    def rows(self, what: str = "this") -> NoReturn:
        raise NeedsRows(what)

    @property
    def has_second(self) -> bool:
        """Whether one column of probabilities was given, those of the second label."""
        return self.probabilities is not None and len(self.probabilities) == 1

    def event(self, label: Label) -> FramePredictions:
        import narwhals as nw

        if self.labels is None:
            return self._with_labels().event(label)
        k = position_of(self, label)
        happened, is_predicted = ((nw.col(column) == k).cast(nw.Float64) for column in ("sf_truth", "sf_predicted"))
        confidence, doubt = self._chance_of(k, is_predicted)
        # of P(first label) the column as it is, which holds the probability that the event does not happen
        is_first = self.has_second and k == 0
        position = 1 - happened if is_first else happened
        columns = {
            "sf_correct": happened,
            "sf_confidence": confidence,
            "sf_doubt": doubt,
            "sf_truth": position.cast(nw.Int64),
            "sf_predicted": (happened * 0 + (0 if is_first else 1)).cast(nw.Int64),
        }
        if not self.has_second:
            columns["sf_p1"] = confidence
        return replace(
            self,
            frame=self.frame.with_columns(**columns),
            labels=HAPPENED[::-1] if is_first else HAPPENED,
            truth="sf_truth",
            predicted="sf_predicted",
            probabilities=("sf_p1",),
            # a number rounded to 0 is that of the other label rounded to 1
            rounded=self.rounded if len(self.labels) == 2 or not self.rounded else self._count_rounded(is_predicted),
            chosen_view="event",
            event_label=label,
        )

    def _chance_of(self, k: int, is_predicted: Any) -> tuple[Any, Any]:
        """The probability of a class in each row, and that of all others together."""
        import narwhals as nw

        own, rest = self.sides()
        if len(self.labels or ()) == 2:
            p, otherwise = rest, own
        elif self.probabilities is None:
            raise InvalidPredictions(
                f"there are {len(self.labels or ())} classes, and these predictions hold the probability of one in "
                "each row",
                hint="give the probabilities of all classes",
            )
        else:
            p = nw.col(self.probabilities[k])
            others = nw.sum_horizontal(*(nw.col(name) for i, name in enumerate(self.probabilities) if i != k))
            large = (p > 0.5).cast(nw.Float64)
            otherwise = large * others.clip(0.0, 1.0) + (1 - large) * (1 - p)
            if self.floor is not None:
                p = p.clip(self.floor, 1 - self.floor)
                otherwise = 1 - p
        return tuple(is_predicted * one + (1 - is_predicted) * other for one, other in ((own, p), (rest, otherwise)))

    def sides(self) -> tuple[Any, Any]:
        """Confidence and doubt of events: both sides count there, and a number rounded to 1 was on the safe one."""
        import narwhals as nw

        own, rest = nw.col("sf_confidence"), nw.col("sf_doubt")
        if self.rounded:
            rest = rest * (1 - nw.col("sf_rounded") * (1 - 1 / SAFE_SIDE))
            own = own - nw.col("sf_rounded") * rest
        return own, rest

    def _add_up_events(self, terms: Iterable[Term], *, by: Any) -> dict[Label, Tally] | None:
        module = import_module(f"surefoot.engines.{self.engine}")
        in_cells = all(term.key.operation == "cells" and not term.key.classes for term in terms)
        # rounded numbers of one of many classes are counted class by class
        is_counted = self.rounded and len(self.labels or ()) > 2
        if not in_cells or is_counted or self.labels is None or not hasattr(module, "tally_events"):
            return None
        found: dict[Label, Tally] = module.tally_events(self, terms, by=by)
        return found

    def _count_rounded(self, is_predicted: Any) -> int:
        import narwhals as nw

        counted = nw.col("sf_rounded") * is_predicted * (nw.col("sf_weight") > 0).cast(nw.Float64)
        return int(collect(self.frame.select(r=counted).select(nw.col("r").sum()))["r"].to_list()[0])

    def _with_labels(self) -> FramePredictions:
        """The same with the labels that occur, which are looked for; each is then held as its place among them."""
        if self.labels is not None or self.truth is None:
            return self
        import narwhals as nw

        found = collect(self.frame.select("sf_truth", "sf_predicted").unique())
        labels = tuple(sorted({label for name in found.columns for label in found[name].to_list()}))
        places = {
            column: nw.sum_horizontal(*((nw.col(column) == label).cast(nw.Int64) * k for k, label in enumerate(labels)))
            for column in ("sf_truth", "sf_predicted")
        }
        return replace(self, frame=self.frame.with_columns(**places), labels=labels)

    def _with_slices(self, by: Any) -> tuple[FramePredictions, Any]:
        if by not in ("predicted", "truth"):
            return self, by
        import narwhals as nw

        # the column is another one in the view of an event
        frame = self.frame.with_columns(sf_slice=nw.col(f"sf_{by}"))
        return replace(self, frame=frame, slice_labels=self.labels), "sf_slice"

    def slice(self, by: str, value: Label) -> FramePredictions:
        """The rows of one slice: of a column, or of the ``"predicted"`` or ``"truth"``."""
        import narwhals as nw

        column = getattr(self, by) if by in ("predicted", "truth") else by
        if by in ("predicted", "truth") and self.labels is not None:
            # labels of probabilities are held as their places among all
            value = self.labels.index(value)
        return replace(self, frame=self.frame.filter(nw.col(column) == value), not_attempted=0, skipped=None)

    def _skipped_by(self, by: Any) -> dict[Label, int]:
        if self.skipped is None or by is None or by in ("predicted", "truth"):
            return {}
        import narwhals as nw

        found = collect(self.skipped.select(by=nw.col(by)).group_by("by").agg(nw.len().alias("n")))
        pairs = zip(found["by"].to_list(), found["n"].to_list(), strict=True)
        # whole floats are slices by integers, and null is no slice
        values = ((int(value) if isinstance(value, float) else value, int(n)) for value, n in pairs if value == value)
        return {value: n for value, n in values if value is not None}
