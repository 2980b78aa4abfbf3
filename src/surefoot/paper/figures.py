"""The paper's Figures 1 and 2: ROC and cwROC of Adult and CIFAR-10 in three regimes, and of the other sets by Platt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import MissingPackage
from surefoot.metrics.roc import RocCurve, cw_roc_curve, roc_curve
from surefoot.paper.datasets import SETS
from surefoot.paper.models import Trained
from surefoot.paper.names import REGIME_NAMES
from surefoot.paper.real import FLOOR, REGIMES, calibrations
from surefoot.predictions import Predictions
from surefoot.render.mpl.display import INK, add_titles, clean_axes

#: Those of Figure 1, in all three regimes.
IN_FULL = ("adult_income", "cifar10")
#: Of the regimes: colours that differ in lightness too.
_COLOURS = {"raw": "#1b6ca8", "isotonic": "#d1495b", "platt": "#2a9d58"}
_COLUMNS = 4


def predictions(name: str, made: Trained) -> dict[str, Predictions]:
    """The predictions of each regime on the test rows of a split, with the raw model's decision."""
    scores = calibrations(name, made.model, made.fit)
    decision, labels = scores["raw"].argmax(axis=1), list(range(made.model.test.shape[1]))
    return {
        regime: Predictions.from_probabilities(made.truth, own, labels=labels, y_pred=decision, floor=FLOOR)
        for regime, own in scores.items()
    }


def draw_figures(folder: Path, models: Mapping[str, Mapping[str, Predictions]]) -> list[Path]:
    """Write Figure 1 of Adult and CIFAR-10, and Figure 2 of all other sets, as far as they are among the models."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackage("figures need matplotlib: pip install 'surefoot[plots]'.") from error
    written = []
    first = [name for name in IN_FULL if name in models]
    if first:
        figure = Figure(figsize=(4.2 * len(first), 4.2), layout="constrained")
        for place, name in enumerate(first):
            _panel(figure.add_subplot(1, len(first), place + 1), models[name], REGIMES, name)
        written.append(_save(figure, folder / "paper-figure-1.png"))
    others = [name for name in SETS if name in models and name not in IN_FULL]
    if others:
        rows = -(-len(others) // _COLUMNS)
        figure = Figure(figsize=(3.2 * min(_COLUMNS, len(others)), 3.2 * rows), layout="constrained")
        for place, name in enumerate(others):
            _panel(figure.add_subplot(rows, min(_COLUMNS, len(others)), place + 1), models[name], ("platt",), name)
        written.append(_save(figure, folder / "paper-figure-2.png"))
    return written


def _panel(ax: Any, models: Mapping[str, Predictions], regimes: tuple[str, ...], title: str) -> None:
    """The classical curve, solid and black, and the weighted one of each regime, dashed."""
    clean_axes(ax)
    plain = roc_curve(models[regimes[0]], label=0)
    _draw(ax, plain, "-", "black", f"ROC {plain.auc:.4f}")
    for regime in regimes:
        curve = cw_roc_curve(models[regime], label=0)
        _draw(ax, curve, "--", _COLOURS[regime], f"cwROC {REGIME_NAMES[regime]} {curve.auc:.4f}")
    ax.legend(loc="lower right", frameon=False, fontsize=7, labelcolor=INK)
    add_titles(ax, f"{title}, class 0", "False positive rate", "True positive rate")


def _draw(ax: Any, curve: RocCurve, style: str, colour: str, label: str) -> None:
    keep = np.unique(np.linspace(0, len(curve.fpr) - 1, min(2000, len(curve.fpr))).astype(int))
    ax.plot(curve.fpr[keep], curve.tpr[keep], style, color=colour, linewidth=1.2, label=label)


def _save(figure: Any, path: Path) -> Path:
    part = path.with_name(f".{path.name}.part")
    # without the name and version of what drew it, so that the same curves are the same file
    figure.savefig(part, dpi=100, format="png", metadata={"Software": None})
    part.replace(path)
    return path
