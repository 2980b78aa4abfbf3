"""What rows of one group have in common, of a lazy frame: sums by group, squared and added up where the rows are.

The same numbers as :func:`surefoot.risk.groups.dependence_of`; one row comes back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.core.tally import Tally
from surefoot.errors import InvalidPredictions
from surefoot.metrics.tallying import DOUBT_BANDS, RELIABILITY_BINS
from surefoot.metrics.terms import ROWS, WRONG
from surefoot.predictions.dataframe import collect
from surefoot.risk.evalues import MIXTURE, log_wealth
from surefoot.risk.groups import Dependence, effect_of, freedom_of
from surefoot.risk.law.bernoulli_sum import CAP
from surefoot.risk.law.cells import FARTHEST, PER_DECADE, mean_log_odds
from surefoot.risk.law.counts import counts_of
from surefoot.risk.omnibus import NAMES
from surefoot.risk.stream.eprocess import LEAST_DOUBT

if TYPE_CHECKING:
    from surefoot.predictions.frames import FramePredictions

#: A row adds at most this much, so that squares of sums stay finite.
_HEAVIEST = 1e140
_SIDES = ("overconfident", "underconfident")
_BELOWS = tuple(dict.fromkeys(bet.below for bet in MIXTURE if bet.power is None))
_POWERS = tuple(bet.power for bet in MIXTURE if bet.power is not None)


def dependence_of_frame(x: FramePredictions, groups: Any, tally: Tally, *, of_slice: bool = False) -> Dependence:
    """From a lazy frame and the name of its column of groups; ``tally`` holds the totals of its rows.

    A slice may be of one group; a whole table may not.
    """
    import narwhals as nw

    frame = x.frame
    if not isinstance(groups, str) or groups not in frame.collect_schema().names():
        raise InvalidPredictions(f"groups is {groups!r}; for a lazy frame, pass the name of one of its columns.")
    if x.is_weighted:
        raise InvalidPredictions("groups of weighted rows need the rows themselves: collect the frame first.")
    frame = frame.with_columns(sf_group=nw.col(groups), sf_wrong=1.0 - nw.col("sf_correct"))
    found = collect(_sum_by_group(nw, frame, tally))
    one = {name: found[name].to_list()[0] for name in found.columns}
    if one["sf_null"]:
        raise InvalidPredictions(
            f"column {groups!r} has {one['sf_null']:,.0f} rows without a group; fill or drop them."
        )
    count, is_event = int(one["sf_groups"]), x.view == "event"
    if count < 2 and not of_slice:
        raise InvalidPredictions(f"all rows are in one group of column {groups!r}; leave out groups=, or name another.")
    effects = {
        side: {
            name: effect_of(one[f"sf_{_column(side, name)}_g"], one[f"sf_{_column(side, name)}_r"]) for name in NAMES
        }
        for side in _SIDES
    }
    gains = {side: np.array([one[f"sf_{side}_{k}"] for k in range(len(MIXTURE))]) for side in _SIDES}
    log_e = {side: float(log_wealth(gains[side])) for side in _SIDES}
    squares, fourth = float(one["sf_squares"]), float(one["sf_fourth"])
    variance = squares * (count - 1) / count / tally[ROWS] ** 2
    freedom = freedom_of(count, squares, fourth) if squares else float(max(1, count - 1))
    return Dependence(count, effects, _effects_of_bands(nw, frame, is_event=is_event), log_e, variance, freedom)


def _effects_of_bands(nw: Any, frame: Any, *, is_event: bool) -> dict[str, dict[int, float]]:
    """The design effect of the number of errors in each band of each figure."""
    q, c = nw.col("sf_doubt"), nw.col("sf_confidence")

    def half_decade(x: Any) -> Any:
        return (x.clip(lower_bound=FARTHEST).log() * (-PER_DECADE * (1 + 1e-12) / math.log(10.0))).floor()

    bands = {
        "reliability bins": nw.sum_horizontal(*((c > edge).cast(nw.Float64) for edge in RELIABILITY_BINS.edges)),
        "bins near certainty": half_decade(q),
        "bands of confidence": nw.sum_horizontal(*((q >= edge).cast(nw.Float64) for edge in DOUBT_BANDS.edges)),
    }
    if is_event:
        bands["bins near zero"] = half_decade(c)
    residual = nw.col("sf_wrong") - q
    frame = frame.with_columns(sf_residual=residual, sf_square=residual**2)
    found = {}
    for name, band in bands.items():
        cells = frame.with_columns(sf_band=band).group_by("sf_group", "sf_band")
        sums = cells.agg(nw.col("sf_residual").sum(), nw.col("sf_square").sum())
        sums = sums.with_columns(sf_together=nw.col("sf_residual") ** 2).group_by("sf_band")
        table = collect(sums.agg(nw.col("sf_together").sum(), nw.col("sf_square").sum()))
        columns = (table[column].to_list() for column in ("sf_band", "sf_together", "sf_square"))
        found[name] = {round(code): effect_of(own, alone) for code, own, alone in zip(*columns, strict=True)}
    return found


def _column(side: str, name: str) -> str:
    """Errors and extremeness of both sides are the same but for their sign."""
    return name if name in ("errors", "extremeness") else f"{side}_{name}"


def _sum_by_group(nw: Any, frame: Any, tally: Tally) -> Any:
    """Everything that is asked, as one row of a lazy frame."""
    q, c = nw.col("sf_doubt"), nw.col("sf_confidence")
    random = (q > 0) & (c > 0)
    # what cannot be random adds nothing, and is divided by nothing
    frame = frame.with_columns(
        sf_d=nw.when(random).then(q).otherwise(0.5),
        sf_c=nw.when(random).then(c).otherwise(0.5),
        sf_random=random.cast(nw.Float64),
    )
    d, k = nw.col("sf_d"), nw.col("sf_c")
    residual = (nw.col("sf_wrong") - q) * nw.col("sf_random")
    counts = counts_of(tally)
    caps = [CAP * float(counts.rows[claimed > 0].sum()) for claimed in (counts.doubt, counts.confidence)]
    centre = mean_log_odds(counts.doubt, counts.confidence, counts.rows) if tally.view == "event" else 0.0
    weights = {"errors": nw.lit(1.0), "extremeness": k.log() - d.log() - centre}
    for side, chance, cap in zip(_SIDES, (d, k), caps, strict=True):
        weights[f"{side}_half"] = chance**-0.5
        weights[f"{side}_csr"] = (1.0 / chance).clip(upper_bound=_HEAVIEST)
        weights[f"{side}_capped"] = (1.0 / chance).clip(upper_bound=cap)
    frame = frame.with_columns(**{f"sf_{name}_t": residual * weight for name, weight in weights.items()})
    frame = frame.with_columns(**{f"sf_{name}_q": nw.col(f"sf_{name}_t") ** 2 for name in weights}, **_gains(nw))
    sums = [f"sf_{name}_{kind}" for name in weights for kind in "tq"]
    means = [f"sf_{side}_{part}" for side in _SIDES for part in _parts()]
    groups = frame.group_by("sf_group").agg(
        nw.len().alias("sf_rows"),
        nw.col("sf_wrong").sum().alias("sf_errors"),
        *(nw.col(name).sum().alias(name) for name in (*sums, *means)),
    )
    rows, n = nw.col("sf_rows").cast(nw.Float64), tally[ROWS]
    groups = groups.with_columns(
        # as the jackknife has it, but for the number of groups
        sf_square=((nw.col("sf_errors") - rows * (tally[WRONG] / n)) / (1.0 - rows / n).clip(lower_bound=1 / n)) ** 2,
        **{f"sf_{name}_s": nw.col(f"sf_{name}_t") ** 2 for name in weights},
        **{f"sf_{side}_{i}": _mean_gain(nw, side, bet, rows).log() for side in _SIDES for i, bet in enumerate(MIXTURE)},
        sf_one=nw.lit(1.0),
        sf_missing=nw.when(nw.col("sf_group").is_null()).then(rows).otherwise(0.0),
    )
    groups = groups.with_columns(sf_square2=nw.col("sf_square") ** 2)
    total = {
        "sf_groups": "sf_one",
        "sf_null": "sf_missing",
        "sf_squares": "sf_square",
        "sf_fourth": "sf_square2",
        **{f"sf_{name}_g": f"sf_{name}_s" for name in weights},
        **{f"sf_{name}_r": f"sf_{name}_q" for name in weights},
        **{f"sf_{side}_{i}": f"sf_{side}_{i}" for side in _SIDES for i in range(len(MIXTURE))},
    }
    return groups.select(*(nw.col(column).sum().alias(name) for name, column in total.items()))


def _parts() -> list[str]:
    return [*(f"x{i}" for i in range(len(_BELOWS))), *(f"p{i}" for i in range(len(_POWERS)))]


def _gains(nw: Any) -> dict[str, Any]:
    """Of each row, what the gains of all bets are made of: its excess where doubt is small, and the powers' gains."""
    found = {}
    surprises = (nw.col("sf_wrong"), 1.0 - nw.col("sf_wrong"))
    for side, chance, otherwise, fired in zip(
        _SIDES,
        (nw.col("sf_doubt"), nw.col("sf_confidence")),
        (nw.col("sf_confidence"), nw.col("sf_doubt")),
        surprises,
        strict=True,
    ):
        bounded = chance.clip(lower_bound=LEAST_DOUBT)
        excess = nw.when(chance > 0).then(fired / bounded - 1.0).otherwise(0.0)
        for i, below in enumerate(_BELOWS):
            found[f"sf_{side}_x{i}"] = (
                excess if math.isinf(below) else nw.when(chance < below).then(excess).otherwise(0.0)
            )
        for i, power in enumerate(_POWERS):
            # of chances next to 1 what is left is a power's slope
            rest = nw.when(otherwise > 1e-9).then(otherwise).otherwise(1.0)
            right = nw.when(otherwise > 1e-9).then((1.0 - bounded**power) / rest).otherwise(power)
            gain = nw.when(fired > 0.5).then(bounded ** (power - 1.0)).otherwise(right)
            found[f"sf_{side}_p{i}"] = nw.when(chance > 0).then(gain).otherwise(1.0)
    return found


def _mean_gain(nw: Any, side: str, bet: Any, rows: Any) -> Any:
    """The mean of a bet's gains over the rows of a group."""
    if bet.power is None:
        return 1.0 + nw.col(f"sf_{side}_x{_BELOWS.index(bet.below)}") / rows * bet.shortfall
    return nw.col(f"sf_{side}_p{_POWERS.index(bet.power)}") / rows
