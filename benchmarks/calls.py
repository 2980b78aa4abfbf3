"""Calls as users make them: the checks of the constructor are part of every one."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import surefoot as sf
from benchmarks.rows import Row


def spent(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some runs, in seconds: what others do on the machine counts for little."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def calls() -> list[Row]:
    return [*_two_classes(), *_many_classes(), *_ranges()]


def _two_classes() -> list[Row]:
    rng = np.random.default_rng(0)
    n = 5_000_000
    p = rng.random(n)
    happened = rng.random(n) < p
    rows = []
    for kind, y in (("integers", happened.astype(int)), ("booleans", happened)):
        took = spent(lambda y=y: sf.Predictions.from_probabilities(y, p))
        reading = spent(lambda y=y: (y.sum(), p.sum()))
        job = f"from_probabilities, one column, {kind}, N = 5e6 (processor time)"
        rows.append(Row(job, took, "reading the input", reading, "at most 30 ms", f"{took * 1e3:.0f} ms"))
    sort = spent(lambda: np.sort(p))
    held = sf.Predictions.from_probabilities(happened, p)
    for job, work in (
        ("with its checks", lambda: sf.cw_auc(happened, p)),
        ("without", lambda: sf.cw_auc(held)),
    ):
        took = spent(work)
        name = f"cw_auc, binary, N = 5e6, {job} (processor time)"
        rows.append(Row(name, took, "numpy.sort of the scores", sort, "at most 2.5 sorts", f"{took / sort:.1f} sorts"))
    return rows


def softmax(z: np.ndarray) -> np.ndarray:
    shares = z - z.max(axis=1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def many_classes() -> tuple[np.ndarray, np.ndarray]:
    """50,000 labels of 1,000 classes, and their logits."""
    rng = np.random.default_rng(1)
    n, k = 50_000, 1000
    z = rng.normal(size=(n, k)).astype(np.float32) * 2
    top = z.argmax(axis=1)
    y = np.where(rng.random(n) < 0.7, top, rng.integers(0, k, n))
    z[np.arange(n), top] += 5
    return y, z


def _many_classes() -> list[Row]:
    y, z = many_classes()
    bare = spent(lambda: softmax(z))
    took = spent(lambda: sf.Predictions.from_logits(y, z))
    rows = [
        Row(
            "from_logits, 50,000 x 1,000 float32 (processor time)",
            took,
            "a softmax in float32",
            bare,
            "at most 3x",
            f"{took / bare:.1f}x",
        )
    ]
    table = softmax(z)
    for name, given, p, options in (
        ("probabilities", table, sf.Predictions.from_probabilities(y, table), {}),
        ("logits", z, sf.Predictions.from_logits(y, z), {"from_logits": True}),
    ):
        for checks, ranked, assessed in (
            (
                "with its checks",
                lambda given=given, options=options: sf.cw_auc(y, given, **options),
                lambda given=given, options=options: sf.assess(y, given, **options),
            ),
            ("without", lambda p=p: sf.cw_auc(p), lambda p=p: sf.assess(p)),
        ):
            alone, whole = spent(ranked, 1), spent(assessed, 1)
            job = f"assess, 50,000 x 1,000 {name}, {checks} (processor time)"
            rows.append(Row(job, whole, "cw_auc alone", alone, "at most 1.3x", f"{whole / alone:.1f}x"))
    return rows


def _ranges() -> list[Row]:
    rng = np.random.default_rng(2)
    n = 100_000
    doubt = 10 ** rng.uniform(-10, -0.3, n)
    p = sf.Predictions.from_correct(rng.random(n) >= doubt, 1 - doubt, doubt=doubt)
    a = sf.assess(p, metrics=())

    def look() -> None:
        vars(a).pop("typical_csr", None)
        assert a.typical_csr is not None

    took = spent(look)
    job = "where 9 in 10 calibrated models land, doubts over ten decades, N = 1e5"
    return [Row(job, took, "", float("nan"), "at most 200 ms", f"{took * 1e3:.0f} ms")]
