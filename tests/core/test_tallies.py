"""Tallies: accurate in any order, saved whole, read with suspicion."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot import InvalidTally, Predictions, Tally, tally
from surefoot.core.table import Sums, Table
from surefoot.metrics import ALL
from surefoot.metrics.size_ratio import SURPRISE


def heavy(rows: int, seed: int = 0) -> Predictions:
    """Doubts down to 1e-12: sums of numbers twelve orders of magnitude apart."""
    rng = np.random.default_rng(seed)
    doubt = np.exp(rng.uniform(np.log(1e-12), 0, rows))
    return Predictions.from_correct(rng.random(rows) < 0.5, doubt=doubt)


def test_totals_are_those_of_exact_summation_in_any_sharding() -> None:
    p = heavy(20_000)
    exact = math.fsum(1 / q for q, wrong in zip(p.doubt, p.wrong, strict=True) if wrong)
    for shards in (1, 3, 64, 997):
        rng = np.random.default_rng(shards)
        part = rng.integers(0, shards, len(p))
        tallies = [tally(p[part == i], ["csr"]) for i in rng.permutation(shards) if (part == i).any()]
        assert abs(sum(tallies)[SURPRISE] - exact) <= 1e-13 * exact


def test_ten_thousand_additions_lose_nothing() -> None:
    one = Sums(np.array([0.1]), np.zeros(1))
    total = Sums.zeros(1)
    for _ in range(10_000):
        total = total.plus(one.high, one.low)
    assert total.value[0] == math.fsum([0.1] * 10_000)


def test_infinite_totals_stay_infinite() -> None:
    p = Predictions.from_correct([False, True], [1.0, 0.5])
    t = tally(p) + tally(p)
    assert ALL["log_loss"].of(t) == math.inf
    assert ALL["csr"].of(t) == math.inf


def test_tallies_over_different_labels_meet_by_label() -> None:
    one = Predictions.from_labels(["b", "c"], ["b", "b"], [0.5, 0.25])
    other = Predictions.from_labels(["a", "c"], ["c", "c"], [0.75, 1.0])
    both = Predictions.from_labels(["b", "c", "a", "c"], ["b", "b", "c", "c"], [0.5, 0.25, 0.75, 1.0])
    for total in (tally(one) + tally(other), tally(other) + tally(one)):
        assert total.labels == ("a", "b", "c")
        assert ALL["cw_mcc"].of(total) == pytest.approx(ALL["cw_mcc"](both), rel=1e-14)


def test_rankings_of_different_classes_are_not_added() -> None:
    two = Predictions.from_probabilities([0, 1], [0.2, 0.9])
    three = Predictions.from_probabilities([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    with pytest.raises(InvalidTally, match="different classes"):
        tally(two) + tally(three)


def test_the_order_of_labels_does_not_depend_on_which_tally_comes_first() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(60)
    truth = np.where(rng.random(60) < p, "b", "a")
    one = tally(Predictions.from_probabilities(truth[:30], p[:30], labels=["a", "b"]))
    other = tally(Predictions.from_probabilities(truth[30:], 1 - p[30:], labels=["b", "a"]))
    whole = Predictions.from_probabilities(truth, p, labels=["a", "b"])
    for total in (one + other, other + one):
        metric = ALL["cw_average_precision"]
        assert total.labels == ("a", "b")
        assert abs(metric.of(total) - metric(whole)) <= metric.bound(total)


def test_tallies_that_do_not_belong_together_say_why() -> None:
    p = Predictions.from_labels([0, 1], [0, 1], [0.5, 0.5])
    with pytest.raises(InvalidTally, match="only the second has"):
        tally(p, ["csr"]) + tally(p, ["csr", "brier"])
    q = Predictions.from_labels(["a", "b"], ["a", "b"], [0.5, 0.5])
    with pytest.raises(InvalidTally, match="labels"):
        tally(p) + tally(q)
    with pytest.raises(InvalidTally, match="sliced"):
        tally(p) + tally(p, by="truth")
    with pytest.raises(TypeError):
        tally(p) + 1


def test_slices_add_by_value_and_survive_saving(tmp_path) -> None:
    p = Predictions.from_labels([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.7])
    t = tally(p[:2], by=["x", "y"]) + tally(p[2:], by=["x", "z"])
    t.save(tmp_path / "t")
    for each in (t, Tally.load(tmp_path / "t")):
        assert list(each.slices) == ["x", "y", "z"]
        assert ALL["accuracy"].of(each.slices["x"]) == 0.5
        assert [part.value for part in sf.assess(each).slices] == ["x", "y", "z"]


def test_asking_for_what_a_tally_does_not_hold_says_so() -> None:
    t = tally(Predictions.from_correct([True], [0.5]), ["csr"])
    with pytest.raises(sf.MetricUnavailable, match="brier needs the total 'squared gap'"):
        ALL["brier"].of(t)
    with pytest.raises(sf.MetricUnavailable, match="needs the rows themselves"):
        ALL["equal_mass_ece"].of(t)
    with pytest.raises(sf.MetricUnavailable, match="no metric 'csrr'"):
        tally(Predictions.from_correct([True], [0.5]), ["csrr"])
    with pytest.raises(sf.MetricUnavailable, match="needs true and predicted labels"):
        tally(Predictions.from_correct([True], [0.5]), ["cw_mcc"])


def test_bins_nobody_fell_into_hold_nothing() -> None:
    t = Predictions.from_correct([True, False], [0.5, 0.51]).tally(ALL["mce"].terms)
    weight, gap = (t.table(term.key).totals[term.name].value for term in ALL["mce"].terms)
    assert weight.tolist() == [0] * 7 + [2] + [0] * 7
    assert gap.tolist() == pytest.approx([0] * 7 + [0.01] + [0] * 7)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_grid_of_scores_is_bounded_in_size(steps: int) -> None:
    rng = np.random.default_rng(steps)
    p = Predictions.from_probabilities(rng.integers(0, 2, 300_000), rng.random(300_000))
    assert len(tally(p, ["auc"]).tables["class score"].codes) < 2 * 82_000


# -- saved -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    rng = np.random.default_rng(0)
    p = Predictions.from_probabilities(rng.integers(0, 3, 50), rng.dirichlet([1, 1, 1], 50))
    path = tmp_path / "all.tally"
    tally(p).save(path)
    return path


def test_a_saved_tally_is_strict_json_with_a_schema_version(saved) -> None:
    document = json.loads(saved.read_text(), parse_constant=lambda c: pytest.fail(c))
    assert document["schema"] == 3
    assert document["labels"] == [0, 1, 2]


def test_newer_and_foreign_files_say_so(saved, tmp_path) -> None:
    document = json.loads(saved.read_text())
    saved.write_text(json.dumps({**document, "schema": 99}))
    with pytest.raises(InvalidTally, match=r"newer surefoot \(schema 99"):
        Tally.load(saved)
    for text in ("", "[]", "{}", '{"surefoot": "report"}', "PK\x03\x04", '{"surefoot": "tally", "schema": "1"}'):
        saved.write_text(text)
        with pytest.raises(InvalidTally, match=r"all\.tally: "):
            Tally.load(saved)
    with pytest.raises(FileNotFoundError):
        Tally.load(tmp_path / "absent")


@given(data=st.data())
def test_a_damaged_file_is_a_clear_error_or_still_a_tally(data: st.DataObject) -> None:
    import tempfile
    from pathlib import Path

    p = Predictions.from_labels([0, 1, 1], [0, 1, 0], [0.9, 0.8, 0.6])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        tally(p, ["csr", "ece", "cw_f1"]).save(path)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(raw) - 1))
            if data.draw(st.booleans()):
                raw[at] = data.draw(st.integers(0, 255))
            else:
                del raw[at:]
                raw += b" "
        path.write_bytes(bytes(raw))
        try:
            loaded = Tally.load(path)
        except InvalidTally as error:
            assert "t: " in str(error)
        else:
            assert isinstance(loaded, Tally)


def test_saving_leaves_the_old_file_if_it_fails(saved, monkeypatch) -> None:
    before = saved.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        tally(Predictions.from_correct([True], [0.5])).save(saved)
    assert saved.read_bytes() == before
    assert [f.name for f in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize("seed", range(200))
def test_every_ranking_from_a_tally_lies_within_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 400))
    p = np.clip(rng.random(n) * 10.0 ** rng.uniform(-4, 0) + rng.choice([0, 0.5]), 0, 1)
    y = (rng.random(n) < p).astype(int)
    y[:2] = 0, 1
    q = Predictions.from_probabilities(y, p, sample_weight=rng.uniform(0.1, 2, n))
    t = tally(q)
    for name in ("auc", "cw_auc", "auc_gain", "cw_average_precision"):
        assert abs(ALL[name](q) - ALL[name].of(t)) <= ALL[name].bound(t) + 1e-12


def test_average_precision_states_a_bound_for_cells_of_positives_alone() -> None:
    q = Predictions.from_probabilities([0, 1, 1, 0], [0.9, 0.5, 0.50001, 0.1])
    t, metric = tally(q), ALL["cw_average_precision"]
    assert 0 < abs(metric(q) - metric.of(t)) <= metric.bound(t)


def test_a_tally_remembers_what_it_was_sliced_by() -> None:
    p = Predictions.from_labels(["a", "b", "a"], ["a", "a", "a"], [0.9, 0.8, 0.7])
    assert [part.verdict for part in sf.assess(tally(p, by="truth")).slices] == [None, None]
    with pytest.raises(sf.InvalidTally, match="sliced by truth, the other by predicted"):
        tally(p, by="truth") + tally(p, by="predicted")
    with pytest.raises(sf.InvalidTally, match="different kinds"):
        tally(p, by=[True, False, True]) + tally(p, by=[1, 0, 1])


def test_a_changed_tally_file_is_damaged(tmp_path) -> None:
    tally(Predictions.from_correct([True, False], [0.5, 0.6])).save(tmp_path / "t")
    document = json.loads((tmp_path / "t").read_text())
    document["tables"]["all rows"]["totals"]["weight"] = [[-3]]
    (tmp_path / "t").write_text(json.dumps(document))
    with pytest.raises(sf.InvalidTally, match="damaged"):
        sf.Tally.load(tmp_path / "t")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": 3}, "steps is 3"),
        ({"classes": 3}, "classes is 3"),
        ({"codes": [1, 0]}, "rising order"),
        ({"codes": [-1, 1]}, "negative"),
        ({"codes": [0, 1 << 40], "classes": 1}, "class without a label"),
        ({"totals": {"weight": [[1.0]]}}, "'weight' does not have a number for each code"),
        ({"totals": {"weight": [[1.0, 2.0], [0.0, float("inf")]]}}, "'weight' does not have a number for each code"),
    ],
)
def test_a_forged_table_is_refused(change: dict, said: str) -> None:
    whole = {"codes": [0, 1], "totals": {"weight": [[1.0, 2.0]]}, "steps": None, "classes": 0}
    assert Table.unpack(whole, 2).totals["weight"].value.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=said):
        Table.unpack({**whole, **change}, 2)


def test_a_tally_says_what_it_holds() -> None:
    p = Predictions.from_labels([0, 1, 1], [0, 1, 0], [0.9, 0.8, 0.6])
    whole, sliced = repr(tally(p, ["accuracy"])), repr(tally(p, ["accuracy"], by="predicted"))
    # rows, weight, errors, certain, certain and wrong, doubt, wrong; and correct
    assert whole == "<Tally: 8 terms under 1 keys>"
    assert sliced == "<Tally: 8 terms under 1 keys, 2 slices by predicted>"
