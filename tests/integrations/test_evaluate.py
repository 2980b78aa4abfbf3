"""The metric for Hugging Face's evaluate, loaded from the folder that is shipped; nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.integrations import evaluate_path

RNG = np.random.default_rng(5)
LOGITS = RNG.normal(0, 2, (300, 3))
TABLE = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
TRUTH = np.array([RNG.choice(3, p=row) for row in TABLE])


def test_the_folder_is_there() -> None:
    folder = Path(evaluate_path())
    assert (folder / f"{folder.name}.py").is_file()


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", True)
    return lambda *args: evaluate.load(evaluate_path(), *args, cache_dir=str(tmp_path / "cache"))


def expected(a: sf.Assessment) -> dict[str, Any]:
    return {
        "verdict": a.verdict,
        "csr": a.csr,
        "pvalue": a.risk.pvalue,
        "pvalue_omnibus": a.risk.pvalue_omnibus,
        "cw_accuracy": a.cw_accuracy,
        "ece": a.ece,
    }


heavy = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")]


def marked(test: Any) -> Any:
    for mark in heavy:
        test = mark(test)
    return test


@marked
def test_probabilities_of_every_class(load: Any) -> None:
    found = load().compute(predictions=TABLE, references=TRUTH)
    assert found == pytest.approx(expected(sf.assess(TRUTH, TABLE)))


@marked
def test_probabilities_of_class_one(load: Any) -> None:
    truth, second = (TRUTH == 1).astype(int), TABLE[:, 1]
    found = load().compute(predictions=second, references=truth)
    assert found == pytest.approx(expected(sf.assess(truth, second, pos_label=1)))


@marked
def test_predictions_with_a_confidence(load: Any) -> None:
    predicted, confidence = TABLE.argmax(axis=1), TABLE.max(axis=1)
    metric = load("confidence")
    found = metric.compute(predictions=predicted, references=TRUTH, confidences=confidence, floor=0.01)
    assert found == pytest.approx(expected(sf.assess(TRUTH, predicted, confidence, floor=0.01)))


@marked
def test_batches(load: Any) -> None:
    metric = load()
    for start in range(0, 300, 100):
        metric.add_batch(predictions=TABLE[start : start + 100], references=TRUTH[start : start + 100])
    assert metric.compute()["csr"] == pytest.approx(sf.csr(TRUTH, TABLE))


@marked
def test_a_batch_that_lacks_a_class_is_read_by_its_columns(load: Any) -> None:
    seen = TRUTH != 2
    found = load().compute(predictions=TABLE[seen], references=TRUTH[seen], labels=[0, 1, 2])
    assert found["csr"] == pytest.approx(sf.csr(TRUTH[seen], TABLE[seen], labels=[0, 1, 2]))
