"""The evaluator that ``mlflow.models.evaluate`` finds by its name, "surefoot"."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.integrations.mlflow import NAME, log_assessment

try:
    import mlflow
    from mlflow.models.evaluation.artifacts import (
        ImageEvaluationArtifact,
        JsonEvaluationArtifact,
        TextEvaluationArtifact,
    )
    from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator
except ImportError as error:
    raise MissingPackage("the evaluator needs mlflow: pip install 'surefoot[mlflow]'.") from error

__all__ = ["SurefootEvaluator"]

_logger = logging.getLogger(__name__)

#: What the evaluator takes in its configuration: columns of the data, and options of `assess`.
_COLUMNS = ("probabilities", "confidence", "sample_weight", "by", "groups")
_OPTIONS = ("labels", "pos_label", "of", "level", "margin", "floor")
#: What MLflow's own evaluator calls them.
_ALIASES = {"label_list": "labels", "sample_weights": "sample_weight"}


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
            mlflow.MlflowClient().set_tag(run_id, f"{NAME}.not_available", reason)
            return None
        options = {name: config[name] for name in _OPTIONS if name in config}
        a = assess(**{**options, **given})
        return EvaluationResult(
            metrics=log_assessment(a, run_id, plots=True), artifacts=_artifacts(a, run_id), run_id=run_id
        )


def _artifacts(a: Assessment, run_id: str) -> dict[str, Any]:
    root = f"{mlflow.get_run(run_id).info.artifact_uri}/{NAME}"
    return {
        f"{NAME}/report": TextEvaluationArtifact(f"{root}/report.html"),
        f"{NAME}/assessment": JsonEvaluationArtifact(f"{root}/assessment.json", a.to_dict()),
        f"{NAME}/overview": ImageEvaluationArtifact(f"{root}/overview.png"),
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
            is_predictions = isinstance(config[name], str) and config[name] == dataset.predictions_name
            given[name] = dataset.predictions_data if is_predictions else _column(features, name, config[name])
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
    return None


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
            f"names {absent[0]!r}, which is not a column of the data besides the target",
            argument=name,
            hint=f"there are {', '.join(map(str, features.columns))}",
        )
    return features[list(given) if several else given].to_numpy()


def _inputs(features: Any, config: Mapping[str, Any]) -> Any:
    """The features without the columns that the configuration names."""
    if not hasattr(features, "columns"):
        return features
    named = {one for name in _COLUMNS for one in _names(config.get(name))}
    return features[[one for one in features.columns if one not in named]]


def _names(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    return [one for one in given if isinstance(one, str)] if isinstance(given, list | tuple) else []
