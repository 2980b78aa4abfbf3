"""What measures the service runs, on few rows; the figures of many are in `benchmarks/SERVICE.md`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from benchmarks import service, service_streams


def test_awaited_labels_stay_within_the_window(monkeypatch) -> None:
    looks = []
    monkeypatch.setattr(service_streams, "table", lambda columns, rows: looks.extend(rows) or "")
    text = service_streams.pending(100_000, window=30_000)
    # rows sent, awaited, no longer awaited
    assert [line[1] for line in looks] == ["20,000", "30,000", "30,000", "30,000", "30,000"]
    assert looks[-1][:3] == ["100,000", "30,000", "70,000"]
    assert "bytes a label that is awaited" in text


@pytest.mark.heavy
def test_load_and_kills_are_measured_and_find_no_difference(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(service, "PAGE", tmp_path / "SERVICE.md")
    asked = SimpleNamespace(rate=500, seconds=3, models=[2], kills=2, streams=20)
    for job, text in (
        ("load", service.load(asked)),
        ("kills", service.kills(asked)),
        ("alarms", service.alarms(asked)),
    ):
        service.write(job, text)
    page = service.PAGE.read_text()
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## Load: SQLite", "## Kills: SQLite", "## False alarms and the delay of drift",
    ]  # fmt: skip
    assert "| equal | 0 |" in page
