"""MLflow, with a database in a folder of the test; nothing leaves the machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot as sf

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
TRAIN, HELD = X.iloc[:300], X.iloc[300:]
WORDS = np.array(["malignant", "benign"])
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(TRAIN, Y[:300])
PROBABILITIES = MODEL.predict_proba(HELD)
DATA = HELD.assign(target=Y[300:])
WHOLE = sf.assess(Y[300:].to_numpy(), PROBABILITIES)


def test_what_is_no_assessment_is_refused() -> None:
    with pytest.raises(TypeError, match="takes an Assessment, not dict"):
        sf.log_to_mlflow({"csr": 1.0})


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(sf.MissingPackage, match=r"pip install 'surefoot\[mlflow\]'"):
        sf.log_to_mlflow(WHOLE)


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    monkeypatch.chdir(tmp_path)
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    # by the environment, which is put back: an active experiment would outlive its store
    made = mlflow.create_experiment("test", artifact_location=f"file://{tmp_path}/files")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", made)
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(None)


def quiet(test: Any) -> Any:
    """A heavy test in which warnings of MLflow and of what it uses are theirs; ours are still errors."""
    test = pytest.mark.filterwarnings("ignore", "error:::surefoot")(test)
    return pytest.mark.heavy(test)


def files_of(mlflow: Any, run_id: str) -> dict[str, Path]:
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run_id, artifact_path="surefoot"))
    return {path.name: path for path in folder.iterdir()}


def assert_logged(mlflow: Any, run_id: str, a: sf.Assessment) -> None:
    run = mlflow.get_run(run_id)
    assert run.data.tags["surefoot.verdict"] == a.verdict
    assert run.data.tags["surefoot.degree"] == (a.degree or "none")
    for name in ("csr", "ece", "cw_accuracy", "brier"):
        assert run.data.metrics[f"surefoot/{name}"] == pytest.approx(a[name])
    for name in ("pvalue", "pvalue_omnibus", "overstatement"):
        assert run.data.metrics[f"surefoot/{name}"] == pytest.approx(getattr(a.risk, name))
    files = files_of(mlflow, run_id)
    assert set(files) == {"report.html", "assessment.json", "overview.png"}
    assert a.verdict in files["report.html"].read_text()
    assert json.loads(files["assessment.json"].read_text())["verdict"] == a.verdict
    assert files["overview.png"].read_bytes().startswith(b"\x89PNG")


@quiet
def test_an_assessment_goes_to_the_active_run(mlflow: Any) -> None:
    with mlflow.start_run() as run:
        assert sf.log_to_mlflow(WHOLE) == run.info.run_id
    assert_logged(mlflow, run.info.run_id, WHOLE)


@quiet
def test_an_assessment_goes_to_a_run_that_is_named_or_to_a_new_one(mlflow: Any) -> None:
    with mlflow.start_run() as run:
        pass
    assert sf.log_to_mlflow(WHOLE, run_id=run.info.run_id, plots=False) == run.info.run_id
    assert mlflow.active_run() is None
    assert set(files_of(mlflow, run.info.run_id)) == {"report.html", "assessment.json"}
    started = sf.log_to_mlflow(WHOLE)
    assert mlflow.active_run().info.run_id == started != run.info.run_id


@quiet
def test_what_is_infinite_is_a_tag(mlflow: Any) -> None:
    a = sf.assess(correct=[True] * 99 + [False], confidence=[0.9] * 50 + [1.0] * 50)
    run = mlflow.get_run(sf.log_to_mlflow(a, plots=False))
    assert run.data.tags["surefoot.csr"] == "inf"
    assert "surefoot/csr" not in run.data.metrics
    assert all(np.isfinite(value) and abs(value) < 1e300 for value in run.data.metrics.values())


@quiet
def test_the_evaluator_is_found_and_logs_beside_the_default(mlflow: Any) -> None:
    info = mlflow.sklearn.log_model(MODEL, name="model")
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            info.model_uri,
            DATA,
            targets="target",
            model_type="classifier",
            evaluators=["default", "surefoot"],
            evaluator_config={"default": {"log_explainer": False, "log_model_explainability": False}},
        )
    assert_logged(mlflow, run.info.run_id, WHOLE)
    assert result.metrics["surefoot/csr"] == pytest.approx(WHOLE.csr)
    assert "accuracy_score" in result.metrics
    assert result.artifacts["surefoot/assessment"].content["verdict"] == WHOLE.verdict
    assert WHOLE.verdict in result.artifacts["surefoot/report"].content


@quiet
def test_labels_in_words_and_slices(mlflow: Any) -> None:
    words = WORDS[Y]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(TRAIN, words[:300])
    info = mlflow.sklearn.log_model(model, name="model")
    half = np.arange(len(HELD)) % 2
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            info.model_uri,
            HELD.assign(kind=words[300:], half=half, ward=np.array(["a", "b"])[half]),
            targets="kind",
            model_type="classifier",
            evaluators="surefoot",
            evaluator_config={"by": "ward", "sample_weight": "half"},
        )
    expected = sf.assess(
        words[300:],
        model.predict_proba(HELD),
        labels=list(model.classes_),
        sample_weight=half,
        by=np.array(["a", "b"])[half],
    )
    found = mlflow.get_run(run.info.run_id).data.metrics
    assert found["surefoot/csr"] == pytest.approx(expected.csr)
    held = json.loads(files_of(mlflow, run.info.run_id)["assessment.json"].read_text())
    assert len(held["slices"]) == len(expected.slices)


@quiet
@pytest.mark.parametrize(
    "config", [{"probabilities": ["p0", "p1"], "labels": [0, 1]}, {"probabilities": "p1", "pos_label": 1}]
)
def test_probabilities_in_columns(mlflow: Any, config: dict[str, Any]) -> None:
    data = pd.DataFrame(PROBABILITIES, columns=["p0", "p1"]).assign(
        target=Y[300:].to_numpy(), decided=MODEL.predict(HELD)
    )
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            data=data,
            targets="target",
            predictions="decided",
            model_type="classifier",
            evaluators="surefoot",
            evaluator_config=config,
        )
    assert_logged(mlflow, run.info.run_id, WHOLE)


@quiet
def test_confidence_in_a_column(mlflow: Any) -> None:
    confidence, decided = PROBABILITIES.max(axis=1), MODEL.predict(HELD)
    data = pd.DataFrame({"sure": confidence, "target": Y[300:].to_numpy(), "decided": decided})
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            data=data,
            targets="target",
            predictions="decided",
            model_type="classifier",
            evaluators="surefoot",
            evaluator_config={"confidence": "sure"},
        )
    found = mlflow.get_run(run.info.run_id).data.metrics["surefoot/csr"]
    assert found == pytest.approx(sf.csr(Y[300:].to_numpy(), decided, confidence))


@quiet
def test_labels_alone_are_refused_without_failing_other_evaluators(mlflow: Any, caplog: Any) -> None:
    info = mlflow.sklearn.log_model(Perceptron().fit(TRAIN, Y[:300]), name="model")
    call = {"targets": "target", "model_type": "classifier"}
    settings = {"log_explainer": False, "log_model_explainability": False}
    with mlflow.start_run() as run, caplog.at_level(logging.WARNING, logger="surefoot"):
        found = mlflow.models.evaluate(
            info.model_uri, DATA, evaluators=["default", "surefoot"], evaluator_config={"default": settings}, **call
        )
    assert "accuracy_score" in found.metrics
    assert not any(name.startswith("surefoot/") for name in found.metrics)
    assert "there are labels but no probabilities" in caplog.text
    assert "predict_proba" in mlflow.get_run(run.info.run_id).data.tags["surefoot.not_available"]
    with pytest.raises(mlflow.exceptions.MlflowException, match="could not be evaluated"):
        mlflow.models.evaluate(info.model_uri, DATA, evaluators="surefoot", **call)
    with pytest.raises(sf.InvalidPredictions, match="labels but no probabilities"):
        mlflow.models.evaluate(
            info.model_uri, DATA.assign(w=1.0), evaluators="surefoot", evaluator_config={"sample_weight": "w"}, **call
        )


@quiet
def test_a_column_that_is_not_there_is_named(mlflow: Any) -> None:
    data = pd.DataFrame({"p": PROBABILITIES[:, 1], "target": Y[300:].to_numpy(), "decided": MODEL.predict(HELD)})
    with pytest.raises(sf.InvalidPredictions, match=r"'q', which is not a column.*there are p"):
        mlflow.models.evaluate(
            data=data,
            targets="target",
            predictions="decided",
            model_type="classifier",
            evaluators="surefoot",
            evaluator_config={"probabilities": "q"},
        )


@quiet
def test_regressors_are_not_for_it(mlflow: Any) -> None:
    from surefoot.integrations.mlflow_evaluator import SurefootEvaluator

    assert not SurefootEvaluator.can_evaluate(model_type="regressor", evaluator_config={})
