"""``surefoot slices``: what is found in files, what is written, and what is said about wrong usage."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.render.found_slices import render
from surefoot.render.text import Terminal


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = 4000
    confidence = rng.uniform(0.6, 0.98, rows).round(4)
    region, age = rng.choice(["north", "south", "east"], rows), rng.integers(18, 90, rows)
    correct = rng.random(rows) < confidence - 0.25 * ((region == "east") & (age > 60))
    columns = {"correct": correct.astype(int), "confidence": confidence, "region": region, "age": age}
    height = [None if i % 9 == 0 else float(x) for i, x in enumerate(rng.normal(170, 10, rows).round(1))]
    return pl.DataFrame({**columns, "height": height, "visit": [f"v{i}" for i in range(rows)]})


@pytest.fixture
def file(frame: pl.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    frame.write_csv(path)
    return path


def test_the_text_says_what_was_found_and_what_to_do(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["slices", str(file)]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert told.startswith("visits.csv, 4,000 rows; columns used: confidence: confidence, correct: correct")
    assert "region = east and age above" in told
    assert "not searched: visit (4,000 values, none of them in 50 rows)" in told
    assert f"{shlex.quote(str(file))} " in told
    assert told.endswith("--correct correct --by region")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_file_gives_what_its_frame_gives(frame: pl.DataFrame, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"visits.{suffix}"
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[suffix]
    write(path)
    expected, found = sf.find_slices(frame), sf.find_slices(path)
    assert [one.name for one in found] == [one.name for one in expected] != []
    assert found[0].pvalue_adjusted == pytest.approx(expected[0].pvalue_adjusted)
    assert found.search.groups_of_two == expected.search.groups_of_two
    assert found.search.notes == expected.search.notes


def test_results_are_written_by_suffix(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    paths = [tmp_path / f"slices.{suffix}" for suffix in ("json", "md", "png", "svg")]
    options = [option for path in paths for option in ("-o", str(path))]
    assert run(["slices", str(file), "--columns", "region, age", "--min-rows", "100", "--json", *options]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed == json.loads(paths[0].read_text())
    assert printed["search"]["columns"] == ["region", "age"]
    assert printed["search"]["min_rows"] == 100
    assert printed["slices"][0]["conditions"][0] == {"column": "region", "value": "east"}
    assert paths[1].read_text().startswith("## ")
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in paths[3].read_text()


def test_an_event_and_rows_that_were_not_attempted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    risk, site = rng.uniform(0.05, 0.6, 6000).round(3), rng.choice(list("abc"), 6000)
    died = rng.random(6000) < risk * np.where(site == "b", 0.4, 1)
    path = tmp_path / "risks.csv"
    words = np.where(died, "yes", "no")
    pl.DataFrame({"outcome": words, "risk": risk, "site": site, "attempted": rng.random(6000) < 0.8}).write_csv(path)
    roles = ["--truth", "outcome", "--probabilities", "risk", "--positive", "yes", "--of", "event"]
    assert run(["slices", str(path), *roles, "--attempted", "attempted"]) == 0
    told = capfd.readouterr().out
    assert "1 SLICE OVERPREDICTS" in told
    assert "site = b" in told
    assert "more not attempted" in told


def test_text_of_numbers_with_gaps_in_words_is_read_as_numbers(frame: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    frame.with_columns(pl.col("height").cast(pl.String).fill_null("NA")).write_csv(path)
    assert sf.find_slices(path).search.notes["height"] == "numbers in 10 bins of equal rows"


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--level", "0.95"], 2, "for 95% confidence type --level 0.05"),
        (["--min-rows", "1"], 2, "--min-rows is 1; it should be a whole number, at least 2"),
        (["--of", "classes"], 2, "--of classes has no slices"),
        (["--columns", "nowhere"], 3, "there is no column 'nowhere' to search; the columns are 'correct'"),
        (["--columns", "correct"], 3, "made by the outcome"),
        (["--columns", "visit"], 3, "there is no column to search (visit: 4,000 values, none of them in 50 rows)"),
        (["--by", "region"], 2, "no option --by"),
        (["-o", "slices.html"], 2, "the kind of file is known by its suffix"),
    ],
)
def test_wrong_usage_is_told_in_a_line(
    file: Path, options: list[str], status: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["slices", str(file), *options]) == status
    told = capfd.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_a_tally_and_a_file_without_other_columns_are_refused(
    frame: pl.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    saved, bare = tmp_path / "all.tally", tmp_path / "bare.csv"
    sf.tally(sf.Predictions.from_frame(frame)).save(saved)
    frame.select("correct", "confidence").write_csv(bare)
    assert run(["slices", str(saved)]) == 3
    assert "a saved tally holds no rows" in capfd.readouterr().err
    assert run(["slices", str(bare)]) == 3
    assert "no columns but those of the predictions" in capfd.readouterr().err


@pytest.mark.parametrize("columns", [60, 80, 88, 120])
def test_expected_errors_stand_beside_the_observed_ones_however_narrow_the_terminal(columns: int) -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.6, 0.98, 20_000)
    frame = pl.DataFrame({"scanner": rng.choice([f"a scanner of kind {kind}" for kind in "ABCD"], 20_000)})
    is_off = np.array([value.endswith("C") for value in frame["scanner"]])
    correct = rng.random(20_000) < confidence - 0.15 * is_off
    (one,) = found = sf.find_slices(sf.Predictions.from_correct(correct, confidence), frame)
    text = render(found, Terminal(symbols=True, width=columns))
    assert f"{one.observed_errors:,.0f}/{one.expected_errors:,.0f}" in text
    assert "obs/exp: observed and expected errors." in " ".join(text.split())


def test_help_offers_no_file_that_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["slices", "-h"]) == 0
    assert "tally" not in capfd.readouterr().out
