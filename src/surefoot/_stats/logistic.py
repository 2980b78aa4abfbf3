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


def both_sides(x: Any, xp: Any = np) -> tuple[Any, Any]:
    """What :func:`expit` is of x and of -x, which share their exponentials."""
    small = xp.exp(-xp.abs(x))
    above, below = 1 / (1 + small), small / (1 + small)
    return xp.where(x >= 0, above, below), xp.where(x >= 0, below, above)


def logistic_fit(
    features: Floats, target: Floats, weight: Floats, start: Floats, *, ridge: float = 0.0, fixed: tuple[int, ...] = ()
) -> Floats:
    """Coefficients that minimise the weighted log-loss of expit(features @ coefficients), by Newton's method.

    ``ridge`` is a penalty on squares of all but the last, the intercept; coefficients that are ``fixed`` stay.
    """
    free = [i for i in range(features.shape[1]) if i not in fixed]
    rows = np.ascontiguousarray(features.T)
    x, coefficients = rows[free], start.copy()
    penalty = np.full(len(free), ridge)
    if features.shape[1] - 1 in free:
        penalty[-1] = 0.0

    def look(values: Floats) -> tuple[float, Floats]:
        """The loss, and the probabilities, which share their exponentials."""
        z = np.einsum("i,in->n", values, rows)
        small = np.exp(-np.abs(z))
        loss = (weight * (np.maximum(z, 0) + np.log1p(small) - target * z)).sum()
        loss += (penalty * values[free] ** 2).sum() / 2
        return float(loss), np.where(z >= 0, 1.0, small) / (1 + small)

    def newton_step(values: Floats, p: Floats) -> Floats:
        # threads of a matrix product cost more than they save on so few rows
        slope = np.einsum("in,n->i", x, weight * (p - target)) + penalty * values[free]
        curve = np.einsum("in,jn,n->ij", x, x, weight * p * (1 - p)) + np.diag(penalty)
        step = np.zeros(len(values))
        step[free] = -np.linalg.lstsq(curve, slope, rcond=None)[0]
        return step

    here, p = look(coefficients)
    for _ in range(100):
        step = newton_step(coefficients, p)
        # halved until it does not lead up
        while (there := look(coefficients + step))[0] > here and np.abs(step).max() >= 1e-14:
            step /= 2
        if there[0] > here:
            break
        gained, here, p, coefficients = here - there[0], *there, coefficients + step
        if gained <= 1e-15 * max(1.0, abs(here)):
            break
    # the loss is flat to its last digit where coefficients are not: steps are taken while they shrink, as they do
    # unless the classes can be told apart and the best coefficients are infinite
    step = newton_step(coefficients, p)
    while True:
        following = newton_step(coefficients + step, look(coefficients + step)[1])
        if 2 * np.abs(following).max() >= np.abs(step).max():
            return coefficients
        coefficients, step = coefficients + step, following
