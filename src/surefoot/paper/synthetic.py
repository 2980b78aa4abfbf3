"""The paper's synthetic tables, from our own draws, beside the printed ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._io.writing import write_whole
from surefoot.core.table import Floats
from surefoot.paper.agreement import Cell, cell, single_cell
from surefoot.paper.simulation import QUANTITIES, Plan, Results, rankings, simulate
from surefoot.paper.tables import printed_table, write_table
from surefoot.synthetic import MODES, PROFILES

#: Sizes of the paper's table of perfect calibration, and of its table of all modes.
BY_SIZE, OF_MODES = (100, 10_000, 100_000), 1000
#: Rows of the experiments on rankings.
RANKED = 1000

Report = Callable[[int, int, str], None]


def run(folder: Path, plan: Plan, report: Report = lambda size, done, profile: None) -> list[Cell]:
    """Simulate, write every table, and compare with the printed ones. Sizes that are done are not done again."""
    results = {size: _at_size(folder, size, often, plan.seed, report) for size, often in plan.sizes.items()}
    cells: list[Cell] = []
    if OF_MODES in results:
        _write(folder / "modes.csv", ("distribution", "mode"), {key: _means(v) for key, v in results[OF_MODES].items()})
        cells += _modes(results[OF_MODES])
        extremes = _extremes(results[OF_MODES])
        _write(folder / "p_risk_extremes.csv", ("extreme", "mode", "distribution"), extremes)
        cells += _extreme_cells(results[OF_MODES])
    if all(size in results for size in BY_SIZE):
        cells += _perfect(folder, results)
    ranked = rankings(RANKED, plan.ranked, plan.seed)
    cells += _ranking_cells(folder, ranked)
    _write_differences(folder / "differences.csv", cells)
    return cells


def _at_size(folder: Path, size: int, often: int, seed: int, report: Report) -> Results:
    """The repetitions of one size, from the folder if they are there."""
    path = folder / f"experiments-{size}.npz"
    facts = np.array([size, often, seed])
    if path.exists():
        try:
            with np.load(path, allow_pickle=False) as kept:
                if np.array_equal(kept["facts"], facts):
                    return {
                        (p, m): dict(zip(QUANTITIES, kept[f"{p}.{m}"], strict=True)) for p in PROFILES for m in MODES
                    }
        except (ValueError, KeyError, OSError, zipfile.BadZipFile):
            pass  # not ours, or damaged: done anew
    count = 0

    def one_more(profile: str) -> None:
        nonlocal count
        count += 1
        report(size, count * len(MODES), profile)

    found = simulate(size, often, seed, one_more)
    packed = io.BytesIO()
    arrays: dict[str, Any] = {f"{p}.{m}": np.array([own[name] for name in QUANTITIES]) for (p, m), own in found.items()}
    np.savez_compressed(packed, facts=facts, **arrays)
    write_whole(path, packed.getvalue())
    return found


def _means(values: dict[str, Floats]) -> dict[str, float]:
    return {name: float(values[name].mean()) for name in values}


def _modes(results: Results) -> list[Cell]:
    return [
        cell("modes", (profile, mode), name, value, results[profile, mode][name])
        for (profile, mode), row in printed_table("modes", 2).items()
        for name, value in row.items()
    ]


def _perfect(folder: Path, results: dict[int, Results]) -> list[Cell]:
    cells = [
        cell("perfect_by_size", (size, profile), name, value, results[int(size)][profile, "perfect"][name])
        for (size, profile), row in printed_table("perfect_by_size", 2).items()
        for name, value in row.items()
    ]
    by_size = {
        (str(size), profile): _means(results[size][profile, "perfect"]) for size in BY_SIZE for profile in PROFILES
    }
    _write(folder / "perfect_by_size.csv", ("n", "distribution"), by_size)
    summary = {}
    for (profile,), row in printed_table("perfect_summary", 1).items():
        # the mean over three sizes of a hundred each
        summary[profile,] = {
            name: float(np.mean([by_size[str(size), profile][name] for size in BY_SIZE])) for name in QUANTITIES
        }
        for name, value in row.items():
            mixed = _mixture([results[size][profile, "perfect"][name] for size in BY_SIZE])
            cells.append(cell("perfect_summary", (profile,), name, value, mixed, repetitions=300))
    _write(folder / "perfect_summary.csv", ("distribution",), summary)
    return cells


def _mixture(samples: list[Floats]) -> Floats:
    """Draws of which each sample makes up the same share."""
    least = min(map(len, samples))
    return np.concatenate([sample[:least] for sample in samples])


def _extremes(results: Results) -> dict[tuple[str, ...], dict[str, float]]:
    """For each mode the profiles of the largest and the smallest mean P_risk."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for extreme, pick in (("max", max), ("min", min)):
        for mode in MODES:
            profile = pick(PROFILES, key=lambda name, mode=mode: float(results[name, mode]["p_risk"].mean()))  # type: ignore[misc]
            means = _means(results[profile, mode])
            found[extreme, mode, profile] = {name: means[name] for name in ("over_1_sigma", "over_3_sigma", "p_risk")}
    return found


def _extreme_cells(results: Results) -> list[Cell]:
    return [
        cell("p_risk_extremes", (extreme, mode, profile), name, value, results[profile, mode][name])
        for (extreme, mode, profile), row in printed_table("p_risk_extremes", 3).items()
        for name, value in row.items()
    ]


def _ranking_cells(folder: Path, ranked: dict[tuple[str, str], dict[str, Floats]]) -> list[Cell]:
    perfect = {(profile,): _means(ranked[profile, "perfect"]) for profile in PROFILES}
    _write(folder / "cwauc_synthetic.csv", ("distribution",), perfect)
    cells = [
        single_cell("cwauc_synthetic", (profile,), name, value, ranked[profile, "perfect"][name])
        for (profile,), row in printed_table("cwauc_synthetic", 1).items()
        for name, value in row.items()
    ]
    # the paper counts profiles in one run: in each repetition of ours, count them likewise
    above = {mode: np.sum([ranked[profile, mode]["delta_auc"] > 0 for profile in PROFILES], axis=0) for mode in MODES}
    counts = {
        (mode,): {"cwauc_above_auc": float(n.mean()), "cwauc_below_auc": float(len(PROFILES) - n.mean())}
        for mode, n in above.items()
    }
    _write(folder / "cwauc_counts.csv", ("mode",), counts)
    cells += [
        single_cell(
            "cwauc_counts",
            (mode,),
            name,
            value,
            (above[mode] if name == "cwauc_above_auc" else len(PROFILES) - above[mode]).astype(float),
        )
        for (mode,), row in printed_table("cwauc_counts", 1).items()
        for name, value in row.items()
    ]
    return cells


def _write(path: Path, keys: tuple[str, ...], rows: Mapping[Any, dict[str, float]]) -> None:
    write_table(path, [*keys, *next(iter(rows.values()))], ([*key, *row.values()] for key, row in rows.items()))


def _write_differences(path: Path, cells: list[Cell]) -> None:
    """The cells that do not agree, or cannot be compared."""
    rows = [
        [c.table, " ".join(c.row), c.quantity, str(c.printed), c.ours, f"{c.error:.3g}", c.why or "outside"]
        for c in cells
        if c.why or not c.agrees
    ]
    write_table(path, ["table", "row", "quantity", "printed", "ours", "standard_error", "why"], rows)
