"""Logs that were once read without a word to another number than they hold; the expected numbers are written beside."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import surefoot as sf
from surefoot.files.accounting import Manner
from surefoot.files.reading import read

CONFIDENCE = [0.9, 0.8, 0.7, 0.6]
RIGHT = [True, False, True, True]


def lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# -- what is right -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("called", ["correct", "is_correct", "judge.correct", "score", "grade"])
@pytest.mark.parametrize("kind", [bool, int, float])
def test_answers_are_as_right_as_their_grade_not_as_their_wording(called: str, kind: type, tmp_path: Path) -> None:
    """Answers used to be compared with the reference letter by letter, and the grade beside them was left unread."""
    rows: list[dict[str, Any]] = []
    for confidence, right in zip(CONFIDENCE, RIGHT, strict=True):
        row = {"question": "?", "answer": "Paris", "response": "It is Paris.", "confidence": confidence}
        outer, _, inner = called.partition(".")
        rows.append({**row, outer: {inner: kind(right)} if inner else kind(right)})
    p = sf.load(lines(tmp_path / "a.jsonl", rows))
    assert p.correct.tolist() == RIGHT
    assert p.confidence.tolist() == CONFIDENCE


def test_a_reply_in_json_is_as_right_as_the_line_says(tmp_path: Path) -> None:
    rows = [
        {
            "custom_id": f"q{i}",
            "correct": right,
            "response": {"body": {"choices": [{"message": {"content": json.dumps({"answer": "x", "confidence": c})}}]}},
        }
        for i, (c, right) in enumerate(zip(CONFIDENCE, RIGHT, strict=True))
    ]
    assert sf.load(lines(tmp_path / "batch.jsonl", rows)).correct.tolist() == RIGHT


def test_labels_and_outcomes_that_differ_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,prediction,correct,confidence\ncat,cat,0,0.9\ndog,dog,1,0.8\n")
    with pytest.raises(sf.InvalidPredictions, match=r"--correct correct or --truth label --predicted prediction"):
        sf.load(path)
    assert sf.load(path, correct="correct").correct.tolist() == [False, True]
    assert sf.load(path, truth="label", predicted="prediction").correct.tolist() == [True, True]
    path.write_text("label,prediction,correct,confidence\ncat,cat,1,0.9\ndog,cat,0,0.8\n")
    assert sf.load(path).truth is not None


def test_a_grade_of_an_equal_answer_is_asked_about_and_labels_have_none(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("answer,response,correct,confidence\nParis,Paris,0,0.9\nRome,in Rome,1,0.8\n")
    with pytest.raises(sf.InvalidPredictions, match=r"--correct correct or --truth answer --predicted response"):
        sf.load(path)
    # numbers are classes, of which a score says what it likes
    path.write_text("target,response,result,confidence\n1,1,1,0.9\n0,0,0,0.8\n")
    assert sf.load(path).correct.tolist() == [True, True]


# -- confidences that nobody stated ------------------------------------------------------------------------------------


def graded(i: int, confidence: Any) -> dict[str, Any]:
    """The graded answer i, which states a confidence only if i is even."""
    said = f"Paris.\nConfidence: {confidence}%" if i % 2 == 0 else "Paris."
    return {"correct": RIGHT[i], "confidence": 100 if i % 2 else confidence, "response": said}


def as_lines(path: Path) -> Path:
    return lines(path / "a.jsonl", [graded(i, 70) for i in range(4)])


def as_inspect(path: Path, log: dict[str, Any] | None = None) -> Path:
    (path / "a.json").write_text(json.dumps(log or inspected()))
    return path / "a.json"


def as_archive(path: Path, log: dict[str, Any] | None = None) -> Path:
    """With summaries, which hold no answers."""
    log = log or inspected()
    samples = log.pop("samples")
    with zipfile.ZipFile(path / "a.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(log))
        archive.writestr("summaries.json", json.dumps([{**one, "output": None} for one in samples]))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    return path / "a.eval"


def inspected(rows: Sequence[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The same as a log of Inspect."""
    samples = []
    for i, row in enumerate(rows or [graded(i, 70) for i in range(4)]):
        score = {"value": "C" if row["correct"] else "I", "metadata": {"confidence": row["confidence"]}}
        samples.append({"id": i, "epoch": 1, "output": {"completion": row["response"]}, "scores": {"graded": score}})
    return {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}


@pytest.mark.parametrize("write", [as_lines, as_inspect, as_archive])
def test_full_certainty_beside_an_answer_that_states_none_was_filled_in(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: .* filled in by .* \(2 of the first 4 rows have"):
        sf.load(path)
    reading = read(str(path), {}, manner=Manner(drop_missing=True))
    assert reading.held.confidence.tolist() == [0.7, 0.7]
    assert reading.notes[0] == "2 of 4 rows are left out: they have a confidence that was filled in for them."


@pytest.mark.parametrize("write", ["lines", "inspect", "archive"])
@pytest.mark.parametrize("default", [0, 50, 0.5])
def test_one_value_of_all_answers_that_state_none_was_filled_in(write: str, default: float, tmp_path: Path) -> None:
    """Only full certainty used to be found; the others were taken without a word."""
    unit = 1 if default == 0.5 else 100
    # forty answers: every fourth states nothing and has the default, the others state 60, 70, 80 in turn
    rows = [
        {
            "correct": i % 3 > 0,
            "confidence": default if i % 4 == 0 else unit * (6 + i % 3) / 10,
            "response": "Paris." if i % 4 == 0 else f"Paris.\nConfidence: {60 + 10 * (i % 3)}%",
        }
        for i in range(40)
    ]
    path = {"lines": lambda: lines(tmp_path / "a.jsonl", rows), "inspect": as_inspect, "archive": as_archive}[write]
    path = path() if write == "lines" else path(tmp_path, inspected(rows))
    with pytest.raises(sf.InvalidPredictions, match=r"row 1: .* filled in by .* \(10 of the first 40 rows have"):
        sf.load(path)
    reading = read(str(path), {}, manner=Manner(drop_missing=True))
    assert reading.held.confidence == pytest.approx([(6 + i % 3) / 10 for i in range(40) if i % 4], rel=1e-15)
    assert reading.notes[0] == "10 of 40 rows are left out: they have a confidence that was filled in for them."


def test_a_value_that_silent_answers_share_with_most_others_is_taken(tmp_path: Path) -> None:
    """A model that always says 90% says it in other words now and then: (36 + 1) / (36 + 1) of others have it."""
    said = ["ninety percent sure" if i % 10 == 0 else "Confidence: 90%" for i in range(40)]
    rows = [{"correct": i % 3 > 0, "confidence": 90, "response": said[i]} for i in range(40)]
    assert len(sf.load(lines(tmp_path / "a.jsonl", rows))) == 40
    # two values are no default either
    rows = [{**row, "confidence": 30 + i // 20} if i % 10 == 0 else row for i, row in enumerate(rows)]
    assert len(sf.load(lines(tmp_path / "a.jsonl", rows))) == 40


def test_full_certainty_beside_answers_that_never_state_any_is_taken(tmp_path: Path) -> None:
    """As of a probability: nothing says that answers state confidences."""
    rows = [{"correct": RIGHT[i], "confidence": c, "response": "Paris."} for i, c in enumerate([1.0, 0.9, 0.8, 0.5])]
    assert sf.load(lines(tmp_path / "a.jsonl", rows)).confidence.tolist() == [1.0, 0.9, 0.8, 0.5]


@pytest.mark.parametrize("stated", [0.95, 95, "95%"])
def test_a_constant_confidence_is_told(stated: Any, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"correct": right, "confidence": stated} for right in RIGHT])
    reading = read(str(path), {})
    assert reading.notes[-1] == "All 4 rows have the same confidence, 0.95."
    lines(path, [{"correct": right, "confidence": c} for c, right in zip(CONFIDENCE, RIGHT, strict=True)])
    assert read(str(path), {}).notes == ()


def test_of_several_confidences_of_a_score_the_plainest_name_counts(tmp_path: Path) -> None:
    score = {"value": "C", "metadata": {"certainty": 0.2, "confidence": 0.9}}
    about = {"status": "success", "eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1, "scores": {"s": score}}]}
    (tmp_path / "a.json").write_text(json.dumps(about))
    assert sf.load(tmp_path / "a.json").confidence.tolist() == [0.9]


def test_a_credit_of_nearly_one_is_partial(tmp_path: Path) -> None:
    """Credits used to be rounded to six digits: 0.9999999 was right."""
    scores = [{"value": value, "metadata": {"confidence": 0.9}} for value in (1.0, 0, 0.9999999)]
    samples = [{"id": i, "epoch": 1, "scores": {"s": score}} for i, score in enumerate(scores)]
    path = as_inspect(tmp_path, {"status": "success", "eval": {"task": "t"}, "samples": samples})
    with pytest.raises(sf.InvalidPredictions, match=r"row 3: .* '0\.9999999', neither right nor wrong"):
        sf.load(path)


# -- the harness -------------------------------------------------------------------------------------------------------


def sample(i: int, one: str, raw: Sequence[str], **more: Any) -> dict[str, Any]:
    return {
        "doc_id": i,
        "doc": {},
        "target": "4",
        "resps": [list(raw)],
        "filtered_resps": [raw[-1]],
        "filter": one,
        "metrics": ["exact_match"],
        "exact_match": float(RIGHT[i]),
        **more,
    }


def test_the_filter_that_is_taken_is_told(tmp_path: Path) -> None:
    rows = [sample(i, one, [f"Confidence: {90 - 10 * i}%"]) for i in range(4) for one in ("strict", "flexible")]
    for row in rows[1::2]:
        row["exact_match"] = 1 - row["exact_match"]
    reading = read(str(lines(tmp_path / "samples_a.jsonl", rows)), {})
    assert reading.held.correct.tolist() == RIGHT
    assert reading.notes == ("Answers are scored by 2 filters: 'strict' is taken, 'flexible' left out.",)


def test_the_filter_of_choices_is_told(tmp_path: Path) -> None:
    rows = [
        {
            "doc_id": i // 2,
            "doc": {},
            "target": 0,
            "filter": "ab"[i % 2],
            "filtered_resps": [[-1.0, True], [-2.0, True]],
        }
        for i in range(8)
    ]
    reading = read(str(lines(tmp_path / "samples_a.jsonl", rows)), {})
    assert len(reading.held) == 4
    assert reading.notes[0] == "Answers are scored by 2 filters: 'a' is taken, 'b' left out."


def test_of_several_answers_the_one_that_was_graded_tells_the_confidence(tmp_path: Path) -> None:
    """The first answer used to tell it, whatever the filter chose."""
    rows = [sample(i, "majority", ["3. Confidence: 10%", f"4. Confidence: {90 - 10 * i}%"]) for i in range(4)]
    assert sf.load(lines(tmp_path / "samples_a.jsonl", rows)).confidence.tolist() == CONFIDENCE
    path = lines(tmp_path / "samples_a.jsonl", [{**row, "filtered_resps": ["4"]} for row in rows])
    with pytest.raises(sf.InvalidPredictions, match="answers state none"):
        sf.load(path)


# -- scales ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("called", ["Confidence (%)", "confidence_percent", "confidence_pct"])
def test_a_column_of_percentages_up_to_one_is_asked_about(called: str, tmp_path: Path) -> None:
    """They used to be read as shares: 0.9% as 90%."""
    path = tmp_path / "a.csv"
    path.write_text(f"correct,{called}\n1,0.9\n0,0.5\n")
    with pytest.raises(sf.InvalidPredictions, match=r"none of its numbers is above 1; pass --percent .* --no-percent"):
        sf.load(path)
    assert sf.load(path, percent=True).confidence == pytest.approx([0.009, 0.005], rel=1e-12)
    assert sf.load(path, percent=False).confidence.tolist() == [0.9, 0.5]
    path.write_text(f"correct,{called}\n1,90\n0,0\n")
    assert sf.load(path).confidence.tolist() == [0.9, 0.0]


@pytest.mark.parametrize("form", ["0%", "General"])
def test_cells_that_are_shown_as_percentages_are_shares(form: str, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["correct", "Confidence (%)"])
    for row, (right, confidence) in enumerate(zip(RIGHT, CONFIDENCE, strict=True), 2):
        book.active.append([int(right), confidence])
        book.active.cell(row, 2).number_format = form
    path = tmp_path / "a.xlsx"
    book.save(path)
    if form == "General":
        with pytest.raises(sf.InvalidPredictions, match="none of its numbers is above 1"):
            sf.load(path)
    else:
        assert sf.load(path).confidence.tolist() == CONFIDENCE
