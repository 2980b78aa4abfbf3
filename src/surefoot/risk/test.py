"""The risk test: how likely are errors this surprising if the confidences are calibrated?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack, get_args

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.view import ONE_A_ROW
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.metrics.size_ratio import CSR, CSR_SIGMA, CSR_Z, P_RISK, normal_cdf
from surefoot.metrics.terms import BY_DOUBT, CERTAIN, CERTAIN_WRONG, DOUBT, ERRORS, ROWS, WEIGHT, WRONG
from surefoot.predictions import ArrayPredictions, Predictions, as_predictions
from surefoot.predictions.arguments import Columns, refuse_beside, takes_predictions
from surefoot.predictions.dataframe import values_of
from surefoot.risk.deflation import Deflation, csr_lower
from surefoot.risk.effects import (
    OF_EVENTS,
    Effects,
    Spread,
    effects_of,
    equal_weights,
    spread_of_errors,
    spread_of_rows,
)
from surefoot.risk.evalues import log_e
from surefoot.risk.groups import Dependence, dependence_of, group_codes
from surefoot.risk.law.bernoulli_sum import CAP, SAME, BernoulliSum, Tail
from surefoot.risk.law.cells import Cells
from surefoot.risk.law.counts import MOST, Counts, counts_of
from surefoot.risk.law.null import upper_tail
from surefoot.risk.lazy_groups import dependence_of_frame
from surefoot.risk.omnibus import DesignEffects, Direction, Draws, Omnibus, OmnibusOfSums, omnibus
from surefoot.risk.result import Alternative, Method, RiskResult

#: What a tally has to hold for the test.
TERMS = (ROWS, WEIGHT, ERRORS, CERTAIN, CERTAIN_WRONG, DOUBT, WRONG, *P_RISK.terms, *BY_DOUBT)

#: Weighted rows up to which those alike are found and put together.
_GROUPED = 100_000
#: Numbers drawn together.
_TOGETHER = 1 << 22


@takes_predictions
def risk_test(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    alternative: Alternative = "overconfident",
    method: Method = "exact",
    rng: np.random.Generator | None = None,
    draws: int = 9999,
    groups: Any = None,
    **columns: Unpack[Columns],
) -> RiskResult:
    r"""Test whether errors are too many, or too surprising, for the confidences.

    Read ``pvalue_omnibus`` for whether there is evidence, and ``oe_ratio`` and ``overstatement`` for how much it
    matters. Besides what is listed below, ``x`` may be a :class:`Tally`.

    Parameters
    ----------
    alternative : {"overconfident", "underconfident"}, default="overconfident"
        What to test against.
    method : {"exact", "normal", "monte_carlo"}, default="exact"
        How to compute ``pvalue``: exactly; with the paper's normal approximation, which is poor near certainty; or by
        simulation, which is never too small.
    rng : numpy.random.Generator, optional
        The source of randomness for ``"monte_carlo"``.
    draws : int, default=9999
        The number of simulations for ``"monte_carlo"``.
    groups : array-like of shape (n,) or str, optional
        The group of each row (a patient, a user, a prompt), or the name of its column; rows of one group may depend on
        each other. By default rows are independent.

    Returns
    -------
    RiskResult
        The p-values, the e-value, CSR, and the effect sizes with their confidence intervals.

    Raises
    ------
    ValueError
        If an option is not one of those listed.
    InvalidPredictions
        If the data are not valid predictions.
    MetricUnavailable
        If a tally does not hold what the test needs.

    See Also
    --------
    assess : this test in both directions, with a verdict.

    Notes
    -----
    The statistic is CSR, the mean of [wrong] / doubt, where doubt is 1 - confidence; against underconfidence it is its
    mirror image, the mean of [correct] / confidence. Given the doubts q, the p-value is

    .. math:: P\Big(\sum_i \frac{B_i}{q_i} \ge \sum_i \frac{[\hat y_i \ne y_i]}{q_i}\Big),
              \quad B_i \sim \mathrm{Bernoulli}(q_i) \text{ independent}

    It is valid not only against exact calibration but against "nowhere overconfident". One wrong sample of confidence 1
    makes p-values 0.

    With ``groups``, p-values account for the design effect, approximately, and the e-value for any dependence within
    groups; ``deflation`` and ``csr_lower`` are nan. With unequal weights the exact test needs the rows, and the
    e-value, ``deflation`` and ``csr_lower`` are nan; for a tally of such rows only ``method="normal"`` is available.

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> result = risk_test([1, 1, 1, 1], [1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    >>> result.pvalue, result.pvalue_mid, result.csr
    (0.9375, 0.8125, 0.5)
    """
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative is {alternative!r}; it should be 'overconfident' or 'underconfident'.")
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; it should be 'exact', 'normal' or 'monte_carlo'.")
    if method == "monte_carlo" and not isinstance(rng, np.random.Generator):
        raise ValueError("method 'monte_carlo' draws at random; pass rng=numpy.random.default_rng(seed).")
    check_whole("draws", draws)
    if isinstance(x, Tally):
        refuse_beside("risk_test(tally)", second, third, columns)
    else:
        groups = values_of(x, groups, "groups")
        x = as_predictions(x, second, third, columns, function="risk_test", views=ONE_A_ROW)
    if x.view == "classes":
        raise InvalidPredictions("a risk test is of one event; assess(tally) tests every class")
    if isinstance(x, Predictions) and x.has_rows and (groups is not None or not x.has_equal_weights):
        # the exact law of unequal weights is made of rows, and so is what rows of a group have in common
        x = x.rows()
    tally = x if isinstance(x, Tally) else x.tally((*TERMS, *OF_EVENTS) if x.view == "event" else TERMS)
    rows = x if isinstance(x, ArrayPredictions) else None
    dependence = None if groups is None else dependence_within(x, groups, tally)
    return _RiskTest(tally, rows, method, rng, draws, dependence).result(alternative)


def dependence_within(x: Any, groups: Any, tally: Tally, *, of_slice: bool = False) -> Dependence:
    """What rows of one group have in common, of rows at hand or of a lazy frame with a column of that name."""
    if isinstance(x, ArrayPredictions):
        return dependence_of(x, group_codes(len(x), x.align("groups", groups), x.weight))
    if isinstance(x, Tally):
        raise InvalidPredictions("a tally does not hold which rows belong together; groups= needs the rows.")
    return dependence_of_frame(x, groups, tally, of_slice=of_slice)


def both_sides(
    tally: Tally,
    predictions: ArrayPredictions | None = None,
    dependence: Dependence | None = None,
    *,
    is_tested: bool = True,
) -> tuple[RiskResult, RiskResult]:
    """The risk test against overconfidence and against underconfidence; if not tested, what describes the rows alone.

    Exact; but of unequal weights a tally does not hold what that takes: then both are by the normal law, and say so.
    """
    method: Method = "exact" if equal_weights(tally) or predictions is not None else "normal"
    tested = _RiskTest(tally, predictions, method, dependence=dependence, is_tested=is_tested)
    return tested.result("overconfident"), tested.result("underconfident")


class _RiskTest:
    """Totals under test, with what both sides share."""

    def __init__(
        self,
        tally: Tally,
        predictions: ArrayPredictions | None,
        method: Method,
        rng: np.random.Generator | None = None,
        draws: int = 9999,
        dependence: Dependence | None = None,
        *,
        is_tested: bool = True,
    ) -> None:
        absent = next((term for term in TERMS if not tally.has(term)), None)
        if absent is not None:
            raise MetricUnavailable(
                f"the risk test needs the total {absent.name!r}, which this tally does not hold; make it with "
                "surefoot.tally(predictions), without metrics=."
            )
        self.is_weighted = not equal_weights(tally)
        if self.is_weighted and predictions is None and method != "normal":
            raise MetricUnavailable("with unequal weights the risk test needs the rows, which a tally does not hold.")
        self.tally, self.predictions = tally, predictions
        self.method, self.rng, self.draws = method, rng, draws
        self.counts = counts_of(tally)
        self.effects = effects_of(tally, dependence or self._spread())
        self.dependence, self.is_tested = dependence, is_tested
        #: Whether weights are unequal and only their totals at hand.
        self.is_known_by_sums = self.is_weighted and predictions is None

    def _spread(self) -> Spread | None:
        """How uncertain the share of events is, of unequal weights whose rows are at hand."""
        p = self.predictions
        if not self.is_weighted or p is None or p.view != "event":
            return None
        return spread_of_rows(p)

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self._cells("overconfident"))

    def result(self, alternative: Alternative) -> RiskResult:
        tally, is_weighted = self.tally, self.is_weighted
        every = self._counts(alternative)
        counts = every.doubtful()
        surprised = every.certain()[1] > 0
        law = _law(tally, self.predictions, counts, alternative)
        groups = self.dependence
        within = None if groups is None else groups.of_side(alternative)
        plain, companion = self._tails(law, surprised, within)
        evidence = math.nan if is_weighted or not self.is_tested else math.inf if surprised else log_e(counts)
        if groups is not None and math.isfinite(evidence):
            evidence = groups.log_e[alternative]
        together: Omnibus | OmnibusOfSums | None = None
        if self.is_known_by_sums:
            # all that totals of weighted rows can say: z, of which the capped companion is not known
            z = float(CSR_Z.evaluate(tally).value)
            p = 0.0 if surprised else _normal_chance(-z if alternative == "overconfident" else z)
            plain, companion = Tail(p, p), Tail(math.nan, math.nan)
            together = _omnibus_of_sums(self.effects, tally, p, alternative)
        elif self.is_tested:
            known = {"csr": plain.p, "capped": companion.p}
            cells = self._cells(alternative)
            # both sides share their draws, unless rounded rows are left out of one
            together = omnibus(cells, evidence, known, Draws(cells) if tally.rounded else self._draws, within)
        # neither deflation nor the bound of CSR knows of groups
        unknown = is_weighted or groups is not None
        deflation = None if unknown else Deflation(every)
        skewness, share = _moments(law.rows)
        statistic = math.inf if surprised else law.observed / law.weight if law.weight else math.nan
        if self.is_known_by_sums:
            # a table by doubt counts rows, not weights: what it tells is not of these
            skewness = share = math.nan
            statistic = float(CSR.evaluate(tally).value) if alternative == "overconfident" else math.nan
        return RiskResult(
            csr=float(CSR.evaluate(tally).value),
            sigma=float(CSR_SIGMA.evaluate(tally).value),
            z=float(CSR_Z.evaluate(tally).value),
            p_risk=float(P_RISK.evaluate(tally).value),
            statistic=statistic,
            pvalue=plain.p,
            pvalue_mid=plain.mid,
            pvalue_capped=companion.p,
            pvalue_combined=min(
                1.0, 2 * min((p for p in (plain.p, companion.p) if not math.isnan(p)), default=math.nan)
            ),
            pvalue_omnibus=math.nan if together is None else together.pvalue,
            e_value=math.nan if is_weighted else _exp(evidence),
            log_e=evidence,
            **vars(self.effects),
            deflation=math.nan if deflation is None else deflation.best,
            csr_lower=math.nan if unknown or not self.is_tested else math.inf if surprised else csr_lower(counts),
            n=round(tally[ROWS]),
            errors=round(tally[ERRORS]),
            certain=round(tally[CERTAIN]),
            certain_wrong=round(tally[CERTAIN_WRONG]),
            rounded=tally.rounded,
            skewness=skewness,
            heaviest_share=share,
            method=self.method,
            alternative=alternative,
            groups=None if groups is None else groups.groups,
            design_effect=1.0 if groups is None else groups.of_errors(),
            _omnibus=together,
            _deflation=deflation,
        )

    def _counts(self, alternative: Alternative) -> Counts:
        """The counts as one side sees them."""
        if alternative == "overconfident":
            return self.counts
        return self.counts.without_rounded(self.tally.rounded).mirrored()

    def _tails(self, law: _Law, surprised: bool, within: DesignEffects | None) -> tuple[Tail, Tail]:
        """The tail of the statistic and of its capped companion."""
        if not self.is_tested:
            return Tail(math.nan, math.nan), Tail(math.nan, math.nan)
        capped = law.capped(CAP)
        if surprised:
            return Tail(0.0, 0.0), Tail(0.0, 0.0)
        if within is not None:
            own = within.directions
            law, capped = law.toward_mean(own["csr"]), capped.toward_mean(own["capped"])
        if self.method == "monte_carlo":
            assert self.rng is not None
            return _tails_by_draws(law, capped, self.rng, self.draws)
        tail = upper_tail if self.method == "exact" else _normal_tail
        plain = tail(law.rows, law.observed)
        # where no weight is capped, they are the same
        return plain, plain if (capped.rows.weight == law.rows.weight).all() else tail(capped.rows, capped.observed)

    def _cells(self, alternative: Alternative) -> Cells:
        """The groups of samples that the omnibus test draws."""
        is_mirrored = alternative == "underconfident"
        if not self.is_weighted or self.predictions is None:
            is_event = self.tally.view == "event"
            return Cells.of(self._counts(alternative).doubtful(), is_mirrored=is_mirrored, is_event=is_event)
        return Cells.of_rows(self.predictions, is_mirrored=is_mirrored).random


def _omnibus_of_sums(effects: Effects, tally: Tally, pvalue: float, alternative: Alternative) -> OmnibusOfSums:
    """The omnibus test where weights are unequal and only their sums are known: errors and CSR, by normal laws."""
    sign = 1 if alternative == "overconfident" else -1
    spread = spread_of_errors(tally)
    excess = sign * (tally[WRONG] - tally[DOUBT])
    counted = _normal_chance(-excess / spread) if spread else float(excess <= 0)
    observed, expected = effects.observed_errors, effects.expected_errors
    found = tuple(
        Direction(name, *numbers, p, min(1.0, 2 * p))
        for name, numbers, p in (
            ("errors", (observed, expected), counted),
            ("csr", (float(CSR.evaluate(tally).value), 1.0), pvalue),
        )
    )
    return OmnibusOfSums(found)


@dataclass(frozen=True)
class _Law:
    """The rows under calibration, the weights of those that were a surprise, and what all rows count together."""

    rows: BernoulliSum
    surprise: Floats
    count: Floats
    weight: float

    @property
    def observed(self) -> float:
        """What the surprises add up to, at most what all rows add: in cells that may be a little less than they did."""
        return min(float((self.surprise * self.count).sum()), self.rows.total)

    def toward_mean(self, effect: float) -> _Law:
        """The same with what was observed brought nearer to its mean by a design effect."""
        mean = self.rows.mean
        return replace(self, surprise=np.array([mean + (self.observed - mean) / math.sqrt(effect)]), count=np.ones(1))

    def capped(self, share: float) -> _Law:
        """The same with no weight above a share of the whole."""
        most = share * self.weight
        return _Law(self.rows.capped(most), np.minimum(self.surprise, most), self.count, self.weight)


def _law(tally: Tally, predictions: ArrayPredictions | None, counts: Counts, alternative: Alternative) -> _Law:
    if equal_weights(tally) or predictions is None:
        held = counts.wrong > 0
        surprise = counts.surprise[held] / counts.wrong[held]
        return _Law(counts.under_calibration(), surprise, counts.wrong[held], counts.n)
    cells = Cells.of_rows(predictions, is_mirrored=alternative == "underconfident")
    kept = (cells.weight > 0) & (cells.p > 0)
    weight = cells.weight[kept] / np.maximum(cells.p[kept], 1 / MOST)
    observed = weight[cells.fired[kept] > 0]
    columns, count = np.stack([cells.p[kept], cells.q[kept], weight]), np.ones(len(weight))
    if len(weight) <= _GROUPED:
        # rows alike are one group, as they are in a table by doubt
        columns, alike = np.unique(columns, axis=1, return_counts=True)
        count = alike.astype(np.float64)
    rows = BernoulliSum(columns[0], columns[1], columns[2], count)
    return _Law(rows, observed, np.ones(len(observed)), float(cells.weight[kept].sum()))


def _normal_tail(rows: BernoulliSum, s: float) -> Tail:
    mean, spread = rows.mean, rows.deviation
    if not spread:
        return Tail(float(s <= mean), float(s <= mean) / 2)
    p = _normal_chance((mean - s) / spread)
    return Tail(p, p)


def _normal_chance(z: float) -> float:
    """The chance of a normal number below z; what is smaller than any float is the smallest one, for it is not zero."""
    p = normal_cdf(z)
    return p if p or math.isinf(z) else math.ulp(0.0)


def _tails_by_draws(law: _Law, capped: _Law, rng: np.random.Generator, draws: int) -> tuple[Tail, Tail]:
    """Both tails from the same draws, counted with the data as one of them, which makes them valid for any number."""
    rows = law.rows
    size = max(1, _TOGETHER // max(1, len(rows.p)))
    reached = np.zeros((2, 2))
    for start in range(0, draws, size):
        fired = rng.binomial(rows.count.astype(np.int64), rows.p, (min(size, draws - start), len(rows.p)))
        for i, each in enumerate((law, capped)):
            sums = (fired * each.rows.weight).sum(axis=1)
            reached[i] += (sums >= each.observed * (1 - SAME)).sum(), (sums > each.observed * (1 + SAME)).sum()
    at_least, above = (reached.T + 1) / (draws + 1)
    plain, companion = (Tail(float(p), float(p + q) / 2) for p, q in zip(at_least, above, strict=True))
    return plain, companion


def _moments(rows: BernoulliSum) -> tuple[float, float]:
    """The skewness of the surprise under calibration, and the share of its variance that one row holds."""
    if not len(rows.weight):
        return 0.0, 0.0
    # scaled before it is squared or cubed: weights may be as large as floats go
    scaled = rows.weight / rows.weight.max()
    variances = rows.p * rows.q * scaled * scaled
    total = float((rows.count * variances).sum())
    if not total:
        return 0.0, 0.0
    scaled = scaled / math.sqrt(total)
    third = rows.p * rows.q * scaled * scaled * scaled * (rows.q - rows.p) * rows.count
    return float(third.sum()), float(variances.max()) / total


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf
