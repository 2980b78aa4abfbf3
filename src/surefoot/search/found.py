"""What a search for slices found, and what it looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.core.frames import Backend, build_frame
from surefoot.search.condition import Condition

SCHEMA = 1

Direction = Literal["overconfident", "underconfident", "overpredicts", "underpredicts"]


@dataclass(frozen=True)
class FoundSlice:
    """A group of rows whose confidences cannot be trusted.

    Attributes
    ----------
    conditions : tuple of Condition
        What its rows have in common: one condition, or two of different columns.
    direction : str
        ``"overconfident"`` or ``"underconfident"``; of an event, ``"overpredicts"`` or ``"underpredicts"``.
    rows : int
        How many rows it has.
    share : float
        Their share of all rows.
    expected_errors, observed_errors : float
        Errors implied by the confidences, and errors made; of an event, the events predicted and those that happened.
    overstatement : float
        Mean confidence less accuracy; of an event, mean predicted probability less the share that happened.
    overstatement_interval : tuple of float
        Its confidence interval. The intervals of all groups that were looked at hold together with probability
        ``1 - level``, so the choice of this one does not make it too narrow.
    pvalue : float
        The two-sided p-value of this group alone.
    pvalue_adjusted : float
        The same, adjusted for all groups that were looked at: at most ``level`` if it is reported.
    elsewhere : float
        The overstatement of all other rows.
    """

    conditions: tuple[Condition, ...]
    direction: Direction
    rows: int
    share: float
    expected_errors: float
    observed_errors: float
    overstatement: float
    overstatement_interval: tuple[float, float]
    pvalue: float
    pvalue_adjusted: float
    elsewhere: float

    @property
    def name(self) -> str:
        """What its rows have in common, in words."""
        return " and ".join(map(str, self.conditions))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its conditions."""
        return tuple(condition.column for condition in self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """Return the slice as plain data.

        Returns
        -------
        dict
            The attributes, and the ``name``.
        """
        return {
            "name": self.name,
            "conditions": [condition.to_dict() for condition in self.conditions],
            **{name: getattr(self, name) for name in _PLAIN},
            "overstatement_interval": list(self.overstatement_interval),
        }


_PLAIN = (
    *("direction", "rows", "share", "expected_errors", "observed_errors", "overstatement"),
    *("pvalue", "pvalue_adjusted", "elsewhere"),
)


@dataclass(frozen=True)
class Detectable:
    """How large an overstatement has to be to be found, in four of five cases and approximately.

    Attributes
    ----------
    share : float
        The share of all rows that a group has.
    rows : int
        How many rows that is.
    of_one_column, of_two_columns : float or None
        The least overstatement of such a group; None if none can be found, or no such groups were looked at.
    """

    share: float
    rows: int
    of_one_column: float | None
    of_two_columns: float | None


@dataclass(frozen=True)
class Search:
    """What was looked at.

    Attributes
    ----------
    rows : int
        How many rows there are.
    level : float
        The chance that any group is reported if all confidences are right.
    min_rows : int
        The fewest rows of a group.
    columns : tuple of str
        The columns that were searched.
    left_out : mapping of str to str
        The columns that were not, and why.
    notes : mapping of str to str
        How columns that were searched were divided into groups, where it is not by each of their values.
    groups_of_one, groups_of_two : int
        How many groups of one column and of two columns share the level; of these, at least those that were looked at.
    pairs, all_pairs : int
        How many pairs of columns were searched, and how many there are.
    overstatement : float
        Mean confidence less accuracy of all rows; of an event, mean predicted probability less the share that happened.
    overstatement_interval : tuple of float
        Its 95% confidence interval.
    like_others : int
        Groups that are flagged too, but err no more than other rows of the same confidence, or than the rest of a
        larger group.
    overlapping : int
        Groups that are flagged and stand out, but whose rows the reported groups explain.
    detectable : tuple of Detectable
        What can be found among so many rows.
    is_event : bool
        Whether the rows are about an event.
    not_attempted : int
        Rows that were not attempted, which are not among the rows.
    source : str
        The name of the file, if rows were read from one.
    path : str
        That file, as it was named; empty if it was not a file.
    options : tuple of str
        The options of the command line that read it in the same way.
    columns_used : str
        Which of its columns were used for what.
    looks_grouped : str
        A column of the file by which rows may belong together; empty if there is none.
    reading_notes : tuple of str
        What was read otherwise than it stands in the file, in sentences.
    """

    rows: int
    level: float
    min_rows: int
    columns: tuple[str, ...]
    left_out: Mapping[str, str]
    notes: Mapping[str, str]
    groups_of_one: int
    groups_of_two: int
    pairs: int
    all_pairs: int
    overstatement: float
    overstatement_interval: tuple[float, float]
    like_others: int
    overlapping: int
    detectable: tuple[Detectable, ...]
    is_event: bool = False
    not_attempted: int = 0
    source: str = ""
    path: str = ""
    options: tuple[str, ...] = ()
    columns_used: str = ""
    looks_grouped: str = ""
    reading_notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what was looked at as plain data.

        Returns
        -------
        dict
            The attributes, but for ``path`` and ``options``, which say where the file lies.
        """
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("path", "options")}
        return {
            **fields,
            "columns": list(self.columns),
            "left_out": dict(self.left_out),
            "notes": dict(self.notes),
            "overstatement_interval": list(self.overstatement_interval),
            "reading_notes": list(self.reading_notes),
            "detectable": [dict(vars(one)) for one in self.detectable],
        }


class FoundSlices(list[FoundSlice]):
    """The slices that a search found, worst first, and what it looked at.

    A list, returned by :func:`find_slices`. Print it, ``plot()`` it, or go through it.

    Parameters
    ----------
    slices : iterable of FoundSlice
        The slices.
    search : Search
        What was looked at.

    Attributes
    ----------
    search : Search
        What was looked at, and what could not have been found.
    """

    def __init__(self, slices: Iterable[FoundSlice], search: Search) -> None:
        super().__init__(slices)
        self.search = search

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data.

        Returns
        -------
        dict
            ``slices``, and ``search``.
        """
        return {"slices": [one.to_dict() for one in self], "search": self.search.to_dict()}

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the result as JSON, and write it if a path is given.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.

        Returns
        -------
        str
            The JSON text.
        """
        text = json.dumps({"surefoot": "slices", "schema": SCHEMA, **self.to_dict()}, allow_nan=False, indent=2)
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the slices as a dataframe, one row for each.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            The name of each slice, and its numbers.
        """
        columns: dict[str, list[Any]] = {"name": [one.name for one in self]}
        columns |= {name: [getattr(one, name) for one in self] for name in _PLAIN}
        for end, name in enumerate(("overstatement_low", "overstatement_high")):
            columns[name] = [one.overstatement_interval[end] for one in self]
        return build_frame(columns, backend)

    def to_markdown(self) -> str:
        """Return the result as Markdown.

        Returns
        -------
        str
            What printing it says, with tables.
        """
        return str(present("found_slices", "markdown", self))

    def plot(self, ax: Any = None) -> Any:
        """Draw the overstatement of each slice with its interval, beside that of all rows.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        return present("mpl.found_slices", "draw", self, ax=ax)

    def _repr_html_(self) -> str:
        return str(present("found_slices", "card", self))

    def __str__(self) -> str:
        return str(present("found_slices", "render", self))
