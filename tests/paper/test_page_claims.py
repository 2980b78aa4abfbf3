"""What the page of the reproduction says in words: figures from its own tables, or from what was searched."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest
from test_page import PAGE_FILE, numbers, section, tables

from surefoot.paper import document, document_real, document_synthetic
from surefoot.paper.datasets import SETS
from surefoot.paper.protocol import COMPARABLE, FIRST, MEAN_ROUND, ONE_SEARCH, UNWEIGHTED, Budget
from surefoot.paper.real import HOW
from surefoot.paper.search import Setting, stored_setting
from surefoot.paper.simulation import Plan
from surefoot.paper.synthetic import run

#: P_risk from which CSR is beyond one sigma.
ONE_SIGMA = 0.8413
OVERCONFIDENT = ("Overconf 1-√(1-c)", "Overconf 0.5c", "Random under c")
Pairs = dict[str, dict[str, tuple[float, float]]]


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE_FILE.read_text(encoding="utf-8")


def pairs(page: str, title: str) -> Pairs:
    """A table of simulations: printed and ours, by row and column."""
    (rows,) = tables(section(page, f"### {title}"))
    found: Pairs = {}
    for row in rows[1:]:
        cells = [tuple(map(float, cell.strip("*").split(" / "))) for cell in row[1:]]
        found[row[0]] = dict(zip(rows[0][1:], cells, strict=True))  # type: ignore[arg-type]
    return found


def said_of(page: str, title: str) -> dict[str, tuple[str, str, str]]:
    """Verdict, the paper's figures and ours, by what the text says."""
    found = tables(section(page, f"### {title}"))[0]
    return {row[0]: (row[1], row[2], row[3]) for row in found[1:]}


def claim(page: str, title: str, words: str) -> tuple[str, str, str]:
    (own,) = [row for text, row in said_of(page, title).items() if words in text]
    return own


def percents(text: str) -> list[float]:
    return [float(part) for part in re.findall(r"([\d.]+)%", text)]


SIMULATED, REAL = "What the text says of synthetic data", "What the text says of real data"


def test_rates_beyond_one_and_three_sigma(page: str) -> None:
    rows = pairs(page, "Table 5")
    _, printed, ours = claim(page, SIMULATED, "Beyond one sigma")
    assert printed == f"{round(sum(100 * row['>1σ_CSR'][0] for row in rows.values()))} of 3,000"
    assert percents(ours) == pytest.approx([100 * sum(r[">1σ_CSR"][1] for r in rows.values()) / 30], abs=0.01)
    verdict, printed, ours = claim(page, SIMULATED, "beyond three sigma falls")
    sizes = ("N = 100", "N = 10,000", "N = 100,000")
    beyond = [[row[">3σ_CSR"] for name, row in rows.items() if name.rpartition(", ")[0] == size] for size in sizes]
    events = [round(sum(100 * one for one, _ in of_size)) for of_size in beyond]
    assert printed == f"{events[0]} of 1,000 at {sizes[0]}, {events[2]} of 1,000 at {sizes[2]}"
    rates = [sum(100 * own for _, own in of_size) / 10 for of_size in beyond]
    assert percents(ours) == pytest.approx(rates, abs=0.0051)
    assert (verdict == "confirmed") == (rates[0] > rates[1] > rates[2])


@pytest.mark.parametrize("place", [0, 1], ids=["printed", "ours"])
def test_what_is_said_of_simulations(page: str, place: int) -> None:
    perfect, modes = pairs(page, "Table 5"), pairs(page, "Tables 8 and 9")

    def said(words: str) -> str:
        return claim(page, SIMULATED, words)[1 + place]

    most = max(row["P_risk"][place] for row in perfect.values())
    assert percents(said("mean P_risk is below 50%")) == pytest.approx([100 * most], abs=0.051)
    above = sum(row["cwA"][place] > row["Acc"][place] for row in perfect.values())
    assert said("cwA exceeds accuracy") == f"{above} of 30 rows"
    risk = {tuple(name.split(", ")): row["P_risk"][place] for name, row in modes.items()}
    over = [value for (_, mode), value in risk.items() if mode in OVERCONFIDENT]
    calm = [value for (_, mode), value in risk.items() if mode not in (*OVERCONFIDENT, "Random 0.5")]
    assert (len(over), len(calm)) == (30, 40)
    assert percents(said("P_risk separates")) == pytest.approx([100 * min(over), 100 * max(calm)], abs=0.051)
    half = [value for (_, mode), value in risk.items() if mode == "Random 0.5"]
    counts = [sum(value >= 0.995 for value in half), sum(0.98 <= value < 0.995 for value in half)]
    assert numbers(r"(\d+) at 99.5% or more, (\d+) from", said("Under Random 0.5, 7 of 10")) == counts
    positive = sum(row["ΔAUC"][place] > 0 for row in pairs(page, "Table 11").values())
    assert said("exclusively positive").startswith(f"{positive} of 10")
    ranked = {mode: row["cwAUC > AUC"][place] for mode, row in pairs(page, "Table 10").items()}
    calm_modes = ("Perfect", "Underconf 0.2+0.8c", "Underconf √c", "Random over c")
    of_ten = [float(part) for part in re.findall(r"([\d.]+)(?:,| for| on)", said("9 of 10 distributions"))[:4]]
    assert of_ten == pytest.approx([ranked[mode] for mode in calm_modes], abs=0.051)
    # in print those below, in ours those above
    above = ranked["Random 0.5"]
    count = float(said("for all ten distributions").split(" ")[0])
    assert count == pytest.approx(above if place else 10 - above, abs=0.051)


def ranges(page: str, table: str, title: str) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    """Of a table of real data: the least and the largest of ours, by set, regime and column."""
    (rows,) = tables(section(page, f"#### {table}: {title}"))
    found = {}
    for row in rows[1:]:
        name, regime = row[0].split(", ")
        cells = [re.search(r"\((\S+) to (\S+)\)", cell) for cell in row[1:]]
        own = [(float(cell.group(1)), float(cell.group(2))) for cell in cells if cell is not None]
        found[name, regime] = dict(zip(rows[0][1:], own, strict=True))
    return found


WHOLE = ("the 10 comparable sets", "adult, by its official test")


def test_verdicts_inside_are_those_that_are_not_bold(page: str) -> None:
    by_column: dict[str, list[bool]] = {}
    for table in ("Table 6", "Table 7"):
        (rows,) = tables(section(page, f"#### {table}: {WHOLE[0]}"))
        for row in rows[1:]:
            if row[0].startswith("wine") and "no post-hoc" not in row[0]:
                continue
            for head, cell in zip(rows[0][1:], row[1:], strict=True):
                by_column.setdefault(head, []).append(not cell.startswith("**"))
    heads = ("P_risk", "->test", "->reject")
    shown = ", ".join(f"{head} {sum(by_column[head])} of {len(by_column[head])}" for head in heads)
    assert f"{shown} in the range of our splits" in section(page, "### By column")


def test_what_is_said_of_splits_fits_the_ranges(page: str) -> None:
    risk = {key: own for title in WHOLE for key, own in ranges(page, "Table 6", title).items()}
    splits = {"no post-hoc": 5 * 11, "isotonic": 5 * 10, "platt": 5 * 10}
    own = {key: row for key, row in risk.items() if key[0] != "wine" or key[1] == "no post-hoc"}
    # sets on which splits disagree
    raw = [row["P_risk"] for (_, regime), row in own.items() if regime == "no post-hoc"]
    flips = sum(least < ONE_SIGMA < most for least, most in raw)
    _, printed, ours = claim(page, REAL, "risky on 6 of 15")
    assert numbers(r"on (\d+) of (\d+) sets splits disagree", ours) == [flips, 11]
    assert printed.startswith("6 of 15")
    # of each regime: what both tests say, and how many lie beyond one sigma and three
    rows = {row[0]: [int(cell) for cell in row[1:]] for row in tables(section(page, "### P_risk and the exact"))[0][1:]}
    assert {regime: row[0] for regime, row in rows.items()} == splits
    _, _, ours = claim(page, REAL, "Platt scaling is the safest")
    (platt, _, raws, _, isotonic, _) = numbers(
        r"platt (\d+) of (\d+), raw (\d+) of (\d+), isotonic (\d+) of (\d+)", ours
    )
    beyond = {"no post-hoc": raws, "isotonic": isotonic, "platt": platt}
    for regime, (_, both, paper, _, _, between) in rows.items():
        assert both + paper <= beyond[regime] <= both + paper + between
        # all splits of a set, some, or none
        of_sets = [row["P_risk"] for (_, which), row in own.items() if which == regime]
        least = sum(5 if low > ONE_SIGMA else high > ONE_SIGMA for low, high in of_sets)
        most = sum(5 if low > ONE_SIGMA else 4 if high > ONE_SIGMA else 0 for low, high in of_sets)
        assert least <= beyond[regime] <= most
    assert claim(page, REAL, "risky on 6 of 15")[2].startswith(f"{raws} of 55 splits")
    # catastrophic profiles
    _, printed, ours = claim(page, REAL, "worsens risk")
    (large, every) = numbers(r"above 100 on (\d+) of (\d+)", ours)
    of_sets = [row["CSR"] for (_, regime), row in own.items() if regime == "isotonic"]
    assert every == 50
    assert sum(5 if low > 100 else high > 100 for low, high in of_sets) <= large
    assert large <= sum(5 if low > 100 else 4 if high > 100 else 0 for low, high in of_sets)


def test_signs_of_differences_fit_the_ranges(page: str) -> None:
    areas = {key: own for title in WHOLE for key, own in ranges(page, "Table 12", title).items()}
    for words, column in (("substantially greater", "ΔcwA"), ("is small, and several", "ΔAUC")):
        (count, every) = numbers(r"(\d+) of (\d+)", claim(page, REAL, words)[2])
        of_sets = [own[column] for own in areas.values()]
        assert every == 5 * len(of_sets) == 165
        assert sum(5 if high < 0 else low < 0 for low, high in of_sets) <= count
        assert count <= sum(5 if high < 0 else 4 if low < 0 else 0 for low, high in of_sets)


def test_calibrators_are_as_their_table_says(page: str) -> None:
    part = section(page, "### Other calibrators")
    (rows,) = tables(part)
    splits, sets = numbers(r"(\d+) splits of (\d+) sets", part)
    assert (splits, sets) == (5 * len(COMPARABLE), len(COMPARABLE))
    by_name = {row[0]: row for row in rows[1:]}
    for row in rows[1:]:
        assert float(row[-1]) == pytest.approx(float(row[2]) - float(by_name["platt"][2]), abs=1.01e-4)
        assert row[6].endswith(f" of {splits}")
        assert row[7].endswith(f" of {sets}")
    # the page on calibrators quotes it
    text = " ".join((PAGE_FILE.parent / "calibrators.md").read_text(encoding="utf-8").split())
    assert f"means over ten data sets and {splits} splits" in text
    assert f"safe Platt has {-float(by_name['safe_platt'][-1]):.3f} less log loss" in text
    assert by_name["safe_platt"][6] == by_name["platt"][6] == "1 of 50"
    isotonic = by_name["isotonic"]
    assert f"has {float(isotonic[-1]):.3f} more than Platt, and {isotonic[6].split(' ')[0]} risky splits" in text
    assert {row[6] for name, row in by_name.items() if name.startswith("venn_abers")} == {"0 of 50"}


def kept(setting: Setting | None) -> dict[str, dict[str, object]]:
    assert setting is not None
    return {HOW: {"setting": asdict(setting)}}


def test_words_are_those_that_the_command_writes(page: str) -> None:
    for text in (document._flow(document._INTRODUCTION), document._flow(document._ORACLE), document._questions()):
        assert text in page
    for text in document_real._words():
        assert text in page
    # how much was searched follows from the parameters that come along
    each = {(name, seed): kept(stored_setting(name, seed=seed)) for name in COMPARABLE for seed in Budget().seeds}
    assert document_real._of_searches(each) in page
    names = [name for name in SETS if name in COMPARABLE]
    one = {(name, FIRST): kept(stored_setting(name)) for name in names}
    plain = {
        (name, FIRST): kept(stored_setting(name, is_weighted=False))
        for name in SETS
        if name in (*names, "adult_income")
    }
    controls = {ONE_SEARCH.name: one, MEAN_ROUND.name: one, UNWEIGHTED.name: plain}
    assert document_real._of_controls(controls) in page


def test_limits_of_the_one_search_are_those_that_the_page_says() -> None:
    for name in COMPARABLE:
        for is_weighted in (True, False):
            own = stored_setting(name, is_weighted=is_weighted)
            assert own is not None
            assert own.rounds <= 1000
            assert own.parameters["max_depth"] <= 12
            assert own.parameters["eta"] >= 0.01


def test_repetitions_are_counted(page: str, tmp_path: Path) -> None:
    assert Plan.full().sizes == {100: 2000, 1000: 2000, 10_000: 2000, 100_000: 200, 1_000_000: 20}
    assert "Ours are 2,000 repetitions (200 at N = 100,000 and 20 at N = 1,000,000)." in page
    made = run(tmp_path, Plan({100: 8, 1000: 4}, ranked=2))
    assert document_synthetic._repetitions(made) == "8 repetitions (4 at N = 1,000)"
