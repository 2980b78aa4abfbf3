"""Checks of arguments that several functions take: a share between 0 and 1, a whole number."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_share(name: str, value: Any, example: str) -> None:
    """Refuse what is no number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; it should be a number between 0 and 1, such as {example}.")


def check_level(level: Any) -> None:
    """Refuse what is no significance level, such as the 0.95 of a confidence level."""
    check_share("level", level, "0.05")
    if level >= 0.5:
        raise ValueError(
            f"level is {level!r}, the chance of being wrong. For {100 * level:.4g}% confidence use "
            f"level={round(1 - level, 12):g}."
        )


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}; it should be a whole number, at least {least}.")
