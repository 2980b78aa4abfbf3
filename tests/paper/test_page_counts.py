"""Each count on the page of the reproduction, counted again: the paper's from its printed tables, ours from splits."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import cache
from statistics import NormalDist, fmean, median
from typing import Any

import pytest
from test_page import PAGE_FILE, section, tables
from test_page_claims import REAL, SIMULATED, WHOLE, claim

from surefoot.paper import document
from surefoot.paper.agreement import HEAVY, RATES
from surefoot.paper.names import HEADS, REGIME_NAMES, TABLES, row_name
from surefoot.paper.protocol import COMPARABLE, PROTOCOLS, ROWS, SMALLER, Budget
from surefoot.paper.search import stored_setting
from surefoot.paper.tables import Cells, printed_table
from surefoot.synthetic import MODES, PROFILES

REGIMES = {name: regime for regime, name in REGIME_NAMES.items()}
COLUMNS = {head: column for column, head in HEADS.items()}
SIMULATIONS = {"perfect_summary": 1, "perfect_by_size": 2, "modes": 2, "cwauc_counts": 1, "cwauc_synthetic": 1}
OF_REAL = ("real", "real_other_indicators", "cwauc_real")
TITLES = (*WHOLE, "sets that run on fewer rows or trials")
ADULT = "adult_income"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE_FILE.read_text(encoding="utf-8")


@cache
def evidence() -> dict[str, list[dict[str, Any]]]:
    """What the command writes beside the page."""
    found: dict[str, list[dict[str, Any]]] = json.loads(PAGE_FILE.with_suffix(".json").read_text(encoding="utf-8"))
    return found


@cache
def splits(protocol: str = "page") -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["set"], row["split"]): row for row in evidence()["splits"] if row["protocol"] == protocol}


@cache
def ranges(protocol: str = "page") -> dict[tuple[str, str, str], tuple[float, float]]:
    """The least and the largest of ours, by set, regime and quantity."""
    return {
        (row["set"], regime, quantity): (low, high)
        for row in evidence()["ranges"]
        if row["protocol"] == protocol
        for regime in REGIMES.values()
        for quantity, (low, high) in row.get(regime, {}).items()
    }


def of_whole(regime: str, protocol: str = "page") -> list[dict[str, float]]:
    """Every split of the sets that run on all rows; wine is not calibrated."""
    found = [
        row[regime]
        for (name, _), row in splits(protocol).items()
        if name in (*COMPARABLE, ADULT) and (name != "wine" or regime == "raw")
    ]
    assert len(found) == (55 if regime == "raw" else 50)
    return found


@cache
def printed(name: str) -> Cells:
    return printed_table(name, SIMULATIONS.get(name, 2))


@cache
def all_real() -> dict[tuple[str, str], dict[str, float]]:
    """Every printed number of the real tables, by regime and set; gain has more digits in Table 12."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name in ("real", "real_other_indicators", "cwauc_real"):
        for (regime, which), row in printed(name).items():
            found.setdefault((regime, which), {}).update(row)
    return found


def shown(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.2e}"


def beyond(row: dict[str, float], k: int) -> bool:
    return row["csr"] > 1 + k * row["sigma"]


# -- what is printed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIMULATIONS)
def test_printed_numbers_of_simulations(page: str, name: str) -> None:
    (rows,) = tables(section(page, f"### {TABLES[name]}"))
    by_name = {row_name(key): own for key, own in printed(name).items()}
    assert [row[0] for row in rows[1:]] == list(by_name)
    for row in rows[1:]:
        for head, cell in zip(rows[0][1:], row[1:], strict=True):
            assert cell.strip("*").split(" / ")[0] == shown(by_name[row[0]][COLUMNS[head]]), (row[0], head)


def test_printed_extremes(page: str) -> None:
    (rows,) = tables(section(page, "### Table 3"))
    for row, (key, own) in zip(rows[1:], printed_table("p_risk_extremes", 3).items(), strict=True):
        assert row[:3] == [key[0], MODES[key[1]].title, PROFILES[key[2]].title]
        for head, cell in zip(rows[0][4:7], row[4:7], strict=True):
            assert cell.split(" / ")[0] == shown(own[COLUMNS[head]])


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("table", OF_REAL)
def test_printed_numbers_of_real_data(page: str, title: str, table: str) -> None:
    (rows,) = tables(section(page, f"#### {TABLES[table]}: {title}"))
    for row in rows[1:]:
        name, regime = row[0].split(", ")
        for head, cell in zip(rows[0][1:], row[1:], strict=True):
            assert cell.strip("*").split(" (")[0] == shown(all_real()[REGIMES[regime], name][COLUMNS[head]]), row[0]


def test_numbers_of_simulations_are_counted_once(page: str) -> None:
    kinds: Counter[tuple[str, str]] = Counter()
    for table in ("perfect_by_size", "modes"):
        for key, row in printed(table).items():
            for quantity in row:
                if table == "modes" and quantity == "sigma" and key[1] != "random_half":
                    continue  # one number for all modes
                is_heavy = quantity in ("csr", "sigma") and any(part in HEAVY for part in key)
                kind = "rate" if quantity in RATES else "infinite variance" if is_heavy else "mean"
                kinds[TABLES[table], kind] += 1
    kinds["Table 10", "single run"] = len(printed("cwauc_counts"))
    kinds["Table 11", "single run"] = sum(
        not quantity.startswith("delta") for row in printed("cwauc_synthetic").values() for quantity in row
    )
    stated, outside = tables(section(page, "## Synthetic data"))[:2]
    assert {(row[0], row[1]): int(row[2]) for row in stated[1:]} == kinds
    missed = Counter((row[0], row[3]) for row in outside[1:])
    for row in stated[1:]:
        assert int(row[3]) == kinds[row[0], row[1]] - missed[row[0], row[1]]
    by_title = {title: name for name, title in TABLES.items()}
    for table, row, quantity, _, value, _ in outside[1:]:
        own = {row_name(key): cells for key, cells in printed(by_title[table]).items()}[row]
        assert value == f"{own[COLUMNS[quantity]]:g}"


def test_the_paper_s_side_of_real_claims(page: str) -> None:
    def said(words: str) -> str:
        return claim(page, REAL, words)[1]

    real, areas = printed("real"), printed("cwauc_real")
    large = sum(row["csr"] > 100 for (regime, _), row in real.items() if regime == "isotonic")
    assert said("worsens risk") == f"CSR above 100 on {large} of 15 sets"
    risky = Counter(regime for (regime, _), row in real.items() if beyond(row, 1))
    assert said("the safest") == (
        f"beyond one sigma: platt {risky['platt']}, raw {risky['raw']}, isotonic {risky['isotonic']} of 15"
    )
    assert said("risky on 6 of 15") == f"{risky['raw']} of 15 beyond one sigma"
    averaged = printed_table("real_averaged", 1)
    means = {
        "P_risk": {regime: averaged[regime,]["p_risk"] for regime in REGIMES.values()},
        "cwA": {regime: averaged[regime,]["cwa"] for regime in REGIMES.values()},
        "cwAUC": {
            regime: fmean(row["cwauc"] for (which, _), row in areas.items() if which == regime)
            for regime in REGIMES.values()
        },
    }
    for head, values in means.items():
        assert said(f"{head} is ordered") == ordered(values)
    assert (
        said("substantially greater") == f"not greater in {sum(r['cwa'] <= r['acc'] for r in real.values())} of 45 rows"
    )
    assert said("is small, and several") == f"{sum(r['delta_auc'] < 0 for r in areas.values())} of 45 negative"


def test_questions_quote_the_printed_tables(page: str) -> None:
    part = section(page, "## Questions to the authors")
    lowest = printed("cwauc_synthetic")["tight_lo",]
    assert f"Tight Lo has AUC {lowest['auc']:.4f} and cwAUC {lowest['cwauc']:.4f}." in part
    counted = printed("cwauc_counts")["random_over",]
    above, below = counted["cwauc_above_auc"], counted["cwauc_below_auc"]
    assert f"Random over c counts {above:.0f} distributions above and {below:.0f} below" in part
    half = {profile: row["p_risk"] for (profile, mode), row in printed("modes").items() if mode == "random_half"}
    full = ("five", "six", "seven")[sum(risk >= 0.995 for risk in half.values()) - 5]
    assert f"Tables 8 and 9 have {full}, and Bell at {half['bell']:.2%}." in part


def ordered(values: dict[str, float]) -> str:
    return " > ".join(f"{regime} {values[regime]:.4f}" for regime in sorted(values, key=lambda name: -values[name]))


# -- what is ours -----------------------------------------------------------------------------------------------------


def test_ranges_are_those_of_the_splits(page: str) -> None:
    for title in TITLES[:2]:
        for table in OF_REAL:
            (rows,) = tables(section(page, f"#### {TABLES[table]}: {title}"))
            for row in rows[1:]:
                name, regime = row[0].split(", ")
                for head, cell in zip(rows[0][1:], row[1:], strict=True):
                    column, of = COLUMNS[head], REGIMES[regime]
                    text = cell.strip("*").partition(" ")[2]
                    place = (name, "raw" if column == "acc" or name == "wine" else of, column)
                    if place in ranges():
                        low, high = ranges()[place]
                        assert text == f"({shown(low)} to {shown(high)})", place
                    values = [own[of].get(column) for (which, _), own in splits().items() if which == name]
                    if values[0] is not None:
                        assert text == f"({shown(min(values))} to {shown(max(values))})", (row[0], head)


def test_our_side_of_real_claims(page: str) -> None:
    def said(words: str) -> str:
        return claim(page, REAL, words)[2]

    regimes = tuple(REGIMES.values())
    own = {regime: of_whole(regime) for regime in regimes}
    size = {regime: len(rows) for regime, rows in own.items()}
    one, three = ({regime: sum(beyond(row, k) for row in rows) for regime, rows in own.items()} for k in (1, 3))
    assert said("worsens risk") == f"CSR above 100 on {sum(row['csr'] > 100 for row in own['isotonic'])} of 50 splits"
    order = ("platt", "raw", "isotonic")
    assert said("the safest") == (
        f"beyond one sigma: {', '.join(f'{regime} {one[regime]} of {size[regime]}' for regime in order)} splits; "
        f"beyond three: {', '.join(str(three[regime]) for regime in order)}"
    )
    by_set: dict[str, list[bool]] = {}
    for (name, _), row in splits().items():
        if name not in SMALLER:
            by_set.setdefault(name, []).append(beyond(row["raw"], 1))
    flips = sum(len(set(verdicts)) == 2 for verdicts in by_set.values())
    plain = sum(beyond(row, 1) for row in of_whole("raw", "unweighted"))
    assert said("risky on 6 of 15") == (
        f"{one['raw']} of 55 splits; without class weights {plain} of 55; on {flips} of 11 sets splits disagree"
    )
    for head, column in (("P_risk", "p_risk"), ("cwA", "cwa"), ("cwAUC", "cwauc")):
        means = {
            regime: fmean(
                fmean(row[regime][column] for (which, _), row in splits().items() if which == name)
                for name in by_set
                if name != "wine"
            )
            for regime in regimes
        }
        assert said(f"{head} is ordered") == ordered(means)
    every = [row[regime] for (name, _), row in splits().items() if name in by_set for regime in regimes]
    assert said("substantially greater") == f"not greater in {sum(row['cwa'] <= row['acc'] for row in every)} of 165"
    assert said("is small, and several") == f"{sum(row['delta_auc'] < 0 for row in every)} of 165 negative"
    moves = {
        regime: [max(own) - min(own) for row in rows if (own := [row[c] for c in row if c.startswith("p_risk_")])]
        for regime, rows in own.items()
    }
    shows = {REGIME_NAMES[regime]: [move for move in of if move > 0.01] for regime, of in moves.items()}
    words = ", ".join(f"{name} {len(of)}" for name, of in shows.items())
    assert said("leaves P_risk unaltered") == (
        f"δ from 1e-12 to 1e-6 moves P_risk by more than 0.01 on {sum(map(len, shows.values()))} splits ({words}), "
        f"by {max(max(of, default=0.0) for of in shows.values()):.2f} at most"
    )
    assert f"over {len(by_set)} sets that run on all rows, {size['raw']} splits" in section(page, f"### {REAL}")
    assert f"without calibration: {size['platt']} for the others" in section(page, f"### {REAL}")


def test_both_tests_of_the_same_predictions(page: str) -> None:
    part = section(page, "### P_risk and the exact p-value")
    counted, apart = tables(part)
    for row in counted[1:]:
        own = of_whole(REGIMES[row[0]])
        flagged = [beyond(one, 1) for one in own]
        p = [one["pvalue_combined"] for one in own]
        pairs = Counter(
            (risky, "found" if value < 0.01 else "not" if value > 0.05 else "between")
            for risky, value in zip(flagged, p, strict=True)
        )
        between = pairs[True, "between"] + pairs[False, "between"]
        counts = (pairs[True, "found"], pairs[True, "not"], pairs[False, "found"], pairs[False, "not"], between)
        assert list(map(int, row[1:])) == [len(own), *counts]
    wrong = [row for regime in REGIMES.values() for row in of_whole(regime) if row["certain_wrong"] > 0]
    assert f"A row of confidence 1 is wrong on {len(wrong)} splits; " in part
    assert f"P_risk is at least {min(row['p_risk'] for row in wrong):.4f} on all of them" in part
    assert len(apart) - 1 == sum(int(row[3]) + int(row[4]) for row in counted[1:])
    for name, split, regime, csr, sigma, risk, p, *certain in apart[1:]:
        own = splits()[name, int(split)][REGIMES[regime]]
        assert [csr, sigma, risk] == [shown(own[column]) for column in ("csr", "sigma", "p_risk")]
        assert p == f"{own['pvalue_combined']:.2g}"
        assert list(map(float, certain)) == [own["certain_right"], own["certain_wrong"]]
        assert beyond(own, 1) != (own["pvalue_combined"] < 0.01)
        assert own["p_risk"] == pytest.approx(NormalDist().cdf((own["csr"] - 1) / own["sigma"]), abs=1e-6)


def test_random_half_is_seldom_so_low(page: str) -> None:
    (runs,) = evidence()["runs"]
    every = sum(runs.values())
    assert f"a single run among 99% of {every} of ours" in page
    (rows,) = tables(section(page, "### Table 10"))
    mean = sum(int(number) * count for number, count in runs.items()) / every
    assert rows[1][1].strip("*").split(" / ")[1] == shown(mean)
    stated = printed("cwauc_counts")["random_half",]["cwauc_above_auc"]
    few = sum(count for number, count in runs.items() if int(number) <= stated) / every
    _, theirs, ours = claim(page, SIMULATED, "for all ten distributions")
    assert theirs == f"{10 - stated:.0f} of 10 below"
    assert ours == f"{mean:.1f} of 10 above on average; so few above in {few:.1%} of our runs"


def test_the_paper_s_side_of_synthetic_claims(page: str) -> None:
    def said(words: str) -> str:
        return claim(page, SIMULATED, words)[1]

    perfect, modes = printed("perfect_by_size"), printed("modes")
    assert said("Beyond one sigma") == f"{round(100 * sum(r['over_1_sigma'] for r in perfect.values()))} of 3,000"
    assert said("mean P_risk is below 50%") == f"at most {max(row['p_risk'] for row in perfect.values()):.1%}"
    over = ("overconf_root", "overconf_half", "random_under")
    high = min(row["p_risk"] for (_, mode), row in modes.items() if mode in over)
    low = max(row["p_risk"] for (_, mode), row in modes.items() if mode not in (*over, "random_half"))
    where = f"at least {high:.1%} where overconfident, at most {low:.1%} where calibrated or underconfident"
    assert said("P_risk separates") == where
    half = [row["p_risk"] for (_, mode), row in modes.items() if mode == "random_half"]
    nearly = sum(0.98 <= risk < 0.995 for risk in half)
    full = f"{sum(risk >= 0.995 for risk in half)} at 99.5% or more, {nearly} from 98% to 99.5%"
    assert said("Under Random 0.5, 7 of 10") == full
    assert said("exclusively positive") == (
        f"{sum(row['delta_auc'] > 0 for row in printed('cwauc_synthetic').values())} of 10"
    )
    calm = ("perfect", "underconf_linear", "underconf_sqrt", "random_over")
    above = ", ".join(f"{printed('cwauc_counts')[mode,]['cwauc_above_auc']:.0f}" for mode in calm)
    titles = ", ".join(MODES[mode].title for mode in calm)
    assert said("9 of 10 distributions") == f"{above} for {titles}"


def test_verdicts(page: str) -> None:
    confirmed, fragile = "confirmed", "fragile"
    table = "the text contradicts its own table; our runs agree with the table"
    order = "the text contradicts its own table; the table is confirmed"
    # those whose figures are counted elsewhere, in the order of the paper
    rare, unseen = "a rare draw: no effect is to be expected", "not visible in our runs"
    wanted = [confirmed, unseen, confirmed, confirmed, table, confirmed, table, confirmed, rare]
    assert [row[1] for row in tables(section(page, f"### {SIMULATED}"))[0][1:]] == wanted
    most = max(
        max(moves) - min(moves)
        for regime in REGIMES.values()
        for row in of_whole(regime)
        if (moves := [row[column] for column in row if column.startswith("p_risk_")])
    )
    wanted = [confirmed, confirmed, fragile, confirmed, order, order, table, confirmed, f"confirmed to {most:.2f}"]
    assert [row[1] for row in tables(section(page, f"### {REAL}"))[0][1:]] == wanted


def test_shares_in_sentences(page: str) -> None:
    every = re.findall(r"(\d+) of (\d+) \(([\d.]+%)\)", page)
    assert len(every) > 8
    for inside, cells, share in every:
        assert share == f"{int(inside) / int(cells):.1%}"
    (rows,) = [rows for rows in tables(section(page, "### The protocol")) if rows[0][0] == "protocol"]
    part = section(page, "## Real data").split("\n### ")[0]
    assert f"With its one search and early stopping it is {rows[2][1]}." in part
    assert f"(the mean round of cross-validation, one search) it is {rows[3][1]}." in part
    assert f"a random test part and {len(Budget().seeds)} splits." in part
    (runs,) = evidence()["runs"]
    assert page.count(f"the mean of {sum(runs.values())}") == 2
    column = section(page, "### By column")
    assert f"inside the range of our {len(Budget().seeds)} splits" in column
    assert f"a binomial test against {2 / 3:.1%} " in column
    assert f"The {len(COMPARABLE)} comparable sets: printed rows of Table 6" in section(page, "### Table 2")


# -- the yardstick ----------------------------------------------------------------------------------------------------


def sides(protocol: str, *, relative: bool = True) -> dict[tuple[str, str, str], int]:
    """Of each cell of the comparable sets: 0 if printed inside our range, -1 if below, 1 if above."""
    found = {}
    for (name, regime, quantity), (low, high) in ranges(protocol).items():
        if name not in COMPARABLE:
            continue
        value = all_real()[regime, name][quantity]
        slack = 5e-5 * (max(1.0, abs(value)) if relative else 1.0)
        found[name, regime, quantity] = (value > high + slack) - (value < low - slack)
    return found


def test_columns_are_those_of_the_ranges(page: str) -> None:
    (rows,) = tables(section(page, "### By column"))
    found = sides("page")
    for head, *cells, below, above in rows[1:]:
        own = {key: side for key, side in found.items() if key[2] == COLUMNS[head]}
        assert [int(below), int(above)] == [list(own.values()).count(-1), list(own.values()).count(1)], head
        for regime, cell in zip(REGIMES.values(), cells, strict=True):
            of = [side for key, side in own.items() if key[1] == regime]
            assert bool(of) == bool(cell)
            if of:
                p = two_sided(of.count(0), len(of))
                text = f"{of.count(0)} of {len(of)} ({p:.3f})"
                assert cell == (f"**{text}**" if p < 0.05 else text), head


def two_sided(inside: int, cells: int) -> float:
    """Of a binomial count of two thirds, twice the smaller tail."""
    chances = [math.comb(cells, k) * 2**k / 3**cells for k in range(cells + 1)]
    return min(1.0, 2 * min(sum(chances[: inside + 1]), sum(chances[inside:])))


def inside_of(found: dict[tuple[str, str, str], int], regime: str, quantity: str | None = None) -> str:
    own = [side for key, side in found.items() if key[1] == regime and quantity in (None, key[2])]
    return f"{own.count(0)} of {len(own)}"


def test_protocols_are_counted_from_their_ranges(page: str) -> None:
    (rows,) = [rows for rows in tables(section(page, "### The protocol")) if rows[0][0] == "protocol"]
    by_words = {protocol.words(): name for name, protocol in PROTOCOLS.items()}
    assert [row[0] for row in rows[1:]] == list(by_words)
    for words, whole, raw, csr, sigma, isotonic, platt, width in rows[1:]:
        found = sides(by_words[words])
        inside = list(found.values()).count(0)
        assert whole == f"{inside} of {len(found)} ({inside / len(found):.1%})"
        assert [raw, isotonic, platt] == [inside_of(found, regime) for regime in REGIMES.values()]
        assert [csr, sigma] == [inside_of(found, "raw", column) for column in ("csr", "sigma")]
        others = ranges("mean-round")
        widths = [
            (high - low) / (others[key][1] - others[key][0])
            for key, (low, high) in ranges(by_words[words]).items()
            if key[0] in COMPARABLE and others[key][1] > others[key][0]
        ]
        assert width == f"{median(widths):.2f}"
    (said,) = re.findall(r"lies in the range of (\d+) others (\d+) times in (\d+)", page)
    assert list(map(int, said)) == [len(Budget().seeds), len(Budget().seeds) - 1, len(Budget().seeds) + 1]
    found, strict = sides("page"), sides("page", relative=False)
    slack = sum(side == 0 and strict[key] != 0 for key, side in found.items())
    assert f"makes a difference to {slack} of the cells inside" in section(page, "## Real data")


# -- averages over sets -----------------------------------------------------------------------------------------------

MEANS = ("acc", "cwa", "gain", "csr", "sigma", "p_risk")


def average(rows: list[dict[str, float]]) -> dict[str, float]:
    found = {column: fmean(row[column] for row in rows) for column in MEANS}
    return found | {f"over_{k}_sigma": float(sum(beyond(row, k) for row in rows)) for k in (1, 3)}


def cells_of(row: dict[str, float], sets: int) -> list[str]:
    return [*(shown(row[column]) for column in MEANS), *(f"{row[f'over_{k}_sigma']:.0f}/{sets}" for k in (1, 3))]


def test_averages_over_sets(page: str) -> None:
    every, ten = tables(section(page, "### Table 2"))
    real = printed("real")
    for place, (name, regime) in enumerate(REGIMES.items()):
        stated = [row for (which, _), row in real.items() if which == regime]
        assert every[1 + 2 * place] == [f"{name}, printed", *cells_of(average(stated), 15)]
        # Table 2 as it is printed has the same means, but for its last digits
        own = printed_table("real_averaged", 1)[regime,]
        for column in MEANS:
            assert own[column] == pytest.approx(average(stated)[column], rel=1e-4, abs=6e-4)
        check_averages(page, name, every[2 + 2 * place])
        stated = [row for (which, set_), row in real.items() if which == regime and set_ in COMPARABLE]
        assert ten[1 + 2 * place] == [f"{name}, printed", *cells_of(average(stated), 10)]
        each = [average([splits()[set_, split][regime] for set_ in COMPARABLE]) for split in Budget().seeds]
        ends = [cells_of({column: pick(one[column] for one in each) for column in each[0]}, 10) for pick in (min, max)]
        texts = [low if low == high else f"{low} to {high}" for low, high in zip(*ends, strict=True)]
        assert ten[2 + 2 * place] == [f"{name}, ours, 5 splits", *texts]


def check_averages(page: str, name: str, cells: list[str]) -> None:
    """Ours of all fifteen sets: of those that run on fewer rows or trials, between the ends that the page has."""
    assert cells[0] == f"{name}, ours, split 42"
    regime = REGIMES[name]
    own = average([splits()[which, 42][regime] for which in (*COMPARABLE, ADULT)])
    (rows,) = tables(section(page, f"#### Table 6: {TITLES[2]}"))
    others = [row for row in rows[1:] if row[0].endswith(f", {name}")]
    assert len(others) == len(SMALLER)
    heads = rows[0][1:]
    ends = [re.findall(r"\((\S+) to (\S+)\)", " ".join(row[1:])) for row in others]
    for column, cell in zip(MEANS, cells[1:7], strict=True):
        low, high = (
            (11 * own[column] + sum(float(row[heads.index(HEADS[column])][end]) for row in ends)) / 15 for end in (0, 1)
        )
        assert low - 1e-3 * abs(low) <= float(cell) <= high + 1e-3 * abs(high), column
    for k, cell in zip((1, 3), cells[7:], strict=True):
        risks = [row[heads.index("P_risk")] for row in ends]
        low, high = (own[f"over_{k}_sigma"] + sum(float(r[end]) > NormalDist().cdf(k) for r in risks) for end in (0, 1))
        count, every = map(int, cell.split("/"))
        assert every == 15
        assert low <= count <= high


# -- limits -----------------------------------------------------------------------------------------------------------


def test_rows_are_those_of_the_parts(page: str) -> None:
    rows = next(rows for rows in tables(section(page, "### Limits")) if "rounds" in rows[0])
    for name, *parts, runs, trials, _, depth, rounds in rows[1:]:
        train, held, test = (int(part.replace(",", "")) for part in parts)
        own = {split: row for (which, split), row in splits().items() if which == name}
        assert int(runs) == len(Budget().seeds_of(name))
        if own:
            assert len(own) == int(runs)
            assert {row["raw"]["n"] for row in own.values()} == {test}
            assert rounds == span([row["rounds"] for row in own.values()])
        stored = [one for seed in Budget().seeds_of(name) if (one := stored_setting(name, seed=seed))]
        if name in ROWS:
            assert train == ROWS[name]
        else:
            assert [one.rows for one in stored] == [train] * int(runs)
            assert depth == span([int(one.parameters["max_depth"]) for one in stored])
            assert trials == f"{span(sorted(one.trials for one in stored))} × 5"
        # a fifth for the test, unless it is official, and a quarter of what is left
        rest = ROWS_BUT_TEST.get(name, train + held)
        assert held == math.ceil(rest / 4)
        if name not in (ADULT, "mnist", "cifar10"):
            assert test == math.ceil((rest + test) / 5)


#: Rows that are not of the test, where not all of them are trained on.
ROWS_BUT_TEST = {"covertype": 581_012 - 116_203, "mnist": 60_000, "cifar10": 50_000}


def span(values: list[int]) -> str:
    least, most = min(values), max(values)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def test_hours_are_the_same_everywhere(page: str) -> None:
    folder = PAGE_FILE.parents[1]
    paths = ("docs/command-line.md", "src/surefoot/paper/command.py")
    texts = [(folder / path).read_text(encoding="utf-8") for path in paths]
    assert f"takes {document.HOURS} with the parameters" in page
    assert f"in {document.HOURS}" in " ".join(texts[0].split())
    assert f"in {document.HOURS.split(' on ')[0]};" in texts[1]
