"""What is expected of rows without labels: a mapping of metrics to intervals, and what is to be said with them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Unpack

from surefoot._io.documents import strict
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.core.frames import Backend, build_frame
from surefoot.core.tally import Label
from surefoot.core.view import OF_PREDICTIONS
from surefoot.decisions.kept import Kept, check_kept
from surefoot.decisions.shift import Shift
from surefoot.metrics.confusion import Confusion
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns
from surefoot.risk.intervals import Interval

SCHEMA = 1
#: What cannot be known, in every output.
LIMIT = (
    "This supposes that a confidence means what it meant in the reference. A change in what the labels mean (concept "
    "drift) cannot be seen without labels."
)


@dataclass(frozen=True, eq=False, repr=False)
class Expected(Mapping[str, Interval]):
    """What to expect of rows without labels; returned by :func:`expect`.

    A mapping of metric names to :class:`Interval`: ``expected["accuracy"].low``. Print it for a table. ``compare`` says
    whether it came true.

    Attributes
    ----------
    intervals : mapping of str to Interval
        For each metric the expected value and its prediction interval. Counts (``"errors"``; for two classes also
        ``"tp"``, ``"fp"``, ``"fn"``, ``"tn"``) are numbers of rows.
    reference : mapping of str to float
        The same metrics as observed on the reference; counts are scaled to the number of rows without labels.
    level : float
        The significance level; intervals have a level of 1 - ``level``.
    rows : int
        Number of rows without labels.
    reference_rows : int
        Number of reference rows.
    labels : tuple or None
        The classes; None if only confidences are known.
    confusion : Confusion or None
        The expected confusion matrix; None if classes are not known.
    shift : Shift
        How far confidences and predicted classes differ from the reference.
    calibrator : str
        The name of the calibrator.
    columns : str
        Which columns of files were used.
    not_attempted : int
        How many more rows without labels were not attempted (refused, abstained). Nothing is expected of them.
    reference_not_attempted : int
        How many more reference rows were not attempted.
    """

    intervals: Mapping[str, Interval]
    reference: Mapping[str, float]
    level: float
    rows: int
    reference_rows: int
    labels: tuple[Label, ...] | None
    confusion: Confusion | None
    shift: Shift
    calibrator: str
    columns: str = ""
    not_attempted: int = 0
    reference_not_attempted: int = 0
    #: Of each metric, how much of the variance chance in the labels makes.
    _chance: Mapping[str, float] = field(default_factory=dict)
    #: Reference rows of the rarer outcome, and of the rarest class.
    _telling: tuple[float, float] = (0.0, 0.0)
    _cost: Any = None
    #: The standard deviation of the confidences.
    _spread: float = 0.0

    def __getitem__(self, name: str) -> Interval:
        """Return the interval of a metric.

        Parameters
        ----------
        name : str
            Such as ``"accuracy"``.

        Returns
        -------
        Interval
            The expected value, and the limits of its prediction interval.
        """
        return self.intervals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.intervals)

    def __len__(self) -> int:
        return len(self.intervals)

    def __repr__(self) -> str:
        one = self["accuracy"]
        return f"Expected({self.rows:,} rows, accuracy {one.value:.1%} ({one.low:.1%} to {one.high:.1%}))"

    def __str__(self) -> str:
        return str(present("expectation", "render", self))

    def _repr_html_(self) -> str:
        return str(present("expectation", "card", self))

    @property
    def needed_rows(self) -> int | None:
        """Labelled rows that would halve the accuracy's interval; None if no number would.

        The width has two parts: chance in the labels of these rows, which more reference rows do not change, and the
        uncertainty of the calibrator, which they do.
        """
        error = self["accuracy"].standard_error
        chance = self._chance.get("accuracy", math.nan)
        room = error**2 / 4 - chance
        if not room > 0:
            return None
        return math.ceil(self.reference_rows * (error**2 - chance) / room)

    @property
    def share_of_chance(self) -> float:
        """The share of the variance of the accuracy that is chance in the labels; the rest is the calibrator's."""
        error = self["accuracy"].standard_error
        return self._chance.get("accuracy", math.nan) / error**2 if error else 1.0

    def compare(
        self, labelled: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]
    ) -> Kept:
        """Say whether the observed metrics are as expected, once labels are known.

        Parameters
        ----------
        labelled : Predictions, dataframe, or array-like of shape (n,)
            The same rows with their labels, as :func:`assess` takes them. If only some rows have labels yet, intervals
            are widened for as many.
        second, third : array-like, optional
            As in :func:`assess`: probabilities, or predicted labels and confidences.
        **columns : array-like or str
            The same by name, as in :func:`assess`.

        Returns
        -------
        Kept
            Metric by metric the expectation and the observation, and whether the expectation held.

        Examples
        --------
        >>> import numpy as np, surefoot as sf
        >>> rng = np.random.default_rng(0)
        >>> p = rng.uniform(0, 1, 4000)
        >>> y = (rng.random(4000) < p).astype(int)
        >>> known = sf.Predictions.from_probabilities(y[:3000], p[:3000])
        >>> arrived = sf.Predictions.from_probabilities(y[3000:], p[3000:])
        >>> sf.expect(p[3000:], reference=known).compare(arrived).held
        True
        """
        found = as_predictions(labelled, second, third, columns, function="compare", views=OF_PREDICTIONS)
        return check_kept(self, found.rows("compare"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON.

        Returns
        -------
        dict
            Dictionaries, lists, numbers and strings.
        """
        metrics = {}
        for name, one in self.intervals.items():
            fields = {"value": one.value, "low": one.low, "high": one.high, "standard_error": one.standard_error}
            metrics[name] = strict({**fields, "note": one.note, "reference": self.reference.get(name, math.nan)})
        return {
            "surefoot": "expected",
            "schema": SCHEMA,
            "level": self.level,
            "rows": self.rows,
            "reference_rows": self.reference_rows,
            "not_attempted": self.not_attempted,
            "reference_not_attempted": self.reference_not_attempted,
            "calibrator": self.calibrator,
            "labels": None if self.labels is None else list(self.labels),
            "columns": self.columns,
            "metrics": metrics,
            "confusion": None if self.confusion is None else self.confusion.matrix.tolist(),
            "shift": strict(vars(self.shift)),
            "limit": LIMIT,
        }

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return strict JSON text, and write it to a file if ``path`` is given.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write; a crash leaves the old file or the new one.

        Returns
        -------
        str
            The JSON text.
        """
        text = json.dumps(self.to_dict(), allow_nan=False, indent=2) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a dataframe with a row for each metric.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            Columns ``metric``, ``expected``, ``low``, ``high``, ``standard_error``, ``reference`` and ``note``.
        """
        of = self.intervals
        return build_frame(
            {
                "metric": list(of),
                "expected": [one.value for one in of.values()],
                "low": [one.low for one in of.values()],
                "high": [one.high for one in of.values()],
                "standard_error": [one.standard_error for one in of.values()],
                "reference": [self.reference.get(name, math.nan) for name in of],
                "note": [one.note for one in of.values()],
            },
            backend,
        )

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return GitHub-flavoured Markdown, and write it to a file if ``path`` is given.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.

        Returns
        -------
        str
            The Markdown text.
        """
        text = str(present("expectation", "markdown", self))
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write one self-contained HTML file.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        write_whole(path, str(present("expectation", "report", self)))

    def plot(self, ax: Any = None) -> Any:
        """Draw expected metrics with their intervals beside those of the reference.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ExpectationDisplay
            Its ``ax_`` and ``figure_`` hold what was drawn.
        """
        return present("mpl.expectation", "display", self).plot(ax=ax)
