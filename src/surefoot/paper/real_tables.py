"""The real tables: ours over the splits, beside the printed ones, and what becomes of the paper's claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.paper.real import REGIMES, UNCALIBRATED
from surefoot.paper.tables import printed_table, write_table

#: Which printed table holds which of our columns.
TABLES = {"real": 2, "real_other_indicators": 2, "cwauc_real": 2}
Found = dict[tuple[str, int], dict[str, Any]]


def write_tables(folder: Path, found: Found, kind: str) -> list[Path]:
    """Write one table of all numbers, and one of every printed cell beside the range of our splits."""
    everything = folder / f"real-{kind}.csv"
    rows = [[name, seed, regime, *own[regime].values()] for (name, seed), own in found.items() for regime in REGIMES]
    columns = list(next(iter(found.values()))[REGIMES[0]])
    write_table(everything, ["dataset", "seed", "regime", *columns], rows)
    beside = folder / f"real-{kind}-beside.csv"
    cells = compare_cells(found)
    write_table(
        beside, ["table", "regime", "dataset", "quantity", "printed", "least", "median", "most", "inside"], cells
    )
    return [everything, beside]


def compare_cells(found: Found) -> list[list[Any]]:
    """Each printed cell, the range of our splits, and whether it lies inside."""
    cells: list[list[Any]] = []
    names = {name for name, _ in found}
    for table, keys in TABLES.items():
        for (regime, name), row in printed_table(table, keys).items():
            if name not in names or regime not in REGIMES:
                continue
            for quantity, value in row.items():
                ours = [
                    own[regime][quantity]
                    for (which, _), own in found.items()
                    if which == name and quantity in own[regime]
                ]
                if not ours:
                    continue
                least, most = min(ours), max(ours)
                # printed to four digits
                slack = 5e-5 * max(1.0, abs(value))
                inside = least - slack <= value <= most + slack
                cells.append([table, regime, name, quantity, value, least, float(np.median(ours)), most, int(inside)])
    return cells


def claims(found: Found) -> dict[str, dict[str, float]]:
    """What the paper's claims rest on, counted over our data sets and splits, for each regime."""
    counts: dict[str, dict[str, float]] = {}
    for regime in REGIMES:
        rows = [own[regime] for (name, _), own in found.items() if name not in UNCALIBRATED or regime == "raw"]
        # means of the same sets in every regime
        alike = [own[regime] for (name, _), own in found.items() if name not in UNCALIBRATED] or rows
        counts[regime] = {
            "splits": len(rows),
            "over_1_sigma": sum(row["csr"] > 1 + row["sigma"] for row in rows),
            "over_3_sigma": sum(row["csr"] > 1 + 3 * row["sigma"] for row in rows),
            # sets on which some splits are beyond one sigma and others are not
            "sets_that_flip": sum(0 < share < 1 for share in _shares(found, regime)),
            "sets": len({name for name, _ in found}),
            "csr_over_100": sum(row["csr"] > 100 for row in rows),
            "exact_below_1_percent": sum(row["pvalue_combined"] < 0.01 for row in rows),
            "certain_wrong": sum(row["certain_wrong"] > 0 for row in rows),
            "saturated_and_called_even": sum(0.49 < row["p_risk"] < 0.51 and row["certain_wrong"] > 0 for row in rows),
            "mean_cwa": float(np.mean([row["cwa"] for row in alike])),
            "mean_cwauc": float(np.nanmean([row["cwauc"] for row in alike])),
        }
    return counts


def _shares(found: Found, regime: str) -> list[float]:
    """Of each set, the share of splits on which CSR is beyond one sigma."""
    names = dict.fromkeys(name for name, _ in found)
    beyond = {key: own[regime]["csr"] > 1 + own[regime]["sigma"] for key, own in found.items()}
    return [float(np.mean([is_so for (which, _), is_so in beyond.items() if which == name])) for name in names]
