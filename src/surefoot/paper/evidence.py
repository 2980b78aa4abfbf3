"""The numbers that the page's claims are judged from, beside the page: of each split, and of single runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.paper.document_real import OFFICIAL, only
from surefoot.paper.protocol import COMPARABLE, PAGE
from surefoot.paper.real import FLOORS, HOW, REGIMES, Found
from surefoot.paper.synthetic import Synthetic
from surefoot.paper.yardstick import compare
from surefoot.synthetic import PROFILES

#: What the claims read of a regime on a split; of controls, what they read of the model that is not calibrated.
OF_SPLIT = (
    "n", "acc", "cwa", "gain", "csr", "sigma", "p_risk", "cwauc", "delta_auc", "pvalue_combined", "certain_right",
    "certain_wrong", *(f"p_risk_{floor:g}" for floor in FLOORS),
)  # fmt: skip
OF_CONTROL = ("csr", "sigma")
_DIGITS = 10


def evidence(runs: Mapping[str, int], found: Mapping[str, Found]) -> str:
    """A document in JSON, one line for each split, and one for the ranges of each set; numbers to ten digits.

    Of the sets that run on all rows: no claim is judged by others.
    """
    found = {name: only(of, (*COMPARABLE, *OFFICIAL)) for name, of in found.items()}
    parts: dict[str, list[Any]] = {
        "runs": [runs],
        "splits": [_of_split(name, *key, own) for name, of in found.items() for key, own in of.items()],
        "ranges": [row for name, of in found.items() for row in _ranges(name, of)],
    }
    lists = (f'"{name}": [\n{_lines(rows)}\n]' for name, rows in parts.items())
    return "{" + ",\n".join(lists) + "}\n"


def runs_above(made: Synthetic) -> dict[str, int]:
    """Single runs of Random 0.5, by the number of distributions of which cwAUC is above AUC."""
    above = sum((made.ranked[profile, "random_half"]["delta_auc"] > 0).astype(int) for profile in PROFILES)
    return {str(number): runs for number, runs in sorted(Counter(np.asarray(above).tolist()).items())}


def _of_split(protocol: str, name: str, seed: int, own: Mapping[str, Any]) -> dict[str, Any]:
    regimes = REGIMES if protocol == PAGE.name else REGIMES[:1]
    columns = OF_SPLIT if protocol == PAGE.name else OF_CONTROL
    numbers = {regime: {column: _short(own[regime][column]) for column in columns} for regime in regimes}
    return {"protocol": protocol, "set": name, "split": seed, "rounds": own[HOW]["rounds"], **numbers}


def _ranges(protocol: str, found: Found) -> list[dict[str, Any]]:
    """Of each set, the least and the largest of ours of every cell that counts."""
    rows: dict[str, dict[str, Any]] = {}
    for cell in compare(found):
        if cell.counts:
            row = rows.setdefault(cell.name, {"protocol": protocol, "set": cell.name})
            row.setdefault(cell.regime, {})[cell.quantity] = [_short(cell.least), _short(cell.most)]
    return list(rows.values())


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _lines(rows: Sequence[Any]) -> str:
    return ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
