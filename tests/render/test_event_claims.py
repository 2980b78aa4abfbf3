"""Nothing is said of an event, or of classes, that the numbers beside it do not show."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from event_sets import SETS, assessed, assessed_classes, classes, columns, event
from risk_sample import DIED, RISK

import surefoot as sf
from surefoot.render import wording
from surefoot.render.event_spread import slope_of, spread_words
from surefoot.render.html import report
from surefoot.render.numbers import one_in, percents, points, ratio, ratio_interval, risk_percent

RNG = np.random.default_rng(3)


def words(a: sf.Assessment) -> str:
    return " ".join(wording.sentences(a))


def risk(y: object, p: object, **options: object) -> sf.Assessment:
    return sf.assess(y_true=y, probabilities=p, of="event", pos_label=1, labels=[0, 1], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_a_slope_is_quoted_only_where_its_interval_leaves_out_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 1.3, 2500)
    y = rng.random(2500) < 1 / (1 + np.exp(-x))
    p = 1 / (1 + np.exp(-x * rng.choice([0.8, 1.0, 1.1, 1.4]) - rng.choice([0.0, 0.3])))
    # a few rows near 0 that the model is too sure of, which no slope shows
    p[rng.choice(2500, 40, replace=False)] = 1e-4
    a = risk(y.astype(int), p)
    low, high = (getattr(a.intervals["calibration_slope"], end) for end in ("low", "high"))
    told = words(a)
    assert ("calibration slope" in told) <= (high < 1 or low > 1)
    assert ("Low risks are" in told or "High risks are" in told) <= (high < 1 or low > 1)
    assert (spread_words(a) != "") <= (high < 1 or low > 1)
    if a.verdict in ("too extreme", "too timid"):
        assert len(wording.sentences(a)) >= 3, "it says where"


def test_a_few_rows_near_0_are_named_without_a_slope() -> None:
    # 8 events where 0.04 were expected; all else as predicted
    a = sf.assess(event(((1e-3, 40, 8), (0.1, 2000, 200), (0.5, 1000, 500), (0.9, 1000, 900))))
    assert a.verdict in ("too extreme", "underpredicts")
    if a.intervals["calibration_slope"].high >= 1:
        assert "slope" not in words(a)
    assert "More events than expected at a predicted probability of 0.100%: 8 where about 0.040" in words(a)


def test_a_reversed_ranking_is_called_so() -> None:
    x = RNG.normal(0, 1.5, 2000)
    y = RNG.random(2000) < 1 / (1 + np.exp(-x))
    a = risk(y.astype(int), 1 / (1 + np.exp(x)))
    assert a.intervals["calibration_slope"].high < 0
    assert "The ranking is reversed: the higher the prediction, the rarer the event (calibration slope -" in words(a)
    assert "risks are" not in words(a)
    assert wording.advice(a).startswith("Higher predictions go with fewer events: check the labels")
    unrelated = risk((RNG.random(3000) < 0.5).astype(int), RNG.uniform(0.05, 0.95, 3000))
    value = unrelated.metrics["calibration_slope"]
    assert ("Higher predictions do not go with more events" in words(unrelated)) == (value <= 0)


def test_a_tally_has_the_slope_that_the_rows_have_and_about_the_same_limits() -> None:
    rows, kept = assessed("too extreme"), sf.assess(sf.tally(event(SETS["too extreme"])))
    assert slope_of(kept) == pytest.approx(slope_of(rows), rel=0.02)


def test_no_slope_where_a_probability_of_0_was_contradicted() -> None:
    x = RNG.normal(0, 1, 3000)
    y = (RNG.random(3000) < 1 / (1 + np.exp(-x))).astype(int)
    p = 1 / (1 + np.exp(-x))
    p[np.argmax(y)] = 0.0
    a = risk(y, p)
    assert math.isnan(a.metrics["calibration_slope"])
    assert "slope" not in words(a)
    assert "1 row with predicted probability 0 had the event" in wording.advice(a)
    assert math.isnan(slope_of(sf.assess(sf.tally(a.predictions)))[0])


def test_a_contradiction_that_pulls_the_other_way_is_told_after_the_mean() -> None:
    a = sf.assess(event(((0.0, 100, 7), (0.6, 1000, 200), (0.9, 500, 200))))
    assert a.verdict == "overpredicts"
    assert wording.advice(a) == (
        "Predicted probabilities are too high on average. Even so, 7 rows with predicted probability 0 had the event: "
        "probabilities of 0 and 1 leave no room for that."
    )


def test_what_shows_an_average_that_the_interval_of_oe_does_not() -> None:
    # predictions near 0 and 1: the number of events given them hardly varies
    a = sf.assess(event(((0.005, 500, 13), (0.9, 500, 470))))
    low, high = a.risk.oe_interval
    assert low <= 1 <= high
    assert a.verdict == "underpredicts"
    shown = re.search(
        r"more than chance: calibration in the large is ([\d.]+) \(95% CI ([\d.]+) to ([\d.]+)\)", words(a)
    )
    assert shown
    assert float(shown[1]) == pytest.approx(a.metrics["calibration_in_the_large"], rel=0.01)
    assert float(shown[2]) > 0
    kept = sf.assess(sf.tally(a.predictions))
    if "calibration_in_the_large" not in kept.intervals:
        assert "so many events, or more, had a chance of 0.0" in words(kept) or "e-" in words(kept)


def test_digits_keep_an_interval_on_its_side_of_1() -> None:
    assert ratio_interval(0.99912, 0.99968) == "0.9991 to 0.9997"
    assert ratio_interval(1.00042, 1.00081) == "1.0004 to 1.0009"
    assert ratio_interval(0.9905, 1.0001) == "0.990 to 1.01"
    assert ratio(0.9995, 0.99912, 0.99968) == "0.9995"
    assert ratio(0.432, 0.36, 0.51) == "0.432"
    many = sf.assess(event(((0.5, 400, 200), (0.9999, 900_000, 899_500), (1 - 1e-6, 900_000, 899_990))))
    low, high = (float(end) for end in re.findall(r"O/E [\d.]+, 95% CI ([\d.]+) to ([\d.]+)", words(many))[0])
    exact = many.risk.oe_interval
    assert (low <= 1 <= high) == (exact[0] <= 1 <= exact[1])


def test_rare_events_have_digits_that_tell() -> None:
    assert percents(0.0006, 0.0014) == ["0.06%", "0.14%"]
    assert percents(0.27, 0.117) == ["27.0%", "11.7%"]
    assert percents(0.1234, 0.1234) == ["12.3%", "12.3%"]
    assert one_in(8.3e-5) == "1 in 12,000"
    assert (risk_percent(7.64e-10), risk_percent(1e-20)) == ("1 in 1,300,000,000", "below 1 in 10,000,000,000")
    assert risk_percent(8.3e-5) == "1 in 12,000"
    a = sf.assess(event(((0.0004, 50_000, 60), (0.0012, 20_000, 38))))
    assert "Mean predicted probability is 0.06%, the observed share 0.14%:" in words(a)
    rare = sf.assess(event(((2e-5, 400_000, 9), (8e-5, 100_000, 8))))
    assert "Mean predicted probability is 1 in 31,000, the observed share 1 in 29,000." in words(rare)
    assert not re.search(r"e-\d+%|0\.00\d points", str(rare))


def test_one_point_is_no_plural() -> None:
    assert (points(0.01), points(-0.01), points(0.02)) == ("1 point", "-1 point", "2 points")


def test_an_interval_that_rests_on_one_sample_says_so() -> None:
    from surefoot.risk.intervals import note_on

    assert note_on(1, "samples of the rarer outcome", None) == (
        "the interval rests on 1 sample of the rarer outcome and is approximate."
    )
    assert "3 rows of the rarest class" in note_on(3, "rows of the rarest class", None)


def test_the_headline_of_classes_counts_as_the_table_does() -> None:
    # class 0 is rare and known, class 1 and 2 share the rest
    rng = np.random.default_rng(0)
    seen = set()
    for rows in (400, 700, 1000, 1500, 2500, 3500):
        p = np.tile([0.01, 0.485, 0.505], (rows, 1))
        t = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
        a = sf.assess(y_true=t, probabilities=p, labels=[0, 1, 2], of="classes")
        unsure = sum(part.verdict == "inconclusive" for part in a.slices)
        if a.verdict == "inconclusive":
            seen.add(unsure)
            assert wording.headline(a) == f"Inconclusive for {'3' if unsure == 3 else f'{unsure} of 3'} classes"
            # of two points, or of a factor of two
            assert re.search(rf"In {unsure} of 3 classes an? (difference|O/E) of [^.]* not excluded", words(a))
            assert re.search(
                r"the share of class \d could be off|class \d could occur .* times as often", wording.advice(a)
            )
    assert seen - {3}


def test_classes_that_are_off_in_different_ways() -> None:
    truth = np.repeat([0, 1, 2], [600, 300, 100])
    p = np.tile([0.4, 0.3, 0.3], (1000, 1))
    a = sf.assess(y_true=truth, probabilities=p, labels=[0, 1, 2], of="classes")
    assert a.verdict == "mixed"
    assert wording.headline(a) == "Strongly off in different ways: 2 of 3 classes"
    assert "off in different ways" in wording.advice(a)
    assert re.search(r"Furthest off is class \d: (under|over)predicted, expected \d+, observed \d+ \(O/E", words(a))
    one = sf.assess(
        y_true=np.repeat([0, 1, 2, 3], [200, 290, 270, 240]),
        probabilities=np.tile([0.1, 0.3, 0.3, 0.3], (1000, 1)),
        labels=[0, 1, 2, 3],
        of="classes",
    )
    counted = {part.value: part.verdict for part in one.slices}
    assert counted[0] == "underpredicts"
    off = {
        verdict for verdict in counted.values() if verdict not in ("inconclusive", "no evidence against calibration")
    }
    if off == {"underpredicts"}:
        assert wording.headline(one) == "Strongly off: 1 of 4 classes is underpredicted"


def test_one_adjusted_p_value_in_the_summary_and_the_table() -> None:
    for a in (assessed_classes(), assessed_classes(60, 4, 1.0)):
        least = min(part.pvalue_adjusted for part in a.slices)
        assert wording.deciding_pvalue(a) == least
        text = " ".join(str(a).split())
        assert f"adjusted for {len(a.slices)} classes; decides at 0.05" in text
    few = assessed_classes(60, 4, 1.5)
    assert few.verdict == "inconclusive"
    (shown,) = re.findall(r"adjusted for 4 classes: ([\d.]+)\)", words(few))
    assert len(re.findall(rf"\b{re.escape(shown)}\b", str(few))) >= 3


def test_means_over_some_of_the_classes_are_called_so() -> None:
    p = classes(400, 4)
    table = np.asarray(p.probabilities)
    truth = np.where(np.asarray(p.truth) == "class 3", "class 0", np.asarray(p.truth))
    a = sf.assess(y_true=truth, probabilities=table, labels=list(p.labels or ()), of="classes")
    (note,) = [note for note in wording.notes(a) if "mean over the others" in note]
    assert note.startswith(
        "slope, C-statistic, scaled Brier: there is no value for 1 of 4 classes ('class 3'); each is"
    )
    card = re.search(r"Brier score</[^>]+>(.*?)Mean over classes", report(a), re.DOTALL)
    assert card


def test_rounded_probabilities_are_told_at_both_ends(tmp_path: object) -> None:
    p = np.round(np.concatenate([np.zeros(30), np.linspace(0.05, 0.95, 200), np.ones(30)]), 2)
    y = (np.random.default_rng(1).random(260) < p).astype(int)
    path = f"{tmp_path}/risk.csv"
    with open(path, "w") as file:
        file.write("died,risk\n" + "\n".join(f"{a},{b:.2f}" for a, b in zip(y, p, strict=True)))
    a = sf.assess(path, truth="died", probabilities="risk", of="event")
    assert a.risk.rounded
    (note,) = [note for note in wording.notes(a) if "rounded" in note]
    assert note.startswith(f"{a.risk.rounded:,} of 260 predicted probabilities are 0 or 1 because they were rounded.")


def test_a_risk_model_is_told_of_the_event() -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(1, 12, 2000)
    y = (rng.random(2000) < p).astype(int)
    note = (
        "this is about the predicted label. If this is a risk model, ask whether the event happens as often as "
        'predicted: of="event".'
    )
    a = sf.assess(y_true=y, probabilities=p)
    assert note in wording.notes(a)
    assert note in " ".join(str(a).split())
    assert "If this is a risk model" in a.to_markdown()
    assert "If this is a risk model" in report(a)
    assert "If this is a risk model" in a.to_json()
    # also of the file that this view was made for, where 1 is predicted in one row of ten
    assert note in wording.notes(sf.assess(y_true=DIED, probabilities=RISK))
    half = rng.uniform(0, 1, 2000)
    for other in (
        sf.assess(y_true=(rng.random(2000) < half).astype(int), probabilities=half),
        sf.assess(y_true=y, probabilities=np.column_stack([1 - p, p])),
        sf.assess(y_true=y, probabilities=p, of="event"),
    ):
        assert not any("risk model" in one for one in wording.notes(other))


def test_weighted_tables_have_no_negative_events() -> None:
    truth, p = columns(((0.05, 300, 0), (0.4, 300, 0), (0.95, 300, 300)))
    weight = np.random.default_rng(2).uniform(1e-3, 1e3, 900)
    a = sf.assess(truth, p, of="event", pos_label="died", labels=["alive", "died"], sample_weight=weight)
    for text in (str(a), a.to_markdown(), re.sub(r"<[^>]+>", " ", report(a))):
        assert not re.search(r"[-−]\d[\d.]*\s?(e-|×\s?10⁻)", text)
        assert "-0 " not in text
