"""The compiled loops give NumPy's totals, from any thread and any process, with or without a place to keep them."""

import math
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import surefoot as sf
from surefoot import Predictions, tally
from surefoot.engines import numpy as arrays
from surefoot.engines import rankings
from surefoot.engines import rows as engine_rows
from surefoot.metrics import ALL
from surefoot.metrics.size_ratio import SURPRISE

N = 30_011


def made(kind: str, rows: int = N) -> Predictions:
    rng = np.random.default_rng(7)
    c = rng.random(rows)
    correct = rng.random(rows) < c
    c[:7] = [0, 1, 1 / 15, 2 / 15, 0.6, 0.2, 1]
    correct[1] = True
    correct[6] = True
    if kind == "plain":
        return Predictions.from_correct(correct, c)
    if kind == "narrow":
        return Predictions.from_correct(correct, c.astype(np.float32), doubt=(1 - c).astype(np.float32))
    if kind == "weighted":
        return Predictions.from_correct(correct, c, sample_weight=rng.integers(0, 3, rows))
    if kind == "binary":
        return Predictions.from_probabilities(correct, c)
    if kind == "ties":
        return Predictions.from_probabilities(correct, (c * 50).round() / 50)
    if kind == "logits":
        return Predictions.from_logits(rng.integers(0, 4, rows), rng.normal(size=(rows, 4)) * 9)
    p = rng.dirichlet(np.ones(4), rows)
    return Predictions.from_probabilities(rng.integers(0, 4, rows), p, sample_weight=rng.uniform(0.1, 2, rows))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (engine_rows, rankings):
        monkeypatch.setattr(module, "COMPILE_FROM", 0)
    for module in (arrays, rankings):
        monkeypatch.setattr(module, "RUN_FROM", 1)


def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arrays, rankings):
        monkeypatch.setattr(module, "RUN_FROM", math.inf)


@pytest.mark.parametrize("kind", ["plain", "narrow", "weighted", "binary", "ties", "logits", "classes"])
def test_compiled_totals_are_those_of_numpy(kind: str, compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    p = made(kind)
    fast = tally(p)
    ranked = {name: ALL[name](p) for name in ("auc", "cw_auc", "cw_average_precision") if not ALL[name].missing(p)}
    plainly(monkeypatch)
    slow = tally(p)
    for key, table in slow.tables.items():
        np.testing.assert_array_equal(fast.tables[key].codes, table.codes)
        for name, sums in table.totals.items():
            scale = np.abs(sums.value).sum()
            other = fast.tables[key].totals[name].value
            with np.errstate(invalid="ignore"):
                assert ((sums.value == other) | (np.abs(sums.value - other) <= 1e-12 * scale)).all(), name
    for name, value in ranked.items():
        assert value == pytest.approx(ALL[name](p), rel=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 3, 4095, 4096, 4097, 100_000])
def test_any_number_of_rows_fits_the_blocks(rows: int, compiled: None) -> None:
    p = made("binary", max(rows, 8))[:rows]
    total = tally(p)
    exact = math.fsum(1 / q for q, wrong in zip(p.doubt, p.wrong, strict=True) if wrong and q > 0)
    assert total[SURPRISE] == pytest.approx(exact, rel=1e-13)
    assert ALL["ece"].of(total) == pytest.approx(
        np.abs(np.bincount(np.searchsorted(np.linspace(0, 1, 16)[1:-1], p.confidence), p.confidence - p.correct)).sum()
        / rows,
        rel=1e-11,
        abs=1e-15,
    )


@pytest.mark.filterwarnings("ignore::surefoot.errors.RoundedConfidenceWarning")
def test_sorting_is_right_for_any_codes(compiled: None) -> None:
    rng = np.random.default_rng(0)
    for scores in (
        np.zeros(1000),
        np.r_[0.0, np.full(999, 1e-300)],
        rng.random(50_000) ** 40,
        np.repeat(rng.random(5), 4000),
        np.linspace(0, 1, 70_000),
        1 - rng.random(40_000) ** 30,
    ):
        y = rng.random(len(scores)) < 0.3
        y[:2] = True, False
        p = Predictions.from_probabilities(y, scores)
        table = rankings.ClassScores(p, list(ALL["auc"].terms)).of_class(1)
        found, places = np.unique(scores, return_inverse=True)
        np.testing.assert_array_equal(table.codes.view(np.float64), found)
        positive, negative = (table.totals[term.name].value for term in ALL["auc"].terms)
        np.testing.assert_array_equal(positive, np.bincount(places, y, len(found)))
        np.testing.assert_array_equal(negative, np.bincount(places, ~y, len(found)))


def test_eight_threads_at_once(compiled: None) -> None:
    p = made("classes")
    expected = {name: metric(p) for name, metric in ALL.items() if not metric.missing(p)}
    wrong: list[object] = []

    def work() -> None:
        try:
            for _ in range(3):
                a = sf.assess(p)
                wrong.extend(n for n, v in expected.items() if not math.isclose(a[n], v, rel_tol=1e-12))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


def in_child(_: int) -> float:
    return float(ALL["csr"].of(tally(made("plain", 600_000))) + sf.cw_auc(made("binary", 600_000)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_in_a_process_pool(method: str) -> None:
    expected = in_child(0)  # starts threads here first: a forked child has none of them
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
        assert list(pool.map(in_child, range(4), timeout=240)) == pytest.approx([expected] * 4, rel=1e-12)


def test_rows_in_any_layout_give_the_same(compiled: None) -> None:
    p = made("plain")
    for c in (p.confidence[::-1][::-1], np.repeat(p.confidence, 2)[::2], p.confidence.astype(">f8")):
        again = Predictions.from_correct(p.correct, c)
        assert sf.csr(again) == pytest.approx(sf.csr(p), rel=1e-13)


def test_half_precision_is_added_up_in_numpy(compiled: None) -> None:
    c = np.array([0.5, 0.75, 0.25] * 100, dtype=np.float16)
    p = Predictions.from_correct([True, False, False] * 100, c)
    assert sf.csr(p) == pytest.approx((4 + 4 / 3) / 3)


def test_the_callers_arrays_stay_writable() -> None:
    c, w, correct = np.full(600_000, 0.7), np.ones(600_000), np.ones(600_000, dtype=bool)
    sf.csr(Predictions.from_correct(correct, c, sample_weight=w))
    w[0] = c[0] = 0.5
    correct[0] = False
