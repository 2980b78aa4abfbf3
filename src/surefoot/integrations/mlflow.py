"""MLflow: an assessment in a run."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Any

from surefoot.assessment.result import Assessment
from surefoot.errors import MissingPackage

#: Under which metrics, tags and artifacts appear.
NAME = "surefoot"
#: Numbers of the test, beside the metrics.
_OF_RISK = ("pvalue", "pvalue_omnibus", "overstatement", "oe_ratio", "expected_errors", "observed_errors", "e_value")


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
    mlflow = _load_mlflow()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    log_assessment(assessment, run, plots=plots)
    return str(run)


def log_assessment(a: Assessment, run_id: str, *, plots: bool) -> dict[str, float]:
    """Log an assessment, and return the metrics by the names under which they were logged."""
    values = {**a.metrics, **{name: float(getattr(a.risk, name)) for name in _OF_RISK}}
    metrics = {f"{NAME}/{name}": value for name, value in values.items() if math.isfinite(value)}
    tags: dict[str, str] = {"verdict": a.verdict, "degree": a.degree or "none"}
    tags |= {name: str(value) for name, value in values.items() if math.isinf(value)}
    mlflow = _load_mlflow()
    client = mlflow.MlflowClient()
    now = int(time.time() * 1000)
    client.log_batch(
        run_id,
        metrics=[mlflow.entities.Metric(name, value, now, 0) for name, value in metrics.items()],
        tags=[mlflow.entities.RunTag(f"{NAME}.{name}", value) for name, value in tags.items()],
    )
    with tempfile.TemporaryDirectory() as folder:
        a.to_html(Path(folder) / "report.html")
        a.to_json(Path(folder) / "assessment.json")
        if plots:
            a.plot().savefig(Path(folder) / "overview.png", dpi=144)
        client.log_artifacts(run_id, folder, NAME)
    return metrics


def _load_mlflow() -> Any:
    try:
        import mlflow
    except ImportError as error:
        raise MissingPackage("an assessment in MLflow needs mlflow: pip install 'surefoot[mlflow]'.") from error
    return mlflow
