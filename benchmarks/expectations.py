"""How near ``expect`` comes to the metrics of rows whose labels it was not given, and how often its intervals hold them.

``python -m benchmarks.expectations FILE`` reads the employment data of NannyML (``nannyml_employment_ma.parquet``), cuts
its analysis part into chunks, and prints the mean absolute error of expected accuracy and AUC beside those of CBPE.
CBPE is NannyML's own if it is installed in this interpreter, else the transcription below, which gives the same numbers
to 1e-9 (``--nannyml`` checks it). ``--coverage`` prints how often intervals hold what they should, in simulations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import surefoot as sf

Floats = Any
METRICS = ("accuracy", "cw_accuracy", "auc", "log_loss", "brier", "precision", "recall", "f1", "cw_auc")
SIZES = ((200, 200), (200, 5000), (5000, 200), (1000, 1000), (20_000, 20_000))


# -- beside NannyML ----------------------------------------------------------------------------------------------------


class Cbpe:
    """Confidence-based performance estimation as NannyML 0.13 does it: isotonic calibration, then expected counts.

    NannyML fits isotonic regression to half of the reference, and keeps it only if it lowers the calibration error (ECE
    of 10 bins) on the other half; here it always does.
    """

    def __init__(self, y: Floats, p: Floats) -> None:
        from sklearn.isotonic import IsotonicRegression

        self.map = IsotonicRegression(out_of_bounds="clip", increasing=True).fit(p, y)

    def accuracy(self, p: Floats) -> float:
        q = self.map.predict(p)
        return float(np.where(p >= 0.5, q, 1 - q).mean())

    def auc(self, p: Floats) -> float:
        """The area under expected true and false positive rates over all thresholds of the calibrated probability."""
        q = np.sort(self.map.predict(p))[::-1]
        tpr, fpr = (np.concatenate([[0.0], np.cumsum(each) / each.sum()]) for each in (q, 1 - q))
        # equal probabilities are one threshold
        last = np.append(np.flatnonzero(np.diff(q)) + 1, len(q))
        at = np.concatenate([[0], last])
        return float(np.trapezoid(tpr[at], fpr[at]))


def chunks(rows: int, size: int) -> Iterator[slice]:
    """Chunks in order; the last may be smaller, as in NannyML."""
    for start in range(0, rows, size):
        yield slice(start, min(rows, start + size))


def beside_cbpe(path: str, size: int, calibrator: str = "SafePlatt") -> dict[str, dict[str, float]]:
    """Mean absolute errors of both, on chunks of so many rows."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    part = np.array(table["part"].to_pylist())
    y, p = table["employed"].to_numpy(), table["predicted_probability"].to_numpy()
    known, later = part == "reference", np.flatnonzero(part == "analysis")
    reference = sf.Predictions.from_probabilities(y[known], p[known])
    cbpe = Cbpe(y[known], p[known])
    # fitted once for all chunks: expect would fit it to the same rows each time
    fitted = sf.calibrators.METHODS[calibrator]().fit(p[known], y[known])
    errors: dict[str, list[tuple[float, float]]] = {"accuracy": [], "auc": []}
    inside: dict[str, list[bool]] = {"accuracy": [], "auc": []}
    for chunk in chunks(len(later), size):
        rows = later[chunk]
        seen = sf.Predictions.from_probabilities(y[rows], p[rows])
        expected = sf.expect(p[rows], reference=reference, calibrator=fitted)
        for name, metric in (("accuracy", sf.accuracy), ("auc", sf.auc)):
            true = float(metric(seen))
            errors[name].append((abs(expected[name].value - true), abs(getattr(cbpe, name)(p[rows]) - true)))
            inside[name].append(expected[name].low <= true <= expected[name].high)
    return {
        name: {
            "expect": float(np.mean([one for one, _ in pairs])),
            "CBPE": float(np.mean([other for _, other in pairs])),
            "inside": float(np.mean(inside[name])),
            "chunks": len(pairs),
        }
        for name, pairs in errors.items()
    }


def check_transcription(path: str, size: int) -> None:
    """Print how far the transcription is from NannyML itself, which must be installed."""
    import nannyml as nml
    import pandas as pd

    table = pd.read_parquet(path)
    known, later = (table[table.part == name].reset_index(drop=True) for name in ("reference", "analysis"))
    columns = {"y_pred_proba": "predicted_probability", "y_pred": "prediction", "y_true": "employed"}
    found = nml.CBPE(
        **columns, problem_type="classification_binary", metrics=["accuracy", "roc_auc"], chunk_size=size
    ).fit(known)
    frame = found.estimate(later).to_df()
    frame = frame[frame[("chunk", "period")] == "analysis"]
    own = Cbpe(known.employed.to_numpy(), known.predicted_probability.to_numpy())
    for name, function in (("accuracy", own.accuracy), ("roc_auc", own.auc)):
        ours = [function(later.predicted_probability.to_numpy()[rows]) for rows in chunks(len(later), size)]
        theirs = frame[(name, "value")].to_numpy()[: len(ours)]
        print(f"{name}: largest difference from NannyML {nml.__version__}: {np.abs(np.array(ours) - theirs).max():.2e}")


# -- coverage ----------------------------------------------------------------------------------------------------------


def draw_model(rng: np.random.Generator, classes: int) -> Any:
    """A model whose probabilities are too sharp or too flat, and biased towards some classes."""
    said, true = rng.normal(0, 0.5, (2, classes))
    sharpness, spread = rng.uniform(0.7, 2), rng.uniform(1, 4)

    def draw(rows: int) -> tuple[Floats, Floats]:
        scores = rng.normal(0, spread, (rows, classes)) + true
        label = (_softmax(scores).cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
        return label, _softmax(sharpness * scores + said + 0.3 * rng.normal(size=(rows, classes)))

    return draw


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def coverage(
    classes: int, known: int, new: int, repetitions: int, calibrator: str = "SafePlatt", seed: int = 0
) -> dict[str, tuple[float, int]]:
    """How often intervals hold the metric that labels show, and of how many."""
    inside: dict[str, list[bool]] = {name: [] for name in METRICS}
    for repetition in range(repetitions):
        draw = draw_model(np.random.default_rng([seed, classes, known, new, repetition]), classes)
        (y, p), (truth, q) = draw(known), draw(new)
        labels = list(range(classes))
        reference = sf.Predictions.from_probabilities(y, p, labels=labels)
        seen = sf.Predictions.from_probabilities(truth, q, labels=labels)
        for one in sf.expect(q, reference=reference, calibrator=calibrator).compare(seen).metrics:
            inside[one.name].append(one.is_inside)
    return {name: (float(np.mean(found)), len(found)) for name, found in inside.items() if found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="nannyml_employment_ma.parquet")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--nannyml", action="store_true", help="check the transcription against NannyML itself")
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--classes", default="2,5,20")
    parser.add_argument("--calibrator", default="SafePlatt")
    given = parser.parse_args()
    if given.file and given.nannyml:
        check_transcription(given.file, 5000)
    elif given.file:
        print("| chunk | chunks | metric | expect | CBPE | inside 95% |\n|---:|---:|---|---:|---:|---:|")
        for size in (1000, 2500, 5000, 10_000, 20_000):
            for name, one in beside_cbpe(given.file, size, given.calibrator).items():
                errors = f"{one['expect']:.5f} | {one['CBPE']:.5f} | {one['inside']:.1%}"
                print(f"| {size:,} | {one['chunks']:.0f} | {name} | {errors} |", flush=True)
    if given.coverage:
        print(f"| K | reference | new | sets | s | {' | '.join(METRICS)} |\n|{'---:|' * (5 + len(METRICS))}")
        for classes in map(int, given.classes.split(",")):
            for known, new in SIZES:
                start = time.perf_counter()
                found = coverage(classes, known, new, given.repetitions, given.calibrator)
                seconds = (time.perf_counter() - start) / given.repetitions
                shares = " | ".join(f"{found[name][0]:.1%}" if name in found else "" for name in METRICS)
                print(
                    f"| {classes} | {known:,} | {new:,} | {given.repetitions} | {seconds:.2f} | {shares} |", flush=True
                )


if __name__ == "__main__":
    main()
