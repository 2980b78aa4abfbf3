"""How far expected metrics of classes are off on the reference itself, where labels are known.

Of two classes, and of correctness, the model of outcomes agrees with the reference by the way it is fitted. Of more
classes, which of the others a wrong prediction is of is modelled by a few numbers, and what these miss shows here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from scipy.special import expit, logit

from surefoot.decisions.forecast import OF_CLASSES, Forecast


def correct(
    new: Mapping[str, Forecast], reference: Mapping[str, Forecast], observed: Mapping[str, float]
) -> dict[str, Forecast]:
    """The forecasts of new rows, moved by what the reference shows, on the scale of log-odds."""
    return {name: _moved(name, one, reference.get(name), observed.get(name, math.nan)) for name, one in new.items()}


def _moved(name: str, one: Forecast, reference: Forecast | None, seen: float) -> Forecast:
    if name not in OF_CLASSES or reference is None:
        return one
    if not all(0 < value < 1 for value in (one.value, reference.value, seen)):
        return one
    value = float(expit(logit(one.value) + logit(seen) - logit(reference.value)))
    # chance in the labels of the reference moves it too; the steepness of the scale may differ there
    steepness = value * (1 - value) / (reference.value * (1 - reference.value))
    return Forecast(value, one.chance, max(one.unknown, reference.chance * steepness**2), one.note, one.wider)
