"""Confidences that a grader wrote where an answer states none."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.files.stated import stated

#: Answers by which it is told what was written for those that state nothing.
_LOOKED_AT = 2000
#: A value that they all have is theirs alone, if so many rows of others would all have it less often than that.
_BY_CHANCE = 1e-3


class FilledIn:
    """What was filled in: full certainty, none at all, or a value that all answers share which state none."""

    def __init__(self) -> None:
        self._defaults: tuple[float, ...] | None = None

    def rows(self, confidence: Any, answers: Any) -> Any:
        """The rows with such a value, whose answer states no confidence; ``confidence`` is from 0 to 1."""
        if self._defaults is None:
            self._defaults = (0.0, 1.0, *_shared(confidence[:_LOOKED_AT], answers.slice(0, _LOOKED_AT).to_pylist()))
        filled = np.isin(confidence, self._defaults)
        for row in np.flatnonzero(filled):
            filled[row] = _is_silent(answers[int(row)].as_py())
        return filled


def _shared(confidence: Any, answers: list[Any]) -> tuple[float, ...]:
    """The one value that answers have which state no confidence, if that is no coincidence."""
    is_silent = np.array([_is_silent(answer) for answer in answers]) & ~np.isnan(confidence)
    others = confidence[~is_silent & ~np.isnan(confidence)]
    values = np.unique(confidence[is_silent])
    if len(values) != 1:
        return ()
    share = (1 + int((others == values[0]).sum())) / (1 + len(others))
    return (float(values[0]),) if share ** int(is_silent.sum()) < _BY_CHANCE else ()


def _is_silent(answer: Any) -> bool:
    return answer is not None and stated(str(answer)) is None
