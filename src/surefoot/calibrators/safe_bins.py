"""Safe bins: the share of errors in fixed bins of confidence, with one error added."""

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
    r"""Safe bins: in each of sixteen fixed bins of confidence, the share of errors with one error added.

    It corrects the confidence in the decision; decisions stay the same. In a bin without calibration rows nothing is
    known, and the confidence is close to 0.

    Parameters
    ----------
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities; it is never guessed.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    maps_ : tuple
        The fitted functions: one for each class, or one in all.
    support_ : Support or None
        What keeps probabilities away from 0 and 1, for calibrators with a guarantee.
    cost : str
        What the method costs, in a sentence.

    Notes
    -----
    With n rows and e errors in a bin, the doubt (1 - confidence) is

    .. math:: q = \frac{e + 1}{n + 1}

    The bins are cut at whole log-odds of confidence from -2 to 12, whatever the data.

    Examples
    --------
    >>> model = SafeBins().fit([0.9] * 9, [1] * 8 + [0])
    >>> model.predict_proba([0.9]).tolist()
    [[0.2, 0.8]]
    """

    cost = "Higher log loss where bins have few rows."
    guarantee = (
        "On fresh exchangeable samples the mean CSR is at most 1, and at most 1 + 1 / (errors + 1) in every bin."
    )
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
