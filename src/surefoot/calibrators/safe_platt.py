"""Safe Platt: a sigmoid refitted with the sample added as an error, and deflated until the CSR is at most 1."""

from __future__ import annotations

import numpy as np

from surefoot.calibrators.calibrator import SAFE, EventCalibrator, Events
from surefoot.calibrators.deflation import likeliest_shortfall
from surefoot.calibrators.platt import Sigmoid, sigmoid
from surefoot.calibrators.safe_bins import Cells
from surefoot.core.table import Floats

#: Scores are rounded to cells of the log-odds of confidence, fixed before any data: so each has its own exact fit.
_CENTRES = np.arange(-8 * 16, 40 * 16 + 1) / 16
_EDGES = (_CENTRES[1:] + _CENTRES[:-1]) / 2


class SafePlatt(EventCalibrator):
    r"""Safe Platt scaling: a sigmoid whose mean CSR on fresh samples is at most 1.

    Use it by default: it corrects about as well as Platt scaling and comes with a guarantee. It corrects the confidence
    in the decision; decisions stay the same.

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
    For each sample the sigmoid is fitted to the n calibration rows and to this sample, counted as an error; then it is
    deflated until the CSR of these n + 1 rows is at most 1. With the doubt (1 - confidence) q of the sigmoid,

    .. math:: q(x) = q_{a,b}(x) + \lambda (1 - q_{a,b}(x)), \qquad
        \sum_{i: \text{wrong}} \frac1{q(x_i)} + \frac1{q(x)} \le n + 1

    Log-odds are rounded to cells of 1/16, so that all fits are tabulated once.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 2000)
    >>> model = SafePlatt().fit(p, (rng.random(2000) < p).astype(int))
    >>> bool(abs(model.predict_proba([0.8])[0, 1] - 0.8) < 0.05)
    True
    """

    cost = "Little: with many rows its log loss is nearly that of Platt scaling, with few it is more cautious."
    guarantee = SAFE
    _map = Cells
    is_safe = True
    takes_weights = False

    def __init__(self, *, from_logits: bool = False) -> None:
        super().__init__(top_label=True, from_logits=from_logits)

    def _fit_map(self, events: Events) -> Cells:
        cell = np.searchsorted(_EDGES, -events.log_odds, side="right")
        rows = np.bincount(cell, minlength=len(_CENTRES)).astype(np.float64)
        wrong = np.bincount(cell, events.happened, len(_CENTRES)).astype(np.float64)
        # one row more moves the fit a little only
        without = _fitted(_CENTRES, rows, wrong)
        doubt = np.array([self._with_one_more(rows, wrong, k, without) for k in range(len(_CENTRES))])
        return Cells(_EDGES, doubt)

    def _with_one_more(self, rows: Floats, wrong: Floats, cell: int, without: Sigmoid) -> float:
        rows, wrong = rows.copy(), wrong.copy()
        rows[cell] += 1
        wrong[cell] += 1
        here = np.flatnonzero(rows)
        x, n, e = _CENTRES[here], rows[here], wrong[here]
        q, _ = _fitted(x, n, e, without)(np.zeros(len(x)), x)
        # as many mistakes as rows at most
        lost = likeliest_shortfall(q, e, float(n.sum()))
        own = float(q[np.searchsorted(here, cell)])
        return own + lost * (1 - own)


def _fitted(x: Floats, rows: Floats, wrong: Floats, near: Sigmoid | None = None) -> Sigmoid:
    """The sigmoid of the mistakes in cells."""
    # rows of a cell as two, of the mistakes and of the others
    doubled = Events(
        np.zeros(2 * len(x)),
        np.zeros(2 * len(x)),
        np.repeat([True, False], len(x)),
        np.concatenate([wrong, rows - wrong]),
    )
    return sigmoid(np.concatenate([x, x]), doubled, on_log_odds=True, near=near)
