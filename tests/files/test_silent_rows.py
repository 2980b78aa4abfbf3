"""Rows that used to be read as something else without a word."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.files.accounting import Manner
from surefoot.files.finding import Ambiguous
from surefoot.files.reading import read
from surefoot.files.source import BadFile


def held(path: Path, *, drop: bool = False, **columns: str):
    return read(str(path), columns, manner=Manner(drop_missing=drop)).held


@pytest.mark.parametrize("view", [None, "event"])
def test_weights_and_confidences_that_are_1_by_rounding(tmp_path: Path, view: str | None) -> None:
    """A 1.00 of two decimals is read as 0.995 or so by convention: the test sees no certainty that was broken."""
    rows = [(i % 20 != 0, "1.00", 1 + i % 3) for i in range(2_000)] + [
        (i % 5 != 0, "0.80", 1 + i % 3) for i in range(2_000)
    ]
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence,weight\n" + "".join(f"{int(a)},{b},{c}\n" for a, b, c in rows))
    rounded = held(path)
    assert rounded.rounded == 2_000
    written = sf.Predictions.from_correct(
        rounded.correct, np.where(rounded.confidence == 1, 1 - rounded.doubt, 0.8), sample_weight=rounded.weight
    )
    if view is None:
        over, same = (sf.risk_test(p) for p in (rounded, written))
        assert over.pvalue == pytest.approx(same.pvalue, rel=1e-9)
        assert over.pvalue_omnibus > 0.05
        assert sf.assess(rounded).verdict == "no evidence against calibration"


def test_rounded_certainties_count_against_underconfidence_only_if_they_are_wrong() -> None:
    """As without weights: of equal ones, however far apart the two ways to count are."""
    rng = np.random.default_rng(0)
    confidence = np.where(rng.random(600) < 0.5, 1.0, 0.7).astype(np.float32)
    correct = rng.random(600) < 0.9
    weight = np.r_[np.full(599, 1.0), 1 + 1e-4]
    with pytest.warns(sf.RoundedConfidenceWarning):
        plain, weighted = (sf.Predictions.from_correct(correct, confidence, sample_weight=w) for w in (None, weight))
    for alternative in ("overconfident", "underconfident"):
        one, other = (sf.risk_test(p, alternative=alternative).pvalue for p in (plain, weighted))
        assert other == pytest.approx(one, rel=0.02), alternative


@pytest.mark.parametrize("value", ["-1", " -1", "- 1"])
def test_a_sign_is_no_separator(value: str, tmp_path: Path) -> None:
    with pytest.raises(sf.InvalidPredictions, match=r"correct\[1\] is"):
        sf.Predictions.from_correct(["1", value, "0"], [0.9, 0.8, 0.7])
    path = tmp_path / "a.csv"
    path.write_text(f"correct,confidence\n1,0.9\n{value},0.8\nNA,0.6\n")
    with pytest.raises(sf.InvalidPredictions, match="row 2: correct is"):
        held(path, drop=True)
    import polars as pl

    frame = pl.LazyFrame({"correct": ["1", value, "0"], "confidence": [0.9, 0.8, 0.7]})
    with pytest.raises(sf.InvalidPredictions, match="correct"):
        sf.tally(sf.Predictions.from_frame(frame, correct="correct", confidence="confidence"))


def test_the_probability_of_a_label_that_is_never_predicted_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("label,pred,prob\n" + "".join(f"{int(i % 9 == 0)},0,{0.1 + i / 1000}\n" for i in range(200)))
    with pytest.raises(Ambiguous, match=r"'prob' could be the confidence in 'pred' or the probability of the second"):
        held(path)
    assert held(path, truth="label", probabilities="prob").confidence.min() > 0.5


@pytest.mark.parametrize("missing", ["NA", "nan", "NULL", "N/A", "<NA>"])
def test_labels_that_are_missing_are_no_labels(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "cat,cat,0.9\ndog,cat,0.8\n" * 5
    path.write_text(f"truth,predicted,confidence\n{rows}{missing},cat,0.7\ncat,{missing},0.7\n")
    with pytest.raises(BadFile, match=rf"row 11: truth is '{missing}' \(2 of the first 12 rows have no outcome\)"):
        held(path)
    found = held(path, drop=True)
    assert (len(found), int(found.wrong.sum())) == (10, 5)
    # a class may be called so
    path.write_text(f"truth,predicted,confidence\n{rows}none,cat,0.7\n")
    assert len(held(path)) == 11


def test_labels_of_floats_that_are_nan_are_missing(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    pl.DataFrame({"label": [0.0, 1.0, float("nan"), 1.0], "prob": [0.1, 0.9, 0.5, 0.6]}).write_parquet(path)
    with pytest.raises(BadFile, match="row 3: label is nan"):
        held(path)
    assert len(held(path, drop=True)) == 3


def test_a_flag_that_is_none_is_refused_and_y_is_yes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence,attempted\n1,0.9,yes\n0,0.8,no\n0,0.7,n/a\n")
    with pytest.raises(BadFile, match="row 3: attempted is 'n/a'"):
        held(path)
    path.write_text("correct,confidence,attempted\n1,0.9,Y\n0,0.8,N\n0,0.7,N\n1,0.6,Y\n")
    found = held(path)
    assert (len(found), found.not_attempted, int(found.wrong.sum())) == (2, 2, 0)


def test_files_of_a_folder_agree(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("correct,confidence\n1,0.9\n0,0.8\n")
    other.write_text("correct,confidence,weight\n1,0.7,5\n1,0.6,100\n")
    assert run(["assess", str(tmp_path)]) == 3
    assert "b.csv: it has a column 'weight', which the first file lacks" in capfd.readouterr().err
    assert run(["assess", str(tmp_path), "--correct", "correct", "--confidence", "confidence"]) == 0
    for text in ("yes,0.7\nno,0.6\n", "true,0.7\nfalse,0.6\n"):
        other.write_text(f"correct,confidence\n{text}")
        assert run(["assess", str(tmp_path)]) == 3
        told = capfd.readouterr().err
        assert "and numbers before; write it in one way in all rows" in told
        assert "Traceback" not in told


def test_a_stream_that_is_refused_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count(text: str) -> int:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
        return run(["monitor", "-", "--state", str(tmp_path / "state")])

    assert count("correct,confidence\n" + "1,1\n0,1\n" * 3) == 2
    assert not (tmp_path / "state").exists()
    # what comes next tells that they were certain
    assert count("correct,confidence\n1,1\n0,1\n1,0.9\n") == 0
    assert sf.Monitor.load(tmp_path / "state").rows == 3


@pytest.mark.parametrize(("names", "positive"), [("prob_pos,prob_neg", 0), ("p_no,p_yes", 1), ("p_false,p_true", 1)])
def test_columns_of_two_classes_are_named_in_words(names: str, positive: int, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [(1, 0.9), (0, 0.2), (1, 0.8)]
    cells = [(y, p, 1 - p) if positive == 0 else (y, 1 - p, p) for y, p in rows]
    path.write_text(f"label,{names}\n" + "".join(f"{a},{b:.1f},{c:.1f}\n" for a, b, c in cells))
    assert held(path).correct.all()


def test_columns_of_two_classes_with_other_names_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,p_sick,p_healthy\n1,0.9,0.1\n0,0.2,0.8\n")
    with pytest.raises(Ambiguous, match=r"do not say which is the probability of 1; name that one with --probabil"):
        held(path)
    assert held(path, probabilities="p_sick").correct.all()


def test_models_that_lost_different_rows_are_not_paired(tmp_path: Path) -> None:
    models = {}
    for name, gap in (("a", 0), ("b", 9)):
        path = tmp_path / f"{name}.csv"
        rows = "".join(f"{i % 2},{'' if i == gap else 0.6 + i / 100}\n" for i in range(10))
        path.write_text(f"correct,confidence\n{rows}")
        models[name] = held(path, drop=True)
    found = sf.compare(models)
    assert not found.is_paired
    assert found.pairing == "9 rows in each, but not the same ones were left out: differences are not paired"


def test_a_pattern_takes_no_half_of_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,answer\n1,I bet 90 on it\n0,I bet 0.9 on it\n")
    with pytest.raises(BadFile, match=r"row 2: answer is 'I bet 0\.9 on it'"):
        read(str(path), {"confidence": "answer"}, manner=Manner(pattern="bet ([0-9]+)"))


def _sample(number: int, **more: object) -> dict[str, object]:
    return {"doc_id": number, "doc": {"choices": ["x", "y"]}, "target": 0, "resps": [], "filter": "none", **more}


def test_a_share_of_right_choices_is_no_outcome(tmp_path: Path) -> None:
    path = tmp_path / "samples_truthfulqa_mc2.jsonl"
    lines = [_sample(i, filtered_resps=[[-1.0, False], [-0.5, False]], acc=0.43, metrics=["acc"]) for i in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadFile, match=r"acc is 0\.43.* neither 0 nor 1: several choices may be right"):
        held(path)


def test_log_likelihoods_without_the_question_are_no_choices(tmp_path: Path) -> None:
    path = tmp_path / "samples_arc.jsonl"
    logs = [[-1.0, False], [-2.0, False], [-9.0, False], [-0.1, False]]
    line = _sample(0, filtered_resps=logs, acc=1.0, acc_mutual_info=0.0, metrics=["acc", "acc_mutual_info"])
    path.write_text(json.dumps(line) + "\n")
    assert held(path).confidence[0] == pytest.approx(1 / (1 + np.exp(-1.0)), rel=1e-12)


def test_of_an_object_only_what_is_called_correct_is_an_outcome(tmp_path: Path) -> None:
    score = {"value": {"hallucinated": True, "confidence": 0.7}, "answer": "x"}
    samples = [{"id": i, "epoch": 1, "input": "q", "target": "a", "scores": {"judge": score}} for i in range(4)]
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(sf.InvalidPredictions, match=r"choose a field with --correct: 'scores\.judge\.hallucinated'"):
        held(path)


def test_a_stray_carriage_return_is_found_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{i % 2},0.{700 + i % 200},{i}" for i in range(300)]
    rows[200] = "1,0.7\rb"
    path.write_bytes(("correct,confidence,x\n" + "\n".join(rows) + "\n").encode())
    with pytest.raises(BadFile, match=r"row 201: 2 columns instead of 3 \('1,0\.7'\)"):
        held(path)


# -- dashes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "wrong"), [("yes", "no"), ("C", "I"), ("true", "false"), ("1", "0")])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_dash_beside_words_is_no_outcome(right: str, wrong: str, suffix: str, tmp_path: Path) -> None:
    """It used to count as an error."""
    path = tmp_path / f"a.{suffix}"
    rows = [(right, 0.9), ("-", 0.8), (wrong, 0.7), (" - ", 0.6), (right, 0.5)]
    lines = [f"{outcome},{confidence}" for outcome, confidence in rows]
    if suffix == "jsonl":
        lines = [json.dumps({"correct": outcome, "confidence": confidence}) for outcome, confidence in rows]
    path.write_text("\n".join(lines if suffix == "jsonl" else ["correct,confidence", *lines]) + "\n")
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: correct is '-' \(2 of the first 5 rows have no outcome\)"):
        sf.load(path)
    p = sf.load(path, drop_missing=True)
    assert (p.correct.tolist(), p.confidence.tolist()) == ([True, False, True], [0.9, 0.7, 0.5])


def test_a_dash_beside_signs_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n+,0.9\n-,0.8\nN,0.7\n")
    p = sf.load(path)
    assert (p.correct.tolist(), p.not_attempted) == ([True, False], 1)


def test_signs_and_words_in_one_file_are_refused_whatever_comes_first(tmp_path: Path) -> None:
    """The first rows of a log are handed out together."""
    path = tmp_path / "a.json"
    rows = [{"correct": "+-"[i % 2], "confidence": 0.9} for i in range(20_000)]
    path.write_text(json.dumps([*rows, {"correct": "yes", "confidence": 0.8}]))
    with pytest.raises(
        sf.InvalidPredictions, match=r"row 20,001: correct is 'yes', but an outcome before it is a dash"
    ):
        sf.load(path)


@pytest.mark.parametrize("make", [list, np.array, pl.Series])
def test_dashes_beside_words_are_refused_in_columns_too(make: Any) -> None:
    with pytest.raises(sf.InvalidPredictions, match=r"correct\[1\] is '-'; a dash is an outcome beside \+ only"):
        sf.accuracy(correct=make(["yes", "-", "no"]), confidence=[0.9, 0.8, 0.7])
    assert sf.accuracy(correct=make(["+", "-", "-"]), confidence=[0.9, 0.8, 0.7]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("lazy", [lambda f: f.lazy(), lambda f: duckdb.sql("select * from f")])
def test_dashes_beside_words_are_refused_in_lazy_frames_too(lazy: Any) -> None:
    frame = pl.DataFrame({"correct": ["yes", "-", "no"], "confidence": [0.9, 0.8, 0.7]})
    with pytest.raises(sf.InvalidPredictions, match=r"column 'correct' is '-'; a dash is an outcome beside \+ only"):
        sf.assess(lazy(frame), correct="correct", confidence="confidence")
    frame = pl.DataFrame({"correct": ["+", "-", "-"], "confidence": [0.9, 0.8, 0.7]})
    p = sf.Predictions.from_frame(lazy(frame), correct="correct", confidence="confidence")
    assert sf.accuracy(p) == pytest.approx(1 / 3)


@pytest.mark.parametrize("before", [0, 3000])
def test_a_value_that_an_object_names_twice_is_refused(before: int, tmp_path: Path) -> None:
    """The last one won: a confidence of 0.9 was read as 0.1."""
    path = tmp_path / "a.jsonl"
    good = '{"correct": 1, "confidence": 0.9}\n'
    path.write_text(good * before + '{"correct": 1, "confidence": 0.9, "confidence": 0.1}\n' + good)
    with pytest.raises(sf.InvalidPredictions, match=f"row {before + 1:,}: an object names 'confidence' twice"):
        sf.load(path)
