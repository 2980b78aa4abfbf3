"""Risk predictions as a clinician has them: 1,200 patients, 273 deaths expected and 118 observed."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri

ROWS = 1200
LOG_ODDS = -1.597 + 1.3 * ndtri((np.arange(ROWS) + 0.5) / ROWS)
RISK = expit(LOG_ODDS)
DIED = (np.random.default_rng(4).random(ROWS) < expit(-1.34 + 0.75 * LOG_ODDS)).astype(int)
#: Unequal weights, in turn.
WEIGHT = np.tile([1.0, 2.0, 3.0], ROWS // 3)
