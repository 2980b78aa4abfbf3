"""What all metrics for training loops share: how predictions come in."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

try:
    import torch
    import torchmetrics
except ImportError as error:
    from surefoot.errors import MissingPackage

    raise MissingPackage("metrics for training loops need torchmetrics: pip install 'surefoot[torch]'.") from error

from surefoot._io.arguments import check_whole
from surefoot.errors import InvalidPredictions
from surefoot.predictions.doubt import Numbers, warn_of_certain_rows
from surefoot.predictions.tensors import BORDER, TensorPredictions, has_kernels

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
#: Classes of a row that a kernel holds.
_MOST_CLASSES = 1 << 15


@cache
def _class_numbers(classes: int) -> tuple[int, ...]:
    return tuple(range(classes))


class Holder(torchmetrics.Metric):
    """What all of them share: how predictions come in."""

    is_differentiable: bool | None = False
    full_state_update: bool = False
    preds: Any
    target: Any
    found: Any

    def __init__(self, *, from_logits: bool = False, ignore_index: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if ignore_index is not None:
            check_whole("ignore_index", ignore_index, -(2**53))
        self.from_logits = from_logits
        self.ignore_index = ignore_index
        # a collection takes metrics whose states are equal for one: these are not, if they read batches differently
        options = [float(from_logits), float(ignore_index is not None), float(ignore_index or 0)]
        self.add_state("options", torch.tensor(options, dtype=torch.float64), dist_reduce_fx="max")
        # what was found of rows on a GPU, which nothing waits for before a value is computed
        self.add_state("found", torch.zeros(4, dtype=torch.int64), dist_reduce_fx="sum")
        self._float_type = "float64"

    def _claims(self, preds: Any, target: Any, classes: int | None = None) -> Any:
        """The rows of a batch with their confidences, but not what ranks them; None if none of them counts.

        Tables on a GPU are checked there: :meth:`_check_found` raises what is wrong with them.
        """
        preds, target = self._rows(preds, target)
        is_read_there = (
            preds.ndim == 2
            and has_kernels(preds.device)
            and preds.device == target.device
            and preds.dtype in _FLOATS
            and 2 <= preds.shape[1] <= _MOST_CLASSES
            and classes in (None, preds.shape[1])
            and len(target)
        )
        if not is_read_there:
            return self._predictions(preds, target, classes)
        from surefoot.predictions.triton import read_rows

        kind = str(preds.dtype).removeprefix("torch.")
        tolerance = Numbers((), kind).sum_tolerance
        rows = read_rows(preds.detach(), target, self.found, are_logits=self.from_logits, tolerance=tolerance)
        self._float_type = kind
        return TensorPredictions(
            rows.correct,
            rows.confidence,
            target,
            rows.predicted,
            _doubt=rows.doubt,
            _labels=_class_numbers(preds.shape[1]),
            is_coded=True,
        )

    def _check_found(self) -> None:
        """Raise for rows on a GPU that are not what is meant, and warn of those that claim certainty."""
        numbers, labels, sums, certain = self.found.tolist()
        meant = "finite logits" if self.from_logits else "probabilities from 0 to 1"
        for count, wrong, hint in (
            (numbers, f"have preds that are not {meant}", "" if self.from_logits else "; for logits, from_logits=True"),
            (labels, "have a target that is no class number", "; ignore_index= leaves a number out"),
            (sums, "have preds that do not add up to 1", "; for logits, from_logits=True"),
        ):
            if count:
                raise InvalidPredictions(
                    f"{count:,} samples since the last reset {wrong}{hint}. Batches on a GPU are checked when a value "
                    "is computed; call reset() before the next."
                )
        if certain and self._float_type != "float64":
            warn_of_certain_rows(self._float_type, None, certain)

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

    def _add_row_states(self) -> None:
        self.add_state("preds", [], dist_reduce_fx="cat")
        self.add_state("target", [], dist_reduce_fx="cat")

    def _keep(self, preds: Any, target: Any) -> None:
        """Keep the rows of a batch, once they are checked."""
        kept, classes = self._rows(preds, target)
        if len(self.preds) and self.preds[0].ndim != kept.ndim:
            raise InvalidPredictions(
                "preds of one batch are P(second class), those of another have a column for each class."
            )
        # of its own: buffers are used again
        self.preds.append(kept.detach().clone())
        self.target.append(classes.clone())

    def _kept(self) -> Any:
        """All rows that were kept; None if there are none."""
        if not len(self.target):
            return None
        preds, target = (torchmetrics.utilities.dim_zero_cat(state) for state in (self.preds, self.target))
        with warnings.catch_warnings():
            # said when the batch came
            warnings.simplefilter("ignore")
            return self._read(target, preds, 2 if preds.ndim == 1 else preds.shape[1])

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
