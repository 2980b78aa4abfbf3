"""The assessment: verdict, values, slices, and how they are told."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.render.numbers import factor, percent, precise_percent, significant


def profile(rows: int, accuracy, seed: int = 0) -> sf.Predictions:
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.5, 0.95, rows)
    predicted = rng.integers(0, 2, rows)
    correct = rng.random(rows) < accuracy(c)
    return sf.Predictions.from_labels(np.where(correct, predicted, 1 - predicted), predicted, c)


@pytest.mark.parametrize(
    ("accuracy", "verdict"),
    [
        (lambda c: 0.8 * c, "overconfident"),
        (lambda c: c, "no evidence against calibration"),
        (lambda c: np.sqrt(c), "underconfident"),
    ],
)
def test_verdicts(accuracy, verdict: str) -> None:
    assert sf.assess(profile(4000, accuracy)).verdict == verdict


def test_every_metric_the_data_can_give_is_there_and_the_others_say_why() -> None:
    p = profile(300, lambda c: c)
    a = sf.assess(p)
    assert set(a.metrics) == {name for name, metric in ALL.items() if not metric.is_ranking}
    for name in a.metrics:
        assert a[name] == pytest.approx(ALL[name](p), rel=1e-14)
    with pytest.raises(sf.MetricUnavailable, match="auc ranks the scores"):
        a["auc"]
    with pytest.raises(sf.MetricUnavailable, match="no metric 'x'"):
        a["x"]


def test_all_doors_lead_to_an_assessment() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    expected = sf.assess(sf.Predictions.from_probabilities(y, p)).to_dict()
    frame = {"y": y, "p": p}
    assert sf.assess(y_true=y, probabilities=p).to_dict() == expected
    assert sf.assess(y, p, pos_label=1).to_dict() == expected
    assert sf.assess(y, np.stack([1 - p, p], axis=1)).verdict == sf.assess(y_true=y, probabilities=p).verdict
    assert sf.assess(pd.DataFrame(frame), truth="y", probabilities="p").to_dict() == expected
    assert sf.assess(pl.DataFrame(frame), truth="y", probabilities="p").to_dict() == expected


def test_columns_of_a_frame_are_named_by_every_role() -> None:
    frame = pd.DataFrame({"y": [0, 1], "g": [0, 1], "ok": [True, False], "c": [0.9, 0.6]})
    for each in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        assert sf.assess(each, correct="ok", confidence="c")["accuracy"] == 0.5
        assert sf.assess(each, truth="y", predicted="g", confidence="c")["accuracy"] == 1
    table = [[0.9, 0.1], [0.1, 0.9]]
    assert sf.assess([0, 1], table, y_pred=[0, 0])["accuracy"] == 0.5
    with pytest.raises(TypeError, match="unexpected argument 'probabilites'"):
        sf.assess(y_true=[0, 1], probabilites=[0.1, 0.2])
    with pytest.raises(TypeError, match="unexpected argument 'y_true'"):
        sf.assess(correct=[True], y_true=[0], confidence=[0.5])


@pytest.mark.parametrize(
    "first",
    [
        [0, 1, 1, 0],
        [True, False, True, True],
        np.array([1.0, 0.0, 1.0, 1.0]),
        np.array([True, False, True, True], dtype=object),
    ],
)
def test_two_columns_by_position_that_may_mean_either_are_refused(first) -> None:
    numbers = [0.9, 0.8, 0.7, 0.6]
    with pytest.raises(sf.InvalidPredictions) as raised:
        sf.assess(first, numbers)
    assert "assess(y_true=x, probabilities=numbers)" in str(raised.value)
    assert "assess(correct=x, confidence=numbers)" in str(raised.value)
    as_correct = sf.assess(correct=first, confidence=numbers)
    assert as_correct["mean_confidence"] == pytest.approx(0.75)
    assert sf.assess(y_true=np.array(first, dtype=int), probabilities=numbers)["accuracy"] == np.mean(first)
    assert sf.assess(y_true=["a", "b"], y_pred=["a", "a"], confidence=[0.9, 0.6])["accuracy"] == 0.5


def test_what_is_not_named_right_is_said() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'nonsense'"):
        sf.assess(correct=[True], confidence=[0.5], nonsense=1)
    with pytest.raises(sf.InvalidPredictions, match="nothing to assess"):
        sf.assess()
    with pytest.raises(TypeError, match="from_probabilities"):
        sf.Predictions([0, 1], [0.2, 0.8])


def test_a_tally_assesses_like_its_rows_within_the_bound_it_states() -> None:
    rng = np.random.default_rng(2)
    p = sf.Predictions.from_probabilities(rng.integers(0, 3, 500), rng.dirichlet([1, 1, 1], 500))
    rows, kept = sf.assess(p), sf.assess(sf.tally(p))
    assert kept.verdict == rows.verdict
    assert kept.risk == rows.risk
    for name, value in kept.metrics.items():
        assert value == pytest.approx(rows[name], rel=1e-12, abs=kept.bounds.get(name, 0) + 1e-15)
    assert "needs the rows" in kept.reasons["equal_mass_ece"]


def test_slices_are_assessments_of_their_rows() -> None:
    p = profile(900, lambda c: 0.9 * c)
    group = np.array(["x", "y", "z"])[np.arange(900) % 3]
    a = sf.assess(p, by=group)
    assert [part.value for part in a.slices] == ["x", "y", "z"]
    for part in a.slices:
        alone = sf.assess(p[group == part.value])
        assert part.risk == alone.risk
        # the verdict is adjusted for the number of slices: what it finds, the slice alone shows too
        assert part.verdict in (alone.verdict, "inconclusive")
        assert part.metrics["cw_accuracy"] == alone["cw_accuracy"]
    frame = pd.DataFrame({"truth": p.truth, "predicted": p.predicted, "confidence": p.confidence, "g": group})
    assert sf.assess(frame, by="g").to_dict()["slices"] == a.to_dict()["slices"]


def test_slices_by_truth_get_no_verdict() -> None:
    a = sf.assess(profile(300, lambda c: c), by="truth")
    assert [part.verdict for part in a.slices] == [None, None]
    assert "descriptive" in str(a)
    assert [part.value for part in sf.assess(profile(300, lambda c: c), by="predicted").slices] == [0, 1]


@pytest.mark.parametrize("by", ["colour", [1, 2, 3], [None] * 300])
def test_a_bad_slicing_column_says_so(by: object) -> None:
    with pytest.raises(sf.InvalidPredictions, match="by"):
        sf.assess(profile(300, lambda c: c), by=by)


@pytest.mark.parametrize("level", [0, 1, -0.1, "a", True])
def test_a_bad_level_says_so(level: object) -> None:
    with pytest.raises(ValueError, match="level is"):
        sf.assess(profile(30, lambda c: c), level=level)


def test_json_is_strict_and_gives_reasons(tmp_path) -> None:
    p = sf.Predictions.from_correct([False, True, True], [1.0, 0.5, 0.7])
    text = sf.assess(p).to_json(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == text
    document = json.loads(text, parse_constant=lambda c: pytest.fail(c))
    assert document["schema"] == 2
    assert (document["expected_errors"], document["observed_errors"]) == pytest.approx((0.8, 1))
    assert document["headline"] == "Clearly overconfident"
    assert document["risk"]["directions"][0]["name"] == "errors"
    assert document["metrics"]["csr"]["value"] is None
    assert "no probability happened" in document["metrics"]["csr"]["reason"]
    assert document["metrics"]["auc"] == {"value": None, "reason": ALL["auc"].missing(p)}
    assert document["risk"]["csr"] is None
    assert document["risk"]["csr_reason"] == "infinite"
    assert document["metrics"]["accuracy"]["value"] == pytest.approx(2 / 3)


def test_print_says_what_was_found() -> None:
    text = str(sf.assess(profile(4000, lambda c: 0.8 * c), by="predicted"))
    assert "v STRONGLY OVERCONFIDENT\n  Do not take these confidences at face value." in text
    assert "\n  Risk\n    O/E" in text
    assert "\n  Value\n    accuracy" in text
    assert "Slices by predicted: 2 of 2 overconfident" in text
    assert max(map(len, text.splitlines())) <= 88
    certain = str(sf.assess(sf.Predictions.from_correct([False, True], [1.0, 0.5])))
    assert "1 row with confidence 1 was wrong" in certain


def test_print_tells_of_rounded_and_certain_rows() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning):
        p = sf.Predictions.from_correct([True, True], np.array([1, 0.5], dtype=np.float32))
    assert "note: 1 of 2 confidences are 1.0 by rounding" in str(sf.assess(p))
    assert "1 of 2 rows have confidence 1 and are right" in str(
        sf.assess(sf.Predictions.from_correct([1, 1], [1.0, 0.5]))
    )


def test_names_from_outside_are_shown_escaped_and_cut() -> None:
    group = ["a\x1b[31m\u202e", "b" * 60] * 50
    text = str(sf.assess(profile(100, lambda c: c), by=group))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "b" * 41 not in text


def test_an_estimator_is_assessed_by_its_probabilities() -> None:
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression(max_iter=1000).fit(X[::2], names[::2])
    a = sf.assess_estimator(model, X[1::2], names[1::2])
    assert a["accuracy"] == pytest.approx(model.score(X[1::2], names[1::2]))
    with pytest.raises(sf.InvalidPredictions, match="predict_proba"):
        sf.assess_estimator(object(), X, y)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (13.3733, "13.4"),
        (0.03978, "0.0398"),
        (8.09, "8.09"),
        (999.6, "1,000"),
        (2631578.9, "2.63e+06"),
        (0, "0"),
        (math.inf, "∞"),
        (math.nan, "—"),
        (1.234e-7, "1.23e-07"),
        (9.996, "10.0"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.99988, "99.988%"),
        (0.9999, "99.99%"),
        (0.99, "99%"),
        (0.9, "90%"),
        (0.9756, "97.6%"),
        (1.0, "100%"),
        (1 - 1e-12, "99.9999999999%"),
    ],
)
def test_a_confidence_keeps_two_digits_of_its_doubt(value: float, text: str) -> None:
    assert precise_percent(value) == text


def test_percentages_and_factors() -> None:
    assert percent(0.9359) == "93.6%"
    assert percent(0.99999) == "99.999%"
    assert percent(1.0) == "100.0%"
    assert factor(40, 1.2) == "×33"
    assert factor(0, 1.2) == ""


def test_the_verdict_is_by_the_omnibus_p_value_each_side_at_half_the_level() -> None:
    rng = np.random.default_rng(0)
    for mode in ("perfect", "overconf_root", "underconf_sqrt"):
        for size in (50, 300):
            p = sf.synthetic.predictions("tight_hi", mode, size, rng=rng)
            over, under = (sf.risk_test(p, alternative=side) for side in ("overconfident", "underconfident"))
            a = sf.assess(p)
            assert (a.risk, a.underconfidence) == (over, under)
            # confidences above 80%: no side is one of low confidences
            if over.pvalue_omnibus <= 0.025:
                assert a.verdict == "overconfident"
            elif under.pvalue_omnibus <= 0.025:
                assert a.verdict == "underconfident"
            else:
                is_wide = over.overstatement_interval[1] > 0.02
                assert a.verdict == ("inconclusive" if is_wide else "no evidence against calibration")


def test_one_heavy_row_does_not_blind_the_verdict_as_it_blinds_z() -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.naive_bayes import GaussianNB

    X, y = load_breast_cancer(return_X_y=True)
    a = sf.assess_estimator(GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert a.risk.z < 1e-6
    assert a.verdict == "overconfident"
    assert "holds 100% of the variance" in str(a)


def test_slices_are_adjusted_for_their_number() -> None:
    rng = np.random.default_rng(5)
    p = sf.synthetic.predictions("normal", "perfect", 6000, rng=rng)
    group = np.arange(6000) % 12
    worse = group == 3
    correct = p.correct.copy()
    correct[worse] &= rng.random(worse.sum()) < 0.7
    a = sf.assess(sf.Predictions.from_correct(correct, p.confidence), by=group)
    assert [part.value for part in a.slices if part.verdict == "overconfident"] == [3]
    assert [part.value for part in a.slices if part.named_by_e_values] == [3]
    # Holm by hand: the k-th smallest of m is multiplied by m - k + 1, and no later one is smaller
    raw = sorted(2 * min(s.risk.pvalue_omnibus, s.underconfidence.pvalue_omnibus) for s in a.slices)
    expected, last = [], 0.0
    for k, value in enumerate(raw):
        last = max(last, min(1.0, min(1.0, value) * (12 - k)))
        expected.append(last)
    assert sorted(s.pvalue_adjusted for s in a.slices) == pytest.approx(expected)
    for part in a.slices:
        low, high = part.risk.deflation_interval
        assert low <= part.risk.deflation <= high
        assert 0.05 < part.detectable_deflation < 0.3
        assert part.detectable_csr > 1


def test_slices_by_truth_get_no_p_value_and_no_interval() -> None:
    a = sf.assess(profile(300, lambda c: 0.7 * c), by="truth")
    for part in a.slices:
        assert math.isnan(part.risk.pvalue_combined)
        assert math.isnan(part.risk.pvalue_omnibus)
        assert math.isnan(part.risk.e_value)
        assert math.isnan(part.pvalue_adjusted)
        for name in ("deflation_interval", "oe_interval", "overstatement_interval"):
            assert all(math.isnan(end) for end in getattr(part.risk, name))
        assert part.risk.csr > 1
    document = json.loads(a.to_json(), parse_constant=lambda c: pytest.fail(c))
    assert document["slices"][0]["risk"]["pvalue"] is None
    assert document["slices"][0]["pvalue_adjusted"] is None


def test_the_most_surprising_rows_are_listed() -> None:
    p = sf.Predictions.from_labels(["a", "b", "a", "b"], ["a", "a", "b", "a"], doubt=[0.1, 0.02, 0.25, 0.01])
    found = sf.assess(p).surprises
    assert [(one.row, one.truth, one.predicted) for one in found] == [(3, "b", "a"), (1, "b", "a"), (2, "a", "b")]
    assert [one.share for one in found] == pytest.approx([100 / 154, 50 / 154, 4 / 154])
    certain = sf.assess(sf.Predictions.from_correct([False, False, False], [1.0, 0.9, 1.0])).surprises
    assert [(one.row, one.share) for one in certain] == [(0, 0.5), (2, 0.5), (1, 0.0)]


def test_a_tally_of_unequal_weights_is_judged_by_the_normal_law_and_says_so() -> None:
    rng = np.random.default_rng(1)
    p = sf.synthetic.predictions("bell", "overconf_half", 500, rng=rng)
    weighted = sf.Predictions.from_correct(p.correct, p.confidence, sample_weight=rng.uniform(0.5, 2, 500))
    rows, kept = sf.assess(weighted), sf.assess(sf.tally(weighted))
    assert (rows.risk.method, kept.risk.method) == ("exact", "normal")
    assert rows.verdict == kept.verdict == "overconfident"
    assert kept.risk.pvalue == pytest.approx(1 - kept.risk.p_risk, abs=1e-12)
    assert "approximate, from sums of unequal weights" in str(kept)
    json.loads(kept.to_json(), parse_constant=lambda c: pytest.fail(c))


def test_where_calibrated_models_land_holds_nine_in_ten() -> None:
    rng = np.random.default_rng(2)
    confidence, doubt = sf.synthetic.PROFILES["uniform"].draw(400, rng)
    low, high = sf.assess(sf.Predictions.from_correct(rng.random(400) >= doubt, confidence, doubt=doubt)).typical_csr
    ratios = ((rng.random((20_000, 400)) < doubt) / doubt).mean(axis=1)
    assert (ratios >= high).mean() == pytest.approx(0.05, abs=0.006)
    assert (ratios < low).mean() == pytest.approx(0.05, abs=0.006)


def test_few_rows_do_not_reassure() -> None:
    text = str(sf.assess(sf.Predictions.from_correct([True] * 35 + [False] * 5, [0.9] * 40)))
    assert "  INCONCLUSIVE\n  With 40 rows, confidence could be up to 16.9 points too high on average" in text
    assert "deflation of up to" not in text
