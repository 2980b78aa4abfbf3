"""The monitor: the same evidence however rows arrive, kept through crashes, counted once."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Monitor
from surefoot.risk.evalues import DETECTOR, MIXTURE
from surefoot.risk.stream.id_set import IdSet
from surefoot.synthetic import predictions


def state(m: Monitor) -> tuple:
    sides = [(*side.wealth.tolist(), *side.stakes.tolist()) for side in m._sides.values()]
    return (m.rows, m.errors, m.alarm_row, m.drift_rows, np.array(sides))


def same(one: Monitor, other: Monitor) -> None:
    assert state(one)[:4] == state(other)[:4]
    np.testing.assert_allclose(state(one)[4], state(other)[4], rtol=1e-9)


def test_batches_of_any_size_are_rows_one_by_one() -> None:
    p = predictions("skew_high", "perfect", 3000, rng=np.random.default_rng(0))
    whole, single, mixed = (Monitor(mean_time_between_false_alarms=200) for _ in range(3))
    whole.update(p.correct, p.confidence, doubt=p.doubt)
    for i in range(3000):
        single.update(p.correct[i], p.confidence[i], doubt=p.doubt[i])
    for start in range(0, 3000, 77):
        mixed.update(p.correct[start : start + 77], p.confidence[start : start + 77], doubt=p.doubt[start : start + 77])
    assert whole.drift_rows
    same(whole, single)
    same(whole, mixed)


def test_its_e_value_is_that_of_the_risk_test() -> None:
    for profile in ("uniform", "tight_hi", "normal", "skew_low"):
        p = predictions(profile, "perfect", 4000, rng=np.random.default_rng(1))
        m = Monitor()
        m.update(p.correct, p.confidence, doubt=p.doubt)
        over, under = (sf.risk_test(p, alternative=side).e_value for side in ("overconfident", "underconfident"))
        assert m.e_value == pytest.approx((over + under) / 2, rel=1e-6)
        one = Monitor(alternative="overconfident")
        one.update(p.correct, p.confidence, doubt=p.doubt)
        assert one.e_value == pytest.approx(over, rel=1e-6)


def test_the_detector_is_the_recursion_of_shiryaev_and_roberts() -> None:
    p = predictions("tight_hi", "perfect", 500, rng=np.random.default_rng(2))
    stakes, evidence = np.zeros(len(DETECTOR)), 0.0
    for q, wrong in zip(p.doubt, p.wrong, strict=True):
        for k, bet in enumerate(DETECTOR):
            rate = q**bet.power if bet.power else q + bet.shortfall * (1 - q) if q < bet.below else q
            stakes[k] = (stakes[k] + 1) * (rate / q if wrong else (1 - rate) / (1 - q))
        evidence = stakes.mean()
    m = Monitor(alternative="overconfident", mean_time_between_false_alarms=1e9)
    m.update(p.correct, p.confidence, doubt=p.doubt)
    assert m.evidence == pytest.approx(evidence, rel=1e-9)


def test_alarm_and_drift_are_apart_and_on_both_sides() -> None:
    rng = np.random.default_rng(3)
    for mode, side in (("overconf_half", "overconfident"), ("random_over", "underconfident")):
        p = predictions("normal", mode, 3000, rng=rng)
        m = Monitor()
        m.update(p.correct, p.confidence)
        assert m.alarm
        assert m.drift
        assert m.side == side
        assert m.alarm_row < m.drift_rows[0] < 3000  # 40 is reached before 20,000
        m.acknowledge()
        assert not m.drift
        assert m.alarm
    other = Monitor(alternative="underconfident")
    p = predictions("normal", "overconf_half", 3000, rng=rng)
    other.update(p.correct, p.confidence)
    assert not other.alarm


def test_labels_may_come_late_and_out_of_order() -> None:
    p = predictions("uniform", "perfect", 400, rng=np.random.default_rng(4))
    order = np.random.default_rng(5).permutation(400)
    for ids in (np.arange(400), [f"case {i}" for i in range(400)]):
        late, direct = Monitor(), Monitor()
        late.expect(ids, p.confidence, groups=ids)
        assert late.pending == 400
        names = [ids[i] for i in order]
        late.update(p.correct[order[:250]], ids=names[:250])
        assert (late.rows, late.pending, late.issued) == (250, 150, 400)
        late.update(p.correct[order[250:]], ids=names[250:])
        direct.update(p.correct, p.confidence)
        assert late.pending == 0
        same(late, direct)


def fed(p: sf.Predictions, delay: np.ndarray, *, look: bool = False, **options) -> tuple[Monitor, list[float]]:
    """Each row issued at its time, its label so many rows later; and the e-value after each step, if it is asked."""
    m, evidence = Monitor(**options), []
    due: dict[int, list[int]] = {}
    for i in range(len(p)):
        due.setdefault(i + int(delay[i]), []).append(i)
    for t in range(len(p)):
        m.expect(t, p.confidence[t], doubt=p.doubt[t])
        for i in due.get(t, []):
            m.update(p.correct[i], ids=i)
        if look:
            evidence.append(m.e_value)
    return m, evidence


def test_what_decides_when_labels_come_cannot_raise_the_evidence() -> None:
    # mistakes at once and confirmations 50 rows later: by order of arrival this alarmed in nine of ten streams
    for seed in range(4):
        p = predictions("tight_hi", "perfect", 300, rng=np.random.default_rng(seed))
        for first in (p.wrong, p.correct):
            m, evidence = fed(p, np.where(first, 0, 50), look=True)
            full, most = Monitor(), [1.0]
            for i in range(len(p)):
                full.update(p.correct[i], p.confidence[i], doubt=p.doubt[i])
                most.append(full.e_value)
            assert max(evidence) <= max(most) * (1 + 1e-9)
            assert full.alarm or not m.alarm
            # what has come in the end is what was there from the start
            for i in sorted(m._issued.places):
                m.update(p.correct[i], ids=i)
            same(m, full)


def test_whoever_looks_seldom_misses_no_alarm() -> None:
    p = predictions("uniform", "overconf_half", 500, rng=np.random.default_rng(8))
    delay = np.random.default_rng(9).integers(0, 60, 500)
    often, _ = fed(p, delay, look=True, mean_time_between_false_alarms=300)
    seldom, _ = fed(p, delay, mean_time_between_false_alarms=300)
    # the more labels have come, the earlier the row at which the evidence is seen to have been enough
    assert seldom.alarm_row <= often.alarm_row
    assert often.e_value == pytest.approx(seldom.e_value)
    assert often.alarm
    assert often.drift


def test_an_awaited_label_counts_as_the_smaller_of_what_it_can_be() -> None:
    m, right, wrong = (Monitor(alternative="overconfident") for _ in range(3))
    m.expect("a", 0.7)
    m.update([False], [0.9])
    for other, label in ((right, True), (wrong, False)):
        other.update([label, False], [0.7, 0.9])
    assert m.e_value == pytest.approx(min(right.e_value, wrong.e_value), rel=1e-12)
    m.update([False], ids=["a"])
    assert m.e_value == pytest.approx(wrong.e_value, rel=1e-12)


def test_rows_issued_together_are_averaged_before_they_multiply() -> None:
    correct, confidence = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.95])
    # by hand: of each bet the mean of what it gains on the four rows
    q = 1 - confidence
    gains = []
    for bet in MIXTURE:
        rate = q**bet.power if bet.power else np.where(q < bet.below, q + bet.shortfall * (1 - q), q)
        gains.append(bet.share * np.mean(np.where(correct, (1 - rate) / (1 - q), rate / q)))
    issued, grouped, named = (Monitor(alternative="overconfident") for _ in range(3))
    issued.expect(list("abcd"), confidence)
    issued.update(correct, ids=list("abcd"))
    grouped.update(correct, confidence, groups=["patient 1"] * 4)
    named.update(correct, confidence, groups=[7] * 4)
    for m in (issued, grouped, named):
        assert m.e_value == pytest.approx(sum(gains), rel=1e-12)
    # the detector: one stake, and then what they gain on average
    stakes = []
    for bet in DETECTOR:
        rate = q**bet.power if bet.power else np.where(q < bet.below, q + bet.shortfall * (1 - q), q)
        stakes.append(np.mean(np.where(correct, (1 - rate) / (1 - q), rate / q)))
    assert issued.evidence == pytest.approx(np.mean(stakes), rel=1e-12)
    # groups that lie apart in one call are put together, in the order of their first rows
    apart, together = Monitor(), Monitor()
    apart.update(correct, confidence, groups=["y", "x", "y", "x"])
    order = [0, 2, 1, 3]
    together.update(correct[order], confidence[order], groups=["y", "y", "x", "x"])
    same(apart, together)


def test_rows_of_one_patient_do_not_count_as_many() -> None:
    # all ten labels of a patient are the same, each row calibrated: nothing is wrong here
    rng, alarms = np.random.default_rng(11), 0
    for _ in range(100):
        wrong = np.repeat(rng.random(60) < 0.2, 10)
        m = Monitor(alternative="overconfident")
        m.update(~wrong, np.full(600, 0.8), groups=np.repeat(np.arange(60), 10))
        alarms += m.alarm
    assert alarms <= 9  # 5 expected at most; 10 or more come once in thirty


def test_a_label_that_never_comes_is_given_up_after_the_window() -> None:
    m = Monitor(label_window=100)
    m.expect("lost", 0.9)
    m.update([True] * 100, [0.8] * 100)
    m.update([True], [0.8])
    assert (m.pending, m.unlabelled, m.rows, m.issued) == (0, 1, 101, 102)
    assert "1 no longer awaited" in repr(m)
    # it counts as no surprise to either side, and its label comes too late
    before = m.e_value
    m.update([False], ids=["lost"])
    assert (m.e_value, m.repeated, m.errors) == (before, 1, 0)
    assert len(m._issued) == 0
    over = Monitor(alternative="overconfident")
    over.update([True] * 102, [0.9] + [0.8] * 101)
    assert m._sides["overconfident"].log_e == pytest.approx(over.log_e, rel=1e-12)


def test_the_detector_goes_off_once_however_late_labels_come(tmp_path) -> None:
    m = Monitor(alternative="overconfident", mean_time_between_false_alarms=100)
    m.expect("first", 0.9)
    m.update([False] * 6, [0.9] * 6)
    assert m.drift
    gone_off = list(m.drift_rows)
    m.acknowledge()
    # what was surprising before it went off is no new alarm
    m.save(tmp_path / "m")
    m = Monitor.load(tmp_path / "m")
    m.update([False], ids=["first"])
    assert m.drift_rows == gone_off
    assert not m.drift
    again = Monitor(alternative="overconfident", mean_time_between_false_alarms=100)
    again.update([False] * (7 - gone_off[-1]), [0.9] * (7 - gone_off[-1]))
    assert m.evidence == pytest.approx(again.evidence, rel=1e-12)


def test_a_state_of_the_first_version_goes_on() -> None:
    m = Monitor.load(Path(__file__).parents[2] / "data" / "monitor-1.json")
    assert (m.level, m.rows, m.pending, m.issued) == (0.02, 40, 2, 42)
    assert m.e_value == pytest.approx(0.5671228734166619, rel=1e-12)
    m.update([False], ids=["late 2"])
    m.update([True], ids=["late 1"])
    m.update([True], [0.9], ids=[39])
    assert (m.rows, m.pending, m.repeated) == (42, 0, 1)
    straight = Monitor.load(Path(__file__).parents[2] / "data" / "monitor-1.json")
    straight._issued.places.clear()
    straight._issued.drop(2)
    straight.update([True, False], [0.75, 0.9])
    assert m.e_value == pytest.approx(straight.e_value, rel=1e-12)


def test_each_label_counts_once_however_often_it_is_fed() -> None:
    p = predictions("uniform", "perfect", 300, rng=np.random.default_rng(6))
    once, again = Monitor(), Monitor()
    once.update(p.correct, p.confidence, ids=np.arange(300))
    for start in range(0, 300, 50):
        for _ in range(2):
            some = slice(max(0, start - 70), start + 50)
            again.update(p.correct[some], p.confidence[some], ids=np.arange(300)[some])
    same(once, again)
    assert again.repeated > 0
    # expected again after it was labelled: nothing is pending
    again.expect([5], [0.3])
    assert again.pending == 0
    # twice in one call
    twice = Monitor()
    twice.update([True, True], [0.9, 0.9], ids=["a", "a"])
    assert (twice.rows, twice.repeated) == (1, 1)


def test_rising_ids_cost_a_watermark_and_their_gaps() -> None:
    seen = IdSet()
    seen.add_all(range(1000))
    seen.add_all([1000, 1001, 1005])
    seen.add_all([1003])
    assert seen.pack() == {"stretches": [[0, 1002], [1003, 1004], [1005, 1006]], "names": []}
    seen.add_all([1004, 1002])
    assert seen.pack()["stretches"] == [[0, 1006]]
    reference: set[int] = set()
    rng, mine = np.random.default_rng(0), IdSet()
    for _ in range(300):
        ids = rng.integers(-50, 200, rng.integers(1, 6)).tolist()
        expected = [one not in reference and one not in ids[:i] for i, one in enumerate(ids)]
        assert mine.are_new(ids).tolist() == expected
        mine.add_all(ids)
        reference.update(ids)
    assert {i for i in range(-60, 210) if i in mine} == reference


def test_bad_input_changes_nothing() -> None:
    m = Monitor()
    m.update([True, False], [0.9, 0.8], ids=[1, 2])
    m.expect(["x"], [0.7])
    before = m.rows, m.pending, m.e_value
    for call, match in (
        (lambda: m.update([True], [1.5]), r"confidence\[0\] is 1.5"),
        (lambda: m.update([True]), "without confidence and without ids"),
        (lambda: m.update([True], ids=["y"]), r"ids\[0\] is 'y', for which no prediction is expected"),
        (lambda: m.update([True, True], ids=["x"]), "lengths differ"),
        (lambda: m.update([True, True], [0.5, float("nan")], ids=[3, 4]), r"confidence\[1\]"),
        (lambda: m.update([0.5], [0.5]), "correct"),
        (lambda: m.update([True], ids=["x"], groups=["a"]), "pass groups when predictions are issued"),
        (lambda: m.update([True, True], [0.5, 0.5], groups=["a"]), "groups has 1 rows"),
        (lambda: m.expect(["x"], [0.6]), "expected with confidence 0.7 already"),
        (lambda: m.expect([1.5], [0.6]), "whole numbers or strings"),
        (lambda: m.expect([None], [0.6]), "whole numbers or strings"),
        (lambda: m.expect([True], [0.6]), "whole numbers or strings"),
        (lambda: m.update([True], [0.6], ids=["x" * 10_001]), r"ids\[0\] has 10,001 characters; .* at most 10,000"),
        (lambda: m.update([True], [0.6], ids=[-(10**1000)]), r"ids\[0\] is a number of more than 1,000 digits"),
    ):
        with pytest.raises(InvalidPredictions, match=match):
            call()
        assert (m.rows, m.pending, m.e_value) == before
    for wrong in (
        {"level": 0},
        {"level": 2},
        {"mean_time_between_false_alarms": 0},
        {"alternative": "up"},
        {"label_window": 0},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Monitor(**wrong)


def test_a_certain_mistake_alarms_at_once_and_a_certain_hit_does_nothing() -> None:
    m = Monitor()
    m.update([True] * 50, [1.0] * 50)
    assert m.e_value == pytest.approx(1)
    m.update([True, False, True], [0.5, 1.0, 0.5])
    assert (m.alarm_row, m.drift_rows, m.e_value) == (52, [52], math.inf)
    assert math.isfinite(m.evidence)
    m.update([True], [0.5])
    assert m.e_value == math.inf


def test_saved_and_loaded_it_goes_on_as_if_nothing_had_happened(tmp_path) -> None:
    p = predictions("log_uniform_high", "overconf_root", 900, rng=np.random.default_rng(7))
    straight, resumed = Monitor(level=0.01), Monitor(level=0.01)
    straight.expect(["late"], [0.75])
    straight.update(p.correct, p.confidence, doubt=p.doubt, ids=np.arange(900))
    resumed.expect(["late"], [0.75])
    for start in range(0, 900, 300):
        some = slice(start, start + 300)
        resumed.update(p.correct[some], p.confidence[some], doubt=p.doubt[some], ids=np.arange(900)[some])
        resumed.save(tmp_path / "m")
        resumed = Monitor.load(tmp_path / "m")
    same(straight, resumed)
    assert (resumed.level, resumed.pending, resumed.alarm, resumed.drift) == (0.01, 1, straight.alarm, straight.drift)
    resumed.update([False], [1.0])
    resumed.save(tmp_path / "m")
    assert Monitor.load(tmp_path / "m").e_value == math.inf


@pytest.mark.parametrize(
    "ids",
    [
        ["12345678901234567890", "12345678901234567891"],
        [2**63 - 1, -(2**63) - 1],
        ["9" * 1000, -(10**999)],
        ["9" * 1001, "x" * 10_000],
        ["\ud800", "a\x00b"],
    ],
    ids=["20 digits", "beyond 64 bits", "1,000 digits", "as long as may be", "odd characters"],
)
def test_whatever_ids_are_counted_a_saved_state_holds_them(ids: list[int | str], tmp_path) -> None:
    m = Monitor()
    m.update([True, False], [0.9, 0.8], ids=ids)
    m.expect([f"{one}0" for one in ids if len(str(one)) < 1000], [0.7] * sum(len(str(one)) < 1000 for one in ids))
    m.save(tmp_path / "m")
    again = Monitor.load(tmp_path / "m")
    again.update([True, False], [0.9, 0.8], ids=ids)
    assert (again.rows, again.repeated, again.pending) == (2, 2, m.pending)


def test_a_damaged_foreign_or_newer_file_is_a_clear_error(tmp_path) -> None:
    path = tmp_path / "m"
    m = Monitor()
    m.update([True], [0.9])
    m.save(path)
    text = path.read_text()
    document = json.loads(text)
    for content, match in (
        (text[: len(text) // 2], "damaged"),
        (text.replace('"rows":1', '"rows":2'), "checksum does not match"),
        (json.dumps({**document, "schema": 99}), "newer surefoot"),
        (json.dumps({**document, "surefoot": "tally"}), "not a saved monitor"),
        ("[]", "not a saved monitor"),
    ):
        path.write_text(content)
        with pytest.raises(sf.InvalidMonitor, match=match):
            Monitor.load(path)


_WORKER = """
import sys, numpy as np
from surefoot import Monitor
from pathlib import Path
state, log = Path(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
rng = np.random.default_rng(0)
confidence = rng.random(20_000); correct = rng.random(20_000) < confidence
m = Monitor.load(state) if state.exists() else Monitor()
# the whole input again, as after a crash one does
for start in range(0, 20_000, 10):
    rows = np.arange(start, start + 10)
    before = m.rows
    m.update(correct[rows], confidence[rows], ids=rows)
    if m.rows > before:
        m.save(state)
        log.write(f"{m.rows}\\n")
"""


def test_a_kill_at_any_instant_loses_no_acknowledged_row_and_counts_none_twice(tmp_path) -> None:
    path, log = tmp_path / "state", tmp_path / "log"
    (tmp_path / "worker.py").write_text(_WORKER)
    clock = random.Random(0)
    saves = kills = 0
    while saves < 200 or kills < 8:
        worker = subprocess.Popen([sys.executable, str(tmp_path / "worker.py"), str(path), str(log)])
        acknowledged = saves
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(log.read_text().split() if log.exists() else []) < acknowledged + 20:
            time.sleep(0.01)
        time.sleep(clock.random() * 0.05)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        kills += 1
        lines = log.read_text().splitlines()
        saves = len(lines)
        kept = Monitor.load(path)
        assert kept.rows >= int(lines[-1])
        assert kept.rows % 10 == 0
    rng = np.random.default_rng(0)
    confidence = rng.random(20_000)
    correct = rng.random(20_000) < confidence
    straight = Monitor()
    straight.update(correct[: kept.rows], confidence[: kept.rows])
    kept.update(correct[: kept.rows], confidence[: kept.rows], ids=np.arange(kept.rows))
    same(kept, straight)


def test_batches_without_a_mistake_are_no_drift() -> None:
    m = Monitor(alternative="overconfident")
    for k in range(20):
        ids = np.arange(2000) + 2000 * k
        m.expect(ids, np.full(2000, 0.99))
        m.update(np.ones(2000, dtype=bool), ids=ids)
    assert m.rows == 40_000
    assert not m.drift
    assert m.evidence < 100


def test_a_claim_is_the_same_as_confidence_and_as_doubt() -> None:
    m = Monitor()
    m.expect(["a", "b"], [0.9, 0.8])
    m.update([True], doubt=[0.1], ids=["a"])
    assert (m.rows, m.pending) == (1, 1)
    m.expect("c", doubt=1e-20)
    with pytest.raises(InvalidPredictions, match=r"issued with doubt 1e-20; its label comes with 1e-19"):
        m.update([True], doubt=[1e-19], ids=["c"])


def test_a_batch_larger_than_the_window_is_awaited() -> None:
    m = Monitor(label_window=100)
    m.expect(np.arange(150), np.full(150, 0.9))
    assert (m.pending, m.unlabelled) == (150, 0)
    m.update(np.ones(150, dtype=bool), ids=np.arange(150))
    assert (m.rows, m.unlabelled) == (150, 0)


def test_a_label_cannot_change_the_confidence_that_was_issued() -> None:
    m = Monitor()
    m.expect(["a"], [0.999])
    with pytest.raises(InvalidPredictions, match=r"was issued with confidence 0\.999"):
        m.update([False], [0.5], ids=["a"])
    assert (m.rows, m.pending) == (0, 1)
    m.update([False], [0.999], ids=["a"])
    assert (m.rows, m.pending) == (1, 0)


def test_nothing_is_a_batch_too_and_ids_may_be_generated() -> None:
    m = Monitor()
    m.update([], [])
    m.update([], ids=[])
    m.expect([], [])
    m.update([True, True], [0.5, 0.6], ids=(i for i in (7, 8)))
    assert m.rows == 2


def test_a_stream_that_goes_off_all_the_time() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.random(60_000)
    m = Monitor(mean_time_between_false_alarms=20)
    m.update(confidence < 0.5, confidence, ids=rng.permutation(60_000) * 2)
    assert len(m.drift_rows) > 1000  # each restarts a few rows, not all that follow: it used to take minutes
