"""Metrics that are made of sums over all rows."""

from __future__ import annotations

import math
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np
import torch

from surefoot._io.arguments import check_whole
from surefoot.core.keys import Key
from surefoot.core.metric import Metric
from surefoot.core.table import Sums, Table
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.engines.torch import row_sums
from surefoot.integrations.torchmetrics.base import Holder
from surefoot.metrics import ALL
from surefoot.metrics.binned import check_bins, ece_metric


@cache
def _groups(metric: Metric) -> dict[Key, list[Term]]:
    """Its terms by their key, in the order in which their sums are held."""
    found: dict[Key, list[Term]] = {}
    for term in metric.terms:
        found.setdefault(term.key, []).append(term)
    return found


class OfRows(Holder):
    """A metric made of sums over all rows, or in cells whose number is known."""

    #: Its name among ``surefoot.metrics.ALL``.
    _name: ClassVar[str]
    sums: Any

    def __init__(
        self,
        num_classes: int | None = None,
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        if num_classes is not None:
            check_whole("num_classes", num_classes, 2)
        self.num_classes = num_classes
        size = sum(len(terms) * prod(key.sizes(0)) for key, terms in _groups(self._metric()).items())
        self.add_state("sums", torch.zeros(size, dtype=torch.float64), dist_reduce_fx="sum")

    def _metric(self) -> Metric:
        return ALL[self._name]

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
            groups = _groups(self._metric())
            found = row_sums(rows, groups, 0, on_host=False)
            self.sums = self.sums + torch.cat([found[key][1].reshape(-1) for key in groups])

    def compute(self) -> Any:
        """Return the value over all batches.

        Returns
        -------
        tensor
            The value in float64; nan if there were no batches.
        """
        self._check_found()
        sums = self.sums.cpu().numpy()
        if not sums.any():
            return self._value(math.nan)
        tables, start = {}, 0
        for key, terms in _groups(self._metric()).items():
            cells = prod(key.sizes(0))
            values = sums[start : start + len(terms) * cells].reshape(len(terms), cells)
            totals = {term.name: Sums(values[i], np.zeros(cells)) for i, term in enumerate(terms)}
            tables[key.name] = Table(key.codes_of(np.arange(cells), 0), totals)
            start += values.size
        return self._value(self._metric().of(Tally(tables)))


class CalibratedSizeRatio(OfRows):
    r"""Calibrated size ratio: 1 if calibrated, above 1 if errors carry too much confidence.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Notes
    -----
    .. math:: \mathrm{CSR} = \frac1N \sum_i \frac{[\hat y_i \ne y_i]}{1 - c_i}

    Examples
    --------
    >>> metric = CalibratedSizeRatio(from_logits=True)
    >>> metric.update(torch.tensor([[2.0, 0.0], [0.0, 3.0]]), torch.tensor([0, 0]))
    >>> round(float(metric.compute()), 4)  # (1 + e^3) / 2
    10.5428
    """

    _name = "csr"
    higher_is_better: bool | None = None
    plot_lower_bound: float = 0.0


class RiskProbability(OfRows):
    r"""The paper's P_risk: near 1 if CSR is above 1 by more than chance, assuming a normal distribution.

    For a decision use :func:`surefoot.risk_test`, which is exact.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> metric = RiskProbability()
    >>> metric.update(torch.tensor([0.9, 0.9]), torch.tensor([1, 1]))
    >>> float(metric.compute())
    0.0
    """

    _name = "p_risk"
    higher_is_better: bool | None = False
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0


class ConfidenceWeightedAccuracy(OfRows):
    r"""Confidence-weighted accuracy: above plain accuracy if confidences tell right from wrong.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Notes
    -----
    .. math:: \mathrm{cwA} = \frac{\sum_i c_i [\hat y_i = y_i]}{\sum_i c_i}

    Examples
    --------
    >>> metric = ConfidenceWeightedAccuracy()
    >>> metric.update(torch.tensor([0.75, 0.75, 0.5], dtype=torch.float64), torch.tensor([1, 1, 1]))
    >>> float(metric.compute())
    0.75
    """

    _name = "cw_accuracy"
    higher_is_better: bool | None = True
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0


class ExpectedCalibrationError(OfRows):
    r"""Expected calibration error: the mean gap between confidence and accuracy, in bins of equal width.

    Small gaps near certainty hardly count in it; read :class:`CalibratedSizeRatio` beside it.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    n_bins : int, default=15
        The number of bins.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Notes
    -----
    .. math:: \mathrm{ECE} = \sum_m \frac{|B_m|}{N} \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|

    Examples
    --------
    >>> metric = ExpectedCalibrationError()
    >>> metric.update(torch.tensor([0.75, 0.75, 0.75, 0.75], dtype=torch.float64), torch.tensor([1, 1, 0, 0]))
    >>> float(metric.compute())
    0.25
    """

    _name = "ece"
    higher_is_better: bool | None = False
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int = 15,
        *,
        from_logits: bool = False,
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_bins(n_bins)
        # the states are as many as the bins, and before them a module may hold nothing but what it computes with
        object.__setattr__(self, "n_bins", n_bins)
        super().__init__(num_classes, from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        self.n_bins = n_bins

    def _metric(self) -> Metric:
        return ece_metric(self.n_bins)


class BrierScore(OfRows):
    r"""Brier score of the predicted class: the mean squared distance between confidence and being correct.

    Parameters
    ----------
    num_classes : int, optional
        The number of classes; if it is given, batches with another number are refused.
    from_logits : bool, default=False
        Whether ``preds`` are logits instead of probabilities; it is never guessed.
    ignore_index : int, optional
        A value of ``target`` whose rows are left out.
    **kwargs : object
        Passed to :class:`torchmetrics.Metric`.

    Notes
    -----
    .. math:: \frac1N \sum_i (c_i - [\hat y_i = y_i])^2

    With two classes it is the usual Brier score. With more, the score over all classes is
    :func:`surefoot.multiclass_brier`.

    Examples
    --------
    >>> metric = BrierScore()
    >>> metric.update(torch.tensor([0.75, 0.5], dtype=torch.float64), torch.tensor([1, 1]))
    >>> float(metric.compute())
    0.15625
    """

    _name = "brier"
    higher_is_better: bool | None = False
    plot_lower_bound: float = 0.0
    plot_upper_bound: float = 1.0
