"""Late labels, groups, comparisons, plans and edges, measured and written down."""

import math
from datetime import date
from functools import partial

from benchmarks.evidence import (
    CORRELATIONS,
    GROUP_COUNTS,
    GROUPS,
    LATE,
    PAIRS,
    PLANNED,
    POPULATIONS,
    SIZES,
    after_choice,
    compared,
    deep_tail,
    family,
    group_alarms,
    group_power,
    interval_coverage,
    late_labels,
    planned,
)


def measured(pool, job, cells: list, **options) -> dict:
    return dict(zip(cells, pool.map(partial(job, **options), cells), strict=True))


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows))


def evidence_part(pool, sets: int) -> str:
    """Everything, with ``sets`` data sets where most are needed: 2,000."""
    late = measured(pool, late_labels, list(LATE), streams=sets)
    group_cells = [(count, size, r) for count, size in GROUPS for r in CORRELATIONS]
    groups = measured(pool, group_alarms, group_cells, sets=sets // 4)
    power_cells = [(count, size, r) for count, size in GROUPS if count >= 50 and size > 1 for r in CORRELATIONS]
    powers = measured(pool, group_power, power_cells, sets=sets // 20)
    alone = [(*population, size, False) for population in POPULATIONS for size in SIZES]
    together = [(*population, count, True) for population in POPULATIONS for count in GROUP_COUNTS]
    covered = measured(pool, interval_coverage, [*alone, *together], samples=sets // 4)
    pairs = measured(pool, compared, [(pair, size) for pair in PAIRS for size in SIZES], sets=sets // 2)
    families = measured(pool, family, [100, 1000], sets=sets // 8)
    plans = measured(pool, planned, list(PLANNED), sets=sets // 20)
    chosen = measured(pool, after_choice, [100, 600, 1000], sets=sets // 8)
    deep = measured(pool, deep_tail, list(range(10)), cases=sets // 2)
    return "".join(
        [
            f"\n\nWritten on {date.today().isoformat()}. Everything here is of rows that a naive test would count wrongly.\n",
            _late(late, sets),
            _groups(groups, powers, sets // 4),
            _covered(covered, sets // 4),
            _compared(pairs, families, sets // 2),
            _planned(plans, sets // 20),
            _chosen(chosen, sets // 8),
            _deep(deep, 10 * (sets // 2)),
        ]
    )


def _late(late: dict, sets: int) -> str:
    error = math.sqrt(0.05 * 0.95 / sets)
    rows = [
        [case, f"{alarms:.1%}", f"{first:,.0f}", f"{found:.1%}", f"{middle:,.0f}", f"{last:,.0f}"]
        for case, (alarms, first, found, middle, last) in late.items()
    ]
    head = ["labels", "false alarms", "rows to false drift", "0.9 c found", "row of the alarm, median", "latest"]
    return f"""
### Late labels

`Monitor()` on {sets:,} calibrated streams of 1,000 rows a line, over all profiles: alarms at 5% (a standard error is {error:.2%}). Rows to the first false drift with a mean time of 500, on streams of 5,000. Of streams of 5,000 rows with accuracy 0.9 c: how many are found, and at which row.

{table(head, rows)}
"""


def _groups(groups: dict, powers: dict, sets: int) -> str:
    error = math.sqrt(0.05 * 0.95 / sets)
    rows = [
        [f"{count:,}", f"{size}", *(_shares(groups[count, size, r]) for r in CORRELATIONS)] for count, size in GROUPS
    ]
    power_rows = [[f"{g:,}", f"{m}", f"{r:g}", f"{a:.2f}", f"{b:.2f}"] for (g, m, r), (a, b) in powers.items()]
    worst = max(found[0] for found in groups.values())
    evidence = max(found[2] for found in groups.values())
    heads = ["groups", "rows each", *(f"correlation {r:g}" for r in CORRELATIONS)]
    return f"""
### Groups

Calibrated rows whose errors depend on each other within groups, over all profiles, {sets:,} data sets a cell: the overconfident side called at 5% by the omnibus test / by CSR alone / by the e-value (a standard error is {error:.2%}). The largest share is {worst:.1%} for the omnibus test and {evidence:.1%} for the e-value.

{table(heads, rows)}

Accuracy 0.9 c, {sets // 5} data sets a cell: share found at 5% with all rows and `groups=`, and with one row of each group.

{table(["groups", "rows each", "correlation", "all rows", "one a group"], power_rows)}
"""


def _shares(found: tuple) -> str:
    return " / ".join(f"{share:.1%}" for share in found)


def _covered(covered: dict, samples: int) -> str:
    names = list(next(iter(covered.values())))
    rows = []
    for (positives, accuracy, size, grouped), found in covered.items():
        what = f"{size} groups" if grouped else f"{size:,} rows"
        cells = []
        for name in names:
            held, given = found[name]
            cells.append("absent" if given < 0.02 else f"{held:.1%}" + ("" if given > 0.98 else f" of {given:.0%}"))
        rows.append([f"{positives:.0%}", f"{accuracy}", what, *cells])
    known = [found[name][0] for found in covered.values() for name in names if found[name][1] * samples >= 100]
    return f"""
### Intervals at their edges

Share of 95% intervals that hold the value, {samples:,} samples a line; where some samples give no interval, the share of those that do. Probabilities are 1.3 times too extreme. Groups have 2 to 60 rows or so. The least share is {min(known):.1%} (a standard error of 95% is {math.sqrt(0.05 * 0.95 / samples):.1%}).

{table(["positives", "accuracy", "size", *names], rows)}
"""


def _compared(pairs: dict, families: dict, sets: int) -> str:
    rows = [[pair, *(f"{pairs[pair, size]:.1%}" for size in SIZES)] for pair in PAIRS]
    told = " and ".join(f"{share:.1%} at {size:,} rows" for size, share in families.items())
    return f"""
### Comparisons

Two calibrated models of one truth, {sets:,} data sets a cell: how often `riskier` has p <= 5% (a standard error is {math.sqrt(0.05 * 0.95 / sets):.2%}).

{table(["models", *(f"{size:,} rows" for size in SIZES)], rows)}

Eleven calibrated models: any is told apart from the first, adjusted, in {told} ({sets // 4} data sets).
"""


def _planned(plans: dict, sets: int) -> str:
    rows = [[p, f"{d:g}", f"{n:,}", *(f"{share:.2f}" for share in shares)] for (p, d), (n, shares) in plans.items()]
    heads = ["profile", "deflation", "required_n", *(f"{times:g} n" for times in (1, 1.1, 1.3, 1.6, 2))]
    return f"""
### Plans

`required_n` for a power of 0.8, and the share of {sets} assessments with so many rows, and more, that find it (a standard error is {math.sqrt(0.16 / sets):.3f}).

{table(heads, rows)}
"""


def _chosen(chosen: dict, sets: int) -> str:
    rows = [
        [
            f"{n:,}",
            f"{mean:.3f} ± {error:.3f}",
            ", ".join(f"{k} {v}" for k, v in sorted(who.items(), key=lambda x: -x[1])),
        ]
        for n, (mean, error, who) in chosen.items()
    ]
    return f"""
### Calibrators after the choice

Mean CSR on new rows of the calibrator that `calibrate` chose and fitted, {sets} data sets of an overconfident model, with its standard error; the proof says at most 1.

{table(["rows", "CSR", "chosen"], rows)}
"""


def _deep(deep: dict, cases: int) -> str:
    least, most = min(low for low, _ in deep.values()), max(high for _, high in deep.values())
    return f"""
### The deep tail

{cases:,} generated cases of up to 15 rows with doubts from 1e-300 to 0.5: the exact p-value over enumeration lies between {least:.6f} and {most:.6f}.
"""
