"""Whether what was expected came true: labels of all rows, of some, of other rows, and of rows not attempted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

import surefoot as sf
from surefoot.decisions.kept import _CHANCE, _reach
from surefoot.errors import InvalidPredictions


def binary(n: int, seed: int = 0, power: float = 1.5) -> tuple[Any, Any]:
    """Labels, and probabilities whose log-odds are ``power`` times too large."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 1, n)
    odds = (p / (1 - p)) ** (1 / power)
    return (rng.random(n) < odds / (1 + odds)).astype(int), p


def test_a_promise_that_holds_and_one_that_does_not() -> None:
    y, p = binary(6000)
    expected = sf.expect(p[3000:], reference=(y[:3000], p[:3000]))
    kept = expected.compare(sf.Predictions.from_probabilities(y[3000:], p[3000:]))
    assert kept.held
    assert kept["accuracy"].observed == pytest.approx(np.mean((p[3000:] > 0.5) == y[3000:]))
    rng = np.random.default_rng(0)
    turned = np.where(rng.random(3000) < 0.2, 1 - y[3000:], y[3000:])
    broken = expected.compare(sf.Predictions.from_probabilities(turned, p[3000:]))
    assert not broken.held
    assert "concept drift" in broken.sentence
    assert "did not hold" in str(broken).replace("\n ", "")


def test_labels_of_some_rows_widen_intervals() -> None:
    y, p = binary(4000)
    expected = sf.expect(p[2000:], reference=(y[:2000], p[:2000]))
    some = expected.compare(sf.Predictions.from_probabilities(y[2000:2200], p[2000:2200]))
    one = some["accuracy"].expected
    assert one.high - one.low > 2 * (expected["accuracy"].high - expected["accuracy"].low)
    with pytest.raises(InvalidPredictions, match="expectations were for"):
        expected.compare(sf.Predictions.from_probabilities(y, p))


def test_a_promise_of_many_metrics_is_kept_as_often_as_one_of_one() -> None:
    """Of 100 sets, about 5 may be called broken by chance; 12 would be 3 standard errors more."""
    broken = 0
    for seed in range(100):
        y, p = binary(900, seed)
        expected = sf.expect(p[500:], reference=(y[:500], p[:500]), calibrator="Platt")
        broken += not expected.compare(sf.Predictions.from_probabilities(y[500:], p[500:])).held
    assert broken <= 12


def test_labels_of_other_rows_are_refused() -> None:
    rng = np.random.default_rng(4)
    confidence = rng.uniform(0.5, 1, 1500)
    right = rng.random(1500) < confidence
    expected = sf.expect(confidence[:500], reference=sf.Predictions.from_correct(right[500:], confidence[500:]))
    sure = np.sort(confidence[:500])
    with pytest.raises(InvalidPredictions, match=r"mean confidence of 25.* and those given to expect 7"):
        expected.compare(correct=right[:500], confidence=np.full(500, 0.25))
    with pytest.raises(InvalidPredictions, match="no random part of them"):
        expected.compare(correct=right[:60], confidence=sure[:60])
    # a random part, and rounded numbers, are the same rows
    assert expected.compare(correct=right[:60], confidence=confidence[:60]).rows == 60
    assert expected.compare(correct=right[:500], confidence=confidence[:500].round(2)).rows == 500


def test_labelled_rows_of_no_weight_do_not_count() -> None:
    y, p = binary(2000)
    expected = sf.expect(p[1000:], reference=(y[:1000], p[:1000]))
    weight = (np.arange(1000) < 300).astype(float)
    wrong_elsewhere = np.where(weight > 0, y[1000:], p[1000:] < 0.5).astype(int)
    some = expected.compare(sf.Predictions.from_probabilities(wrong_elsewhere, p[1000:], sample_weight=weight))
    assert some.to_dict() == expected.compare(sf.Predictions.from_probabilities(y[1000:1300], p[1000:1300])).to_dict()


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 999])
def test_a_random_part_of_the_rows_is_not_refused_however_small(rows: int) -> None:
    y, p = binary(2000)
    expected = sf.expect(p[1000:], reference=(y[:1000], p[:1000]))
    rng = np.random.default_rng(rows)
    for _ in range(30):
        one = 1000 + rng.choice(1000, rows, replace=False)
        assert expected.compare(sf.Predictions.from_probabilities(y[one], p[one], labels=[0, 1])).rows == rows


def test_a_part_that_its_labels_chose_is_no_concept_drift() -> None:
    """Events are often known first. They are about as sure as the others, and predicted to be events."""
    y, p = binary(3000)
    expected = sf.expect(p[1000:], reference=(y[:1000], p[:1000]))
    events = 1000 + np.flatnonzero(y[1000:] == 1)
    some = events[: len(events) // 2]
    with pytest.raises(InvalidPredictions, match=r"predicted to be 0 in .*no random part.*not by their labels"):
        expected.compare(sf.Predictions.from_probabilities(y[some], p[some], labels=[0, 1]))


def test_how_far_a_random_part_may_be_off() -> None:
    """Bernstein's bound, which an exact tail must obey; of all but a few rows it is that of the others."""
    rows, events = 400, 60
    share = events / rows
    for part in (1, 5, 40, 200, 360, 399):
        reach = _reach(share * (1 - share), part, rows)
        counts = np.arange(part + 1)
        beyond = np.abs(counts / part - share) > reach
        assert hypergeom(rows, events, part).pmf(counts)[beyond].sum() <= _CHANCE, part
    assert _reach(0.25, rows, rows) == 0
    assert _reach(0.25, 399, 400) == pytest.approx(_reach(0.25, 1, 400) / 399)


def test_intervals_of_several_classes_are_a_tenth_wider_for_some_labels_too() -> None:
    """Of rows that are all alike, chance in the accuracy of n of them has the variance a(1 - a)/n."""
    rng = np.random.default_rng(1)
    probabilities = np.tile([0.6, 0.1, 0.1, 0.1, 0.1], (500, 1))
    labels = rng.choice(5, 500, p=probabilities[0])
    reference = sf.Predictions.from_probabilities(labels[:400], probabilities[:400], labels=list(range(5)))
    expected = sf.expect(probabilities[400:], reference=reference)
    one = expected["accuracy"]
    chance = 1.1**2 * one.value * (1 - one.value) / 100
    assert expected.share_of_chance == pytest.approx(chance / one.standard_error**2)
    some = sf.Predictions.from_probabilities(labels[400:425], probabilities[400:425], labels=list(range(5)))
    wider = expected.compare(some)["accuracy"].expected
    # a quarter of the rows: four times the variance of chance, and the same of what is not known
    assert wider.standard_error**2 == pytest.approx(one.standard_error**2 + 3 * chance)


def test_rows_that_were_not_attempted_are_counted_and_told(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(8)
    confidence = rng.uniform(0.5, 1, 1000)
    grade = np.where(rng.random(1000) < confidence, "CORRECT", "INCORRECT").astype(object)
    grade[::10] = "NOT_ATTEMPTED"
    frame = pd.DataFrame({"confidence": confidence, "grade": grade, "attempted": grade != "NOT_ATTEMPTED"})
    old, new = frame[:600], frame[600:]
    told = sf.expect(new[["confidence"]], reference=old, correct="grade", confidence="confidence")
    assert (told.rows, told.not_attempted, told.reference_rows, told.reference_not_attempted) == (400, 0, 540, 60)
    for text in (str(told), told.to_markdown(), told._repr_html_()):
        assert "60 of 600 reference rows (10.0%)" in " ".join(text.split())
    assert "All 400 rows without labels count as attempted" in " ".join(str(told).split())
    kept = told.compare(new, correct="grade", confidence="confidence")
    assert (kept.rows, kept.not_attempted, kept.to_dict()["not_attempted"]) == (360, 40, 40)
    assert "360 of 400 rows have labels and were attempted" in str(kept)

    columns = {"correct": "grade", "confidence": "confidence", "attempted": "attempted"}
    both = sf.expect(new.drop(columns="grade"), reference=old, **columns)
    old.to_csv(tmp_path / "old.csv", index=False)
    new.drop(columns="grade").to_csv(tmp_path / "new.csv", index=False)
    for one in (both, sf.expect(tmp_path / "new.csv", reference=tmp_path / "old.csv")):
        assert (one.rows, one.not_attempted, one.reference_not_attempted) == (360, 40, 60)
        assert "40 of 400 rows without labels (10.0%) and 60 of 600 reference rows" in " ".join(str(one).split())
        assert (one.to_dict()["not_attempted"], one.to_dict()["reference_not_attempted"]) == (40, 60)
    assert "40 more were not attempted" in str(both.compare(new, **columns))


def test_labels_that_came_first_are_named_before_drift() -> None:
    """Complaints come first, and are all errors: that is no change of what labels mean."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 600)
    y = (rng.random(600) < p).astype(int)
    of = sf.Predictions.from_probabilities
    expected = sf.expect(p[:200], reference=of(y[200:], p[200:]))
    wrong = np.flatnonzero(((p > 0.5) != y)[:200])
    kept = expected.compare(of(y[wrong], p[wrong], labels=[0, 1]))
    assert not kept.held
    assert "Either these rows were labelled first because of what their labels are" in kept.sentence
    assert "If they are a random part of the rows" in kept.sentence
    every = expected.compare(of(1 - y[:200], p[:200]))
    assert "Use these labels as the new reference" in every.sentence
