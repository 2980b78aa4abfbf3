"""Five thousand damaged files a run. The numbers of the CI run are its own, so that each run tries others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.damage import case

#: Seeds of which the first files are tried in every run.
KEPT = (1, 2, 3)


ROOT = Path(__file__).parents[2]


def assert_nothing_escapes(seed: int, files: int, kept: Path) -> None:
    # in a process without threads, whose children can be made by fork
    command = [sys.executable, "-m", "tests.fuzz", "--n", str(files), "--seed", str(seed), "--keep", str(kept)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == f"{files} files of seed {seed} tried, 0 escaped\n", done.stdout + done.stderr


@pytest.mark.heavy
def test_nothing_escapes(tmp_path: Path) -> None:
    assert_nothing_escapes(int(os.environ.get("GITHUB_RUN_NUMBER", "1000")), 5000, tmp_path)


@pytest.mark.parametrize("seed", KEPT)
def test_nothing_escapes_of_seeds_that_are_kept(seed: int, tmp_path: Path) -> None:
    assert_nothing_escapes(seed, 100, tmp_path)


def test_a_case_is_the_same_for_the_same_numbers() -> None:
    assert case(1, 7) == case(1, 7)
    assert case(1, 7) != case(1, 8)
