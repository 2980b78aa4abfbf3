"""Columns of a dataframe in memory, by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from typing import Any

from surefoot.errors import InvalidPredictions
from surefoot.predictions.attempts import Attempts
from surefoot.predictions.columns import Array, as_array, rectangle, side_by_side
from surefoot.predictions.labels import as_labels, distinct, kind_of, labels_in_names


class FrameColumns:
    """The columns of a dataframe that the caller named, or that are called like the arguments."""

    def __init__(self, frame: Any, named: Mapping[str, str | list[str] | None]) -> None:
        import narwhals as nw

        opened = open_frame(frame)
        self.frame = opened
        self.is_lazy = isinstance(opened, nw.LazyFrame)
        self._columns: list[Any] = opened.collect_schema().names()
        taken = dict(named)
        if not any(value is not None for role, value in named.items() if role not in ("weight", "attempted")):
            taken = {role: named[role] or (role if role in self._columns else None) for role in named}
            if taken.get("probabilities"):
                taken.update(dict.fromkeys(("confidence", "doubt", "correct")))
            elif taken.get("truth") and taken.get("predicted"):
                taken["correct"] = None
            elif taken.get("correct"):
                taken.update(dict.fromkeys(("truth", "predicted")))
        self._named = taken

    @property
    def names(self) -> list[Any]:
        """The names of all columns."""
        return self._columns

    def used(self) -> dict[str, list[Any]]:
        """The columns that play a role."""
        found = {role: [name] for role, name in self._named.items() if name is not None and role != "probabilities"}
        return found | ({"probabilities": self.probability_names()} if self.has("probabilities") else {})

    def has(self, role: str) -> bool:
        return self._named[role] is not None

    def check(self, labels: Any, pos_label: Any, *, is_event: bool = False) -> None:
        """Raise if a role was named together with another that would say the same a second time."""
        if not self.has("probabilities") and (labels is not None or (pos_label is not None and not is_event)):
            raise InvalidPredictions(
                "labels= names the class of each column of probabilities", hint="name probabilities="
            )
        beside = {"probabilities": ("confidence", "doubt", "correct"), "correct": ("truth", "predicted")}
        for role, others in beside.items():
            other = next((other for other in others if self.has(role) and self.has(other)), None)
            if other is not None:
                raise InvalidPredictions(
                    f"{other}= was named beside {role}=, which already says it", hint="drop one of them"
                )

    def name(self, role: str) -> Any:
        """The name of the column that plays a role, or None."""
        name = self._named[role]
        return None if name is None else self._known(role, name)

    def need_name(self, role: str) -> Any:
        """The name of the column that plays a role; raise if none was named."""
        if not self.has(role):
            or_else = " (or probabilities=)" if role == "predicted" else ""
            raise InvalidPredictions(
                f"{role}={or_else} is missing: name the column; the frame has {self._list_columns()}"
            )
        return self.name(role)

    def get(self, role: str) -> Any:
        """The column that plays a role, or None."""
        name = self.name(role)
        return None if name is None else self.column(name)

    def need(self, role: str) -> Any:
        """The column that plays a role; raise if none was named."""
        return self.column(self.need_name(role))

    def probability_names(self) -> list[Any]:
        """The columns that hold probabilities: one, or one for each class."""
        named = self._named["probabilities"]
        if isinstance(named, str) and named in self._columns:
            return [named]
        if not isinstance(named, str | list | tuple):
            raise InvalidPredictions(f"probabilities={named!r}; give a column, a list of columns, or a prefix.")
        names = self._with_prefix(named) if isinstance(named, str) else list(named)
        if len(names) < 2:
            what = "is no column, and the prefix of" if isinstance(named, str) else "names"
            count = "one column" if names else "none"
            raise InvalidPredictions(f"probabilities={named!r} {what} {count}; the frame has {self._list_columns()}.")
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            raise InvalidPredictions(f"probabilities names {twice!r} twice; give one column for each class.")
        return [self._known("probabilities", name) for name in names]

    def class_names(self, names: list[Any]) -> list[str]:
        """What the names of the columns say of their classes: all but the prefix they were found by."""
        named = self._named["probabilities"]
        return [str(name)[len(named) if isinstance(named, str) else 0 :] for name in names]

    def probabilities(self, truth: Any, labels: Any) -> tuple[Array, Any]:
        """The probabilities as an array, and the labels of its columns: those given, or what the columns are named."""
        names = self.probability_names()
        if len(names) > 1:
            values = as_labels("y_true", truth)
            if labels is None or _are_names(self.class_names(names), labels):
                labels = labels_in_names(distinct(values), kind_of(values), self.class_names(names))
            return side_by_side("probabilities", [self.column(name) for name in names]), labels
        values = as_array("probabilities", self.column(names[0]))
        return (rectangle("probabilities", list(values)) if values.dtype == object else values), labels

    def cut(self, attempts: Attempts) -> FrameColumns:
        """The same columns of the rows that were attempted."""
        kept = copy(self)
        (kept.frame,) = attempts.cut({"frame": self.frame}).values()
        return kept

    def make(
        self, constructors: Any, labels: Any, pos_label: Any, options: dict[str, Any], *, from_logits: bool
    ) -> Any:
        """Predictions of the columns, by the constructor that takes what was named."""
        common: dict[str, Any] = {"sample_weight": self.get("weight"), **options}
        if from_logits and not self.has("probabilities"):
            raise InvalidPredictions("from_logits= says that probabilities are logits", hint="name probabilities=")
        if self.has("probabilities"):
            truth, y_pred = self.need("truth"), self.get("predicted")
            values, labels = self.probabilities(truth, labels)
            constructor: Any = constructors.from_logits if from_logits else constructors.from_probabilities
            return constructor(truth, values, labels=labels, pos_label=pos_label, y_pred=y_pred, **common)
        claim = {"confidence": self.get("confidence"), "doubt": self.get("doubt")}
        if self.has("correct"):
            return constructors.from_correct(self.need("correct"), **claim, **common)
        truth, predicted = self.need("truth"), self.need("predicted")
        return constructors.from_labels(truth, predicted, **claim, pos_label=pos_label, **common)

    def role_of(self, column: str) -> str:
        """The argument that names a column; empty if none does."""
        return next((role for role, name in self._named.items() if column == name), "")

    def column_of(self, argument: str) -> str | None:
        """The column that an argument of another constructor was read from, if it is one."""
        roles = {"y_true": "truth", "y_pred": "predicted", "sample_weight": "weight"}
        column = self._named.get(roles.get(argument, argument))
        return column if isinstance(column, str) else None

    def _with_prefix(self, prefix: str) -> list[str]:
        """The columns of that prefix which play no other role."""
        others = {name for role, name in self._named.items() if role != "probabilities" and isinstance(name, str)}
        return [column for column in self._columns if str(column).startswith(prefix) and column not in others]

    def _known(self, role: str, name: Any) -> Any:
        if name not in self._columns:
            raise InvalidPredictions(f"{role}={name!r} is not a column of the frame, which has {self._list_columns()}.")
        return name

    def column(self, name: Any) -> Any:
        """A column, by its name."""
        return dict(zip(self._columns, self.frame.iter_columns(), strict=True))[name].to_native()

    def _list_columns(self) -> str:
        names = [repr(column) for column in self._columns]
        return ", ".join(names[:12]) + (", …" if len(names) > 12 else "") if names else "no columns"


def _are_names(names: list[str], labels: Any) -> bool:
    """Whether columns are named after these labels: then their names say which is whose, not the order of labels."""
    return sorted(names) == sorted(str(label) for label in labels)


def open_frame(frame: Any) -> Any:
    """The dataframe as Narwhals sees it."""
    import narwhals as nw

    if type(frame).__name__ == "RecordBatch":
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    try:
        return nw.from_native(frame)
    except TypeError:
        raise InvalidPredictions(
            f"is a {type(frame).__name__}", argument="frame", hint="give a pandas, Polars or PyArrow dataframe"
        ) from None
    except Exception as error:  # such as two columns of one name, each package in its own words
        raise InvalidPredictions(f"cannot be read: {error}", argument="frame") from error


def collect(frame: Any) -> Any:
    """The result of an aggregation; Polars is told not to hold the rows in memory for it."""
    import narwhals as nw

    if frame.implementation == nw.Implementation.DASK:
        import dask

        # groups are merged as tasks: when workers exchange them directly, a key of several columns fails there
        with dask.config.set({"dataframe.shuffle.method": "tasks"}):
            return frame.collect()
    return frame.collect(engine="streaming") if frame.implementation == nw.Implementation.POLARS else frame.collect()


def is_frame(given: Any) -> bool:
    """Whether this is a dataframe, in memory or not: not a list, an array, or anything of our own."""
    package = type(given).__module__.partition(".")[0]
    if package in ("builtins", "numpy", "surefoot", "torch"):
        return False
    return hasattr(type(given), "columns") or type(given).__name__ in ("RecordBatch", "Table", "DuckDBPyRelation")


def frame_column(frame: Any, name: str, role: str = "by") -> Any:
    """One column of a dataframe, by name."""
    return FrameColumns(frame, {role: name}).get(role)


def values_of(x: Any, given: Any, role: str) -> Any:
    """The column of a dataframe in memory that was given by its name; anything else as it is."""
    if not isinstance(given, str) or not is_frame(x):
        return given
    columns = FrameColumns(x, {role: given})
    return given if columns.is_lazy else columns.get(role)
