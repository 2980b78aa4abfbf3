"""Models side by side: who is risky, who is worth more, and whether the difference is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from surefoot._io.arguments import check_level
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.assessment.assess import assess
from surefoot.assessment.evidence import MOST_RANKED
from surefoot.assessment.result import Assessment
from surefoot.assessment.serialise import plain_comparison, write_json
from surefoot.assessment.slices import holm
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions
from surefoot.risk.differences import differences, riskier
from surefoot.risk.intervals import Interval
from surefoot.risk.law.cells import Codes


@dataclass(frozen=True)
class SizeDifference:
    """How much larger the CSR of the other model is.

    Attributes
    ----------
    value : float
        CSR of the other model minus CSR of the first.
    """

    value: float


@dataclass(frozen=True)
class Riskier:
    """Whether the other model overstates its accuracy more than the first, or less.

    Attributes
    ----------
    difference : float
        Overstatement (mean confidence minus accuracy) of the other model minus that of the first: 0.03 is 3 points
        more.
    pvalue : float
        Two-sided p-value of "both overstate their accuracy by the same amount".
    pvalue_adjusted : float
        The same, adjusted for the number of models by Holm's method.
    """

    difference: float
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Assessments of several models, and the differences between each of the others and the first.

    Returned by :func:`compare`. Print it for a table, or write it with :meth:`to_html`. ``comparison["name"]`` is the
    assessment of one model.

    Attributes
    ----------
    assessments : mapping of str to Assessment
        The assessment of each model, by name.
    is_paired : bool
        Whether all models predicted the same rows, so that differences are taken row by row.
    pairing : str
        Why differences are paired or not, in words.
    csr : mapping of str to SizeDifference
        The difference of CSR, by name of the other model.
    values : mapping of str to mapping of str to Interval
        By name of the other model, the difference of each metric with its confidence interval: other minus first.
    riskier : mapping of str to Riskier
        By name of the other model, whether it overstates its accuracy more than the first.
    level : float
        The significance level of tests; confidence intervals have level 1 - ``level``.
    """

    assessments: Mapping[str, Assessment]
    is_paired: bool
    pairing: str
    csr: Mapping[str, SizeDifference] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    riskier: Mapping[str, Riskier] = field(default_factory=dict)
    level: float = 0.05

    @property
    def first(self) -> str:
        """The name of the model that the others are compared with."""
        return next(iter(self.assessments))

    def __getitem__(self, name: str) -> Assessment:
        """Return the assessment of one model.

        Parameters
        ----------
        name : str
            The name of the model.

        Returns
        -------
        Assessment
            Its assessment.
        """
        return self.assessments[name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON.

        Returns
        -------
        dict
            Dictionaries, lists, numbers and strings.
        """
        return plain_comparison(self)

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
        return write_json(self.to_dict(), path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the models side by side as one self-contained HTML file.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        write_whole(path, present("side_by_side", "report", self))

    def _repr_html_(self) -> str:
        return str(present("notebook", "comparison_card", self))

    def __str__(self) -> str:
        return str(present("side_by_side", "render", self))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {a.verdict}" for name, a in self.assessments.items())
        return f"<Comparison: {said}>"


def compare(models: Mapping[str, Any], *, level: float = 0.05, groups: Any = None) -> Comparison:
    """Compare models, with paired differences where they predict the same rows.

    Differences are each other model minus the first, with confidence intervals: of accuracy, cwA, log loss, Brier
    score, overstatement, the logarithm of O/E, AUC and cwAUC. ``riskier`` tests whether one model overstates its
    accuracy more than the other.

    Parameters
    ----------
    models : mapping of str to object
        At least two models by name, each as :class:`Predictions`, a :class:`Tally`, an :class:`Assessment`, a
        dataframe, or a pair of true labels and probabilities. The first is the one to compare with.
    level : float, default=0.05
        The significance level of tests; confidence intervals have level 1 - ``level``.
    groups : array-like of shape (n,), optional
        The group of each row (a patient, a user, a prompt); rows of one group may depend on each other.

    Returns
    -------
    Comparison
        ``assessments`` by name, and by name of each other model ``values``, ``csr`` and ``riskier``.

    Raises
    ------
    InvalidPredictions
        If there are fewer than two models, or groups do not fit them.

    Notes
    -----
    Differences are paired if the models have the same number of rows, equal weights, and the same true labels row by
    row (where these are known); rows are then taken to be the same, in the same order. p-values are adjusted for the
    number of models by Holm's method.

    Examples
    --------
    >>> from surefoot import Predictions
    >>> one = Predictions.from_correct([True] * 90 + [False] * 10, [0.9] * 100)
    >>> other = Predictions.from_correct([True] * 70 + [False] * 30, [0.9] * 100)
    >>> c = compare({"one": one, "other": other})
    >>> round(c.values["other"]["accuracy"].value, 6), c.riskier["other"].pvalue < 0.01
    (-0.2, True)
    """
    return _compare(models, level, groups, are_found=False)


def compare_by_id(models: Mapping[str, Any], *, level: float) -> Comparison:
    """As :func:`compare`, of rows that were found by their ids: rows of one place are the same."""
    return _compare(models, level, None, are_found=True)


def _compare(models: Mapping[str, Any], level: float, groups: Any, *, are_found: bool) -> Comparison:
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InvalidPredictions("compare takes two or more models by name: compare({'raw': p, 'platt': q}).")
    check_level(level)
    if groups is not None and any(isinstance(x, Assessment) for x in models.values()):
        raise InvalidPredictions("groups= needs predictions; pass groups= to assess when you make the assessments.")
    if len({str(name) for name in models}) < len(models):
        raise InvalidPredictions("two models have the same name as text; give each model its own name.")
    assessments = {
        str(name): x if isinstance(x, Assessment) else assess(x, level=level, groups=groups)
        for name, x in models.items()
    }
    views = {(a.view, a.event) for a in assessments.values()}
    if len(views) > 1:
        shown = sorted(f"of={view!r}" if event is None else f"of={view!r}, {event!r}" for view, event in views)
        raise InvalidPredictions(
            f"the models are about different things ({' and '.join(shown)})", hint="assess all with the same of="
        )
    is_of_classes = ("classes", None) in views
    # each class has differences of its own: those of a row are of one event
    held = [None if is_of_classes else a.predictions for a in assessments.values()]
    rows = [p for p in held if p is not None]
    is_paired, pairing = False, "a tally holds no rows to pair"
    if len(rows) == len(held):
        is_paired, pairing = _paired(rows, are_found=are_found)
    if is_of_classes:
        pairing = "every class is assessed by itself; for differences, compare one class with of='event'"
    _check_groups([a.codes for a in assessments.values()], is_paired=is_paired)
    first, *others = assessments
    if is_paired:
        pairing += _same_as_first(dict(zip(assessments, rows, strict=True)))
    csr: dict[str, SizeDifference] = {}
    values: dict[str, Mapping[str, Interval]] = {}
    tested: dict[str, tuple[float, float]] = {}
    by_name = dict(zip(assessments, held, strict=True))
    one, codes = by_name[first], assessments[first].codes
    for name in others:
        other = by_name[name]
        csr[name] = SizeDifference(assessments[name].risk.csr - assessments[first].risk.csr)
        if one is None or other is None:
            continue
        ranked = all(len(p) * len(p.labels or ()) <= MOST_RANKED and p.has_ranking for p in (one, other))
        values[name] = differences(
            other, one, level=1 - level, with_ranking=ranked, same_rows=is_paired, groups=codes if is_paired else None
        )
        p = riskier(other, one, same_rows=is_paired, groups=codes if is_paired else None)
        tested[name] = (values[name]["overstatement"].value, p)
    adjusted = holm([1.0 if math.isnan(p) else p for _, p in tested.values()])
    risks = {
        name: Riskier(value, p, q if not math.isnan(p) else math.nan)
        for (name, (value, p)), q in zip(tested.items(), adjusted, strict=True)
    }
    return Comparison(assessments, is_paired, pairing, csr, values, risks, level)


def _check_groups(codes: list[Codes | None], *, is_paired: bool) -> None:
    """Raise if models of the same rows disagree on which of them belong together."""
    if not is_paired or all(one is None for one in codes):
        return
    first = codes[0]
    for one in codes[1:]:
        together = 0 if one is None or first is None else len(np.unique(np.stack([one, first]), axis=1)[0])
        if one is None or first is None or not together == len(np.unique(one)) == len(np.unique(first)):
            raise InvalidPredictions("the models have different groups; pass the same groups for all of them.")


#: Rows from which models that agree in all of them are worth a word.
_FEW = 10


def _same_as_first(rows: Mapping[str, ArrayPredictions]) -> str:
    """A sentence on models whose every row is that of the first: their columns may have been mixed up."""
    first, *others = rows
    one = rows[first]
    same = [
        name
        for name in others
        # of a few rows, this may be chance
        if len(one) >= _FEW
        and np.array_equal(rows[name].correct, one.correct)
        and np.array_equal(rows[name].doubt, one.doubt)
    ]
    if not same:
        return ""
    many = len(same) > 1
    return (
        f". {' and '.join(same)} {'are' if many else 'is'} the same as {first} in every row: if "
        f"{'they' if many else 'it'} should not be, check which columns were read"
    )


def _attempted(p: ArrayPredictions) -> Any:
    return np.ones(len(p), dtype=bool) if p.attempted is None else p.attempted


def _paired(rows: list[ArrayPredictions], *, are_found: bool) -> tuple[bool, str]:
    sizes = {len(p) for p in rows}
    if len(sizes) > 1:
        return False, "the models were given different numbers of rows: differences are not paired"
    (size,) = sizes
    noun = "row" if size == 1 else "rows"
    if any(not np.array_equal(_attempted(p), _attempted(rows[0])) for p in rows):
        return False, f"{size:,} {noun} in each, but not the same ones were attempted: differences are not paired"
    if not are_found and any(not np.array_equal(p.source_numbers(), rows[0].source_numbers()) for p in rows):
        return False, f"{size:,} {noun} in each, but not the same ones were left out: differences are not paired"
    each = f"{noun} in both" if len(rows) == 2 else f"{noun} in each"
    if any((p.weight != rows[0].weight).any() for p in rows if p.is_weighted or rows[0].is_weighted):
        return False, f"{size:,} {each}, but of different weights: differences are not paired"
    known = [p.truth for p in rows if p.truth is not None]
    for truth in known[1:]:
        if truth.dtype.kind != known[0].dtype.kind or (truth != known[0]).any():
            return False, f"{size:,} {each}, but not the same truth: differences are not paired"
    every = "both" if len(rows) == 2 else "all"
    if len(known) < len(rows):
        return True, f"{size:,} {noun} in {every}, taken to be the same: differences are paired"
    return True, f"{size:,} {noun} in {every}, same truth row by row: differences are paired"
