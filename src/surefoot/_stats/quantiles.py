"""How many standard errors an interval reaches to either side."""

from __future__ import annotations

import math


def quantile(level: float, freedom: float = math.inf) -> float:
    """That of Student's t with so many degrees of freedom; without them, of the normal law.

    Examples
    --------
    >>> round(quantile(0.95), 4), round(quantile(0.95, 10), 4)
    (1.96, 2.2281)
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
