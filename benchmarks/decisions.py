"""Whether the promises of ``act_alone`` hold, and how much of the work they let a model do alone.

``python -m benchmarks.decisions`` draws data sets of ten shapes and more, counts how often the true error rate at the
threshold exceeds the promised one, and compares coverage with MAPIE's risk control on the same draws.
``--real FOLDER`` splits real predictions in half again and again, and looks at the other half. ``--speed`` measures how
much processor time it takes to find a threshold and to decide by it, so that other work on the machine hardly matters.
Seeded.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta as beta_law

import surefoot as sf
from benchmarks.rows import Row, best
from surefoot.core.thresholds import THRESHOLDS
from surefoot.decisions.act_alone import TERMS

Array = Any
LEVEL = 0.05


@dataclass(frozen=True)
class Shape:
    """Confidences by their quantiles, and how often a prediction of a given confidence is wrong."""

    name: str
    quantile: Callable[[Array], Array]
    wrong: Callable[[Array, float], Array]

    def draw(self, rows: int, error: float, rng: np.random.Generator) -> tuple[Array, Array]:
        confidence = self.quantile(rng.random(rows))
        return rng.random(rows) >= self.wrong(confidence, error), confidence

    def truth(self, error: float) -> tuple[Array, Array]:
        """Coverage and error rate at every threshold, by two million evenly spaced quantiles."""
        confidence = self.quantile((np.arange(2_000_000) + 0.5) / 2_000_000)
        cell = np.searchsorted(THRESHOLDS, confidence, "right") - 1
        rows = np.bincount(cell, minlength=len(THRESHOLDS))[::-1].cumsum()[::-1]
        errors = np.bincount(cell, self.wrong(confidence, error), len(THRESHOLDS))[::-1].cumsum()[::-1]
        return rows / len(confidence), errors / np.maximum(rows, 1)


def _steps(*values: float) -> Callable[[Array], Array]:
    return lambda u: np.array(values)[np.minimum((u * len(values)).astype(int), len(values) - 1)]


SHAPES = (
    Shape("calibrated", lambda u: 0.5 + 0.5 * beta_law.ppf(u, 4, 1), lambda c, e: 1 - c),
    Shape("overconfident", lambda u: 0.5 + 0.5 * beta_law.ppf(u, 6, 0.8), lambda c, e: 1 - expit(0.6 * logit(c))),
    Shape("underconfident", lambda u: 0.5 + 0.5 * beta_law.ppf(u, 3, 2), lambda c, e: 1 - expit(2 * logit(c))),
    Shape("heavy tails", lambda u: 1 - 10 ** (1.5 * np.log1p(-u) - 0.05), lambda c, e: np.minimum(0.6, (1 - c) ** 0.7)),
    Shape("very accurate", lambda u: 1 - 0.5 * beta_law.ppf(1 - u, 0.3, 6), lambda c, e: 0.6 * (1 - c)),
    Shape("label noise", lambda u: 1 - 0.6 * beta_law.ppf(1 - u, 0.4, 2), lambda c, e: e / 2 + 0.9 * (1 - c)),
    Shape("five values", _steps(0.5, 0.7, 0.9, 0.95, 0.99), lambda c, e: np.where(c > 0.8, e * 0.5, 3 * e)),
    Shape("two values", _steps(0.6, 0.95), lambda c, e: np.where(c > 0.8, 1.0001 * e, 4 * e)),
    Shape("one value", _steps(0.8), lambda c, e: np.full(len(c), 1.0001 * e)),
    Shape("at the promise", lambda u: u, lambda c, e: np.full(len(c), 1.0001 * e)),
    Shape("just above it", lambda u: u, lambda c, e: np.minimum(1, np.where(c > 0.5, 1.0001 * e, 1.5 * e))),
    Shape(
        "sure and wrong", lambda u: 0.5 + u / 2, lambda c, e: np.where(c > 0.97, 4 * e, np.where(c > 0.7, e / 3, 6 * e))
    ),
    Shape("waves", lambda u: u, lambda c, e: np.where((c * 10).astype(int) % 2, 2.002 * e, 0)),
)


def simulate(repetitions: int, *, with_mapie: bool) -> None:
    print(f"{'shape':16}{'rows':>7}{'error':>7}{'broken':>9}{'coverage':>10}{'possible':>10}", end="")
    print(f"{'MAPIE':>9}{'sequence':>10}" if with_mapie else "")
    broken = total = 0
    ours, theirs = [], []
    for shape in SHAPES:
        for error in (0.01, 0.05):
            share, rate = shape.truth(error)
            possible = float(np.max(share[(rate <= error) & (share > 0)], initial=0.0))
            for rows in (50, 200, 1000, 5000, 10_000):
                rng = np.random.default_rng([rows, round(1000 * error), len(shape.name)])
                hits, covered, mapie = 0, 0.0, np.zeros(2)
                for _ in range(repetitions):
                    correct, confidence = shape.draw(rows, error, rng)
                    found = sf.act_alone(correct=correct, confidence=confidence, error=error, level=LEVEL)
                    if found.threshold is not None:
                        at = int(np.searchsorted(THRESHOLDS, found.threshold))
                        hits += bool(rate[at] > error)
                        covered += share[at]
                    if with_mapie:
                        mapie += [share[at] if at is not None else 0 for at in _mapie(correct, confidence, error)]
                broken, total = broken + hits, total + repetitions
                ours.append(covered / repetitions)
                theirs.append(mapie / repetitions)
                line = f"{shape.name:16}{rows:7,}{error:7}{hits / repetitions:9.1%}{ours[-1]:10.3f}{possible:10.3f}"
                print(line + ("".join(f"{x:9.3f}" for x in theirs[-1]) if with_mapie else ""), flush=True)
    print(f"broken in {broken:,} of {total:,} data sets; mean coverage {np.mean(ours):.4f}", end="")
    print(f", MAPIE {np.mean(theirs, axis=0).round(4).tolist()}" if with_mapie else "")


def _mapie(correct: Array, confidence: Array, error: float) -> list[int | None]:
    """The threshold by its number, of MAPIE's precision control: by default, and by a fixed sequence from the top."""
    from mapie.risk_control import BinaryClassificationController

    found: list[int | None] = []
    for method, grid in (("bonferroni_holm", np.linspace(0, 0.99, 100)), ("fixed_sequence", np.linspace(0.99, 0, 100))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller = BinaryClassificationController(
                lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
                risk="precision",
                target_level=1 - error,
                confidence_level=1 - LEVEL,
                best_predict_param_choice="recall",
                list_predict_params=grid,
                fwer_method=method,
            )
            controller.calibrate(confidence[:, None], correct.astype(int))
        best = controller.best_predict_param
        found.append(None if best is None or math.isnan(best) else int(np.searchsorted(THRESHOLDS, best)))
    return found


def real(folder: Path, splits: int) -> None:
    """Real predictions, split in half: how often more than promised are wrong on the other half."""
    import pyarrow.parquet as pq

    print(f"{'file':44}{'error':>7}{'found':>8}{'broken':>9}{'coverage':>10}")
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path).to_pandas()
        if "probs" in table:
            probabilities = np.stack(table["probs"].to_numpy())
            correct = probabilities.argmax(axis=1) == table["label"].to_numpy()
            confidence = probabilities.max(axis=1).astype(np.float64)
        else:
            table = table[table["part"] == "reference"]
            p = table["predicted_probability"].to_numpy(dtype=np.float64)
            correct, confidence = (p >= 0.5) == (table["employed"].to_numpy() == 1), np.maximum(p, 1 - p)
        for error in (0.01, 0.02, 0.05):
            rng = np.random.default_rng(0)
            found = broken = 0
            coverage = 0.0
            for _ in range(splits):
                order = rng.permutation(len(correct))
                one, other = np.array_split(order, 2)
                at = sf.act_alone(correct=correct[one], confidence=confidence[one], error=error).threshold
                if at is not None:
                    accepted = confidence[other] >= at
                    found += 1
                    broken += bool((~correct[other][accepted]).mean() > error)
                    coverage += accepted.mean()
            print(
                f"{path.stem:44}{error:7}{found / splits:8.0%}{broken / splits:9.1%}{coverage / splits:10.3f}",
                flush=True,
            )


def speed(n: int = 10_000_000, clock: Callable[[], float] = time.perf_counter) -> list[Row]:
    """The threshold of a tally, decisions by it, and the threshold of a file, each beside the least that it takes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    confidence = 0.9999 - 0.5 * rng.random(n) ** 3
    correct = rng.random(n) < confidence
    part = sf.Predictions.from_correct(correct[: n // 10], confidence[: n // 10]).tally(TERMS)
    # a hundred parts as they come from a hundred machines: ten times the rows of the file
    tally = sum([part] * 100)
    promised = sf.act_alone(tally, error=0.01)
    assert promised.rows == 100 * (n // 10)
    policy = promised.policy
    least = policy.thresholds.accept
    assert least is not None
    times = {
        "tally": best(lambda: sf.act_alone(tally, error=0.01), 5, clock),
        "decide": best(lambda: policy.decide(confidence), 3, clock),
        "compare": best(lambda: confidence >= least, 3, clock),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({"correct": correct, "confidence": confidence}), path)
        whole = sf.act_alone(correct=correct, confidence=confidence, error=0.01)
        found = sf.act_alone(path, error=0.01)
        assert found.threshold == whole.threshold
        times["file"] = best(lambda: sf.act_alone(path, error=0.01), 3, clock)
        times["scan"] = best(lambda: pq.read_table(path, columns=["correct", "confidence"]), 3, clock)
    rows = f"{n:.0e}".replace("e+0", "e")
    per_row = f"{times['decide'] / n * 1e9:.1f} ns a row"
    ratio = f"{times['file'] / times['scan']:.1f}x"
    bare = "a bare comparison with the threshold"
    scan = "pyarrow reading the two columns"
    return [
        Row(
            f"act_alone of a tally of {10 * n:,} rows",
            times["tally"],
            "",
            math.nan,
            "",
            f"{1e3 * times['tally']:.1f} ms",
        ),
        Row(f"Policy.decide, {rows} rows, in words", times["decide"], bare, times["compare"], "", per_row),
        Row(f"act_alone of Parquet, {rows} rows", times["file"], scan, times["scan"], "", ratio),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100, help="data sets for each shape, size and error rate")
    parser.add_argument("--mapie", action="store_true", help="also by MAPIE, on the same draws")
    parser.add_argument("--real", type=Path, help="folder of real predictions")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--speed", type=int, nargs="?", const=10_000_000, help="rows; default: ten million")
    given = parser.parse_args()
    if given.speed is not None:
        for row in speed(given.speed, time.process_time):
            beside = f"; {row.against}: {1e3 * row.theirs:,.2f} ms" if row.against else ""
            print(f"{row.job}: {1e3 * row.ours:,.2f} ms of processor time{beside}; {row.ratio}")
    elif given.real is not None:
        real(given.real, given.splits)
    else:
        simulate(given.repetitions, with_mapie=given.mapie)
