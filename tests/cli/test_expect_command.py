"""``surefoot expect``: files with and without labels, all outputs, and errors in one line."""

import json
from pathlib import Path

import numpy as np
import pytest

from surefoot.cli import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, 700)
    label = (rng.random(700) < p).astype(int)
    (tmp_path / "old.csv").write_text(
        "label,prob\n" + "".join(f"{y},{x:.6f}\n" for y, x in zip(label[:500], p[:500], strict=True))
    )
    (tmp_path / "new.csv").write_text("prob\n" + "".join(f"{x:.6f}\n" for x in p[500:]))
    (tmp_path / "labelled.csv").write_text(
        "label,prob\n" + "".join(f"{y},{x:.6f}\n" for y, x in zip(label[500:], p[500:], strict=True))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_says_what_to_expect_and_what_it_cannot_see(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["expect", "new.csv", "--reference", "old.csv"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Expect an accuracy of" in text
    assert "200 rows without labels, judged by 500 labelled rows" in text
    assert "concept drift) cannot be seen without labels" in text
    assert "not used" not in text


def test_labels_of_the_new_rows_are_not_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for name in ("new.csv", "labelled.csv"):
        assert run(["expect", name, "--reference", "old.csv", "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0]["metrics"] == results[1]["metrics"]
    assert "not used" in results[1]["columns"]


def test_files_are_written_by_suffix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["e.json", "e.md", "e.html"]
    outputs = [word for name in names for word in ("-o", name)]
    arguments = ["--calibrator", "platt", "--cost-error", "4", "--level", "0.1"]
    assert run(["expect", "new.csv", "--reference", "old.csv", *arguments, *outputs]) == 0
    for name in names:
        assert "concept drift" in (folder / name).read_text()
    document = json.loads((folder / "e.json").read_text())
    assert document["level"] == 0.1
    assert document["calibrator"] == "Platt"
    errors = 1 - document["metrics"]["accuracy"]["value"]
    assert document["metrics"]["mean_cost"]["value"] == pytest.approx(4 * errors)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["expect", "new.csv"], 2, "--reference"),
        (["expect", "absent.csv", "--reference", "old.csv"], 3, "no such file"),
        (["expect", "new.csv", "--reference", "old.csv", "--calibrator", "plat"], 2, "did you mean"),
        (["expect", "new.csv", "--reference", "old.csv", "--cost-error", "-3"], 2, "0 or more"),
        (["expect", "other.csv", "--reference", "old.csv"], 3, "no column 'prob'"),
        (["expect", "bad.csv", "--reference", "old.csv"], 3, "row 2: prob is 7.5, but other rows lie between 0 and 1"),
    ],
)
def test_errors_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, words: str
) -> None:
    (folder / "other.csv").write_text("score\n0.5\n0.25\n")
    (folder / "bad.csv").write_text("prob\n0.5\n7.5\n")
    assert run(arguments) == status
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
