"""Predictions that stay where they are: columns of a lazy dataframe, described and checked, never collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import refuse_positive
from surefoot.predictions.columns import NARROW_TYPES, Numbers, is_type_used, to_digits
from surefoot.predictions.dataframe import FrameColumns, collected
from surefoot.predictions.doubt import ROUNDED_HALF_STEPS, SMALLEST, warn_of_rounding
from surefoot.predictions.labels import (
    Label,
    given_labels_of,
    labels_in_names_of,
    labels_of_count,
    labels_of_second,
)

#: More classes than this are identifiers.
_MOST_CLASSES = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class FramePredictions:
    """What :class:`Predictions` are, as columns of a lazy frame.

    ``correct``, ``confidence``, ``doubt``, ``weight`` and, where given, ``truth``, ``predicted`` and a column for each
    class, all with the prefix ``sf_``.
    """

    frame: Any
    labels: tuple[Label, ...] | None
    #: Names of columns, or None.
    truth: str | None
    predicted: str | None
    probabilities: tuple[str, ...] | None
    rounded: int = 0
    is_weighted: bool = False

    def __repr__(self) -> str:
        classes = "" if self.labels is None else f", {len(self.labels)} classes"
        return f"FramePredictions(a lazy frame{classes})"


@dataclass(frozen=True)
class _Check:
    """Something that must hold on no row: what to say, the value to show, and the filter that finds the rows."""

    column: str
    fails: Any
    value: Any
    said: str
    filter: str


def describe(
    columns: FrameColumns, labels: Any, pos_label: Any, floor: float | None, *, float32: bool
) -> FramePredictions:
    """Check the columns of a lazy frame in one aggregation, and say what they are."""
    return _Description(columns, labels, pos_label, floor, float32).predictions()


class _Description:
    def __init__(self, columns: FrameColumns, labels: Any, pos_label: Any, floor: float | None, float32: bool) -> None:
        import narwhals as nw

        self.nw = nw
        self.columns = columns
        self.schema = columns.frame.collect_schema()
        self.labels, self.pos_label = labels, pos_label
        self.floor = floor
        self.float32 = float32
        #: The column of confidences that come alone, whose 1 may be a rounded number, and the type it is of.
        self.bare_column: str | None = None
        self.bare_type = "float64"
        self.checks: list[_Check] = []

    def predictions(self) -> FramePredictions:
        nw, columns = self.nw, self.columns
        weight = columns.name("weight")
        named = {"sf_weight": nw.lit(1.0) if weight is None else self.number("weight", weight, fraction=False)}
        if columns.has("probabilities"):
            columns.refuse("probabilities", "confidence", "doubt", "correct")
            return self.from_probabilities(named)
        if self.labels is not None or self.pos_label is not None:
            raise InvalidPredictions("labels= says what the columns of probabilities stand for; name probabilities=.")
        truth = predicted = None
        if columns.has("correct"):
            columns.refuse("correct", "truth", "predicted")
            named["sf_correct"] = self.outcome(columns.need_name("correct"))
        else:
            truth, predicted = columns.need_name("truth"), columns.need_name("predicted")
            named["sf_truth"], named["sf_predicted"] = self.label(truth), self.label(predicted)
            self.same_kind(truth, predicted)
            named["sf_correct"] = self.flag(named["sf_truth"] == named["sf_predicted"])
        named |= self.claim()
        frame, rounded = self.verify(columns.frame.with_columns(**named))
        names = (truth and "sf_truth", predicted and "sf_predicted")
        return FramePredictions(frame, None, *names, None, rounded, weight is not None)

    # -- columns -----------------------------------------------------------------------------------------------------

    def flag(self, condition: Any) -> Any:
        """1 where it holds, 0 elsewhere: a number, since sums of booleans are refused by some engines."""
        return condition.cast(self.nw.Float64)

    def number(self, role: str, column: str, *, fraction: bool = True) -> Any:
        nw, dtype = self.nw, self.schema[column]
        if dtype.is_integer() and fraction:
            raise InvalidPredictions(
                f"column {column!r} holds integers, but should hold numbers from 0 to 1; if these are percentages "
                "divide by 100, if 0 and 1 are meant cast to float."
            )
        if not dtype.is_numeric():
            raise InvalidPredictions(f"column {column!r} is of type {dtype}; {role} should hold numbers.")
        return self.checked(column, nw.col(column), fraction=fraction)

    def checked(self, column: str, x: Any, *, fraction: bool = True) -> Any:
        """Numbers as float64, with the checks that they are numbers of the kind that is meant."""
        nw = self.nw
        self.no_nulls(column, x)
        wide = x.cast(nw.Float64)
        self.checks.append(_Check(column, wide.is_nan(), wide, "are nan; fill or drop them", f"{column} is nan"))
        if fraction:
            outside = (wide < 0) | (wide > 1)
            said = "lie outside [0, 1]; if these are percentages, divide by 100"
            self.checks.append(_Check(column, outside, wide, said, f"{column} < 0 or {column} > 1"))
        else:
            said = "are below 0, or so small or large that their squares leave float64; only ratios of weights matter"
            bad = (wide < 0) | (wide > 1e50) | ((wide > 0) & (wide < 1e-50))
            self.checks.append(_Check(column, bad, wide, said, f"{column} < 0 or not between 1e-50 and 1e50"))
        return wide

    def no_nulls(self, column: str, x: Any) -> None:
        self.checks.append(_Check(column, x.is_null(), None, "are null; fill or drop them", f"{column} is null"))

    def label(self, column: str) -> Any:
        nw, dtype = self.nw, self.schema[column]
        x = nw.col(column)
        self.no_nulls(column, x)
        if dtype in (nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
            return x.cast(nw.String)
        if dtype == nw.UInt64:
            huge = x.cast(nw.Float64) >= 2.0**63
            self.checks.append(
                _Check(column, huge, None, "are too large for labels; use strings", f"{column} >= 2**63")
            )
        if dtype.is_float():
            wide = x.cast(nw.Float64)
            said = "are no labels; labels are booleans, integers or strings"
            bad = (wide != wide.floor()) | wide.is_nan() | (wide.abs() > 2.0**53)
            self.checks.append(_Check(column, bad, wide, said, f"{column} is not whole"))
            # what fails the check must not fail the cast before it
            return wide.fill_null(0.0).fill_nan(0.0).clip(-(2.0**53), 2.0**53).cast(nw.Int64)
        if dtype.is_integer() or dtype in (nw.Boolean, nw.String):
            return x
        raise InvalidPredictions(f"column {column!r} is of type {dtype}; labels are booleans, integers or strings.")

    def kind(self, column: str) -> str:
        dtype = self.schema[column]
        return "booleans" if dtype == self.nw.Boolean else "integers" if dtype.is_numeric() else "strings"

    def same_kind(self, one: str, other: str) -> None:
        if self.kind(one) != self.kind(other):
            raise InvalidPredictions(
                f"column {one!r} holds {self.kind(one)}, but column {other!r} holds {self.kind(other)}; convert one."
            )

    def outcome(self, column: str) -> Any:
        nw, dtype = self.nw, self.schema[column]
        x = nw.col(column)
        self.no_nulls(column, x)
        if dtype == nw.Boolean:
            return self.flag(x)
        if not dtype.is_numeric():
            raise InvalidPredictions(f"column {column!r} is of type {dtype}; it should hold true or false, 1 or 0.")
        wide = x.cast(nw.Float64)
        said = "are neither true nor false, 1 nor 0"
        self.checks.append(_Check(column, (wide != 0) & (wide != 1), wide, said, f"{column} not in (0, 1)"))
        return self.flag(wide == 1)

    # -- confidence and doubt ----------------------------------------------------------------------------------------

    def claim(self) -> dict[str, Any]:
        nw, columns = self.nw, self.columns
        stated, doubted = columns.name("confidence"), columns.name("doubt")
        if stated is None and doubted is None:
            raise InvalidPredictions("confidence= is missing: name the column, or doubt= (1 - confidence).")
        c: Any = None if stated is None else self.number("confidence", stated)
        d: Any = None if doubted is None else self.number("doubt", doubted)
        if c is not None and d is not None and stated is not None and doubted is not None:
            narrow = nw.Float32 in (self.schema[stated], self.schema[doubted])
            apart = (c + d - 1).abs() > (1e-6 if narrow else 1e-12)
            said = f"do not add up to 1 with column {stated!r}"
            self.checks.append(_Check(doubted, apart, d, said, f"abs({stated} + {doubted} - 1) > 1e-6"))
        if self.floor is not None:
            return self.clipped(c if c is not None else 1 - d)
        if d is not None:
            return {"sf_confidence": 1 - d if c is None else c, "sf_doubt": self.raised(d), "sf_rounded": d * 0.0}
        assert stated is not None
        self.bare_column = "sf_confidence"
        self.bare_type = "float32" if self.schema[stated] == nw.Float32 else "float64"
        return {"sf_confidence": c, "sf_doubt": 1 - c, "sf_rounded": self.flag(c == 1)}

    def raised(self, doubt: Any) -> Any:
        """No doubt above 0 is below the smallest normal number, so that 1/doubt is finite."""
        return doubt + self.flag((doubt > 0) & (doubt < SMALLEST)) * (SMALLEST - doubt)

    def clipped(self, confidence: Any) -> dict[str, Any]:
        assert self.floor is not None
        c = confidence.clip(self.floor, 1 - self.floor)
        return {"sf_confidence": c, "sf_doubt": 1 - c, "sf_rounded": c * 0.0}

    # -- probabilities -----------------------------------------------------------------------------------------------

    def from_probabilities(self, named: dict[str, Any]) -> FramePredictions:
        """Truth and predicted become positions in ``labels``: known here for all shards, so no shard has its own."""
        nw, columns = self.nw, self.columns
        truth, given = columns.need_name("truth"), columns.name("predicted")
        scores, names, narrow = self.scores()
        labels = self.class_labels(truth, len(scores), names)
        named["sf_truth"] = self.code(truth, labels)
        if given is not None:
            self.same_kind(truth, given)
            named["sf_predicted"] = self.code(given, labels)
        classes = ("sf_p1",) if len(scores) == 1 else tuple(f"sf_p{k}" for k in range(len(scores)))
        frame = columns.frame.with_columns(**named, **dict(zip(classes, scores, strict=True)))
        frame = self.with_second(frame, given, narrow) if len(scores) == 1 else self.with_all(frame, classes, given)
        frame = frame.with_columns(sf_correct=self.flag(nw.col("sf_truth") == nw.col("sf_predicted")))
        frame, rounded = self.verify(frame)
        is_weighted = columns.name("weight") is not None
        return FramePredictions(frame, labels, "sf_truth", "sf_predicted", classes, rounded, is_weighted)

    def code(self, column: str, labels: tuple[Label, ...]) -> Any:
        """The position of a label among all."""
        values = self.label(column)
        said = f"are none of the {len(labels)} labels; say what the columns stand for with labels="
        self.checks.append(_Check(column, ~values.is_in(list(labels)), None, said, f"{column} not in labels"))
        return self.nw.sum_horizontal(*((values == label).cast(self.nw.Int64) * k for k, label in enumerate(labels)))

    def scores(self) -> tuple[list[Any], list[str] | None, bool]:
        """The probability of each class as float64, what the columns are named, and whether they are float32."""
        nw, columns = self.nw, self.columns
        names = columns.probability_names()
        if len(names) > 1:
            numbers = [self.number("probabilities", name) for name in names]
            return numbers, columns.class_names(names), all(self.schema[name] == nw.Float32 for name in names)
        (name,) = names
        dtype = self.schema[name]
        if not isinstance(dtype, nw.List | nw.Array):
            return [self.number("probabilities", name)], None, dtype == nw.Float32
        self.no_nulls(name, nw.col(name))
        # items of a fixed-size list can be had only from a list of any size
        items = nw.col(name).cast(nw.List(dtype.inner)) if isinstance(dtype, nw.Array) else nw.col(name)
        width = dtype.size if isinstance(dtype, nw.Array) else self.list_width(name)
        if not dtype.inner.is_float():
            raise InvalidPredictions(
                f"column {name!r} holds lists of {dtype.inner}; they should hold numbers from 0 to 1."
            )
        numbers = [self.checked(name, items.list.get(k)) for k in range(width)]
        return numbers, None, dtype.inner == nw.Float32

    def list_width(self, name: str) -> int:
        nw = self.nw
        lengths = self.columns.frame.select(n=nw.col(name).list.len().cast(nw.Int64))
        found = collected(lengths.select(least=nw.col("n").min(), most=nw.col("n").max()))
        least, most = found["least"].to_list()[0], found["most"].to_list()[0]
        if least is None or least != most or least < 2:
            raise InvalidPredictions(
                f"the lists of column {name!r} have {least} to {most} values; one a class is meant."
            )
        return int(least)

    def class_labels(self, truth: str, count: int, names: list[str] | None) -> tuple[Label, ...]:
        kind, is_second = self.kind(truth), count == 1
        refuse_positive(is_second, self.pos_label)
        given = None if self.labels is None else given_labels_of(self.labels, kind, max(2, count))
        if given is not None:
            return labels_of_second((), kind, self.pos_label, given) if is_second else given
        values = self.label(truth)
        self.verify_now(self.columns.frame)
        unique = collected(self.columns.frame.select(t=values).unique())
        found = tuple(sorted(value for value in unique["t"].to_list() if value is not None))
        if not found:
            raise InvalidPredictions(f"column {truth!r} holds no rows; there is nothing to assess.")
        if len(found) > _MOST_CLASSES:
            raise InvalidPredictions(f"column {truth!r} holds {len(found):,} distinct values: are they identifiers?")
        found = tuple(v if isinstance(v, bool | str) else int(v) for v in found)
        if is_second:
            return labels_of_second(found, kind, self.pos_label)
        from_names = None if names is None else labels_in_names_of(found, kind, names)
        return from_names or labels_of_count(found, kind, count)

    def with_second(self, frame: Any, given: str | None, narrow: bool) -> Any:
        nw = self.nw
        p = nw.col("sf_p1")
        if given is None:
            frame = frame.with_columns(sf_predicted=(p > 0.5).cast(nw.Int64))
        second = nw.col("sf_predicted").cast(nw.Float64)
        confidence = second * p + (1 - second) * (1 - p)
        if self.floor is not None:
            return frame.with_columns(**self.clipped(confidence))
        self.bare_column, self.bare_type = "sf_p1", "float32" if narrow else "float64"
        doubt = second * (1 - p) + (1 - second) * p
        rounded = second * self.flag(p == 1)
        return frame.with_columns(sf_confidence=confidence, sf_doubt=self.raised(doubt), sf_rounded=rounded)

    def with_all(self, frame: Any, classes: tuple[str, ...], given: str | None) -> Any:
        nw, count = self.nw, len(classes)
        columns = [nw.col(name) for name in classes]
        said = "do not add up to 1; if these are logits, turn them into probabilities first"
        off = (nw.col("sf_total") - 1).abs() > 1e-3
        self.checks.append(_Check("probabilities", off, nw.col("sf_total"), said, "abs(sum - 1) > 0.001"))
        frame = frame.with_columns(sf_total=nw.sum_horizontal(*columns), sf_largest=nw.max_horizontal(*columns))
        if given is None:
            # the first of equals: those that are not the largest are moved behind all others
            places = [(p != nw.col("sf_largest")).cast(nw.Int64) * count + k for k, p in enumerate(columns)]
            frame = frame.with_columns(sf_predicted=nw.min_horizontal(*places))
        own = [self.flag(nw.col("sf_predicted") == k) for k in range(count)]
        confidence = nw.sum_horizontal(*(p * mine for p, mine in zip(columns, own, strict=True)))
        if self.floor is not None:
            return frame.with_columns(**self.clipped(confidence))
        others = nw.sum_horizontal(*(p * (1 - mine) for p, mine in zip(columns, own, strict=True)))
        doubt = self.raised(others.clip(0.0, 1.0))
        return frame.with_columns(sf_confidence=confidence, sf_doubt=doubt, sf_rounded=confidence * 0.0)

    # -- checks ------------------------------------------------------------------------------------------------------

    def verify(self, frame: Any) -> tuple[Any, int]:
        """Run every check in one aggregation; raise for the first that fails.

        Returns the frame, in which a 1 that comes alone and was rounded has a doubt, and how many rows are such.
        """
        nw = self.nw
        counts = self.flag(nw.col("sf_weight") > 0)
        sums = {"sf_w": nw.col("sf_weight"), "sf_r": nw.col("sf_rounded") * counts}
        if self.bare_column is not None and self.float32:
            x = nw.col(self.bare_column)
            inner = (x > 0) & (x < 1)
            sums["sf_inner"] = self.flag(inner)
            for kind, (digits, _) in NARROW_TYPES.items():
                sums[f"sf_off_{kind}"] = self.flag(to_digits(x, digits) != x)
                sums[f"sf_last_{kind}"] = self.flag(inner & (to_digits(x, digits - 1) != x))
        row = self.verify_now(frame, **sums)
        if not row["sf_w"]:
            raise InvalidPredictions(f"column {self.columns.name('weight')!r}: all weights are 0; no row would count.")
        found = self.type_of(row)
        if found == "float64" or not row["sf_r"]:
            return frame.with_columns(sf_rounded=nw.col("sf_rounded") * 0.0), 0
        column = Numbers((), found, is_stored_wide=found != self.bare_type)
        name = str(self.columns.name("confidence") or self.columns.probability_names()[0])
        warn_of_rounding(f"column {name!r}", column, int(row["sf_n"]), int(row["sf_r"]), 0)
        doubt = nw.col("sf_doubt") + nw.col("sf_rounded") * (ROUNDED_HALF_STEPS * column.half_step)
        return frame.with_columns(sf_doubt=doubt), int(row["sf_r"])

    def type_of(self, row: dict[str, Any]) -> str:
        """The type of a confidence that comes alone: a float64 column whose numbers are all of a narrower one is that.

        As :func:`surefoot.predictions.columns.narrowed`.
        """
        if "sf_inner" in row:
            for kind in NARROW_TYPES:
                if kind == self.bare_type:
                    break
                if not row[f"sf_off_{kind}"] and is_type_used(kind, row["sf_inner"], row[f"sf_last_{kind}"]):
                    return kind
        return self.bare_type

    def verify_now(self, frame: Any, **sums: Any) -> dict[str, Any]:
        """Run the checks there are, and add up what else is asked for."""
        nw = self.nw
        asked = dict(sums)
        for i, check in enumerate(self.checks):
            asked[f"sf_bad{i}"] = self.flag(check.fails)
            if check.value is not None:
                asked[f"sf_value{i}"] = nw.when(check.fails).then(check.value)
        values = [nw.col(name).max() for name in asked if name.startswith("sf_value")]
        added = [nw.col(name).sum() for name in asked if not name.startswith("sf_value")]
        found = collected(frame.select(**asked).select(nw.len().alias("sf_n"), *added, *values))
        row = {name: found[name].to_list()[0] for name in found.columns}
        if not row["sf_n"]:
            raise InvalidPredictions("frame holds no rows; there is nothing to assess.")
        for i, check in enumerate(self.checks):
            if row[f"sf_bad{i}"]:
                such = "" if row.get(f"sf_value{i}") is None else f" (such as {row[f'sf_value{i}']!r})"
                raise InvalidPredictions(
                    f"column {check.column!r}: {int(row[f'sf_bad{i}']):,} values{such} {check.said}. "
                    f"To find them: {check.filter}."
                )
        return row
