"""The reliability diagram of all batches, and an assessment of them."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch

from surefoot._io.arguments import check_whole
from surefoot.assessment.assess import Options, assess
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.curve import ReliabilityCurve, reliability_curve
from surefoot.integrations.torchmetrics.base import Holder
from surefoot.metrics.binned import check_bins
from surefoot.render.mpl.figures import ReliabilityDisplay


class Reliability(Holder):
    """Reliability diagram of all batches, and their assessment; keeps every row.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    n_bins : int, default=10
        The number of bins of confidence, of equal width.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> metric = Reliability(n_bins=5)
    >>> metric.update(torch.tensor([0.9, 0.9, 0.6, 0.6], dtype=torch.float64), torch.tensor([1, 1, 0, 1]))
    >>> metric.compute()[:, :2].tolist()
    [[0.6, 0.5], [0.9, 1.0]]
    >>> metric.assess().verdict
    'inconclusive'
    """

    higher_is_better: bool | None = None

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int = 10,
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        if num_classes is not None:
            check_whole("num_classes", num_classes, 2)
        check_bins(n_bins)
        self.num_classes, self.n_bins = num_classes, n_bins
        self._add_row_states()

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
        if self._predictions(preds, target, self.num_classes) is not None:
            self._keep(preds, target)

    def compute(self) -> Any:
        """Return the bins that hold samples.

        Returns
        -------
        tensor of shape (n_occupied, 5)
            Mean confidence, accuracy, its lower and upper 95% confidence limit, and the number of samples.
        """
        rows = self._kept()
        if rows is None:
            return torch.zeros((0, 5), dtype=torch.float64, device=self.device)
        found = reliability_curve(rows, n_bins=self.n_bins)
        return self._value(np.stack([found.prob_pred, found.prob_true, found.lower, found.upper, found.count], axis=1))

    def curve(self) -> ReliabilityCurve:
        """Return the same bins as a :class:`surefoot.ReliabilityCurve`.

        Returns
        -------
        ReliabilityCurve
            The bins over all batches and processes.
        """
        with self._synced():
            return reliability_curve(self._all_rows(), n_bins=self.n_bins)

    def assess(self, **options: Unpack[Options]) -> Assessment:
        """Assess all batches, as :func:`surefoot.assess` does.

        Parameters
        ----------
        **options : object
            ``level``, ``margin`` and ``metrics``; ``by`` and ``groups`` in the order in which rows came.

        Returns
        -------
        Assessment
            The verdict and the numbers behind it, over all batches and processes.

        Raises
        ------
        InvalidPredictions
            If there were no batches.
        """
        with self._synced():
            return assess(self._all_rows().rows(), **options)

    def _all_rows(self) -> Any:
        rows = self._kept()
        if rows is None:
            raise InvalidPredictions("there were no batches, so there is nothing to assess; call update first")
        return rows

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw the reliability diagram.

        Parameters
        ----------
        val : object, optional
            Not used: the diagram is that of the rows.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        tuple of (matplotlib.figure.Figure, matplotlib.axes.Axes)
            The figure and its axes.
        """
        display = ReliabilityDisplay.from_assessment(self.assess(metrics=ReliabilityDisplay.metrics)).plot(ax)
        return display.figure_, display.ax_
