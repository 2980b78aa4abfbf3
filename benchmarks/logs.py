"""How fast logs of language models are read: beside merely parsing them."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.json

from benchmarks.files import assessed
from benchmarks.rows import Row, best
from surefoot.files.reading import read


def sample(i: int, rng: np.random.Generator) -> dict[str, Any]:
    """A sample as Inspect writes it, with a conversation of some kilobytes."""
    text = "".join(map(chr, rng.integers(97, 123, 1500)))
    answer = f"{text}\nConfidence: {rng.integers(50, 100)}%"
    return {
        "id": i,
        "epoch": 1,
        "input": text,
        "target": "4",
        "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": answer}],
        "output": {
            "model": "m",
            "completion": answer,
            "choices": [{"message": {"role": "assistant", "content": answer}}],
        },
        "scores": {"match": {"value": "CI"[int(rng.integers(2))], "answer": "4", "explanation": answer}},
        "metadata": {},
    }


def write_inspect(path: Path, samples: int) -> None:
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(samples):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample(i, rng)))
        header = {"version": 2, "status": "success", "eval": {"task": "quiz", "model": "m", "config": {"epochs": 1}}}
        archive.writestr("header.json", json.dumps(header))


def parsed(path: Path) -> None:
    """Every sample unpacked and parsed, and nothing else."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            json.loads(archive.read(name))


def write_lines(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(rows).round(4)
    right = rng.random(rows) < confidence
    with path.open("w") as out:
        for i in range(rows):
            grade = "CORRECT" if right[i] else "INCORRECT"
            out.write(f'{{"id": "q{i}", "grade": "{grade}", "confidence": {confidence[i]}, "note": "{"x" * 30}"}}\n')


def logs(samples: int = 10_000, rows: int = 10_000_000) -> list[Row]:
    """10,000 samples of Inspect, and about 1 GB of JSON lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        write_inspect(path, samples)
        ours, theirs = best(lambda: read(str(path), {}), 3), best(lambda: parsed(path), 3)
        found = [
            Row(
                f"Inspect, {samples:,} samples: read",
                ours,
                "unpacking and json.loads",
                theirs,
                "at most 2 s",
                f"{ours:.1f} s",
            )
        ]
        path = Path(folder) / "log.jsonl"
        write_lines(path, rows)
        job = f"JSON lines, {path.stat().st_size / 1e9:.1f} GB: read and assessed"
        ours = best(lambda: assessed(path), 3)
        theirs = best(lambda: pyarrow.json.read_json(path), 3)
    return [*found, Row(job, ours, "pyarrow.json", theirs, "0.5 of that speed", f"{theirs / ours:.2f}")]
