"""Tallies of tensors: rows stay on their device, and only tables of bounded size come to the host.

Sums over all rows and under bins are one compiled kernel where Triton is at hand; elsewhere, and for classes, scores
and doubts, torch's own operations. Rows of a table are brought together by a stable sort and added up in the order it
gives, never by atomic additions: the same tensors give the same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from math import prod
from typing import Any, TypeVar

import numpy as np

from surefoot.core.doubt_table import CUT, EXACT, FEW, DoubtTable, cell_program, extremes
from surefoot.core.expression import evaluate, program
from surefoot.core.keys import ALL_ROWS, CLASS_SCORE, HALF, Key, ordered_bits, score_cells, score_steps
from surefoot.core.table import Sums, Table
from surefoot.core.tally import Tally
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines import triton as kernels
from surefoot.engines.base import Engine, Groups, tally_in_memory
from surefoot.engines.numpy import NumpyEngine
from surefoot.predictions.tensors import Tensor, TensorPredictions

Result = TypeVar("Result")

#: Counts rows under a score, whatever they weigh.
_ANY = Term("any by score", lambda row: row.one, CLASS_SCORE)
#: Cells up to which all are held; of more, those that occur.
_DENSE = 1 << 22
#: Rows that are brought together at a time.
_BLOCK = 1 << 26
#: Rows for each class up to which the scores of all classes are sorted together.
_SHORT = 1 << 12
#: Rows from which on it pays to count how many share a confidence, before anything else is made of them.
_MANY = 1 << 25


def tally(predictions: TensorPredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms; see :meth:`Predictions.tally`."""
    return tally_in_memory(TorchEngine, predictions, terms, exact=exact, by=by)


class TorchEngine(Engine):
    """Tensors, by Triton's kernels or torch's own operations."""

    name = "torch"
    predictions: TensorPredictions

    def tables(self, groups: Groups) -> dict[str, Any]:
        counted = {key: terms for key, terms in groups.items() if _is_of_confidence(key, terms)}
        distinct = _distinct(self.predictions) if any(key.operation == "doubts" for key in counted) else None
        if distinct is None:
            return super().tables(groups)
        found = super(TorchEngine, TorchEngine(distinct)).tables(counted)
        for key in counted:
            if self.exact and key.operation == "doubts":
                found[key.name] = replace(found[key.name], from_rows=self._every_doubt)
        return found | super().tables({key: terms for key, terms in groups.items() if key not in counted})

    def cells(self, groups: Groups) -> dict[str, Any]:
        sums = row_sums(self.predictions, groups, self.classes, on_host=True)
        return {key.name: self._table(key, groups[key], *found) for key, found in sums.items()}

    def _table(self, key: Key, terms: list[Term], cells: Any, totals: Any) -> Table:
        codes = key.codes_of(cells, self.classes)
        zeros = np.zeros(len(codes))
        return Table(codes, {term.name: Sums(totals[i], zeros) for i, term in enumerate(terms)}, key.classes)

    def scores(self, key: Key, terms: list[Term]) -> Any:
        scores = TensorScores(self.predictions, terms)
        return scores if self.exact else scores.in_cells()

    def doubts(self, key: Key, terms: list[Term]) -> DoubtTable:
        import torch

        parts = []
        rule = cell_program(stores_doubt=True)
        for rows in _blocks(self.predictions):
            doubt, confidence = self.predictions.doubt_of(rows), self.predictions.confidence_of(rows)
            exact = _exact_codes(doubt, confidence)
            ordered = exact.unique()
            if len(ordered) > FEW:
                middle = int(torch.searchsorted(ordered, 0))
                near = ordered[max(0, middle - FEW) : middle + FEW]
                # neighbours among all codes
                apart = extremes(_on_host(near))
                (cell,) = evaluate(rule, {"doubt": doubt, "confidence": confidence}.__getitem__, operations())
                exact = exact.where((exact >= int(apart[0])) & (exact <= int(apart[-1])), cell.long())
            is_ordered = self.predictions.times is not None
            codes, totals = _by_code(exact, row_values(self.predictions, terms, rows), is_ordered=is_ordered)
            zeros = np.zeros(len(codes))
            parts.append(DoubtTable(codes, {term.name: Sums(totals[i], zeros) for i, term in enumerate(terms)}))
        table: DoubtTable = reduce(operator.add, parts)
        return replace(table, from_rows=self._every_doubt) if self.exact else table

    def _every_doubt(self, terms: Sequence[Term]) -> DoubtTable:
        return NumpyEngine(self.predictions.rows()).every_doubt(terms)

    def values(self, key: Key, terms: list[Term]) -> Table:
        # formulas over the order of rows walk along every row, on the host
        return NumpyEngine(self.predictions.rows(), exact=self.exact).values(key, terms)

    def rows(self, key: Key, terms: list[Term]) -> Table:
        return NumpyEngine(self.predictions.rows(), exact=self.exact).rows(key, terms)


def _is_of_confidence(key: Key, terms: Sequence[Term]) -> bool:
    """Whether all that is added up follows from confidence and correctness."""
    if key.operation not in ("cells", "doubts"):
        return False
    steps = program_of(tuple(terms), Shape(), key).steps
    columns = {arguments[0] for operation, arguments in steps if operation == "column"}
    return columns <= {"correct", "confidence", "doubt", "weight"}


def _distinct(predictions: TensorPredictions) -> TensorPredictions | None:
    """Each distinct row once, with how many times it occurs, where there are many rows of few confidences."""
    p = predictions
    if len(p) < _MANY or p.is_weighted or p.stores_doubt or not kernels.has_kernels(p.correct.device):
        return None
    from surefoot.engines.triton_counts import count, takes

    if not takes(p.confidence, p.least):
        return None
    found = count(p.correct, p.confidence, p.least)
    return TensorPredictions(
        found.correct, found.confidence, doubt_of_one=p.doubt_of_one, least=p.least, times=found.times
    )


# -- sums in cells -----------------------------------------------------------------------------------------------------


def row_sums(predictions: TensorPredictions, groups: Groups, classes: int, *, on_host: bool) -> dict[Key, Any]:
    """For each key the numbers of its cells, and their sums, a row a term: on the device or on the host.

    All cells, on the host of those of classes the ones that occur.
    """
    found: dict[Key, Any] = {}
    if kernels.has_kernels(predictions.correct.device):
        # two kernels for each request, not one for each number
        least = 0.5 if predictions.least >= 0.5 else 0.0
        for request in kernels.requests(tuple((key, tuple(terms)) for key, terms in groups.items()), least):
            found |= _sum_in_one_pass(predictions, request, least, on_host=on_host)
    for key, terms in groups.items():
        if key not in found:
            found[key] = _sum_cells(predictions, key, terms, key.sizes(classes), on_host=on_host)
    return found


def _sum_in_one_pass(
    predictions: TensorPredictions, request: tuple[Any, ...], least: float, *, on_host: bool
) -> dict[Key, Any]:
    """All these keys in one pass over memory."""
    import torch

    columns = [*predictions.columns(), predictions.times]
    written = kernels.plan(
        request,
        _shape(predictions),
        predictions.doubt_of_one,
        is_narrow=columns[1].dtype != torch.float64,
        least=least,
        is_repeated=predictions.times is not None,
    )
    total: Any = 0
    for start in range(0, len(predictions), kernels.MOST_ROWS):
        rows = slice(start, start + kernels.MOST_ROWS)
        total = total + kernels.run(written, [None if column is None else column[rows] for column in columns])
    total = _on_host(total) if on_host else total
    found = {}
    for part, (key, terms) in zip(written.parts, request, strict=True):
        here = total[part.offset : part.offset + part.size * part.width].reshape(part.size, part.width)
        columns_of = [part.columns[term.name] for term in terms]
        if columns_of != list(range(part.width)):
            # a list as an index would wait for the device
            here = (np if on_host else torch).stack([here[:, column] for column in columns_of], 1)
        found[key] = np.arange(part.size), here.T
    return found


def _sum_cells(
    predictions: TensorPredictions, key: Key, terms: list[Term], sizes: list[int], *, on_host: bool
) -> tuple[Any, Any]:
    """The same by torch's own operations."""
    import torch

    total: Any = 0
    count, parts = prod(sizes), []
    # of many pairs of classes few occur, and the rows of a cell of confidences that were counted lie together
    is_counted = predictions.times is not None
    is_sparse = count > _DENSE or (on_host and bool(key.classes) and count > len(predictions)) or is_counted
    for rows in _blocks(predictions):
        values = row_values(predictions, terms, rows, key=key)
        if not sizes:
            total = total + torch.stack([value.sum() for value in values])[:, None]
            continue
        digits, values = values[: len(sizes)], [*values[len(sizes) :], torch.ones_like(values[0])]
        place = digits[0]
        for digit, size in zip(digits[1:], sizes[1:], strict=True):
            place = place * size + digit
        if is_sparse:
            parts.append(_by_code(place.long(), values[:-1], is_ordered=is_counted))
        else:
            total = total + sum_by_place(place, values, count)
    if parts:
        cells, where = np.unique(np.concatenate([codes for codes, _ in parts]), return_inverse=True)
        added = np.concatenate([totals for _, totals in parts], axis=1)
        if is_counted:
            return np.arange(count), np.stack([np.bincount(cells[where], own, count) for own in added])
        return cells, np.stack([np.bincount(where, own, len(cells)) for own in added])
    if not on_host:
        return np.arange(count), total[: len(terms)]
    total = _on_host(total)
    cells = np.flatnonzero(total[-1]) if key.classes else np.arange(count)
    return cells, total[: len(terms), cells]


def _shape(predictions: TensorPredictions) -> Shape:
    return Shape(predictions.stores_doubt, predictions.is_weighted)


def row_values(
    predictions: TensorPredictions, terms: Sequence[Term], rows: Any, *, key: Key = ALL_ROWS, **more: Tensor
) -> list[Tensor]:
    """The digits of the cell of each of some rows, and what the row adds to each term."""
    import torch

    # the doubt of a 1 that was rounded is not 1 - confidence
    steps = program_of(tuple(terms), Shape(is_weighted=predictions.is_weighted), key)
    correct = predictions.correct[rows].double()

    def column(name: str) -> Tensor:
        if name in more:
            return more[name]
        if name in ("truth", "predicted"):
            return predictions.codes(name, rows).double()
        if name in ("confidence", "doubt"):
            return getattr(predictions, f"{name}_of")(rows)
        return correct if name == "correct" else predictions.weight[rows]

    values = evaluate(steps, column, operations())
    values = [torch.full_like(correct, value) if isinstance(value, float) else value for value in values]
    if predictions.times is None:
        return values
    times = predictions.times[rows].double()
    return [*values[: len(key.digits)], *(value * times for value in values[len(key.digits) :])]


@cache
def operations() -> dict[str, Callable[..., Any]]:
    """What terms are made of, on tensors."""
    import torch

    return {
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
        "log": torch.log,
        "reciprocal": lambda x: (1 / x).masked_fill_(x == 0, 0.0),
        "greater": lambda a, b: (a > b).double(),
        "at_least": lambda a, b: (a >= b).double(),
        "equal": lambda a, b: (a == b).double(),
        "floor": torch.floor,
        "lesser": torch.minimum,
        "clip": torch.clip,
        "octave_cell": lambda x: (x.view(torch.int64) >> CUT).double(),
    }


def sum_by_place(places: Tensor, values: Sequence[Tensor], size: int) -> Tensor:
    """The sums of values whose places are equal, a row for each of values and a column for each of ``size`` places."""
    import torch

    ordered, order = places.int().sort(stable=True)
    # how many rows lie at each place, without counting by atomic additions
    ends = torch.searchsorted(ordered, torch.arange(size, dtype=torch.int32, device=places.device), right=True)
    return torch.stack([_sum_neighbours(value[order], ends) for value in values])


def _sum_neighbours(ordered: Tensor, ends: Tensor) -> Tensor:
    """The sums of neighbours, given where each group ends."""
    import torch

    lengths = torch.diff(ends, prepend=ends.new_zeros(1))
    return torch.segment_reduce(ordered, "sum", lengths=lengths, unsafe=True)


def _by_code(codes: Tensor, values: Sequence[Tensor], *, is_ordered: bool = False) -> tuple[Any, Any]:
    """The codes that occur, rising, and the sums under each, on the host; of ordered rows equal ones are neighbours."""
    import torch

    if not is_ordered:
        codes, order = codes.sort(stable=True)
        values = [value[order] for value in values]
    found, counts = codes.unique_consecutive(return_counts=True)
    totals = torch.stack([_sum_neighbours(value, counts.cumsum(0)) for value in values])
    codes, sums = _on_host(found), _on_host(totals)
    order = np.argsort(codes, kind="stable")
    return codes[order], sums[:, order]


def _exact_codes(doubt: Tensor, confidence: Tensor) -> Tensor:
    """As in ``doubt_table``: a code for each distinct value."""
    import torch

    own, other = doubt.view(torch.int64) + int(EXACT), -1 - confidence.view(torch.int64)
    return own.where(doubt <= confidence, other)


# -- scores ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorScores:
    """Tables of scores, made a class at a time where the rows are."""

    predictions: TensorPredictions
    terms: list[Term]

    def holds(self, term: str) -> bool:
        return any(term == own.name for own in self.terms)

    def of_classes(self, labels: Sequence[int], read: Callable[[Any], Result]) -> list[Result]:
        """What ``read`` makes of the scores of each class."""
        p = self.predictions
        if not p.has_second and kernels.has_kernels(p.correct.device) and len(p) <= _SHORT * len(labels):
            together = ManyScores(self, labels)
            return [read(ScoresOfMany(self, label, together)) for label in labels]
        return [read(SortedScores(self, label)) for label in labels]

    def of_class(self, label: int) -> Table:
        """The table of one class's distinct scores, on the host."""
        return SortedScores(self, label).table

    def in_cells(self) -> Table:
        """The table of all classes, with scores rounded to cells of log-odds."""
        assert self.predictions.labels is not None
        found = _on_host(class_score_sums(self.predictions, [*self.terms, _ANY]))
        # of all cells those that hold rows
        classes, cells = np.nonzero(found[-1])
        codes = (classes.astype(np.int64) << HALF) | cells
        totals, zeros = found[:-1, classes, cells], np.zeros(len(codes))
        named = {term.name: Sums(totals[i], zeros) for i, term in enumerate(self.terms)}
        return Table(codes, named, CLASS_SCORE.classes, score_steps(len(self.predictions.labels)))

    def values(self, label: int, rows: slice = slice(None), terms: Sequence[Term] | None = None) -> list[Tensor]:
        """What some rows add to each term, for one class."""
        positive = (self.predictions.codes("truth", rows) == label).double()
        chosen = self.terms if terms is None else terms
        return row_values(self.predictions, chosen, rows, positive=positive)


class SortedScores:
    """The rows of one class in the order of their scores, which are sorted once."""

    def __init__(self, scores: TensorScores, label: int) -> None:
        self.whole, self.label = scores, label
        self.scores, self.order = scores.predictions.ranking_scores(label).sort(stable=True)

    def pairs(self, terms: tuple[Term, Term]) -> tuple[float, float, float]:
        """Pairs that positives win and lose, and the mass of positives, of the terms that count both."""
        if not kernels.has_kernels(self.order.device):
            return self._pairs(*(values[self.order] for values in self.whole.values(self.label, terms=terms)))
        from surefoot.engines.triton_areas import Pairs

        p, found = self.whole.predictions, Pairs(self.scores)
        # no row is positive and negative, so that their difference holds both
        of_second = kernels.difference_of_second(terms)
        if of_second is not None and p.follows_second and not p.is_weighted and self.label == 1:
            kernels.differences_of_second(of_second, self.order, p.correct, found)
        else:
            source = kernels.difference(terms, _shape(p), p.doubt_of_one)
            found.fetch(
                kernels.differences(source, p.codes("truth"), self.label, p.columns()),
                self.order,
            )
        return found.count()

    def _pairs(self, positive: Tensor, negative: Tensor) -> tuple[float, float, float]:
        """The same by torch's own operations: what had been reached when each group of equal scores ended."""
        import torch

        last = _is_last(self.scores)
        reached, passed = (torch.cat([x.new_zeros(1), x.cumsum(0)[last]]) for x in (positive, negative))
        won = (reached.diff() * (passed[1:] + passed[:-1])).sum() / 2
        lost = (passed.diff() * (reached[1:] + reached[:-1])).sum() / 2
        return float(won), float(lost), float(reached[-1])

    @cached_property
    def table(self) -> Table:
        """The distinct scores, and the totals at each, on the host."""
        codes = ordered_bits(_on_host(self.scores.double()))
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        zeros = np.zeros(len(starts))
        values = self.whole.values(self.label)
        totals = {
            term.name: Sums(np.add.reduceat(_on_host(own[self.order]), starts), zeros)
            for term, own in zip(self.whole.terms, values, strict=True)
        }
        return Table(codes[starts], totals)

    @property
    def totals(self) -> Mapping[str, Sums]:
        return self.table.totals


class ManyScores:
    """The scores of several classes of few rows: of each, launching its kernels would take longer than they do."""

    def __init__(self, whole: TensorScores, labels: Sequence[int]) -> None:
        self.whole, self.labels = whole, labels
        self._found: dict[tuple[Term, Term], dict[int, tuple[float, float, float]]] = {}

    def pairs(self, terms: tuple[Term, Term]) -> dict[int, tuple[float, float, float]]:
        """Of each class the pairs that positives win and lose, and the mass of positives."""
        if terms not in self._found:
            self._found[terms] = dict(self._count(terms))
        return self._found[terms]

    def _count(self, terms: tuple[Term, Term]) -> Iterator[tuple[int, tuple[float, float, float]]]:
        import torch

        from surefoot.engines.triton_areas import count_classes

        p, every = self.whole.predictions, slice(None)
        # of the class, what a row adds depends on nothing but whether it is the true one
        one = torch.ones(len(p), dtype=torch.float64, device=p.correct.device)
        up, _ = row_values(p, terms, every, positive=one)
        _, down = row_values(p, terms, every, positive=1 - one)
        truth, size = p.codes("truth"), max(1, _BLOCK // len(p))
        for start in range(self.labels[0], self.labels[-1] + 1, size):
            labels = range(start, min(start + size, self.labels[-1] + 1))
            yield from zip(labels, count_classes(p.ranking_table(labels), truth, start, up, down), strict=True)


class ScoresOfMany(SortedScores):
    """The scores of one of many classes: pairs are counted with those of the others."""

    def __init__(self, whole: TensorScores, label: int, together: ManyScores) -> None:
        self.whole, self.label, self._together = whole, label, together

    def pairs(self, terms: tuple[Term, Term]) -> tuple[float, float, float]:
        return self._together.pairs(terms)[self.label]

    @cached_property
    def table(self) -> Table:
        return SortedScores(self.whole, self.label).table


def _is_last(scores: Tensor) -> Tensor:
    """Which of some rising scores are the last of their kind."""
    import torch

    return torch.cat([scores[1:] != scores[:-1], scores.new_ones(1, dtype=torch.bool)])


def class_score_sums(predictions: TensorPredictions, terms: Sequence[Term]) -> Tensor:
    """The sums of terms under each class and cell of its log-odds, on the device."""
    import torch

    assert predictions.labels is not None
    classes = len(predictions.labels)
    cells, rule = score_cells(classes), program([CLASS_SCORE.cell(classes)])
    device = predictions.correct.device
    every = torch.arange(classes, device=device)
    total: Any = 0
    for rows in _blocks(predictions, classes):
        odds = torch.stack([predictions.score_log_odds(label, rows) for label in range(classes)], dim=1)
        (place,) = evaluate(rule, {"log_odds": odds}.__getitem__, operations())
        place = place.int() + every.int() * cells
        positive = (predictions.codes("truth", rows)[:, None] == every).double().view(-1)
        # every row once for each class
        index = torch.arange(rows.start, rows.start + len(odds), device=device).repeat_interleave(classes)
        values = row_values(predictions, terms, index, positive=positive)
        total = total + sum_by_place(place.view(-1), values, classes * cells)
    return total.view(len(terms), classes, cells)


def _blocks(predictions: TensorPredictions, width: int = 1) -> list[slice]:
    """Rows that are brought together, each of which counts ``width`` times."""
    size = max(1, _BLOCK // width)
    return [slice(start, start + size) for start in range(0, len(predictions), size)]


def _on_host(tensor: Tensor) -> Any:
    return tensor.cpu().numpy()
