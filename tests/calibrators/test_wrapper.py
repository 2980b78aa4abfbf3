"""A classifier with its calibrator, in scikit-learn's machinery."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import surefoot as sf
from surefoot.calibrators import Calibrated, Platt, SafePlatt

X, Y = make_classification(1200, n_informative=5, n_classes=3, random_state=0)

#: As scikit-learn says of its own: folds see other rows when rows are repeated.
FOLDS = "folds of repeated rows are other folds"


@parametrize_with_checks(
    [Calibrated(LogisticRegression(), "Platt", cv=2), Calibrated(LogisticRegression(), "SafePlatt", cv=2)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
@pytest.mark.filterwarnings("ignore")
def test_it_is_an_estimator(estimator, check) -> None:
    check(estimator)


def test_a_frozen_classifier_is_taken_as_it_is() -> None:
    raw = GaussianNB().fit(X[:400], Y[:400])
    model = Calibrated(FrozenEstimator(raw), SafePlatt()).fit(X[400:800], Y[400:800])
    alone = SafePlatt().fit(raw.predict_proba(X[400:800]), Y[400:800])
    assert model.predict_proba(X[800:]).tolist() == alone.predict_proba(raw.predict_proba(X[800:])).tolist()
    assert (model.predict(X[800:]) == model.predict_proba(X[800:]).argmax(axis=1)).all()
    before, after = (
        sf.Predictions.from_probabilities(Y[800:], one.predict_proba(X[800:]), y_pred=raw.predict(X[800:]))
        for one in (raw, model)
    )
    assert sf.csr(after) < sf.csr(before)
    assert sf.risk_test(before).pvalue_combined < 1e-6 < 0.01 < sf.risk_test(after).pvalue_combined


def test_it_sits_in_pipelines_and_searches() -> None:
    model = make_pipeline(StandardScaler(), Calibrated(GaussianNB(), "Platt"))
    assert cross_val_score(model, X, Y, scoring="neg_log_loss").mean() > -1.2
    search = GridSearchCV(Calibrated(GaussianNB()), {"method": ["Platt", "SafePlatt"]}, scoring="neg_log_loss", cv=2)
    assert search.fit(X, Y).best_params_["method"] in ("Platt", "SafePlatt")
    assert repr(clone(model)) == repr(model)


def test_weights_reach_classifier_and_calibrator() -> None:
    weight = np.where(Y == 0, 5.0, 1.0)
    plain, weighted = (Calibrated(GaussianNB(), Platt()).fit(X, Y, w) for w in (None, weight))
    assert weighted.estimator_.class_prior_[0] > plain.estimator_.class_prior_[0]
    assert weighted.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()
    # a safe one counts rows, so that weights go to the classifier alone
    safe = Calibrated(GaussianNB(), "SafePlatt").fit(X, Y, weight)
    assert safe.estimator_.class_prior_[0] == weighted.estimator_.class_prior_[0]


def test_labels_may_be_words_and_methods_are_named() -> None:
    words = np.array(["cat", "dog", "owl"])[Y]
    model = Calibrated(GaussianNB()).fit(X, words)
    assert model.classes_.tolist() == ["cat", "dog", "owl"]
    assert set(model.predict(X[:20])) <= {"cat", "dog", "owl"}
    with pytest.raises(ValueError, match="method is 'Best'"):
        Calibrated(GaussianNB(), "Best").fit(X, Y)
    with pytest.raises(ValueError, match="expects logits"):
        Calibrated(GaussianNB(), SafePlatt(from_logits=True)).fit(X, Y)
    with pytest.raises(ValueError, match="below 0"):
        Calibrated(GaussianNB()).fit(X, Y, -np.ones(len(Y)))
    frozen = FrozenEstimator(GaussianNB().fit(X, Y))
    with pytest.raises(ValueError, match=r"y\[3\] is .*9.*not a class"):
        Calibrated(frozen).fit(X, np.where(np.arange(len(Y)) == 3, 9, Y))
