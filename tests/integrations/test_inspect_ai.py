"""The metric for Inspect, in evaluations with its mock model; nothing leaves the machine."""

from __future__ import annotations

import gc
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")

from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, accuracy, scorer  # noqa: E402

from surefoot.integrations.inspect_ai import calibration  # noqa: E402

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning",
        # Inspect leaves streams to the garbage collector
        "ignore:Unclosed <MemoryObject:ResourceWarning",
    ),
]

#: What the model writes to questions 1 to 4, in two epochs, and what is read from it.
QUESTIONS = ("one", "two", "three", "four")
ANSWERS = ("right 90%", "wrong 80%", "right 70%", "refused", "right 60%", "wrong 95%", "wrong 55%", "right")


@scorer(metrics=[accuracy(), calibration()])
def graded() -> Any:
    async def score(state: Any, target: Any) -> Score:
        text = state.output.completion
        value = "N" if "refused" in text else "C" if target.text in text else "I"
        written = re.search(r"[\d.]+%", text)
        return Score(value=value, metadata={"confidence": written[0]} if written else {})

    return score


def evaluated(folder: Path, answers: tuple[str, ...] = ANSWERS, epochs: int = 2, **options: Any) -> Any:
    """The log of an evaluation in which the model writes these answers."""

    def outputs() -> Iterator[ModelOutput]:
        for text in answers:
            output = ModelOutput.from_content("mockllm/model", text)
            # counted here, because Inspect would fetch a tokenizer to count
            output.usage = ModelUsage()
            yield output

    task = inspect_ai.Task(
        dataset=[
            Sample(input=question, target="right", id=question) for question in QUESTIONS[: len(answers) // epochs]
        ],
        scorer=graded(),
    )
    model = get_model("mockllm/model", custom_outputs=list(outputs()), memoize=False)
    (log,) = inspect_ai.eval(
        task, model=model, epochs=epochs, log_dir=str(folder), display="none", max_samples=1, **options
    )
    # what it leaves behind is collected here, not in a test of something else
    gc.collect()
    assert log.status == "success", log.error
    return log


def numbers(log: Any) -> dict[str, float]:
    return {name: one.value for score in log.results.scores for name, one in score.metrics.items()}


def test_every_sample_of_every_epoch_counts(tmp_path: Path) -> None:
    log = evaluated(tmp_path)
    found = numbers(log)
    # read from the log itself, whatever the order in which the model was asked
    rows = [(sample.id, sample.scores["graded"]) for sample in log.samples]
    rows = [(name, score) for name, score in rows if score.value != "N" and score.metadata]
    correct = [score.value == "C" for _, score in rows]
    confidence = [float(score.metadata["confidence"].rstrip("%")) / 100 for _, score in rows]
    assert len(rows) == 6
    assert (found["answers"], found["missing"], found["invalid"], found["not_attempted"]) == (6, 1, 0, 1)
    # three wrong, at 80%, 95% and 55%: (1 / 0.2 + 1 / 0.05 + 1 / 0.45) / 6
    assert found["csr"] == pytest.approx((5 + 20 + 1 / 0.45) / 6)
    assert found["cw_accuracy"] == pytest.approx((0.9 + 0.7 + 0.6) / (0.9 + 0.8 + 0.7 + 0.6 + 0.95 + 0.55))
    assert found["ece"] == pytest.approx(sf.ece(correct=correct, confidence=confidence))
    risk = sf.risk_test(correct=correct, confidence=confidence, groups=[name for name, _ in rows])
    assert (found["pvalue"], found["pvalue_omnibus"]) == pytest.approx((risk.pvalue, risk.pvalue_omnibus))
    assert found["overstatement"] == pytest.approx(0.75 - 0.5)
    assert "accuracy" in found


def test_one_epoch_has_the_exact_p_value(tmp_path: Path) -> None:
    found = numbers(evaluated(tmp_path, ("right 90%", "wrong 80%", "right 70%", "right 60%"), epochs=1))
    # CSR is 5 / 4; as large or larger: an error at 90%, or at 80%, or at both others (1 / 0.3 + 1 / 0.4 = 5.83)
    assert found["pvalue"] == pytest.approx(1 - 0.9 * 0.8 * (1 - 0.3 * 0.4))


def test_a_log_is_scored_again_by_the_name_of_the_metric(tmp_path: Path) -> None:
    from inspect_ai._util.registry import registry_create

    log = evaluated(tmp_path)
    named = registry_create("metric", "surefoot/calibration")
    assert named([SampleScore(score=Score(value="C", metadata={"confidence": 0.5}), sample_id=1)])["answers"] == 1
    again = inspect_ai.score(log, graded(), display="none", action="overwrite")
    assert numbers(again) == pytest.approx(numbers(log))


def scores(*pairs: tuple[Any, Any], key: str = "confidence") -> list[SampleScore]:
    return [
        SampleScore(score=Score(value=value, metadata={key: stated}), sample_id=i)
        for i, (value, stated) in enumerate(pairs)
    ]


@pytest.mark.parametrize("right", ["C", "yes", "true", "1", 1, 1.0, True, "correct"])
@pytest.mark.parametrize("wrong", ["I", "no", "false", "0", 0, 0.0, False, "P", 0.5])
def test_values_are_read(right: Any, wrong: Any) -> None:
    found = calibration()(scores((right, 0.75), (wrong, 0.5)))
    assert (found["csr"], found["cw_accuracy"]) == (1.0, 0.6)


def test_partial_credit_counts_from_the_threshold() -> None:
    rows = scores(("P", 0.75), (0.4, 0.5))
    assert calibration(threshold=0.5)(rows)["cw_accuracy"] == 0.6
    assert calibration()(rows)["cw_accuracy"] == 0.0


def test_what_is_no_confidence_is_counted_and_never_filled_in() -> None:
    rows = scores(
        ("C", 0.75), ("I", None), ("I", ""), ("C", "high"), ("C", 75), ("C", True), ("C", math.nan), ("N", None)
    )
    found = calibration()(rows)
    counted = {name: found[name] for name in ("answers", "missing", "invalid", "not_attempted")}
    assert counted == {"answers": 1, "missing": 2, "invalid": 4, "not_attempted": 1}
    assert found["overstatement"] == pytest.approx(0.75 - 1)


def test_another_key_and_no_confidence_at_all() -> None:
    rows = scores(("C", "75%"), ("I", "0.5"), key="sure")
    assert calibration(confidence="sure")(rows)["answers"] == 2
    found = calibration()(rows)
    assert found["missing"] == 2
    assert all(math.isnan(found[name]) for name in ("csr", "pvalue", "cw_accuracy", "ece"))
    assert calibration()([])["answers"] == 0


def test_a_value_that_is_no_outcome_is_refused() -> None:
    for value in ("maybe", 7, [1, 0]):
        with pytest.raises(sf.InvalidPredictions, match="score of sample 0 is"):
            calibration()(scores((value, 0.5)))
