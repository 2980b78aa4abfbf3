"""Safe Platt: a sigmoid refitted with the row added as a mistake, and deflated until the mistakes fit."""

from __future__ import annotations

import numpy as np

from surefoot.calibrators.calibrator import SAFE, EventCalibrator, Events
from surefoot.calibrators.deflation import likeliest_shortfall
from surefoot.calibrators.platt import sigmoid
from surefoot.calibrators.safe_bins import Cells
from surefoot.core.table import Floats

#: Scores are rounded to cells of the log-odds of confidence, fixed before any data: so each has its own exact fit.
_CENTRES = np.arange(-8 * 16, 40 * 16 + 1) / 16
_EDGES = (_CENTRES[1:] + _CENTRES[:-1]) / 2


class SafePlatt(EventCalibrator):
    r"""A sigmoid of the log-odds, fitted to the calibration rows and this row as a mistake, then deflated.

    .. math:: q(x) = q_{a,b}(x) + \lambda (1 - q_{a,b}(x)), \qquad
        \sum_{i: \text{wrong}} \frac1{q(x_i)} + \frac1{q(x)} \le n + 1

    a, b and :math:`\lambda` are those of the n + 1 rows, for each cell of scores anew and tabulated once. Of the top
    label; decisions stay.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 2000)
    >>> model = SafePlatt().fit(p, (rng.random(2000) < p).astype(int))
    >>> bool(abs(model.predict_proba([0.8])[0, 1] - 0.8) < 0.05)
    True
    """

    cost = "Next to nothing: the log-loss of Platt's sigmoid, to a thousandth or two."
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
        doubt = np.array([self._with_one_more(rows, wrong, k) for k in range(len(_CENTRES))])
        return Cells(_EDGES, doubt)

    def _with_one_more(self, rows: Floats, wrong: Floats, cell: int) -> float:
        rows, wrong = rows.copy(), wrong.copy()
        rows[cell] += 1
        wrong[cell] += 1
        here = np.flatnonzero(rows)
        x, n, e = _CENTRES[here], rows[here], wrong[here]
        # rows of a cell as two, of the mistakes and of the others
        doubled = Events(
            np.zeros(2 * len(x)),
            np.zeros(2 * len(x)),
            np.repeat([True, False], len(x)),
            np.concatenate([e, n - e]),
        )
        fitted = sigmoid(np.concatenate([x, x]), doubled, on_log_odds=True)
        q, _ = fitted(np.zeros(len(x)), x)
        # as many mistakes as rows at most
        lost = likeliest_shortfall(q, e, float(n.sum()))
        own = float(q[np.searchsorted(here, cell)])
        return own + lost * (1 - own)
