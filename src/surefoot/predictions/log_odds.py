"""The log-odds of every class, made of logits when they are asked for: of arrays and of tensors alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from surefoot._stats.logistic import both_sides, expit
from surefoot.predictions.doubt import SMALLEST, WIDENED, Claim, widen

_FARTHEST = 1e300


@dataclass(frozen=True, eq=False)
class OddsOfSecond:
    """The log-odds of the second of two classes; those of the first are the same with the other sign."""

    odds: Any
    xp: Any

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.odds), 2

    @property
    def top(self) -> Any:
        """The likelier class of each row; of equal ones the first."""
        return self.xp.where(self.odds > 0, 1, 0)

    def __getitem__(self, rows: Any) -> OddsOfSecond:
        return replace(self, odds=self.odds[rows])

    def each(self, change: Callable[[Any], Any], xp: Any = None) -> OddsOfSecond:
        """The same of another kind of array."""
        return OddsOfSecond(change(self.odds), xp or self.xp)

    def of_class(self, label: int, rows: Any = slice(None)) -> Any:
        """The log-odds of one class in some rows."""
        odds = widen(self.odds[rows])
        return odds if label == 1 else -odds

    def of_classes(self, labels: Sequence[int]) -> Iterator[Any]:
        """Those of some classes, one after the other."""
        return (self.of_class(label) for label in labels)

    def claim(self, at: Any, chosen: Any) -> Claim:
        """Confidence and doubt of one class in each row."""
        odds = widen(self.odds)
        return _claim(self.xp.where(chosen == 1, odds, -odds), self.xp)

    def probabilities(self) -> Any:
        """The probability of the second."""
        return expit(widen(self.odds), self.xp)


@dataclass(frozen=True, eq=False)
class LogOdds:
    """For each row and class, its logit less the log-sum-exp of the other classes' logits.

    Of a thousand classes these are as many numbers as there are logits, and wider ones. So what follows from all
    classes is kept of each row, and the log-odds of a class are made when a reader comes by. ``odds[rows]`` are those
    of some rows.
    """

    logits: Any
    #: Of each row the class of the largest logit, the largest of the other logits, and the log-sum-exp of all.
    top: Any
    second: Any
    everything: Any
    #: The log-odds of the largest, relative to the others, so that nothing cancels.
    of_top: Any
    #: NumPy or torch.
    xp: Any

    @classmethod
    def of(cls, logits: Any, at: Any, xp: Any) -> LogOdds:
        """Those of logits, in one pass over them; ``at`` numbers the rows."""
        parts = []
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in _blocks(logits, xp):
                # a copy, which is worked on in place
                block = widen(logits[rows]) + 0.0
                here = at[: len(block)]
                top = xp.argmax(block, axis=1)
                largest = block[here, top]
                block[here, top] = -np.inf
                second = xp.amax(block, axis=1)
                block -= second[:, None]
                others = second + xp.log(xp.exp(block, out=block).sum(axis=1))
                everything = largest + xp.log1p(xp.exp(others - largest))
                parts.append((top, second, everything, _within(largest - others, xp)))
        top, second, everything, of_top = (xp.concatenate(part) for part in zip(*parts, strict=True))
        return cls(logits, top, second, everything, of_top, xp)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.logits.shape)

    def __getitem__(self, rows: Any) -> LogOdds:
        return self.each(lambda values: values[rows])

    def each(self, change: Callable[[Any], Any], xp: Any = None) -> LogOdds:
        """The same with every array of it changed, to one of another kind if need be."""
        arrays = {field.name: change(getattr(self, field.name)) for field in fields(self) if field.name != "xp"}
        return replace(self, **arrays, xp=xp or self.xp)

    def of_class(self, label: int, rows: Any = slice(None)) -> Any:
        """The log-odds of one class in some rows."""
        return self[rows]._evaluate(self.logits[rows, label], label)

    def of_classes(self, labels: Sequence[int]) -> Iterator[Any]:
        """Those of some classes, one after the other; each row is fetched once for all of them."""
        logits = self.logits[:, list(labels)]
        return (self._evaluate(logits[:, i], label) for i, label in enumerate(labels))

    def claim(self, at: Any, chosen: Any) -> Claim:
        """Confidence and doubt of one class in each row; ``at`` numbers the rows."""
        own = self.of_top if chosen is self.top else self._evaluate(self.logits[at, chosen], chosen)
        return _claim(own, self.xp)

    def table(self, labels: range) -> Any:
        """The log-odds of classes that follow each other, a column for each."""
        part = self.each(lambda values: values if values.ndim > 1 else values[:, None])
        logits = part.logits[:, labels.start : labels.stop]
        # in each row the numbers of the classes
        classes = self.xp.ones_like(logits[:1], dtype=self.xp.int64).cumsum(axis=1)[0] + (labels.start - 1)
        return part._evaluate(logits, classes)

    def probabilities(self) -> Any:
        """The probability of each class: a table."""
        every = range(self.logits.shape[1])
        parts = [expit(self[rows].table(every), self.xp) for rows in _blocks(self.logits, self.xp)]
        return self.xp.concatenate(parts)

    def _evaluate(self, logits: Any, classes: Any) -> Any:
        """The log-odds of classes with these logits, each in its row."""
        own = widen(logits)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # what a class that is not the first adds to the whole is at most half: the difference is well conditioned
            share = self.xp.exp(own - self.second) * self.xp.exp(self.second - self.everything)
            odds = own - self.everything - self.xp.log1p(-share)
        return self.xp.where(self.top == classes, self.of_top, _within(odds, self.xp))


def _claim(own: Any, xp: Any) -> Claim:
    """Logits are finite, so no row claims certainty: a doubt below what float64 holds is the smallest that it does."""
    confidence, doubt = both_sides(own, xp)
    return Claim(confidence, doubt.clip(SMALLEST, None))


def _within(odds: Any, xp: Any) -> Any:
    """Differences of logits may lie beyond the range of float64."""
    return xp.clip(odds, -_FARTHEST, _FARTHEST)


def _blocks(logits: Any, xp: Any) -> Iterator[slice]:
    """Rows that are worked on together, so that they stay in the cache."""
    size = max(1, WIDENED[xp.__name__] // logits.shape[1] // 2)
    return (slice(start, start + size) for start in range(0, len(logits), size))
