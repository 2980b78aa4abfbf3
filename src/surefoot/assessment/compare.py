"""Models side by side: who is risky, who is worth more, and whether the difference is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.assessment.assess import MOST_RANKED, assess
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
    """How much larger the CSR of the other model is."""

    value: float


@dataclass(frozen=True)
class Riskier:
    """Whether the other model overstates its accuracy more than the first, or less."""

    #: Mean confidence minus accuracy, other minus first: 0.03 is 3 points more.
    difference: float
    #: Of "both overstate their accuracy alike", both sides; and adjusted for the number of models, by Holm's rule.
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Assessments of several models, and what each of the others has more or less than the first."""

    assessments: Mapping[str, Assessment]
    #: Whether all models were given the same rows, so that each row is compared with itself.
    is_paired: bool
    #: What makes them paired or not, in words.
    pairing: str
    #: By name of the other model: other minus first.
    csr: Mapping[str, SizeDifference] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    riskier: Mapping[str, Riskier] = field(default_factory=dict)
    #: Of tests; intervals are at 1 - level.
    level: float = 0.05

    @property
    def first(self) -> str:
        """The model that the others are compared with."""
        return next(iter(self.assessments))

    def __getitem__(self, name: str) -> Assessment:
        return self.assessments[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        return plain_comparison(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The same as strict JSON text, also written to ``path`` if one is given: whole, or not at all."""
        return write_json(self.to_dict(), path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """The models side by side, one HTML file that needs nothing else."""
        write_whole(path, present("side_by_side", "report", self))

    def _repr_html_(self) -> str:
        return str(present("notebook", "comparison_card", self))

    def __str__(self) -> str:
        return str(present("side_by_side", "render", self))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {a.verdict}" for name, a in self.assessments.items())
        return f"<Comparison: {said}>"


def compare(models: Mapping[str, Any], *, level: float = 0.05, groups: Any = None) -> Comparison:
    """Put models side by side, with paired differences where they were given the same rows.

    ``models`` maps names to what :func:`assess` takes alone: :class:`Predictions`, a :class:`Tally`, a dataframe, or a
    pair of true labels and probabilities. Models are taken to have been given the same rows, in the same order, if
    there are as many of them and all that is known of the truth agrees. ``groups`` says which of these rows belong
    together: a column of values.

    Differences are each other model minus the first, with intervals at 1 - ``level``: of accuracy, cwA, log loss, Brier
    score, points of overstatement, the logarithm of O/E, AUC and cwAUC. ``riskier`` tests whether one overstates its
    accuracy more than the other; two calibrated models, one sharper than the other, do not. p-values are adjusted for
    the number of models.

    Examples
    --------
    >>> from surefoot import Predictions
    >>> one = Predictions.from_correct([True] * 90 + [False] * 10, [0.9] * 100)
    >>> other = Predictions.from_correct([True] * 70 + [False] * 30, [0.9] * 100)
    >>> c = compare({"one": one, "other": other})
    >>> round(c.values["other"]["accuracy"].value, 6), c.riskier["other"].pvalue < 0.01
    (-0.2, True)
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InvalidPredictions("compare takes two or more models by name: compare({'raw': p, 'platt': q}).")
    check_share("level", level, "0.05")
    if groups is not None and any(isinstance(x, Assessment) for x in models.values()):
        raise InvalidPredictions("groups= needs predictions: assess(..., groups=) has them for an assessment already.")
    if len({str(name) for name in models}) < len(models):
        raise InvalidPredictions("two models have one name, as text; give each its own.")
    assessments = {
        str(name): x if isinstance(x, Assessment) else assess(x, level=level, groups=groups)
        for name, x in models.items()
    }
    held = [a.predictions for a in assessments.values()]
    rows = [p for p in held if p is not None]
    is_paired, pairing = _paired(rows) if len(rows) == len(held) else (False, "a tally holds no rows to pair")
    _check_groups([a.codes for a in assessments.values()], is_paired=is_paired)
    first, *others = assessments
    csr: dict[str, SizeDifference] = {}
    values: dict[str, Mapping[str, Interval]] = {}
    tested: dict[str, tuple[float, float]] = {}
    one, codes = assessments[first].predictions, assessments[first].codes
    for name in others:
        other = assessments[name].predictions
        csr[name] = SizeDifference(assessments[name].risk.csr - assessments[first].risk.csr)
        if one is None or other is None:
            continue
        ranked = all(len(p) * len(p.labels or ()) <= MOST_RANKED and p.probabilities is not None for p in (one, other))
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
            raise InvalidPredictions("the models disagree on which rows belong together; give all the same groups.")


def _paired(rows: list[ArrayPredictions]) -> tuple[bool, str]:
    sizes = {len(p) for p in rows}
    if len(sizes) > 1:
        return False, "the models were given different numbers of rows: differences are not paired"
    (size,) = sizes
    if any((p.weight != rows[0].weight).any() for p in rows if p.is_weighted or rows[0].is_weighted):
        return False, f"{size:,} rows in all, but of different weights: differences are not paired"
    known = [p.truth for p in rows if p.truth is not None]
    for truth in known[1:]:
        if truth.dtype.kind != known[0].dtype.kind or (truth != known[0]).any():
            return False, f"{size:,} rows in all, but not the same truth: differences are not paired"
    every = "both" if len(rows) == 2 else "all"
    if len(known) < len(rows):
        return True, f"{size:,} rows in {every}, taken to be the same: differences are paired"
    return True, f"{size:,} rows in {every}, same truth row by row: differences are paired"
