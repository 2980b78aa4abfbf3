"""The README's code runs from top to bottom, and prints what the README shows."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefoot as sf

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(README.read_text())


def write_files(folder: Path) -> dict[str, Any]:
    """The data that the recipes speak of."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 600)
    outcome = rng.random(600) < p
    frame = pd.DataFrame({"label": outcome.astype(int), "p": p, "region": rng.choice(["north", "south"], 600)})
    frame.rename(columns={"label": "truth", "p": "probability"}).to_csv(folder / "predictions.csv", index=False)
    visits = pd.DataFrame({"patient": np.arange(600) // 3, "risk": p, "outcome": np.where(outcome, "died", "lived")})
    visits.to_csv(folder / "visits.csv", index=False)
    visits.drop(columns="outcome").to_csv(folder / "new.csv", index=False)
    answers = [
        {
            "question": f"q{i // 2}",
            "correct": bool(rng.random() < 0.7),
            "confidence": float(rng.choice([0.8, 0.9, 0.99])),
        }
        for i in range(200)
    ]
    (folder / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return {"frame": frame}


def run_blocks(folder: Path, *, with_torch: bool = False) -> list[tuple[str, str]]:
    """Run the Python blocks in one namespace; give what each prints, with what is shown below it."""
    namespace = write_files(folder)
    if with_torch:
        import torch

        namespace["net"] = torch.nn.Linear(4, 3)
        namespace["loader"] = [(torch.randn(16, 4), torch.randint(0, 3, (16,))) for _ in range(3)]
    printed = []
    for i, (language, code) in enumerate(BLOCKS):
        if language != "python" or ("torchmetrics" in code and not with_torch):
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, namespace)
        if i + 1 < len(BLOCKS) and BLOCKS[i + 1][0] == "text":
            printed.append((out.getvalue(), BLOCKS[i + 1][1]))
    return printed


def test_every_block_runs_and_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    printed = run_blocks(tmp_path)
    if os.environ.get("SUREFOOT_REWRITE"):
        text = README.read_text()
        for out, shown in printed:
            text = text.replace(f"```text\n{shown}```", f"```text\n{out}```", 1)
        README.write_text(text)
        pytest.skip("rewritten")
    assert len(printed) == 2
    for out, shown in printed:
        assert out == shown
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.heavy
def test_the_training_loop_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchmetrics")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_blocks(tmp_path, with_torch=True)


def test_every_command_runs(tmp_path: Path) -> None:
    write_files(tmp_path)
    commands = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]
    ours = [shlex.split(line, comments=True) for line in commands if line.startswith("surefoot ")]
    assert len(ours) == 10
    source = str(Path(sf.__file__).parent.parent)
    for words in ours:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        # the model of these files is calibrated, so that no gate closes
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    for name in ("report.html", "fix.json", "policy.json", "corrected.csv", "gate.xml", "summary.md", "release.tally"):
        assert (tmp_path / name).stat().st_size, name


def test_the_error_shown_is_the_error_raised() -> None:
    shown = BLOCKS[-1][1]
    with pytest.raises(sf.InvalidPredictions) as raised:
        sf.Predictions.from_correct([True] * 3, [0.5, 0.5, 97.5])
    assert str(raised.value) == shown.strip()


def test_every_link_of_the_repository_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", README.read_text())
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
