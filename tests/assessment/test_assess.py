"""The assessment: verdict, values and slices."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, tally
from surefoot.metrics import ALL
from surefoot.synthetic import predictions


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
    assert set(a.metrics) == {
        name
        for name, metric in ALL.items()
        if metric.is_offered("prediction") and not metric.is_ranking and not metric.is_of_every_class
    }
    for name in a.metrics:
        assert a[name] == pytest.approx(ALL[name](p), rel=1e-14)
    with pytest.raises(sf.MetricUnavailable, match="auc needs the probability of each class"):
        a["auc"]
    with pytest.raises(sf.MetricUnavailable, match="no metric 'x'"):
        a["x"]


def test_all_constructors_lead_to_an_assessment() -> None:
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
    with pytest.raises(sf.InvalidPredictions, match="y_true does not go with correct="):
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
    with pytest.raises(sf.InvalidPredictions, match="assess has too little to go on: give"):
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


def test_a_slice_that_does_not_count_is_left_out() -> None:
    p = Predictions.from_correct([1, 0, 1], [0.5, 0.6, 0.7], sample_weight=[0, 1, 1])
    assert [part.value for part in sf.assess(p, by=["a", "b", "b"]).slices] == ["b"]
    assert list(tally(p, by=["a", "b", "b"]).slices) == ["b"]
    assert repr(p[:1]) == "Predictions(1 rows)"


def test_assess_takes_what_its_constructors_take_and_says_what_it_does_not() -> None:
    y, p = ["x", "y"], [[0.9, 0.1], [0.2, 0.8]]
    assert sf.assess(y, p, labels=["x", "y"], sample_weight=[1, 2])["accuracy"] == 1
    with pytest.raises(TypeError, match="unexpected argument 'target'; did you mean 'truth'"):
        sf.assess(y, p, target="z")
    with pytest.raises(InvalidPredictions, match="assess has too little to go on: give"):
        sf.assess(np.array([0, 1]))
    with pytest.raises(sf.MetricUnavailable, match="does not hold what an assessment needs"):
        sf.assess(tally(Predictions.from_correct([True], [0.5]), ["brier"]))


def test_many_slices_of_many_classes_leave_out_what_is_made_class_by_class() -> None:
    rng = np.random.default_rng(0)
    p = Predictions.from_logits(rng.integers(0, 60, 600), rng.normal(size=(600, 60)))
    a = sf.assess(p, by="predicted")
    assert "cw_f1" in a.metrics
    assert all("cw_f1" not in part.metrics and "csr" in part.metrics for part in a.slices)


def test_a_column_called_truth_is_not_the_truth() -> None:
    import pandas as pd

    p = sf.synthetic.predictions("tight_hi", "overconf_root", 500, rng=np.random.default_rng(0))
    a = sf.assess(p, by=pd.Series(np.arange(500) % 2, name="truth"))
    assert all(part.verdict is not None for part in a.slices)


def test_where_calibrated_models_land_when_mistakes_are_seldom() -> None:
    rng = np.random.default_rng(0)
    for doubts in (np.full(10, 0.001), 10 ** -rng.uniform(0.3, 4, 700), np.full(300, 0.02)):
        a = sf.assess(sf.Predictions.from_correct(np.ones(len(doubts), dtype=bool), doubt=doubts), metrics=())
        drawn = ((rng.random((20_000, len(doubts))) < doubts) / doubts).mean(axis=1)
        low, high = np.quantile(drawn, [0.05, 0.95])
        assert a.typical_csr is not None
        assert a.typical_csr[0] == pytest.approx(low, rel=0.06, abs=1e-9)
        assert a.typical_csr[1] == pytest.approx(high, rel=0.06, abs=1e-9)


def test_many_slices_can_be_assessed() -> None:
    p = predictions("uniform", "perfect", 3000, rng=np.random.default_rng(2))
    a = sf.assess(p, by=np.arange(3000) % 150)
    assert len(a.slices) == 150
    assert sum(part.verdict in ("overconfident", "underconfident", "mixed") for part in a.slices) <= 1


def test_the_most_surprising_rows_of_many_are_those_of_a_whole_sort() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.choice([0.6, 0.7, 0.9, 0.95], 5000)
    correct = rng.random(5000) < confidence
    found = sf.assess(correct=correct, confidence=confidence).surprises
    wrong = np.flatnonzero(~correct)
    expected = wrong[np.argsort(-confidence[wrong], kind="stable")][: len(found)]
    assert [one.row for one in found] == expected.tolist()
    risk = rng.choice([0.01, 0.2, 0.8], 5000)
    happened = (rng.random(5000) < risk).astype(int)
    given = np.where(happened == 1, risk, 1 - risk)
    first = np.argsort(given, kind="stable")[:12]
    assert [one.row for one in sf.assess(happened, risk, of="event").surprises] == first.tolist()
