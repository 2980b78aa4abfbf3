"""What a model may do alone at a few usual error rates: what an assessment tells of :func:`surefoot.act_alone`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.core.tally import Tally
from surefoot.core.thresholds import THRESHOLDS
from surefoot.decisions.thresholds import Accepted
from surefoot.metrics.terms import BY_THRESHOLD, ROWS
from surefoot.risk.effects import equal_weights

#: Error rates that people ask for.
USUAL = (0.01, 0.02, 0.05, 0.1)
#: Shares of rows that make acting alone worth while, and the least that is worth a word.
_MUCH, _SOME = 0.2, 0.05


@dataclass(frozen=True)
class Offer:
    """From which confidence a model may act alone at an error rate.

    Attributes
    ----------
    error : float
        The error rate promised among accepted samples.
    threshold : float or None
        The confidence from which samples are accepted; None if no threshold keeps the promise.
    coverage : float
        The share of samples that reach it.
    errors : int
        How many of these are wrong.
    rows_needed : int or None
        Where none of the offers has a threshold, of the last: about how many samples like these might be enough.
    """

    error: float
    threshold: float | None
    coverage: float
    errors: int
    rows_needed: int | None = None


def offers_of(tally: Tally, level: float) -> tuple[Offer, ...]:
    """Offers that hold together with probability ``1 - level``; none of totals that cannot tell.

    Error rates are left out that all rows together have without any threshold, but for the first that may be promised
    of all.
    """
    can_tell = tally.view == "prediction" and all(map(tally.has, BY_THRESHOLD)) and tally[ROWS] and equal_weights(tally)
    if not can_tell:
        return ()
    accepted = Accepted.of(tally)
    each = level / len(USUAL)
    made: list[Offer] = []
    for error in USUAL:
        passing = accepted.passing(error, each)
        share = float(accepted.rows[passing[0]] / accepted.total) if len(passing) else 0.0
        if share < 1 and error >= accepted.errors[0] / accepted.total:
            continue
        if not share:
            made.append(Offer(error, None, 0.0, 0))
            continue
        made.append(Offer(error, float(THRESHOLDS[passing[0]]), share, int(accepted.errors[passing[0]])))
        if share == 1:
            break
    if made and not any(offer.coverage for offer in made):
        made[-1] = replace(made[-1], rows_needed=accepted.more_rows(made[-1].error, each))
    return tuple(made)


def best_offer(offers: tuple[Offer, ...]) -> Offer | None:
    """The least error rate at which the model does much of the work alone, or else some; None if there is none."""
    for enough in (_MUCH, _SOME):
        worth = [offer for offer in offers if offer.coverage >= enough]
        if worth:
            return worth[0]
    return None
