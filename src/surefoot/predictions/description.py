"""Columns of a lazy dataframe, checked in one aggregation and described as predictions."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from surefoot.core.tally import Label
from surefoot.errors import InvalidPredictions
from surefoot.predictions.attempts import (
    DASH_HINT,
    FLAG_IN_WORDS,
    IN_WORDS,
    RIGHT,
    SEPARATORS,
    SKIPPED,
    WORDS,
    YES,
    NothingAttempted,
)
from surefoot.predictions.checks import (
    FRACTION,
    NOT_NEGATIVE,
    OUTCOME,
    WEIGHT_IN_RANGE,
    WHOLE,
    Check,
    complements,
    refuse_positive,
    sums_to_one,
)
from surefoot.predictions.dataframe import FrameColumns, collect
from surefoot.predictions.doubt import (
    NARROW_TYPES,
    SMALLEST,
    Numbers,
    is_type_used,
    round_to_digits,
    warn_of_certain_rows,
    warn_of_rounding,
)
from surefoot.predictions.frames import FramePredictions
from surefoot.predictions.labels import check_labels, labels_in_names, labels_of_count, labels_of_second
from surefoot.predictions.spark import with_choice

#: More classes than this are identifiers.
_MOST_CLASSES = 20_000

NULL = Check(lambda x: x.is_null(), "is null", "are null", "fill or drop them", "{0} is null")
NAN = Check(lambda x: x.is_nan(), "is nan", "are nan", "fill or drop them", "{0} is nan")


@dataclass(frozen=True)
class _Asked:
    """A check of a column: what it is evaluated on, and what of it is shown."""

    check: Check
    column: str
    of: Any
    shown: Any = None


def describe(
    columns: FrameColumns, labels: Any, pos_label: Any, floor: float | None, *, float32: bool, is_event: bool = False
) -> FramePredictions:
    """Check the columns of a lazy frame in one aggregation, and say what they are."""
    described = _Description(columns, labels, pos_label, floor, float32)
    described.is_event = is_event
    skipped, count = described.leave_out()
    return replace(described.predictions(), not_attempted=count, skipped=skipped)


class _Description:
    def __init__(self, columns: FrameColumns, labels: Any, pos_label: Any, floor: float | None, float32: bool) -> None:
        import narwhals as nw

        self.nw = nw
        self.columns = columns
        self.schema = columns.frame.collect_schema()
        self.labels, self.pos_label = labels, pos_label
        self.floor = floor
        self.float32 = float32
        #: Whether a label is named as the event, whatever columns there are.
        self.is_event = False
        #: The column of confidences that come alone, whose 1 may be a rounded number, and the type it is of.
        self.alone: str | None = None
        #: The type of confidences, or of probabilities of all classes.
        self.float_type = "float64"
        #: The column of outcomes in words, among which a dash is none.
        self.in_words: str | None = None
        self.checks: list[_Asked] = []

    def predictions(self) -> FramePredictions:
        nw, columns = self.nw, self.columns
        weight = columns.name("weight")
        named = {"sf_weight": nw.lit(1.0) if weight is None else self.number("weight", weight, fraction=False)}
        if columns.has("probabilities"):
            return self.from_probabilities(named)
        truth = predicted = None
        if columns.has("correct"):
            named["sf_correct"] = self.outcome(columns.need_name("correct"))
        else:
            truth, predicted = columns.need_name("truth"), columns.need_name("predicted")
            named["sf_truth"], named["sf_predicted"] = self.label(truth), self.label(predicted)
            self.same_kind(truth, predicted)
            named["sf_correct"] = self.flag(named["sf_truth"] == named["sf_predicted"])
        named |= self.claim()
        frame, rounded = self.verify(columns.frame.with_columns(**named))
        names = (truth and "sf_truth", predicted and "sf_predicted")
        return FramePredictions(frame, None, *names, None, rounded, weight is not None, self.floor)

    # -- rows that were not attempted ----------------------------------------------------------------------------------

    def leave_out(self) -> tuple[Any, int]:
        """Leave the rows that were not attempted out of the frame; those rows, and how many they are."""
        nw, columns = self.nw, self.columns
        skipped: Any = None
        if columns.has("attempted"):
            skipped = ~self.yes(columns.need_name("attempted"))
        if columns.has("correct") and self.is_text(columns.need_name("correct")):
            # a null is refused later, among those that were attempted
            in_words = self.word(columns.need_name("correct")).is_in(list(SKIPPED)).fill_null(False)
            skipped = in_words if skipped is None else skipped | in_words
        if skipped is None:
            return None, 0
        frame = columns.frame.with_columns(sf_skipped=self.flag(skipped))
        row = self.verify_now(frame, sf_left_out=nw.col("sf_skipped"))
        count, self.checks = int(row["sf_left_out"]), []
        if count == row["sf_n"]:
            raise NothingAttempted.among(count)
        if not count:
            return None, 0
        self.columns = copy(columns)
        self.columns.frame = frame.filter(nw.col("sf_skipped") == 0)
        return frame.filter(nw.col("sf_skipped") == 1), count

    def yes(self, column: str) -> Any:
        """Whether a column says yes."""
        x = self.nw.col(column)
        self.ask(NULL, column, x)
        if self.schema[column] == self.nw.Boolean:
            return x
        if self.is_text(column):
            self.ask(FLAG_IN_WORDS, column, self.word(column), self.text(column))
            return self.word(column).is_in(list(YES))
        if not self.schema[column].is_numeric():
            why = f"is of type {self.schema[column]}"
            raise InvalidPredictions(why, argument="attempted", column=column, hint=OUTCOME.hint)
        wide = x.cast(self.nw.Float64)
        self.ask(OUTCOME, column, wide, wide)
        return wide == 1

    def is_text(self, column: str) -> bool:
        nw, dtype = self.nw, self.schema[column]
        return dtype in (nw.String, nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum)

    def text(self, column: str) -> Any:
        return self.nw.col(column).cast(self.nw.String)

    def word(self, column: str) -> Any:
        """Text without capitals and separators."""
        return self.text(column).str.to_lowercase().str.replace_all(SEPARATORS, "")

    # -- columns -------------------------------------------------------------------------------------------------------

    def flag(self, condition: Any) -> Any:
        """1 where it holds, 0 elsewhere: a number, since sums of booleans are refused by some engines."""
        return condition.cast(self.nw.Float64)

    def ask(self, check: Check, column: str, of: Any, shown: Any = None) -> None:
        self.checks.append(_Asked(check, column, of, shown))

    def number(self, role: str, column: str, *, fraction: bool = True) -> Any:
        nw, dtype = self.nw, self.schema[column]
        if dtype.is_integer() and fraction:
            raise InvalidPredictions(
                "holds integers, but should hold numbers from 0 to 1",
                argument=role,
                column=column,
                hint="if these are percentages divide by 100, if 0 and 1 are meant cast to float",
            )
        if not dtype.is_numeric():
            raise InvalidPredictions(f"is of type {dtype}; {role} should hold numbers", argument=role, column=column)
        return self.checked(column, nw.col(column), fraction=fraction)

    def checked(self, column: str, x: Any, *, fraction: bool = True) -> Any:
        """Numbers as float64, with the checks that they are numbers of the kind that is meant."""
        self.ask(NULL, column, x)
        wide = x.cast(self.nw.Float64)
        for check in (NAN, FRACTION) if fraction else (NAN, NOT_NEGATIVE, WEIGHT_IN_RANGE):
            self.ask(check, column, wide, wide)
        return wide

    def label(self, column: str) -> Any:
        nw, dtype = self.nw, self.schema[column]
        x = nw.col(column)
        self.ask(NULL, column, x)
        if dtype in (nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
            return x.cast(nw.String)
        if dtype == nw.UInt64:
            huge = Check(lambda x: x >= 2.0**63, "", "are too large for labels", "use strings", "{0} >= 2**63")
            self.ask(huge, column, x.cast(nw.Float64))
        if dtype.is_float():
            wide = x.cast(nw.Float64)
            self.ask(NAN, column, wide)
            # what fails the check must not fail the cast before it
            safe = wide.fill_null(0.0).fill_nan(0.0).clip(-(2.0**54), 2.0**54)
            self.ask(WHOLE, column, safe, wide)
            return safe.cast(nw.Int64)
        if dtype.is_integer() or dtype in (nw.Boolean, nw.String):
            return x
        raise InvalidPredictions(f"is of type {dtype}", column=column, hint="labels are booleans, integers or strings")

    def kind(self, column: str) -> str:
        dtype = self.schema[column]
        return "booleans" if dtype == self.nw.Boolean else "integers" if dtype.is_numeric() else "strings"

    def same_kind(self, one: str, other: str) -> None:
        if self.kind(one) != self.kind(other):
            raise InvalidPredictions(
                f"holds {self.kind(one)}, but column {other!r} holds {self.kind(other)}", column=one, hint="convert one"
            )

    def outcome(self, column: str) -> Any:
        nw, dtype = self.nw, self.schema[column]
        x = nw.col(column)
        self.ask(NULL, column, x)
        if dtype == nw.Boolean:
            return self.flag(x)
        if self.is_text(column):
            self.ask(IN_WORDS, column, self.word(column), self.text(column))
            self.in_words = column
            return self.flag(self.word(column).is_in(list(RIGHT)))
        if not dtype.is_numeric():
            raise InvalidPredictions(f"is of type {dtype}", argument="correct", column=column, hint=OUTCOME.hint)
        wide = x.cast(nw.Float64)
        self.ask(OUTCOME, column, wide, wide)
        return self.flag(wide == 1)

    # -- confidence and doubt ------------------------------------------------------------------------------------------

    def claim(self) -> dict[str, Any]:
        columns = self.columns
        stated, doubted = columns.name("confidence"), columns.name("doubt")
        if stated is None and doubted is None:
            raise InvalidPredictions("confidence= is missing: name the column, or doubt= (1 - confidence)")
        c: Any = None if stated is None else self.number("confidence", stated)
        d: Any = None if doubted is None else self.number("doubt", doubted)
        if stated is not None and doubted is not None:
            tolerance = max(Numbers((), self.type_of_column(name)).complement_tolerance for name in (stated, doubted))
            self.ask(complements(tolerance, stated), doubted, c + d, d)
        if self.floor is not None:
            return self.clipped(c if c is not None else 1 - d)
        if d is not None:
            return {"sf_confidence": 1 - d if c is None else c, "sf_doubt": self.raised(d), "sf_rounded": d * 0.0}
        assert stated is not None
        self.alone, self.float_type = "sf_confidence", self.type_of_column(stated)
        return {"sf_confidence": c, "sf_doubt": 1 - c, "sf_rounded": self.flag(c == 1)}

    def type_of_column(self, column: str) -> str:
        dtype = self.schema[column]
        kind = str(getattr(dtype, "inner", dtype)).lower()
        return kind if kind in NARROW_TYPES else "float64"

    def raised(self, doubt: Any) -> Any:
        """No doubt above 0 is below the smallest normal number, so that 1/doubt is finite."""
        return doubt + self.flag((doubt > 0) & (doubt < SMALLEST)) * (SMALLEST - doubt)

    def clipped(self, confidence: Any) -> dict[str, Any]:
        assert self.floor is not None
        c = confidence.clip(self.floor, 1 - self.floor)
        return {"sf_confidence": c, "sf_doubt": 1 - c, "sf_rounded": c * 0.0}

    # -- probabilities -------------------------------------------------------------------------------------------------

    def from_probabilities(self, named: dict[str, Any]) -> FramePredictions:
        """Truth and predicted become positions in ``labels``: known here for all shards, so no shard has its own."""
        nw, columns = self.nw, self.columns
        truth, given = columns.need_name("truth"), columns.name("predicted")
        scores, names = self.scores()
        labels = self.class_labels(truth, len(scores), names)
        named["sf_truth"] = self.code(truth, labels)
        if given is not None:
            self.same_kind(truth, given)
            named["sf_predicted"] = self.code(given, labels)
        classes = ("sf_p1",) if len(scores) == 1 else tuple(f"sf_p{k}" for k in range(len(scores)))
        frame = columns.frame.with_columns(**named, **dict(zip(classes, scores, strict=True)))
        frame = self.with_second(frame, given) if len(scores) == 1 else self.with_all(frame, classes, given)
        frame = frame.with_columns(sf_correct=self.flag(nw.col("sf_truth") == nw.col("sf_predicted")))
        frame, rounded = self.verify(frame)
        is_weighted = columns.name("weight") is not None
        return FramePredictions(frame, labels, "sf_truth", "sf_predicted", classes, rounded, is_weighted, self.floor)

    def code(self, column: str, labels: tuple[Label, ...]) -> Any:
        """The position of a label among all."""
        values = self.label(column)
        foreign = Check(
            lambda x: ~x.is_in(list(labels)),
            "",
            f"are none of the {len(labels)} labels",
            "say what the columns stand for with labels=",
            "{0} not in labels",
        )
        self.ask(foreign, column, values)
        return self.nw.sum_horizontal(*((values == label).cast(self.nw.Int64) * k for k, label in enumerate(labels)))

    def scores(self) -> tuple[list[Any], list[str] | None]:
        """The probability of each class as float64, and what the columns are named."""
        nw, columns = self.nw, self.columns
        names = columns.probability_names()
        types = {self.type_of_column(name) for name in names}
        self.float_type = types.pop() if len(types) == 1 else "float64"
        if len(names) > 1:
            return [self.number("probabilities", name) for name in names], columns.class_names(names)
        (name,) = names
        dtype = self.schema[name]
        if not isinstance(dtype, nw.List | nw.Array):
            return [self.number("probabilities", name)], None
        self.ask(NULL, name, nw.col(name))
        # items of a fixed-size list can be had only from a list of any size
        items = nw.col(name).cast(nw.List(dtype.inner)) if isinstance(dtype, nw.Array) else nw.col(name)
        width = dtype.size if isinstance(dtype, nw.Array) else self.list_width(name)
        if not dtype.inner.is_float():
            raise InvalidPredictions(
                f"holds lists of {dtype.inner}", column=name, hint="they should hold numbers from 0 to 1"
            )
        return [self.checked(name, items.list.get(k)) for k in range(width)], None

    def list_width(self, name: str) -> int:
        nw = self.nw
        lengths = self.columns.frame.select(n=nw.col(name).list.len().cast(nw.Int64))
        found = collect(lengths.select(least=nw.col("n").min(), most=nw.col("n").max()))
        least, most = found["least"].to_list()[0], found["most"].to_list()[0]
        if least is None or least != most or least < 2:
            raise InvalidPredictions(
                f"holds lists of {least} to {most} values",
                column=name,
                hint="each list must have one value for each class",
            )
        return int(least)

    def class_labels(self, truth: str, count: int, names: list[str] | None) -> tuple[Label, ...]:
        kind, is_second = self.kind(truth), count == 1
        refuse_positive(is_second or self.is_event, self.pos_label)
        given = None if self.labels is None else check_labels(self.labels, kind, max(2, count))
        if given is not None:
            return labels_of_second((), kind, self.pos_label, given) if is_second else given
        unique = collect(self.columns.frame.select(t=self.label(truth)).unique())
        try:
            return self.labels_of(unique["t"].to_list(), truth, count, names)
        except InvalidPredictions:
            # values that are refused say more than that there are too many of them
            self.verify_now(self.columns.frame)
            raise

    def labels_of(self, values: list[Any], truth: str, count: int, names: list[str] | None) -> tuple[Label, ...]:
        """The classes, given the distinct values of a column; one that is null is refused with all other checks."""
        kind = self.kind(truth)
        found = tuple(sorted(value for value in values if value is not None))
        if not found:
            raise InvalidPredictions("holds no rows", column=truth, hint="there is nothing to assess")
        if len(found) > _MOST_CLASSES:
            raise InvalidPredictions(f"holds {len(found):,} distinct values: are they identifiers?", column=truth)
        found = tuple(v if isinstance(v, bool | str) else int(v) for v in found)
        if count == 1:
            return labels_of_second(found, kind, self.pos_label)
        from_names = None if names is None else labels_in_names(found, kind, names)
        return from_names or labels_of_count(found, kind, count)

    def with_second(self, frame: Any, given: str | None) -> Any:
        nw = self.nw
        p = nw.col("sf_p1")
        if given is None:
            frame = frame.with_columns(sf_predicted=(p > 0.5).cast(nw.Int64))
        second = nw.col("sf_predicted").cast(nw.Float64)
        confidence = second * p + (1 - second) * (1 - p)
        if self.floor is not None:
            return frame.with_columns(**self.clipped(confidence))
        self.alone = "sf_p1"
        doubt = second * (1 - p) + (1 - second) * p
        rounded = second * self.flag(p == 1)
        return frame.with_columns(sf_confidence=confidence, sf_doubt=self.raised(doubt), sf_rounded=rounded)

    def with_all(self, frame: Any, classes: tuple[str, ...], given: str | None) -> Any:
        nw = self.nw
        columns = [nw.col(name) for name in classes]
        total = nw.col("sf_total")
        self.ask(sums_to_one(Numbers((), self.float_type).sum_tolerance), "probabilities", total, total)
        if frame.implementation == nw.Implementation.PYSPARK:
            frame = with_choice(frame, classes, is_given=given is not None)
            confidence, others = nw.col("sf_own"), nw.col("sf_others")
        else:
            frame, confidence, others = self.choose(frame, columns, given)
        if self.floor is not None:
            return frame.with_columns(**self.clipped(confidence))
        doubt = self.raised(others.clip(0.0, 1.0))
        return frame.with_columns(sf_confidence=confidence, sf_doubt=doubt, sf_rounded=confidence * 0.0)

    def choose(self, frame: Any, columns: list[Any], given: str | None) -> tuple[Any, Any, Any]:
        """The frame with the predicted class, the probability of that, and that of all others."""
        nw, count = self.nw, len(columns)
        frame = frame.with_columns(sf_total=nw.sum_horizontal(*columns), sf_largest=nw.max_horizontal(*columns))
        if given is None:
            # the first of equals: those that are not the largest are moved behind all others
            places = [(p != nw.col("sf_largest")).cast(nw.Int64) * count + k for k, p in enumerate(columns)]
            frame = frame.with_columns(sf_predicted=nw.min_horizontal(*places))
        own = [self.flag(nw.col("sf_predicted") == k) for k in range(count)]
        confidence = nw.sum_horizontal(*(p * mine for p, mine in zip(columns, own, strict=True)))
        return frame, confidence, nw.sum_horizontal(*(p * (1 - mine) for p, mine in zip(columns, own, strict=True)))

    # -- checks --------------------------------------------------------------------------------------------------------

    def verify(self, frame: Any) -> tuple[Any, int]:
        """Run every check in one aggregation; raise for the first that fails.

        Returns the frame, in which a 1 that comes alone and was rounded has a doubt, and how many rows are such.
        """
        nw = self.nw
        counts = self.flag(nw.col("sf_weight") > 0)
        sums = {"sf_w": nw.col("sf_weight"), "sf_ones": nw.col("sf_rounded"), "sf_r": nw.col("sf_rounded") * counts}
        sums["sf_certain"] = self.flag(nw.col("sf_doubt") == 0)
        if self.alone is not None:
            sums |= self.signs_of_types(nw.col(self.alone))
        if self.in_words is not None:
            word = self.word(self.in_words)
            sums |= {"sf_dashes": self.flag(word == "-"), "sf_words": self.flag(word.is_in([*WORDS]))}
        row = self.verify_now(frame, **sums)
        if row.get("sf_dashes") and row["sf_words"]:
            raise InvalidPredictions(argument="correct", column=self.in_words, value="-", hint=DASH_HINT)
        if not row["sf_w"]:
            why = "holds weights that are all 0"
            raise InvalidPredictions(
                why, argument="weight", column=self.columns.name("weight"), hint="no row would count"
            )
        rows, ones = int(row["sf_n"]), int(row["sf_ones"])
        if self.alone is None:
            narrow = self.float_type != "float64" and self.columns.has("probabilities") and self.floor is None
            warn_of_certain_rows(self.float_type, rows, int(row["sf_certain"]) if narrow else 0)
            return frame.with_columns(sf_rounded=nw.col("sf_rounded") * 0.0), 0
        kind = self.type_of_numbers(row)
        column = Numbers((), kind, is_stored_wide=kind != self.float_type)
        name = str(self.columns.name("confidence") or self.columns.probability_names()[0])
        rounded = ones if column.is_narrow else 0
        warn_of_rounding(f"column {name!r}", column, rows, rounded, int(row[f"sf_near_{kind}"]) - ones)
        if not rounded:
            return frame.with_columns(sf_rounded=nw.col("sf_rounded") * 0.0), 0
        doubt = nw.col("sf_doubt") + nw.col("sf_rounded") * column.doubt_of_one
        return frame.with_columns(sf_doubt=doubt), int(row["sf_r"])

    def signs_of_types(self, x: Any) -> dict[str, Any]:
        """What tells the type of numbers, and how many lie near 1 in each; of a second label, where it is chosen."""
        nw = self.nw
        chosen = nw.col("sf_predicted").cast(nw.Float64) if self.alone == "sf_p1" else 1.0
        inner = (x > 0) & (x < 1)
        sums = {"sf_inner": self.flag(inner)}
        for kind in ("float64", *NARROW_TYPES):
            sums[f"sf_near_{kind}"] = self.flag(x > Numbers((), kind).near_one) * chosen
        if self.float32:
            for kind, (digits, _) in NARROW_TYPES.items():
                sums[f"sf_off_{kind}"] = self.flag(round_to_digits(x, digits) != x)
                sums[f"sf_last_{kind}"] = self.flag(inner & (round_to_digits(x, digits - 1) != x))
        return sums

    def type_of_numbers(self, row: dict[str, Any]) -> str:
        """The type of a confidence that comes alone: a float64 column whose numbers are all of a narrower one is that.

        As :func:`surefoot.predictions.doubt.narrow`.
        """
        for kind in NARROW_TYPES if self.float32 else ():
            if kind == self.float_type:
                break
            if not row[f"sf_off_{kind}"] and is_type_used(kind, row["sf_inner"], row[f"sf_last_{kind}"]):
                return kind
        return self.float_type

    def verify_now(self, frame: Any, **sums: Any) -> dict[str, Any]:
        """Run the checks there are, and add up what else is asked for."""
        nw = self.nw
        asked = dict(sums)
        for i, one in enumerate(self.checks):
            fails = one.check.fails(one.of)
            asked[f"sf_bad{i}"] = self.flag(fails)
            if one.shown is not None:
                asked[f"sf_value{i}"] = nw.when(fails).then(one.shown)
        values = [nw.col(name).max() for name in asked if name.startswith("sf_value")]
        added = [nw.col(name).sum() for name in asked if not name.startswith("sf_value")]
        found = collect(frame.select(**asked).select(nw.len().alias("sf_n"), *added, *values))
        row = {name: found[name].to_list()[0] for name in found.columns}
        if not row["sf_n"]:
            raise InvalidPredictions("holds no rows", argument="frame", hint="there is nothing to assess")
        for i, one in enumerate(self.checks):
            if row[f"sf_bad{i}"]:
                value = row.get(f"sf_value{i}")
                argument = self.columns.role_of(one.column) or "probabilities"
                facts = {} if value is None else {"value": value}
                raise one.check.count_error(argument, one.column, int(row[f"sf_bad{i}"]), facts)
        return row
