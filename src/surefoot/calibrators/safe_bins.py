"""Safe bins: in fixed bins of confidence, the mistakes and one more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.calibrators.calibrator import EventCalibrator, Events, Map, check_steps
from surefoot.core.table import Floats

#: Log-odds of confidence at which the bins are cut: fixed before any data.
EDGES = np.linspace(-2.0, 12.0, 15)


@dataclass(frozen=True)
class Cells(Map):
    """Doubts in cells of the log-odds of confidence."""

    edges: Floats
    doubt: Floats

    def __post_init__(self) -> None:
        check_steps(self.edges, self.doubt, more=1)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        doubt = self.doubt[np.searchsorted(self.edges, -log_odds, side="right")]
        return doubt, 1 - doubt


class SafeBins(EventCalibrator):
    r"""In each of sixteen fixed bins of confidence, mistakes plus one out of rows plus one.

    .. math:: q = \frac{e + 1}{n + 1}

    Of the top label; decisions stay. A bin without rows says that nothing is known: a doubt of nearly 1.

    Examples
    --------
    >>> model = SafeBins().fit([0.9] * 9, [1] * 8 + [0])
    >>> model.predict_proba([0.9]).tolist()
    [[0.2, 0.8]]
    """

    cost = "Log-loss where bins hold few rows."
    guarantee = "On fresh exchangeable rows the mean CSR is at most 1, and at most 1 + 1 / (errors + 1) in every bin."
    _map = Cells
    is_safe = True
    takes_weights = False

    def __init__(self, *, from_logits: bool = False) -> None:
        super().__init__(top_label=True, from_logits=from_logits)

    def _fit_map(self, events: Events) -> Cells:
        cell = np.searchsorted(EDGES, -events.log_odds, side="right")
        rows = np.bincount(cell, minlength=len(EDGES) + 1)
        wrong = np.bincount(cell, events.happened, len(EDGES) + 1)
        return Cells(EDGES, (wrong + 1) / (rows + 1))
