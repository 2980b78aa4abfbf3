"""What is expected of rows without labels, against enumeration, sums by hand, and the numbers of NannyML."""

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from benchmarks.expectations import coverage, draw_model
from surefoot.decisions.confusions import Shares
from surefoot.decisions.forecast import forecasts, observed
from surefoot.decisions.outcomes import Outcomes
from surefoot.decisions.shift import shift_between
from surefoot.errors import InvalidPredictions


def known_outcomes(p: Any, q: Any) -> Outcomes:
    """Rows with stated probabilities p, whose labels truly have the probabilities q."""
    p, q = np.asarray(p), np.asarray(q)
    rows = sf.Predictions.from_probabilities(np.zeros(len(p), int), p, labels=list(range(p.shape[1]))).rows()
    predicted = rows.codes("predicted")
    at = np.arange(len(p))
    right = q[at, predicted]
    shares = q.copy()
    shares[at, predicted] = 0
    shares /= shares.sum(axis=1, keepdims=True)
    count = p.shape[1]
    nothing = Shares(shares, np.zeros((0, *p.shape)), np.zeros((0, 0)), np.full((count, count), 1e18))
    none = np.zeros((len(p), 0))
    return Outcomes(rows, right, nothing, predicted, none, np.zeros((0, 0)), 100.0, 100.0)


STATED = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5], [0.45, 0.35, 0.2]]
TRUE = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.25, 0.35, 0.4], [0.6, 0.3, 0.1]]


def each_labelling(p: Any, q: Any) -> Any:
    """Every vector of labels, with its probability."""
    count = len(p[0])
    for labels in product(range(count), repeat=len(p)):
        chance = math.prod(q[i][label] for i, label in enumerate(labels))
        yield chance, sf.Predictions.from_probabilities(list(labels), p, labels=list(range(count)))


@pytest.mark.parametrize("metric", ["accuracy", "cw_accuracy", "log_loss", "brier"])
def test_linear_metrics_are_the_mean_over_all_labellings(metric: str) -> None:
    found = forecasts(known_outcomes(STATED, TRUE), None)[metric]
    values = [(chance, float(sf.metrics.ALL[metric](p))) for chance, p in each_labelling(STATED, TRUE)]
    mean = sum(chance * value for chance, value in values)
    variance = sum(chance * (value - mean) ** 2 for chance, value in values)
    assert found.value == pytest.approx(mean, rel=1e-12)
    assert found.chance == pytest.approx(variance, rel=1e-9)
    assert found.unknown == 0


def test_the_mean_cost_is_the_mean_over_all_labellings() -> None:
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.5]])
    found = forecasts(known_outcomes(STATED, TRUE), costs)["mean_cost"]
    values = []
    for chance, p in each_labelling(STATED, TRUE):
        assert p.truth is not None
        each = [costs[t, k] for t, k in zip(p.truth.tolist(), p.predicted.tolist(), strict=True)]
        values.append((chance, sum(each) / 4))
    mean = sum(chance * value for chance, value in values)
    assert found.value == pytest.approx(mean, rel=1e-12)
    assert found.chance == pytest.approx(sum(c * (v - mean) ** 2 for c, v in values), rel=1e-9)


def test_expected_counts_are_means_over_all_labellings() -> None:
    p, q = [[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]]
    found = forecasts(known_outcomes(p, q), None)
    cells = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}
    for name, (truth, predicted) in cells.items():
        values = [(c, sf.confusion(one).matrix[truth, predicted]) for c, one in each_labelling(p, q)]
        mean = sum(c * v for c, v in values)
        assert found[name].value == pytest.approx(mean)
        assert found[name].chance == pytest.approx(sum(c * (v - mean) ** 2 for c, v in values))
    # by hand: of 1.4 expected positives among two predicted ones, and 0.4 among the other
    assert found["precision"].value == pytest.approx(1.4 / 2)
    assert found["recall"].value == pytest.approx(1.4 / 1.8)
    assert found["f1"].value == pytest.approx(2 * 1.4 / (2 * 1.4 + 0.6 + 0.4))
    assert found["errors"].value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["auc", "cw_auc"])
def test_areas_are_those_of_rows_that_count_by_the_probability_of_each_label(name: str) -> None:
    found = forecasts(known_outcomes(STATED, TRUE), None)[name]
    truth = np.tile([0, 1, 2], 4)
    weighted = sf.Predictions.from_probabilities(truth, np.repeat(STATED, 3, axis=0), sample_weight=np.ravel(TRUE))
    assert found.value == pytest.approx(sf.metrics.ALL[name](weighted), rel=1e-12)


def test_the_variance_of_curved_metrics_is_that_of_drawn_labels() -> None:
    """2,000 drawn sets of labels tell a standard deviation to 1.6%; 8% is five times that."""
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet([1, 1, 1], 400), rng.dirichlet([2, 2, 2], 400)
    q = (p + q) / 2
    outcomes = known_outcomes(p, q)
    found = forecasts(outcomes, None)
    drawn: dict[str, list[float]] = {name: [] for name in ("precision", "recall", "f1", "auc", "cw_auc")}
    for _ in range(2000):
        y = (q.cumsum(axis=1) > rng.random((400, 1))).argmax(axis=1)
        for name, value in observed(sf.Predictions.from_probabilities(y, p).rows(), None, drawn).items():
            drawn[name].append(value)
    for name, values in drawn.items():
        assert math.sqrt(found[name].chance) == pytest.approx(np.std(values), rel=0.08), name
        assert found[name].value == pytest.approx(np.mean(values), abs=0.1 * np.std(values)), name


def test_metrics_of_known_labels_are_the_ordinary_ones() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1, 1], 200)
    y = (p.cumsum(axis=1) > rng.random((200, 1))).argmax(axis=1)
    seen = sf.Predictions.from_probabilities(y, p)
    found = observed(seen.rows(), None, ["accuracy", "cw_accuracy", "auc", "cw_auc", "log_loss", "brier"])
    for name, value in found.items():
        assert value == pytest.approx(float(sf.metrics.ALL[name](seen)), rel=1e-9), name


def test_precision_and_recall_are_scikit_learns() -> None:
    from sklearn.metrics import f1_score, precision_score, recall_score

    rng = np.random.default_rng(0)
    for classes, average in ((2, "binary"), (4, "macro")):
        p = rng.dirichlet([1] * classes, 300)
        y = (p.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
        found = observed(sf.Predictions.from_probabilities(y, p).rows(), None, ["precision", "recall", "f1"])
        for name, score in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
            assert found[name] == pytest.approx(score(y, p.argmax(axis=1), average=average)), name


def binary(n: int, seed: int = 0, power: float = 1.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 1, n)
    odds = (p / (1 - p)) ** (1 / power)
    return (rng.random(n) < odds / (1 + odds)).astype(int), p


def test_the_reference_itself_is_expected_as_it_was() -> None:
    """On average, the model of outcomes agrees with the rows it learnt from, though a safe calibrator is cautious."""
    y, p = binary(3000)
    expected = sf.expect(p, reference=(y, p))
    for name in ("accuracy", "cw_accuracy", "log_loss", "brier", "precision", "auc"):
        assert expected[name].value == pytest.approx(expected.reference[name], abs=2e-3), name


@pytest.mark.parametrize("calibrator", ["Platt", "isotonic", "safe_bins", "beta", sf.calibrators.Temperature()])
def test_every_calibrator_gives_nearly_the_same(calibrator: Any) -> None:
    y, p = binary(4000)
    usual = sf.expect(p[2000:], reference=(y[:2000], p[:2000]))
    other = sf.expect(p[2000:], reference=(y[:2000], p[:2000]), calibrator=calibrator)
    assert other["accuracy"].value == pytest.approx(usual["accuracy"].value, abs=0.01)


def test_a_fitted_calibrator_is_used_as_it_is() -> None:
    y, p = binary(2000)
    fitted = sf.calibrators.Platt().fit(p[:500], y[:500])
    before = fitted.predict_proba(p[:5]).tolist()
    sf.expect(p[1000:], reference=(y[:1000], p[:1000]), calibrator=fitted)
    assert fitted.predict_proba(p[:5]).tolist() == before


def test_asymmetric_errors_are_seen() -> None:
    """Predictions of one class are always right and those of the other never: no single curve can say so."""
    rng = np.random.default_rng(0)
    p = np.where(rng.random(2000) < 0.5, 0.9, 0.1)
    y = np.ones(2000, int)
    y[:3] = 0
    expected = sf.expect([0.9] * 100 + [0.1] * 300, reference=(y, p))
    assert expected["accuracy"].value == pytest.approx(0.25, abs=0.02)


def test_confidences_of_all_forms_agree() -> None:
    pd = pytest.importorskip("pandas")
    y, p = binary(1500)
    table = np.stack([1 - p, p], axis=1)
    known = sf.Predictions.from_probabilities(y[:1000], p[:1000])
    frame = pd.DataFrame({"label": y, "p_0": 1 - p, "p_1": p})
    ways = [
        sf.expect(p[1000:], reference=known),
        sf.expect(table[1000:], reference=(y[:1000], table[:1000])),
        sf.expect(sf.Predictions.unlabelled(probabilities=p[1000:]), reference=known),
        sf.expect(frame[1000:], reference=frame[:1000], truth="label", probabilities="p_"),
        sf.expect(frame[1000:][["p_1", "p_0"]], reference=frame[:1000], truth="label", probabilities="p_"),
    ]
    for one in ways[1:]:
        for name in ways[0]:
            assert one[name].value == pytest.approx(ways[0][name].value, rel=1e-9), name
            assert one[name].high == pytest.approx(ways[0][name].high, rel=1e-9), name


def test_confidences_alone_give_metrics_of_correctness() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.4, 1, 900)
    known = sf.Predictions.from_correct(rng.random(600) < confidence[:600], confidence[:600])
    expected = sf.expect(confidence[600:], reference=known, cost_error=10)
    assert set(expected) == {"accuracy", "cw_accuracy", "log_loss", "brier", "mean_cost", "errors"}
    assert expected["mean_cost"].value == pytest.approx(10 * (1 - expected["accuracy"].value))
    assert expected.confusion is None


def test_predicted_labels_and_confidences_give_confusions() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "c"], 900)
    predicted = np.where(rng.random(900) < 0.7, truth, "a")
    confidence = rng.uniform(0.5, 0.9, 900)
    known = sf.Predictions.from_labels(truth[:600], predicted[:600], confidence[:600])
    new = sf.Predictions.unlabelled(predicted=predicted[600:], confidence=confidence[600:])
    expected = sf.expect(new, reference=known)
    assert expected.confusion is not None
    # errors are only ever predictions of a
    assert expected.confusion.matrix[:, 0].sum() == pytest.approx((predicted[600:] == "a").sum())
    assert expected.confusion.matrix[1, 2] + expected.confusion.matrix[2, 1] < 6
    assert "auc" not in expected
    assert "recall" in expected


def test_files_are_read_by_the_columns_of_the_reference(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    y, p = binary(900)
    frame = pd.DataFrame({"label": y, "prob": p.round(6)})
    frame[:600].to_csv(tmp_path / "old.csv", index=False)
    frame[600:].to_csv(tmp_path / "labelled.csv", index=False)
    frame[600:][["prob"]].to_parquet(tmp_path / "new.parquet")
    one = sf.expect(tmp_path / "new.parquet", reference=tmp_path / "old.csv")
    other = sf.expect(tmp_path / "labelled.csv", reference=str(tmp_path / "old.csv"))
    direct = sf.expect(p[600:].round(6), reference=(y[:600], p[:600].round(6)))
    assert one["auc"].value == pytest.approx(direct["auc"].value, rel=1e-9)
    assert other["auc"].value == pytest.approx(direct["auc"].value, rel=1e-9)
    assert "not used" in other.columns
    assert "not used" not in one.columns
    alone = sf.expect(str(tmp_path / "new.parquet"), reference=(y[:600], p[:600].round(6)))
    assert alone["auc"].value == pytest.approx(direct["auc"].value, rel=1e-9)


REFERENCE = binary(200)
REFUSED: dict[str, tuple[Any, str]] = {
    "no rows": (lambda: sf.expect([], reference=REFERENCE), "no rows"),
    "nan": (lambda: sf.expect([0.5, math.nan], reference=REFERENCE), r"probabilities\[1\] is nan"),
    "outside": (lambda: sf.expect([0.5, 97.0], reference=REFERENCE), "outside"),
    "other number of classes": (lambda: sf.expect([[0.2, 0.3, 0.5]], reference=REFERENCE), "3 columns"),
    "other labels": (
        lambda: sf.expect(
            sf.Predictions.unlabelled(probabilities=[[0.5, 0.5]], labels=["x", "y"]), reference=REFERENCE
        ),
        "those of the reference are",
    ),
    "unknown prediction": (
        lambda: sf.expect(
            sf.Predictions.unlabelled(predicted=[7], confidence=[0.9]),
            reference=sf.Predictions.from_labels([0, 1] * 20, [0, 1] * 20, [0.9] * 40),
        ),
        "none of the classes",
    ),
    "reference without probabilities": (
        lambda: sf.expect([[0.5, 0.5]], reference=sf.Predictions.from_labels([0, 1] * 20, [0, 1] * 20, [0.9] * 40)),
        "the reference has none",
    ),
    "weights": (
        lambda: sf.expect(
            [0.5], reference=sf.Predictions.from_correct([True, False] * 20, [0.9] * 40, sample_weight=range(1, 41))
        ),
        "unequal weights",
    ),
    "tiny reference": (lambda: sf.expect([0.5], reference=([0, 1, 1], [0.2, 0.3, 0.9])), "only 3 rows"),
    "labelled": (
        lambda: sf.expect(sf.Predictions.from_probabilities(*REFERENCE), reference=REFERENCE),
        "have labels",
    ),
    "reference without labels": (
        lambda: sf.expect([0.5], reference=sf.Predictions.unlabelled(confidence=[0.5])),
        "reference has no labels",
    ),
    "confidences where probabilities were": (
        lambda: sf.expect(np.linspace(0.5, 1, 100), reference=REFERENCE),
        "If these are confidences",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_with_a_way_out(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(InvalidPredictions, match=words):
        call()


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="did you mean 'SafePlatt'"):
        sf.expect([0.5], reference=REFERENCE, calibrator="SafePlat")
    with pytest.raises(ValueError, match="costs are 0 or more"):
        sf.expect([0.5], reference=REFERENCE, cost_error=-1)
    with pytest.raises(ValueError, match="shape"):
        sf.expect([0.5], reference=REFERENCE, cost_error=np.ones((3, 3)))
    with pytest.raises(ValueError, match="level"):
        sf.expect([0.5], reference=REFERENCE, level=5)


def test_metrics_refuse_rows_without_labels() -> None:
    new = sf.Predictions.unlabelled(confidence=[0.5, 0.9])
    for function in (sf.csr, sf.assess, sf.risk_test):
        with pytest.raises(InvalidPredictions, match=r"no labels; surefoot.expect"):
            function(new)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ["constant", "all right", "all wrong", "one class", "30 rows", "certain"])
def test_edges_have_an_answer(case: str) -> None:
    rng = np.random.default_rng(1)
    y, p = binary(30 if case == "30 rows" else 200)
    if case == "constant":
        p = np.full(200, 0.8)
    if case == "all right":
        y = (p > 0.5).astype(int)
    if case == "all wrong":
        y = (p <= 0.5).astype(int)
    if case == "one class":
        y = np.ones(200, int)
    if case == "certain":
        p = np.where(rng.random(200) < 0.5, 1.0, p)
    expected = sf.expect(p, reference=sf.Predictions.from_probabilities(y, p, float32=False, labels=[0, 1]))
    assert 0 <= expected["accuracy"].low < expected["accuracy"].value < expected["accuracy"].high <= 1
    for text in (str(expected), expected.to_markdown(), expected._repr_html_(), expected.to_json()):
        assert "concept drift" in text
    if case == "certain":
        assert expected["log_loss"].value == math.inf
        assert "exactly 1" in expected["log_loss"].note


def test_the_result_is_a_mapping_and_strict_json(tmp_path: Path) -> None:
    y, p = binary(600)
    expected = sf.expect(p[300:], reference=(y[:300], p[:300]))
    assert dict(expected) == dict(expected.intervals)
    assert len(expected) == len(list(expected))
    path = tmp_path / "expected.json"
    found = json.loads(expected.to_json(path))
    assert found == json.loads(path.read_text())
    assert (found["surefoot"], found["schema"]) == ("expected", 1)
    assert found["metrics"]["accuracy"]["value"] == expected["accuracy"].value
    frame = expected.to_frame("pandas")
    assert frame["metric"].tolist() == list(expected)
    expected.to_html(tmp_path / "expected.html")
    assert "concept drift" in (tmp_path / "expected.html").read_text()
    drawn = expected.plot()
    assert drawn.frame()["expected"][0] == expected["accuracy"].value


# -- shift -------------------------------------------------------------------------------------------------------------


def rows_of(confidence: Any) -> Any:
    return sf.Predictions.from_correct(np.ones(len(confidence), bool), confidence).rows()


def test_the_shift_test_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    one, other = rng.uniform(0.5, 1, 900), rng.beta(9, 3, 700)
    found = shift_between(rows_of(one), rows_of(other), 0.05, of_classes=False)
    right = stats.ks_2samp(one, other)
    assert found.distance == pytest.approx(right.statistic)
    assert math.log10(found.pvalue_confidence) == pytest.approx(math.log10(right.pvalue), rel=0.02)


def test_a_tiny_shift_of_many_rows_does_not_alarm_and_a_large_one_does() -> None:
    rng = np.random.default_rng(0)
    then, now = rng.uniform(0.5, 1, 100_000), rng.uniform(0.505, 1, 100_000)
    tiny = shift_between(rows_of(now), rows_of(then), 0.05, of_classes=False)
    assert tiny.pvalue < 0.05
    assert tiny.size == "tiny"
    assert shift_between(rows_of(rng.uniform(0.5, 1, 500)), rows_of(then), 0.05, of_classes=False).size == "none"
    large = shift_between(rows_of(rng.uniform(0.3, 0.8, 500)), rows_of(then), 0.05, of_classes=False)
    assert large.size == "large"
    assert large.outside == pytest.approx(0.4, abs=0.07)


def test_the_words_follow_the_size_of_the_shift() -> None:
    y, p = binary(4000)
    reference = (y[:3000], p[:3000])
    assert "No evidence that these rows differ" in str(sf.expect(p[3000:], reference=reference))
    new = sf.Predictions.unlabelled(probabilities=np.full(500, 0.93))
    shifted = str(sf.expect(new, reference=reference))
    assert "differ strongly" in " ".join(shifted.split())


# -- columns of other classes ------------------------------------------------------------------------------------------


def test_columns_of_other_classes_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    y, p = binary(600)
    old = pd.DataFrame({"label": np.array(["no", "yes"])[y], "p_yes": p, "p_no": 1 - p})
    new = pd.DataFrame({"p_ja": p, "p_nein": 1 - p})
    with pytest.raises(InvalidPredictions, match=r"p_ja.*p_nein.*those of the reference are.*p_yes.*p_no"):
        sf.expect(new, reference=old, truth="label", probabilities="p_")
    swapped = old[["p_no", "p_yes"]]
    same = sf.expect(swapped, reference=old, truth="label", probabilities="p_")
    assert same["accuracy"].value == pytest.approx(same.reference["accuracy"], abs=0.01)


def test_a_reference_without_errors_asks_for_more_rows_and_does_not_call_them_useless() -> None:
    rng = np.random.default_rng(0)
    sure = sf.Predictions.from_correct(np.ones(300, bool), rng.uniform(0.5, 1, 300))
    text = " ".join(str(sf.expect(rng.uniform(0.5, 1, 300), reference=sure)).split())
    assert "label more rows" in text
    assert "would narrow it little" not in text


# -- claims ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "known", "new"), [(2, 200, 200), (5, 400, 800), (20, 500, 300)])
def test_intervals_cover(classes: int, known: int, new: int) -> None:
    """95% intervals of 120 data sets: 87% is 4 standard errors below."""
    found = coverage(classes, known, new, 120, calibrator="Platt", seed=7)
    for name, (share, count) in found.items():
        assert count > 100, name
        assert share >= 0.87, (name, share)


#: NannyML 0.13.1's CBPE on the first chunks of 5,000 rows, and its mean absolute errors over 42 chunks.
CBPE = {"accuracy": 0.005135118049369217, "auc": 0.004038226061620055}


def test_nearer_than_nannyml_on_employment(real_predictions: Path) -> None:
    from benchmarks.expectations import beside_cbpe

    found = beside_cbpe(str(real_predictions / "nannyml_employment_ma.parquet"), 5000)
    for name, theirs in CBPE.items():
        assert found[name]["CBPE"] == pytest.approx(theirs, rel=1e-6)
        assert found[name]["expect"] <= theirs


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ({"attempted": np.ones(500, bool)}, "give only rows that were attempted"),
        ({"pos_label": "nonsense"}, "leave it out"),
        ({"confidence": "nonsense"}, "leave it out"),
        ({"groups": np.arange(500)}, "leave it out"),
    ],
)
def test_what_nothing_is_read_by_is_refused(named: dict, hint: str) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(1500)
    known = sf.Predictions.from_probabilities((rng.random(1000) < p[:1000]).astype(int), p[:1000])
    with pytest.raises(sf.InvalidPredictions, match=hint):
        sf.expect(p[1000:], reference=known, **named)


@pytest.mark.parametrize("outcome", [True, False])
@pytest.mark.parametrize("calibrator", ["SafePlatt", "SafeBins", "Isotonic", "Beta", "Temperature", "Platt"])
def test_a_reference_with_one_outcome_does_not_exclude_the_other(calibrator: str, outcome: bool) -> None:
    """After 100 right ones, the exact chance of a wrong one among 200 is up to 1 - 0.975 ** 2 each, not 0."""
    confidence = np.random.default_rng(1).uniform(0.7, 0.9, 300)
    reference = sf.Predictions.from_correct(np.full(100, outcome), confidence[:100])
    found = sf.expect(confidence[100:], reference=reference, calibrator=calibrator)
    low, high = found["accuracy"].low, found["accuracy"].high
    rarest = (1 - low) if outcome else high
    # of 100 rows, 3 in 100 is the 95% limit for what was never seen; intervals of Student's t are wider
    assert 0.02 <= rarest <= 0.12
    arrived = np.full(200, outcome)
    arrived[0] = not outcome
    assert found.compare(correct=arrived, confidence=confidence[100:]).held


def test_losses_have_room_on_both_sides_where_confidences_are_below_one_half() -> None:
    """A wrong prediction of 20% confidence costs less than a right one; counted upwards, lower limits were the value.

    Of 400 data sets of 20 classes and 200 rows, 95% intervals of log loss held 90.2%.
    """
    for seed in range(30):
        draw = draw_model(np.random.default_rng([0, 20, 200, 200, seed]), 20)
        (y, p), (_, q) = draw(200), draw(200)
        reference = sf.Predictions.from_probabilities(y, p, labels=list(range(20)))
        expected = sf.expect(q, reference=reference)
        for name in ("log_loss", "brier"):
            one = expected[name]
            assert one.value - one.low >= 1.5 * one.standard_error, (seed, name)
            assert one.high - one.value >= 1.5 * one.standard_error, (seed, name)
