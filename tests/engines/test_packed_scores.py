"""Two classes ranked by one column: each row is one number, and the areas are those of scikit-learn."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.engines import packed_scores

N = 3_000


def sample(decimals=None):
    rng = np.random.default_rng(0)
    p = rng.random(N)
    p[:3] = 0.0, 1.0, 0.5
    happened = rng.random(N) < p
    return happened, p if decimals is None else p.round(decimals)


@pytest.fixture
def packed(monkeypatch):
    """However few rows there are; what was packed."""
    monkeypatch.setattr(packed_scores, "PACK_FROM", 0)
    # parts so small that ties would cross their edges
    monkeypatch.setattr(packed_scores, "_PART", 16)
    found = []
    take = packed_scores.PackedScores.__init__

    def remember(self, *arguments):
        found.append(self)
        take(self, *arguments)

    monkeypatch.setattr(packed_scores.PackedScores, "__init__", remember)
    return found


@pytest.mark.parametrize("decimals", [None, 2, 0])
@pytest.mark.parametrize("kind", [bool, int, np.int8])
def test_areas_are_those_of_scikit_learn(packed, decimals, kind):
    from sklearn.metrics import average_precision_score, roc_auc_score

    y, p = sample(decimals)
    confidence = np.maximum(p, 1 - p)
    predictions = sf.Predictions.from_probabilities(y.astype(kind), p)
    assert sf.auc(predictions) == pytest.approx(roc_auc_score(y, p), rel=1e-13)
    assert sf.cw_auc(predictions) == pytest.approx(roc_auc_score(y, p, sample_weight=confidence), rel=1e-13)
    expected = average_precision_score(y, p, sample_weight=confidence)
    assert sf.cw_average_precision(predictions) == pytest.approx(expected, rel=1e-12)
    assert len(packed) == 3


def test_assess_gives_the_same(packed):
    y, p = sample()
    predictions = sf.Predictions.from_probabilities(y, p)
    a = sf.assess(predictions)
    assert packed
    for name in ("auc", "cw_auc", "cw_average_precision"):
        assert a[name] == pytest.approx(getattr(sf, name)(predictions), rel=1e-13)


def test_zero_and_minus_zero_are_one_score(packed):
    y = np.array([True, False] * 4)
    p = np.array([0.0, -0.0] * 4)
    assert sf.auc(sf.Predictions.from_probabilities(y, p)) == 0.5
    assert packed


def test_all_of_one_class_is_no_ranking(packed):
    with pytest.warns(sf.errors.UndefinedMetricWarning):
        assert np.isnan(sf.auc(sf.Predictions.from_probabilities(np.ones(8, dtype=bool), np.linspace(0.1, 0.9, 8))))
    assert packed


@pytest.mark.parametrize("name", ["weights", "y_pred", "floor", "rounded", "logits", "columns", "first label"])
def test_rows_that_hold_more_than_their_score_are_ranked_otherwise(packed, name):
    from sklearn.metrics import roc_auc_score

    y, p = sample()
    weight = np.ones(N)
    p = np.clip(p, 0.001, 0.999)
    confidence, options = np.maximum(p, 1 - p), {}
    if name == "weights":
        weight = np.random.default_rng(1).integers(1, 4, N).astype(float)
        options = {"sample_weight": weight}
    elif name == "y_pred":
        decided = (p > 0.3).astype(int)
        options, confidence = {"y_pred": decided}, np.where(decided, p, 1 - p)
    elif name == "floor":
        options, p = {"floor": 0.2}, np.clip(p, 0.2, 0.8)
        confidence = np.maximum(p, 1 - p)
    truth = y.astype(int)
    if name == "rounded":
        p = p.astype(np.float32)
        p[:5] = 1.0
        confidence = np.maximum(p.astype(float), 1 - p.astype(float))
        with pytest.warns(sf.errors.RoundedConfidenceWarning):
            predictions = sf.Predictions.from_probabilities(truth, p)
    elif name == "logits":
        predictions = sf.Predictions.from_logits(truth, np.column_stack([np.zeros(N), np.log(p / (1 - p))]))
    elif name == "columns":
        predictions = sf.Predictions.from_probabilities(truth, np.column_stack([1 - p, p]))
    else:
        predictions = sf.Predictions.from_probabilities(truth, p, **options)
    expected = roc_auc_score(truth, p, sample_weight=confidence * weight)
    if name == "first label":
        assert sf.cw_auc(predictions, average=None) == pytest.approx(expected, rel=1e-11)
    else:
        assert sf.cw_auc(predictions) == pytest.approx(expected, rel=1e-11)
