"""``surefoot serve`` in an empty folder: what it prints works as it is printed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")


def test_the_lines_that_it_prints_work_as_printed(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    command = [sys.executable, "-m", "surefoot", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            printed = []
            for line in process.stdout:
                printed.append(line.strip())
                if "/state" in line:
                    break
            lines = [line for line in printed if line.startswith("curl ")]
            # at once: whoever is quicker than the server waits for it
            answers = [json.loads(run(line)) for line in lines]
            (page,) = re.findall(r"http\S+\?token=\S+", "\n".join(printed))
            shown = run(f"curl -L -c cookies '{page}'", tmp_path)
        finally:
            process.terminate()
    assert answers[:2] == [{"counted": 1, "repeated": 0}] * 2
    assert (answers[2]["predictions"], answers[2]["labelled"], answers[2]["monitor"]["rows"]) == (1, 1, 1)
    assert "my-model/1" in shown
    assert (tmp_path / "surefoot.db").exists()


def run(line: str, folder: Path | None = None) -> str:
    done = subprocess.run(
        ["bash", "-c", line.replace("curl", "curl -sS --max-time 60", 1)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
