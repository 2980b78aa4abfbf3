"""The logistic function, and logistic regression to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def expit(x: Any, xp: Any = np) -> Any:
    """1/(1 + exp(-x)), accurate at both ends; ``xp`` is NumPy or torch."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1.0, small) / (1 + small)


def logistic_fit(
    features: Floats, target: Floats, weight: Floats, start: Floats, *, ridge: float = 0.0, fixed: tuple[int, ...] = ()
) -> Floats:
    """Coefficients that minimise the weighted log-loss of expit(features @ coefficients), by Newton's method.

    ``ridge`` is a penalty on squares of all but the last, the intercept; coefficients that are ``fixed`` stay.
    """
    free = [i for i in range(features.shape[1]) if i not in fixed]
    x, coefficients = features[:, free], start.copy()
    penalty = np.full(len(free), ridge)
    if features.shape[1] - 1 in free:
        penalty[-1] = 0.0

    def loss(values: Floats) -> float:
        z = features @ values
        return float(weight @ (np.logaddexp(0, z) - target * z) + (penalty * values[free] ** 2).sum() / 2)

    def newton_step(values: Floats) -> Floats:
        p = expit(features @ values)
        slope = x.T @ (weight * (p - target)) + penalty * values[free]
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.zeros(len(values))
        step[free] = -np.linalg.lstsq(curve, slope, rcond=None)[0]
        return step

    here = loss(coefficients)
    for _ in range(100):
        step = newton_step(coefficients)
        # halved until it does not lead up
        while (value := loss(coefficients + step)) > here and np.abs(step).max() >= 1e-14:
            step /= 2
        if value > here:
            break
        gained, here, coefficients = here - value, value, coefficients + step
        if gained <= 1e-15 * max(1.0, abs(here)):
            break
    # the loss is flat to its last digit where coefficients are not: steps are taken while they shrink, as they do
    # unless the classes can be told apart and the best coefficients are infinite
    step = newton_step(coefficients)
    while 2 * np.abs(following := newton_step(coefficients + step)).max() < np.abs(step).max():
        coefficients, step = coefficients + step, following
    return coefficients
