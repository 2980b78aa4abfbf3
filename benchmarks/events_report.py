"""Events and classes, measured and written down."""

import math
from datetime import date

from benchmarks.events import (
    CLASS_CELLS,
    EVENT_PROFILES,
    EVENT_SIZES,
    EVENT_TRUTHS,
    POWER_PROFILES,
    POWER_SIZES,
    TESTS,
    Agreement,
    class_alarms,
    event_alarms,
    event_power,
)
from benchmarks.evidence_report import measured, table

#: Rows up to which there are two batches of data sets, each with predictions of its own; beyond, one.
_SMALL = 1000


def batches_of(size: int) -> int:
    return 2 if size <= _SMALL else 1


def events_part(pool, sets: int) -> str:
    """Everything, with so many data sets a batch: 500."""
    event_cells = [
        (name, size, batch)
        for size in sorted(EVENT_SIZES, reverse=True)
        for name in EVENT_PROFILES
        for batch in range(batches_of(size))
    ]
    called = _together(measured(pool, event_alarms, event_cells, sets=sets))
    families = measured(pool, class_alarms, list(CLASS_CELLS), sets=sets)
    power_cells = [(truth, name, size) for name in POWER_PROFILES for truth in EVENT_TRUTHS for size in POWER_SIZES]
    powers = measured(pool, event_power, power_cells, sets=sets // 5)
    return report(called, families, powers, sets)


def _together(batches: dict) -> dict:
    """What the batches of each cell say together."""
    cells: dict = {}
    for (*cell, _), found in batches.items():
        cells.setdefault(tuple(cell), []).append(found)
    return {
        cell: (
            sum(shares for shares, _ in found) / len(found),
            Agreement(*map(sum, zip(*(one for _, one in found), strict=True))),
        )
        for cell, found in cells.items()
    }


def report(called: dict, families: dict, powers: dict, sets: int) -> str:
    head = f"\n\nWritten on {date.today().isoformat()}, by `python -m benchmarks.validity --events`.\n"
    sizes = {size: sets * batches_of(size) for size in EVENT_SIZES}
    return head + _events(called, sizes) + _classes(families, sets) + _powers(powers, sets // 5)


def standard_error(sets: int) -> float:
    return math.sqrt(0.05 * 0.95 / sets)


def _events(called: dict, sizes: dict[int, int]) -> str:
    excess, where = max(
        ((float(share) - 0.05) / standard_error(sizes[size]), (name, size, kind))
        for (name, size), (shares, _) in called.items()
        for kind, share in zip(("the verdict", "overprediction", "underprediction"), shares, strict=True)
    )
    worst, cell = max((float(shares[0]), cell) for cell, (shares, _) in called.items())
    rows = [[name, *(_entry(called[name, size][0], sizes[size]) for size in EVENT_SIZES)] for name in EVENT_PROFILES]
    above = sum("**" in entry for row in rows for entry in row)
    return f"""
### False alarms of an event

How often does the event view call a model wrong that is right? Outcomes are drawn from the predicted probabilities, so the model is calibrated and every alarm is false. At the default level of 5%, at most 5 of 100 calibrated models should be called anything (overpredicts, underpredicts, too extreme or too timid).

Ten profiles of P(event), from 0 to 1. {" ".join(f"{n:,} data sets a cell from {min(s for s in sizes if sizes[s] == n):,} rows (a standard error of 5% is {standard_error(n):.2%})." for n in dict.fromkeys(sizes.values()))} Each entry: the verdict at 5% (each side at 2.5%) / the test against overprediction alone at 5% / against underprediction alone at 5%. An entry more than 3 standard errors above 5% is bold: there {"is none" if not above else f"are {above}"}.

The verdict's largest share is {worst:.1%} ({cell[0]}, {cell[1]:,} rows). The largest excess over 5% in all {3 * len(called)} shares is {excess:.1f} standard errors ({where[2]}, {where[0]}, {where[1]:,} rows). Shares are below 5% where few events are expected, because counts are whole numbers. Full assessments with `of="event"` {_agreement(called)}.

{table(["P(event)", *(f"{size:,} rows" for size in EVENT_SIZES)], rows)}
"""


def _agreement(cells: dict) -> str:
    compared, found, agreed = (sum(numbers) for numbers in zip(*(one for _, one in cells.values()), strict=True))
    return f"agree in {agreed} of {compared} data sets, {found} of which are called something"


def _entry(shares, sets: int) -> str:
    limit = 0.05 + 3 * standard_error(sets)
    return " / ".join(f"**{share:.1%}**" if share > limit else f"{share:.1%}" for share in shares)


def _classes(families: dict, sets: int) -> str:
    rows = [[f"{k}", f"{n:,}", f"{share:.1%}"] for (k, n), (share, _) in families.items()]
    worst = max(share for share, _ in families.values())
    return f"""
### False alarms of all classes together

With `of="classes"` every class is an event with a test of its own. A hundred tests at 5% each would flag almost every calibrated model. So p-values are adjusted by Holm's method, and the chance that any class is called anything stays below 5%, however classes depend on each other.

Probabilities are Dirichlet(0.5, ..., 0.5), labels are drawn from them, {sets} data sets a line (a standard error of 5% is {standard_error(sets):.2%}). The largest share is {worst:.1%}. It falls with the number of classes, because the omnibus p-value of each class is itself adjusted, and on the safe side where it is very small. Full assessments with `of="classes"` {_agreement(families)}.

{table(["classes", "rows", "any class called"], rows)}
"""


def _powers(powers: dict, sets: int) -> str:
    averages = sum(powers.values()) / len(powers)
    means = ", ".join(f"{test} {share:.2f}" for test, share in zip(TESTS, averages, strict=True))
    rows = [
        [name, truth, f"{size:,}", *(f"{share:.2f}" for share in powers[truth, name, size])]
        for truth, name, size in powers
    ]
    return f"""
### What is found, beside textbook tests

The share of {sets} data sets on which each test finds, at 5%, that predictions are not calibrated (a standard error is at most {0.5 / math.sqrt(sets):.2f}). Four tests: the event view; Hosmer-Lemeshow (ten groups, ten degrees of freedom); Spiegelhalter's z; and the Wald test that the calibration slope is 1. Models predict 1.2 times the chance of the event, or log-odds that are 1/0.7 times as far from their mean as they should be.

On average over the table: {means}. Each of the textbook tests looks for one thing: Spiegelhalter's z, for what the Brier score would show, and the slope, for predictions that spread too much or too little. The event view looks for all of these. It costs little where a test happens to look in the right direction, and gains much where it does not.

{table(["P(event)", "truth", "rows", *TESTS], rows)}
"""
