"""MLflow: an assessment in a run, and an evaluator that ``mlflow.models.evaluate`` finds by its name, "surefoot"."""

from __future__ import annotations

import logging
import math
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions, MissingPackage

try:
    import mlflow
    from mlflow.entities import Metric, RunTag
    from mlflow.models.evaluation.artifacts import (
        ImageEvaluationArtifact,
        JsonEvaluationArtifact,
        TextEvaluationArtifact,
    )
    from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator
except ImportError as error:
    raise MissingPackage("an assessment in MLflow needs mlflow: pip install 'surefoot[mlflow]'.") from error

__all__ = ["SurefootEvaluator", "log_to_mlflow"]

_logger = logging.getLogger(__name__)

#: Under which metrics, tags and artifacts appear.
_NAME = "surefoot"
#: Numbers of the test, beside the metrics.
_OF_RISK = ("pvalue", "pvalue_omnibus", "overstatement", "oe_ratio", "expected_errors", "observed_errors", "e_value")
#: What the evaluator takes in its configuration: columns of the data, and options of `assess`.
_COLUMNS = ("probabilities", "confidence", "sample_weight", "by", "groups")
_OPTIONS = ("labels", "pos_label", "of", "level", "margin", "floor")
#: What MLflow's own evaluator calls them.
_ALIASES = {"label_list": "labels", "sample_weights": "sample_weight"}


def log_to_mlflow(assessment: Assessment, *, run_id: str | None = None, plots: bool = True) -> str:
    """Log an assessment to an MLflow run: metrics, the verdict, the report and a figure.

    Metrics are called ``surefoot/csr``, ``surefoot/pvalue_omnibus`` and so on. The verdict is the tag
    ``surefoot.verdict``, its degree ``surefoot.degree``. Artifacts lie in the folder ``surefoot``: ``report.html``,
    ``assessment.json`` and ``overview.png``. A metric that is infinite becomes a tag, because MLflow would store a
    finite number; one that is nan is left out, and ``assessment.json`` says why.

    Parameters
    ----------
    assessment : Assessment
        What to log.
    run_id : str, optional
        The run to log to; by default the active run, or a new one if none is active.
    plots : bool, default=True
        Whether to draw the figure, which needs matplotlib.

    Returns
    -------
    str
        The id of the run.

    Raises
    ------
    MissingPackage
        If MLflow is not installed.

    Examples
    --------
    >>> import surefoot as sf
    >>> a = sf.assess([0, 1, 1, 0] * 50, [0.1, 0.8, 0.7, 0.2] * 50, pos_label=1)
    >>> run_id = sf.log_to_mlflow(a)  # doctest: +SKIP
    """
    if not isinstance(assessment, Assessment):
        kind = type(assessment).__name__  # type: ignore[unreachable]
        raise TypeError(f"log_to_mlflow takes an Assessment, not {kind}; make one with surefoot.assess.")
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    _log(assessment, run, plots=plots)
    return str(run)


def _log(a: Assessment, run_id: str, *, plots: bool) -> dict[str, float]:
    """Log it, and return the metrics by the names under which they were logged."""
    values = {**a.metrics, **{name: float(getattr(a.risk, name)) for name in _OF_RISK}}
    metrics = {f"{_NAME}/{name}": value for name, value in values.items() if math.isfinite(value)}
    tags = {"verdict": a.verdict, "degree": a.degree or "none"}
    tags |= {name: str(value) for name, value in values.items() if math.isinf(value)}
    client = mlflow.MlflowClient()
    now = int(time.time() * 1000)
    client.log_batch(
        run_id,
        metrics=[Metric(name, value, now, 0) for name, value in metrics.items()],
        tags=[RunTag(f"{_NAME}.{name}", value) for name, value in tags.items()],
    )
    with tempfile.TemporaryDirectory() as folder:
        a.to_html(Path(folder) / "report.html")
        a.to_json(Path(folder) / "assessment.json")
        if plots:
            a.plot().savefig(Path(folder) / "overview.png", dpi=144)
        client.log_artifacts(run_id, folder, _NAME)
    return metrics


class SurefootEvaluator(ModelEvaluator):
    """The evaluator called ``"surefoot"`` of ``mlflow.models.evaluate``.

    It logs what :func:`surefoot.log_to_mlflow` logs. Probabilities are those of the model's ``predict_proba``, or come
    from columns of the data that its configuration names:

    - ``probabilities``: the column with the probability of the second label, or one column for each label;
    - ``confidence``: the column with the confidence in the prediction;
    - ``labels`` (or ``label_list``): the labels, in the order of the probabilities;
    - ``sample_weight`` (or ``sample_weights``), ``by``, ``groups``: columns, or a value for each row;
    - ``pos_label``, ``of``, ``level``, ``margin``, ``floor``: as in :func:`surefoot.assess`.

    Notes
    -----
    Without ``evaluators=`` MLflow calls every evaluator that is installed. So a model that predicts labels only does
    not fail an evaluation unless the configuration names columns: the reason is logged as a warning and as the tag
    ``surefoot.not_available``. If no other evaluator was asked for, MLflow raises its own error.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Any = None, **kwargs: Any) -> bool:
        """Return whether a type of model can be evaluated.

        Parameters
        ----------
        model_type : str or None
            The type of the model.
        evaluator_config : dict, optional
            Not used.
        **kwargs : object
            What MLflow may pass in future.

        Returns
        -------
        bool
            True for classifiers.
        """
        return model_type == "classifier"

    def evaluate(
        self, *, dataset: Any, run_id: str, evaluator_config: Any = None, model: Any = None, **kwargs: Any
    ) -> Any:
        """Assess a model, log the assessment and return it.

        Parameters
        ----------
        dataset : mlflow.data.evaluation_dataset.EvaluationDataset
            Features, labels and predictions.
        run_id : str
            The run to log to.
        evaluator_config : dict, optional
            Names of columns and options, as listed above.
        model : mlflow.pyfunc.PyFuncModel, optional
            The model; None if its predictions are a column of the data.
        **kwargs : object
            What else MLflow passes.

        Returns
        -------
        mlflow.models.EvaluationResult or None
            Metrics and artifacts; None if there are labels only.

        Raises
        ------
        InvalidPredictions
            If the data cannot be predictions, or a column that the configuration names is missing.
        """
        config = _read_config(evaluator_config or {})
        given = _columns_of(dataset, config, model)
        if given is None:
            reason = (
                "there are labels but no probabilities. Give a model with predict_proba, or name columns: "
                'evaluator_config={"surefoot": {"probabilities": ["p_no", "p_yes"], "labels": ["no", "yes"]}}, '
                'or {"surefoot": {"confidence": "confidence"}}.'
            )
            if any(name in config for name in _COLUMNS):
                raise InvalidPredictions(reason)
            _logger.warning("surefoot did not assess this model: %s", reason)
            mlflow.MlflowClient().set_tag(run_id, f"{_NAME}.not_available", reason)
            return None
        options = {name: config[name] for name in _OPTIONS if name in config}
        a = assess(**{**options, **given})
        return EvaluationResult(metrics=_log(a, run_id, plots=True), artifacts=_artifacts(a, run_id), run_id=run_id)


def _artifacts(a: Assessment, run_id: str) -> dict[str, Any]:
    root = f"{mlflow.get_run(run_id).info.artifact_uri}/{_NAME}"
    return {
        f"{_NAME}/report": TextEvaluationArtifact(f"{root}/report.html"),
        f"{_NAME}/assessment": JsonEvaluationArtifact(f"{root}/assessment.json", a.to_dict()),
        f"{_NAME}/overview": ImageEvaluationArtifact(f"{root}/overview.png"),
    }


def _read_config(config: Mapping[str, Any]) -> dict[str, Any]:
    named = {_ALIASES.get(name, name): value for name, value in config.items() if value is not None}
    foreign = sorted(set(named) - {*_COLUMNS, *_OPTIONS})
    if foreign:
        # a flat configuration is given to every evaluator
        _logger.warning("surefoot does not use these settings: %s", ", ".join(foreign))
    return {name: value for name, value in named.items() if name not in foreign}


def _columns_of(dataset: Any, config: Mapping[str, Any], model: Any) -> dict[str, Any] | None:
    """What `assess` takes, by name; None if there are labels only."""
    features = dataset.features_data
    given: dict[str, Any] = {"y_true": np.asarray(dataset.labels_data)}
    for name in _COLUMNS:
        if name in config:
            given[name] = _column(features, name, config[name])
    if "probabilities" in given:
        return given
    if "confidence" in given:
        given["y_pred"] = dataset.predictions_data if model is None else model.predict(_inputs(features, config))
        return None if given["y_pred"] is None else given
    raw = _raw_model(model)
    if hasattr(raw, "predict_proba"):
        labels = config.get("labels", getattr(raw, "classes_", None))
        given["probabilities"] = raw.predict_proba(_inputs(features, config))
        return given if labels is None else {**given, "labels": list(labels)}
    if _are_probabilities(dataset.predictions_data):
        return {**given, "probabilities": np.asarray(dataset.predictions_data)}
    return None


def _are_probabilities(predictions: Any) -> bool:
    """Whether predictions are numbers with a fraction, so that they are no labels."""
    if predictions is None:
        return False
    values = np.asarray(predictions)
    return values.dtype.kind == "f" and bool((values != np.round(values)).any())


def _raw_model(model: Any) -> Any:
    """The model within MLflow's, where there is one."""
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError):
        return None


def _column(features: Any, name: str, given: Any) -> Any:
    """A column, or several, of the data by name; values for each row as they are."""
    several = isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)
    if not several and not isinstance(given, str):
        return given
    if not hasattr(features, "columns"):
        raise InvalidPredictions("names a column, but the data are an array; give a dataframe", argument=name)
    absent = [one for one in (given if several else [given]) if one not in features.columns]
    if absent:
        raise InvalidPredictions(
            f"names {absent[0]!r}, which is not a column of the data besides the target and the predictions",
            argument=name,
            hint=f"there are {', '.join(map(str, features.columns))}",
        )
    return features[list(given) if several else given].to_numpy()


def _inputs(features: Any, config: Mapping[str, Any]) -> Any:
    """The features without the columns that the configuration names."""
    if not hasattr(features, "columns"):
        return features
    return features.drop(columns=[one for name in _COLUMNS for one in _names(config.get(name))])


def _names(given: Any) -> Iterable[str]:
    return [given] if isinstance(given, str) else [one for one in given or () if isinstance(one, str)]
