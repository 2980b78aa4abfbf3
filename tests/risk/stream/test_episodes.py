"""When a change began, and how large it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.risk.stream.episodes import Episode, History, Runs, add_detection

ROWS, CHANGE = 12_000, 6000


def stream(shortfall: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose accuracy falls short of confidence from the change on."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.6, 0.98, ROWS)
    accuracy = confidence * np.where(np.arange(ROWS) < CHANGE, 1.0, 1 - shortfall)
    return rng.random(ROWS) < accuracy, confidence


def watched(correct, confidence, *, block: int = ROWS, alternative: str = "overconfident", **options) -> sf.Monitor:
    m = sf.Monitor(alternative=alternative, **options)  # type: ignore[arg-type]
    for start in range(0, len(correct), block):
        m.update(correct[start : start + block], confidence[start : start + block])
    return m


def test_a_lasting_change_is_one_episode_from_its_onset() -> None:
    for seed in range(5):
        correct, confidence = stream(0.15, seed)
        m = watched(correct, confidence)
        episode = m.episodes[-1]
        assert len(m.drift_rows) > 10
        assert abs(episode.onset - CHANGE) < 200
        assert episode.last_alarm == m.drift_rows[-1] > ROWS - 500
        # false alarms may stand before it
        assert sum(one.last_alarm > CHANGE for one in m.episodes) <= 2


def test_errors_are_those_from_the_onset_to_the_last_alarm() -> None:
    for shortfall in (0.0, 0.05, 0.2):
        correct, confidence = stream(shortfall)
        for episode in watched(correct, confidence).episodes:
            part = slice(episode.onset - 1, episode.last_alarm)
            assert episode.rows == episode.last_alarm - episode.onset + 1 == len(correct[part])
            assert episode.observed_errors == (~correct[part]).sum()
            assert episode.expected_errors == pytest.approx((1 - confidence[part]).sum(), rel=1e-9)
            assert episode.overstatement == pytest.approx(confidence[part].mean() - correct[part].mean())


def test_every_alarm_belongs_to_one_episode() -> None:
    correct, confidence = stream(0.1)
    m = watched(correct, confidence, mean_time_between_false_alarms=500)
    assert sum(episode.alarms for episode in m.episodes) == len(m.drift_rows)
    assert [episode.first_alarm for episode in m.episodes] == sorted(episode.first_alarm for episode in m.episodes)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_episodes_do_not_depend_on_how_rows_come(block: int, tmp_path: Path) -> None:
    correct, confidence = (column[CHANGE - 1500 : CHANGE + 1500] for column in stream(0.3))
    whole, parts = watched(correct, confidence), watched(correct, confidence, block=block)
    assert whole.episodes
    for one, other in zip(whole.episodes, parts.episodes, strict=True):
        assert (one.onset, one.first_alarm, one.last_alarm) == (other.onset, other.first_alarm, other.last_alarm)
        assert one.observed_errors == other.observed_errors
        assert one.expected_errors == pytest.approx(other.expected_errors, rel=1e-9)


def test_a_saved_monitor_goes_on_with_its_episodes(tmp_path: Path) -> None:
    correct, confidence = stream(0.2)
    m = sf.Monitor(alternative="both")
    m.update(correct[:7000], confidence[:7000])
    m.save(tmp_path / "s")
    m = sf.Monitor.load(tmp_path / "s")
    m.update(correct[7000:], confidence[7000:])
    whole = watched(correct, confidence, alternative="both")
    assert m.episodes == tuple(
        Episode(**{**vars(one), "expected_errors": pytest.approx(one.expected_errors)}) for one in whole.episodes
    )
    assert [row for row, _, _ in m.history] == [row for row, _, _ in whole.history]


def test_errors_of_an_underconfident_episode() -> None:
    rng = np.random.default_rng(0)
    confidence = np.full(4000, 0.7)
    correct = rng.random(4000) < np.where(np.arange(4000) < 2000, 0.7, 0.9)
    episode = watched(correct, confidence, alternative="both").episodes[-1]
    part = slice(episode.onset - 1, episode.last_alarm)
    assert episode.side == "underconfident"
    assert abs(episode.onset - 2000) < 200
    assert episode.observed_errors == (~correct[part]).sum()
    assert episode.expected_errors == pytest.approx(0.3 * episode.rows)
    assert episode.oe_ratio < 0.5


def test_rows_of_a_group_are_one_unit() -> None:
    correct, confidence = stream(0.3)
    m = sf.Monitor(alternative="overconfident")
    m.update(correct, confidence, groups=np.arange(ROWS) // 4)
    episode = m.episodes[-1]
    part = slice(episode.onset - 1, episode.last_alarm)
    assert (episode.onset - 1) % 4 == episode.last_alarm % 4 == 0
    assert episode.observed_errors == (~correct[part]).sum()
    assert episode.expected_errors == pytest.approx((1 - confidence[part]).sum())


def test_labels_that_come_later_are_in_the_episode() -> None:
    correct, confidence = (column[CHANGE:] for column in stream(0.5))
    ids = np.arange(len(correct))
    m = sf.Monitor(alternative="overconfident")
    m.expect(ids, confidence, groups=ids)
    m.update(correct[1:], ids=ids[1:])  # the first one is awaited
    assert m.drift_rows
    assert m.episodes[-1].last_alarm == m.drift_rows[-1]
    alarms = sum(episode.alarms for episode in m.episodes)
    assert alarms == len(m.drift_rows)
    m.update(correct[:1], ids=ids[:1])
    assert sum(episode.alarms for episode in m.episodes) == len(m.drift_rows)


def test_an_impossible_error_is_an_episode_of_its_own() -> None:
    m = sf.Monitor(alternative="overconfident")
    m.update([True] * 50 + [False], [0.9] * 50 + [1.0])
    (episode,) = m.episodes
    assert (episode.onset, episode.first_alarm, episode.observed_errors) == (51, 51, 1)
    assert episode.oe_ratio == np.inf


def test_an_episode_holds_rows_even_where_no_bet_has_won() -> None:
    """The detector also goes off at last on a stream that is never wrong: its errors are none, and rows are counted."""
    m = sf.Monitor(alternative="overconfident", mean_time_between_false_alarms=5)
    m.update([True] * 40, [0.999] * 40)
    assert m.episodes
    for episode in m.episodes:
        assert episode.observed_errors == 0
        assert episode.expected_errors == pytest.approx(0.001 * episode.rows)


def test_alarms_far_apart_are_two_episodes() -> None:
    runs = Runs.after(0)
    first = add_detection((), 100, "overconfident", runs, 10_000)
    assert add_detection(first, 120, "overconfident", runs, 10_000)[-1].alarms == 2
    assert len(add_detection(first, 9000, "overconfident", runs, 10_000)) == 2
    assert len(add_detection(first, 120, "underconfident", runs, 10_000)) == 2
    assert len(add_detection(first, 120, "overconfident", runs, 10)) == 2


def test_the_history_is_bounded_and_ends_now() -> None:
    correct, confidence = stream(0.2)
    m = watched(correct, confidence, block=777)
    history = m.history
    rows = [row for row, _, _ in history]
    assert history[0] == (0, 0.0, 0.0)
    assert history[-1] == (ROWS, pytest.approx(m.log_e), pytest.approx(m.evidence))
    assert rows == sorted(set(rows))
    assert 100 < len(history) <= 514
    middle = len(history) // 2
    part = watched(correct[: rows[middle]], confidence[: rows[middle]])
    assert history[middle][1:] == pytest.approx((part.log_e, part.evidence))


def test_a_damaged_history_is_refused() -> None:
    with pytest.raises(ValueError, match="not whole"):
        History.unpack({"stride": 1, "rows": [1, 2], "log_e": [0.0], "evidence": [0.0]})
    with pytest.raises(ValueError, match="not those of this version"):
        Runs.unpack({**Runs.after(3).pack(), "gain": [0.0]})
