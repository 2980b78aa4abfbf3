"""The paper's figures: ROC and cwROC of Adult and CIFAR-10 in three regimes, and of class 0 of the others by Platt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import MissingPackage
from surefoot.metrics.roc import cw_roc_curve, roc_curve
from surefoot.paper.datasets import SETS, Samples
from surefoot.paper.real import REGIMES, Report, regimes
from surefoot.paper.training import Setting
from surefoot.predictions import Predictions
from surefoot.render.mpl.display import INK, MUTED, add_note, add_titles, clean_axes

#: Those shown in all three regimes.
IN_FULL = ("adult_income", "cifar10")


def predictions(name: str, data: Samples, tuned: Setting, seed: int = 42) -> dict[str, Predictions]:
    """The predictions of each regime on the test rows of a split, with the raw model's decision."""
    truth, scores = regimes(name, data, tuned, seed)
    decision, labels = scores["raw"].argmax(axis=1), list(range(len(data.labels)))
    return {
        regime: Predictions.from_probabilities(truth, own, labels=labels, y_pred=decision)
        for regime, own in scores.items()
    }


def draw_figures(
    folder: Path, models: dict[str, dict[str, Predictions]], report: Report = lambda words: None
) -> list[Path]:
    """Write the figures: one of three panels for each of Adult and CIFAR-10, and one of all others."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackage("figures need matplotlib: pip install 'surefoot[plots]'.") from error
    written = []
    for name in IN_FULL:
        if name in models:
            figure = Figure(figsize=(10, 3.4), layout="constrained")
            for place, regime in enumerate(REGIMES):
                _panel(figure.add_subplot(1, 3, place + 1), models[name][regime], 0, f"{name}, {regime}")
            written.append(_save(figure, folder / f"roc-{name}.png"))
    others = [name for name in SETS if name in models and name not in IN_FULL]
    if others:
        rows = -(-len(others) // 4)
        figure = Figure(figsize=(13, 3.2 * rows), layout="constrained")
        for place, name in enumerate(others):
            report(f"{name}: figure")
            _panel(figure.add_subplot(rows, 4, place + 1), models[name]["platt"], 0, f"{name}, class 0, Platt")
        written.append(_save(figure, folder / "roc-others.png"))
    return written


def _panel(ax: Any, predictions: Predictions, label: int, title: str) -> None:
    clean_axes(ax)
    ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
    for place, (draw, name, style) in enumerate(((roc_curve, "ROC", "--"), (cw_roc_curve, "cwROC", "-"))):
        curve = draw(predictions, label=label)
        fpr, tpr = _thin(curve.fpr, curve.tpr)
        ax.plot(fpr, tpr, style, color=MUTED if place == 0 else INK, linewidth=1.3)
        add_note(ax, 0.45, 0.2 - 0.1 * place, f"{style}  {name} {curve.auc:.4f}")
    add_titles(ax, title, "False alarms →", "Found →")


def _thin(x: Any, y: Any, most: int = 2000) -> tuple[Sequence[float], Sequence[float]]:
    keep = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).astype(int))
    return np.asarray(x)[keep], np.asarray(y)[keep]


def _save(figure: Any, path: Path) -> Path:
    part = path.with_name(f".{path.name}.part")
    figure.savefig(part, dpi=110, format="png")
    part.replace(path)
    return path
