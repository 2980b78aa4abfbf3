"""Policies: what they decide, and that a file is read with suspicion."""

import json
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidPolicy, InvalidPredictions

THREE_WAY = sf.Policy(sf.Thresholds(accept=0.95, refuse=0.5), error=0.02, level=0.05, rows=1000, refuse_error=0.5)
SLICED = sf.Policy(
    sf.Thresholds(0.9),
    error=0.02,
    level=0.05,
    rows=1000,
    by="country",
    slices={"ES": sf.Thresholds(0.8), "FR": sf.Thresholds(None, 0.3)},
)


def test_a_threshold_itself_is_accepted_and_not_refused():
    around = [0.95, np.nextafter(0.95, 0), 0.5, np.nextafter(0.5, 0), 0.0, 1.0]
    assert THREE_WAY.decide(around).tolist() == ["accept", "review", "review", "refuse", "refuse", "accept"]
    assert THREE_WAY.decide(0.95) == "accept"
    assert isinstance(THREE_WAY.decide(np.float32(0.7)), str)
    assert THREE_WAY.decide([]).tolist() == []


def test_slices_have_their_own_and_unknown_ones_are_reviewed():
    assert SLICED.decide([0.85, 0.99, 0.1, 0.99], by=["ES", "FR", "FR", "IT"]).tolist() == [
        *("accept", "review", "refuse", "review")
    ]
    assert SLICED.decide(0.85, by="ES") == "accept"
    with pytest.raises(InvalidPredictions, match="for each country"):
        SLICED.decide(0.9)
    with pytest.raises(InvalidPredictions, match="one slice for each row"):
        SLICED.decide([0.9, 0.8], by=["ES"])
    with pytest.raises(InvalidPredictions, match="no slices"):
        THREE_WAY.decide(0.9, by="ES")


@pytest.mark.parametrize(("value", "row"), [(1.5, 1), (-0.1, 1), (float("nan"), 1)])
def test_what_is_no_confidence_is_refused(value, row):
    with pytest.raises(InvalidPredictions) as caught:
        THREE_WAY.decide([0.9, value])
    assert caught.value.row == row
    with pytest.raises(InvalidPredictions, match="not between 0 and 1"):
        THREE_WAY.decide(value)
    with pytest.raises(InvalidPredictions):
        THREE_WAY.decide(["0.9"])


@pytest.mark.parametrize("policy", [THREE_WAY, SLICED])
def test_a_saved_policy_decides_the_same(policy, tmp_path):
    policy.save(tmp_path / "policy.json")
    assert sf.Policy.load(tmp_path / "policy.json") == policy


def test_a_policy_that_was_made_and_saved_decides_as_the_rows_did(tmp_path):
    rng = np.random.default_rng(0)
    confidence = rng.beta(8, 1, 3000)
    found = sf.act_alone(correct=rng.random(3000) < confidence, confidence=confidence, error=0.06, refuse=0.4)
    found.policy.save(tmp_path / "policy.json")
    decided = sf.Policy.load(tmp_path / "policy.json").decide(confidence)
    assert (decided == "accept").mean() == found.coverage
    assert (decided == "refuse").mean() == found.refused


def damaged(path: Path, **changes) -> Path:
    """A file with other contents and a checksum that fits them."""
    from surefoot._io import documents

    body = {**THREE_WAY.to_dict(), **changes}
    documents.write(path, "policy", 1, body)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"accept": 1.5},
        {"accept": "0.9"},
        {"accept": True},
        {"accept": 0.4},
        {"refuse": -1},
        {"lowest": None},
        {"error": 0},
        {"level": None},
        {"rows": -1},
        {"rows": 1.5},
        {"by": 3},
        {"slices": [{"value": "a", "accept": 0.9, "refuse": None, "lowest": 0.5}]},
        {"slices": [{"value": "a"}], "by": "x"},
        {"slices": [{"value": "a", "accept": 0.9, "refuse": None, "lowest": 0.5}] * 2, "by": "x"},
        {"slices": [{"value": [1], "accept": 0.9, "refuse": None, "lowest": 0.5}], "by": "x"},
        {"slices": {}},
        {"slices": None},
    ],
)
def test_impossible_contents_are_refused(changes, tmp_path):
    if changes == {"slices": {}}:
        pytest.skip("an empty object holds no slices")
    with pytest.raises(InvalidPolicy, match="damaged"):
        sf.Policy.load(damaged(tmp_path / "policy.json", **changes))


def test_damaged_foreign_and_newer_files_are_refused(tmp_path):
    path = tmp_path / "policy.json"
    THREE_WAY.save(path)
    text = path.read_text()
    for wrong in ("", "{", "[]", text[:-10], text.replace("0.95", "0.15"), text.replace('"policy"', '"tally"')):
        path.write_text(wrong)
        with pytest.raises(InvalidPolicy):
            sf.Policy.load(path)
    path.write_text(json.dumps({**json.loads(text), "schema": 99}))
    with pytest.raises(InvalidPolicy, match="newer"):
        sf.Policy.load(path)


def test_what_is_below_all_that_was_seen_is_reviewed():
    seen = sf.Policy(sf.Thresholds(accept=0.9, refuse=0.6, lowest=0.5), error=0.02, level=0.05, rows=1000)
    assert seen.decide([0.01, 0.5, 0.95]).tolist() == ["review", "refuse", "accept"]
    found = sf.act_alone(correct=[True] * 100, confidence=[0.9] * 100, error=0.1)
    assert found.threshold == 0.9
    assert found.policy.decide([0.05, 0.95]).tolist() == ["review", "accept"]


def test_probabilities_of_classes_and_slices_of_another_kind_are_refused():
    with pytest.raises(InvalidPredictions, match="largest of each row"):
        THREE_WAY.decide([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(InvalidPredictions, match="holds numbers, and the slices by country of this policy are text"):
        SLICED.decide([0.9, 0.9], by=[1, 2])
    numbered = sf.Policy(sf.Thresholds(0.9), 0.02, 0.05, 1000, by="branch", slices={1: sf.Thresholds(0.8)})
    with pytest.raises(InvalidPredictions, match="such as 1"):
        numbered.decide([0.9], by=["1"])


def test_confidences_of_one_probability_are_worked_out_in_float64():
    rng = np.random.default_rng(34)
    p = rng.beta(0.5, 0.5, 3000).clip(0.02, 0.98).round(2).astype(np.float32)
    found = sf.act_alone(y_true=(rng.random(3000) < p).astype(int), probabilities=p, error=0.05)
    wide = p.astype(np.float64)
    assert (found.policy.decide(np.maximum(wide, 1 - wide)) == "accept").sum() == found.accepted
    assert "float64" in (sf.Policy.decide.__doc__ or "")


@pytest.mark.parametrize(
    "labels",
    [[f"store {i}" for i in range(300)], list(range(-150, 150)), [True, False], [*range(5), "five", "six"]],
    ids=["text", "numbers", "booleans", "both"],
)
@pytest.mark.parametrize("as_objects", [False, True])
def test_many_slices_decide_as_each_does_alone(labels, as_objects):
    limits = {label: sf.Thresholds(0.5 + i / 1000, 0.3 + i / 1000, 0.1) for i, label in enumerate(labels)}
    policy = sf.Policy(sf.Thresholds(0.9), 0.02, 0.05, 1000, by="key", slices=limits)
    rng = np.random.default_rng(0)
    unknown = {str: "elsewhere", int: 999}.get(type(labels[0]))
    pool = labels if unknown is None else [*labels, unknown]
    keys = [pool[i] for i in rng.integers(0, len(pool), 2000)]
    is_mixed = len({isinstance(label, str) for label in labels}) > 1
    given = np.array(keys, dtype=object if as_objects or is_mixed else None)
    confidence = rng.random(2000)
    alone = [
        "review" if key not in limits else sf.Policy(limits[key], 0.02, 0.05, 1000).decide(float(c))
        for key, c in zip(keys, confidence, strict=True)
    ]
    assert policy.decide(confidence, by=given).tolist() == alone
    assert policy.decide(0.99, by=labels[0]) == "accept"


@pytest.mark.parametrize(
    ("slices", "keys"),
    [
        ((0, 1), True),
        ((0, 1), [True, False]),
        ((0, 1), np.array([True, None], dtype=object)),
        ((False, True), 1),
        ((False, True), [0, 1]),
        ((False, True), np.array([1.0, None], dtype=object)),
    ],
)
def test_true_is_not_the_slice_1(slices, keys):
    """Python holds them for equal, so a mix-up found a threshold, of whichever slice."""
    thresholds = dict(zip(slices, (sf.Thresholds(0.9), sf.Thresholds(0.5)), strict=True))
    policy = sf.Policy(sf.Thresholds(0.8), error=0.01, level=0.05, rows=900, by="flag", slices=thresholds)
    confidence = 0.95 if np.ndim(keys) == 0 else [0.95, 0.6]
    with pytest.raises(InvalidPredictions, match="the slices by flag of this policy are"):
        policy.decide(confidence, by=keys)
    assert policy.decide([0.95, 0.6], by=list(slices)).tolist() == ["accept", "accept"]
    some = np.array([slices[0], None], dtype=object)
    assert policy.decide([0.95, 0.95], by=some).tolist() == ["accept", "review"]
