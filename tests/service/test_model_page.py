"""What the page of a model tells people to do, and the rows that it takes."""

from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.service import clock, kept
from surefoot.service.batches import Label, Prediction
from surefoot.service.database import connect
from surefoot.service.kept import labelled_rows, suggest
from surefoot.service.pages import stream_page
from surefoot.service.service import Service


@pytest.fixture
def service(tmp_path: Path):
    made = Service(connect(str(tmp_path / "store.db")), label_window=50_000)
    yield made
    made.stop()


def send(service: Service, confidence: np.ndarray, correct: np.ndarray, start: int = 0) -> None:
    for first in range(0, len(confidence), 2_000):
        some = range(first, min(first + 2_000, len(confidence)))
        issued = [Prediction(str(start + i), float(confidence[i]), 1 - float(confidence[i])) for i in some]
        service.store.add("m", "1", [issued, [Label(str(start + i), bool(correct[i])) for i in some]])


def page_of(service: Service) -> str:
    text = stream_page(service, service.find("m", "1"))
    text = re.sub(r"(?s)<style.*?</style>|<script.*?</script>|<svg.*?</svg>|<[^>]+>", " ", text)
    return " ".join(html.unescape(text).split())


def test_while_a_change_lasts_the_page_shows_the_rows_since_and_advises_no_threshold(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20,000 calibrated rows and 1,000 that are not, all together are calibrated; the page said to act on that."""
    rng = np.random.default_rng(0)
    old, new = rng.uniform(0.6, 0.99, 20_000), rng.uniform(0.6, 0.99, 1_000)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 60 * 86_400)
    send(service, old, rng.random(20_000) < old)
    monkeypatch.setattr(time, "time", lambda: now)
    assert "accept predictions without review" in page_of(service).lower()
    correct = rng.random(1_000) < new - 0.12
    send(service, new, correct, start=20_000)
    text = page_of(service)
    assert "Overconfident since about row 20," in text
    hour = time.strftime("%Y-%m-%d %H:00 UTC", time.gmtime(now))
    assert f"Accuracy and confidence since {hour} 1,000 labelled predictions: overconfident." in text
    assert "act on no threshold and no calibrator that was found before" in text
    assert "without review" not in text.lower()
    # what is suggested was fitted to the rows since then
    assert "SafePlatt, cross-fitted on the last 1,000 labelled predictions" in text
    assert f"/v1/models/m/1/rows?since={time.strftime('%Y-%m-%dT%H', time.gmtime(now))} as rows.jsonl" in text
    assert "surefoot calibrate --fit rows.jsonl --truth correct" in text


def test_what_the_calibrator_brings_is_that_of_rows_it_was_not_fitted_to(service: Service, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    confidence = rng.uniform(0.6, 0.99, 2_000)
    correct = rng.random(2_000) < confidence - 0.1
    send(service, confidence, correct)
    rows = labelled_rows(service.database, service.find("m", "1"))
    found = suggest(rows)
    halves = [slice(0, None, 2), slice(1, None, 2)]
    after = np.empty(2_000)
    for own, other in (halves, halves[::-1]):
        fitted = sf.calibrators.SafePlatt().fit(confidence[own], correct[own].astype(int))
        after[other] = fitted.predict_proba(confidence[other])[:, 1]
    losses = [sf.log_loss(correct=correct, confidence=one) for one in (confidence, after)]
    assert found.log_loss == pytest.approx(losses[0], rel=1e-9)
    assert found.log_loss_after == pytest.approx(losses[1], rel=1e-9)
    assert found.low < found.saved == pytest.approx(losses[0] - losses[1], rel=1e-6)
    assert found.high > found.saved
    # the lines are what calibrate reads, and hold what was sent
    (tmp_path / "rows.jsonl").write_text(kept.as_lines(rows))
    read = sf.load(tmp_path / "rows.jsonl", correct="correct", confidence="confidence")
    assert read.confidence.tolist() == confidence.tolist()
    assert read.correct.tolist() == correct.tolist()
    assert suggest(rows[:100]) is None
    assert suggest([(*row[:3], 1, *row[4:]) for row in rows]) is None


def test_rows_are_read_over_the_network(tmp_path: Path) -> None:
    from tests.service.serving import Server

    server = Server(str(tmp_path / "store.db"))
    server.start()
    try:
        path = "/v1/models/m/1"
        body = {"predictions": [{"id": "=a", "confidence": 0.9, "predicted": "x"}, {"id": "b", "confidence": 0.8}]}
        assert server.ask(f"{path}/predictions", body)[0] == 200
        assert server.ask(f"{path}/labels", {"id": "=a", "label": "y"})[0] == 200
        status, answer = server.ask(f"{path}/rows")
        line = answer if isinstance(answer, dict) else json.loads(answer)
        assert status == 200
        assert (line["id"], line["correct"], line["label"]) == ("=a", False, "y")
        assert server.ask(f"{path}/rows?since=2999-01-01")[1] in ("", b"", None)
        assert server.ask(f"{path}/rows?since=yesterday")[0] == 400
        assert server.ask(f"{path}/rows?nonsense=1")[0] == 400
    finally:
        server.stop()


def test_a_clock_that_jumps_is_not_relied_on_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, steady = [1e9], [50.0]
    monkeypatch.setattr(clock.time, "time", lambda: wall[0])
    monkeypatch.setattr(clock.time, "monotonic", lambda: steady[0])
    watched = clock.Clock()

    def later(seconds: float, jump: float = 0.0) -> bool:
        wall[0] += seconds + jump
        steady[0] += seconds
        return watched.is_steady()

    assert later(30)
    assert later(30, jump=1)
    assert not later(30, jump=3 * 86_400)
    # back again is another jump
    assert not later(30, jump=-3 * 86_400)
    assert not later(3_500)
    assert later(100)


def test_ids_are_kept_through_a_jump_of_the_clock_and_dropped_behind_rows_of_the_future(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Service(service.database, label_window=10, keep_ids=24)
    now = time.time()
    confidence = np.full(100, 0.9)
    send(small, confidence, np.ones(100, bool))
    stream = small.find("m", "1")
    with small.looking(stream):
        pass
    small.total(stream, part=None, since=None, until=None)

    def ids() -> int:
        with small.database.reading() as cursor:
            return cursor.one("SELECT count(*) FROM prediction")[0]

    monkeypatch.setattr(time, "time", lambda: now + 3 * 86_400)
    small.tidy(stream)
    assert ids() == 100
    # rows that came while the clock was a year ahead
    monkeypatch.setattr(time, "time", lambda: now + 365 * 86_400)
    send(small, confidence, np.ones(100, bool), start=100)
    monkeypatch.setattr(time, "time", lambda: now + 2 * 86_400)
    send(small, confidence, np.ones(100, bool), start=200)
    with small.looking(stream) as follower:
        small.total(stream, part=None, since=None, until=None)
        hour = int(now + 4 * 86_400) // 3600
        follower.save()
        follower.forget(hour - 24, hour)
    # those of the future stay until then, and the last ones for the window
    assert ids() == 100 + 10
