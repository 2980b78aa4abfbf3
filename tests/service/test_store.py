"""Rows are kept once, whatever comes twice, in which order, or from how many sides."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.service import totals
from surefoot.service.batches import Label, Prediction
from surefoot.service.database import connect
from surefoot.service.following import Follower
from surefoot.service.refused import Refused
from surefoot.service.store import Receipt, Store
from tests.postgres_server import running
from tests.service.serving import sample

#: An hour before which every row has come.
NEXT_YEAR = 1 << 30


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    pytest.importorskip("psycopg")
    with running() as server:
        yield server.address


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.heavy)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgres":
        database = connect(request.getfixturevalue("postgres"))
        with database.writing() as cursor:
            for table in ("prediction", "tally", "part", "notice", "reference", "stream"):
                cursor.run(f"DELETE FROM {table}")
    else:
        database = connect(str(tmp_path / "store.db"))
    made = Store(database)
    yield made
    made.database.close()


def predictions(confidence, start=0, **more):
    return [Prediction(str(start + i), float(c), 1 - float(c), **more) for i, c in enumerate(confidence)]


def labels(correct, start=0):
    return [Label(str(start + i), bool(right)) for i, right in enumerate(correct)]


def add(store, *jobs):
    return store.add("m", "1", jobs)


def monitor_of(store, window=100_000):
    return Follower(store, store.find("m", "1"), label_window=window).follow()


def test_rows_are_counted_as_the_batch_counts_them(store) -> None:
    confidence, correct = sample(3_000)
    for start in range(0, 3_000, 250):
        add(store, predictions(confidence[start : start + 250], start))
    for start in range(0, 3_000, 200):
        add(store, labels(correct[start : start + 200], start))
    found, batch = monitor_of(store), sf.Monitor()
    batch.update(correct, confidence)
    assert (found.rows, found.errors, found.pending) == (3_000, int((~correct).sum()), 0)
    assert found.stated == pytest.approx(batch.stated, rel=1e-12)
    assert found.log_e == pytest.approx(batch.log_e, rel=1e-9)
    assert found.drift_rows == batch.drift_rows
    total = totals.total(store.database, store.find("m", "1"))
    assert total is not None
    whole = sf.tally(sf.Predictions.from_correct(correct, confidence))
    for name in ("csr", "accuracy", "cw_accuracy", "ece", "brier"):
        assert sf.metrics.ALL[name].of(total) == pytest.approx(sf.metrics.ALL[name].of(whole), rel=1e-12)


def test_what_comes_again_changes_nothing(store) -> None:
    confidence, correct = sample(400)
    jobs = [predictions(confidence), labels(correct)]
    assert add(store, *jobs) == [Receipt(400, 0), Receipt(400, 0)]
    before, once = store.find("m", "1").counts, monitor_of(store)
    assert add(store, *jobs, *jobs) == [Receipt(0, 400)] * 4
    after, again = store.find("m", "1").counts, monitor_of(store)
    assert (after.places, after.events, after.labelled) == (before.places, before.events, before.labelled)
    assert after.repeated == 1_600
    assert (again.rows, again.log_e) == (once.rows, once.log_e)


def test_a_label_that_was_known_before_is_counted_and_never_bet_on(store) -> None:
    add(store, labels([True, False]))
    assert store.find("m", "1").counts.early == 2
    add(store, predictions([0.9, 0.8]), [Prediction("backfill", 0.7, 0.3, correct=False)])
    counts = store.find("m", "1").counts
    assert (counts.places, counts.tally_only, counts.labelled, counts.early) == (0, 3, 3, 0)
    assert monitor_of(store).issued == 0
    total = totals.total(store.database, store.find("m", "1"))
    assert total is not None
    assert sf.assess(total)["accuracy"] == pytest.approx(1 / 3)


def test_classes_are_compared_when_both_are_there(store) -> None:
    add(store, [Label("early", label="cat")])
    add(
        store, [Prediction("early", 0.9, 0.1, "cat"), Prediction("late", 0.8, 0.2, "dog")], [Label("late", label="cat")]
    )
    total = totals.total(store.database, store.find("m", "1"))
    assert total is not None
    assert sf.assess(total)["accuracy"] == 0.5
    (refused,) = add(store, [Prediction("bare", 0.8, 0.2)]) and add(store, [Label("bare", label="cat")])
    assert isinstance(refused, Refused)
    assert "without a class" in refused.message


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (Prediction("a", 0.9, 0.1), Prediction("a", 0.8, 0.2), "with confidence 0.9 before, and now with 0.8"),
        (Label("a", correct=True), Label("a", correct=False), "labelled correct before, and now wrong"),
        (Label("a", label="cat"), Label("a", label="dog"), "labelled 'cat' before, and now 'dog'"),
        (Label("a", correct=True), Prediction("a", 0.8, 0.2, correct=False), "labelled correct before, and now wrong"),
        (Prediction("a", 0.9, 0.1, "cat"), Prediction("a", 0.9, 0.1, "dog"), "with class 'cat' before, and now with"),
        (Prediction("a", 0.9, 0.1, slice="x"), Prediction("a", 0.9, 0.1, slice="y"), "with slice 'x' before"),
        (Prediction("a", 0.9, 0.1), Prediction("a", 0.9, 0.1, slice="x"), "without a slice before, and now with 'x'"),
    ],
)
def test_contradictions_are_refused_with_the_whole_request(store, first, second, said) -> None:
    add(store, [first])
    before = store.find("m", "1").counts
    refused, fine = add(store, [Prediction("new", 0.7, 0.3), second], [Prediction("other", 0.6, 0.4)])
    assert isinstance(refused, Refused)
    assert refused.status == 409
    assert said in refused.message
    assert fine == Receipt(1, 0)
    assert store.find("m", "1").counts.places == before.places + 1


def test_a_follower_goes_on_where_another_stopped(store) -> None:
    confidence, correct = sample(2_000, honest=0.9)
    add(store, predictions(confidence))
    add(store, labels(correct[:700]))
    first = Follower(store, store.find("m", "1"), label_window=100_000)
    first.follow()
    first.save()
    add(store, labels(correct[700:], 700))
    second = monitor_of(store)
    whole = sf.Monitor()
    whole.update(correct, confidence)
    assert (second.rows, second.errors) == (2_000, whole.errors)
    assert second.log_e == pytest.approx(whole.log_e, rel=1e-9)
    assert second.alarm == whole.alarm is True


def test_tallies_of_hours_become_days_and_totals_stay(store) -> None:
    confidence, correct = sample(600)
    add(store, predictions(confidence, slice="north"), labels(correct))
    stream = store.find("m", "1")
    before = totals.total(store.database, stream)
    assert before is not None
    ((_, hour, hours, rows, *_),) = totals.by_hour(store.database, stream)
    assert (hours, rows) == (1, 600)
    totals.merge_hours(store.database, stream, hour + 24 * 30)
    ((part, day, hours, rows, expected, observed),) = totals.by_hour(store.database, stream)
    assert (part, day, hours, rows, observed) == ("north", hour // 24 * 24, 24, 600, int((~correct).sum()))
    assert expected == pytest.approx((1 - confidence).sum(), rel=1e-12)
    after = totals.total(store.database, stream)
    assert after is not None
    assert sf.metrics.ALL["csr"].of(after) == sf.metrics.ALL["csr"].of(before)
    # a part of a day would be answered with the whole of it
    for window in ({"since": day + 1, "until": None}, {"since": None, "until": day + 23}):
        with pytest.raises(Refused, match="have become one day"):
            totals.total(store.database, stream, **window)
    assert totals.total(store.database, stream, since=day, until=day + 24) is not None
    assert totals.total(store.database, stream, since=day + 24) is None


def test_totals_wait_for_no_stretch_without_labels(store, monkeypatch) -> None:
    monkeypatch.setattr(totals, "PIECE", 100)
    confidence, correct = sample(1_000)
    add(store, predictions(confidence))
    add(store, labels(correct))
    total = totals.total(store.database, store.find("m", "1"))
    assert total is not None
    assert sf.metrics.ALL["accuracy"].of(total) == correct.mean()
    assert sum(rows for _, _, _, rows, _, _ in totals.by_hour(store.database, store.find("m", "1"))) == 1_000


def test_ids_are_dropped_after_the_window_and_counts_stay(store) -> None:
    confidence, correct = sample(1_000)
    add(store, predictions(confidence), labels(correct[:900]))
    stream = store.find("m", "1")
    follower = Follower(store, stream, label_window=200)
    follower.follow()
    before = totals.total(store.database, stream)
    assert before is not None
    follower.save()
    totals.forget(store.database, stream, 200, NEXT_YEAR)
    with store.database.reading() as cursor:
        assert cursor.one("SELECT count(*), min(place) FROM prediction") == (200, 800)
    after = totals.total(store.database, stream)
    assert after is not None
    assert sf.metrics.ALL["csr"].of(after) == sf.metrics.ALL["csr"].of(before)
    assert Follower(store, stream, label_window=200).follow().rows == follower.monitor.rows


def test_ids_of_the_last_hours_are_kept_however_many_predictions_came(store) -> None:
    add(store, predictions(sample(1_000)[0]))
    stream = store.find("m", "1")
    follower = Follower(store, stream, label_window=200)
    follower.follow()
    assert totals.fold(store.database, stream)
    follower.save()
    follower.forget(before_hour=int(time.time()) // 3600 - 1)
    with store.database.reading() as cursor:
        assert cursor.one("SELECT count(*) FROM prediction") == (1_000,)
    add(store, labels([True] * 10))
    assert store.find("m", "1").counts.labelled == 10


def test_labels_whose_prediction_is_gone_are_counted_when_they_are_dropped(store) -> None:
    add(store, predictions(sample(1_000)[0]))
    stream = store.find("m", "1")
    follower = Follower(store, stream, label_window=50)
    follower.follow()
    totals.fold_all(store.database, stream)
    follower.save()
    follower.forget(NEXT_YEAR)
    add(store, labels([True] * 10))
    add(store, predictions(sample(500)[0], 5_000))
    assert (store.find("m", "1").counts.early, store.find("m", "1").counts.lost) == (10, 0)
    follower.follow()
    totals.fold_all(store.database, stream)
    follower.save()
    follower.forget(NEXT_YEAR)
    counts = store.find("m", "1").counts
    assert (counts.early, counts.lost, counts.labelled) == (0, 10, 0)


def test_a_class_that_is_sent_later_is_kept(store) -> None:
    add(store, predictions([0.9]), predictions([0.9], predicted="cat"))
    assert add(store, [Label("0", label="cat")]) == [Receipt(1, 0)]
    assert add(store, predictions([0.9], predicted="dog"))[0].status == 409


def test_a_model_of_which_all_rows_were_refused_has_not_begun(store) -> None:
    (refused,) = add(store, [Prediction(str(i), 0.9, 0.1, slice=f"s{i}") for i in range(101)])
    assert isinstance(refused, Refused)
    assert store.streams() == []
    # of two requests in one transaction one may count
    refused, counted = add(
        store, [Prediction("a", 0.9, 0.1, "cat"), Prediction("a", 0.9, 0.1, "dog")], [Prediction("b", 0.9, 0.1)]
    )
    assert isinstance(refused, Refused)
    assert counted == Receipt(1, 0)
    # one that has begun stays, whatever is refused later
    add(store, [Prediction("b", 0.8, 0.2)])
    assert [(one.model, one.counts.places) for one in store.streams()] == [("m", 1)]


def test_one_model_takes_the_room_of_no_other(store) -> None:
    for i in range(100):
        store.add("m", str(i), [[Prediction("a", 0.9, 0.1)]])
    with pytest.raises(Refused, match="model m has 100 versions already") as refused:
        store.add("m", "one more", [[Prediction("a", 0.9, 0.1)]])
    assert refused.value.status == 403
    assert store.add("m", "99", [[Prediction("b", 0.9, 0.1)]]) == [Receipt(1, 0)]
    assert store.add("other", "1", [[Prediction("a", 0.9, 0.1)]]) == [Receipt(1, 0)]


def test_many_threads_lose_nothing(store) -> None:
    confidence, correct = sample(4_000)

    def send(start: int) -> None:
        add(store, predictions(confidence[start : start + 50], start))
        add(store, labels(correct[start : start + 50], start))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(0, 4_000, 50)))
    counts, monitor = store.find("m", "1").counts, monitor_of(store)
    assert (counts.places, counts.labelled, monitor.rows) == (4_000, 4_000, 4_000)
    assert monitor.errors == int((~correct).sum())


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    database = connect(path)
    with database.writing() as cursor:
        cursor.run("UPDATE facts SET value = '99' WHERE name = 'schema'")
    database.close()
    with pytest.raises(ValueError, match="newer surefoot"):
        connect(path)


def test_late_labels_never_make_a_calibrated_stream_look_off(store) -> None:
    """Mistakes are reported at once, confirmations late: the order of arrival must not be the order of the bets."""
    rng = np.random.default_rng(5)
    confidence = rng.uniform(0.8, 0.99, 3_000)
    correct = rng.random(3_000) < confidence
    add(store, predictions(confidence))
    wrong = [Label(str(i), correct=False) for i in np.flatnonzero(~correct)]
    add(store, wrong)
    assert not monitor_of(store).alarm
    add(store, [Label(str(i), correct=True) for i in np.flatnonzero(correct)])
    assert monitor_of(store).rows == 3_000
    assert json.dumps(monitor_of(store).log_e)


def test_ids_of_rows_that_came_labelled_are_dropped_behind_one_that_did_not(store) -> None:
    confidence, _ = sample(1_000)
    add(store, predictions(confidence[:1]), predictions(confidence[1:], 1, correct=True))
    stream = store.find("m", "1")
    follower = Follower(store, stream, label_window=50)
    follower.follow()
    totals.total(store.database, stream)
    follower.save()
    totals.forget(store.database, stream, 50, NEXT_YEAR)
    with store.database.reading() as cursor:
        # the one that awaits its label, and two windows
        assert cursor.one("SELECT count(*), min(event) FROM prediction") == (101, 1)


class CountedReads:
    """A PostgreSQL database that counts the rows of predictions that statements look at."""

    def __init__(self, database: Any) -> None:
        self._database, self.url, self.rows = database, database.url, 0

    def writing(self) -> Any:
        return self._counted(self._database.writing)

    def reading(self) -> Any:
        return self._counted(self._database.reading)

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _counted(self, begin: Callable[[], Any]) -> Iterator[Any]:
        statement = (
            "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables "
            "WHERE relname = 'prediction'"
        )
        with begin() as cursor:
            self.rows -= cursor.one(statement)[0]
            yield cursor
            self.rows += cursor.one(statement)[0]

    def taken(self) -> int:
        rows, self.rows = self.rows, 0
        return int(rows)


@pytest.mark.heavy
@pytest.mark.parametrize("planner_knows", ["nothing", "another stream"])
def test_what_a_request_costs_does_not_grow_with_the_rows_of_its_stream(postgres, planner_knows) -> None:
    """A planner without statistics of a stream took each id for rare, and read the whole stream for every request."""
    database = CountedReads(connect(postgres))
    store = Store(database)
    with database.writing() as cursor:
        for table in ("prediction", "tally", "part", "stream"):
            cursor.run(f"DELETE FROM {table}")
    if planner_knows == "another stream":
        for start in range(0, 3_000, 1_000):
            store.add("another", "1", [predictions([0.9] * 1_000, start)])
        with database.writing() as cursor:
            cursor.run("ANALYZE prediction")
    follower = None
    for start in range(0, 5_000, 100):
        database.taken()
        add(store, predictions([0.9] * 100, start))
        assert database.taken() <= 100, start
        add(store, labels([True] * 100, start))
        assert database.taken() <= 200, start
        follower = follower or Follower(store, store.find("m", "1"), label_window=100_000)
        follower.follow()
        totals.fold_all(database, follower.stream)
        assert database.taken() <= 400, start
    assert monitor_of(store).rows == 5_000
    database.close()
