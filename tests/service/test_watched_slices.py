"""Slices have monitors of their own, and which of them are flagged can be relied on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.service import following
from surefoot.service import store as storing
from surefoot.service.batches import Label, Prediction
from surefoot.service.database import connect
from surefoot.service.following import Follower
from surefoot.service.refused import Refused
from surefoot.service.store import Store
from surefoot.service.totals import total
from tests.service.serving import sample


@pytest.fixture
def store(tmp_path: Path):
    made = Store(connect(str(tmp_path / "store.db")))
    yield made
    made.database.close()


def predictions(confidence, names, start=0):
    rows = zip(confidence, names, strict=True)
    return [Prediction(str(start + i), float(c), 1 - float(c), slice=name) for i, (c, name) in enumerate(rows)]


def labels(correct, order=None):
    order = range(len(correct)) if order is None else order
    return [Label(str(i), bool(correct[i])) for i in order]


def follower_of(store, window=100_000):
    return Follower(store, store.find("m", "1"), label_window=window)


def test_each_slice_counts_as_a_monitor_of_its_rows_does(store) -> None:
    confidence, correct = sample(900, honest=0.9)
    names = np.array(["a", "b", "c"])[np.random.default_rng(1).integers(0, 3, 900)]
    for start in range(0, 900, 300):
        some = slice(start, start + 300)
        store.add("m", "1", [predictions(confidence[some], names[some].tolist(), start)])
    store.add("m", "1", [labels(correct, np.random.default_rng(2).permutation(900).tolist())])
    with follower_of(store).looking() as follower:
        parts = follower.parts.look()
        assert {part.name for part in parts} == {"a", "b", "c"}
        for part in parts:
            alone = sf.Monitor()
            alone.update(correct[names == part.name], confidence[names == part.name])
            assert (part.monitor.rows, part.monitor.errors) == (alone.rows, alone.errors)
            assert part.monitor.log_e == pytest.approx(alone.log_e, rel=1e-9)


def test_a_bad_slice_is_found_and_stays_flagged_after_a_restart(store) -> None:
    confidence, correct = sample(3_000)
    names = [f"part {i % 5}" for i in range(3_000)]
    off, on = sample(600, seed=9, honest=0.75), sample(600, seed=10)
    store.add("m", "1", [predictions(confidence, names)])
    store.add("m", "1", [labels(correct)])
    store.add("m", "1", [predictions(off[0], ["off"] * 600, 3_000)])
    store.add("m", "1", [[Label(str(3_000 + i), bool(right)) for i, right in enumerate(off[1])]])
    follower = follower_of(store)
    with follower.looking():
        assert [part.name for part in follower.parts.look() if part.is_flagged] == ["off"]
    follower.save()
    # later it is as it should be, and its evidence falls; the flag speaks of what was
    store.add("m", "1", [predictions(on[0], ["off"] * 600, 4_000)])
    store.add("m", "1", [[Label(str(4_000 + i), bool(right)) for i, right in enumerate(on[1])]])
    with follower_of(store).looking() as later:
        (part,) = (part for part in later.parts.look() if part.name == "off")
        assert part.monitor.rows == 1_200
        assert part.is_flagged


def test_groups_stay_whole_where_pieces_end(store, monkeypatch) -> None:
    """Rows of one group are averaged before they multiply, however much is followed at once."""
    monkeypatch.setattr(following, "PIECE", 50)
    confidence, correct = sample(600, honest=0.8)
    groups = np.random.default_rng(1).integers(0, 9, 600)
    rows = [
        Prediction(str(i), float(c), 1 - float(c), group=str(g), slice="s")
        for i, (c, g) in enumerate(zip(confidence, groups, strict=True))
    ]
    for start in range(0, 600, 120):
        store.add("m", "1", [rows[start : start + 120]])
    store.add("m", "1", [labels(correct)])
    whole = sf.Monitor()
    for start in range(0, 600, 120):
        some = slice(start, start + 120)
        whole.expect(list(range(start, start + 120)), confidence[some], groups=groups[some])
    whole.update(correct, ids=list(range(600)))
    with follower_of(store).looking() as follower:
        assert follower.monitor.log_e == pytest.approx(whole.log_e, rel=1e-9)
        assert follower.parts.look()[0].monitor.log_e == pytest.approx(whole.log_e, rel=1e-9)


def test_another_server_that_is_behind_takes_over_what_was_saved(store) -> None:
    """Ids that one server has followed may be dropped; the other goes on from where it was saved."""
    confidence, correct = sample(1_000)
    names = ["a" if i % 2 else "b" for i in range(1_000)]
    behind, ahead = None, None
    store.add("m", "1", [predictions(confidence[:400], names[:400])])
    behind = follower_of(store, window=100)
    behind.follow()
    store.add("m", "1", [predictions(confidence[400:], names[400:], 400)])
    store.add("m", "1", [labels(correct, range(850, 1_000))])
    ahead = follower_of(store, window=100)
    ahead.follow()
    assert total(store.database, store.find("m", "1")) is not None
    ahead.save()
    ahead.forget(before_hour=1 << 30)
    with store.database.reading() as cursor:
        assert cursor.one("SELECT count(*), min(place) FROM prediction") == (100, 900)
    assert behind.follow().rows == ahead.follow().rows == 100
    store.add("m", "1", [predictions(confidence[:50], names[:50], 1_000)])
    assert behind.follow().log_e == ahead.follow().log_e
    with behind.looking(), ahead.looking():
        for one, other in zip(behind.parts.look(), ahead.parts.look(), strict=True):
            # slices await no labels that the stream no longer awaits
            assert one.monitor.pending == other.monitor.pending <= 75
            assert one.monitor.log_e == other.monitor.log_e


def test_slices_have_a_limit_and_a_request_beyond_it_stores_nothing(store) -> None:
    store.add("m", "1", [predictions([0.9] * 100, [f"s{i}" for i in range(100)])])
    before = store.find("m", "1").counts
    (refused,) = store.add("m", "1", [predictions([0.9, 0.8], ["s1", "one more"], 1_000)])
    assert isinstance(refused, Refused)
    assert "'one more' would be one more than the 100" in refused.message
    assert store.find("m", "1").counts == before
    with store.database.reading() as cursor:
        assert cursor.one("SELECT count(*), max(number), sum(places) FROM part") == (100, 100, 100)


@pytest.mark.heavy
def test_calibrated_streams_with_random_delays_seldom_alarm(tmp_path, monkeypatch) -> None:
    """Streams of three slices; mistakes are reported sooner, some labels never; four looks at each."""
    streams, rows, level = 1_000, 90, 0.05
    monkeypatch.setattr(storing, "MOST_STREAMS", streams + 1)
    store = Store(connect(str(tmp_path / "store.db")))
    rng = np.random.default_rng(8)
    alarms = slices = 0
    for stream in range(streams):
        confidence = rng.uniform(0.55, 0.995, rows)
        correct = rng.random(rows) < confidence
        due = rng.exponential(np.where(correct, 3.0, 1.0)) + np.arange(rows) // 45
        parts = [("a", "b", "c")[i] for i in rng.integers(0, 3, rows)]
        name, follower = f"m{stream}", None
        alarm = flagged = False
        for look in range(4):
            jobs = []
            if look < 2:
                some = slice(45 * look, 45 * look + 45)
                jobs.append(predictions(confidence[some], parts[some], 45 * look))
            jobs.append(labels(correct, np.flatnonzero((due > look) & (due <= look + 1)).tolist()))
            store.add(name, "1", jobs)
            follower = follower or Follower(store, store.find(name, "1"), label_window=100_000)
            with follower.looking():
                alarm |= follower.monitor.alarm
                flagged |= any(part.is_flagged for part in follower.parts.look())
        alarms, slices = alarms + alarm, slices + flagged
    most = streams * (level + 3 * math.sqrt(level * (1 - level) / streams))
    assert alarms <= most
    assert slices <= most


def test_drift_is_found_no_later_than_by_the_monitor_alone(store) -> None:
    """The same rows, and the same labels in the same order, in batches as they came."""
    confidence, correct = sample(2_000)
    late, wrong = sample(2_000, seed=1, honest=0.7)
    confidence, correct = np.concatenate([confidence, late]), np.concatenate([correct, wrong])
    rng = np.random.default_rng(3)
    due = np.arange(4_000) + rng.exponential(300, 4_000)
    alone = sf.Monitor()
    follower = None
    found: list[int | None] = [None, None]
    for batch in range(60):
        start = 100 * batch
        some = range(start, min(start + 100, 4_000))
        known = np.flatnonzero((due >= start) & (due < start + 100))
        known = known[np.argsort(due[known])]
        if len(some):
            rows = confidence[some.start : some.stop]
            store.add("m", "1", [predictions(rows, [None] * len(rows), start)])
            alone.expect(list(some), rows, groups=np.array(some))
        store.add("m", "1", [labels(correct, known.tolist())])
        if len(known):
            alone.update(correct[known], ids=known.tolist())
        follower = follower or follower_of(store)
        for i, drifted in enumerate((bool(follower.follow().drift_rows), bool(alone.drift_rows))):
            found[i] = batch if drifted and found[i] is None else found[i]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] <= found[1]


@pytest.mark.parametrize("window", [20, 150])
def test_labels_come_in_time_or_too_late_however_often_one_looks(store, window: int) -> None:
    """A restart looks at all events at once; labels that were too late when they came are so for it as well."""
    rng = np.random.default_rng(5)
    confidence, correct = sample(1200, honest=0.8)
    names = np.array(["a", "b"])[rng.integers(0, 2, 1200)].tolist()
    often = None
    unlabelled: list[int] = []
    for start in range(0, 1200, 40):
        store.add("m", "1", [predictions(confidence[start : start + 40], names[start : start + 40], start)])
        unlabelled += range(start, start + 40)
        some = rng.choice(unlabelled, 25, replace=False).tolist()
        unlabelled = [one for one in unlabelled if one not in set(some)]
        store.add("m", "1", [labels(correct, some)])
        often = often or follower_of(store, window)
        often.follow()
    with follower_of(store, window).looking() as once, often.looking() as often_looked:
        monitors = [(one.monitor, *(part.monitor for part in one.parts.look())) for one in (once, often_looked)]
        for one, other in zip(*monitors, strict=True):
            for name in ("rows", "errors", "pending", "unlabelled", "repeated", "issued", "alarm"):
                assert getattr(one, name) == getattr(other, name), name
            assert one.log_e == pytest.approx(other.log_e, rel=1e-12)
        whole = monitors[0][0]
        # some were in time, and some were not; a label is awaited for so many further predictions
        assert whole.repeated > 100
        assert whole.rows > 50
        assert whole.pending <= window
