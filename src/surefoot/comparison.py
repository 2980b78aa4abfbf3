"""Models side by side: who is risky, who is worth more, and whether the difference is more than chance."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from surefoot.assessment import MOST_RANKED, Assessment, assess
from surefoot.errors import InvalidPredictions
from surefoot.predictions import Predictions
from surefoot.report.side_by_side import render
from surefoot.risk.intervals import Interval, paired_differences
from surefoot.tallies import Floats
from surefoot.writing import write_whole

SCHEMA = 2
#: Sign flips, and mistakes whose signs are flipped one by one; of the others, which are smaller, the sum is normal.
FLIPS, _FLIPPED = 5000, 20_000


@dataclass(frozen=True)
class SizeDifference:
    """How much larger the CSR of the other model is, and how likely that is if models are swapped at random by row."""

    value: float
    #: Two-sided, by sign flips of the rows' differences; nan where rows are not paired.
    pvalue: float
    flips: int


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

    @property
    def first(self) -> str:
        """The model that the others are compared with."""
        return next(iter(self.assessments))

    def __getitem__(self, name: str) -> Assessment:
        return self.assessments[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        return {
            "surefoot": "comparison",
            "schema": SCHEMA,
            "paired": self.is_paired,
            "pairing": self.pairing,
            "compared_with": self.first,
            "sign": "each model minus the first",
            "differences": {
                name: {
                    "csr": _finite(asdict(self.csr[name])) if name in self.csr else None,
                    **{key: _finite(asdict(interval)) for key, interval in self.values.get(name, {}).items()},
                }
                for name in list(self.assessments)[1:]
            },
            "models": {name: a.to_dict() for name, a in self.assessments.items()},
        }

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The same as strict JSON text, also written to ``path`` if one is given: whole, or not at all."""
        text = json.dumps(self.to_dict(), allow_nan=False, indent=2) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | PathLike[str]) -> None:
        """The models side by side, one HTML file that needs nothing else."""
        from surefoot.report.side_by_side import report

        write_whole(path, report(self))

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {a.verdict}" for name, a in self.assessments.items())
        return f"<Comparison: {said}>"


def compare(models: Mapping[str, Any], *, level: float = 0.05) -> Comparison:
    """Put models side by side, with paired tests of the differences where they were given the same rows.

    ``models`` maps names to what :func:`assess` takes alone: :class:`Predictions`, a :class:`Tally`, a dataframe, or a
    pair of true labels and probabilities. Models are taken to have been given the same rows, in the same order, if
    there are as many of them and all that is known of the truth agrees. Differences are each other model minus the
    first: of accuracy, cwA, AUC and cwAUC with intervals, of CSR with a p-value by sign flips. That one asks
    whether the models could be told apart row by row by their surprise. Two calibrated models, one sharper than the
    other, can: so a small p-value says that mistakes differ, and only the verdicts say that they should not have.

    Examples
    --------
    >>> one = Predictions.from_correct([True] * 90 + [False] * 10, [0.9] * 100)
    >>> other = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 100)
    >>> c = compare({"one": one, "other": other})
    >>> round(c.csr["other"].value, 6), round(c.values["other"]["accuracy"].value, 6)
    (1.0, -0.1)
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InvalidPredictions("compare takes two or more models by name: compare({'raw': p, 'platt': q}).")
    assessments = {str(name): x if isinstance(x, Assessment) else assess(x, level=level) for name, x in models.items()}
    held = [a.predictions for a in assessments.values()]
    rows = [p for p in held if p is not None]
    is_paired, pairing = _paired(rows) if len(rows) == len(held) else (False, "a tally holds no rows to pair")
    first, *others = assessments
    csr: dict[str, SizeDifference] = {}
    values: dict[str, Mapping[str, Interval]] = {}
    one = assessments[first].predictions
    for name in others:
        other = assessments[name].predictions
        difference = assessments[name].risk.csr - assessments[first].risk.csr
        if one is None or other is None:
            csr[name] = SizeDifference(difference, math.nan, 0)
            continue
        csr[name] = SizeDifference(
            difference, _flipped(one, other) if is_paired else math.nan, FLIPS if is_paired else 0
        )
        ranked = all(len(p) * len(p.labels or ()) <= MOST_RANKED and p.probabilities is not None for p in (one, other))
        values[name] = paired_differences(other, one, level=0.95, with_ranking=ranked, same_rows=is_paired)
    return Comparison(assessments, is_paired, pairing, csr, values)


def _paired(rows: list[Predictions]) -> tuple[bool, str]:
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


def _flipped(one: Predictions, other: Predictions) -> float:
    """How often the difference is as large if it is left to chance which of two surprises of a row is whose."""
    with np.errstate(invalid="ignore"):
        signed = _surprise(one) - _surprise(other)
    if not np.isfinite(signed).all():
        return math.nan
    differences = np.sort(np.abs(signed[signed != 0]))[::-1]
    if not len(differences):
        return 1.0
    seen = abs(float(signed.sum()))
    rng = np.random.default_rng(0)
    single, rest = differences[:_FLIPPED], differences[_FLIPPED:]
    reached = 0
    together = max(1, (1 << 22) // len(single))
    for start in range(0, FLIPS, together):
        some = min(together, FLIPS - start)
        signs = rng.integers(0, 2, (some, len(single)), dtype=np.int8) * 2 - 1
        sums = signs @ single + rng.standard_normal(some) * math.sqrt(float((rest**2).sum()))
        reached += int((np.abs(sums) >= seen * (1 - 1e-12)).sum())
    return (1 + reached) / (1 + FLIPS)


def _surprise(p: Predictions) -> Floats:
    """What each row adds to CSR; rows that claim certainty and are right are left out of it."""
    doubt, weight = p.doubt_of(slice(None)), p.weight
    counted = float(weight[doubt > 0].sum()) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise: Floats = np.where(p.wrong & (weight > 0), weight / doubt, 0.0) / counted
    return surprise


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in fields.items()}
