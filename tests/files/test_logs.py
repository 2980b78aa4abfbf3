"""Logs as evaluations leave them: read by their name alone, or with the one option that the message names.

Those of Inspect AI in tests/data/logs were written by that package; the others follow their documented schemas.
"""

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli import app
from surefoot.files.accounting import Manner
from surefoot.files.reading import read

LOGS = Path(__file__).parents[1] / "data" / "logs"
#: Eight answers: what each says of its confidence, and its grade (N: not attempted).
CONFIDENCE = [0.9, 0.8, None, None, 0.95, 0.6, 0.85, 0.5]
GRADE = "CICNCCIC"
#: The answers that count: those with a confidence.
KEPT = [i for i, c in enumerate(CONFIDENCE) if c is not None]
EXPECTED = ([CONFIDENCE[i] for i in KEPT], [GRADE[i] == "C" for i in KEPT])


def percent(i: int) -> Any:
    return None if CONFIDENCE[i] is None else round(100 * CONFIDENCE[i])


def answer(i: int, form: str = "Confidence: {}%") -> str:
    return "It is 4." if CONFIDENCE[i] is None else "It is 4.\n" + form.format(percent(i))


def yes(i: int) -> str:
    return "yes" if GRADE[i] == "C" else "no"


def lines(row: Callable[[int], dict[str, Any]]) -> str:
    return "".join(json.dumps(row(i)) + "\n" for i in range(8))


def judged(i: int, **more: Any) -> dict[str, Any]:
    """As the judge of a public benchmark writes it: 100 where the answer states no confidence."""
    confidence = 100 if CONFIDENCE[i] is None else percent(i)
    return {
        "model": "m",
        "response": answer(i),
        "judge_response": {"correct_answer": "4", "reasoning": "...", "correct": yes(i), "confidence": confidence},
        **more,
    }


def batch(i: int) -> dict[str, Any]:
    content = json.dumps({"correct": yes(i), **({} if percent(i) is None else {"confidence": percent(i)})})
    if i % 2:
        content = f"Here it is:\n```json\n{content}\n```"
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    body = {"id": "x", "model": "gpt", "choices": [choice]}
    return {"id": "b", "custom_id": f"q{i}", "response": {"status_code": 200, "body": body}, "error": None}


def reply(i: int) -> dict[str, Any]:
    """A line of a batch output whose body is a list of items: what the model thought, and what it said in parts."""
    line = batch(i)
    content = line["response"]["body"].pop("choices")[0]["message"]["content"]
    parts = [{"type": "output_text", "text": part} for part in (content[:9], content[9:])]
    output = [{"type": "reasoning", "content": []}, {"type": "message", "role": "assistant", "content": parts}]
    line["response"]["body"]["output"] = output
    return line


def harness(i: int, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": i,
        "doc": {"question": f"q{i}?"},
        "target": "4",
        "resps": [[answer(i)]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": float(GRADE[i] == "C"),
        **more,
    }


def log_probabilities(i: int) -> list[float]:
    return [] if CONFIDENCE[i] is None else [math.log(CONFIDENCE[i]) / 2] * 2


def tokens(i: int) -> Any:
    return {"content": [{"token": "a", "logprob": x} for x in log_probabilities(i)]} if log_probabilities(i) else None


WORDS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
#: Each log with its content, how many rows are left out and why, and how many were not attempted.
NO, UNSTATED, FILLED = (
    "no confidence",
    "an answer that states no confidence",
    "a confidence that was filled in for them",
)
CASES: dict[str, tuple[str, dict[str, int], int]] = {
    "fractions.jsonl": (lines(lambda i: {"correct": yes(i), "confidence": CONFIDENCE[i]}), {NO: 2}, 0),
    "percent.jsonl": (lines(lambda i: {"correct": yes(i), "confidence": percent(i)}), {NO: 2}, 0),
    "signs.jsonl": (lines(lambda i: {"correct": yes(i), "confidence": f"{percent(i)}%"}), {"unreadable": 2}, 0),
    "empty.jsonl": (lines(lambda i: {"correct": yes(i), "confidence": percent(i) or ""}), {NO: 2}, 0),
    "of 100.jsonl": (
        lines(lambda i: {"is_correct": GRADE[i] == "C", "confidence": f"{percent(i)}/100" if percent(i) else None}),
        {NO: 2},
        0,
    ),
    "grades.jsonl": (lines(lambda i: {"grade": WORDS[GRADE[i]], "confidence": CONFIDENCE[i]}), {NO: 1}, 1),
    "letters.jsonl": (lines(lambda i: {"score": GRADE[i], "confidence": CONFIDENCE[i]}), {NO: 1}, 1),
    "signs of outcome.jsonl": (
        lines(lambda i: {"correct": "+" if GRADE[i] == "C" else "-", "confidence": CONFIDENCE[i]}),
        {NO: 2},
        0,
    ),
    "judged.json": (json.dumps({f"id{i}": judged(i) for i in range(8)}), {FILLED: 2}, 0),
    "judged, indented.json": (json.dumps({f"id{i}": judged(i) for i in range(8)}, indent=4), {FILLED: 2}, 0),
    "judged.jsonl": (lines(lambda i: judged(i, id=f"id{i}")), {FILLED: 2}, 0),
    "flat judgements.json": (
        json.dumps({f"id{i}": {"correct": yes(i), "confidence": percent(i)} for i in range(8)}),
        {NO: 2},
        0,
    ),
    "array.json": (json.dumps([{"correct": yes(i), "confidence": percent(i)} for i in range(8)]), {NO: 2}, 0),
    "indented array.json": (
        json.dumps([{"correct": GRADE[i] == "C", "confidence": CONFIDENCE[i]} for i in range(8)], indent=2),
        {NO: 2},
        0,
    ),
    "results.json": (
        json.dumps({"model": "m", "results": [{"correct": yes(i), "confidence": percent(i)} for i in range(8)]}),
        {NO: 2},
        0,
    ),
    "answers.jsonl": (lines(lambda i: {"correct": yes(i), "response": answer(i)}), {UNSTATED: 2}, 0),
    "bold.jsonl": (
        lines(lambda i: {"correct": yes(i), "output": answer(i, "**Confidence:** {}/100")}),
        {UNSTATED: 2},
        0,
    ),
    "sure.jsonl": (lines(lambda i: {"correct": yes(i), "completion": answer(i, "I am {}% sure.")}), {UNSTATED: 2}, 0),
    "fenced.jsonl": (
        lines(lambda i: {"correct": yes(i), "response": answer(i, '```json\n{{"confidence": {}}}\n```')}),
        {UNSTATED: 2},
        0,
    ),
    "batch.jsonl": (lines(batch), {NO: 2}, 0),
    "batch of items.jsonl": (lines(reply), {NO: 2}, 0),
    "samples_gsm8k_2026-01-01T00-00-00.jsonl": (lines(harness), {UNSTATED: 2}, 0),
    "samples_stated.jsonl": (lines(lambda i: harness(i, confidence=CONFIDENCE[i], resps=[["4"]])), {NO: 2}, 0),
    "samples_logprob.jsonl": (
        lines(lambda i: harness(i, resps=[["4"]], logprob=sum(log_probabilities(i)) or None)),
        {NO: 2},
        0,
    ),
    "logprob.jsonl": (lines(lambda i: {"correct": yes(i), "logprob": sum(log_probabilities(i)) or None}), {NO: 2}, 0),
    "tokens.jsonl": (lines(lambda i: {"correct": yes(i), "logprobs": log_probabilities(i) or None}), {NO: 2}, 0),
    "chat tokens.jsonl": (lines(lambda i: {"correct": yes(i), "logprobs": tokens(i)}), {NO: 2}, 0),
}


def told(path: Path) -> Any:
    """What a log holds, with the option that the message of the bare call names."""
    with pytest.raises(sf.InvalidPredictions, match="--drop-missing"):
        sf.load(path)
    return read(str(path), {}, manner=Manner(drop_missing=True))


def check(reading: Any, left_out: dict[str, int], not_attempted: int, repeats: int = 1) -> None:
    assert reading.held.confidence == pytest.approx(EXPECTED[0] * repeats, rel=1e-12)
    assert reading.held.correct.tolist() == EXPECTED[1] * repeats
    assert reading.held.not_attempted == not_attempted * repeats
    ((reason, count),) = left_out.items()
    reason = {"unreadable": "a confidence that is no number"}.get(reason, reason)
    assert reading.notes[0] == f"{count * repeats} of {8 * repeats} rows are left out: they have {reason}."


@pytest.mark.parametrize("name", list(CASES))
def test_a_log_is_read_by_its_name(name: str, tmp_path: Path) -> None:
    content, left_out, not_attempted = CASES[name]
    (tmp_path / name).write_text(content)
    check(told(tmp_path / name), left_out, not_attempted)


@pytest.mark.parametrize(
    ("name", "left_out", "skipped", "epochs"),
    [
        ("inspect_metadata.eval", {NO: 1}, 1, 2),
        ("inspect_metadata.json", {NO: 1}, 1, 1),
        ("inspect_words.eval", {NO: 2}, 0, 1),
        ("inspect_numbers.eval", {UNSTATED: 2}, 0, 1),
        ("inspect_deflated.eval", {UNSTATED: 2}, 0, 1),
        ("inspect_chunked.eval", {UNSTATED: 2}, 0, 1),
    ],
)
def test_logs_of_inspect(name: str, left_out: dict[str, int], skipped: int, epochs: int) -> None:
    reading = told(LOGS / name)
    check(reading, left_out, skipped, epochs)
    assert reading.group == ("question" if epochs > 1 else "")


def test_partial_credit_is_neither_right_nor_wrong() -> None:
    reading = told(LOGS / "inspect_partial.eval")
    assert reading.notes[0] == "1 of 8 rows are left out: they have an outcome that is neither right nor wrong."
    assert reading.held.not_attempted == 1
    assert len(reading.held) == 6


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_documents(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    suffix = "gz" if pack is gzip.compress else "zst"
    path = tmp_path / f"judged.json.{suffix}"
    path.write_bytes(pack(CASES["judged.json"][0].encode()))
    check(told(path), {FILLED: 2}, 0)


def test_a_folder_of_logs_is_sliced_by_task(tmp_path: Path) -> None:
    for name in ("inspect_words.eval", "inspect_numbers.eval"):
        (tmp_path / name).write_bytes((LOGS / name).read_bytes())
    found = CliRunner().invoke(app, ["assess", str(LOGS / "inspect_words.eval"), "--drop-missing", "--by", "task"])
    assert found.exit_code == 0, found.output
    assert "quiz_words" in found.output


def inspected(task: str, scorer: str, confidence: Callable[[int], dict[str, Any]]) -> str:
    """A log of Inspect, whose scorer has a name of its own."""
    samples = []
    for i in KEPT:
        of_score, completion = confidence(i).get("metadata"), confidence(i).get("completion", "It is 4.")
        scores = {scorer: {"value": GRADE[i], "metadata": of_score}}
        samples.append({"id": i, "epoch": 1, "output": {"completion": completion}, "scores": scores})
    return json.dumps({"status": "success", "eval": {"task": task, "model": "m"}, "samples": samples})


def test_each_log_of_a_folder_has_its_own_scorer(tmp_path: Path) -> None:
    """Tasks have scorers of their own; the folder used to be refused for the columns of the first."""
    (tmp_path / "a.json").write_text(inspected("one", "match", lambda i: {"metadata": {"confidence": CONFIDENCE[i]}}))
    (tmp_path / "b.json").write_text(inspected("two", "graded", lambda i: {"metadata": {"confidence": CONFIDENCE[i]}}))
    (tmp_path / "c.json").write_text(inspected("three", "includes", lambda i: {"completion": answer(i)}))
    reading = read(str(tmp_path), {}, by="task")
    assert reading.held.confidence == pytest.approx(EXPECTED[0] * 3, rel=1e-12)
    assert reading.held.correct.tolist() == EXPECTED[1] * 3
    assert reading.by.tolist() == ["one"] * 6 + ["two"] * 6 + ["three"] * 6
    assert reading.notes[0].endswith("b.json, the columns scores.graded.value and scores.graded.confidence are used.")
    assert reading.notes[1].endswith("c.json, the columns scores.includes.value and response are used.")
    # what was named is looked for in each
    with pytest.raises(sf.InvalidPredictions, match=r"b\.json: it has no column 'scores\.match\."):
        read(str(tmp_path), {"correct": "scores.match.value", "confidence": "scores.match.confidence"})


def test_models_are_paired_by_question(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "correct": GRADE[i] == "C", "confidence": CONFIDENCE[i] or 0.7} for i in range(8)]
    (tmp_path / "one.json").write_text(json.dumps(rows))
    (tmp_path / "two.json").write_text(json.dumps(rows[:0:-1]))
    models = [f"one={tmp_path / 'one.json'}", f"two={tmp_path / 'two.json'}"]
    found = CliRunner().invoke(app, ["compare", *models, "--json"])
    assert found.exit_code == 0, found.output
    document = json.loads(found.output)
    assert document["paired"]
    both = [a["risk"]["n"] for a in document["models"].values()]
    assert both == [7, 7]


def test_the_scale_is_refused_where_rows_contradict_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"correct": True, "confidence": c}) + "\n" for c in (0.9, 0.8, 85)))
    with pytest.raises(sf.InvalidPredictions, match=r"row 3: confidence is 85\.0, but other rows lie between 0 and 1"):
        sf.load(path)
    path.write_text("".join(json.dumps({"correct": True, "confidence": c}) + "\n" for c in (90, 80, 0.85)))
    with pytest.raises(sf.InvalidPredictions, match=r"row 3: confidence is 0\.85, but other rows hold percentages"):
        sf.load(path)
    assert sf.load(path, percent=True).confidence == pytest.approx([0.9, 0.8, 0.0085])


def test_a_pattern_finds_what_is_stated_in_another_way(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"correct": True, "text": "Paris (sicher zu 90 %)"}, {"correct": False, "text": "Rom (sicher zu 60 %)"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    p = sf.load(path, correct="correct", confidence="text", confidence_pattern=r"sicher zu (\d+)")
    assert p.confidence.tolist() == [0.9, 0.6]
    with pytest.raises(sf.InvalidPredictions, match="no regular expression"):
        sf.load(path, correct="correct", confidence="text", confidence_pattern="(")


def test_several_scorers_are_named(tmp_path: Path) -> None:
    document = json.loads((LOGS / "inspect_metadata.json").read_text())
    for sample in document["samples"]:
        sample["scores"]["other"] = {"value": "C", "metadata": {"confidence": 0.5}}
    path = tmp_path / "two.json"
    path.write_text(json.dumps(document))
    with pytest.raises(sf.InvalidPredictions, match=r"several scorers .*'graded', 'other'.*--correct 'scores.graded"):
        sf.load(path)
    p = sf.load(path, correct="scores.other.value", confidence="scores.other.confidence")
    assert p.confidence.tolist() == [0.5] * 8
    assert p.correct.all()


def published(confidence: np.ndarray, correct: np.ndarray, beta: int = 100) -> float:
    """The calibration error of the published code of Humanity's Last Exam, which drops the last bin."""
    order = np.argsort(confidence)
    confidence, correct = confidence[order], correct[order]
    bins = [[i * beta, (i + 1) * beta] for i in range(len(confidence) // beta)]
    bins[-1] = [bins[-1][0], len(confidence)]
    total = 0.0
    for i in range(len(bins) - 1):
        of, right = confidence[bins[i][0] : bins[i][1]], correct[bins[i][0] : bins[i][1]]
        total += len(of) / len(confidence) * np.square(np.abs(np.nanmean(of) - np.nanmean(right)))
    return float(np.sqrt(total))


def test_the_error_of_a_leaderboard_is_told_with_and_without_its_last_bin(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    confidence = rng.choice([50, 70, 80, 90, 95, 100], 450)
    correct = rng.random(450) < 0.4
    path = tmp_path / "judged.json"
    rows = {
        f"id{i}": {
            "response": f"Answer.\nConfidence: {confidence[i]}%",
            "judge_response": {"correct": "yes" if correct[i] else "no", "confidence": int(confidence[i])},
        }
        for i in range(450)
    }
    path.write_text(json.dumps(rows))
    p = sf.load(path)
    expected = published(confidence / 100, correct)
    assert sf.rms_ce(p, drop_last=True) == pytest.approx(expected, rel=1e-12)
    found = CliRunner().invoke(
        app, ["assess", str(path), "--html", str(tmp_path / "report.html"), "--format", "markdown"]
    )
    assert found.exit_code == 0, found.output
    words = f"the 150 surest answers, and would report {100 * expected:.1f}%"
    assert words in found.output
    assert words in (tmp_path / "report.html").read_text().replace("\u2212", "-")
    assert f"(rms_ce): {100 * sf.rms_ce(p):.1f}%" in (tmp_path / "report.html").read_text()
    assert "100 (" not in found.output
    assert "Stated confidences, with their shares of rows: " in found.output


@pytest.mark.parametrize("rows", [99, 100, 150, 199])
def test_the_error_of_a_leaderboard_that_has_one_bin_only(rows: int, tmp_path: Path) -> None:
    """150 answers, all wrong at 99%: the published code says 0.000, and on less than 100 it fails."""
    path = tmp_path / "judged.json"
    path.write_text(json.dumps({f"id{i}": {"correct": "no", "confidence": 99} for i in range(rows)}))
    notes = [note for note in read(str(path), {}).notes if note.startswith("Leaderboards")]
    if rows < 100:
        assert notes == []
        return
    assert published(np.full(rows, 0.99), np.zeros(rows)) == 0
    assert notes == [
        "Leaderboards of language models report the RMS calibration error (rms_ce): 99.0%. The code that many of them "
        f"share leaves out its last bin, here all {rows} answers, and would report 0.0%, whatever they are."
    ]


def test_a_confidence_that_a_judge_filled_in_is_taken_if_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "judged.json"
    path.write_text(CASES["judged.json"][0])
    with pytest.raises(sf.InvalidPredictions, match="filled in by whoever graded"):
        sf.load(path)
