"""The confidence-weighted area under the ROC curve."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import torch

from surefoot._io.arguments import check_whole
from surefoot.core.keys import CLASS_SCORE, HALF, score_cells, score_steps
from surefoot.core.table import Sums, Table
from surefoot.core.tally import Tally
from surefoot.engines.torch import class_score_sums
from surefoot.integrations.torchmetrics.base import Holder
from surefoot.metrics.averages import Average, check_average
from surefoot.metrics.ranking import area_metric


class CWAUROC(Holder):
    """Confidence-weighted area under the ROC curve.

    Parameters
    ----------
    num_classes : int, default=2
        The number of classes, at least 2.
    average : {"macro", "weighted"} or None, default="macro"
        How to average over classes: equally, or by their number of rows; None returns a value for each class. With two
        classes ``"macro"`` is the value of the second.
    exact : bool, default=False
        Whether to keep all rows. By default scores are binned by log-odds (bins of 0.001 for up to sixteen classes), so
        that the state has a fixed size; :meth:`bound` says how far the value may then be off.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> metric = CWAUROC(num_classes=2)
    >>> metric.update(torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([0, 0, 1, 1]))
    >>> round(float(metric.compute()), 4), metric.bound()
    (0.8207, 0.0)
    """

    higher_is_better: bool | None = True
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0
    cells: Any

    def __init__(
        self,
        num_classes: int = 2,
        average: Literal["macro", "weighted"] | None = "macro",
        *,
        exact: bool = False,
        from_logits: bool = False,
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        check_whole("num_classes", num_classes, 2)
        check_average(average, "macro", "weighted", None)
        self.num_classes, self.exact = num_classes, exact
        self.average: Average = average
        if exact:
            self._add_row_states()
        else:
            shape = (len(self._metric().terms), num_classes, score_cells(num_classes))
            self.add_state("cells", torch.zeros(shape, dtype=torch.float64), dist_reduce_fx="sum")

    def _metric(self) -> Any:
        return area_metric("cw_auc", self.average)

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
        rows = self._predictions(preds, target, self.num_classes)
        if rows is None:
            return
        if self.exact:
            self._keep(preds, target)
        else:
            self.cells = self.cells + class_score_sums(rows, list(self._metric().terms)).view_as(self.cells)

    def compute(self) -> Any:
        """Return the value over all batches.

        Returns
        -------
        tensor
            The value in float64; nan if there were no batches.
        """
        if self.exact:
            rows = self._kept()
            return self._value(math.nan if rows is None else self._metric()(rows))
        tally = self._tally()
        return self._value(math.nan if tally is None else self._metric().of(tally))

    def bound(self) -> float:
        """Return how far the value may be from that of the rows themselves, because scores are binned.

        Returns
        -------
        float
            The largest possible difference; 0 with ``exact=True``.
        """
        if self.exact:
            return 0.0
        with self._synced():
            tally = self._tally()
        return 0.0 if tally is None else float(self._metric().bound(tally))

    def _tally(self) -> Tally | None:
        sums = self.cells.cpu().numpy()
        classes, cells = np.nonzero(sums.any(axis=0))
        if not len(classes):
            return None
        values = sums[:, classes, cells]
        zeros = np.zeros(len(classes))
        totals = {term.name: Sums(values[i], zeros) for i, term in enumerate(self._metric().terms)}
        codes = (classes.astype(np.int64) << HALF) | cells
        table = Table(codes, totals, CLASS_SCORE.classes, score_steps(self.num_classes))
        return Tally({CLASS_SCORE.name: table}, tuple(range(self.num_classes)))
