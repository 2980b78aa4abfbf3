"""What the paper's text claims: against the paper's own tables, and against our runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.paper.names import REGIME_NAMES
from surefoot.paper.real import REGIMES, UNCALIBRATED, Found
from surefoot.paper.synthetic import BY_SIZE, Synthetic
from surefoot.paper.tables import Cells, printed_table
from surefoot.synthetic import MODES, PROFILES

#: Modes that are overconfident by design.
OVERCONFIDENT = ("overconf_root", "overconf_half", "random_under")
#: CSR from which a profile is catastrophic, and differences of P_risk that show.
CATASTROPHIC, SHOWS, _SLIGHT = 100.0, 0.01, 0.05


@dataclass(frozen=True)
class Claim:
    """What the text says, what becomes of it, and the figures of the paper's tables and of ours."""

    text: str
    verdict: str
    printed: str
    ours: str


#: What the paper's own tables decide, whatever ours say.
_CONTRADICTED = "the text contradicts its own table"


def by_print_alone(claim: Claim) -> Claim:
    """The same without a verdict by ours, of which there are too few for one."""
    is_contradicted = claim.verdict.startswith(_CONTRADICTED)
    return replace(claim, verdict=_CONTRADICTED if is_contradicted else "not judged: some data sets were not run")


def _verdict(holds_in_print: bool, holds_in_ours: bool) -> str:
    if holds_in_print:
        return "confirmed" if holds_in_ours else "not confirmed"
    agree = "our runs agree with the table" if not holds_in_ours else "our runs agree with the text"
    return f"{_CONTRADICTED}; {agree}"


# -- synthetic --------------------------------------------------------------------------------------------------------


def synthetic_claims(made: Synthetic) -> list[Claim]:
    """Of the sections on synthetic data."""
    by_size, modes = printed_table("perfect_by_size", 2), printed_table("modes", 2)
    counts, areas = printed_table("cwauc_counts", 1), printed_table("cwauc_synthetic", 1)
    perfect = {size: [made.by_size[size][profile, "perfect"] for profile in PROFILES] for size in BY_SIZE}
    return [
        _one_sigma(by_size, perfect),
        _three_sigma(by_size, perfect),
        _below_half(by_size, perfect),
        _separates(modes, made),
        _random_half(modes, made),
        _above_accuracy(by_size, perfect),
        _positive_areas(areas, made),
        _nine_of_ten(counts, made),
        _none_above(counts, made),
    ]


def _one_sigma(printed: Cells, ours: dict[int, list[dict[str, np.ndarray]]]) -> Claim:
    events = round(sum(100 * row["over_1_sigma"] for row in printed.values()))
    rate = float(np.mean([np.mean([own["over_1_sigma"].mean() for own in of_size]) for of_size in ours.values()]))
    total = 100 * len(printed)
    return Claim(
        "Beyond one sigma lie fewer than the 15.87% of a normal law: the test is conservative",
        _verdict(events / total < 0.1587, rate < 0.1587),
        f"{events} of {total:,}",
        f"{rate:.2%}",
    )


def _three_sigma(printed: Cells, ours: dict[int, list[dict[str, np.ndarray]]]) -> Claim:
    first, last = str(BY_SIZE[0]), str(BY_SIZE[-1])
    events = {
        n: round(sum(100 * row["over_3_sigma"] for (size, _), row in printed.items() if size == n))
        for n in (first, last)
    }
    rates = [float(np.mean([own["over_3_sigma"].mean() for own in ours[size]])) for size in BY_SIZE]
    sizes = ", ".join(f"N = {size:,}" for size in BY_SIZE)
    return Claim(
        "The rate beyond three sigma falls with N, as the central limit theorem has it",
        "not visible in our runs" if not rates[0] > rates[1] > rates[2] else "confirmed",
        f"{events[first]} of 1,000 at N = {int(first):,}, {events[last]} of 1,000 at N = {int(last):,}",
        f"{', '.join(f'{rate:.2%}' for rate in rates)} at {sizes}",
    )


def _below_half(printed: Cells, ours: dict[int, list[dict[str, np.ndarray]]]) -> Claim:
    most = max(row["p_risk"] for row in printed.values())
    own = max(float(one["p_risk"].mean()) for of_size in ours.values() for one in of_size)
    return Claim(
        "Under perfect calibration the mean P_risk is below 50% everywhere",
        _verdict(most < 0.5, own < 0.5),
        f"at most {most:.1%}",
        f"at most {own:.1%}",
    )


def _separates(printed: Cells, made: Synthetic) -> Claim:
    def least_and_most(risk: dict[tuple[str, str], float]) -> tuple[float, float]:
        over = [value for (_, mode), value in risk.items() if mode in OVERCONFIDENT]
        calm = [value for (_, mode), value in risk.items() if mode not in (*OVERCONFIDENT, "random_half")]
        return min(over), max(calm)

    stated = least_and_most({(p, m): row["p_risk"] for (p, m), row in printed.items()})
    own = least_and_most({key: float(one["p_risk"].mean()) for key, one in made.by_size[1000].items()})
    text = "at least {:.1%} where overconfident, at most {:.1%} where calibrated or underconfident"
    return Claim(
        "P_risk separates overconfident modes from calibrated and underconfident ones",
        _verdict(stated[0] > stated[1], own[0] > own[1]),
        text.format(*stated),
        text.format(*own),
    )


def _random_half(printed: Cells, made: Synthetic) -> Claim:
    def count(risk: Iterable[float]) -> tuple[int, int]:
        values = list(risk)
        # a mean of so many rounds to 100%; a few runs of two thousand lie below
        return sum(value >= 0.995 for value in values), sum(0.98 <= value < 0.995 for value in values)

    full, nearly = count(row["p_risk"] for (_, mode), row in printed.items() if mode == "random_half")
    own, own_nearly = count(float(made.by_size[1000][p, "random_half"]["p_risk"].mean()) for p in PROFILES)
    return Claim(
        "Under Random 0.5, 7 of 10 distributions reach P_risk of 100%",
        _verdict(full == 7, own == 7),
        f"{full} at 99.5% or more, {nearly} from 98% to 99.5%",
        f"{own} at 99.5% or more, {own_nearly} from 98% to 99.5%",
    )


def _above_accuracy(printed: Cells, ours: dict[int, list[dict[str, np.ndarray]]]) -> Claim:
    stated = sum(row["cwa"] > row["acc"] for row in printed.values())
    own = [one["cwa"].mean() > one["acc"].mean() for of_size in ours.values() for one in of_size]
    return Claim(
        "Under perfect calibration cwA exceeds accuracy",
        _verdict(stated == len(printed), all(own)),
        f"{stated} of {len(printed)} rows",
        f"{sum(own)} of {len(own)} rows",
    )


def _positive_areas(printed: Cells, made: Synthetic) -> Claim:
    stated = sum(row["delta_auc"] > 0 for row in printed.values())
    own = sum(float(made.ranked[p, "perfect"]["delta_auc"].mean()) > 1e-3 for p in PROFILES)
    return Claim(
        "Calibrated synthetic distributions show exclusively positive ΔAUC",
        _verdict(stated == len(printed), own == len(PROFILES)),
        f"{stated} of {len(printed)}",
        f"{own} of {len(PROFILES)}; it is exactly 0 for Tight Lo, where the area of one class is one less the other's",
    )


def _nine_of_ten(printed: Cells, made: Synthetic) -> Claim:
    calm = ("perfect", "underconf_linear", "underconf_sqrt", "random_over")
    stated = [printed[mode,]["cwauc_above_auc"] for mode in calm]
    own = [float(np.mean(sum((made.ranked[p, m]["delta_auc"] > 0).astype(int) for p in PROFILES))) for m in calm]
    names = ", ".join(MODES[mode].title for mode in calm)
    return Claim(
        "Calibrated and underconfident modes have cwAUC > AUC for 9 of 10 distributions",
        _verdict(all(value >= 9 for value in stated), all(value > 8.5 for value in own)),
        f"{', '.join(f'{value:.0f}' for value in stated)} for {names}",
        f"{', '.join(f'{value:.1f}' for value in own)} on average",
    )


def _none_above(printed: Cells, made: Synthetic) -> Claim:
    above = sum((made.ranked[p, "random_half"]["delta_auc"] > 0).astype(int) for p in PROFILES)
    stated = printed["random_half",]["cwauc_above_auc"]
    share = float(np.mean(np.asarray(above) <= stated))
    return Claim(
        "Under Random 0.5 cwAUC is below AUC for all ten distributions",
        "a rare draw: no effect is to be expected" if share < 0.01 else _verdict(stated == 0, True),
        f"{10 - stated:.0f} of 10 below",
        f"{float(np.mean(above)):.1f} of 10 above on average; so few above in {share:.1%} of our runs",
    )


# -- real -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    """What claims about a regime rest on, counted over sets and splits."""

    splits: int
    over_1_sigma: int
    over_3_sigma: int
    catastrophic: int
    exact_below_1_percent: int
    certain_wrong: int
    sets: int
    #: Sets on which some splits are beyond one sigma and others are not.
    sets_that_flip: int
    mean_cwa: float
    mean_cwauc: float
    mean_p_risk: float

    @property
    def share_over_1_sigma(self) -> float:
        return self.over_1_sigma / self.splits


def count(found: Found) -> dict[str, Counts]:
    """The counts of each regime; means are of the sets that every regime has, each set alike."""
    counts = {}
    for regime in REGIMES:
        keys = [key for key in found if key[0] not in UNCALIBRATED or regime == "raw"]
        rows = [found[key][regime] for key in keys]
        beyond = {key: found[key][regime]["csr"] > 1 + found[key][regime]["sigma"] for key in keys}
        names = list(dict.fromkeys(name for name, _ in keys))
        shares = [np.mean([is_so for (which, _), is_so in beyond.items() if which == name]) for name in names]
        counts[regime] = Counts(
            splits=len(rows),
            over_1_sigma=sum(beyond.values()),
            over_3_sigma=sum(row["csr"] > 1 + 3 * row["sigma"] for row in rows),
            catastrophic=sum(row["csr"] > CATASTROPHIC for row in rows),
            exact_below_1_percent=sum(row["pvalue_combined"] < 0.01 for row in rows),
            certain_wrong=sum(row["certain_wrong"] > 0 for row in rows),
            sets=len(names),
            sets_that_flip=sum(bool(0 < share < 1) for share in shares),
            **{f"mean_{name}": _mean(found, regime, name) for name in ("cwa", "cwauc", "p_risk")},
        )
    return counts


def _mean(found: Found, regime: str, quantity: str) -> float:
    """The mean over calibrated sets of the mean over their splits."""
    names = [name for name in dict.fromkeys(name for name, _ in found) if name not in UNCALIBRATED]
    return float(
        np.mean([np.mean([found[key][regime][quantity] for key in found if key[0] == name]) for name in names])
    )


def real_claims(found: Found, plain: Found | None) -> list[Claim]:
    """Of the sections on real data; ``plain`` is the control without class weights."""
    ours = count(found)
    real, areas = printed_table("real", 2), printed_table("cwauc_real", 2)
    averaged = printed_table("real_averaged", 1)
    stated = {
        regime: sum(row["csr"] > 1 + row["sigma"] for (which, _), row in real.items() if which == regime)
        for regime in REGIMES
    }
    catastrophic = sum(row["csr"] > CATASTROPHIC for (which, _), row in real.items() if which == "isotonic")
    raw, isotonic, platt = (ours[regime] for regime in REGIMES)
    order = ("isotonic", "raw", "platt")
    control = None if not plain else count(plain)["raw"]
    without = "" if control is None else f"; without class weights {control.over_1_sigma} of {control.splits}"
    flips = f"; on {raw.sets_that_flip} of {raw.sets} sets splits disagree"
    lower = sum(row["cwa"] <= row["acc"] for row in real.values())
    own_lower = [own[regime]["cwa"] <= own[regime]["acc"] for own in found.values() for regime in REGIMES]
    falls = sum(row["delta_auc"] < 0 for row in areas.values())
    own_falls = [own[regime]["delta_auc"] < 0 for own in found.values() for regime in REGIMES]
    return [
        Claim(
            "Isotonic calibration worsens risk dramatically",
            _verdict(catastrophic > 7, isotonic.catastrophic > isotonic.splits / 2),
            f"CSR above 100 on {catastrophic} of 15 sets",
            f"CSR above 100 on {isotonic.catastrophic} of {isotonic.splits} splits",
        ),
        Claim(
            "Platt scaling is the safest",
            _verdict(
                stated["platt"] < min(stated["raw"], stated["isotonic"]),
                platt.share_over_1_sigma < min(raw.share_over_1_sigma, isotonic.share_over_1_sigma),
            ),
            f"beyond one sigma: platt {stated['platt']}, raw {stated['raw']}, isotonic {stated['isotonic']} of 15",
            f"beyond one sigma: platt {platt.over_1_sigma} of {platt.splits}, raw {raw.over_1_sigma} of {raw.splits}, "
            f"isotonic {isotonic.over_1_sigma} of {isotonic.splits} splits; beyond three: {platt.over_3_sigma}, "
            f"{raw.over_3_sigma}, {isotonic.over_3_sigma}",
        ),
        Claim(
            "Raw models are risky on 6 of 15 sets",
            "fragile" if raw.sets_that_flip > 2 else _verdict(stated["raw"] == 6, _is_near(raw, 6 / 15)),
            f"{stated['raw']} of 15 beyond one sigma",
            f"{raw.over_1_sigma} of {raw.splits} splits{without}{flips}",
        ),
        _order("P_risk", "p_risk", order, {r: averaged[r,]["p_risk"] for r in REGIMES}, ours),
        _order("cwA", "cwa", order, {r: averaged[r,]["cwa"] for r in REGIMES}, ours),
        _order("cwAUC", "cwauc", order, {r: _printed_mean(areas, r, "cwauc") for r in REGIMES}, ours),
        Claim(
            "cwA is substantially greater than accuracy in all cases",
            _verdict(lower == 0, not any(own_lower)),
            f"not greater in {lower} of {len(real)} rows",
            f"not greater in {sum(own_lower)} of {len(own_lower)}",
        ),
        Claim(
            "On real data ΔAUC is small, and several are negative",
            _verdict(falls > 1, sum(own_falls) > 1),
            f"{falls} of {len(areas)} negative",
            f"{sum(own_falls)} of {len(own_falls)} negative",
        ),
        _clipping(found),
    ]


def _is_near(own: Counts, share: float) -> bool:
    """Whether so many splits are beyond one sigma, within two standard errors of as many sets as were run."""
    return abs(own.share_over_1_sigma - share) <= 2 * math.sqrt(share * (1 - share) / own.sets)


def _printed_mean(table: Cells, regime: str, quantity: str) -> float:
    return float(np.mean([row[quantity] for (which, _), row in table.items() if which == regime]))


def _order(head: str, quantity: str, said: Sequence[str], printed: dict[str, float], ours: dict[str, Counts]) -> Claim:
    own = {regime: float(getattr(ours[regime], f"mean_{quantity}")) for regime in REGIMES}

    def is_so(values: dict[str, float]) -> bool:
        return values[said[0]] > values[said[1]] > values[said[2]]

    def shown(values: dict[str, float]) -> str:
        ranked = sorted(values, key=lambda regime: -values[regime])
        return " > ".join(f"{regime} {values[regime]:.4f}" for regime in ranked)

    same = sorted(printed, key=lambda r: -printed[r]) == sorted(own, key=lambda r: -own[r])
    verdict = "confirmed" if is_so(printed) and is_so(own) else _verdict(is_so(printed), is_so(own))
    if not is_so(printed):
        verdict = f"{_CONTRADICTED}; {'the table is confirmed' if same else 'ours is another order'}"
    return Claim(f"{head} is ordered {', '.join(said)}", verdict, shown(printed), shown(own))


def clipping(found: Found) -> list[tuple[tuple[str, int], str, list[float]]]:
    """Splits on which P_risk depends on the clip: its values from the smallest to the largest of the clips."""
    moved = []
    for key, own in found.items():
        for regime in REGIMES:
            if key[0] in UNCALIBRATED and regime != "raw":
                continue
            risks = [own[regime][name] for name in own[regime] if name.startswith("p_risk_")]
            if max(risks) - min(risks) > SHOWS:
                moved.append((key, regime, risks))
    return moved


def _clipping(found: Found) -> Claim:
    moved = clipping(found)
    by_regime = {regime: sum(which == regime for _, which, _ in moved) for regime in REGIMES}
    most = max((max(risks) - min(risks) for _, _, risks in moved), default=0.0)
    shown = ", ".join(f"{REGIME_NAMES[regime]} {number}" for regime, number in by_regime.items())
    return Claim(
        "Clipping at δ with Nδ << 1 leaves P_risk unaltered",
        "confirmed" if not moved else f"confirmed to {most:.2f}" if most <= _SLIGHT else "refuted",
        "no table",
        f"δ from 1e-12 to 1e-6 moves P_risk by more than 0.01 on {len(moved)} splits ({shown}), by {most:.2f} at most",
    )


# -- the same predictions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contrast:
    """P_risk and the exact p-value of one model on one split."""

    name: str
    seed: int
    regime: str
    row: dict[str, float]

    @property
    def is_flagged(self) -> bool:
        """Whether P_risk says risky: CSR beyond one sigma."""
        return self.row["csr"] > 1 + self.row["sigma"]

    @property
    def is_significant(self) -> bool:
        return self.row["pvalue_combined"] < 0.01

    @property
    def is_doubtful(self) -> bool:
        """Whether the exact test finds nothing at 5%."""
        return self.row["pvalue_combined"] > 0.05


def contrasts(found: Found) -> list[Contrast]:
    """Every regime of every split, wine once."""
    return [
        Contrast(name, seed, regime, own[regime])
        for (name, seed), own in found.items()
        for regime in REGIMES
        if name not in UNCALIBRATED or regime == "raw"
    ]
