r"""Rows that belong together: a patient, a user, a prompt. Their errors may depend on each other in any way.

Two answers, of which the verdict takes the first:

- The law of independent rows with the sum of each direction brought nearer to its mean,
  :math:`s' = m + (s - m) / \sqrt{D}`, where the design effect
  :math:`D = \max(1, \sum_g (\sum_{i \in g} r_i)^2 / \sum_i r_i^2)` of the residuals r says how much more such a sum
  varies than if rows were independent. Approximate: D is estimated, from so many groups.
- The e-value with each bet's gains averaged within a group before they multiply. Valid whatever the dependence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.core.table import Floats
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions
from surefoot.predictions.checks import check_lengths
from surefoot.predictions.labels import as_labels
from surefoot.risk.evalues import MIXTURE, log_wealth
from surefoot.risk.law.cells import Cells, Codes
from surefoot.risk.omnibus import DesignEffects, weights_of
from surefoot.risk.stream.eprocess import Segment


@dataclass(frozen=True)
class Dependence:
    """How much more sums vary than those of independent rows, and evidence that does not mind."""

    #: How many groups there are.
    groups: int
    #: The design effect of each direction, by side.
    effects: Mapping[str, Mapping[str, float]]
    #: That of the number of errors in each band of each figure.
    bands: Mapping[str, Mapping[int, float]]
    #: The logarithm of the e-value, by side; nan of weighted rows.
    log_e: Mapping[str, float]
    #: The variance of the share of errors, and the degrees of freedom it is known with.
    variance: float
    freedom: float

    def of_errors(self) -> float:
        """The design effect of the number of errors."""
        return self.effects["overconfident"]["errors"]

    def of_side(self, alternative: str) -> DesignEffects:
        """The design effects of all that is looked at on one side."""
        return DesignEffects(self.effects[alternative], self.bands)


def codes_of(rows: int, groups: Any) -> Codes:
    """What belongs together, as numbers from 0."""
    values = as_labels("groups", groups)
    check_lengths(rows=rows, groups=values)
    codes: Codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return codes


def group_codes(rows: int, groups: Any, weight: Floats | None = None) -> Codes:
    """The same, refused if there is only one group among the rows that count."""
    codes = codes_of(rows, groups)
    if rows and len(np.unique(codes if weight is None else codes[weight > 0])) < 2:
        raise InvalidPredictions(
            "all rows are in one group, so the variation between groups is unknown; leave out groups=, or name a "
            "column with several groups."
        )
    return codes


def dependence_of(p: ArrayPredictions, codes: Codes) -> Dependence:
    """From the rows and the group of each."""
    codes = np.unique(codes[p.weight > 0], return_inverse=True)[1].astype(np.int64)
    p = p[p.weight > 0] if p.is_weighted else p
    effects, log_e = {}, {}
    for side in ("overconfident", "underconfident"):
        cells = Cells.of_rows(p, is_mirrored=side == "underconfident")
        kept, where = cells.random, codes[cells.is_random]
        effects[side] = {
            name: design_effect(_scale(each) * (kept.fired - kept.p), where) for name, each in weights_of(kept).items()
        }
        log_e[side] = _log_e(cells, codes) if p.has_equal_weights else math.nan
    share = float((p.weight * p.wrong).sum() / p.weight.sum())
    variance, freedom = variance_of_mean(p.weight * (p.wrong - share) / float(p.weight.mean()), codes, p.weight)
    bands = _effects_of_bands(Cells.of_rows(p, is_mirrored=False), codes) if p.has_equal_weights else {}
    return Dependence(int(codes.max()) + 1, effects, bands, log_e, variance, freedom)


def _effects_of_bands(cells: Cells, codes: Codes) -> dict[str, dict[int, float]]:
    """The design effect of the number of errors in each band of each figure."""
    residual, found = cells.fired - cells.p, {}
    for name, bands in cells.bands.items():
        found[name] = {
            band: design_effect(residual[inside], np.unique(codes[inside], return_inverse=True)[1])
            for band in np.unique(bands).tolist()
            for inside in [bands == band]
        }
    return found


def design_effect(residuals: Floats, codes: Codes) -> float:
    """How much more a sum varies than if its terms were independent; at least 1.

    Examples
    --------
    >>> design_effect(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]))
    2.0
    """
    return effect_of(float((np.bincount(codes, residuals) ** 2).sum()), float((residuals**2).sum()))


def effect_of(of_groups: float, of_rows: float) -> float:
    """The design effect, from the squares of the sums of groups and of the terms, each added up."""
    return max(1.0, of_groups / of_rows) if of_rows else 1.0


def variance_of_mean(influence: Floats, codes: Codes | None, weight: Floats | None = None) -> tuple[float, float]:
    """The variance of the mean of influence values that add up to 0, and the degrees of freedom it is known with.

    Of groups, the jackknife's, which leaves out one group after the other: large ones pull the mean after them. A
    variance made of G squares is known as well as that of so many normal numbers as give squares that vary as much:
    2 G / (kurtosis - 1), and never better than G - 1.
    """
    sums = influence
    if codes is not None:
        held = np.bincount(codes, weight)
        # of groups of one size, or weight, this is 1
        rest = np.maximum(1 - held / held.sum(), 1 / len(codes))
        sums = np.bincount(codes, influence) * (1 - 1 / len(held)) / rest
    squares = sums**2
    total, count = float(squares.sum()), len(sums)
    if not total or count < 2:
        return 0.0, float(max(1, count - 1))
    freedom = freedom_of(count, 1.0, float(((squares / total) ** 2).sum()))
    return total * count / (count - 1) / len(influence) ** 2, freedom


def freedom_of(count: int, squares: float, fourth: float) -> float:
    """The degrees of freedom of a sum of so many squares, from their sum and that of theirs."""
    kurtosis = count * fourth / squares**2 if squares else 1.0
    return max(1.0, min(count - 1.0, 2 * count / max(kurtosis - 1, 1e-9)))


def _scale(weight: Floats) -> Floats:
    """Weights of which the squares stay finite: design effects do not know of units."""
    return weight / (float(np.abs(weight).max()) or 1.0) if len(weight) else weight


def _log_e(cells: Cells, codes: Codes) -> float:
    fired = cells.fired > 0
    if (fired & (cells.p == 0)).any():
        return math.inf
    order = np.argsort(codes, kind="stable")
    rows = Segment(cells.p[order], cells.q[order], fired[order], np.bincount(codes).astype(np.float64))
    return float(log_wealth(np.log(rows.gains(MIXTURE)).sum(axis=1)))
