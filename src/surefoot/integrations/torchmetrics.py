"""Metrics for training loops, as torchmetrics classes; their states are float64 sums of fixed size.

``update(preds, target)`` takes probabilities, or logits with ``from_logits=True``; which of the two is never guessed.
``preds`` of the same shape as ``target`` are P(second class); with one more dimension, the second dimension holds the
classes. States add up over batches and processes and stay float64 under ``half()``. ``reset``, ``forward``,
``MetricCollection``, checkpoints and pickling work as for any torchmetrics metric.

Examples
--------
>>> import torch
>>> csr = CalibratedSizeRatio()
>>> csr.update(torch.tensor([0.9, 0.2, 0.75]), torch.tensor([1, 0, 0]))
>>> round(float(csr.compute()), 6)
1.333333
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, Literal

import numpy as np

try:
    import torch
    import torchmetrics
    from torchmetrics.utilities.plot import plot_confusion_matrix
except ImportError as error:
    from surefoot.errors import MissingPackage

    raise MissingPackage("metrics for training loops need torchmetrics: pip install 'surefoot[torch]'.") from error

from surefoot._io.arguments import check_whole
from surefoot.core.keys import ALL_ROWS, CLASS_PAIR, CLASS_SCORE, HALF, score_cells, score_steps
from surefoot.core.table import Sums, Table
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.engines.torch import class_score_sums, row_sums
from surefoot.errors import InvalidPredictions
from surefoot.metrics import ALL
from surefoot.metrics.averages import Average, check_average
from surefoot.metrics.confusion import CW_PAIRS, read_confusion
from surefoot.metrics.ranking import area_metric
from surefoot.predictions.tensors import BORDER

__all__ = [
    "CWAUROC",
    "CalibratedSizeRatio",
    "ConfidenceWeightedAccuracy",
    "ConfidenceWeightedConfusionMatrix",
    "RiskProbability",
]


class _Holder(torchmetrics.Metric):
    """What all of them share: how predictions come in."""

    is_differentiable: bool | None = False
    full_state_update: bool = False

    def __init__(self, *, from_logits: bool = False, ignore_index: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if ignore_index is not None:
            check_whole("ignore_index", ignore_index, -(2**53))
        self.from_logits = from_logits
        self.ignore_index = ignore_index
        # a collection takes metrics whose states are equal for one: these are not, if they read batches differently
        options = [float(from_logits), float(ignore_index is not None), float(ignore_index or 0)]
        self.add_state("options", torch.tensor(options, dtype=torch.float64), dist_reduce_fx="max")

    def _predictions(self, preds: Any, target: Any, classes: int | None = None) -> Any:
        """The rows of a batch, checked; None if none of them counts."""
        preds, target = self._rows(preds, target)
        found = 2 if preds.ndim == 1 else preds.shape[1]
        if classes is not None and found != classes:
            raise InvalidPredictions(f"preds have {found} classes, but num_classes is {classes}.")
        if not len(target):
            return None
        return self._read(target, preds, found)

    def _read(self, target: Any, preds: Any, classes: int) -> Any:
        read = BORDER.from_logits if self.from_logits else BORDER.from_probabilities
        return read(target, preds, labels=tuple(range(classes)))

    def _rows(self, preds: Any, target: Any) -> tuple[Any, Any]:
        if not isinstance(preds, torch.Tensor) or not isinstance(target, torch.Tensor):
            raise InvalidPredictions("preds and target must be tensors.")
        if target.dtype.is_floating_point or target.dtype.is_complex:
            raise InvalidPredictions(f"target is of type {target.dtype}; it must hold class numbers, as integers.")
        if preds.shape == target.shape and target.ndim:
            preds = preds.reshape(-1)
        elif target.ndim and preds.ndim == target.ndim + 1 and preds[:, 0].shape == target.shape:
            preds = preds.movedim(1, -1).reshape(-1, preds.shape[1])
        else:
            raise InvalidPredictions(
                f"preds have shape {tuple(preds.shape)} and target {tuple(target.shape)}; preds must have the shape of "
                "target, with P(second class), or a second dimension for the classes."
            )
        target = target.reshape(-1).long()
        if self.ignore_index is not None:
            counts = target != self.ignore_index
            preds, target = preds[counts], target[counts]
        return preds, target

    def _synced(self) -> Any:
        """The states of all processes, as where a value is computed."""
        return self.sync_context(
            dist_sync_fn=self.dist_sync_fn,
            should_sync=self._to_sync,
            should_unsync=self._should_unsync,
            distributed_available=self.distributed_available_fn,
        )

    def _value(self, value: Any) -> Any:
        return torch.as_tensor(value, dtype=torch.float64, device=self.device)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw one value or several.

        Parameters
        ----------
        val : tensor or sequence of tensors, optional
            Values to draw; by default the current one.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        tuple of (matplotlib.figure.Figure, matplotlib.axes.Axes)
            The figure and its axes.
        """
        return self._plot(val, ax)


class _OfRows(_Holder):
    """A metric made of sums over all rows."""

    #: Its name among ``surefoot.metrics.ALL``.
    _name: ClassVar[str]
    sums: Any

    def __init__(self, *, from_logits: bool = False, ignore_index: int | None = None, **kwargs: Any) -> None:
        super().__init__(from_logits=from_logits, ignore_index=ignore_index, **kwargs)
        self.add_state("sums", torch.zeros(len(self._terms()), dtype=torch.float64), dist_reduce_fx="sum")

    def _terms(self) -> list[Term]:
        return list(ALL[self._name].terms)

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
        rows = self._predictions(preds, target)
        if rows is not None:
            self.sums = self.sums + row_sums(rows, {ALL_ROWS: self._terms()}, 0, on_host=False)[ALL_ROWS][1][:, 0]

    def compute(self) -> Any:
        """Return the value over all batches.

        Returns
        -------
        tensor
            The value in float64; nan if there were no batches.
        """
        sums = self.sums.cpu().numpy()
        if not sums.any():
            return self._value(math.nan)
        totals = {term.name: Sums(sums[[i]], np.zeros(1)) for i, term in enumerate(self._terms())}
        return self._value(ALL[self._name].of(Tally({ALL_ROWS.name: Table(np.zeros(1, dtype=np.int64), totals)})))


class CalibratedSizeRatio(_OfRows):
    r"""Calibrated size ratio: 1 if calibrated, above 1 if errors carry too much confidence.

    Parameters
    ----------
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


class RiskProbability(_OfRows):
    r"""The paper's P_risk: near 1 if CSR is above 1 by more than chance, assuming a normal distribution.

    For a decision use :func:`surefoot.risk_test`, which is exact.

    Parameters
    ----------
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


class ConfidenceWeightedAccuracy(_OfRows):
    r"""Confidence-weighted accuracy: above plain accuracy if confidences tell right from wrong.

    Parameters
    ----------
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


class ConfidenceWeightedConfusionMatrix(_Holder):
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
        rows = self._predictions(preds, target, self.num_classes)
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


class CWAUROC(_Holder):
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
    preds: Any
    target: Any

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
            self.add_state("preds", [], dist_reduce_fx="cat")
            self.add_state("target", [], dist_reduce_fx="cat")
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
            kept, classes = self._rows(preds, target)
            if len(self.preds) and self.preds[0].ndim != kept.ndim:
                raise InvalidPredictions(
                    "preds of one batch are P(second class), those of another have a column for each class."
                )
            # of its own: buffers are used again
            self.preds.append(kept.detach().clone())
            self.target.append(classes.clone())
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
            if not len(self.target):
                return self._value(math.nan)
            preds, target = (torchmetrics.utilities.dim_zero_cat(state) for state in (self.preds, self.target))
            with warnings.catch_warnings():
                # said when the batch came
                warnings.simplefilter("ignore")
                rows = self._read(target, preds, self.num_classes)
            return self._value(self._metric()(rows))
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
