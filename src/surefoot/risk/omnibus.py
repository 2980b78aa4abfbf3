"""The omnibus test: too many errors in any of several directions, calibrated together.

CSR weighs an error by 1 / doubt, so a few near-certain samples can drown thousands at 60%. No single weight sees every
way of being overconfident. The omnibus test looks in five directions, each a weighted sum of errors:

- ``errors``: every error counts 1;
- ``half``: an error counts doubt ** -1/2;
- ``csr``: an error counts 1 / doubt;
- ``capped``: the same, but no sample may contribute more than 10% of the number of samples;
- ``extremeness``: an error counts the log-odds of its confidence, the slope of the likelihood in a temperature:
  confidences too far from one half. Of an event, too far from their mean: the slope of a logistic recalibration.

Beside them stand the counts of errors in the bands of each figure (the surest contradiction of an all-clear is a red
bin below it) and the e-value. The smallest p-value of all is the statistic. Its law under calibration is simulated:
given the confidences, the numbers of errors in groups of samples of like doubt are independent binomials, and every
direction is a function of these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from surefoot._stats.binomial import more_than
from surefoot._stats.products import product
from surefoot.core.table import Floats
from surefoot.risk.evalues import MIXTURE, factors, log_wealth
from surefoot.risk.law.bernoulli_sum import CAP, SAME, BernoulliSum
from surefoot.risk.law.cells import Cells
from surefoot.risk.law.null import upper_tail

#: Draws to begin with, and draws in all where the first leave doubt; the p-value from which they do not.
_FIRST, _ALL, _SETTLED = 499, 4999, 0.1
#: Bonferroni's p-value up to which nothing is drawn: so many draws would not show it better.
_FAR = 0.002
#: Draws are the same whenever and wherever: a verdict must not depend on chance.
_SEED = 20260
#: The variance from which the number of errors of a group of samples is drawn as a rounded normal number.
_MANY = 1000.0

#: A sample adds at most this much, so that sums are finite whatever the doubt.
_HEAVIEST = 1e280
#: Nodes for the law of a direction: where many share a confidence, p is then up to 3% too large.
_NODES = 1 << 13
#: Log-odds of an event that are as near to their mean, relative to it, are at it.
_SAME_ODDS = 1e-12
#: Differences of counts up to which they are ranked by counting.
_MOST_COUNTS = 1 << 12
_EVIDENCE = "e-value"
#: What is smaller than any float is the smallest one, for it is not zero.
_LEAST = math.ulp(0.0)

NAMES = ("errors", "half", "csr", "capped", "extremeness")


@dataclass(frozen=True)
class Direction:
    """One direction of the omnibus test: one way to weigh errors when looking for too many of them.

    Attributes
    ----------
    name : str
        ``"errors"``, ``"half"``, ``"csr"``, ``"capped"`` or ``"extremeness"``; for the further checks the figure whose
        worst band it is, or ``"e-value"``.
    statistic : float
        The observed weighted sum of errors (against underconfidence, of correct samples).
    expected : float
        Its mean if the model were calibrated.
    pvalue : float
        Exact chance of a sum at least this large if the model were calibrated.
    pvalue_adjusted : float
        The same, adjusted for the number of directions.
    """

    name: str
    statistic: float
    expected: float
    pvalue: float
    pvalue_adjusted: float

    @property
    def observed(self) -> float:
        """The same as ``statistic``."""
        return self.statistic


class Omnibus:
    """The p-value of all directions together, and each of them.

    Where the first draws settle it, no direction's own p-value is needed: it is computed when it is looked at.
    """

    def __init__(
        self,
        side: TestedSide,
        known: Mapping[str, float],
        adjusted: dict[str, float],
        exact: dict[str, Direction] | None = None,
    ) -> None:
        self._side, self._known, self._adjusted, self._exact = side, known, adjusted, exact
        self.pvalue = min(adjusted.values())

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The five, those that coincide with the same p-values."""
        exact = self._exact or self._side.exact(self._known)
        found = []
        for name, same in self._side.stands_for.items():
            sizes = self._side.observed_and_expected(name)
            found.append(Direction(name, *sizes, exact[same].pvalue, self._adjusted[same]))
        return tuple(found)

    @cached_property
    def consistency(self) -> tuple[Direction, ...]:
        """The worst band of each figure, and the e-value, whose p-value is at most 1 / e."""
        return tuple(replace(one, pvalue_adjusted=self._adjusted[name]) for name, one in self._side.beside.items())


@dataclass(frozen=True)
class OmnibusOfSums:
    """The same where only sums are known: by Bonferroni."""

    directions: tuple[Direction, ...]
    consistency: tuple[Direction, ...] = ()

    @property
    def pvalue(self) -> float:
        return min(one.pvalue_adjusted for one in self.directions)


def omnibus(
    cells: Cells, log_e: float, known: Mapping[str, float], draws: Draws, effects: DesignEffects | None = None
) -> Omnibus:
    """Test one side in all directions; ``known`` are the p-values of directions that have been computed already."""
    side = TestedSide(cells, log_e, effects)
    if len(cells.p) and min(known.values(), default=1.0) > _FAR:
        first = draws.adjusted(side, _FIRST)
        if min(first.values()) > _SETTLED:
            return Omnibus(side, known, first)
    directions = side.exact(known)
    exact = {**directions, **side.beside}
    adjusted = {name: min(1.0, len(exact) * one.pvalue) for name, one in exact.items()}
    if min(adjusted.values()) > _FAR and len(cells.p):
        # a union is at most as likely as its parts together: where draws say more, that is their noise
        drawn = draws.adjusted(side, _ALL)
        adjusted = {name: min(p, drawn[name]) for name, p in adjusted.items()}
    return Omnibus(side, known, adjusted, directions)


@dataclass(frozen=True)
class DesignEffects:
    """The design effects of rows that belong together: of each direction, and of each band of each figure."""

    directions: Mapping[str, float]
    bands: Mapping[str, Mapping[int, float]]


class Draws:
    """Numbers of errors by group, drawn as of a calibrated model: the same for both sides of a test."""

    def __init__(self, cells: Cells, seed: int = 0) -> None:
        self.cells = cells.merged
        self._rng = np.random.default_rng(_SEED + seed)
        # the data stand among the draws as one of them, which makes p-values valid for any number of draws
        self._drawn = self.cells.fired[None, :]

    def adjusted(self, side: TestedSide, count: int) -> dict[str, float]:
        """The p-value of each direction, adjusted for all: how often the smallest p-value of a draw is as small."""
        missing = count + 1 - len(self._drawn)
        if missing > 0:
            self._drawn = np.vstack([self._drawn, self.more(missing)])
        fired = self._drawn[: count + 1]
        if side.cells.is_mirrored != self.cells.is_mirrored:
            fired = self.cells.rows - fired
        values = side.values(fired)
        ranks = np.stack([_upper_ranks(*value) for value in values.values()])
        smallest = np.sort(ranks.min(axis=0))
        return {
            name: float(np.searchsorted(smallest, rank[0], side="right")) / len(smallest)
            for name, rank in zip(values, ranks, strict=True)
        }

    def more(self, count: int) -> Floats:
        """So many further draws."""
        c = self.cells
        drawn = np.empty((count, len(c.p)))
        single = np.flatnonzero(c.rows == 1)
        drawn[:, single] = self._rng.random((count, len(single))) < c.p[single]
        for i in np.flatnonzero(c.rows > 1).tolist():
            n, chance = float(c.rows[i]), float(c.p[i])
            variance = n * chance * float(c.q[i])
            if variance > _MANY:
                normal = n * chance + math.sqrt(variance) * self._rng.standard_normal(count)
                drawn[:, i] = np.clip(np.round(normal), 0.0, n)
            else:
                drawn[:, i] = self._rng.binomial(int(n), chance, count)
        return drawn


def _upper_ranks(values: Floats, tolerance: float) -> Floats:
    """How many values are as large as each, itself among them."""
    rising = np.sort(values)
    below = np.searchsorted(rising, values - SAME * np.abs(values) - tolerance, side="left")
    return (len(values) - below).astype(np.float64)


def _count_ranks(counts: Floats) -> Floats:
    """Of each column of counts, how many are as large as each: as :func:`_upper_ranks`, all at once."""
    whole = np.round(counts - counts.min(axis=0)).astype(np.intp)
    width = int(whole.max()) + 1
    if width > _MOST_COUNTS:
        return np.stack([_upper_ranks(column, 0.5) for column in counts.T], axis=1)
    places = whole + width * np.arange(counts.shape[1])
    numbers = np.bincount(places.ravel(), minlength=width * counts.shape[1]).reshape(counts.shape[1], width)
    at_least = np.cumsum(numbers[:, ::-1], axis=1)[:, ::-1]
    ranks: Floats = at_least.ravel()[places].astype(np.float64)
    return ranks


class TestedSide:
    """What is asked of the groups of samples: against overconfidence, or mirrored."""

    def __init__(self, cells: Cells, log_e: float, effects: DesignEffects | None = None) -> None:
        # evidence averaged within groups has another law than that of draws, and stands by itself
        self.cells, self.log_e, self.effects = cells, log_e if effects is None else math.nan, effects
        self.weights = weights_of(cells)

    def _toward(self, name: str, observed: Any, mean: Any) -> Any:
        """What was observed, brought nearer to its mean by the design effect."""
        return observed if self.effects is None else mean + (observed - mean) / math.sqrt(self.effects.directions[name])

    @cached_property
    def stands_for(self) -> dict[str, str]:
        """For each direction the first that is the same: where no weight is capped, say, or all doubts are equal."""
        found: dict[str, str] = {}
        for name in NAMES:
            alike = (other for other in found if _is_same(self.weights[name], self.weights[other]))
            found[name] = found.get(next(alike, ""), name)
        return found

    def observed_and_expected(self, name: str) -> tuple[float, float]:
        weight = self.weights[name]
        chances = self.cells.rows * self.cells.p
        return float((weight * self.cells.fired).sum()), float((weight * chances).sum())

    def exact(self, known: Mapping[str, float]) -> dict[str, Direction]:
        """Each direction that differs from the others, with its p-value by the exact law."""
        found = {}
        for name in dict.fromkeys(self.stands_for.values()):
            observed, expected = self.observed_and_expected(name)
            same = next((other for other in known if self.stands_for[other] == name), None)
            p = known[same] if same is not None else self._tail(name)
            found[name] = Direction(name, observed, expected, p, math.nan)
        return found

    @cached_property
    def beside(self) -> dict[str, Direction]:
        """What stands beside the directions: the worst band of each figure, and the e-value."""
        found = {}
        for name in self.cells.bands:
            found[name] = _worst_band(name, *self._by_band(self.cells, name))
        if not math.isnan(self.log_e):
            e_value = math.exp(min(self.log_e, 700.0))
            p = max(math.exp(-max(self.log_e, 0.0)), _LEAST)
            found[_EVIDENCE] = Direction(_EVIDENCE, e_value, 1.0, p, math.nan)
        return found

    def _tail(self, name: str) -> float:
        """The chance that a weighted sum of errors is as large as that of these; weights may be negative."""
        # the sum and its law are of the same groups, or a sum of 0 would be a little more or less
        cells = self.cells.merged
        weight = weights_of(cells)[name]
        if not weight.any():
            return 1.0
        # an error that counts less than nothing is a correct sample that counts
        negative = weight < 0
        chance = np.where(negative, cells.q, cells.p)
        otherwise = np.where(negative, cells.p, cells.q)
        counted = np.where(negative, cells.rows - cells.fired, cells.fired)
        law = BernoulliSum(chance, otherwise, np.abs(weight), cells.rows, cells.is_exact)[weight != 0]
        observed = self._toward(name, float((counted * np.abs(weight)).sum()), law.mean)
        return upper_tail(law, min(observed, law.total), nodes=_NODES).p

    def _by_band(self, cells: Cells, name: str) -> tuple[Floats, Floats, Floats]:
        """The rows of each band of a figure, the surprises, and those expected."""
        codes, where = np.unique(cells.bands[name], return_inverse=True)
        rows, fired, expected = (
            np.bincount(where, column).astype(np.float64) for column in (cells.rows, cells.fired, cells.rows * cells.p)
        )
        if self.effects is not None:
            own = self.effects.bands[name]
            effect = np.sqrt([own.get(code, 1.0) for code in codes.tolist()])
            fired = np.floor(expected + (fired - expected) / effect + 1e-9)
        return rows, fired, expected

    def tables(self, fired: Floats) -> dict[str, Floats]:
        """For each row of numbers of errors by merged group: the sum of every direction, the counts of every band."""
        cells = self.cells.merged
        weights = weights_of(cells)
        found = {name: product(fired, weights[name][:, None]) for name in dict.fromkeys(self.stands_for.values())}
        for name, bands in cells.bands.items():
            found[name] = product(fired, (bands[:, None] == np.unique(bands)).astype(np.float64))
        if not math.isnan(self.log_e):
            found[_EVIDENCE] = _log_e_values(cells, fired)[:, None]
        return found

    def values(self, fired: Floats) -> dict[str, tuple[Floats, float]]:
        """For each row of numbers of errors by merged group: the value of every direction, and what counts as a tie."""
        cells = self.cells.merged
        weights, found = weights_of(cells), {}
        for name, table in self.tables(fired).items():
            if name in weights:
                weight, sums = weights[name], table[:, 0]
                # where weights have both signs, sums may cancel and keep the rounding of their terms
                lost = 1e-14 * float((np.abs(weight) * cells.rows).sum()) if (weight < 0).any() else 0.0
                # the data, which are the first of the draws, may be of rows that belong together: draws never are
                sums[0] = self._toward(name, sums[0], float((weight * cells.rows * cells.p).sum()))
                found[name] = (sums, lost)
            elif name == _EVIDENCE:
                found[name] = (table[:, 0], 0.0)
            else:
                table[0] = self._by_band(cells, name)[1]
                found[name] = (-_count_ranks(table).min(axis=1), 0.5)
        return found


def weights_of(cells: Cells) -> dict[str, Floats]:
    """What one sample adds in each direction if it is an error (mirrored: if it is correct)."""
    odds = np.log(cells.confidence) - np.log(cells.doubt) - cells.centre
    if cells.is_event:
        # the mean of equal numbers may miss them by their last digit, which would count for or against the model
        odds[np.abs(odds) <= _SAME_ODDS * max(1.0, abs(cells.centre))] = 0.0
    surprise = np.minimum(cells.weight / cells.p, _HEAVIEST)
    return {
        "errors": cells.weight,
        "half": cells.weight / np.sqrt(cells.p),
        "csr": surprise,
        "capped": np.minimum(surprise, CAP * cells.total),
        "extremeness": cells.weight * odds,
    }


def _is_same(one: Floats, other: Floats) -> bool:
    """Whether one set of weights is the other times a positive number."""
    if not len(one) or not one.any() or not other.any():
        return False
    place = int(np.argmax(np.abs(other)))
    factor = float(one[place]) / float(other[place])
    return factor > 0 and bool((np.abs(one - factor * other) <= 1e-9 * np.abs(one)).all())


def _worst_band(name: str, rows: Floats, fired: Floats, expected: Floats) -> Direction:
    """Of a figure's bands the one with the smallest p-value, adjusted for their number.

    By the binomial law of the mean chance, which is never narrower than that of unequal ones.
    """
    if not len(rows):
        return Direction(name, 0.0, 0.0, 1.0, math.nan)
    p = more_than(np.round(fired) - 1, rows, np.minimum(expected / rows, 1.0))
    worst = int(np.argmin(p))
    smallest = min(1.0, max(float(p[worst]), _LEAST) * len(p))
    return Direction(name, float(fired[worst]), float(expected[worst]), smallest, math.nan)


def _log_e_values(cells: Cells, fired: Floats) -> Floats:
    """The logarithm of the e-value of each row of numbers of errors by group."""
    every = np.ones(len(cells.p), dtype=bool)
    on_wrong, on_right = (np.log(factors(MIXTURE, cells.p, cells.q, which)) for which in (every, ~every))
    values: Floats = log_wealth(product(fired, (on_wrong - on_right).T) + on_right @ cells.rows)
    return values
