"""``surefoot act-alone``: the promise, the files it writes, and what is said about wrong usage."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    confidence = rng.beta(8, 1, 4000)
    correct = rng.random(4000) < confidence
    region = rng.choice(["north", "south"], 4000)
    path = tmp_path / "predictions.csv"
    with path.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["correct", "confidence", "region"])
        writer.writerows(zip(correct.astype(int).tolist(), confidence.tolist(), region.tolist(), strict=True))
    return path


def test_the_answer_comes_with_the_columns_used(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["act-alone", str(file), "--error", "0.05"]) == 0
    told = capfd.readouterr().out
    found = sf.act_alone(file, error=0.05)
    assert told.splitlines()[1].startswith(
        "  4,000 rows of predictions.csv; columns used: confidence: confidence, corr"
    )
    assert f"From {100 * found.threshold:g}% confidence on, at most 5% of predictions are wrong" in told
    assert "Save these decisions with -o policy.json" in told


def test_a_file_gives_what_its_rows_give(file: Path) -> None:
    rows = sf.load(file)
    by_name, by_rows = sf.act_alone(str(file), error=0.05), sf.act_alone(rows, error=0.05)
    assert by_name.threshold == by_rows.threshold
    assert by_name.source == "predictions.csv"
    sliced = sf.act_alone(file, error=0.1, by="region")
    assert sliced.by == sliced.policy.by == "region"
    assert sorted(sliced.slices) == ["north", "south"]
    named = sf.act_alone(file, correct="correct", confidence="confidence", error=0.05)
    assert named.threshold == by_rows.threshold


def test_the_policy_that_is_written_decides_the_same(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    assert run(["act-alone", str(file), "--error", "0.05", "--refuse", "0.3", "-o", str(path)]) == 0
    expected = sf.act_alone(file, error=0.05, refuse=0.3).policy
    policy = sf.Policy.load(path)
    assert policy == expected
    confidence = np.linspace(0, 1, 1001)
    assert policy.decide(confidence).tolist() == expected.decide(confidence).tolist()
    assert set(policy.decide(confidence)) == {"accept", "review", "refuse"}


def test_a_policy_by_slice(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.json"
    assert run(["act-alone", str(file), "--error", "0.1", "--by", "region", "-o", str(path)]) == 0
    assert "For all 2 values of region, there are thresholds" in " ".join(capfd.readouterr().out.split())
    policy = sf.Policy.load(path)
    assert policy.decide([0.999, 0.999], by=["north", "elsewhere"]).tolist() == ["accept", "review"]


def test_every_kind_of_file(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"out{suffix}" for suffix in (".json", ".html", ".md", ".png", ".svg")]
    outputs = [item for path in paths for item in ("-o", str(path))]
    assert run(["act-alone", str(file), "--error", "0.05", *outputs]) == 0
    policy, page, summary, picture, drawing = paths
    assert json.loads(policy.read_text())["surefoot"] == "policy"
    assert page.read_text().startswith("<!doctype html>")
    assert summary.read_text().startswith("## From ")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in drawing.read_text()
    told = capfd.readouterr().out
    assert all(f"Wrote {path} (" in told for path in paths)


def test_json_and_markdown_are_printed_alone(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["act-alone", str(file), "--error", "0.05", "--json"]) == 0
    printed = json.loads(capfd.readouterr().out, parse_constant=pytest.fail)
    assert printed["threshold"] == sf.act_alone(file, error=0.05).threshold
    assert printed["source"] == "predictions.csv"
    assert run(["act-alone", str(file), "--error", "0.05", "--format", "markdown"]) == 0
    assert capfd.readouterr().out.startswith("## From ")


def test_costs(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["act-alone", str(file), "--cost-error", "20", "--cost-review", "1"]) == 0
    assert "It costs least to act alone from" in capfd.readouterr().out


def test_no_threshold_is_an_answer(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.json"
    assert run(["act-alone", str(file), "--error", "0.0001", "-o", str(path)]) == 0
    assert "No threshold keeps this promise" in capfd.readouterr().out
    assert set(sf.Policy.load(path).decide([0.0, 0.5, 1.0])) == {"review"}


def test_a_tally_a_folder_and_standard_input_are_files_too(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = sf.act_alone(file, error=0.05).threshold
    tally, folder = tmp_path / "sums.tally", tmp_path / "parts"
    assert run(["assess", str(file), "--by", "region", "-o", str(tally)]) == 0
    folder.mkdir()
    shutil.copy(file, folder / "one.csv")
    for source in (tally, folder):
        capfd.readouterr()
        assert run(["act-alone", str(source), "--error", "0.05", "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["threshold"] == expected
    with file.open("rb") as piped:
        done = subprocess.run(
            [sys.executable, "-m", "surefoot", "act-alone", "-", "--error", "0.05", "--json"],
            stdin=piped, capture_output=True, check=True,
        )  # fmt: skip
    assert json.load(io.BytesIO(done.stdout))["threshold"] == expected


def test_a_tally_is_sliced_by_what_it_was_sliced_by(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tally = tmp_path / "sums.tally"
    regions = [row["region"] for row in csv.DictReader(file.read_text().splitlines())]
    sf.tally(sf.load(file), by=np.array(regions)).save(tally)
    by = str(sf.Tally.load(tally).by)
    capfd.readouterr()
    assert run(["act-alone", str(tally), "--error", "0.1", "--by", by, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    expected = sf.act_alone(file, error=0.1, by="region")
    assert [one["threshold"] for one in found["slices"]] == [one.threshold for one in expected.slices.values()]
    assert run(["act-alone", str(tally), "--error", "0.1", "--by", "other"]) == 3
    assert f"this tally is sliced by '{by}', not by 'other'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            [],
            "surefoot act-alone needs --error, the error rate that accepted predictions may have, such as --error 0.01",
        ),
        (["--error", "1"], "for 1% type --error 0.01"),
        (["--error", "1%"], "--error is 1%; it should be a share, not a percentage: for 1% type --error 0.01"),
        (["--error", "2.5%"], "for 2.5% type --error 0.025"),
        (["--error", "0.5%"], "for 0.5% type --error 0.005"),
        (["--error", "0"], "no number of rows can promise that none is wrong"),
        (["--error", "1e-12"], "--error is 1e-12, which takes too many rows to promise; give at least 1e-09"),
        (["--error", "-1"], "--error is '-1'; it should be a number between 0 and 1, such as 0.01"),
        (["--error", "few"], "--error is 'few'; it should be a number between 0 and 1, such as 0.01"),
        (["--error", "nan"], "it should be a number between 0 and 1"),
        (["--error", "0.01", "--level", "5"], "for 5% type --level 0.05"),
        (["--error", "0.1", "--refuse", "50%"], "for 50% type --refuse 0.5"),
        (["--error", "0.1", "--refuse", "0.05"], "--refuse 0.05 is not above --error 0.1"),
        (["--cost-error", "10"], "--cost-error needs --cost-review besides"),
        (["--cost-error", "10", "--cost-review", "-1"], "--cost-review is -1; it should be a positive number"),
        (["--error", "0.1", "--by", "truth"], "use --by predicted"),
        (["--error", "0.1", "-o", "sums.tally"], ".json (policy), .html (report), .md (Markdown), .png (picture)"),
        (["--eror", "0.1"], "did you mean --error?"),
    ],
)
def test_wrong_usage_says_what_to_type(
    options: list[str], told: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["act-alone", str(file), *options]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert told in captured.err


def test_bad_data_end_with_status_3(tmp_path: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    weighted = tmp_path / "weighted.csv"
    weighted.write_text("correct,confidence,weight\n1,0.9,1\n0,0.8,2\n1,0.7,3\n")
    policy = tmp_path / "policy.json"
    assert run(["act-alone", str(weighted), "--error", "0.1", "-o", str(policy)]) == 3
    assert "different weights" in capfd.readouterr().err
    assert not policy.exists()
    assert run(["act-alone", str(file), "--error", "0.1", "--by", "nowhere"]) == 3
    assert "there is no column 'nowhere'" in capfd.readouterr().err
    assert run(["act-alone", str(tmp_path / "absent.csv"), "--error", "0.1"]) == 3


def test_help_teaches_with_examples(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["act-alone", "--help"]) == 0
    told = capfd.readouterr().out
    assert "surefoot act-alone a.csv --error 0.01" in told
    assert "--refuse 0.5 -o policy.json" in told
