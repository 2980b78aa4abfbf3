"""Columns of a dataframe in memory, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.errors import InvalidPredictions
from surefoot.predictions.columns import Array, as_array, as_column, rectangle


class FrameColumns:
    """The columns of a dataframe that the caller named, or that are called like the arguments."""

    def __init__(self, frame: Any, named: Mapping[str, str | list[str] | None]) -> None:
        import narwhals as nw

        try:
            opened = nw.from_native(frame)
        except TypeError:
            raise InvalidPredictions(
                f"frame is a {type(frame).__name__}; give a pandas, Polars or PyArrow dataframe, or use another door."
            ) from None
        if isinstance(opened, nw.LazyFrame):
            raise InvalidPredictions("frame is lazy; collect it first (push-down is not built yet).")
        self._frame = opened
        self._columns: list[str] = opened.columns
        taken = dict(named)
        if not any(value is not None for value in named.values()):
            taken = {role: role if role in self._columns else None for role in named}
            if taken["probabilities"] or taken["correct"]:
                spare = ("confidence", "doubt", "correct") if taken["probabilities"] else ("truth", "predicted")
                taken.update(dict.fromkeys(spare))
        self._named = taken

    def has(self, role: str) -> bool:
        return self._named[role] is not None

    def refuse(self, role: str, *others: str) -> None:
        """Raise if a role was named together with another that would say the same a second time."""
        for other in others:
            if self.has(other):
                raise InvalidPredictions(f"{other}= was named beside {role}=, which already says it; drop one of them.")

    def get(self, role: str) -> Any:
        """The column that plays a role, or None."""
        name = self._named[role]
        return None if name is None else self._column(role, name)

    def need(self, role: str) -> Any:
        """The column that plays a role; raise if none was named."""
        if not self.has(role):
            raise InvalidPredictions(f"{role}= is missing: name the column; the frame has {self._listed()}.")
        return self.get(role)

    def probabilities(self) -> tuple[Array, list[str] | None]:
        """The probabilities as an array, and what their columns' names say of the classes (None for one column)."""
        named = self._named["probabilities"]
        if isinstance(named, str) and named in self._columns:
            values = as_array("probabilities", self._column("probabilities", named))
            return (rectangle("probabilities", list(values)) if values.dtype == object else values), None
        prefix = named if isinstance(named, str) else ""
        names = self._with_prefix(named) if isinstance(named, str) else list(named or ())
        if len(names) < 2:
            raise InvalidPredictions(
                f"probabilities={named!r} is no column, and says {len(names)} column(s); the frame has "
                f"{self._listed()}."
            )
        columns = [as_column(f"probabilities {name!r}", self._column("probabilities", name)) for name in names]
        return np.stack(columns, axis=1), [str(name)[len(prefix) :] for name in names]

    def _with_prefix(self, prefix: str) -> list[str]:
        """The columns of that prefix which play no other role."""
        others = {name for role, name in self._named.items() if role != "probabilities" and isinstance(name, str)}
        return [column for column in self._columns if column.startswith(prefix) and column not in others]

    def _column(self, role: str, name: Any) -> Any:
        if not isinstance(name, str) or name not in self._columns:
            raise InvalidPredictions(f"{role}={name!r} is no column of the frame, which has {self._listed()}.")
        return self._frame[name].to_native()

    def _listed(self) -> str:
        names = [repr(column) for column in self._columns]
        return ", ".join(names[:12]) + (", …" if len(names) > 12 else "") if names else "no columns"


def is_frame(given: Any) -> bool:
    """Whether this is a dataframe that Narwhals reads."""
    if isinstance(given, list | tuple | np.ndarray):
        return False
    import narwhals as nw

    try:
        nw.from_native(given)
    except TypeError:
        return False
    return True


def frame_column(frame: Any, name: str) -> Any:
    """One column of a dataframe, by name."""
    return FrameColumns(frame, {"by": name}).get("by")
