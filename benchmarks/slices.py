"""Whether slice search keeps its level, finds what is planted, and how long it takes.

``python -m benchmarks.slices`` writes ``benchmarks/SLICES.md``. Everything is seeded.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import beta

import surefoot as sf
from surefoot.search.condition import Condition

Array = Any
Draw = Callable[[np.random.Generator, int], dict[str, Array]]

LETTERS = np.array(list("abcdefghij"))


def ten_columns(rng: np.random.Generator, rows: int) -> dict[str, Array]:
    """Six columns of ten categories, and four of numbers."""
    columns: dict[str, Array] = {f"c{i}": LETTERS[rng.integers(0, 10, rows)] for i in range(6)}
    return columns | {f"x{i}": rng.normal(size=rows) for i in range(4)}


def tiny_groups(rng: np.random.Generator, rows: int) -> dict[str, Array]:
    """Eight columns whose values have few rows each."""
    return {f"c{i}": rng.zipf(1.3, rows) % 200 for i in range(8)}


def tied_to_confidence(rng: np.random.Generator, rows: int) -> dict[str, Array]:
    """Columns that correlate with each other."""
    one = rng.normal(size=rows)
    columns: dict[str, Array] = {f"x{i}": one + 0.5 * rng.normal(size=rows) for i in range(5)}
    return columns | {f"b{i}": one + rng.normal(size=rows) > 0 for i in range(5)}


@dataclass(frozen=True)
class Profile:
    """Calibrated predictions with columns that say nothing about errors."""

    name: str
    rows: int
    runs: int
    confidence: Callable[[np.random.Generator, int], Array]
    columns: Draw = ten_columns
    min_rows: int = 50
    is_event: bool = False


PROFILES = (
    Profile("uniform from 0.6 to 1", 100_000, 60, lambda rng, n: rng.uniform(0.6, 1, n)),
    Profile("uniform from 0.6 to 1", 10_000, 200, lambda rng, n: rng.uniform(0.6, 1, n)),
    Profile("few rows", 400, 400, lambda rng, n: rng.uniform(0.6, 1, n), min_rows=20),
    Profile("near 1", 10_000, 200, lambda rng, n: 1 - 10 ** rng.uniform(-6, -1.5, n)),
    Profile(
        "near 1, most rows without errors", 10_000, 200, lambda rng, n: 1 - 10 ** rng.uniform(-8, -3, n), min_rows=10
    ),
    Profile("two confidences", 10_000, 200, lambda rng, n: np.where(rng.random(n) < 0.5, 0.55, 0.99)),
    Profile("tiny groups", 10_000, 200, lambda rng, n: rng.uniform(0.5, 1, n), tiny_groups, min_rows=5),
    Profile("correlated columns", 10_000, 200, lambda rng, n: 0.5 + 0.5 * rng.beta(4, 1, n), tied_to_confidence),
    Profile("an event, U-shaped risks", 10_000, 200, lambda rng, n: rng.beta(0.3, 0.5, n), is_event=True),
    Profile("an event, rare", 10_000, 200, lambda rng, n: 10 ** rng.uniform(-5, -1, n), is_event=True),
)


def is_quiet(number: int, seed: int) -> bool:
    """Whether nothing is reported where nothing is planted."""
    profile = PROFILES[number]
    rng = np.random.default_rng((seed, profile.rows))
    confidence = profile.confidence(rng, profile.rows)
    happened = rng.random(profile.rows) < confidence
    frame = pl.DataFrame(profile.columns(rng, profile.rows) | {"confidence_too": confidence})
    if profile.is_event:
        p = sf.Predictions.from_probabilities(happened, confidence, of="event", pos_label=True)
    else:
        p = sf.Predictions.from_correct(happened, confidence)
    return not sf.find_slices(p, frame, min_rows=profile.min_rows)


@dataclass(frozen=True)
class Plant:
    """A slice of a share of the rows that is overconfident by some points."""

    name: str
    rows: int
    runs: int
    #: Which rows, and the conditions that name them.
    where: Callable[[dict[str, Array], np.random.Generator], tuple[Array, tuple[Condition, ...]]]
    points: float = 0.1


def a_category(columns: dict[str, Array], rng: np.random.Generator) -> tuple[Array, tuple[Condition, ...]]:
    columns["c0"] = np.where(rng.random(len(columns["c0"])) < 0.05, "planted", columns["c0"])
    return columns["c0"] == "planted", (Condition("c0", value="planted"),)


def a_pair(columns: dict[str, Array], rng: np.random.Generator) -> tuple[Array, tuple[Condition, ...]]:
    for name in ("c0", "c1"):
        columns[name] = np.where(rng.random(len(columns[name])) < 0.05**0.5, "planted", columns[name])
    inside = (columns["c0"] == "planted") & (columns["c1"] == "planted")
    return inside, (Condition("c0", value="planted"), Condition("c1", value="planted"))


def a_range(columns: dict[str, Array], rng: np.random.Generator) -> tuple[Array, tuple[Condition, ...]]:
    inside = columns["x0"] > np.quantile(columns["x0"], 0.95)
    return inside, (Condition("x0"),)


PLANTS = (
    Plant("a category", 100_000, 100, a_category),
    Plant("a pair of categories", 100_000, 60, a_pair),
    Plant("the upper half of a bin of numbers", 100_000, 60, a_range),
    Plant("a category, underconfident", 100_000, 60, a_category, points=-0.1),
    Plant("a category", 20_000, 100, a_category),
)


def finds(plant: Plant, seed: int) -> tuple[bool, int]:
    """Whether the planted slice is found, by its own name, and how many others are."""
    rng = np.random.default_rng((seed, plant.rows, 1))
    columns = ten_columns(rng, plant.rows)
    inside, conditions = plant.where(columns, rng)
    confidence = rng.uniform(0.6, 0.9, plant.rows)
    correct = rng.random(plant.rows) < confidence - plant.points * inside
    found = sf.find_slices(sf.Predictions.from_correct(correct, confidence), pl.DataFrame(columns))
    direction = "overconfident" if plant.points > 0 else "underconfident"
    hits = [one for one in found if one.direction == direction and _is(one.conditions, conditions)]
    return bool(hits), len(found) - len(hits)


def _is(found: tuple[Condition, ...], wanted: tuple[Condition, ...]) -> bool:
    if wanted[0].value is None:
        return [one.column for one in found] == [one.column for one in wanted] and found[0].up_to == float("inf")
    return found == wanted


def timed() -> list[str]:
    """Seconds of processor time for a million rows of ten columns, beside five sorts of a million numbers."""
    lines = []
    for name, kind in (("Polars", "eager"), ("pandas", "eager"), ("Polars, lazy", "lazy")):
        rng = np.random.default_rng(0)
        confidence = rng.uniform(0.6, 1, 1_000_000)
        columns = ten_columns(rng, 1_000_000)
        correct = rng.random(1_000_000) < confidence - 0.1 * (columns["c0"] == "a") * (columns["x0"] > 0)
        columns |= {"correct": correct, "confidence": confidence}
        frame: Any = pl.DataFrame(columns)
        frame = frame.to_pandas() if name == "pandas" else frame.lazy() if kind == "lazy" else frame
        sf.find_slices(frame.head(1000))
        sorts, seconds, walls = [], [], []
        for _ in range(3):
            numbers = rng.random(1_000_000)
            start = time.process_time()
            np.sort(numbers)
            sorts.append(time.process_time() - start)
            start, wall = time.process_time(), time.perf_counter()
            sf.find_slices(frame)
            seconds.append(time.process_time() - start)
            walls.append(time.perf_counter() - wall)
        lines.append(f"| {name} | {min(seconds):.1f} s | {min(walls):.1f} s | {min(seconds) / min(sorts):.0f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="How many times as many runs.")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("SLICES.md"))
    arguments = parser.parse_args()
    lines = [
        "# Slice search: level, power and time",
        "",
        f"Written by `python -m benchmarks.slices` on {date.today().isoformat()} ({platform.machine()}). Everything is seeded.",
    ]

    def write(*more: str) -> None:
        lines.extend(more)
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")

    with ProcessPoolExecutor(2) as pool:
        write(
            *("", "## A slice planted", ""),
            "5% of rows, 10 points too high (or too low), confidences uniform from 0.6 to 0.9, ten columns: the share of runs "
            "in which it is found by its own name and direction, and how many other slices are reported a run.",
            *(
                "",
                "| planted | rows | runs | found | 95% CI | others a run |",
                "| --- | ---: | ---: | ---: | --- | ---: |",
            ),
        )
        for plant in PLANTS:
            runs = max(2, round(plant.runs * arguments.scale))
            results = list(pool.map(partial(finds, plant), range(runs)))
            hits, others = sum(hit for hit, _ in results), sum(other for _, other in results)
            head = f"| {plant.name} | {plant.rows:,} | {runs} | {hits / runs:.1%} | {_interval(hits, runs)}"
            write(f"{head} | {others / runs:.2f} |")
        write(
            *("", "## Nothing planted", ""),
            "Calibrated predictions, columns that say nothing about errors, and the confidence itself as one more: the share "
            "of runs in which any slice is reported, at `level=0.05`.",
            *("", "| confidences | rows | runs | reported | 95% CI |", "| --- | ---: | ---: | ---: | --- |"),
        )
        all_loud = all_runs = 0
        for number, profile in enumerate(PROFILES):
            runs = max(2, round(profile.runs * arguments.scale))
            loud = sum(not quiet for quiet in pool.map(partial(is_quiet, number), range(runs)))
            write(f"| {profile.name} | {profile.rows:,} | {runs} | {loud / runs:.1%} | {_interval(loud, runs)} |")
            all_loud, all_runs = all_loud + loud, all_runs + runs
        write(f"| together | | {all_runs} | {all_loud / all_runs:.1%} | {_interval(all_loud, all_runs)} |")
    write(
        *("", "## Time", ""),
        "A million rows, ten columns, 45 pairs: processor time, the best of three; time on the clock (of a shared machine); "
        "and processor time over that of `np.sort` of a million numbers in the same run.",
        *("", "| frame | processor | clock | sorts |", "| --- | ---: | ---: | ---: |"),
        *timed(),
    )


def _interval(hits: int, runs: int) -> str:
    low = 0.0 if not hits else beta.ppf(0.025, hits, runs - hits + 1)
    high = 1.0 if hits == runs else beta.ppf(0.975, hits + 1, runs - hits)
    return f"{low:.1%} to {high:.1%}"


if __name__ == "__main__":
    main()
