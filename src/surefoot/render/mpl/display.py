"""What all displays share: the way in, the frame of numbers, and the look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

from surefoot.assessment.assess import Assessment, assess, assess_estimator
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.predictions import Predictions

INK, MUTED, GRID, GHOST, OVER, UNDER = "#17191e", "#5b616c", "#e9e6df", "#b4b1aa", "#b3430a", "#1b5fa6"
#: Hue and shape of what a point says: more mistakes than stated, fewer, neither for sure, nothing to tell by.
LOOKS = {"over": (OVER, "v"), "under": (UNDER, "^"), "fair": (INK, "o"), "dot": (INK, "o")}
_SIZE = (3.4, 3.0)

Self = TypeVar("Self", bound="Display")


class Display(ABC):
    """Numbers to be drawn. Made from predictions, an estimator or an assessment."""

    #: What the assessment has to tell for it.
    metrics: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def from_assessment(cls: type[Self], assessment: Assessment) -> Self:
        """From an assessment that holds what is drawn."""

    @classmethod
    def from_predictions(
        cls: type[Self], y_true: Any, y_pred: Any = None, confidence: Any = None, **given: Any
    ) -> Self:
        """From :class:`Predictions`; or true labels, with predicted ones and confidences or with ``probabilities=``."""
        return cls.from_assessment(assess(as_predictions(y_true, y_pred, confidence, given), metrics=cls.metrics))

    @classmethod
    def from_estimator(cls: type[Self], estimator: Any, X: Any, y: Any) -> Self:
        """From a fitted classifier on held-out data."""
        return cls.from_assessment(assess_estimator(estimator, X, y))

    @abstractmethod
    def frame(self) -> dict[str, list[Any]]:
        """The numbers that are drawn, by column: any dataframe package takes it."""

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...

    def plot(self: Self, ax: Any = None) -> Self:
        """Draw into ``ax``, or into a figure of its own; they are ``ax_`` and ``figure_`` afterwards."""
        self.ax_ = own_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        quiet(self.ax_)
        self._draw(self.ax_)
        return self


def as_predictions(y_true: Any, y_pred: Any, confidence: Any, given: dict[str, Any]) -> Predictions:
    if isinstance(y_true, Predictions):
        if y_pred is not None or confidence is not None or given:
            raise InvalidPredictions("Predictions hold all there is; give them alone.")
        return y_true
    if "probabilities" in given:
        return Predictions.from_probabilities(y_true, y_pred=y_pred, **given)
    return Predictions.from_labels(y_true, y_pred, confidence, **given)


def own_axes() -> Any:
    """Axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackage("plots need matplotlib: pip install 'surefoot[plots]'.") from error
    return plt.figure(figsize=_SIZE, layout="constrained").add_subplot()


def quiet(ax: Any) -> None:
    """Horizontal hairlines, one axis line below, small type: set on these axes, nowhere else."""
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(INK)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=7, colors=MUTED, left=False)


def titled(ax: Any, title: str, below: str, above: str) -> None:
    """The finding, and the axes in words at their ends."""
    ax.set_title(title, fontsize=8, fontweight="bold", color=INK, loc="left", wrap=True)
    ax.set_xlabel(below, fontsize=8, color=INK, loc="right")
    ax.set_ylabel(above, fontsize=8, color=INK, loc="top")


def noted(ax: Any, x: float, y: float, words: str, **given: Any) -> None:
    ax.annotate(words, (x, y), fontsize=7, color=MUTED, **given)
