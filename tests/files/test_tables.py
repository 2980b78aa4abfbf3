"""Tables as people keep them: separators, decimal commas, percentages, other encodings, rows that lack something."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli import app, run

CONFIDENCE = [0.85, 0.7, 0.955, 0.5]
CORRECT = [True, False, True, False]


def check(path: Path, **options: object) -> None:
    p = sf.load(path, **options)
    assert p.confidence == pytest.approx(CONFIDENCE, rel=1e-15)
    assert p.correct.tolist() == CORRECT


@pytest.mark.parametrize(
    "words",
    ["yes no", "true false", "True False", "C I", "correct incorrect", "+ -", "1 0", "right wrong", "pass fail"],
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_outcomes_in_words_and_any_separator(words: str, separator: str, tmp_path: Path) -> None:
    right, wrong = words.split()
    rows = [f"{right if ok else wrong}{separator}{c}" for ok, c in zip(CORRECT, CONFIDENCE, strict=True)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([f"correct{separator}confidence", *rows]) + "\n")
    check(path)


@pytest.mark.parametrize(
    "written",
    [
        "0,85 0,7 0,955 0,5",
        "85% 70% 95,5% 50%",
        "85 70 95,5 50",
        "85,0 70,0 95,5 50,0",
        "85% 0,7 95,5% 0,5",
        "0.85 0.7 0.955 0.5",
    ],
)
def test_numbers_as_they_are_written_where_the_comma_is_decimal(written: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{int(ok)};{text}" for ok, text in zip(CORRECT, written.split(), strict=True)]
    path.write_text("\n".join(["correct;confidence", *rows]) + "\n")
    check(path)


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ("label;pred;confidence;weight\n1;1;0,9;1.000\n0;1;0,8;2.000\n", "row 1: weight is '1.000'"),
        ("label;pred;confidence;weight\n1;1;0,9;1,5\n0;1;0,8;-1.234.567\n", "row 2: weight is '-1.234.567'"),
        ("label;pred;confidence\n1;1;0,9\n0;1;1.000\n", "row 2: confidence is '1.000'"),
        ("label;logit_0;logit_1\n1;-0,9;1.234\n0;0,8;-1,5\n", "row 1: logit_1 is '1.234'"),
        ("label;logit_0;logit_1\n1;-0,9;1.234\n0;0,8;-1.500\n", "row 1: logit_1 is '1.234'"),
    ],
)
def test_a_dot_among_decimal_commas_is_no_decimal_point(rows: str, cell: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(rows)
    with pytest.raises(sf.InvalidPredictions, match=re.escape(f"a.csv, {cell}, which could be a thousand times")):
        sf.load(tmp_path / "a.csv")


def test_one_cell_of_no_number_does_not_turn_decimal_commas_into_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label;pred;confidence;weight\n1;1;0,9;1,5\n0;1;0,8;x\n")
    with pytest.raises(sf.InvalidPredictions, match="row 2: weight is 'x', not a number"):
        sf.load(tmp_path / "a.csv")


def test_percentages_are_detected_and_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n1,85\n0,70\n1,95.5\n0,50\n")
    check(path)
    a = sf.assess(path)
    assert "Confidences are read as percentages (0 to 100)." in a.notes
    assert "read as percentages" in str(a)
    assert json.loads(a.to_json())["notes"][0] == a.notes[0]
    a.to_html(tmp_path / "report.html")
    assert "read as percentages" in (tmp_path / "report.html").read_text()


def test_probabilities_of_classes_may_be_percentages(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("truth,p_a,p_b\na,85,15\na,30,70\nb,4.5,95.5\n")
    p = sf.load(path)
    assert p.probabilities == pytest.approx(np.array([[0.85, 0.15], [0.3, 0.7], [0.045, 0.955]]))
    path.write_text("died;risk\nyes;12,5%\nno;3%\nyes;55%\n")
    p = sf.load(path, of="event", pos_label="yes")
    assert p.confidence == pytest.approx([0.125, 0.03, 0.55])


def test_doubtful_scales_are_what_the_user_says(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n1,1\n0,0\n1,1\n")
    with pytest.raises(sf.InvalidPredictions, match="which could be 1% or 100%"):
        sf.load(path)
    assert sf.load(path, percent=False).confidence.tolist() == [1, 0, 1]
    assert sf.load(path, percent=True).confidence.tolist() == [0.01, 0, 0.01]


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("padding", [0, 3_000_000])
def test_encodings(encoding: str, padding: int, tmp_path: Path) -> None:
    """Also where the first letter that is not ASCII comes late."""
    plain = "label,predicted,confidence\n" + "nord,nord,0.9\n" * (padding // 14)
    text = plain + "süd,süd,0.9\nnord,süd,0.8\n"
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    p = sf.load(path)
    assert p.truth[-2:].tolist() == [p.labels.index("süd"), p.labels.index("nord")] or p.labels == ("nord", "süd")
    assert p.correct[-2:].tolist() == [True, False]


def test_rows_that_lack_something_are_counted_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n1,0.85\n,0.6\n0,0.7\n1,\n1,0.955\n0.5,0.3\n0,high\n0,0.5\nn/a,0.1\n")
    with pytest.raises(
        sf.InvalidPredictions, match=r"row 2: correct is missing .*5 of the first 9 rows have .*--drop-missing"
    ):
        sf.load(path)
    check(path, drop_missing=True)
    found = CliRunner().invoke(app, ["assess", str(path), "--drop-missing", "--json"])
    assert json.loads(found.output)["notes"][0] == (
        "5 of 9 rows are left out: they have no outcome (2), an outcome that is neither right nor wrong (1), "
        "no confidence (1), a confidence that is no number (1)."
    )


def test_rows_of_an_error_are_counted_as_they_stand_in_the_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a1.csv", tmp_path / "a2.csv"
    first.write_text("correct,confidence\n,0.5\n1,0.5\n,0.5\n")
    second.write_text("correct,confidence\n1,0.5\n,0.5\n1,-0.5\n")
    with pytest.raises(sf.InvalidPredictions, match=r"a2\.csv, row 3: confidence is -0\.5"):
        sf.load(tmp_path / "a*.csv", drop_missing=True)


def _with_rows_left_out(folder: Path) -> list[str]:
    """Two files of 13 and 5 rows: wrong and sure in row 13 of the first and row 4 of the second, which is the 17th."""
    header = "id,correct,confidence\n"
    first = [f"a{i},1," for i in range(1, 11)] + ["a11,1,0.7", "a12,1,0.8", "a13,0,0.95"]
    second = ["b1,1,0.6", "b2,,0.6", "b3,1,", "b4,0,0.99", "b5,1,0.75"]
    (folder / "r1.csv").write_text(header + "\n".join(first) + "\n")
    (folder / "r2.csv").write_text(header + "\n".join(second) + "\n")
    return [line.partition(",")[0] for line in first + second]


def test_surprising_rows_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    ids = _with_rows_left_out(tmp_path)
    for name, rows in (("r1.csv", [12]), ("r2.csv", [3]), ("r*.csv", [16, 12])):
        assert [one.row for one in sf.assess(sf.load(tmp_path / name, drop_missing=True)).surprises] == rows
        asked = ["assess", str(tmp_path / name), "--drop-missing", "--id", "id", "--json"]
        found = json.loads(CliRunner().invoke(app, asked).output)["surprises"]
        assert [one["row"] for one in found] == rows
        if name == "r*.csv":
            assert [one["shown"]["id"] for one in found] == [ids[row] for row in rows]


def test_numbers_count_what_was_left_out_and_what_was_not_attempted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"x{i},{rng.choice(['CORRECT', 'INCORRECT', 'INCORRECT', 'NOT_ATTEMPTED'])},{0.5 + i / 100}" for i in range(40)
    ]
    rows = [row.rpartition(",")[0] + "," if rng.random() < 0.3 else row for row in rows]
    (tmp_path / "a.csv").write_text("id,grade,confidence\n" + "\n".join(rows) + "\n")
    out = CliRunner().invoke(app, ["assess", str(tmp_path / "a.csv"), "--drop-missing", "--id", "id", "--json"]).output
    wrong = [i for i, row in enumerate(rows) if ",INCORRECT,0" in row]
    found = [(one["row"], one["shown"]["id"]) for one in json.loads(out)["surprises"]]
    assert found == [(i, f"x{i}") for i in wrong[::-1][:12]]


def test_rows_that_are_paired_keep_their_numbers(tmp_path: Path) -> None:
    """Models are paired by id in the order of the first; each tells the rows of its own file."""
    rows = {f"q{i}": (i % 3 > 0, 0.6 + i / 100) for i in range(12)}
    for name, order in (("m1.csv", list(rows)), ("m2.csv", list(rows)[::-1])):
        lines = [f"{i},{int(rows[i][0])},{rows[i][1]}" for i in order]
        (tmp_path / name).write_text("id,correct,confidence\nlost,1,\n" + "\n".join(lines) + "\n")
    files = [f"{name}={tmp_path / name}.csv" for name in ("m1", "m2")]
    asked = ["compare", *files, "--id", "id", "--drop-missing", "--json"]
    models = json.loads(CliRunner().invoke(app, asked).output)["models"]
    found = [[one["row"] for one in model["surprises"]] for model in models.values()]
    assert found == [[10, 7, 4, 1], [3, 6, 9, 12]]


def test_large_files_lose_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    confidence = pd.Series(rng.uniform(0.5, 0.99, 5000).round(3)).mask(rng.random(5000) < 0.1)
    frame = pd.DataFrame({"correct": rng.random(5000) < 0.7, "confidence": confidence})
    expected = sf.assess(frame.dropna().reset_index(drop=True), correct="correct", confidence="confidence")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for rows in (10**9, 100):
        monkeypatch.setattr("surefoot.files.reader.MOST_ROWS", rows)
        for name in ("a.csv", "a.parquet"):
            found = CliRunner().invoke(app, ["assess", str(tmp_path / name), "--drop-missing", "--json"])
            document = json.loads(found.output)
            assert document["risk"]["n"] == expected.risk.n == int(confidence.notna().sum())
            assert document["risk"]["csr"] == pytest.approx(expected.risk.csr, rel=1e-12)
            assert f"{int(confidence.isna().sum()):,} of 5,000 rows are left out" in document["notes"][0]


def test_a_row_without_labels_but_not_attempted_is_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("grade,confidence\nCORRECT,85%\nNOT_ATTEMPTED,\nINCORRECT,70%\nCORRECT,95.5%\nINCORRECT,50%\n")
    check(path)
    assert sf.load(path).not_attempted == 1


def test_a_workbook_with_missing_outcomes_decimal_commas_and_percentages(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It takes one option, which the message names, besides what the question is."""
    openpyxl = pytest.importorskip("openpyxl")
    rng = np.random.default_rng(0)
    risk = rng.uniform(0.01, 0.6, 60).round(3)
    died = rng.random(60) < risk
    workbook = openpyxl.Workbook()
    workbook.active.append(["patient", "outcome", "predicted risk"])
    for i in range(60):
        text = f"{risk[i]:.3f}" if i % 2 else f"{100 * risk[i]:.1f}%"
        workbook.active.append([i, None if i in (3, 17, 40) else "yes" if died[i] else "no", text.replace(".", ",")])
    workbook.save(tmp_path / "risk.xlsx")
    asked = ["assess", str(tmp_path / "risk.xlsx"), "--of", "event", "--positive", "yes", "--json"]
    assert run(asked) == 3
    told = capfd.readouterr().err
    assert "row 4: outcome is missing (3 of the first 60 rows have no outcome); pass --drop-missing" in told
    document = json.loads(CliRunner().invoke(app, [*asked, "--drop-missing"]).output)
    kept = np.delete(np.arange(60), [3, 17, 40])
    assert document["risk"]["n"] == 57
    assert document["risk"]["oe_ratio"] == pytest.approx(died[kept].sum() / risk[kept].sum(), rel=1e-12)
