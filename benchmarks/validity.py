"""How often the tests are wrong and how soon they are right: ``python -m benchmarks.validity`` writes VALIDITY.md.

Everything is seeded. ``--fast`` draws a tenth as often, to see that it runs; ``--verdict``, ``--evidence`` and
``--events`` write their parts anew and leave the others.
"""

import argparse
import math
import os
import platform
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import norm

import surefoot as sf
from benchmarks.events_report import events_part
from benchmarks.evidence import drawn
from benchmarks.evidence_report import evidence_part, measured, table
from surefoot.risk.effects import effects_of
from surefoot.risk.evalues import MIXTURE, factors
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail
from surefoot.risk.test import TERMS, both_sides
from surefoot.synthetic import PROFILES

#: How the part of the verdict begins, and the part after it.
VERDICT, FIRST = "## The verdict", "\n## False alarms"
#: How the part of late labels, groups, comparisons and edges begins.
EVIDENCE = "## Evidence that holds"
#: How the part of events and classes begins.
EVENTS = "## Events and classes"

LEVELS = (0.05, 0.01)
SIZES = (30, 100, 1000, 10_000)
SIX = ("uniform", "skew_high", "tight_hi", "normal", "log_uniform_high", "bell")

#: How often rows of doubt q are wrong, in the power, stopping and drift tables of the theory this follows.
TRUTHS = {
    "0.9c": lambda q: 1 - 0.9 * (1 - q),
    "20% of 1-sqrt(1-c)": lambda q: q + 0.2 * (np.sqrt(q) - q),
    "logit T=1.15": lambda q: 1 / (1 + np.exp((np.log1p(-q) - np.log(q)) / 1.15)),
    "tail c>.99: err 5%": lambda q: np.where(q < 0.01, 0.05, q),
    "tail c>.99: err x5": lambda q: np.where(q < 0.01, 5 * q, q),
    "c>.9: err x1.5": lambda q: np.where(q < 0.1, 1.5 * q, q),
    "0.5c": lambda q: 1 - 0.5 * (1 - q),
    "1-sqrt(1-c)": np.sqrt,
    "0.95c": lambda q: 1 - 0.95 * (1 - q),
    "0.8c": lambda q: 1 - 0.8 * (1 - q),
}


def tempered(temperature: float):
    """How often rows of doubt q are wrong if log-odds are that many times too large."""
    return lambda q: 1 / (1 + np.exp((np.log1p(-q) - np.log(q)) / temperature))


#: Ten ways of being overconfident, by which the verdict is judged.
OVERCONFIDENT = {
    "temperature 1.15": tempered(1.15),
    "temperature 1.3": tempered(1.3),
    "temperature 2": tempered(2.0),
    "8 points too high, 0.5 to 0.8": lambda q: np.where((q >= 0.2) & (q <= 0.5), q + 0.08, q),
    "8 points too high below 0.6": lambda q: np.where(q > 0.4, np.minimum(q + 0.08, 1), q),
    "0.95 c": TRUTHS["0.95c"],
    "0.9 c": TRUTHS["0.9c"],
    "5% wrong above 0.99": lambda q: np.where(q < 0.01, np.maximum(q, 0.05), q),
    "20% of 1 - sqrt(1 - c)": TRUTHS["20% of 1-sqrt(1-c)"],
    "1.5 times the errors above 0.9": TRUTHS["c>.9: err x1.5"],
}

#: Figures of the prototypes: power at N = 500 of CSR and of the mixture as a statistic; median rows until the e-process
#: stops; median delay of the detector with A = 5000.
POWER = {
    "0.9c": [(0.94, 0.96), (1.00, 1.00), (1.00, 1.00), (0.97, 0.97), (1.00, 1.00), (0.80, 0.80)],
    "20% of 1-sqrt(1-c)": [(0.49, 0.60), (0.52, 0.83), (0.75, 0.88), (0.75, 0.76), (0.51, 0.72), (0.60, 0.60)],
    "logit T=1.15": [(0.19, 0.17), (0.21, 0.41), (0.40, 0.55), (0.32, 0.31), (0.15, 0.28), (0.10, 0.08)],
    "tail c>.99: err 5%": [(0.20, 0.19), (0.94, 0.93), (0.48, 0.44), None, (1.00, 1.00), None],
    "tail c>.99: err x5": [(0.13, 0.13), (0.32, 0.31), (0.22, 0.20), None, (0.31, 0.33), None],
    "c>.9: err x1.5": [(0.14, 0.13), (0.13, 0.24), (0.27, 0.35), (0.07, 0.08), (0.09, 0.17), None],
}
STOPPING = {
    "0.9c": [238, 43, 58, 288, 12, 625],
    "0.5c": [16, 4, 5, 14, 2, 24],
    "1-sqrt(1-c)": [44, 30, 22, 29, 61, 42],
}
DELAYS = {
    "0.95c": [406, 89, 184, 524, 27],
    "0.8c": [88, 23, 37, 78, 8],
    "1-sqrt(1-c)": [61, 42, 38, 40, 66],
    "tail c>.99: err 5%": [1435, 139, 594, None, 27],
}


def sums(doubt: np.ndarray, rate: np.ndarray, weights: list[np.ndarray], draws: int, rng) -> np.ndarray:
    """What the wrong rows add up to, in each of some draws, by each of some weights."""
    found = np.empty((len(weights), draws))
    step = max(1, 20_000_000 // len(doubt))
    for start in range(0, draws, step):
        stop = min(draws, start + step)
        wrong = rng.random((stop - start, len(doubt))) < rate
        for i, weight in enumerate(weights):
            found[i, start:stop] = wrong @ weight
    return found


def critical(rows: BernoulliSum, level: float) -> float:
    """The least sum with a p-value of ``level`` or less, from below."""
    low, high = 0.0, rows.total * (1 + 1e-9)
    if upper_tail(rows, high / (1 + 1e-9)).p > level:
        return math.inf
    while high - low > 1e-7 * high:
        middle = (low + high) / 2 if low > high / 100 else max(high / 100, low * 1.01 + high / 1e6)
        low, high = (low, middle) if upper_tail(rows, middle).p <= level else (middle, high)
    return high


def false_alarms(cell: tuple[str, int], draws: int) -> dict:
    profile, size = cell
    rng = np.random.default_rng([list(PROFILES).index(profile), size])
    q = drawn(profile, size, rng)
    shares = {}
    for side, chance in (("over", q), ("under", 1 - q)):
        rows = BernoulliSum(chance, 1 - chance, 1 / chance, np.ones(size))
        capped = rows.capped(0.1 * size)
        plain, companion = sums(chance, chance, [rows.weight, capped.weight], draws, rng)
        spread = math.sqrt(float((rows.weight - 1).sum()))
        for level in LEVELS:
            exact = plain >= critical(rows, level) * (1 - 1e-9)
            either = (plain >= critical(rows, level / 2) * (1 - 1e-9)) | (
                companion >= critical(capped, level / 2) * (1 - 1e-9)
            )
            shares[side, level] = exact.mean(), either.mean(), ((plain - size) / spread >= norm.isf(level)).mean()
    return shares


def rounded(size: int, rng: np.random.Generator) -> np.ndarray:
    """Doubts like those a language model states: in round numbers, 1.0 among them."""
    return 1 - rng.choice([0.6, 0.7, 0.8, 0.9, 0.95, 1.0], size, p=[0.05, 0.1, 0.2, 0.3, 0.25, 0.1])


def two_valued(size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([0.02, 0.3], size)


OTHERS = {"language model, round numbers": rounded, "two confidences": two_valued}


def verdict_alarms(cell: tuple[str, int], sets: int) -> tuple[float, float]:
    """How often calibrated models are called overconfident, and anything, at 5%."""
    name, size = cell
    rng = np.random.default_rng([31, [*PROFILES, *OTHERS].index(name), size])
    over = either = 0
    for _ in range(sets):
        q = OTHERS[name](size, rng) if name in OTHERS else drawn(name, size, rng)
        one, other = sides(q, q, rng)
        over += one.pvalue_omnibus <= 0.025
        either += min(one.pvalue_omnibus, other.pvalue_omnibus) <= 0.025
    return over / sets, either / sets


def sides(q: np.ndarray, rate: np.ndarray, rng) -> tuple:
    return both_sides(sf.Predictions.from_correct(rng.random(len(q)) >= rate, doubt=q).tally(TERMS))


def verdict_power(cell: tuple[str, str], sets: int) -> tuple[float, float] | None:
    """How often overconfidence is found at 2.5%, by the omnibus test and by pvalue_combined; None if nobody could."""
    truth, profile = cell
    rng = np.random.default_rng([32, list(OVERCONFIDENT).index(truth), list(PROFILES).index(profile)])
    many = drawn(profile, 100_000, rng)
    if 500 * np.abs(OVERCONFIDENT[truth](many) - many).mean() <= 1:
        return None
    found = np.zeros(2)
    for _ in range(sets):
        q = drawn(profile, 500, rng)
        one = sf.risk_test(sf.Predictions.from_correct(rng.random(500) >= OVERCONFIDENT[truth](q), doubt=q))
        found += one.pvalue_omnibus <= 0.025, one.pvalue_combined <= 0.025
    return tuple(found / sets)


def hidden_middle(cell: tuple[int, float], sets: int) -> tuple[float, float]:
    """Near-certain rows beside a middle that is too confident: how often it is found where the count's z is above 4."""
    size, excess = cell
    rng = np.random.default_rng([33, size, round(100 * excess)])
    found = []
    for _ in range(sets):
        low = rng.choice([0.3, 0.5, 0.7])
        sure = np.exp(rng.uniform(math.log(1e-7), math.log(0.1), size * 2 // 5))
        q = np.append(sure, 1 - rng.uniform(low, low + 0.2, size - len(sure)))
        wrong = rng.random(size) < np.where(np.arange(size) < len(sure), q, q + excess)
        z = (wrong.sum() - q.sum()) / math.sqrt((q * (1 - q)).sum())
        if z > 4:
            r = sf.risk_test(sf.Predictions.from_correct(~wrong, doubt=q))
            found.append((r.pvalue_omnibus <= 0.025, r.pvalue_combined <= 0.025))
    return tuple(np.mean(found, axis=0)) if found else (math.nan, math.nan)


def size_coverage(cell: tuple[float, int], sets: int) -> tuple[float, float]:
    """Share of 95% intervals of O/E and of overstatement that hold the truth, of models twice as often wrong as said."""
    accuracy, size = cell
    rng = np.random.default_rng([34, round(1e4 * accuracy), size])
    hits = np.zeros(2)
    for _ in range(sets):
        rate = np.clip(rng.beta(20 * (1 - accuracy), 20 * accuracy, size), 1e-9, 1)
        q = rate / 2
        e = effects_of(sf.Predictions.from_correct(rng.random(size) >= rate, doubt=q).tally(TERMS))
        hits += (
            e.oe_interval[0] <= rate.sum() / q.sum() <= e.oe_interval[1],
            e.overstatement_interval[0] <= (rate - q).mean() <= e.overstatement_interval[1],
        )
    return tuple(hits / sets)


def power(cell: tuple[str, str], draws: int, rng_seed: int = 11) -> tuple[float, float, float]:
    truth, profile = cell
    rng = np.random.default_rng([rng_seed, list(TRUTHS).index(truth), SIX.index(profile)])
    shares = []
    for _ in range(12):
        q = drawn(profile, 500, rng)
        rows = BernoulliSum(q, 1 - q, 1 / q, np.ones(500))
        threshold = critical(rows, 0.05)
        ones = np.ones(500, dtype=bool)
        wrong, right = (np.log(factors(MIXTURE, q, 1 - q, which)) for which in (ones, ~ones))
        log_shares = np.log([bet.share for bet in MIXTURE])

        def log_e(fired, right=right, wrong=wrong, log_shares=log_shares):
            paths = fired @ (wrong - right).T + right.sum(axis=1) + log_shares
            top = paths.max(axis=1, keepdims=True)
            return (top + np.log(np.exp(paths - top).sum(axis=1, keepdims=True)))[:, 0]

        calibrated = rng.random((4 * draws, 500)) < q
        null, simulated = log_e(calibrated), np.quantile(calibrated @ (1 / q), 0.95)
        fired = rng.random((draws, 500)) < TRUTHS[truth](q)
        seen = fired @ (1 / q)
        shares.append(
            ((seen >= threshold).mean(), (log_e(fired) > np.quantile(null, 0.95)).mean(), (seen > simulated).mean())
        )
    found = np.mean(shares, axis=0)
    return float(found[0]), float(found[1]), float(found[2])


def stream(profile: str, rows: int, rng, truth=None, change: int = 0, **options) -> sf.Monitor:
    q = drawn(profile, rows, rng)
    rate = q.copy()
    if truth is not None:
        rate[change:] = TRUTHS[truth](q[change:])
    m = sf.Monitor(**options)
    m.update(rng.random(rows) >= rate, 1 - q, doubt=q)
    return m


def alarms(profile: str, streams: int) -> tuple[float, float, float]:
    rng = np.random.default_rng([21, list(PROFILES).index(profile)])
    watched = [stream(profile, 2000, rng) for _ in range(streams)]
    firsts = [
        (stream(profile, 20_000, rng, mean_time_between_false_alarms=5000, alternative=side).drift_rows or [20_000])[0]
        for side in ("overconfident", "both")
        for _ in range(max(6, streams * 3 // 10))
    ]
    half = len(firsts) // 2
    return np.mean([m.alarm for m in watched]), np.mean(firsts[:half]), np.mean(firsts[half:])


def stopping(cell: tuple[str, str], streams: int) -> tuple[float, float]:
    truth, profile = cell
    found = []
    for side in ("overconfident", "both"):
        rng = np.random.default_rng([22, list(TRUTHS).index(truth), SIX.index(profile)])
        runs = [stream(profile, 1000, rng, truth, alternative=side) for _ in range(streams)]
        found.append(float(np.median([m.alarm_row or 1001 for m in runs])))
    return found[0], found[1]


def delay(cell: tuple[str, str], streams: int) -> tuple[float, float]:
    truth, profile = cell
    found = []
    for side in ("overconfident", "both"):
        rng = np.random.default_rng([23, list(TRUTHS).index(truth), SIX.index(profile)])
        firsts = []
        while len(firsts) < streams:
            m = stream(profile, 4000, rng, truth, 1000, alternative=side, mean_time_between_false_alarms=5000)
            # those that went off before the change are left out
            if not m.drift_rows or m.drift_rows[0] > 1000:
                firsts.append((m.drift_rows or [4001])[0] - 1000)
        found.append(float(np.median(firsts)))
    return found[0], found[1]


def title(profile: str) -> str:
    return PROFILES[profile].title


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="a tenth of the draws, and nothing written")
    parser.add_argument("--verdict", action="store_true", help="the verdict's part anew, the others as they are")
    parser.add_argument("--evidence", action="store_true", help="late labels, groups and edges anew, the others as is")
    parser.add_argument("--events", action="store_true", help="events and classes anew, the others as they are")
    asked = parser.parse_args()
    draws, streams = (2000, 20) if asked.fast else (20_000, 200)
    path = Path(__file__).parent / "VALIDITY.md"
    before, _, of_events = path.read_text(encoding="utf-8").partition(EVENTS)
    before, _, of_evidence = before.partition(EVIDENCE)
    start, _, rest = before.partition(FIRST)
    head, _, of_verdict = start.partition(VERDICT)
    every = not (asked.verdict or asked.evidence or asked.events)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        if every:
            head, _, rest = other_parts(pool, draws, streams).partition(FIRST)
        if every or asked.verdict:
            of_verdict = verdict_part(pool, draws // 40)
        if every or asked.evidence:
            of_evidence = evidence_part(pool, draws // 10)
        if every or asked.events:
            of_events = events_part(pool, draws // 40)
    parts = (
        *(head, f"{VERDICT}{of_verdict}", f"{FIRST[1:]}{rest}"),
        *(f"{EVIDENCE}{of_evidence}", f"{EVENTS}{of_events}"),
    )
    text = "\n\n".join(part.rstrip() for part in parts) + "\n"
    if asked.fast:
        print(text)
    else:
        path.write_text(text, encoding="utf-8")


def verdict_part(pool, sets: int) -> str:
    called_cells = [(name, size) for size in sorted(SIZES, reverse=True) for name in (*PROFILES, *OTHERS)]
    called = measured(pool, partial(verdict_alarms, sets=sets), called_cells)
    over_cells = [(truth, profile) for truth in OVERCONFIDENT for profile in PROFILES]
    overs = measured(pool, partial(verdict_power, sets=sets // 2), over_cells)
    middle_cells = [(size, excess) for size in (600, 2500, 20_000) for excess in (0.05, 0.1)]
    middles = measured(pool, partial(hidden_middle, sets=sets), middle_cells)
    size_cells = [(a, size) for a in (0.6, 0.9, 0.99, 0.995, 0.999) for size in SIZES]
    sizes = measured(pool, partial(size_coverage, sets=2 * sets), size_cells)
    return verdict_report(sets, called, overs, middles, sizes)


def other_parts(pool, draws: int, streams: int) -> str:
    cells = [(profile, size) for size in sorted(SIZES, reverse=True) for profile in PROFILES]
    alarm_cells = measured(pool, partial(false_alarms, draws=draws), cells)
    power_cells = [
        (truth, profile)
        for truth, figures in POWER.items()
        for profile, figure in zip(SIX, figures, strict=True)
        if figure
    ]
    powers = measured(pool, partial(power, draws=draws // 20), power_cells)
    calibrated = measured(pool, partial(alarms, streams=streams), list(PROFILES))
    stops = measured(pool, partial(stopping, streams=2 * streams), [(t, p) for t in STOPPING for p in SIX])
    delay_cells = [
        (truth, profile)
        for truth, figures in DELAYS.items()
        for profile, figure in zip(SIX, figures, strict=False)
        if figure
    ]
    delays = measured(pool, partial(delay, streams=streams), delay_cells)
    return report(alarm_cells, draws, powers, calibrated, streams, stops, delays)


def verdict_report(sets, called, overs, middles, sizes) -> str:
    """The verdict: false alarms, power, what must not be missed, and the intervals of its sizes."""
    error = math.sqrt(0.05 * 0.95 / sets)
    worst = max(either for _, either in called.values())
    alarm_rows = [
        [
            PROFILES[name].title if name in PROFILES else name,
            *(f"{called[name, size][0]:.1%} / {called[name, size][1]:.1%}" for size in SIZES),
        ]
        for name in (*PROFILES, *OTHERS)
    ]
    known = {cell: found for cell, found in overs.items() if found is not None}
    power_rows, means = [], []
    for truth in OVERCONFIDENT:
        cells = [found for (t, _), found in known.items() if t == truth]
        means.append(np.mean(cells, axis=0))
        power_rows.append([truth, f"{len(cells)}", f"{means[-1][0]:.2f}", f"{means[-1][1]:.2f}"])
    mean, before = np.mean(means, axis=0)
    every = np.mean(list(known.values()), axis=0)
    power_rows.append(["mean", "", f"{mean:.3f}", f"{before:.3f}"])
    lost = max(b - a for a, b in means)
    least = min(min(pair) for pair in sizes.values())
    return f"""

Written on {date.today().isoformat()}. The verdict is by `pvalue_omnibus`, each side at 2.5%.

Calibrated models, {sets} data sets a cell, by size: called overconfident / called anything. A standard error of 5% is {error:.1%}; the largest share is {worst:.1%}, {(worst - 0.05) / error:.1f} standard errors above 5%.

{table(["profile", *(f"{size:,} rows" for size in SIZES)], alarm_rows)}

Overconfident models, 500 rows, {sets // 2} data sets a cell, over the profiles on which the alternative adds more than one error: share found by the omnibus test, and by `pvalue_combined`, which decided before. The mean over alternatives is {mean:.3f} (before {before:.3f}), over cells {every[0]:.3f} ({every[1]:.3f}); no alternative loses more than {max(lost, 0):.3f}.

{table(["alternative", "profiles", "omnibus", "combined"], power_rows)}

Near-certain rows (two in five, doubt 1e-7 to 0.1) that are calibrated, beside others 20 points wide that are too confident: share found where the count of errors is more than 4 standard deviations above the expected.

{table(["rows", "points too high", "omnibus", "combined"], [[f"{n:,}", f"{100 * x:.0f}", f"{a:.2f}", f"{b:.2f}"] for (n, x), (a, b) in middles.items()])}

95% intervals of O/E and of overstatement, {2 * sets} data sets a cell, models that are wrong twice as often as they say; the least share is {least:.1%}:

{table(["accuracy", *(f"{size:,} rows" for size in SIZES)], [[f"{a}", *(f"{sizes[a, size][0]:.1%} / {sizes[a, size][1]:.1%}" for size in SIZES)] for a in (0.6, 0.9, 0.99, 0.995, 0.999)])}
"""


def report(alarm_cells, draws, powers, calibrated, streams, stops, delays) -> str:
    def errors(level: float) -> float:
        return math.sqrt(level * (1 - level) / draws)

    rows, worst, thin = [], -math.inf, []
    for profile in PROFILES:
        for size in SIZES:
            shares = alarm_cells[profile, size]
            line = [title(profile), f"{size:,}"]
            for side in ("over", "under"):
                for level in LEVELS:
                    exact, either, z = shares[side, level]
                    line.append(f"{exact:.2%} / {either:.2%} / {z:.2%}")
                    worst = max(worst, (exact - level) / errors(level), (either - level) / errors(level))
                    if size >= 100 and exact < 0.9 * level - 3 * errors(level):
                        thin.append(f"{title(profile)} {size:,} {side} {level:.0%}: {exact:.2%}")
            rows.append(line)
    power_rows, behind, same = [], 0.0, 0.0
    for (truth, profile), mine in powers.items():
        theirs = POWER[truth][SIX.index(profile)]
        behind = max(behind, theirs[0] - mine[0], theirs[1] - mine[1])
        same = max(same, mine[2] - mine[0])
        pairs = [f"{a:.2f} ({b:.2f})" for a, b in zip(mine, theirs, strict=False)]
        power_rows.append([truth, title(profile), *pairs, f"{mine[2]:.2f}"])
    stop_rows = [
        [truth, title(profile), f"{one:.0f}", f"{both:.0f}", f"{STOPPING[truth][SIX.index(profile)]}"]
        for (truth, profile), (one, both) in stops.items()
    ]
    delay_rows = [
        [truth, title(profile), f"{one:.0f}", f"{both:.0f}", f"{DELAYS[truth][SIX.index(profile)]}"]
        for (truth, profile), (one, both) in delays.items()
    ]
    slower = max(
        [one / STOPPING[t][SIX.index(p)] for (t, p), (one, _) in stops.items()]
        + [one / DELAYS[t][SIX.index(p)] for (t, p), (one, _) in delays.items()]
    )
    all_streams = float(np.mean([share for share, _, _ in calibrated.values()]))
    return f"""# Validity and power

Written by `python -m benchmarks.validity` on {date.today().isoformat()} ({platform.machine()}, {os.cpu_count()} processors). Everything is seeded.

## False alarms

{draws:,} draws of the mistakes of calibrated models, one set of confidences a cell. Each entry: the exact test, `pvalue_combined`, and the paper's normal law. At nominal 5% a standard error is {errors(0.05):.2%}, at 1% {errors(0.01):.2%}.

The largest excess of the exact test and of `pvalue_combined` over the nominal level is {worst:.1f} standard errors, among {len(rows) * 8} comparisons. From 100 rows on the exact test reaches 90% of its level, less 3 standard errors, everywhere{" but: " + "; ".join(thin) if thin else ""}.

{table(["profile", "rows", "over, 5%", "over, 1%", "under, 5%", "under, 1%"], rows)}

## Power

500 rows, 12 sets of confidences, {draws // 20:,} draws each, at 5%: the exact test of CSR, and the mixture of the e-value used as a statistic (its law by simulation). In brackets the figures of the prototypes, on three other sets of confidences: the largest shortfall is {behind:.3f}. The last column is CSR with its 5% point found by simulation on the very same confidences, as the prototypes did: against it the largest shortfall is {same:.3f}.

{table(["truth", "profile", "CSR, exact", "mixture", "CSR, simulated"], power_rows)}

## Watching

`Monitor()` on {streams * len(PROFILES):,} calibrated streams of 2,000 rows, watched after every row: {all_streams:.2%} alarmed at level 5%. Detectors with a mean time between false alarms of 5,000, until they first go off (cut at 20,000):

{table(["profile", "alarmed", "mean rows to false drift, one side", "both sides"], [[title(p), f"{a:.1%}", f"{o:,.0f}", f"{b:,.0f}"] for p, (a, o, b) in calibrated.items()])}

Median rows until `alarm`, level 5%:

{table(["truth", "profile", "one side", "both sides", "prototype, one side"], stop_rows)}

Median rows until `drift` after a change at row 1,000, mean time between false alarms 5,000:

{table(["change", "profile", "one side", "both sides", "prototype, one side"], delay_rows)}

The largest ratio to the prototypes' rows, one side: {slower:.2f}.
"""


if __name__ == "__main__":
    main()
