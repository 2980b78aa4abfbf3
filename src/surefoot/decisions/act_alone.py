"""From which confidence may a model act alone?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_level, check_share
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot._stats.binomial import limits
from surefoot._stats.joint_level import first_rows
from surefoot.core.tally import Label, Tally, sliced_otherwise
from surefoot.core.thresholds import THRESHOLDS
from surefoot.core.view import OF_PREDICTIONS
from surefoot.decisions.cost import Cost, least_cost
from surefoot.decisions.curve import RiskCoverageCurve, curve_of
from surefoot.decisions.policy import Policy, Thresholds
from surefoot.decisions.thresholds import Accepted
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.metrics.terms import BY_THRESHOLD, ROWS, SQUARED_WEIGHT, WEIGHT
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, named_columns, refuse_beside, takes_predictions
from surefoot.predictions.dataframe import values_of
from surefoot.predictions.named_file import read_file, source_of
from surefoot.risk.effects import equal_weights

SCHEMA = 1
#: What a tally has to hold.
TERMS = (ROWS, WEIGHT, SQUARED_WEIGHT, *BY_THRESHOLD)
#: The smallest error rate that may be asked for: its promise takes three billion rows.
LEAST_ERROR = 1e-9


@dataclass(frozen=True)
class ActAlone:
    """From which confidence a model may act alone, and how much of the work that is.

    Returned by :func:`act_alone`. Print it, ``plot()`` it, save its ``policy`` and apply that where decisions are made.

    Attributes
    ----------
    threshold : float or None
        The confidence from which predictions are accepted; None if no threshold keeps the promise. With slices, this
        and the other numbers are of one threshold for all samples; those of the policy are in ``slices``.
    coverage : float
        The share of samples that reach it.
    coverage_interval : tuple of float
        A confidence interval for that share.
    expected_errors : float
        How many of them are wrong among the samples given. The threshold was chosen because they are few, so expect
        more of fresh samples: at most ``error`` of those that reach it is what the promise is about.
    policy : Policy
        The decisions, to save and to apply.
    error : float or None
        The promised error rate; None if only costs were given.
    level : float
        The chance, over the samples given, that a promise does not hold.
    rows : int
        How many samples were given.
    error_limit : float
        The largest error rate among accepted samples that their test leaves possible; nan if there are none.
    rows_needed : int or None
        Where no threshold keeps the promise: about how many samples like these might be enough, if any number is.
    possible_error : float or None
        Where no threshold keeps the promise: the smallest of a few larger error rates that these samples could have
        promised. Each promise is made by itself: choose a rate by what you can bear, not because it passes.
    refuse : float or None
        The confidence below which predictions are refused, if that was asked for and there is one.
    refused : float
        The share of samples below it.
    refuse_error : float or None
        The least error rate promised among refused samples, if that was asked for.
    cost : Cost or None
        What decisions cost, if costs were given.
    by : str or None
        What slices are by.
    slices : mapping of label to ActAlone
        The same for each slice, where there are slices. All promises hold together.
    not_attempted : int
        Rows that were not attempted (refused, abstained), which count as neither right nor wrong. No share is of them.
    source : str
        The name of the file, if samples were read from one.
    columns : str
        Which of its columns were used for what.
    looks_grouped : str
        A column of the file by which rows may belong together; empty if there is none.
    """

    threshold: float | None
    coverage: float
    coverage_interval: tuple[float, float]
    expected_errors: float
    policy: Policy
    error: float | None
    level: float
    rows: int
    error_limit: float
    rows_needed: int | None = None
    refuse: float | None = None
    refused: float = 0.0
    refuse_error: float | None = None
    cost: Cost | None = None
    by: str | None = None
    slices: Mapping[Label, ActAlone] = field(default_factory=dict, repr=False)
    source: str = ""
    columns: str = ""
    possible_error: float | None = None
    not_attempted: int = 0
    looks_grouped: str = ""
    #: What the curve is made of: counts, and the chance that its limits do not hold.
    _counts: tuple[Accepted, float] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def curve(self) -> RiskCoverageCurve:
        """The error rate among accepted samples at every threshold, with limits from the tests of the promise.

        Returns
        -------
        RiskCoverageCurve
            Arrays ``threshold``, ``coverage``, ``error_rate``, ``lower``, ``upper``, ``rows`` and ``errors``.
        """
        assert self._counts is not None
        accepted, share = self._counts
        return curve_of(accepted, _rate(self.error, self.cost), share)

    @property
    def accepted(self) -> int:
        """How many of the samples given reach the threshold."""
        return round(self.coverage * self.rows)

    @property
    def error_rate(self) -> float:
        """The share of wrong ones among these; nan if there are none."""
        return self.expected_errors / self.accepted if self.accepted else float("nan")

    @property
    def fewest_rows(self) -> int:
        """How many samples it takes at least to make this promise, if none of them is wrong; 0 without a promise."""
        assert self._counts is not None
        return 0 if self.error is None else int(first_rows(0, self.error, self._counts[1]))

    def plot(self, ax: Any = None) -> Any:
        """Draw the risk-coverage curve with its band, the promise and the threshold.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        surefoot.plots.ActAloneDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        return present("mpl.act_alone", "ActAloneDisplay", self).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data.

        Returns
        -------
        dict
            The attributes, with None in place of nan; slices without their curves.
        """
        fields: dict[str, Any] = present("act_alone_view", "to_dict", self)
        return fields

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
        text = json.dumps({"surefoot": "act_alone", "schema": SCHEMA, **self.to_dict()}, allow_nan=False, indent=2)
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_markdown(self) -> str:
        """Return the result as Markdown.

        Returns
        -------
        str
            What printing it says, with tables.
        """
        return str(present("act_alone_view", "markdown", self))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the result as a page of its own, and write it if a path is given.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.

        Returns
        -------
        str
            The page.
        """
        page = str(present("act_alone_view", "report", self))
        if path is not None:
            write_whole(path, page)
        return page

    def _repr_html_(self) -> str:
        return str(present("act_alone_view", "card", self))

    def __str__(self) -> str:
        return str(present("act_alone_view", "render", self))


@takes_predictions
def act_alone(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    error: float | None = None,
    level: float = 0.05,
    by: Any = None,
    refuse: float | None = None,
    cost_error: float | None = None,
    cost_review: float | None = None,
    **columns: Unpack[Columns],
) -> ActAlone:
    r"""Find the confidence from which a model may act alone, with a guarantee on its error rate.

    With probability at least ``1 - level`` over the samples given, at most a share ``error`` of the predictions at or
    above the threshold is wrong on fresh samples of the same kind. It is the lowest such threshold. Nothing is assumed
    about the model; the confidences need not be calibrated. Besides what is listed below, ``x`` may be a
    :class:`Tally`, or the name of a file, with the names of its columns.

    Parameters
    ----------
    error : float, optional
        The error rate that accepted predictions may have, such as 0.01. Needed unless costs are given.
    level : float, default=0.05
        The chance that the promise does not hold. Several promises (of slices, of refusals) share it, so that all of
        them hold together.
    by : array-like of shape (n,) or str, optional
        A threshold for each slice as well: one value for each sample, the name of a column, or ``"predicted"``.
    refuse : float, optional
        Also find the confidence below which at least this share of predictions is wrong, such as 0.5: these are
        refused, and what lies between is reviewed. It is not higher than where predictions stop to be wrong so often.
    cost_error : float, optional
        What it costs to act on a wrong prediction.
    cost_review : float, optional
        What it costs to review a prediction. With both costs the threshold is that of least expected cost; with
        ``error`` besides, of those that keep the promise.

    Returns
    -------
    ActAlone
        ``threshold``, ``coverage``, ``expected_errors``, ``curve`` and ``policy``; ``threshold`` is None if none will
        do.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    InvalidPredictions
        If the data are not valid predictions, or their weights differ.
    MetricUnavailable
        If a tally does not hold what it takes.

    See Also
    --------
    Policy : applies the thresholds.
    expect : what to expect of the model on samples without labels.

    Notes
    -----
    For every threshold, errors among the samples at or above it are compared with the binomial distribution: would so
    few be likely if a share ``error`` were wrong? The tests of all thresholds are made at the level :math:`a` for which
    a walk of independent errors at that rate, followed for as many samples as there are, ever passes one of them with
    probability ``level``. That all thresholds which break the promise together pass with no larger probability holds
    for any distribution of confidences and errors; samples have to be independent draws of one kind. Thresholds have
    three digits, and two more than they have nines beyond 0.99.

    The promise is of the rule as a whole, on samples like those given: do not fit a calibrator or choose a model on the
    same samples, and look again when the data change.

    References
    ----------
    Angelopoulos et al., Learn then test: calibrating predictive algorithms to achieve risk control, Annals of Applied
    Statistics (2025).
    Geifman and El-Yaniv, Selective classification for deep neural networks, NeurIPS (2017).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.beta(8, 1, 5000)
    >>> found = act_alone(correct=rng.random(5000) < confidence, confidence=confidence, error=0.05)
    >>> found.threshold, round(found.coverage, 2)
    (0.914, 0.52)
    >>> found.policy.decide([0.99, 0.8]).tolist()
    ['accept', 'review']
    """
    if "groups" in columns:
        raise InvalidPredictions(
            "act_alone takes no groups: its promise is about rows that are independent of each other",
            hint="give one row of each group, drawn at random",
        )
    costs = _check(error, level, refuse, cost_error, cost_review)
    if isinstance(by, str) and by == "truth":
        raise ValueError("by is 'truth', which is not known when a decision is made; use by='predicted'.")
    options: dict[str, Any] = {"error": error, "level": level, "refuse": refuse, "costs": costs}
    if isinstance(x, Tally):
        refuse_beside("act_alone(tally)", second, third, columns)
        if by is not None and x.by != by:
            raise InvalidPredictions(sliced_otherwise(x.by, str(by)))
        return act_alone_of(x, **options, sliced=by is not None)
    if isinstance(x, str | PathLike) and second is None and third is None:
        return act_alone_in(read_file(x, named_columns(columns, "act_alone"), by=by, terms=TERMS), by, **options)
    sliced = by if isinstance(by, str) and by == "predicted" else values_of(x, by, "by")
    predictions = as_predictions(x, second, third, columns, function="act_alone", views=OF_PREDICTIONS)
    found = act_alone_of(predictions.tally(TERMS, by=sliced), **options, sliced=by is not None)
    return _with_name(found, by if isinstance(by, str) else getattr(by, "name", None))


def act_alone_in(reading: Any, by: str | None, **options: Any) -> ActAlone:
    """The same of what a file holds, with where it came from."""
    held = reading.held
    if held.view not in OF_PREDICTIONS:
        raise InvalidPredictions(f"act_alone is not defined for of={held.view!r}", hint="leave out of=")
    tally = held if isinstance(held, Tally) else held.tally(TERMS, by=reading.by)
    found = _with_name(act_alone_of(tally, **options, sliced=by is not None), by)
    return replace(found, source=source_of(reading), columns=reading.said, looks_grouped=reading.looks_grouped)


def _with_name(found: ActAlone, by: Any) -> ActAlone:
    """The same, slices called by the name of their column."""
    if not found.slices or not by:
        return found
    return replace(found, by=str(by), policy=replace(found.policy, by=str(by)))


def act_alone_of(
    tally: Tally,
    *,
    error: float | None,
    level: float,
    refuse: float | None = None,
    costs: tuple[float, float] | None = None,
    sliced: bool = False,
) -> ActAlone:
    """The same of totals."""
    _check_tally(tally)
    slices = (tally.slices or {}) if sliced else {}
    # a promise for all rows together and one for each slice, of acceptance and of refusal
    share = level / (1 + len(slices)) / (1 if refuse is None or error is None else 2)
    made = {value: _of(part, error, share, level, refuse, costs) for value, part in slices.items()}
    by = tally.by if made else None
    whole = _of(tally, error, share, level, refuse, costs)
    if not made:
        return whole
    thresholds = {value: one.policy.thresholds for value, one in made.items()}
    policy = Policy(whole.policy.thresholds, error, level, whole.rows, refuse, by or "slice", thresholds)
    return replace(whole, policy=policy, by=by or "slice", slices=made)


def _of(
    tally: Tally,
    error: float | None,
    share: float,
    level: float,
    refuse: float | None,
    costs: tuple[float, float] | None,
) -> ActAlone:
    accepted = Accepted.of(tally)
    passing = None if error is None else accepted.passing(error, share)
    is_kept = passing is not None and len(passing) > 0
    cost = None if costs is None else least_cost(accepted, *costs, level, passing)
    at = _place(passing, cost)
    rows, errors = (0.0, 0.0) if at is None else (accepted.rows[at], accepted.errors[at])
    inside = [float(limit) for limit in limits(rows, accepted.total, 1 - level)]
    threshold = None if at is None else float(THRESHOLDS[at])
    below = [] if refuse is None else [one for one in accepted.refusable(refuse, share) if at is None or one <= at]
    turned = int(below[-1]) if below else None
    refused_from = None if turned is None else float(THRESHOLDS[turned])
    return ActAlone(
        threshold=threshold,
        coverage=float(rows / accepted.total),
        coverage_interval=(inside[0], inside[1]),
        expected_errors=float(errors),
        policy=Policy(Thresholds(threshold, refused_from, accepted.lowest), error, level, accepted.total, refuse),
        error=error,
        level=level,
        rows=accepted.total,
        error_limit=math.nan if at is None else accepted.limit(at, _rate(error, cost), share),
        rows_needed=None if error is None or is_kept else accepted.more_rows(error, share),
        possible_error=None if error is None or is_kept else accepted.larger_rate(error, share),
        refuse=refused_from,
        refused=0.0 if turned is None else float((accepted.total - accepted.rows[turned]) / accepted.total),
        refuse_error=refuse,
        cost=cost,
        not_attempted=tally.not_attempted,
        _counts=(accepted, share),
    )


def _place(passing: Any, cost: Cost | None) -> int | None:
    """The number of the threshold: the lowest that passes, or that of least cost."""
    if cost is not None:
        return None if cost.threshold is None else int(np.searchsorted(THRESHOLDS, cost.threshold))
    return int(passing[0]) if len(passing) else None


def _rate(error: float | None, cost: Cost | None) -> float:
    """The error rate that limits are made for: the promised one, or that at which a review costs as much."""
    if error is not None or cost is None:
        return 0.5 if error is None else error
    return min(0.5, cost.break_even)


def _check(
    error: float | None, level: float, refuse: float | None, cost_error: float | None, cost_review: float | None
) -> tuple[float, float] | None:
    """The costs, if there are any; raise for what cannot be meant."""
    check_level(level)
    if error is not None:
        check_share("error", error, "0.01")
        if error < LEAST_ERROR:
            raise ValueError(
                f"error is {error!r}, which takes too many rows to promise; give at least {LEAST_ERROR:g}."
            )
    if refuse is not None:
        check_share("refuse", refuse, "0.5")
        if error is not None and refuse <= error:
            raise ValueError(f"refuse is {refuse!r}, not above error, {error!r}; it should be larger, such as 0.5.")
    if (cost_error is None) != (cost_review is None):
        raise ValueError("give cost_error and cost_review together, or neither.")
    if cost_error is None or cost_review is None:
        if error is None:
            raise ValueError("give error, the error rate that accepted predictions may have, such as error=0.01.")
        return None
    for name, value in (("cost_error", cost_error), ("cost_review", cost_review)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < float("inf"):
            raise ValueError(f"{name} is {value!r}; it should be a positive number, such as 10.")
    return float(cost_error), float(cost_review)


def _check_tally(tally: Tally) -> None:
    if tally.view != "prediction":
        raise InvalidPredictions(
            f"acting alone is about predictions, and these totals are of={tally.view!r}", hint="leave out of="
        )
    absent = next((term for term in TERMS if not tally.has(term)), None)
    if absent is not None:
        raise MetricUnavailable(
            "this tally does not hold what act_alone needs: an earlier version made it, or it was made for some "
            "metrics= only. Make it again with surefoot.tally(predictions)."
        )
    if not tally[ROWS]:
        raise InvalidPredictions("every weight is 0, so there is nothing to learn from", argument="sample_weight")
    if not equal_weights(tally):
        raise InvalidPredictions(
            "holds different weights, and the promise is about rows that count alike",
            argument="sample_weight",
            hint="draw rows in proportion to their weights, or leave the weights out for a promise about rows as given",
        )
