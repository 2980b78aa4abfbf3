"""Which files a folder or a pattern stands for: each once, and none is left out unsaid."""

from __future__ import annotations

import bz2
import errno
import os
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files.paths import paths_of

ROWS = "correct,confidence\n1,0.9\n0,0.6\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "x.csv").write_text(ROWS)
    (folder / "y.csv").write_text(ROWS)
    return folder


def test_a_folder_that_is_linked_is_read(runs: Path, tmp_path: Path) -> None:
    """As by a pattern, and by the tools of a shell."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.csv").write_text(ROWS)
    (runs / "b").symlink_to(tmp_path / "other")
    assert len(sf.load(runs)) == 6
    assert len(sf.load(f"{runs}/**/*.csv")) == 6


def test_a_file_with_two_names_is_read_once(runs: Path) -> None:
    (runs / "latest.csv").symlink_to("y.csv")
    (runs / "0").symlink_to("a")
    assert [str(path.relative_to(runs)) for path in paths_of(str(runs))] == ["a/x.csv", "y.csv"]
    assert len(sf.load(runs)) == 4
    assert len(sf.load(f"{runs}/*.csv")) == 2


def test_links_that_lead_round_in_a_circle_end(runs: Path) -> None:
    (runs / "a" / "up").symlink_to(runs)
    (runs / "self").symlink_to(".")
    assert len(sf.load(runs)) == 4


@pytest.mark.parametrize("pattern", ["", "/*.csv"])
def test_a_link_that_leads_nowhere_is_named(pattern: str, runs: Path) -> None:
    (runs / "moved.csv").symlink_to("elsewhere.csv")
    (runs / "notes.txt").symlink_to("elsewhere.txt")
    with pytest.raises(sf.InvalidPredictions, match=r"moved\.csv: a link that leads to no file"):
        sf.load(f"{runs}{pattern}")


def test_a_folder_that_may_not_be_read_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (runs / "mine").mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if path == str(runs / "mine"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(sf.InvalidPredictions, match=r"mine: cannot be opened \(Permission denied\)"):
        sf.load(runs)


def test_a_file_that_is_packed_otherwise_is_named(runs: Path) -> None:
    (runs / "z.csv.bz2").write_bytes(bz2.compress(ROWS.encode()))
    with pytest.raises(sf.InvalidPredictions, match=r"z\.csv\.bz2: packed in a way that is not read \(\.bz2\)"):
        sf.load(runs)
    assert len(sf.load(f"{runs}/*.csv")) == 2


def test_what_is_no_data_is_left_out(runs: Path) -> None:
    for name in ("README.md", "_SUCCESS", ".hidden.csv", "_old.csv", "y.csv.bak", "figures.zip"):
        (runs / name).write_text("no rows")
    (runs / "_logs").mkdir()
    (runs / "_logs" / "a.csv").write_text(ROWS)
    assert len(sf.load(runs)) == 4


def test_rows_beside_logs_of_the_harness_are_not_lost(tmp_path: Path) -> None:
    """Only the logs were read; the results that the harness puts beside them hold no rows."""
    line = '{"doc_id": 0, "target": 0, "acc": 1.0, "resps": [], "filtered_resps": [[-1.0, true], [-2.0, false]], "doc": {}}\n'  # fmt: skip # noqa: E501
    (tmp_path / "samples_x.jsonl").write_text(line)
    (tmp_path / "results_x.json").write_text("{}")
    assert len(sf.load(tmp_path)) == 1
    (tmp_path / "more.csv").write_text(ROWS)
    with pytest.raises(sf.InvalidPredictions, match=r"files of several kinds \(csv, jsonl\)"):
        sf.load(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*.csv", ["a/x.csv", "y.csv"]),
        ("**", ["a/x.csv", "y.csv"]),
        ("**/a/*.csv", ["a/x.csv"]),
        ("a/**/[xy].csv", ["a/x.csv"]),
        ("*.csv", ["y.csv"]),
    ],
)
def test_a_pattern_ends_where_links_lead_round_in_a_circle(runs: Path, pattern: str, names: list[str]) -> None:
    """Two such links made 2^40 ways, and each was gone."""
    for name in ("one", "two", ".three"):
        (runs / "a" / name).symlink_to(runs / "a")
    assert [str(path.relative_to(runs)) for path in paths_of(f"{runs}/{pattern}")] == names


def test_a_folder_below_a_pattern_that_may_not_be_read_is_refused(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scandir(path: str) -> object:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(sf.InvalidPredictions, match="cannot be opened"):
        paths_of(f"{runs}/**/*.csv")
