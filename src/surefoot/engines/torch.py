"""Tallies of tensors: rows stay on their device, and only tables of bounded size come to the host.

Sums over all rows and under bins are one compiled kernel where Triton is at hand; elsewhere, and for classes, scores
and doubts, torch's own operations. Rows of a table are brought together by a stable sort and added up in the order it
gives, never by atomic additions: the same tensors give the same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from surefoot.core.doubt_table import CUT, CUTS, EXACT, FEW, LAST, DoubtTable, extremes
from surefoot.core.expression import evaluate
from surefoot.core.keys import (
    CLASS_SCORE,
    FARTHEST_LOG_ODDS,
    HALF,
    Bins,
    ClassPair,
    ClassScore,
    Doubt,
    Everything,
    Key,
    Row,
    Value,
    ordered_bits,
    score_steps,
)
from surefoot.core.tally import Label, Sums, Table, Tally
from surefoot.core.term import Term, program_of
from surefoot.engines import triton as kernels
from surefoot.engines.numba import Part, Shape
from surefoot.engines.numpy import tally_arrays
from surefoot.errors import InvalidPredictions
from surefoot.predictions.columns import check_lengths
from surefoot.predictions.tensor_checks import Tensor, as_labels, check_together
from surefoot.predictions.tensors import TensorPredictions

Result = TypeVar("Result")

#: Counts rows under a score, whatever they weigh.
_ANY = Term("any by score", lambda row: row.one, CLASS_SCORE)
#: Rows that are brought together at a time.
_BLOCK = 1 << 26


def tally_tensors(
    predictions: TensorPredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None
) -> Tally:
    """The totals of terms over all rows; as :func:`tally_arrays`, and with ``by`` those of each slice too."""
    terms = list(dict.fromkeys(terms))
    by_key: dict[Key, list[Term]] = {}
    for term in terms:
        by_key.setdefault(term.key, []).append(term)
    of_rows = {key: group for key, group in by_key.items() if isinstance(key, Everything | Bins)}
    sums = row_sums(predictions, of_rows, on_host=True)
    tables: dict[str, Any] = {key.name: _dense(key, by_key[key], own) for key, own in sums.items()}
    for key, group in by_key.items():
        if isinstance(key, ClassPair):
            tables[key.name] = _pairs(predictions, group)
        elif isinstance(key, ClassScore):
            scores = TensorScores(predictions, group)
            tables[key.name] = scores if exact else scores.in_cells()
        elif isinstance(key, Doubt):
            tables[key.name] = _doubts(predictions, group)
    ordered = [term for term in terms if isinstance(term.key, Row | Value)]
    if ordered:
        # their formulas walk along every row, on the host
        tables |= tally_arrays(predictions.on_host(), ordered, exact=exact).tables
    speaks_of_classes = any(isinstance(key, ClassPair | ClassScore) for key in by_key)
    whole = Tally(tables, predictions.labels if speaks_of_classes else None, predictions.rounded)
    if by is None:
        return whole
    parts = {value: tally_tensors(part, terms) for value, part in _sliced(predictions, by)}
    return Tally(whole.tables, whole.labels, whole.rounded, parts, by if isinstance(by, str) else "slice")


def _dense(key: Everything | Bins, terms: list[Term], values: Any) -> Table:
    totals = {term.name: Sums(values[i], np.zeros(values.shape[1])) for i, term in enumerate(terms)}
    return Table(np.arange(key.size if isinstance(key, Bins) else 1), totals)


def _sliced(predictions: TensorPredictions, by: Any) -> list[tuple[Label, TensorPredictions]]:
    """The rows of each value that has any that count, values rising."""
    if isinstance(by, str):
        if by not in ("predicted", "truth"):
            raise InvalidPredictions(f"by is {by!r}; give a tensor of values, 'predicted' or 'truth'.")
        if predictions._truth is None:
            raise InvalidPredictions(f"by is {by!r}, but these predictions hold only whether each was correct.")
        values = predictions.codes(by)
    else:
        check_together(by=by, correct=predictions.correct)
        values = as_labels("by", by)
    check_lengths(rows=len(predictions), by=values)
    order = values.argsort(stable=True)
    found, counts = values[order].unique_consecutive(return_counts=True)
    ends = np.cumsum([0, *counts.tolist()]).tolist()
    parts = []
    for value, (start, stop) in zip(found.tolist(), pairwise(ends), strict=True):
        part = predictions[order[start:stop]]
        if part._weight is None or bool(part._weight.any()):
            assert not isinstance(by, str) or predictions.labels is not None
            parts.append((predictions.labels[value] if isinstance(by, str) else value, part))  # type: ignore[index]
    return parts


# -- sums over rows --------------------------------------------------------------------------------------------------


def row_sums(
    predictions: TensorPredictions, by_key: Mapping[Everything | Bins, list[Term]], *, on_host: bool
) -> dict[Everything | Bins, Any]:
    """For each key its sums, a row a term and a column a code, on the device or on the host."""
    compiled = {}
    if kernels.has_kernels(predictions.correct.device):
        compiled = {key: tuple(terms) for key, terms in by_key.items() if kernels.fits(key, terms)}
    found: dict[Everything | Bins, Tensor] = {}
    for request in kernels.split(list(compiled.items())) if compiled else ():
        found |= _fused(predictions, request, on_host=on_host)
    for key, terms in by_key.items():
        if key not in found:
            found[key] = _on_host(_added(predictions, key, terms)) if on_host else _added(predictions, key, terms)
    return found


def _fused(predictions: TensorPredictions, request: tuple[Any, ...], *, on_host: bool) -> dict[Everything | Bins, Any]:
    """All these keys in one pass over memory."""
    import torch

    shape = Shape(predictions.stores_doubt, predictions.is_weighted)
    columns = predictions.columns()
    is_narrow = columns[1].dtype != torch.float64
    written = kernels.plan(request, shape, predictions.doubt_of_one, is_narrow)
    total: Any = 0
    for start in range(0, len(predictions), kernels.MOST_ROWS):
        rows = slice(start, start + kernels.MOST_ROWS)
        total = total + kernels.run(written, [None if column is None else column[rows] for column in columns])

    total = _on_host(total) if on_host else total

    def own(part: Part, terms: tuple[Term, ...]) -> Any:
        here = total[part.offset : part.offset + part.size * part.width].reshape(part.size, part.width)
        return here[:, [part.columns[term.name] for term in terms]].T

    return {part.key: own(part, terms) for part, (_, terms) in zip(written.parts, request, strict=True)}


def _added(predictions: TensorPredictions, key: Everything | Bins, terms: list[Term]) -> Tensor:
    """The same by torch's own operations."""
    import torch

    size = key.size if isinstance(key, Bins) else 1
    total: Any = 0
    for rows in _blocks(predictions):
        values = row_values(predictions, terms, rows)
        if isinstance(key, Bins):
            column = predictions.doubt_of(rows) if key.column == "doubt" else predictions.confidence_of(rows)
            edges = torch.tensor(key.edges, dtype=torch.float64, device=column.device)
            # an inner edge belongs to the bin below it when bins are closed on the right
            total = total + gathered(torch.searchsorted(edges, column, right=key.closed == "left"), values, size)
        else:
            total = total + torch.stack([value.sum() for value in values])[:, None]
    return total


def row_values(predictions: TensorPredictions, terms: Sequence[Term], rows: Any, **more: Tensor) -> list[Tensor]:
    """What each of some rows adds to each term."""
    import torch

    steps = program_of(tuple(terms), is_weighted=predictions.is_weighted)
    correct = predictions.correct[rows].double()
    columns: dict[str, Callable[[], Tensor]] = {
        "correct": lambda: correct,
        "wrong": lambda: 1 - correct,
        "confidence": lambda: predictions.confidence_of(rows),
        "doubt": lambda: predictions.doubt_of(rows),
        "weight": lambda: predictions.weight[rows],
        **{name: (lambda values=values: values) for name, values in more.items()},  # type: ignore[misc]
    }
    operations: dict[str, Callable[..., Any]] = {
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
        "log": torch.log,
        "reciprocal": lambda x: (1 / x).masked_fill_(x == 0, 0.0),
        "greater": lambda a, b: _flag(a > b),
        "equal": lambda a, b: _flag(a == b),
    }
    values = evaluate(steps, lambda name: columns[name](), operations)
    return [torch.full_like(correct, value) if isinstance(value, float) else value for value in values]


def _flag(holds: Any) -> Any:
    return float(holds) if isinstance(holds, bool) else holds.double()


def gathered(places: Tensor, values: Sequence[Tensor], size: int) -> Tensor:
    """The sums of values whose places are equal, a row for each of values and a column for each of ``size`` places."""
    import torch

    ordered, order = places.int().sort(stable=True)
    # how many rows lie at each place, without counting by atomic additions
    ends = torch.searchsorted(ordered, torch.arange(size, dtype=torch.int32, device=places.device), right=True)
    return torch.stack([_added_up(value[order], ends) for value in values])


def _added_up(ordered: Tensor, ends: Tensor) -> Tensor:
    """The sums of neighbours, given where each group ends."""
    import torch

    lengths = torch.diff(ends, prepend=ends.new_zeros(1))
    return torch.segment_reduce(ordered, "sum", lengths=lengths, unsafe=True)


# -- tables ----------------------------------------------------------------------------------------------------------


def _pairs(predictions: TensorPredictions, terms: list[Term]) -> Table:
    """Totals under each pair of classes that occurs."""
    assert predictions.labels is not None
    count = len(predictions.labels)
    parts = []
    for rows in _blocks(predictions):
        code = predictions.codes("truth", rows) * count + predictions.codes("predicted", rows)
        codes, totals = _by_code(code, row_values(predictions, terms, rows))
        parts.append(_table((codes // count << HALF) | codes % count, totals, terms))
    table: Table = reduce(operator.add, parts)
    return table


def pair_sums(predictions: TensorPredictions, terms: Sequence[Term], classes: int) -> Tensor:
    """The sums of terms under each pair of classes, on the device: truths one after the other."""
    total: Any = 0
    for rows in _blocks(predictions):
        code = predictions.codes("truth", rows) * classes + predictions.codes("predicted", rows)
        total = total + gathered(code, row_values(predictions, terms, rows), classes * classes)
    return total


def _by_code(codes: Tensor, values: Sequence[Tensor]) -> tuple[Any, Any]:
    """The codes that occur, rising, and the sums under each, on the host."""
    import torch

    ordered, order = codes.sort(stable=True)
    found, counts = ordered.unique_consecutive(return_counts=True)
    ends = counts.cumsum(0)
    totals = torch.stack([_added_up(value[order], ends) for value in values])
    return _on_host(found), _on_host(totals)


def _table(codes: Any, totals: Any, terms: list[Term], kind: type[Table] = Table) -> Any:
    zeros = np.zeros(len(codes))
    return kind(codes, {term.name: Sums(totals[i], zeros) for i, term in enumerate(terms)})


def _doubts(predictions: TensorPredictions, terms: list[Term]) -> DoubtTable:
    parts = []
    for rows in _blocks(predictions):
        doubt, confidence = predictions.doubt_of(rows), predictions.confidence_of(rows)
        exact = _exact_codes(doubt, confidence)
        ordered = exact.unique()
        if len(ordered) > FEW:
            import torch

            middle = int(torch.searchsorted(ordered, 0))
            near = ordered[max(0, middle - FEW) : middle + FEW]
            apart = torch.from_numpy(extremes(_on_host(near))).to(exact.device)
            exact = exact.where(torch.isin(exact, apart), _cell_codes(doubt, confidence))
        codes, totals = _by_code(exact, row_values(predictions, terms, rows))
        parts.append(_table(codes, totals, terms, DoubtTable))
    table: DoubtTable = reduce(operator.add, parts)
    return table


def _exact_codes(doubt: Tensor, confidence: Tensor) -> Tensor:
    """As in ``doubt_table``: a code for each distinct value."""
    import torch

    own, other = doubt.view(torch.int64) + int(EXACT), -1 - confidence.view(torch.int64)
    return own.where(doubt <= confidence, other)


def _cell_codes(doubt: Tensor, confidence: Tensor) -> Tensor:
    import torch

    is_doubt = doubt <= confidence
    lesser = doubt.where(is_doubt, confidence)
    cell = lesser.view(torch.int64) >> CUT
    for cut in CUTS:
        cell = cell + (lesser >= cut)
    return cell.where(is_doubt, LAST - cell)


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
        table: Table = _table(codes, found[:-1, classes, cells], self.terms)
        return replace(table, steps=score_steps(len(self.predictions.labels)))

    def values(self, label: int, rows: slice = slice(None), terms: Sequence[Term] | None = None) -> list[Tensor]:
        """What some rows add to each term, for one class."""
        positive = (self.predictions.codes("truth", rows) == label).double()
        chosen = self.terms if terms is None else terms
        return row_values(self.predictions, chosen, rows, positive=positive, negative=1 - positive)


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
            source = kernels.difference(terms, Shape(p.stores_doubt, p.is_weighted), p.doubt_of_one)
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


def _is_last(scores: Tensor) -> Tensor:
    """Which of some rising scores are the last of their kind."""
    import torch

    return torch.cat([scores[1:] != scores[:-1], scores.new_ones(1, dtype=torch.bool)])


def class_score_shape(classes: int) -> tuple[int, int]:
    """How many classes and cells of log-odds a table of scores has."""
    return classes, 2 * FARTHEST_LOG_ODDS * score_steps(classes)


def class_score_sums(predictions: TensorPredictions, terms: Sequence[Term]) -> Tensor:
    """The sums of terms under each class and cell of its log-odds, on the device."""
    import torch

    assert predictions.labels is not None
    classes, cells = class_score_shape(len(predictions.labels))
    device = predictions.correct.device
    every = torch.arange(classes, device=device)
    total: Any = 0
    for rows in _blocks(predictions, classes):
        odds = torch.stack([predictions.score_log_odds(label, rows) for label in range(classes)], dim=1)
        # shifted to be positive before it is cut, so that cutting is rounding down
        place = (odds * score_steps(classes) + cells // 2).clamp_(0, cells - 1).int() + every.int() * cells
        positive = (predictions.codes("truth", rows)[:, None] == every).double().view(-1)
        # every row once for each class
        index = torch.arange(rows.start, rows.start + len(odds), device=device).repeat_interleave(classes)
        values = row_values(predictions, terms, index, positive=positive, negative=1 - positive)
        total = total + gathered(place.view(-1), values, classes * cells)
    return total.view(len(terms), classes, cells)


def _blocks(predictions: TensorPredictions, width: int = 1) -> list[slice]:
    """Rows that are brought together, each of which counts ``width`` times."""
    size = max(1, _BLOCK // width)
    return [slice(start, start + size) for start in range(0, len(predictions), size)]


def _on_host(tensor: Tensor) -> Any:
    return tensor.cpu().numpy()
