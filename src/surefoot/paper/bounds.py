"""What Proposition 15 of the paper lets cwAUC be, given the printed AUC and how confident the model is."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.paper.tables import printed_table

#: Half of the last printed digit.
_HALF = 5e-5
#: The rarest class's share of the test rows: of breast cancer's two, and of obesity's seven.
RAREST = {"breast_cancer": 42 / 114, "obesity": 54 / 423}


@dataclass(frozen=True)
class Bound:
    """A printed cwAUC that is too low: the ratio of what it and AUC lack of 1, at least, and what it may be at most."""

    regime: str
    name: str
    auc: float
    cwauc: float
    ratio: float
    most: float


def impossible_areas() -> list[Bound]:
    """Cells of which 1 - cwAUC is larger than (1 - AUC) / (mean confidence of positives times that of negatives).

    No pair weighs more than 1, so that what pairs in the wrong order weigh is at most their number. The mean confidence
    of all rows follows from CWSA and CWSA+; that of one class is least if all others are certain.
    """
    areas, others = printed_table("cwauc_real", 2), printed_table("real_other_indicators", 2)
    found = []
    for (regime, name), row in areas.items():
        if name not in RAREST:
            continue
        # (c - 1/2) / (1/2), averaged, is twice CWSA+ less CWSA
        other = others[regime, name]
        stakes = 2 * (other["cwsa_plus_0.5"] - _HALF) - (other["cwsa_0.5"] + _HALF)
        mean = (1 + stakes) / 2
        rarest = RAREST[name]
        least = max((mean - (1 - rarest)) / rarest, 0.0)
        ratio = (1 - row["cwauc"] - _HALF) / (1 - row["auc"] + _HALF)
        most = 1 / least if least else float("inf")
        if ratio > most:
            found.append(Bound(regime, name, row["auc"], row["cwauc"], ratio, most))
    return found
