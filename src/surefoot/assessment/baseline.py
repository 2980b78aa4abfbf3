"""Is a model worse than before? Its assessment beside an earlier one, of which sums are enough.

Three sizes are compared: overstatement, observed over expected errors (O/E), and O/E among samples with more than 99%
confidence. A size is worse if it rose by more than chance explains, by enough to matter, *and* is too high now by more
than chance explains: a model that was underconfident and is no longer has improved. The rows are taken to be other rows
than those of the baseline; where they are the same, the tests only become more cautious.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from surefoot._io.documents import strict
from surefoot._stats.binomial import limits
from surefoot._stats.quantiles import quantile
from surefoot.assessment.result import Assessment
from surefoot.assessment.verdict import CLEAR_RATIO, NEAR_CERTAINTY, RISKY
from surefoot.errors import InvalidPredictions
from surefoot.risk.result import RiskResult

#: How many times the O/E of the baseline matters: of all samples, and of those near certainty.
MATERIAL_RATIO, MATERIAL_RATIO_NEAR_CERTAINTY = 1.5, CLEAR_RATIO
_COMPARISONS = 3


@dataclass(frozen=True)
class Change:
    """One size now and in the baseline.

    Attributes
    ----------
    name : str
        ``"overstatement"``, ``"oe_ratio"`` or ``"oe_ratio_above_99"``.
    kind : str
        ``"difference"`` (now minus baseline) or ``"ratio"`` (now over baseline).
    baseline, now : float
        The size in the baseline, and now.
    change : float
        By how much, or how many times, it rose.
    at_least : float
        The lower confidence limit of ``change``.
    now_at_least : float
        The lower confidence limit of ``now``.
    matters_from : float
        The change from which it matters.
    """

    name: str
    kind: Literal["difference", "ratio"]
    baseline: float
    now: float
    change: float
    at_least: float
    now_at_least: float
    matters_from: float

    @property
    def is_significant(self) -> bool:
        """Whether it rose by more than chance explains."""
        return self.at_least > self._none

    @property
    def is_too_high(self) -> bool:
        """Whether there are more errors now than expected, by more than chance explains."""
        return self.now_at_least > self._none

    @property
    def is_worse(self) -> bool:
        """Whether it rose by more than chance explains and by enough to matter, and is too high now."""
        return self.is_significant and self.is_too_high and self.change >= self.matters_from

    @property
    def _none(self) -> float:
        """No difference, or a ratio of one."""
        return 0.0 if self.kind == "difference" else 1.0


@dataclass(frozen=True)
class BaselineComparison:
    """An assessment beside that of a baseline.

    Attributes
    ----------
    baseline, now : Assessment
        The two assessments.
    changes : tuple of Change
        The sizes that both have.
    level : float
        Chance of calling a model worse that is as good as before, over all sizes together.
    """

    baseline: Assessment
    now: Assessment
    changes: tuple[Change, ...]
    level: float

    @property
    def is_newly_risky(self) -> bool:
        """Whether the verdict has become risky, and some size rose by more than chance explains."""
        turned = self.now.verdict in RISKY and self.baseline.verdict not in RISKY
        return turned and any(change.is_significant for change in self.changes)

    @property
    def is_worse(self) -> bool:
        """Whether some size is worse, or the verdict has become risky."""
        return self.is_newly_risky or any(change.is_worse for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        return {
            "source": self.baseline.source,
            "rows": self.baseline.risk.n,
            "verdict": self.baseline.verdict,
            "level": self.level,
            "worse": self.is_worse,
            "newly_risky": self.is_newly_risky,
            "changes": [
                {
                    **strict(asdict(change)),
                    "significant": change.is_significant,
                    "too_high": change.is_too_high,
                    "worse": change.is_worse,
                }
                for change in self.changes
            ],
        }


def compare_with_baseline(now: Assessment, baseline: Assessment) -> BaselineComparison:
    """Compare the sizes of both; a third of the level is spent on each."""
    if {now.view, baseline.view} != {"prediction"}:
        raise InvalidPredictions(
            "a baseline is of predictions; of an event or of classes there is none yet",
            hint="compare the rows of both with surefoot.compare (on the command line, surefoot compare --of event)",
        )
    tail = now.level / _COMPARISONS
    changes = [_overstatement(now.risk, baseline.risk, tail, now.margin)]
    if not (now.risk.is_weighted or baseline.risk.is_weighted):
        changes.append(_ratio("oe_ratio", _errors(now), _errors(baseline), tail, MATERIAL_RATIO))
        near = [_errors(a, NEAR_CERTAINTY) for a in (now, baseline)]
        changes.append(_ratio("oe_ratio_above_99", near[0], near[1], tail, MATERIAL_RATIO_NEAR_CERTAINTY))
    known = tuple(change for change in changes if not math.isnan(change.change))
    return BaselineComparison(baseline, now, known, now.level)


def _overstatement(now: RiskResult, baseline: RiskResult, tail: float, margin: float) -> Change:
    """The difference, with the limit that both intervals give together."""
    difference = now.overstatement - baseline.overstatement
    # a tally knows no groups: its rows are taken to depend on each other as much as the others do
    effect = max(now.design_effect, baseline.design_effect)
    now_at_least, before_at_most = _limits(now, tail, effect)[0], _limits(baseline, tail, effect)[1]
    reach = math.hypot(now.overstatement - now_at_least, before_at_most - baseline.overstatement)
    return Change(
        "overstatement",
        "difference",
        baseline.overstatement,
        now.overstatement,
        difference,
        difference - reach,
        now_at_least,
        margin,
    )


def _limits(risk: RiskResult, tail: float, effect: float) -> tuple[float, float]:
    """The limits of overstatement with so much chance beyond each, for a design effect."""
    if risk.is_weighted:
        low, high = risk.overstatement_interval
        reach = (high - low) / 2 * quantile(1 - 2 * tail) / quantile(0.95) * math.sqrt(effect / risk.design_effect)
        return risk.overstatement - reach, risk.overstatement + reach
    share, rows = risk.observed_errors / risk.n, risk.n / effect
    low, high = (float(end) for end in limits(share * rows, rows, 1 - 2 * tail))
    stated = share - risk.overstatement
    return low - stated, high - stated


@dataclass(frozen=True)
class _Errors:
    """Rows, errors expected and errors observed, as of independent rows."""

    rows: float
    expected: float
    observed: float
    effect: float


def _errors(a: Assessment, below: float = math.inf) -> _Errors:
    """Of samples whose doubt is below a limit."""
    assert a.counts is not None
    kept = a.counts.doubt < below
    doubt, rows, wrong = a.counts.doubt[kept], a.counts.rows[kept], a.counts.wrong[kept]
    return _Errors(float(rows.sum()), float((rows * doubt).sum()), float(wrong.sum()), a.risk.design_effect)


def _ratio(name: str, now: _Errors, baseline: _Errors, tail: float, matters_from: float) -> Change:
    """How many times larger O/E is: of all errors, those made now are a binomial number if it is not larger.

    Errors vary less than the rare events that this holds for exactly, so it is on the safe side.
    """
    before, after = (one.observed / one.expected if one.expected else math.nan for one in (baseline, now))
    effect = max(now.effect, baseline.effect)
    now_at_least = _least_ratio(now, tail, effect)
    # where both claimed certainty no errors are expected: then rows are what errors are counted by
    by_rows = not (now.expected or baseline.expected)
    exposures = [one.rows if by_rows else one.expected for one in (now, baseline)]
    if not all(exposures) or not now.observed + baseline.observed:
        return Change(name, "ratio", before, after, math.nan, math.nan, now_at_least, matters_from)
    total = (now.observed + baseline.observed) / effect
    low = float(limits(now.observed / effect, total, 1 - 2 * tail)[0])
    scale = exposures[1] / exposures[0]
    times = now.observed / baseline.observed * scale if baseline.observed else math.inf
    at_least = low / (1 - low) * scale if low < 1 else math.inf
    return Change(name, "ratio", before, after, times, at_least, now_at_least, matters_from)


def _least_ratio(one: _Errors, tail: float, effect: float) -> float:
    """The lower confidence limit of O/E; without expected errors any error is infinitely many times as many."""
    if not one.observed:
        return 0.0
    if not one.expected:
        return math.inf
    share = float(limits(one.observed / effect, one.rows / effect, 1 - 2 * tail)[0])
    return share * one.rows / one.expected
