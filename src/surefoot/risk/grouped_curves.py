"""Curves of rows that belong together: the same values, with limits that allow for it, approximately."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from surefoot.metrics.flexible import FlexibleCurve, flexible_curve
from surefoot.metrics.net_benefit import DecisionCurve, benefit_limits, decision_curve
from surefoot.predictions import ArrayPredictions
from surefoot.risk.groups import design_effect
from surefoot.risk.law.cells import Codes


def decision_curve_of_groups(p: ArrayPredictions, codes: Codes | None) -> DecisionCurve:
    """The decision curve; of groups, with the limits of as many independent rows as tell as much at each threshold."""
    curve = decision_curve(p)
    if codes is None:
        return curve
    weight = p.weight / float(p.weight.sum())
    odds = curve.threshold / (1 - curve.threshold)
    effects = np.ones(len(odds))
    for i, threshold in enumerate(curve.threshold):
        benefit = np.where(p.correct, 1.0, -odds[i]) * (p.confidence >= threshold)
        influence = weight * (benefit - curve.net_benefit[i])
        # where nothing varies, rows of one group may be all alike
        effects[i] = design_effect(influence if influence.any() else weight, codes)
    true = np.clip((curve.net_benefit + odds * curve.treated) / (1 + odds), 0.0, curve.treated)
    rows = 1 / float((weight**2).sum()) / effects
    lower, upper = benefit_limits(true, curve.treated - true, odds, rows=rows)
    return replace(curve, lower=lower, upper=upper)


def flexible_curve_of_groups(p: ArrayPredictions, effect: float) -> FlexibleCurve:
    """The smoothed curve; of groups, with its band as much wider as the design effect says."""
    curve = flexible_curve(p)
    if effect <= 1:
        return curve
    # of two limits, one that was clipped at 0 or 1 is the nearer
    reach = math.sqrt(effect) * np.maximum(curve.observed - curve.lower, curve.upper - curve.observed)
    lower, upper = np.maximum(curve.observed - reach, 0.0), np.minimum(curve.observed + reach, 1.0)
    return replace(curve, lower=lower, upper=upper)
