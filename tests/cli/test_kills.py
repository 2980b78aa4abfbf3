"""`kill -9` at random moments: the old file or the new one, whole, and nothing left after the next run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killing.py")


@pytest.mark.parametrize("command", ["assess-html", "save-tally", "monitor", "calibrate"])
def test_a_kill_leaves_the_old_file_or_the_new_one(
    command: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kills = int(request.config.getoption("--kills"))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), command, str(kills), "1", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["old"] + found["new"] == found["kills"] == kills
