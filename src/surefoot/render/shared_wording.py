"""Sentences that are the same whatever rows are about."""

from __future__ import annotations

import math
import shlex

import surefoot
from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.figures.labels import significant
from surefoot.render.numbers import confidence_percent, percent, percents, pluralize
from surefoot.risk.result import RiskResult

#: A share of rows with one probability that is worth a word.
_SHARED = 0.5
#: Slices whose rows that were not attempted are counted in words.
_SHOWN_SLICES = 5


def footer(a: Assessment) -> str:
    """The version, and the file that was read."""
    return f"surefoot {surefoot.__version__}" + (f", {printable(a.source)}" if a.source else "")


def rows_of_weight(a: Assessment) -> float:
    """How many rows a unit of weight tells as much as; 1 where weights are equal, and rows are counted.

    Where sums of weights are evidence, only their ratios matter: weights may add up to 1.
    """
    if not a.risk.is_weighted or not a.weight:
        return 1.0
    if a.predictions is None:
        return a.risk.n / a.weight
    heaviest = float(a.predictions.weight.max())
    weight = a.predictions.weight / heaviest
    return float(weight.sum() / (weight**2).sum()) / heaviest


def shares_words(expected: float, observed: float, weight: float, what: str) -> str:
    """Of weighted rows, in how much of the weight errors, or an event, were expected and observed."""
    said, seen = percents(expected / weight, observed / weight)
    return f"{what} expected in {said} of rows and observed in {seen}"


def weight_of_events(r: RiskResult) -> float:
    """What the rows of an event weigh together."""
    return r.observed_events + r.observed_errors


def rows_besides(a: Assessment) -> str:
    """How many rows were not attempted, to follow the number of those that were; empty if all were."""
    if not a.not_attempted:
        return ""
    are = "was" if a.not_attempted == 1 else "were"
    return f"; {a.not_attempted:,} more {are} not attempted ({percent(a.share_not_attempted)} of {_every_row(a):,})"


def share_of_rows(a: Assessment) -> str:
    """How many rows were not attempted, of how many."""
    return f"{a.not_attempted:,} of {_every_row(a):,} ({percent(a.share_not_attempted)})"


def attempt_notes(a: Assessment) -> list[str]:
    """That some rows were not attempted, what the numbers are of, and which slices they are in."""
    if not a.not_attempted:
        return []
    every, share = _every_row(a), percent(a.share_not_attempted)
    are, count = ("was", "counts") if a.not_attempted == 1 else ("were", "count")
    judged = "accuracy, the verdict and all other numbers are" if a.view == "prediction" else "all numbers here are"
    found = [
        f"{a.not_attempted:,} of {pluralize(every, 'row')} {are} not attempted ({share}) and {count} as neither right "
        f"nor wrong; {judged} of the other {every - a.not_attempted:,}."
    ]
    parts = [(part.value, part.not_attempted, part.risk.n) for part in a.slices if a.view != "classes"]
    parts += [(value, rows, 0) for value, rows in a.slices_not_attempted.items()]
    parts = sorted((one for one in parts if one[1]), key=lambda one: (-one[1] / (one[1] + one[2]), str(one[0])))
    if parts:
        listed = ", ".join(
            f"{printable(value, 24)} {skipped:,} of {skipped + rows:,}"
            for value, skipped, rows in parts[:_SHOWN_SLICES]
        )
        more = f", and {len(parts) - _SHOWN_SLICES:,} more slices" if len(parts) > _SHOWN_SLICES else ""
        empty = " A slice without an attempted row is not assessed." if a.slices_not_attempted else ""
        found.append(f"not attempted by {printable(a.by, 40)}: {listed}{more}.{empty}")
    return found


def _every_row(a: Assessment) -> int:
    """The number of rows, attempted or not; of classes, each is made of all of them."""
    rows = a.slices[0].risk.n if a.view == "classes" and a.slices else a.risk.n
    return rows + a.not_attempted


def group_notes(a: Assessment, counted: str) -> list[str]:
    """Which rows belong together, where that was named, or where a column looks like it."""
    if a.risk.groups:
        effect, evidence = a.risk.design_effect, a.risk.e_value
        note = f"rows belong to {pluralize(a.risk.groups, 'group')} ({a.group}): "
        note += "p-values and intervals account for it, approximately"
        if effect >= 1.05:
            times = significant(effect, 2)
            note += (
                f" (design effect {times}, for the number of {counted}; miscalibration that groups share adds to it)"
            )
        if math.isfinite(evidence):
            note += f"; the e-value ({significant(evidence)}) holds whatever the dependence within groups"
        return [f"{note}."]
    if a.looks_grouped:
        name = as_typed(a, f"groups={a.looks_grouped!r}", f"--group {shlex.quote(a.looks_grouped)}")
        return [
            f"column {a.looks_grouped!r} has repeated values. The tests assume independent rows; if rows of one "
            f"{a.looks_grouped} depend on each other, name it: {name}."
        ]
    return []


def as_typed(a: Assessment, in_python: str, option: str) -> str:
    """How the same is asked for: of rows from a file in the words of the command line, as next steps are."""
    return option if a.source else in_python


def logits_note(a: Assessment) -> str:
    """How rounding is avoided."""
    return f"Logits avoid this: {as_typed(a, 'Predictions.from_logits', '--logits')}."


def tie_notes(a: Assessment, said: str, consequence: str = "") -> list[str]:
    """Whether many rows have the same confidence, as when a language model always says 90%."""
    if a.counts is None or not a.counts.is_exact or a.risk.n < 10:
        return []
    most = int(a.counts.rows.argmax())
    share, value = a.counts.rows[most] / a.counts.n, confidence_percent(float(a.counts.doubt[most]))
    if a.counts.rows[most] == a.counts.n:
        return [f"all rows have the same {said} ({value}), so it cannot rank them."]
    if share < _SHARED:
        return []
    return [f"{math.floor(100 * share)}% of rows have the same {said} ({value}){consequence}."]
