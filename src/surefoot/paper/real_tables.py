"""The real tables as files, and Table 2: averages over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.paper.real import REGIMES, Found
from surefoot.paper.tables import printed_table, write_table
from surefoot.paper.yardstick import compare

#: Columns of Table 2 that are means; the others are counts of sets.
MEANS = ("acc", "cwa", "gain", "csr", "sigma", "p_risk")


def write_tables(folder: Path, found: Found, kind: str) -> list[Path]:
    """Write one table of all numbers, and one of every printed cell beside the range of our splits."""
    everything = folder / f"real-{kind}.csv"
    rows = [[name, seed, regime, *own[regime].values()] for (name, seed), own in found.items() for regime in REGIMES]
    columns = list(next(iter(found.values()))[REGIMES[0]])
    write_table(everything, ["dataset", "seed", "regime", *columns], rows)
    beside = folder / f"real-{kind}-beside.csv"
    cells = [
        [c.regime, c.name, c.quantity, c.printed, c.least, float(np.median(c.ours)), c.most, c.side, int(c.counts)]
        for c in compare(found)
    ]
    heads = ["regime", "dataset", "quantity", "printed", "least", "median", "most", "side", "counted"]
    write_table(beside, heads, cells)
    return [everything, beside]


Row = dict[str, float]


def averages(rows: dict[str, list[Row]]) -> dict[str, Row]:
    """Table 2 of some rows of each regime: means, and how many lie beyond one and three sigma."""
    return {
        regime: {
            **{name: float(np.mean([row[name] for row in own])) for name in MEANS},
            **{f"over_{k}_sigma": float(sum(row["csr"] > 1 + k * row["sigma"] for row in own)) for k in (1, 3)},
        }
        for regime, own in rows.items()
    }


def averages_of_split(found: Found, seed: int, names: Sequence[str]) -> dict[str, Row]:
    """Table 2 of one split of some sets."""
    return averages({regime: [found[name, seed][regime] for name in names] for regime in REGIMES})


def printed_averages(names: Sequence[str] | None = None) -> dict[str, Row]:
    """Table 2 made of the printed rows of Table 6, of some sets."""
    real = printed_table("real", 2)
    return averages(
        {
            regime: [row for (which, name), row in real.items() if which == regime and (names is None or name in names)]
            for regime in REGIMES
        }
    )
