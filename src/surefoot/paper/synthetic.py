"""The paper's synthetic tables, from our own draws, beside the printed ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._io.writing import write_whole
from surefoot.core.table import Floats
from surefoot.paper.agreement import REPETITIONS, Cell, cell, single_cell
from surefoot.paper.simulation import AREAS, QUANTITIES, Plan, Results, rankings, simulate
from surefoot.paper.tables import printed_table, write_table
from surefoot.synthetic import MODES, PROFILES

#: Sizes of the paper's table of perfect calibration, and of its table of all modes.
BY_SIZE, OF_MODES = (100, 10_000, 100_000), 1000
#: Rows of the experiments on rankings.
RANKED = 1000
#: What the table of extremes prints of each profile.
OF_RISK = ("over_1_sigma", "over_3_sigma", "p_risk")
#: Tables drawn to see how often a profile is the extreme one, and what is no difference between two printed means.
_TABLES, _SAME = 2000, 5e-5

Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Synthetic:
    """Every printed cell beside ours, the extremes of each mode, and the draws that claims are judged by."""

    cells: list[Cell]
    extremes: list[Extreme]
    by_size: dict[int, Results]
    #: By profile and mode, the areas of single runs.
    ranked: dict[tuple[str, str], dict[str, Floats]]


@dataclass(frozen=True)
class Extreme:
    """The profile of the largest, or the smallest, mean P_risk of a mode."""

    extreme: str
    mode: str
    printed: str
    ours: str
    #: How often the printed profile is the extreme one in a table of a hundred repetitions, drawn from ours.
    share: float
    #: The printed rates and mean of P_risk, and ours of the same profile.
    values: tuple[tuple[float, float], ...]


def run(folder: Path, plan: Plan, report: Report = lambda size, done, profile: None) -> Synthetic:
    """Simulate, write every table, and compare with the printed ones. Sizes that are done are not done again."""
    results = {size: _at_size(folder, size, often, plan.seed, report) for size, often in plan.sizes.items()}
    cells: list[Cell] = []
    extremes: list[Extreme] = []
    if OF_MODES in results:
        _write(folder / "modes.csv", ("distribution", "mode"), {key: _means(v) for key, v in results[OF_MODES].items()})
        cells += _modes(results[OF_MODES])
        found = _own_extremes(results[OF_MODES])
        _write(folder / "p_risk_extremes.csv", ("extreme", "mode", "distribution"), found)
        extremes = _extremes(results[OF_MODES], [key[2] for key in found])
    if all(size in results for size in BY_SIZE):
        cells += _perfect(folder, results)
    ranked = _ranked(folder, plan)
    cells += _ranking_cells(folder, ranked)
    _write_differences(folder / "differences.csv", cells)
    return Synthetic(cells, extremes, results, ranked)


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


def _ranked(folder: Path, plan: Plan) -> dict[tuple[str, str], dict[str, Floats]]:
    """The experiments on rankings, from the folder if they are there."""
    path = folder / f"rankings-{RANKED}.npz"
    facts = np.array([RANKED, plan.ranked, plan.seed])
    try:
        with np.load(path, allow_pickle=False) as kept:
            if np.array_equal(kept["facts"], facts):
                return {(p, m): dict(zip(AREAS, kept[f"{p}.{m}"], strict=True)) for p in PROFILES for m in MODES}
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        pass  # not there, not ours, or damaged: done anew
    found = rankings(RANKED, plan.ranked, plan.seed)
    packed = io.BytesIO()
    arrays: dict[str, Any] = {f"{p}.{m}": np.array([own[name] for name in AREAS]) for (p, m), own in found.items()}
    np.savez_compressed(packed, facts=facts, **arrays)
    write_whole(path, packed.getvalue())
    return found


def _means(values: dict[str, Floats]) -> dict[str, float]:
    return {name: float(values[name].mean()) for name in values}


def _modes(results: Results) -> list[Cell]:
    first = next(iter(MODES))
    return [
        # confidences are drawn once for all modes, so that sigma is one number
        cell(
            "modes", (profile, mode), name, value, results[profile, mode][name], again=name == "sigma" and mode != first
        )
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
            cells.append(cell("perfect_summary", (profile,), name, value, mixed, repetitions=300, again=True))
    _write(folder / "perfect_summary.csv", ("distribution",), summary)
    return cells


def _mixture(samples: list[Floats]) -> Floats:
    """Draws of which each sample makes up the same share: shorter ones are repeated."""
    most = max(map(len, samples))
    return np.concatenate([np.resize(sample, most) for sample in samples])


def _own_extremes(results: Results) -> dict[tuple[str, ...], dict[str, float]]:
    """For each mode the profiles of the largest and the smallest mean P_risk."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for extreme, pick in (("max", max), ("min", min)):
        for mode in MODES:
            profile = pick(PROFILES, key=lambda name, mode=mode: float(results[name, mode]["p_risk"].mean()))  # type: ignore[misc]
            means = _means(results[profile, mode])
            found[extreme, mode, profile] = {name: means[name] for name in OF_RISK}
    return found


def _extremes(results: Results, ours: list[str]) -> list[Extreme]:
    """The printed extremes, and how often a table of a hundred repetitions has the same ones."""
    rng = np.random.default_rng(0)
    found = []
    for ((extreme, mode, profile), row), own in zip(printed_table("p_risk_extremes", 3).items(), ours, strict=True):
        risks = np.array([results[name, mode]["p_risk"] for name in PROFILES])
        places = rng.integers(0, risks.shape[1], (_TABLES, REPETITIONS))
        means = risks[:, places].mean(axis=2)
        # of profiles that share the extreme each would be as good
        best = means.max(axis=0) if extreme == "max" else means.min(axis=0)
        share = float(np.mean(np.abs(means[list(PROFILES).index(profile)] - best) <= _SAME))
        values = tuple((row[name], float(results[profile, mode][name].mean())) for name in OF_RISK)
        found.append(Extreme(extreme, mode, profile, own, share, values))
    return found


def _ranking_cells(folder: Path, ranked: dict[tuple[str, str], dict[str, Floats]]) -> list[Cell]:
    perfect = {(profile,): _means(ranked[profile, "perfect"]) for profile in PROFILES}
    _write(folder / "cwauc_synthetic.csv", ("distribution",), perfect)
    cells = [
        # differences follow from what they are of
        single_cell(
            "cwauc_synthetic",
            (profile,),
            name,
            value,
            ranked[profile, "perfect"][name],
            again=name.startswith("delta"),
        )
        for (profile,), row in printed_table("cwauc_synthetic", 1).items()
        for name, value in row.items()
    ]
    # the paper counts profiles in one run: in each repetition of ours, count them likewise
    counts = {
        mode: {
            "cwauc_above_auc": sum((ranked[profile, mode]["delta_auc"] > 0).astype(float) for profile in PROFILES),
            "cwauc_below_auc": sum((ranked[profile, mode]["delta_auc"] < 0).astype(float) for profile in PROFILES),
        }
        for mode in MODES
    }
    _write(folder / "cwauc_counts.csv", ("mode",), {(mode,): _means(own) for mode, own in counts.items()})  # type: ignore[arg-type]
    cells += [
        # of ten profiles those below are the others, but for equal areas
        single_cell(
            "cwauc_counts", (mode,), name, value, np.asarray(counts[mode][name]), again=name == "cwauc_below_auc"
        )
        for (mode,), row in printed_table("cwauc_counts", 1).items()
        for name, value in row.items()
    ]
    return cells


def _write(path: Path, keys: tuple[str, ...], rows: Mapping[Any, dict[str, float]]) -> None:
    write_table(path, [*keys, *next(iter(rows.values()))], ([*key, *row.values()] for key, row in rows.items()))


def _write_differences(path: Path, cells: list[Cell]) -> None:
    """The cells that do not agree."""
    rows = [
        [c.table, " ".join(c.row), c.quantity, str(c.printed), c.ours, c.kind]
        for c in cells
        if not c.agrees and not c.again
    ]
    write_table(path, ["table", "row", "quantity", "printed", "ours", "kind"], rows)
