"""What people read about an event and about classes, on data whose words can be worked out by hand."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import polars as pl
import pytest
from event_sets import SETS, assessed, assessed_classes, classes, columns, event
from scipy import stats

import surefoot as sf
from surefoot.render import wording
from surefoot.render.next_steps import next_steps
from surefoot.render.side_by_side import report
from surefoot.render.text import Terminal, render

#: Words of the view of predictions, which mean something else here or nothing.
FOREIGN = (
    r"\bconfidences?\b|\baccuracy\b|\bCSR\b|\berrors?\b(?! of)|(?<!to )\bcorrect\b|\boverstate|\boverconfident|"
    r"\bsure(st)?\b"
)


def words(a: sf.Assessment) -> str:
    return " ".join(wording.sentences(a))


def up(value: float, digits: int = 3) -> str:
    """A bound that is not rounded to the kind side, by hand."""
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return f"{math.ceil(value * scale) / scale:.{max(0, round(math.log10(scale)))}f}"


def down(value: float, digits: int = 3) -> str:
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return f"{math.floor(value * scale) / scale:.{max(0, round(math.log10(scale)))}f}"


@pytest.mark.parametrize("name", SETS)
def test_each_set_has_the_verdict_it_was_made_for(name: str) -> None:
    assert assessed(name).verdict == name


def test_overpredicts_says_expected_observed_and_the_ratio_with_its_exact_interval() -> None:
    a = assessed("overpredicts")
    low, high = stats.beta.ppf(0.025, 118, 893), stats.beta.ppf(0.975, 119, 892)
    ratio = f"(O/E 0.432, 95% CI {down(low * 1010 / 273)} to {up(high * 1010 / 273)})"
    first, second, *rest = wording.sentences(a)
    assert first == f"Expected 273 events, observed 118 {ratio}."
    # 273 / 1010 and 118 / 1010
    assert second.startswith("Mean predicted probability is 27.0%, the observed share 11.7%: 15.3 points too high (95%")
    # above all where it predicts 65%: alone, or with the others; never all three
    assert rest[-1] == (
        "Fewer events than expected at predicted probabilities from 30.0% to 65%: 98 where about 223 were expected."
    )
    assert wording.headline(a) == "Strongly overpredicts"
    assert wording.advice(a) == "Predicted probabilities are too high on average: do not use them as they are."
    assert repr(a) == "<Assessment: strongly overpredicts, O/E 0.432, 1,010 rows>"


def test_underpredicts() -> None:
    a = assessed("underpredicts")
    # 100 + 150 + 170 = 420 events, 147 more than expected
    assert words(a).startswith("Expected 273 events, observed 420 (O/E 1.54, 95% CI ")
    assert "the observed share 41.6%: 14.6 points too low (95% CI " in words(a)
    assert "More events than expected at predicted probabilities" in words(a)
    assert wording.headline(a) == "Strongly underpredicts"
    assert "too low on average" in wording.advice(a)


def test_too_extreme_and_too_timid_name_the_ends_and_the_slope() -> None:
    extreme, timid = math.log(17 / 3) / math.log(19), math.log(9) / math.log(7 / 3)
    assert f"Low risks are too low and high risks too high (calibration slope {extreme:.3f}, 95% CI " in words(
        assessed("too extreme")
    )
    assert f"Low risks are too high and high risks too low (calibration slope {timid:.2f}, 95% CI " in words(
        assessed("too timid")
    )
    assert "Expected 500 events, observed 500 (O/E 1.00, " in words(assessed("too extreme"))
    assert "More events than expected at a predicted probability of 5.00%: 60 where about 20 were expected." in words(
        assessed("too extreme")
    )
    assert "Fewer events than expected at a predicted probability of 30.0%: 40 where about 120 were" in words(
        assessed("too timid")
    )
    assert wording.advice(assessed("too timid")).startswith("Predicted probabilities are too close to each other")


def test_no_evidence_says_within_which_margin() -> None:
    a = assessed("no evidence against calibration")
    assert wording.advice(a) == "On average, predicted and observed risk agree within 2 points (95% CI)."
    assert words(a).startswith("Expected 5,000 events, observed 5,000 (O/E 1.00, ")
    assert words(a).endswith("That does not exclude a difference in one range of predictions, or in one group of rows.")
    assert next_steps(a)[0].command == "sf.assess(..., by=groups)"


def test_inconclusive_says_how_far_off_it_could_be_either_way() -> None:
    a = assessed("inconclusive")
    # 16 of 40, Clopper and Pearson
    low, high = stats.beta.ppf(0.025, 16, 25), stats.beta.ppf(0.975, 17, 24)
    too_high, too_low = (math.ceil(1000 * size) / 10 for size in (0.4 - low, high - 0.4))
    expected = f"With 40 rows, predictions could be up to {too_high:g} points too high or {too_low:g} points too low on"
    assert wording.advice(a).startswith(expected)
    (step,) = next_steps(a)
    assert "enough to detect a difference of 2 points, or to exclude it, four times in five." in step.words
    assert not step.command


def test_no_event_at_all_and_events_only() -> None:
    none = sf.assess(event(((0.1, 200, 0), (0.3, 200, 0))))
    every = sf.assess(event(((0.7, 200, 200), (0.9, 200, 200))))
    # 20 + 60 expected; 140 + 180 expected
    assert words(none).startswith("Expected 80 events, observed 0 (O/E 0, 95% CI 0 to ")
    assert "the observed share 0.0%: 20 points too high" in words(none)
    assert words(every).startswith("Expected 320 events, observed 400 (O/E 1.25, 95% CI ")
    assert (none.verdict, every.verdict) == ("overpredicts", "underpredicts")
    for a in (none, every):
        assert "the C-statistic needs rows with the event and rows without it." in wording.notes(a)
        assert any("slope" in note and "all outcomes are the same" in note for note in wording.notes(a))


def test_what_was_given_no_probability_and_happened_comes_first() -> None:
    # three of ten rows at 0 had the event, two of ten rows at 1 had none
    a = sf.assess(event(((0.0, 10, 3), (0.5, 100, 50), (1.0, 10, 8))))
    assert wording.advice(a) == (
        "2 rows with predicted probability 1 had no event, and 3 rows with predicted probability 0 had one: "
        "probabilities of 0 and 1 leave no room for that."
    )
    only = sf.assess(event(((0.0, 10, 1), (0.5, 100, 50))))
    assert wording.advice(only).startswith("1 row with predicted probability 0 had the event: ")


def test_what_cannot_happen_is_not_told_as_too_many_events_or_too_few() -> None:
    # given the predictions, at least the two events have a chance of 1 - 0.8 x 0.7 = 0.44
    a = sf.assess([0, 1, 0, 1], [1.0, 0.0, 0.2, 0.3], of="event")
    assert wording.headline(a) == "Strongly too extreme"
    assert "1 row with predicted probability 1 had no event" in wording.advice(a)
    assert "chance" not in words(a)
    assert "No single range" not in words(a)


def test_weights_are_told_as_shares_of_the_weight() -> None:
    truth, p = columns(SETS["overpredicts"])
    weight = np.where(p == 0.1, 1.0, 2.0)
    a = sf.assess(truth, p, of="event", pos_label="died", labels=["alive", "died"], sample_weight=weight)
    # expected 50 + 2 (93 + 130) = 496, observed 20 + 2 (40 + 58) = 216, of a weight of 500 + 2 x 510 = 1520
    assert words(a).startswith(
        "By weight, the event was expected in 32.6% of the rows and observed in 14.2% (O/E 0.435, 95% CI "
    )
    assert "events than expected" not in words(a)
    assert "counted by weights that add up to 1,520" in " ".join(str(a).split())
    alike = sf.assess(event(SETS["overpredicts"], sample_weight=np.full(1010, 3.0)))
    assert wording.sentences(alike)[:2] == wording.sentences(assessed("overpredicts"))[:2]


def test_groups_are_told_in_a_note() -> None:
    a = sf.assess(event(SETS["overpredicts"]), groups=np.arange(1010) // 10)
    (note,) = [note for note in wording.notes(a) if note.startswith("rows belong to 101 groups")]
    # all groups are off the same way, which is no dependence within them
    assert "for the number of events; miscalibration that groups share adds to it)" in note
    assert "varies" not in note


def test_a_tally_and_a_lazy_frame_say_the_same() -> None:
    a = assessed("overpredicts")
    kept = sf.assess(sf.tally(event(SETS["overpredicts"])))
    truth, p = columns(SETS["overpredicts"])
    frame = pl.DataFrame({"y": truth, "p": p}).lazy()
    lazy = sf.assess(frame, y_true="y", y_proba="p", of="event", pos_label="died")
    for other in (kept, lazy):
        assert wording.sentences(other)[:2] == wording.sentences(a)[:2]
        assert wording.sentences(other)[-1] == wording.sentences(a)[-1]
    extreme = sf.assess(sf.tally(event(SETS["too extreme"])))
    assert "(calibration slope about 0.59)." in words(extreme)


def test_slices_are_counted_by_their_verdict() -> None:
    truth, p = columns((*SETS["overpredicts"], *SETS["underpredicts"], *SETS["inconclusive"]))
    site = np.repeat(["Oslo", "Rome", "Lima"], [1010, 1010, 40])
    a = sf.assess(truth, p, of="event", pos_label="died", labels=["alive", "died"], by=site)
    assert wording.slice_title(a) == (
        "Slices by slice: 1 overpredicted, 1 underpredicted, 1 inconclusive, of 3 (p adjusted for 3)"
    )
    text = str(a)
    assert re.search(r"v +Oslo +1,010 +273 +118 +0\.432", text)
    assert re.search(r"\^ +Rome +1,010 +273 +420 +1\.54", text)
    assert re.search(r"Lima +40 +16 +16 +1\.00", text)
    by_truth = sf.assess(truth, p, of="event", pos_label="died", labels=["alive", "died"], by="truth")
    assert "descriptive" in wording.slice_title(by_truth)
    assert "adj. p" not in str(by_truth)


@pytest.mark.parametrize("seed", range(12))
def test_the_sentences_count_what_the_rows_hold(seed: int) -> None:
    """Numbers and ranges read off the sentences are counted again in the rows."""
    rng = np.random.default_rng(seed)
    levels = np.sort(rng.choice(np.arange(1, 20) / 20, rng.integers(2, 9), replace=False))
    p = rng.choice(levels, 300)
    happened = rng.random(300) < np.clip(p ** rng.uniform(0.4, 2.5) + rng.normal(0, 0.1), 0, 1)
    a = sf.assess(happened.astype(int), p, of="event", pos_label=1, labels=[0, 1])
    told = words(a)
    first = re.match(r"Expected ([\d,.]+) events?, observed ([\d,]+)", told)
    assert first
    assert float(first[1]) == pytest.approx(p.sum(), abs=0.51)
    assert int(first[2]) == happened.sum()
    mean = float(p.mean() - happened.mean())
    assert ("too high (95% CI" in told) <= (mean > 0)
    assert ("too low (95% CI" in told) <= (mean < 0)
    places = re.findall(r"(Fewer|More) events than expected (at [^:]*): (\d+) where about ([\d.]+)", told)
    for side, where, seen, stated in places:
        ends = [float(end) / 100 for end in re.findall(r"([\d.]+)%", where)]
        inside = (p >= ends[0] - 1e-9) & (p <= ends[-1] + 1e-9)
        assert happened[inside].sum() == int(seen)
        assert p[inside].sum() == pytest.approx(float(stated), abs=0.51)
        assert (side == "Fewer") == (int(seen) < p[inside].sum())
    assert a.verdict not in ("overpredicts", "underpredicts") or not a.verdict.startswith(
        "over" if mean < 0 else "under"
    )


def test_classes_are_counted_and_the_worst_is_named() -> None:
    a = assessed_classes()
    off = [part for part in a.slices if part.verdict not in ("inconclusive", "no evidence against calibration")]
    assert a.verdict == "too extreme"
    assert len({part.verdict for part in off}) > 1
    assert wording.headline(a) == f"{str(a.degree).capitalize()} off, mostly too extreme: {len(off)} of 15 classes"
    assert repr(a) == f"<Assessment: {wording.headline(a).lower()}, 2,000 rows>"
    found = re.search(
        r"Furthest off is '(class \d+)': too extreme, with (fewer|more) events than expected at predicted "
        r"probabilities (above|up to) ([\d.]+)% \((\d+) where about ([\d.]+) were expected\)",
        words(a),
    )
    assert found
    p = classes(2000, 15, power=1.8)
    own = np.asarray(p.probabilities)[:, (p.labels or ()).index(found[1])]
    # bins are of equal width, a fifteenth each
    edge = round(15 * float(found[4]) / 100) / 15
    inside = own > edge if found[3] == "above" else own <= edge
    assert int(found[5]) == (np.asarray(p.truth)[inside] == found[1]).sum()
    assert float(found[6]) == pytest.approx(own[inside].sum(), abs=0.51)
    assert (found[2] == "fewer") == (int(found[5]) < float(found[6]))
    assert re.search(rf"\^v +{found[1]} ", str(a))
    assert "... and 5 more" in str(a)


def test_classes_without_a_finding() -> None:
    settled, few = assessed_classes(20_000, 4, 1.0), assessed_classes(60, 4, 1.0)
    assert settled.verdict == "no evidence against calibration"
    assert wording.headline(settled) == "No evidence against calibration in 4 classes"
    assert wording.advice(settled) == (
        "In every class, predicted and observed share agree within 2 points on average (95% CI)."
    )
    assert next_steps(settled)[0].command == 'sf.assess(..., of="event", pos_label=label, by=groups)'
    assert few.verdict == "inconclusive"
    name, reach = max(
        ((part.value, max(map(abs, part.risk.overstatement_interval))) for part in few.slices), key=lambda pair: pair[1]
    )
    most = math.ceil(round(1000 * reach, 6)) / 10
    assert wording.advice(few) == f"With 60 rows, the share of '{name}' could be off by up to {most:g} points (95% CI)."
    assert "in each class, four times in five" in next_steps(few)[0].words


def test_rare_events_that_are_not_settled_are_told_as_a_ratio() -> None:
    """Within two points of the truth, and still no one knows whether they occur half or three times as often."""
    happened = np.arange(3000) % 1000 == 7
    a = sf.assess(happened, np.full(3000, 0.001), of="event")
    low, high = (end / 3 for end in (0.6187, 8.7673))  # the exact Poisson limits of three events, over three
    assert a.verdict == "inconclusive"
    found = re.fullmatch(
        r"With 3,000 rows, the event could occur (.*) to (.*) times as often as predicted \(95% CI\)\.",
        wording.advice(a),
    )
    assert found
    assert float(found[1]) == pytest.approx(low, rel=0.01)
    assert float(found[2]) == pytest.approx(high, rel=0.01)
    assert "detect an O/E of 1/2 or 2, or to exclude it, four times in five" in next_steps(a)[0].words


def test_rare_classes_that_are_not_settled_are_told_as_a_ratio() -> None:
    truth = np.repeat(["common", "rare"], [2997, 3])
    p = np.tile([0.999, 0.001], (3000, 1))
    a = sf.assess(truth, p, labels=["common", "rare"], of="classes")
    assert a.verdict == "inconclusive"
    assert re.fullmatch(
        r"With 3,000 rows, 'rare' could occur 0\.20\d to 2\.9\d times as often as predicted \(95% CI\)\.",
        wording.advice(a),
    )
    assert "In 1 of 2 classes an O/E of 1/2 or 2 is not excluded." in wording.sentences(a)
    few = sf.assess(truth[-30:], p[-30:], labels=["common", "rare"], of="classes", metrics=())
    assert few.verdict == "mixed"  # three of the thirty are rare
    few = sf.assess(truth[:30], p[:30], labels=["common", "rare"], of="classes", metrics=())
    assert "In 2 of 2 classes a difference of 2 points, or an O/E of 1/2 or 2, is not excluded." in wording.sentences(
        few
    )


def test_a_class_that_never_occurs_and_one_class_off() -> None:
    truth = np.array(["a", "b"] * 100)
    p = np.tile([0.4, 0.4, 0.2], (200, 1))
    a = sf.assess(truth, p, labels=["a", "b", "c"], of="classes")
    assert "1 class never occurs: c." in wording.notes(a)
    assert "expected 40, observed 0" in words(a) or "expected 80, observed 100" in words(a)


@pytest.mark.parametrize("name", [*SETS, "classes"])
def test_no_word_of_the_other_view(name: str) -> None:
    a = assessed_classes() if name == "classes" else assessed(name)
    for medium in (str(a), a.summary(), a.to_markdown(), re.sub(r"<[^>]+>", " ", a._repr_html_())):
        found = re.search(FOREIGN, medium.replace("Calibration error", ""))
        assert found is None, (found, medium)
    document = json.loads(a.to_json())
    said = " ".join([document["headline"], document["advice"], *document["findings"], *document["notes"]])
    assert not re.search(FOREIGN, said)
    assert document["headline"] == wording.headline(a)
    assert document["findings"] == wording.sentences(a)


@pytest.mark.parametrize("width", [50, 60, 72, 80, 88])
@pytest.mark.parametrize("name", ["overpredicts", "classes"])
def test_the_text_fits_the_terminal(name: str, width: int) -> None:
    a = assessed_classes() if name == "classes" else assessed(name)
    for line in render(a, Terminal(symbols=True, width=width)).splitlines():
        assert len(line) <= width, line


def test_next_steps_from_a_file_keep_the_view(tmp_path: object) -> None:
    path = f"{tmp_path}/risk.csv"
    truth, p = columns(SETS["no evidence against calibration"])
    with open(path, "w") as file:
        file.write("died,risk\n" + "\n".join(f"{int(y == 'died')},{q}" for y, q in zip(truth, p, strict=True)))
    a = sf.assess(path, truth="died", probabilities="risk", of="event")
    assert next_steps(a)[0].command == (
        f"surefoot assess {path} --truth died --probabilities risk --of event --by COLUMN"
    )
    head = str(a).splitlines()[0]
    assert "10,000 rows of risk.csv" in head
    assert " ".join(str(a).split()).count("event: ") == 1


def test_a_comparison_of_events_speaks_of_events() -> None:
    truth, p = columns(SETS["overpredicts"])
    models = {
        name: sf.Predictions.from_probabilities(truth, q, labels=["alive", "died"], of="event", pos_label="died")
        for name, q in (("first", p), ("halved", p / 2))
    }
    c = sf.compare(models)
    text = str(c)
    assert re.search(r"O/E +0\.432 +0\.864", text)
    # the logarithm of the ratio of ratios: predictions are half as high
    assert c.values["halved"]["log_oe"].value == pytest.approx(math.log(2))
    # expected 136.5 fewer events in 1010 rows
    assert c.values["halved"]["overstatement"].value == pytest.approx(-136.5 / 1010)
    told = " ".join(text.split())
    assert "halved is better calibrated on average than first: O/E 0.864 against 0.432; first predicts higher" in told
    assert "mean prediction minus observed share is 13.5 points more (p " in told
    low = sf.Predictions.from_probabilities(truth, p / 6, labels=["alive", "died"], of="event", pos_label="died")
    # too high by 15.3 points, too low by 7.2: which is worse is not tested
    assert "first predicts higher than low: mean" in " ".join(
        str(sf.compare({"first": models["first"], "low": low})).split()
    )
    other = sf.Predictions.from_probabilities(truth[::-1], p, labels=["alive", "died"], of="event", pos_label="died")
    unpaired = str(sf.compare({"first": models["first"], "other": other}))
    assert "1,010 rows in both, but not the same truth: differences are not paired" in " ".join(unpaired.split())
    page = report(c)
    assert "Intervals at 95%" in page
    assert "CSR" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    assert not re.search(FOREIGN, text)
    with pytest.raises(sf.InvalidPredictions, match="about different things"):
        sf.compare(
            {"one": models["first"], "other": sf.Predictions.from_probabilities(truth, p, labels=["alive", "died"])}
        )
    both = sf.compare({"one": classes(200, 3), "other": classes(200, 3, power=2.0)})
    assert "one class with of='event'" in " ".join(str(both).split())
    assert "C-statistic" in str(both)
