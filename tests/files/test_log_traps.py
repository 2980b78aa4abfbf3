"""Logs that invite a wrong number: each is read right, or refused with the way out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli import app
from surefoot.files.accounting import Manner
from surefoot.files.reading import read
from surefoot.files.stated import Stated, stated

FILLED = "a confidence that was filled in for them"


def lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def confidences(path: Path, values: Sequence[Any]) -> Path:
    return lines(path, [{"correct": i % 2 == 0, "confidence": value} for i, value in enumerate(values)])


def sample(i: int, value: Any = None, **more: Any) -> dict[str, Any]:
    score = {"value": "CI"[i % 2] if value is None else value, "answer": more.pop("answer", "4")}
    score["metadata"] = more.pop("of_score", None)
    return {
        "id": i,
        "epoch": 1,
        "input": f"q{i}",
        "target": "4",
        "output": {"completion": "It is 4."},
        "scores": {"graded": score},
        **more,
    }


def inspect(path: Path, samples: Sequence[dict[str, Any]], epochs: int = 1) -> Path:
    about = {"task": "quiz", "model": "m", "config": {"epochs": epochs}}
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": list(samples)}))
    return path


# -- scales ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Confidence: 4/5", None),
        ("Confidence: 3 out of 5", None),
        ("Confidence: 1/2", None),
        ("Confidence: 850/1000", None),
        ("Confidence: 9/10", Stated(0.9, has_unit=True)),
        ("<confidence>85</confidence>", Stated(85, has_unit=False)),
        (r"Confidence: \boxed{85\%}", Stated(0.85, has_unit=True)),
        (r"Confidence: $85\%$", Stated(0.85, has_unit=True)),
        ("Confidence: High (85%)", Stated(0.85, has_unit=True)),
        ("Confidence: very high, 95%", Stated(0.95, has_unit=True)),
        ("Confidence > 85%", None),
    ],
)
def test_ratings_are_no_confidences_and_markup_hides_none(text: str, expected: Stated | None) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize("values", [[1, 1, 1], [0, 1, 0], ["85%", 1, "90%"]])
def test_a_one_that_could_be_a_percentage_is_asked_about(values: list[Any], tmp_path: Path) -> None:
    path = confidences(tmp_path / "a.jsonl", values)
    with pytest.raises(sf.InvalidPredictions, match=r"confidence is 1\.0, which could be 1% or 100%; pass --percent"):
        sf.load(path)
    one = values.index(1)
    assert sf.load(path, percent=True).confidence[one] == pytest.approx(0.01)
    assert sf.load(path, percent=False).confidence[one] == 1


def test_a_one_before_percentages_is_asked_about(tmp_path: Path) -> None:
    # the first rows of a log are handed out together, and are all 1
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"correct": True, "confidence": c} for c in [1] * 20_000 + [85, 90]]))
    with pytest.raises(sf.InvalidPredictions, match=r"row 1: confidence is 1\.0, which could be 1% or 100%"):
        sf.load(path)


def test_certain_floats_of_a_program_are_shares_of_one() -> None:
    assert sf.Predictions.from_correct([True, False], [1.0, 0.0]).certain == 1


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5], [7, 8, 9, 10]])
def test_ratings_are_not_taken_for_percentages(values: list[int], tmp_path: Path) -> None:
    path = confidences(tmp_path / "a.jsonl", values)
    with pytest.raises(
        sf.InvalidPredictions, match=rf"no confidence is above {values[-1]}, .* rating up to 10, or a perc"
    ):
        sf.load(path)
    assert sf.load(path, percent=True).confidence == pytest.approx(np.array(values) / 100)


def test_what_is_no_percentage_is_shown_as_it_is_written(tmp_path: Path) -> None:
    path = confidences(tmp_path / "a.jsonl", [85, 90, 150])
    with pytest.raises(
        sf.InvalidPredictions, match=r"row 3: confidence is 150\.0, but a percentage lies between 0 and"
    ):
        sf.load(path)
    path = confidences(tmp_path / "b.jsonl", [85, -20, 90])
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: confidence is -20\.0, but a percentage lies"):
        sf.load(path)


def test_tables_are_paired_by_an_id_that_tells_rows_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [{"id": f"q{i}", "correct": int(rng.random() < 0.7), "confidence": 0.7} for i in range(400)]
    better = [{**row, "correct": int(row["correct"] or rng.random() < 0.2)} for row in rows]
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"

    def compared(first: list[dict], second: list[dict]) -> dict:
        for path, held in ((one, first), (two, second)):
            pd.DataFrame(held).to_csv(path, index=False)
        found = CliRunner().invoke(app, ["compare", f"one={one}", f"two={two}", "--json"])
        assert found.exit_code == 0, found.output
        return json.loads(found.output)

    in_order, turned = compared(rows, better), compared(rows, better[::-1])
    assert "found by id" in turned["pairing"]
    # paired by their order, the difference of unrelated rows has a wider interval
    one_way, other_way = (found["differences"]["two"]["accuracy"] for found in (turned, in_order))
    assert one_way["low"] == pytest.approx(other_way["low"], rel=1e-9)
    assert one_way["high"] == pytest.approx(other_way["high"], rel=1e-9)
    # ids that no two models share name no row
    others = [{**row, "id": f"r{i}"} for i, row in enumerate(better)]
    assert "taken to be the same" in compared(rows, others)["pairing"]
    # nor do those that come twice; in another order they show that places do not either
    rows, better = ([{**row, "id": f"p{i // 2}"} for i, row in enumerate(held)] for held in (rows, better))
    assert "taken to be the same" in compared(rows, better)["pairing"]
    pd.DataFrame(better[::-1]).to_csv(two, index=False)
    found = CliRunner().invoke(app, ["compare", f"one={one}", f"two={two}"])
    assert "two rows have the same id" in str(found.exception or "") + found.output


@pytest.mark.parametrize("turned", [False, True])
def test_files_on_two_scales_are_told_apart(turned: bool, tmp_path: Path) -> None:
    """It used to be said of one row, which should be corrected."""
    names = ["b.jsonl", "a.jsonl"] if turned else ["a.jsonl", "b.jsonl"]
    confidences(tmp_path / names[0], [85, 90, 60])
    confidences(tmp_path / names[1], [0.85, 0.9, 0.6])
    told = r"b\.jsonl, row 1: confidence is (0\.)?85(\.0)?, but those of .*a\.jsonl (hold perc|lie betw)"
    with pytest.raises(sf.InvalidPredictions, match=f"{told}.*write both files on one scale"):
        sf.load(tmp_path)


def test_a_pattern_and_a_scale_go_together(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"correct": True, "text": f"sure: {c}"} for c in (90, 0.5, 60)])
    named = {"correct": "correct", "confidence": "text", "confidence_pattern": r"sure: ([\d.]+)"}
    with pytest.raises(sf.InvalidPredictions, match="pass --percent"):
        sf.load(path, **named)
    assert sf.load(path, **named, percent=True).confidence == pytest.approx([0.9, 0.005, 0.6])


# -- rows that lack something ------------------------------------------------------------------------------------------


def judged(n: int, filled: int) -> dict[str, Any]:
    """Judgements by id, of which one answer states no confidence and was given 100."""
    return {
        f"id{i}": {
            "response": "I do not know." if i == filled else f"4. Confidence: {50 + i % 40}%",
            "judge_response": {"correct": "yes" if i % 3 else "no", "confidence": 100 if i == filled else 50 + i % 40},
        }
        for i in range(n)
    }


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_confidence_that_was_filled_in_late_is_found(suffix: str, tmp_path: Path) -> None:
    path, rows = tmp_path / f"judged.{suffix}", judged(2500, filled=2300)
    if suffix == "json":
        path.write_text(json.dumps(rows))
    else:
        lines(path, [{"id": name, **row} for name, row in rows.items()])
    with pytest.raises(sf.InvalidPredictions, match=r"row 2,301: .*filled in by whoever graded"):
        sf.load(path)
    reading = read(str(path), {}, manner=Manner(drop_missing=True))
    assert len(reading.held) == 2499
    assert reading.notes[0] == f"1 of 2,500 rows are left out: they have {FILLED}."


def test_a_confidence_that_was_filled_in_is_taken_and_counted_if_its_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "judged.json"
    path.write_text(json.dumps(judged(30, filled=3)))
    named = {"correct": "judge_response.correct", "confidence": "judge_response.confidence"}
    with pytest.raises(sf.InvalidPredictions, match=r"name --correct judge_response\.correct --confidence judge"):
        sf.load(path)
    reading = read(str(path), named)
    assert len(reading.held) == 30
    assert reading.held.confidence[3] == 1
    assert reading.notes[0].startswith("The confidence of 1 of 30 rows was filled in by whoever graded the answer")


def test_shares_of_stated_values_are_of_the_rows_that_are_kept(tmp_path: Path) -> None:
    rows = [{"grade": "CORRECT" if i % 3 else "INCORRECT", "confidence": 0.9 if i % 2 else 0.8} for i in range(40)]
    rows += [{"grade": None, "confidence": 0.5}] * 10 + [{"grade": "CORRECT", "confidence": 0.7}]
    reading = read(str(lines(tmp_path / "a.jsonl", rows * 10)), {}, manner=Manner(drop_missing=True))
    assert reading.notes[1] == "Stated confidences, with their shares of rows: 0.8 (49%), 0.9 (49%), 0.7 (2%)."


def test_one_row_of_many_is_not_no_row(tmp_path: Path) -> None:
    reading = read(str(confidences(tmp_path / "a.jsonl", [0.9] * 999 + [0.8])), {})
    assert "Stated confidences, with their shares of rows: 0.9 (>99%), 0.8 (<1%)." in reading.notes


# -- Inspect -----------------------------------------------------------------------------------------------------------


def test_a_confidence_that_is_named_goes_with_the_score(tmp_path: Path) -> None:
    """It used to go with the target and the whole answer: every row was wrong."""
    path = inspect(tmp_path / "a.json", [sample(i, metadata={"sure": 0.5 + i / 100}) for i in range(12)])
    with pytest.raises(sf.InvalidPredictions, match=r"with --confidence; columns of fractions are 'metadata\.sure'"):
        sf.load(path)
    p = sf.load(path, confidence="metadata.sure")
    assert p.correct.tolist() == [True, False] * 6
    assert p.confidence == pytest.approx([0.5 + i / 100 for i in range(12)])


def test_a_field_of_the_metadata_of_a_score_can_be_named(tmp_path: Path) -> None:
    path = inspect(tmp_path / "a.json", [sample(i, of_score={"sureness": 0.5 + i / 100}) for i in range(12)])
    p = sf.load(path, confidence="scores.graded.sureness")
    assert p.correct.tolist() == [True, False] * 6
    assert p.confidence[1] == pytest.approx(0.51)


def test_a_confidence_in_the_answer_of_a_score_is_found(tmp_path: Path) -> None:
    path = inspect(tmp_path / "a.json", [sample(i, answer=f"4. Confidence: {50 + i}%") for i in range(12)])
    assert sf.load(path).confidence == pytest.approx([0.5 + i / 100 for i in range(12)])


def test_a_score_of_several_values_asks_which_one_is_correctness(tmp_path: Path) -> None:
    value = {"accuracy": 1, "fluency": 3, "confidence": 85}
    path = inspect(tmp_path / "a.json", [sample(i, {**value, "accuracy": i % 2}) for i in range(12)])
    with pytest.raises(
        sf.InvalidPredictions, match=r"--correct: 'scores\.graded\.accuracy', 'scores\.graded\.fluency'"
    ):
        sf.load(path)
    p = sf.load(path, correct="scores.graded.accuracy")
    assert p.correct.tolist() == [False, True] * 6
    assert p.confidence.tolist() == [0.85] * 12


def test_one_option_chooses_among_scorers_without_confidences(tmp_path: Path) -> None:
    samples = [sample(i, output={"completion": f"4. Confidence: {50 + i}%"}) for i in range(12)]
    for one in samples:
        one["scores"]["other"] = {"value": "C"}
    path = inspect(tmp_path / "a.json", samples)
    with pytest.raises(sf.InvalidPredictions, match=r"choose one with --correct 'scores\.graded\.value'"):
        sf.load(path)
    assert sf.load(path, correct="scores.graded.value").correct.tolist() == [True, False] * 6


def test_epochs_are_groups_also_where_the_first_rows_are_of_one(tmp_path: Path) -> None:
    samples = [sample(i, of_score={"confidence": 0.5 + i / 9000}) for i in range(2100)]
    path = inspect(tmp_path / "a.json", samples + [{**one, "epoch": 2} for one in samples], epochs=2)
    assert read(str(path), {}).group == "question"


def test_the_report_names_the_question_of_surprising_rows(tmp_path: Path) -> None:
    path = inspect(tmp_path / "a.json", [sample(1000 + i, of_score={"confidence": 0.9}) for i in range(40)])
    out = tmp_path / "report.html"
    found = CliRunner().invoke(app, ["assess", str(path), "--show", "input", "-o", str(out)])
    assert found.exit_code == 0, found.output
    page = out.read_text()
    assert '<td class="t">1001</td><td class="t">q1001</td>' in page


def test_an_answer_that_is_a_number_is_no_confidence(tmp_path: Path) -> None:
    path = inspect(tmp_path / "a.json", [sample(i, output={"completion": str(i)}) for i in range(12)])
    with pytest.raises(sf.InvalidPredictions, match="no confidence was found"):
        sf.load(path)
    answers = ["4. Confidence: 90%", "It is 5. Confidence: 60%", "7", "Confidence: 70%"]
    lines(tmp_path / "a.jsonl", [{"correct": i % 2 == 0, "response": text} for i, text in enumerate(answers)])
    with pytest.raises(sf.InvalidPredictions, match="row 3: response is '7', which states no confidence"):
        sf.load(tmp_path / "a.jsonl")
    # where a model was asked for nothing else, the numbers are confidences
    lines(tmp_path / "b.jsonl", [{"correct": i % 2 == 0, "response": text} for i, text in enumerate(["90%", "70"])])
    assert sf.load(tmp_path / "b.jsonl", correct="correct", confidence="response").confidence.tolist() == [0.9, 0.7]


# -- the harness -------------------------------------------------------------------------------------------------------


def generated(i: int, **metrics: Any) -> dict[str, Any]:
    answer = {"resps": [[f"4. Confidence: {50 + i}%"]], "filtered_resps": ["4"], "filter": "none"}
    return {"doc_id": i, "doc": {}, "target": "4", **answer, "metrics": list(metrics), **metrics}


def test_one_metric_says_what_is_right_in_all_rows(tmp_path: Path) -> None:
    """F1 is 1 or 0 in some rows; it used to be taken there, and another metric elsewhere."""
    rows = [generated(i, f1=[1.0, 0.3, 0.0][i % 3], exact_match=float(i % 2)) for i in range(12)]
    p = sf.load(lines(tmp_path / "samples_qa.jsonl", rows))
    assert p.correct.tolist() == [False, True] * 6


def test_a_log_whose_metrics_do_not_say_what_is_right_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "samples_qa.jsonl", [generated(i, bleu=[0.2, 0.0][i % 2]) for i in range(12)])
    with pytest.raises(sf.InvalidPredictions, match="none of its metrics is 0 or 1 for each answer"):
        sf.load(path)


# -- pairs -------------------------------------------------------------------------------------------------------------

MANY = 60


def models(folder: Path, write: Any, second: Any = None) -> dict[str, Any]:
    """Two models, the second log in another order; what `compare` says of them."""
    rng = np.random.default_rng(5)
    right, order = rng.random((2, MANY)) < 0.7, rng.permutation(MANY)
    rows = [
        [
            {"id": f"q{i}", "question": f"What is {i}?", "correct": bool(right[k][i]), "confidence": 0.5 + i / 200}
            for i in range(MANY)
        ]
        for k in (0, 1)
    ]
    one = write(folder / "one", rows[0])
    two = (second or write)(folder / "two", [rows[1][i] for i in order])
    found = CliRunner().invoke(app, ["compare", f"one={one}", f"two={two}", "--json"])
    assert found.exit_code == 0, found.output
    expected = sf.compare(
        {
            name: sf.Predictions.from_correct(right[k], [0.5 + i / 200 for i in range(MANY)])
            for k, name in enumerate(("one", "two"))
        }
    )
    document: dict[str, Any] = json.loads(found.output)
    own, theirs = document["differences"]["two"]["accuracy"], expected.values["two"]["accuracy"]
    assert own["value"] == pytest.approx(theirs.value, rel=1e-12)
    assert (own["low"], own["high"]) == pytest.approx((theirs.low, theirs.high), rel=1e-12)
    return document


def as_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    return lines(path.with_suffix(".jsonl"), rows)


def as_array(path: Path, rows: list[dict[str, Any]]) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps([{"task": "quiz", **row} for row in rows]))
    return path


def as_numbered(path: Path, rows: list[dict[str, Any]]) -> Path:
    return as_lines(path, [{**row, "id": int(row["id"][1:])} for row in rows])


def as_text(path: Path, rows: list[dict[str, Any]]) -> Path:
    return as_lines(path, [{**row, "id": row["id"][1:]} for row in rows])


@pytest.mark.parametrize(
    ("write", "second"), [(as_lines, None), (as_array, None), (as_array, as_lines), (as_numbered, as_text)]
)
def test_rows_of_logs_are_paired_by_id_whatever_their_order(write: Any, second: Any, tmp_path: Path) -> None:
    """Rows of JSON lines, and of logs of which one has a task, used to be paired by their place."""
    document = models(tmp_path, write, second)
    by = "task and id" if write is as_array and second is None else "id"
    assert document["pairing"] == f"{MANY} rows in both, found by {by}: differences are paired"


def test_choices_of_the_harness_are_paired_by_document(tmp_path: Path) -> None:
    def write(path: Path, rows: list[dict[str, Any]]) -> Path:
        path.mkdir()
        return lines(
            path / "samples_arc.jsonl",
            [
                {
                    "doc_id": row["id"],
                    "doc": {},
                    "target": 0,
                    "filter": "none",
                    # a softmax of (log odds, 0) is the confidence
                    "filtered_resps": [
                        [float(np.log(row["confidence"] / (1 - row["confidence"]))), False],
                        [0.0, False],
                    ],
                    "acc": float(row["correct"]),
                }
                for row in rows
            ],
        )

    assert models(tmp_path, write)["pairing"].endswith("found by task and id: differences are paired")


def test_rows_that_not_all_models_have_are_counted_in_every_output(tmp_path: Path) -> None:
    rows = [{"id": i, "correct": i % 3 > 0, "confidence": 0.5 + i / 100} for i in range(30)]
    one, two = lines(tmp_path / "one.jsonl", rows), lines(tmp_path / "two.jsonl", rows[10:][::-1])
    outputs = [str(tmp_path / "c.html"), str(tmp_path / "c.md")]
    arguments = ["compare", f"one={one}", f"two={two}", *(word for path in outputs for word in ("-o", path))]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    for text in (found.output, *(Path(path).read_text() for path in outputs)):
        assert "one: 10 of 30 rows are left out: not all models have them." in " ".join(text.split())


def test_equal_ids_are_refused_only_where_the_order_differs(tmp_path: Path) -> None:
    rows = [{"id": i // 2, "correct": i % 3 > 0, "confidence": 0.5 + i / 100} for i in range(30)]
    one, two = lines(tmp_path / "one.jsonl", rows), lines(tmp_path / "two.jsonl", rows)
    found = CliRunner().invoke(app, ["compare", f"one={one}", f"two={two}", "--json"])
    assert json.loads(found.output)["paired"]
    lines(two, rows[::-1])
    found = CliRunner().invoke(app, ["compare", f"one={one}", f"two={two}", "--json"])
    assert "two rows have the same id" in str(found.exception or "") + found.output


@pytest.mark.parametrize("turned", [False, True])
def test_a_model_that_was_asked_twice_is_paired_with_one_that_was_asked_once(turned: bool, tmp_path: Path) -> None:
    """It was refused because only one of them has groups; of the rows in common, none repeats another."""
    samples = [sample(i, of_score={"confidence": 0.5 + i / 100}) for i in range(30)]
    once = inspect(tmp_path / "once.json", samples)
    twice = inspect(tmp_path / "twice.json", [{**one, "epoch": e} for one in samples for e in (1, 2)], epochs=2)
    models = [f"once={once}", f"twice={twice}"]
    found = CliRunner().invoke(app, ["compare", *(models[::-1] if turned else models), "--json"])
    assert found.exit_code == 0, found.output
    document = json.loads(found.output)
    assert document["pairing"] == "30 rows in both, found by task and id and epoch: differences are paired"
    alone = sf.assess(once, correct="scores.graded.value", confidence="scores.graded.confidence").risk
    for model in document["models"].values():
        assert (model["risk"]["n"], model["risk"]["pvalue"]) == (30, pytest.approx(alone.pvalue, rel=1e-12))


# -- text --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_in_utf_16_is_read(suffix: str, tmp_path: Path) -> None:
    rows = [{"correct": "yes", "confidence": 85, "note": "süd"}, {"correct": "no", "confidence": 60, "note": "ñ"}]
    text = json.dumps(rows) if suffix == "json" else "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / f"a.{suffix}").write_text(text, encoding="utf-16")
    assert sf.load(tmp_path / f"a.{suffix}").confidence.tolist() == [0.85, 0.6]
