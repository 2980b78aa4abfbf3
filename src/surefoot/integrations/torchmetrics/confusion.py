"""The confidence-weighted confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torchmetrics.utilities.plot import plot_confusion_matrix

from surefoot._io.arguments import check_whole
from surefoot.core.keys import CLASS_PAIR
from surefoot.core.table import Sums, Table
from surefoot.core.tally import Tally
from surefoot.engines.torch import row_sums
from surefoot.integrations.torchmetrics.base import Holder
from surefoot.metrics.confusion import CW_PAIRS, read_confusion


class ConfidenceWeightedConfusionMatrix(Holder):
    """Confidence-weighted confusion matrix: each row adds its confidence instead of 1.

    True classes go down, predicted classes across.

    Parameters
    ----------
    num_classes : int
        The number of classes, at least 2.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> metric = ConfidenceWeightedConfusionMatrix(num_classes=2)
    >>> metric.update(torch.tensor([0.75, 0.75, 0.5], dtype=torch.float64), torch.tensor([1, 0, 1]))
    >>> metric.compute().tolist()
    [[0.0, 0.75], [0.5, 0.75]]
    """

    higher_is_better: bool | None = None
    matrix: Any

    def __init__(
        self, num_classes: int, *, from_logits: bool = False, ignore_index: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        check_whole("num_classes", num_classes, 2)
        self.num_classes = num_classes
        self.add_state("matrix", torch.zeros((num_classes, num_classes), dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, preds: Any, target: Any) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : tensor of shape (n,) or (n, n_classes)
            P(second class), or a column for each class; logits with ``from_logits=True``. More dimensions may follow
            that of the classes.
        target : integer tensor of shape (n,)
            The true classes.
        """
        rows = self._claims(preds, target, self.num_classes)
        if rows is not None:
            _, sums = row_sums(rows, {CLASS_PAIR: [CW_PAIRS]}, self.num_classes, on_host=False)[CLASS_PAIR]
            self.matrix = self.matrix + sums.view_as(self.matrix)

    def compute(self) -> Any:
        """Return the matrix over all batches.

        Returns
        -------
        tensor of shape (num_classes, num_classes)
            Sums of confidence: true classes down, predicted classes across.
        """
        self._check_found()
        return self.matrix.clone()

    def confusion(self) -> Any:
        """Return the same matrix as a :class:`surefoot.Confusion`, with true and false positives of each class.

        Returns
        -------
        Confusion
            The matrix over all batches and processes.
        """
        codes = CLASS_PAIR.codes_of(np.arange(self.num_classes**2), self.num_classes)
        with self._synced():
            self._check_found()
            values = self.matrix.cpu().numpy().ravel()
        table = Table(codes, {CW_PAIRS.name: Sums(values, np.zeros(len(values)))}, CLASS_PAIR.classes)
        return read_confusion(Tally({CLASS_PAIR.name: table}, tuple(range(self.num_classes))), CW_PAIRS, None)

    def plot(self, val: Any = None, ax: Any = None, add_text: bool = True, labels: Any = None) -> Any:
        """Draw the matrix.

        Parameters
        ----------
        val : tensor, optional
            The matrix to draw; by default the current one.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.
        add_text : bool, default=True
            Whether to print the values.
        labels : sequence of str, optional
            The names of the classes.

        Returns
        -------
        tuple of (matplotlib.figure.Figure, matplotlib.axes.Axes)
            The figure and its axes.
        """
        return plot_confusion_matrix(self.compute() if val is None else val, ax=ax, add_text=add_text, labels=labels)
