"""The verdict: its words, its degrees, and that nothing beside it ever contradicts it."""

from pathlib import Path

import numpy as np
import pytest
from reference_sets import reference_sets
from scipy.stats import binom

import surefoot as sf
from surefoot.assessment.verdict import judge_predictions
from surefoot.figures.reliability import bands, near_certainty, reliability
from surefoot.metrics.tallying import tally
from surefoot.render import wording
from surefoot.render.html import report
from surefoot.risk.law.counts import counts_of
from surefoot.risk.test import both_sides
from surefoot.synthetic import PROFILES

SHOWN = (Path(__file__).parents[1] / "data" / "verdicts.txt").read_text()
FOUND = ("overconfident", "underconfident", "mixed")


@pytest.fixture(scope="module")
def assessed() -> dict[str, sf.Assessment]:
    return {name: sf.assess(p, metrics=()) for name, p in reference_sets().items()}


def test_verdict_degree_and_sentences_of_the_reference_sets(assessed) -> None:
    told = [
        "\n".join([f"# {name}", wording.headline(a), wording.advice(a), *wording.sentences(a)])
        for name, a in assessed.items()
    ]
    assert "\n\n".join(told) + "\n" == SHOWN


def test_the_reference_sets_have_every_word_and_degree(assessed) -> None:
    assert {a.verdict for a in assessed.values()} == {*FOUND, "no evidence against calibration", "inconclusive"}
    assert {a.degree for a in assessed.values()} == {"slightly", "clearly", "strongly", None}


def test_text_report_card_and_json_say_the_same(assessed) -> None:
    for a in assessed.values():
        head = wording.headline(a)
        assert head.upper() in str(a)
        assert a.to_dict()["headline"] == head
        assert a.to_dict()["verdict"] == a.verdict
        assert head in a._repr_html_()
        page = report(a)
        assert head in page
        assert "t most this much" not in page + str(a)


def generated(rng):
    """A data set of any kind: profile, size, and a way of being wrong in part of the range, or none."""
    doubt = np.clip(PROFILES[rng.choice(list(PROFILES))].draw(int(rng.choice([30, 100, 400, 1500])), rng)[1], 1e-9, 1)
    if rng.random() < 0.3:
        doubt = np.clip(np.round(doubt, 1), 0.05, 0.95)
    low, high = np.sort(rng.random(2))
    part = (doubt >= np.quantile(doubt, low)) & (doubt <= np.quantile(doubt, high))
    change = rng.choice([0.0, 0.0, 0.05, 0.1, -0.1, 0.2])
    factor = rng.choice([1.0, 1.0, 3.0, 0.3])
    chance = np.where(part, np.clip(doubt * factor + change, 0, 1), doubt)
    return sf.Predictions.from_correct(rng.random(len(doubt)) >= chance, doubt=doubt)


def contradictions(p: sf.Predictions, level: float = 0.05) -> tuple[str, list[str]]:
    """The verdict, and what stands beside it and speaks against calibration beyond doubt."""
    t = tally(p)
    over, under = both_sides(t)
    bins = reliability(t)
    verdict = judge_predictions(over, under, counts_of(t), bands(t), bins, level=level, margin=0.02).verdict
    found = []
    if max(over.e_value, under.e_value) >= 20 / level:
        found.append("e-value")
    # the count of all errors beyond its exact limits, by a convolution of its own
    mass = np.zeros(len(p) + 1)
    mass[0] = 1
    for q in p.doubt.tolist():
        mass[1:] = mass[1:] * (1 - q) + mass[:-1] * q
        mass[0] *= 1 - q
    errors = int(p.wrong.sum())
    if min(mass[errors:].sum(), mass[: errors + 1].sum()) <= level / 20:
        found.append("errors")
    for name, groups in (("diagram", bins), ("near certainty", near_certainty(t)), ("bands", bands(t))):
        for one in groups:
            share = min(one.doubt, 1.0)
            tails = binom.sf(one.seen - 1, one.rows, share), binom.cdf(one.seen, one.rows, share)
            if min(tails) * len(groups) <= level / 20:
                found.append(f"{name} {one}")
    return verdict, found


def test_no_all_clear_stands_beside_evidence_to_the_contrary() -> None:
    rng = np.random.default_rng(15)
    evidence = 0
    for _ in range(400):
        p = generated(rng)
        verdict, against = contradictions(p)
        if against:
            evidence += 1
            assert verdict in FOUND, (against, p)
    assert evidence > 100


def test_slices_follow_the_same_rules() -> None:
    rng = np.random.default_rng(3)
    doubt = rng.uniform(0.05, 0.5, 4000)
    group = np.repeat(["good", "bad", "meek", "few"], [1990, 1000, 1000, 10])
    chance = np.where(group == "bad", doubt + 0.12, np.where(group == "meek", doubt / 3, doubt))
    a = sf.assess(sf.Predictions.from_correct(rng.random(4000) >= chance, doubt=doubt), by=group, margin=0.03)
    found = {part.value: (part.verdict, part.degree) for part in a.slices}
    assert found["bad"] == ("overconfident", "strongly")
    assert found["meek"] == ("underconfident", "strongly")
    assert found["good"] == ("no evidence against calibration", None)
    assert found["few"] == ("inconclusive", None)
    assert "1 of 4 overconfident, 1 underconfident, 1 inconclusive" in str(a)
    document = a.to_dict()["slices"]
    assert [part["degree"] for part in document] == [part.degree for part in a.slices]


def test_low_confidences_that_are_right_more_often_are_not_overconfident() -> None:
    rng = np.random.default_rng(4)
    # 10% to 20% stated, twice as often right: too extreme, and not too high
    doubt = rng.uniform(0.8, 0.9, 1500)
    a = sf.assess(sf.Predictions.from_correct(rng.random(1500) >= 1 - 2 * (1 - doubt), doubt=doubt), metrics=())
    assert a.verdict == "underconfident"
    extremeness = next(one for one in a.risk.directions if one.name == "extremeness")
    assert extremeness.pvalue < 1e-6  # against overconfidence, by which alone it would have been called so


def wrong_first(rows: int, wrong: int) -> np.ndarray:
    return np.arange(rows) >= wrong


def test_no_errors_are_never_too_many() -> None:
    rng = np.random.default_rng(0)
    for doubt in (10.0 ** rng.uniform(-8, -6, 1000), 10.0 ** rng.uniform(-7, -5, 5000), np.full(300, 1e-4)):
        r = sf.risk_test(sf.Predictions.from_correct(np.ones(len(doubt), dtype=bool), doubt=doubt))
        assert r.pvalue_omnibus == 1
        assert [one.pvalue for one in r.directions] == [1] * 5
    # five rows at 0.01% that are wrong, as they should be
    a = sf.assess(sf.Predictions.from_correct(np.zeros(5, dtype=bool), np.full(5, 1e-4)), metrics=())
    assert a.verdict not in FOUND
    assert a.typical_csr == pytest.approx((1.0001, 1.0001))


def test_rounded_confidences_make_no_model_timid() -> None:
    rng = np.random.default_rng(1)
    confidence = 1 / (1 + np.exp(-np.abs(rng.normal(9, 3, 20_000))))
    correct = rng.random(20_000) < confidence
    for kind in (np.float16, np.float32):
        with pytest.warns(sf.RoundedConfidenceWarning):
            p = sf.Predictions.from_correct(correct, confidence.astype(kind))
        a = sf.assess(p, metrics=())
        assert p.rounded > 0
        assert a.verdict == "no evidence against calibration"
        assert any("the expected errors are approximate" in note for note in wording.notes(a))


def test_sums_of_unequal_weights_raise_no_false_alarm() -> None:
    doubt = np.append(np.full(10, 0.5), np.full(5000, 0.001))
    weight = np.append(np.full(10, 100.0), np.ones(5000))
    called = missed = 0
    for seed in range(60):
        correct = np.random.default_rng(seed).random(5010) >= doubt
        a = sf.assess(sf.tally(sf.Predictions.from_correct(correct, doubt=doubt, sample_weight=weight)))
        called += a.verdict in FOUND
        missed += not a.risk.overstatement_interval[0] <= 0 <= a.risk.overstatement_interval[1]
    # 5% of 60 plus three standard errors
    assert max(called, missed) <= 8


def test_weighted_models_are_mixed_as_much_as_others() -> None:
    rng = np.random.default_rng(0)
    confidence = np.repeat([0.95, 0.6], 400)
    correct = np.append(rng.random(400) < 0.65, rng.random(400) < 0.95)
    for weight in (None, rng.choice([1.0, 1.5], 800)):
        a = sf.assess(sf.Predictions.from_correct(correct, confidence, sample_weight=weight), metrics=())
        assert (a.verdict, a.degree) == ("mixed", "strongly")


def test_advice_agrees_with_the_numbers_below_it() -> None:
    # one range drives the verdict, and the mean says the opposite
    correct = np.append(wrong_first(100, 20), wrong_first(1000, 277))
    a = sf.assess(sf.Predictions.from_correct(correct, np.repeat([0.6, 0.75], [100, 1000])), metrics=())
    assert (a.verdict, a.risk.overstatement > 0) == ("underconfident", True)
    assert wording.advice(a).startswith("Not on average, but in one range")
    # too far from one half on both sides
    correct = np.append(wrong_first(400, 50), wrong_first(400, 346))
    a = sf.assess(sf.Predictions.from_correct(correct, np.repeat([0.9, 0.1], 400)), metrics=())
    assert a.verdict == "mixed"
    assert wording.deciding_pvalue(a) <= 0.025
    # far off in a small part
    correct = np.append(wrong_first(300, 165), wrong_first(30_000, 600))
    a = sf.assess(sf.Predictions.from_correct(correct, np.repeat([0.8, 0.98], [300, 30_000])), metrics=())
    assert (a.verdict, a.degree) == ("overconfident", "clearly")


def test_a_p_value_too_small_for_floats_claims_no_certain_row() -> None:
    for correct in (np.ones(20_000, dtype=bool), np.zeros(20_000, dtype=bool)):
        a = sf.assess(sf.Predictions.from_correct(correct, np.full(20_000, 0.5)), metrics=())
        assert min(a.risk.pvalue_omnibus, a.underconfidence.pvalue_omnibus) > 0
        assert "A row with confidence" not in report(a)


def test_rows_needed_do_not_depend_on_the_scale_of_weights() -> None:
    told = set()
    for weight in (1000.0, 1.0, 0.001):
        p = sf.Predictions.from_correct(np.arange(50) % 10 != 0, np.full(50, 0.9), sample_weight=np.full(50, weight))
        told.add(wording.advice(sf.assess(p, metrics=())))
    assert len(told) == 1


def test_a_mean_that_is_off_alone_is_said() -> None:
    doubt = np.linspace(1e-4, 0.1, 8000)
    z = 2.15
    extra = z * np.sqrt((doubt * (1 - doubt)).sum()) / doubt.sum()
    wrong = np.diff(np.floor(np.cumsum(doubt * (1 + extra))), prepend=0) > 0
    a = sf.assess(sf.Predictions.from_correct(~wrong, doubt=doubt), metrics=())
    if a.verdict not in FOUND:
        assert a.risk.overstatement_interval[0] > 0
        assert "The mean alone looks off" in " ".join(wording.sentences(a))


def test_margin_and_level_move_the_verdict() -> None:
    rng = np.random.default_rng(6)
    doubt = rng.uniform(0.05, 0.5, 3000)
    p = sf.Predictions.from_correct(rng.random(3000) >= doubt, doubt=doubt)
    high = sf.assess(p, metrics=()).risk.overstatement_interval[1]
    assert sf.assess(p, margin=high + 1e-6, metrics=()).verdict == "no evidence against calibration"
    assert sf.assess(p, margin=high - 1e-6, metrics=()).verdict == "inconclusive"
    smallest = min(sf.assess(p).risk.pvalue_omnibus, sf.assess(p).underconfidence.pvalue_omnibus)
    assert sf.assess(p, level=2.01 * smallest, metrics=()).verdict in FOUND
    with pytest.raises(ValueError, match="margin is"):
        sf.assess(p, margin=0)
    with pytest.raises(ValueError, match=r"For 95% confidence use level=0\.05"):
        sf.assess(p, level=0.95)


@pytest.mark.parametrize(
    ("truth", "predicted", "told"),
    [
        (
            [0, 1] * 100,
            [1, 0] * 90 + [0, 1] * 10,
            "would be right on 50.0%: labels or columns may be swapped",
        ),
        ([0] * 180 + [1] * 20, [0] * 120 + [1] * 80, "the most common class, would be right on 90.0%"),
        ([0, 1] * 100, [0, 1] * 60 + [1, 0] * 40, None),
    ],
)
def test_accuracy_below_chance_is_said(truth, predicted, told) -> None:
    warned = " ".join(sf.assess(sf.Predictions.from_labels(truth, predicted, [0.8] * 200)).warnings)
    assert (told in warned) if told else not warned


def test_a_headline_factor_rests_on_ten_errors(assessed) -> None:
    page = report(assessed["four errors above 99.99%, as many as expected in all"])
    assert "Reliability near certainty" in page
    assert "4 where about 0.33 were expected" in page
    page = report(assessed["errors eight times too many near certainty"])
    assert "(×" in page
