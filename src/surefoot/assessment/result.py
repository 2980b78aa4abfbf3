"""The assessment: the answer, and how it is shown, saved and taken apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.assessment.recalibrated import Recalibrated, recalibrated
from surefoot.assessment.serialise import plain_assessment, write_json
from surefoot.assessment.slices import Slice
from surefoot.assessment.surprises import Surprise
from surefoot.assessment.verdict import Degree, Verdict
from surefoot.core.frames import Backend, build_frame
from surefoot.core.table import Floats
from surefoot.core.tally import Label
from surefoot.core.view import View
from surefoot.decisions.offers import Offer
from surefoot.errors import MetricUnavailable
from surefoot.figures.reliability import Band, Bin
from surefoot.metrics import ALL
from surefoot.predictions import ArrayPredictions
from surefoot.risk.intervals import Interval
from surefoot.risk.law.cells import Codes
from surefoot.risk.law.counts import Counts
from surefoot.risk.planning import typical_range
from surefoot.risk.result import RiskResult


@dataclass(frozen=True, repr=False, eq=False)
class Assessment:
    """The answer: a verdict, the risk, the value of the confidences, and where the errors are.

    Print it for the terminal's view; in a notebook it shows itself. Every metric can be read by name, ``a["ece"]``, or
    as an attribute, ``a.ece``, unless a field below has that name. Asking for a metric that this input does not give
    raises an error that says why.

    Attributes
    ----------
    verdict : str
        ``"overconfident"``, ``"underconfident"``, ``"mixed"``, ``"no evidence against calibration"`` or
        ``"inconclusive"``. In the event view ``"overpredicts"``, ``"underpredicts"``, ``"too extreme"``, ``"too
        timid"``, or the last two of these.
    degree : str or None
        ``"slightly"``, ``"clearly"`` or ``"strongly"``, by the size of the effect and not by its p-value; None where
        nothing was found.
    warnings : tuple of str
        What to check before you trust any number here, such as labels that may be swapped. Empty if nothing.
    notes : tuple of str
        How a file was read where that is not obvious: rows left out, percentages, values that repeat.
    level : float
        The significance level: the chance of flagging a well-calibrated model.
    margin : float
        The overstatement that would not matter to you.
    risk : RiskResult
        The test against overconfidence, with effect sizes.
    underconfidence : RiskResult
        The test against underconfidence.
    metrics : mapping of str to float
        Every metric that this input gives.
    reasons : mapping of str to str
        Why a metric is nan, infinite or not available.
    bounds : mapping of str to float
        For rankings read from a tally: how far they may be from the value on the rows.
    stated : float
        The errors that the confidences imply: expected errors.
    seen : float
        The errors that were made: observed errors.
    bands : tuple of Band
        Rows, expected errors and observed errors by confidence.
    by : str or None
        What the slices are made by.
    slices : list of Slice
        An assessment of each part of the data.
    classes : int or None
        How many classes there are; None if only correctness is known.
    commonest : float
        The share of the most common true class; nan where it is not known.
    weight : float
        The sum of all sample weights; the number of rows if there are none.
    intervals : mapping of str to Interval
        Confidence intervals of accuracy, cw_accuracy, auc, cw_auc and their differences, where the rows are in memory;
        of an event, of the clinical numbers, of which only oe_ratio has one without rows.
    surprises : tuple of Surprise
        The wrong predictions with the highest confidence, where the rows are in memory.
    counts : Counts or None
        Rows and errors by doubt (1 - confidence), from which the exact tests are computed.
    reliability : tuple of Bin
        The bins of the reliability diagram.
    near_certainty : tuple of Bin
        Its bins near certainty, by orders of magnitude of doubt.
    group : str
        The name of the groups of dependent rows; empty if rows are taken to be independent.
    looks_grouped : str
        A column whose repeated values suggest that rows are not independent; empty if none.
    codes : array or None
        The group of each row.
    source : str
        The file that was read, if any.
    path : str
        Where it lies, as you wrote it.
    options : tuple of str
        The options of the command line that read that file in the same way.
    columns : str
        Which of its columns were used.
    predictions : Predictions or None
        The rows themselves, where they are in memory.
    view : {"prediction", "event", "classes"}
        What rows are about. In the event view ``stated`` and ``seen`` are expected and observed events, and
        "errors" are the rows in which the event did not happen. In the classes view ``risk`` holds the sizes of all
        predictions together, the p-value of the worst class, adjusted for their number, and the mean of their e-values.
    event : label or None
        In the event view, the class that is the event.
    offers : tuple of Offer
        From which confidence the model may act alone at error rates of 1%, 2%, 5% and 10%, as :func:`act_alone` finds
        it; all of them hold together. Empty where that cannot be told.
    not_attempted : int
        Rows that were not attempted (refused, abstained). They are neither right nor wrong: no number here counts them.
    slices_not_attempted : mapping of label to int
        Of slices in which no row was attempted, which are not among ``slices``, the number of rows.
    areas : mapping of str to array
        ``"auc"`` and ``"cw_auc"`` of each class, in the order of the labels, where there are more than two classes and
        they were ranked; nan for a class without rows inside or outside of it.
    """

    verdict: Verdict
    degree: Degree | None
    level: float
    margin: float
    risk: RiskResult
    underconfidence: RiskResult
    metrics: Mapping[str, float]
    reasons: Mapping[str, str]
    bounds: Mapping[str, float]
    stated: float
    seen: float
    bands: tuple[Band, ...]
    by: str | None = None
    slices: list[Slice] = field(default_factory=list)
    classes: int | None = None
    commonest: float = math.nan
    weight: float = math.nan
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    surprises: tuple[Surprise, ...] = ()
    counts: Counts | None = field(default=None, repr=False)
    reliability: tuple[Bin, ...] = ()
    near_certainty: tuple[Bin, ...] = ()
    group: str = ""
    looks_grouped: str = ""
    codes: Codes | None = field(default=None, repr=False)
    source: str = ""
    path: str = ""
    options: tuple[str, ...] = ()
    columns: str = ""
    predictions: ArrayPredictions | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    view: View = "prediction"
    event: Label | None = None
    offers: tuple[Offer, ...] = ()
    not_attempted: int = 0
    slices_not_attempted: Mapping[Label, int] = field(default_factory=dict)
    areas: Mapping[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def recalibrated(self) -> Recalibrated | None:
        """What recalibration would bring, cross-fitted on these samples; None if their rows cannot tell.

        Returns
        -------
        Recalibrated or None
            Log loss and overstatement, as they are and after Platt scaling of the confidences.
        """
        return recalibrated(self.predictions, self.codes)

    @property
    def share_not_attempted(self) -> float:
        """The share of all rows that were not attempted.

        Returns
        -------
        float
            From 0 to 1.
        """
        # each class is made of all rows
        rows = self.slices[0].risk.n if self.view == "classes" and self.slices else self.risk.n
        return self.not_attempted / (rows + self.not_attempted) if self.not_attempted else 0.0

    @cached_property
    def typical_csr(self) -> tuple[float, float] | None:
        """The range that holds the CSR of nine in ten well-calibrated models with these confidences.

        Returns
        -------
        tuple of float, or None
            None if weights are unequal.
        """
        if (
            self.counts is None
            or self.risk.method != "exact"
            or not self.counts.doubtful().n
            or math.isnan(self.risk.deflation)
        ):
            return None
        return typical_range(self.counts.doubtful())

    def __getitem__(self, name: str) -> float:
        """The value of a metric.

        Parameters
        ----------
        name : str
            A name of :data:`surefoot.metrics.ALL`.

        Returns
        -------
        float
            Its value.

        Raises
        ------
        MetricUnavailable
            If there is no such metric, or this input does not give it; the message says why.
        """
        if name in self.metrics:
            return self.metrics[name]
        if name not in ALL:
            raise MetricUnavailable(f"there is no metric {name!r}; surefoot.metrics.ALL lists them.")
        for renamed in (ALL[name].renamed, ALL[name].renamed_of_events):
            if renamed in self.metrics:
                return self.metrics[renamed]
        if self.view not in ALL[name].views:
            raise MetricUnavailable(ALL[name].not_of(self.view))
        raise MetricUnavailable(
            self.reasons.get(name, f"{name} was not computed; add it to metrics=, or leave that out.")
        )

    def keys(self) -> list[str]:
        """The names of the metrics, so that ``dict(a)`` gives them all.

        Returns
        -------
        list of str
            Those that this input gives.
        """
        return list(self.metrics)

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __contains__(self, name: object) -> bool:
        return name in self.metrics

    def __getattr__(self, name: str) -> float:
        # only reached for names that are no fields; copies are asked for names before they have any
        if name not in ALL or "metrics" not in self.__dict__:
            raise AttributeError(f"an Assessment has no attribute {name!r}; surefoot.metrics.ALL lists the metrics.")
        try:
            return self[name]
        except MetricUnavailable as error:
            raise AttributeError(str(error)) from error

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.metrics})

    def summary(self) -> str:
        """The answer in a few lines: verdict, warnings, and the main numbers.

        Returns
        -------
        str
            Plain text.
        """
        return str(present("summary", "summary", self))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The metrics as a dataframe, one row for each.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            Columns ``metric``, ``title``, ``value``, ``lower``, ``upper`` (a confidence interval at 95%, where there
            is one), ``ideal``, ``better`` (higher or lower) and ``reason`` (why a value is missing or infinite).
        """
        rows = {name: (self.metrics.get(name), self.intervals.get(name)) for name in (*self.metrics, *self._absent())}
        return build_frame(
            {
                "metric": list(rows),
                "title": [ALL[name].title_of(self.view) for name in rows],
                "value": [math.nan if value is None else value for value, _ in rows.values()],
                "lower": [math.nan if limits is None else limits.low for _, limits in rows.values()],
                "upper": [math.nan if limits is None else limits.high for _, limits in rows.values()],
                "ideal": [math.nan if (ideal := ALL[name].ideal) is None else ideal for name in rows],
                "better": [ALL[name].direction for name in rows],
                "reason": [self.reasons.get(name, "") for name in rows],
            },
            backend,
        )

    def _absent(self) -> list[str]:
        return [name for name in self.reasons if name not in self.metrics]

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """The answer as Markdown, for a pull request or a wiki.

        Parameters
        ----------
        path : path, optional
            A file to write it to as well: whole, or not at all.

        Returns
        -------
        str
            The text.
        """
        text = str(present("markdown", "render", self))
        if path is not None:
            write_whole(path, text)
        return text

    def plot(self) -> Any:
        """Draw the main pictures in one figure; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return present("mpl.overview", "plot", self)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain data, fit for JSON.

        Returns
        -------
        dict
            A number that JSON cannot hold is None, with the reason beside it.
        """
        return plain_assessment(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """All numbers as strict JSON text.

        Parameters
        ----------
        path : path, optional
            A file to write it to as well: whole, or not at all.

        Returns
        -------
        str
            The text.
        """
        return write_json(self.to_dict(), path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the report, one HTML file that needs nothing else: whole, or not at all.

        Parameters
        ----------
        path : path
            The file.
        """
        write_whole(path, present("html", "report", self))

    def _repr_html_(self) -> str:
        return str(present("notebook", "assessment_card", self))

    def __str__(self) -> str:
        return str(present("text", "render", self))

    def __repr__(self) -> str:
        return f"<Assessment: {present('wording', 'one_line', self)}>"
