"""The paper's synthetic models: ten distributions of confidence, eight ways to be right or wrong.

``PROFILES`` and ``MODES`` list them by name; :func:`predictions` draws from them.

>>> import numpy as np
>>> p = predictions("skew_high", "perfect", 1000, rng=np.random.default_rng(0))
>>> len(p), bool(p.confidence.mean() > 0.8)
(1000, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from surefoot.core.table import Floats
from surefoot.predictions import Predictions

__all__ = ["MODES", "PROFILES", "Mode", "Profile", "predictions"]

Draw = Callable[[int, np.random.Generator], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Profile:
    """A distribution of confidences.

    Attributes
    ----------
    name : str
        Its key in ``PROFILES``.
    title : str
        Its name in the paper.
    draw : callable
        ``draw(size, rng)`` returns confidences and doubts (1 - confidence); the smaller of the two is exact.
    """

    name: str
    title: str
    draw: Draw


@dataclass(frozen=True)
class Mode:
    """A way to be right or wrong: the accuracy at each confidence.

    Attributes
    ----------
    name : str
        Its key in ``MODES``.
    title : str
        Its name in the paper.
    accuracy : callable
        ``accuracy(confidence, doubt)`` returns the probability that each row is correct.
    """

    name: str
    title: str
    accuracy: Callable[[Floats, Floats], Floats]


def _of_doubt(draw: Callable[[int, np.random.Generator], Floats]) -> Draw:
    def both(size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        doubt = draw(size, rng)
        return 1 - doubt, doubt

    return both


def _of_confidence(draw: Callable[[int, np.random.Generator], Floats]) -> Draw:
    def both(size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        confidence = draw(size, rng)
        return confidence, 1 - confidence

    return both


def _bimodal(size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    lesser, is_high = rng.beta(0.5, 3.0, size), rng.random(size) < 0.5
    return np.where(is_high, 1 - lesser, lesser), np.where(is_high, lesser, 1 - lesser)


def _normal(size: int, rng: np.random.Generator) -> Floats:
    drawn = rng.normal(0.7, 0.1, size)
    while (outside := (drawn < 0) | (drawn >= 1)).any():
        drawn[outside] = rng.normal(0.7, 0.1, int(outside.sum()))
    return drawn


def _log_uniform(least: float, log_most: float) -> Callable[[int, np.random.Generator], Floats]:
    return lambda size, rng: np.exp(rng.uniform(math.log(least), log_most, size))


_PROFILES = (
    Profile("uniform", "Uniform", _of_doubt(lambda size, rng: 1 - rng.random(size))),
    Profile("skew_high", "Skew High", _of_doubt(lambda size, rng: rng.beta(0.5, 3.0, size))),
    Profile("skew_low", "Skew Low", _of_confidence(lambda size, rng: rng.beta(0.5, 3.0, size))),
    Profile("bimodal", "Bimodal", _bimodal),
    Profile("tight_hi", "Tight Hi", _of_doubt(lambda size, rng: 0.2 * (1 - rng.random(size)))),
    Profile("tight_lo", "Tight Lo", _of_confidence(lambda size, rng: 0.2 * rng.random(size))),
    Profile("normal", "Normal", _of_confidence(_normal)),
    Profile("log_uniform_low", "Log-Uniform Low", _of_confidence(_log_uniform(1e-4, math.log1p(-1e-6)))),
    Profile("log_uniform_high", "Log-Uniform High", _of_doubt(_log_uniform(1e-6, math.log(0.9)))),
    Profile("bell", "Bell", _of_confidence(lambda size, rng: rng.beta(5.0, 5.0, size))),
)

# "Random over c" draws the accuracy evenly between c and 1: given c, a row is correct with its mean
_MODES = (
    Mode("random_half", "Random 0.5", lambda c, q: np.full(len(c), 0.5)),
    Mode("perfect", "Perfect", lambda c, q: c),
    Mode("underconf_linear", "Underconf 0.2+0.8c", lambda c, q: 0.2 + 0.8 * c),
    Mode("underconf_sqrt", "Underconf √c", lambda c, q: np.sqrt(c)),
    Mode("random_over", "Random over c", lambda c, q: (1 + c) / 2),
    Mode("overconf_root", "Overconf 1-√(1-c)", lambda c, q: 1 - np.sqrt(q)),
    Mode("overconf_half", "Overconf 0.5c", lambda c, q: 0.5 * c),
    Mode("random_under", "Random under c", lambda c, q: c / 2),
)

#: By name.
PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in _PROFILES})
MODES: Mapping[str, Mode] = MappingProxyType({mode.name: mode for mode in _MODES})


def predictions(profile: str, mode: str, size: int, *, rng: np.random.Generator) -> Predictions:
    """Draw predictions of a synthetic model: its confidences, and whether each row is correct.

    Parameters
    ----------
    profile : str
        The distribution of confidences, a key of ``PROFILES``.
    mode : str
        How accuracy depends on confidence, a key of ``MODES``; ``"perfect"`` is calibrated.
    size : int
        The number of rows.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Predictions
        The rows, ready to be assessed.

    Raises
    ------
    ValueError
        If there is no such profile or mode; the message lists them.

    Examples
    --------
    >>> import numpy as np
    >>> calibrated = predictions("uniform", "perfect", 10_000, rng=np.random.default_rng(0))
    >>> bool(abs(calibrated.correct.mean() - calibrated.confidence.mean()) < 0.02)
    True
    """
    for name, known, what in ((profile, PROFILES, "profile"), (mode, MODES, "mode")):
        if name not in known:
            raise ValueError(f"there is no {what} {name!r}; there are {', '.join(known)}.")
    confidence, doubt = PROFILES[profile].draw(size, rng)
    correct = draw_correct(confidence, doubt, MODES[mode], rng)
    return Predictions.from_correct(correct, confidence, doubt=doubt)


def draw_correct(
    confidence: Floats, doubt: Floats, mode: Mode, rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Draw whether each row is correct; calibrated rows by their doubt, which may be too small for 1 - confidence."""
    if mode.name == "perfect":
        return rng.random(len(doubt)) >= doubt
    return rng.random(len(confidence)) < mode.accuracy(confidence, doubt)
