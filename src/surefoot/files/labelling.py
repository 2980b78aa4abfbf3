"""The labels of a data set, which all of its rows agree on, read at once or one after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io.printable import printable
from surefoot.core.tally import Label
from surefoot.files.attempting import Attempting
from surefoot.files.finding import Ambiguous
from surefoot.files.reasons import is_no_label
from surefoot.files.source import BadFile
from surefoot.files.types import is_text_type, type_of_values
from surefoot.predictions.borders import attempts_of
from surefoot.predictions.labels import (
    as_labels,
    distinct,
    kind_of,
    labels_in_names,
    labels_of_count,
    labels_of_second,
)

if TYPE_CHECKING:
    import pyarrow as pa


class Labelling(Attempting):
    """Files of labels, and of probabilities or logits that belong to them."""

    #: The positive label as the user named it, and the first other one of a stream.
    positive: Any
    _negative: Any
    #: Whether columns of probabilities or logits were detected, and not named.
    _are_detected: bool

    def labels_of_all(self) -> Any:
        """The labels of all rows, which no batch alone may hold; None where there are no scores to be named."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.columns.probabilities is None and self.columns.logits is None:
            return None
        found: set[Any] = set()
        told = [name for name in (self.columns.truth, self.columns.attempted) if name is not None]
        for source in self.sources:
            for batch in source.batches(told, ()):
                attempts = None if self.columns.attempted is None else attempts_of(batch.table.column(told[-1]))
                truth = batch.table.column(told[0])
                if pa.types.is_float16(truth.type):
                    # Arrow computes nothing with these
                    truth = truth.cast(pa.float32())
                found.update(pc.unique(truth if attempts is None else truth.filter(attempts.flags)).to_pylist())
        # such rows are refused or left out when they are read
        found = {label for label in found if not is_no_label(label)}
        labels = as_labels("y_true", np.array(sorted(found)))
        if self._is_second():
            return labels_of_second(distinct(labels), kind_of(labels), self._pos_label())
        from_names = self._labels_of_columns(labels)
        return from_names or labels_of_count(distinct(labels), kind_of(labels), self._classes())

    def labels_beforehand(self) -> Any:
        """The labels of a stream, of which only the first row is known."""
        import pyarrow.types as kinds

        if self.columns.probabilities is None and self.columns.logits is None:
            return None
        if self.positive is not None:
            return None
        if not self.sources[0].head().num_rows:
            raise BadFile("no rows; there is nothing to assess", file=self.name)
        names = self._families()
        truth = type_of_values(self.sources[0].schema.field(str(self.columns.truth)).type)
        if kinds.is_integer(truth):
            first = as_labels("y_true", self.sources[0].head().column(str(self.columns.truth)))
            if 0 <= first[0] < self._classes():
                return self._labels_of_columns(first) or tuple(range(self._classes()))
        elif kinds.is_boolean(truth) and self._classes() == 2:
            return (False, True)
        elif names and is_text_type(truth):
            first = as_labels("y_true", self.sources[0].head().column(str(self.columns.truth)))
            labels = self._labels_of_columns(first)
            if labels is not None:
                return labels
        raise Ambiguous(
            "the first row does not tell what the labels of a stream are; say which label the probability is of with "
            "--positive, or give columns of probabilities named after the labels, labels 0, 1, ..., or --predicted and "
            "--confidence",
            file=self.name,
        )

    def labels_so_far(self, table: pa.Table) -> Any:
        """The positive label of a stream, after the first other one that has come, or one that stands for it."""
        if self.positive is None or not self._is_second():
            return None
        positive = self._pos_label()
        if self._negative is None:
            values = (value for value in table.column(str(self.columns.truth)).to_pylist() if not is_no_label(value))
            self._negative = next((value for value in values if value != positive), None)
        unseen = f"not {positive}" if isinstance(positive, str) else 0 if positive else 1
        return (unseen if self._negative is None else self._negative, positive)

    def _families(self) -> tuple[str, ...]:
        scores = self.columns.probabilities or self.columns.logits
        return scores if isinstance(scores, tuple) else ()

    def _labels_of_columns(self, truth: Any) -> tuple[Label, ...] | None:
        """The labels that columns of probabilities are named after, if they are. Two that were detected must be."""
        names = self._families()
        labels = labels_in_names(distinct(truth), kind_of(truth), list(names)) if names else None
        if labels is None and len(names) == 2 and self._are_detected and kind_of(truth) != "strings":
            raise Ambiguous(
                f"'{printable(names[0])}' and '{printable(names[1])}' do not say which is the probability of "
                f"{distinct(truth)[-1]}; name that one with --probabilities",
                file=self.name,
            )
        return labels

    def _classes(self) -> int:
        """How many classes the scores are for."""
        if self._families():
            return len(self._families())
        if self._is_second():
            return 2
        size = getattr(self._score_type(), "list_size", None)
        if size is None:
            name = str(self.columns.probabilities or self.columns.logits)
            lists = self.sources[0].head().column(name).drop_null()
            if not len(lists):
                raise BadFile("holds no lists in the first rows", column=name, file=self.sources[0].name)
            size = len(lists[0].as_py())
        return int(size)

    def _is_second(self) -> bool:
        scores = self.columns.probabilities or self.columns.logits
        return isinstance(scores, str) and not hasattr(self._score_type(), "value_type")

    def _score_type(self) -> Any:
        return type_of_values(self.sources[0].schema.field(str(self.columns.probabilities or self.columns.logits)).type)

    def _pos_label(self) -> Any:
        """The positive label, read like those of the column of truth."""
        import pyarrow.types as kinds

        if not isinstance(self.positive, str) or self.columns.truth is None:
            return self.positive
        truth = self.sources[0].schema.field(str(self.columns.truth)).type
        text = self.positive.strip()
        if kinds.is_boolean(truth) and text.casefold() in ("true", "false"):
            return text.casefold() == "true"
        whole = re.fullmatch(r"(-?\d{1,20})(\.0+)?", text)
        is_number = kinds.is_integer(truth) or kinds.is_floating(truth)
        return int(whole[1]) if is_number and whole is not None else self.positive
