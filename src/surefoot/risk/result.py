"""The result of the risk test."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from surefoot._io.presentation import present
from surefoot.risk.deflation import Deflation
from surefoot.risk.omnibus import Direction, Omnibus, OmnibusOfSums

Alternative = Literal["overconfident", "underconfident"]
Method = Literal["exact", "normal", "monte_carlo"]

#: Skewness from which the normal law misses the 5% point by a tenth or more, and share of variance to speak of.
_SKEWED, _DOMINATED = 0.17, 0.5


@dataclass(frozen=True)
class RiskResult:
    """The result of :func:`risk_test`: whether errors are too many or too surprising, and by how much.

    Read ``pvalue_omnibus`` for whether there is evidence, and ``oe_ratio`` and ``overstatement`` for how much it
    matters. :func:`assess` takes its verdict from ``pvalue_omnibus``.

    Attributes
    ----------
    csr, sigma, z, p_risk : float
        The calibrated size ratio, and the paper's standard deviation, z and probability of risk, which assume a normal
        distribution. :attr:`note` says where that assumption is a poor fit.
    statistic : float
        The statistic of ``pvalue``: CSR, or for underconfidence its mirror image, the mean of [correct] / confidence.
    pvalue, pvalue_mid : float
        Exact chance of a statistic at least this large if the model were calibrated; and the mid-p value, which counts
        half the chance of equality.
    pvalue_capped : float
        The same where no single sample may contribute more than 10% of the number of samples.
    pvalue_combined : float
        Twice the smaller of ``pvalue`` and ``pvalue_capped``.
    pvalue_omnibus : float
        Chance of an outcome at least this extreme, in any of the directions tested, if the model were calibrated.
    directions : tuple of Direction
        The directions of the omnibus test: ``"errors"``, ``"half"``, ``"csr"``, ``"capped"``, ``"extremeness"``.
    consistency : tuple of Direction
        Two further checks of the omnibus test: the worst band of each figure, and the e-value.
    e_value, log_e : float
        Evidence against calibration that you may look at as often as you like, and its logarithm. A calibrated model
        reaches 20 with a chance of at most 1 in 20.
    expected_errors, observed_errors : float
        Errors that the confidences imply, and errors made. With unequal weights, sums of weights.
    oe_ratio, oe_interval : float, tuple of float
        Observed over expected errors, and its 95% confidence interval. In the event view, of events: below 1 the model
        overpredicts.
    overstatement, overstatement_interval : float, tuple of float
        Mean confidence minus accuracy, and its 95% confidence interval: 0.03 is 3 points too confident. In the event
        view, mean predicted probability minus the share of events.
    expected_events, observed_events : float
        In the event view, the events that the probabilities imply and those that happened; nan elsewhere. Errors are
        then the rows in which the event did not happen.
    deflation, deflation_interval : float, tuple of float
        Accuracy is best described as (1 - deflation) x confidence (for underconfidence: errors as (1 - deflation) x
        doubt). Near-certain samples dominate it.
    csr_lower : float
        Lower 95% confidence limit of the CSR on an unlimited number of samples.
    n, errors, certain, certain_wrong, rounded : int
        Number of samples, errors, samples with confidence 1, wrong samples with confidence 1, and confidences that are
        1 only because they were rounded.
    skewness, heaviest_share : float
        Skewness of the statistic if the model were calibrated, and the share of its variance that one sample holds.
    method, alternative : str
        As given to :func:`risk_test`.
    groups, design_effect : int, float
        Number of groups (None without groups), and how many times larger the variance of the number of errors is than
        if samples were independent.

    Examples
    --------
    >>> from surefoot import Predictions, risk_test
    >>> result = risk_test(Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 100))
    >>> result.observed_errors, round(result.expected_errors, 6), round(result.oe_ratio, 6)
    (20.0, 10.0, 2.0)
    >>> result.pvalue_omnibus < 0.01
    True
    """

    csr: float
    sigma: float
    z: float
    p_risk: float
    statistic: float
    pvalue: float
    pvalue_mid: float
    pvalue_capped: float
    pvalue_combined: float
    pvalue_omnibus: float
    e_value: float
    log_e: float
    expected_errors: float
    observed_errors: float
    oe_ratio: float
    oe_interval: tuple[float, float]
    overstatement: float
    overstatement_interval: tuple[float, float]
    deflation: float
    csr_lower: float
    n: int
    errors: int
    certain: int
    certain_wrong: int
    rounded: int
    skewness: float
    heaviest_share: float
    method: Method
    alternative: Alternative
    groups: int | None = None
    design_effect: float = 1.0
    expected_events: float = math.nan
    observed_events: float = math.nan
    _omnibus: Omnibus | OmnibusOfSums | None = field(default=None, repr=False, compare=False)
    _deflation: Deflation | None = field(default=None, repr=False, compare=False)

    @property
    def is_weighted(self) -> bool:
        """Whether samples have unequal weights; counts are then sums of weights, and there is no e-value."""
        return math.isnan(self.log_e)

    @property
    def deflation_interval(self) -> tuple[float, float]:
        """The 95% confidence interval of ``deflation``, computed on first access."""
        return (math.nan, math.nan) if self._deflation is None else self._deflation.interval

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of the omnibus test; empty for slices by the true label, which are not tested."""
        return () if self._omnibus is None else self._omnibus.directions

    @property
    def consistency(self) -> tuple[Direction, ...]:
        """Two further checks of the omnibus test: the worst band of each figure, and the e-value."""
        return () if self._omnibus is None else self._omnibus.consistency

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain data.

        Returns
        -------
        dict
            Numbers, strings and tuples by the name of the field, ready for JSON but for nan and infinities.
        """
        plain = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        if math.isnan(self.expected_events):
            del plain["expected_events"], plain["observed_events"]
        return {
            **plain,
            "deflation_interval": self.deflation_interval,
            "directions": tuple(asdict(one) for one in self.directions),
            "consistency": tuple(asdict(one) for one in self.consistency),
        }

    def _repr_html_(self) -> str:
        return str(present("notebook", "risk_card", self))

    @property
    def note(self) -> str:
        """Why the normal approximation behind ``sigma``, ``z`` and ``p_risk`` is poor here; empty if it is good."""
        if self.heaviest_share > _DOMINATED:
            return (
                f"One row holds {math.floor(100 * self.heaviest_share)}% of the variance of CSR: sigma, z and P_risk, "
                "which assume a normal distribution, say nothing here. The exact p-value needs no such assumption."
            )
        if self.skewness > _SKEWED:
            return (
                "z and P_risk assume a normal distribution, which is a poor fit here (skewness "
                f"{self.skewness:.2g}). The exact p-value needs no such assumption."
            )
        return ""
