"""The page of the reproduction: each count that a sentence states, from its own tables; two data sets made again."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from surefoot.paper.document_real import _cells
from surefoot.paper.models import Trainer
from surefoot.paper.protocol import COMPARABLE, PAGE, Budget
from surefoot.paper.real import evaluate_model
from surefoot.paper.tables import printed_table

PAGE_FILE = Path(__file__).parents[2] / "docs" / "paper.md"
Rows = list[list[str]]


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE_FILE.read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    """A section, up to the next heading of its level or above."""
    level = title.split(" ")[0]
    start = page.index(f"\n{title}")
    following = re.search(rf"\n#{{1,{len(level)}}} ", page[start + 1 :])
    return page[start : start + 1 + following.start()] if following else page[start:]


def tables(text: str) -> list[Rows]:
    """The tables of a text, with their heads."""
    found: list[Rows] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("| ---"):
            found.append([[part.strip() for part in lines[number - 1].strip("|").split(" | ")]])
        elif line.startswith("|") and found and not lines[min(number + 1, len(lines) - 1)].startswith("| ---"):
            found[-1].append([part.strip() for part in re.split(r" \| ?", line[2:].removesuffix(" |"))])
    return found


def numbers(pattern: str, text: str) -> list[int]:
    match = re.search(pattern, text)
    assert match is not None, pattern
    return [int(part.replace(",", "")) for part in match.groups()]


def test_the_synthetic_headline_is_the_sum_of_its_tables(page: str) -> None:
    part = section(page, "## Synthetic data")
    agree, every = numbers(r"\*\*([\d,]+) of ([\d,]+) printed numbers agree", part)
    kinds, outside = tables(part)[:2]
    assert sum(int(row[2]) for row in kinds[1:]) == every
    assert sum(int(row[3]) for row in kinds[1:]) == agree
    (stated,) = numbers(r"(\d+) numbers are outside", part)
    assert stated == len(outside) - 1 == every - agree
    (singles,) = numbers(r"Of (\d+) numbers of single runs", part)
    assert singles == sum(int(row[2]) for row in kinds[1:] if row[1] == "single run")
    assert f"would have {singles * 0.01:.1f} outside" in part
    # bold cells of the tables are those outside, and others that are printed again
    for row in outside[1:]:
        assert f"**{row[4]} / {row[5]}**" in part


def test_extremes_are_counted_by_profile(page: str) -> None:
    part = section(page, "### Table 3")
    (rows,) = tables(part)
    same, every = numbers(r"In (\d+) of (\d+) rows the printed distribution", part)
    shares = [int(row[-1].strip("*%")) for row in rows[1:]]
    assert (same, every) == (sum(share >= 1 for share in shares), len(rows) - 1)
    assert every == len(printed_table("p_risk_extremes", 3))


def of_title(page: str, title: str) -> tuple[str, list[Rows]]:
    part = section(page, f"### {title}")
    return part, tables(part)


@pytest.mark.parametrize(
    "title", ["The 10 comparable sets", "Adult, by its official test", "Sets that run on fewer rows or trials"]
)
def test_cells_inside_are_those_that_are_not_bold(page: str, title: str) -> None:
    part, found = of_title(page, title)
    inside, every = numbers(r"lies outside\. (\d+) of (\d+) ", part)
    counted, kept = 0, 0
    skipped = {"P_risk", "->test", "->reject", "ΔcwA", "ΔAUC"}
    for rows, twice in zip(found, ({"gain"}, set(), {"Acc", "cwA"}), strict=True):
        for row in rows[1:]:
            name, regime = row[0].split(", ")
            for head, cell in zip(rows[0][1:], row[1:], strict=True):
                is_again = regime != "no post-hoc" and (name == "wine" or head == "Acc")
                if head in skipped | twice or is_again:
                    continue
                counted += 1
                kept += not cell.startswith("**")
    assert (kept, counted) == (inside, every)


def test_the_real_headline_is_that_of_the_comparable_sets(page: str) -> None:
    part = section(page, "## Real data")
    inside, every, sets = numbers(r"\*\*(\d+) of (\d+) \([\d.]+%\) of the continuous printed cells of (\d+)", part)
    assert numbers(r"lies outside\. (\d+) of (\d+) ", of_title(page, "The 10 comparable sets")[0]) == [inside, every]
    assert f"{inside} of {every} ({inside / every:.1%})" in part
    assert sets == len(COMPARABLE)
    # what the protocol has to reach, and what an exact replicate would
    assert inside / every >= 0.66
    assert f"an exact replicate would reach {2 / 3:.1%}" in part
    protocols = next(rows for rows in tables(part) if rows[0][0] == "protocol")
    assert protocols[1][1] == f"{inside} of {every} ({inside / every:.1%})"
    assert protocols[2][1] in part
    for row in protocols[1:]:
        whole = numbers(r"(\d+) of (\d+)", row[1])
        parts = [numbers(r"(\d+) of (\d+)", row[place]) for place in (2, 5, 6)]
        assert [sum(one[i] for one in parts) for i in (0, 1)] == whole
    # the old protocol stands beside, and the text says its figure
    old = next(row for row in protocols if "mean round" in row[0])
    assert f"it is {old[1]}" in part


def test_columns_add_up_and_their_tests_are_counted(page: str) -> None:
    part = section(page, "### By column")
    (rows,) = tables(part)
    shares = [cell for row in rows[1:] for cell in row[1:4] if cell]
    low, every = numbers(r"(\d+) of (\d+) tests are below 0.05", part)
    assert (low, every) == (sum(cell.startswith("**") for cell in shares), len(shares))
    counts = [numbers(r"(\d+) of (\d+)", cell) for cell in shares]
    inside, cells = (sum(one[i] for one in counts) for i in (0, 1))
    headline = numbers(r"\*\*(\d+) of (\d+) \(", section(page, "## Real data"))
    assert [inside, cells] == headline
    below, above = (sum(int(row[i]) for row in rows[1:]) for i in (4, 5))
    assert inside + below + above == cells
    assert f"where {0.05 * every:.1f} or fewer" in part


def test_limits_are_those_of_the_searches(page: str) -> None:
    part = section(page, "## Real data")
    rows = next(rows for rows in tables(part) if rows[0][0] == "set" and "rounds" in rows[0])
    by_name = {row[0]: row for row in rows[1:]}
    trials = [int(n) for name in COMPARABLE for n in re.findall(r"\d+", by_name[name][5].split("×")[0])]
    assert numbers(r"Each search here has (\d+) to (\d+) trials", part) == [min(trials), max(trials)]
    at_bound, searches = numbers(r"bound of 20 in (\d+) of (\d+) searches", part)
    assert searches == sum(int(by_name[name][4]) for name in COMPARABLE)
    reach = sum(by_name[name][7].endswith("20") for name in COMPARABLE)
    assert at_bound >= reach
    assert bool(at_bound) == bool(reach)


def test_contrasts_of_the_same_models_add_up(page: str) -> None:
    part = section(page, "### P_risk and the exact p-value")
    found = tables(part)
    for row in found[0][1:]:
        assert int(row[1]) == sum(map(int, row[2:]))
    if len(found) > 1:
        (apart,) = numbers(r"The (\d+) splits on which they differ", part)
        alone = sum(int(row[3]) + int(row[4]) for row in found[0][1:])
        assert apart == alone == len(found[1]) - 1
    missed = sum(int(row[4]) for row in found[0][1:])
    assert (f"On {missed} splits the exact test finds" in part) == bool(missed)
    if missed:
        rows = [row for row in found[1][1:] if float(row[6]) < 0.01]
        right, wrong = numbers(r"on (\d+) of these some rows are certain.*on (\d+) a certain row is wrong", part)
        assert (right, wrong) == (sum(row[7] != "0" for row in rows), sum(row[8] != "0" for row in rows))


def test_counts_of_claims_follow_from_the_printed_tables(page: str) -> None:
    part = section(page, "### What the text says of real data")
    (rows,) = tables(part)
    printed = {row[0]: row[2] for row in rows[1:]}
    real, areas = printed_table("real", 2), printed_table("cwauc_real", 2)
    risky = {
        regime: sum(row["csr"] - row["sigma"] > 1 for (which, _), row in real.items() if which == regime)
        for regime in ("raw", "isotonic", "platt")
    }
    # Table 2 prints the same counts
    averaged = (Path(__file__).parents[2] / "src/surefoot/paper/printed/real_averaged.csv").read_text()
    assert [f"{risky[name]}/15" in averaged for name in ("raw", "isotonic", "platt")] == [True] * 3
    text = f"platt {risky['platt']}, raw {risky['raw']}, isotonic {risky['isotonic']} of 15"
    assert text in printed["Platt scaling is the safest"]
    negative = sum(row["delta_auc"] < 0 for row in areas.values())
    assert f"{negative} of 45 negative" in printed["On real data ΔAUC is small, and several are negative"]
    lower = sum(row["cwa"] <= row["acc"] for row in real.values())
    assert f"{lower} of 45" in printed["cwA is substantially greater than accuracy in all cases"]
    splits = numbers(r"sets that run on all rows, (\d+) splits", part)[0]
    assert f"of {splits} splits" in next(row[3] for row in rows if row[0].startswith("Raw models"))


def test_questions_are_numbered_and_impossible_cells_counted(page: str) -> None:
    part = section(page, "## Questions to the authors")
    (rows,) = tables(part)
    (count,) = numbers(r"Table 12: (\d+) cwAUC are lower", part)
    assert count == len(rows) - 1
    for row in rows[1:]:
        ratio = (1 - float(row[3]) - 5e-5) / (1 - float(row[2]) + 5e-5)
        assert float(row[4]) == pytest.approx(ratio, abs=5e-4)
        assert ratio > float(row[5])


def test_versions_and_what_was_chosen_after_looking_are_said(page: str) -> None:
    for words in ("chosen after seeing printed values", "What else was tried", "xgboost ", "scikit-learn ", "optuna "):
        assert words in page
    for name in ("paper-figure-1.png", "paper-figure-2.png"):
        assert f"({name})" in page
        assert (PAGE_FILE.parent / name).read_bytes().startswith(b"\x89PNG")


def test_two_small_sets_come_out_as_on_the_page(page: str, real_predictions: Path, tmp_path: Path) -> None:
    folder = real_predictions.parent / "datasets"
    if not folder.exists():
        pytest.skip("no data sets beside the predictions")
    packages = [f"{name} {version(name)}" for name in ("xgboost", "scikit-learn", "optuna")]
    if platform.machine() != "x86_64" or not all(one in page for one in packages):
        pytest.skip(f"the page was made with other versions than {', '.join(packages)}")
    names = ("breast_cancer", "diabetes")
    found = {}
    for name in names:
        trainer = Trainer(name, tmp_path, folder, Budget(), use_stored=True)
        for seed in Budget().seeds:
            found[name, seed] = evaluate_model(name, trainer.trained(PAGE, seed), with_others=False)
    made = tables("\n\n".join(_cells(found, "The 10 comparable sets", "")))
    for ours, printed in zip(made, of_title(page, "The 10 comparable sets")[1], strict=True):
        assert ours[0] == printed[0]
        on_page = [row for row in printed if row[0].split(",")[0] in names]
        assert ours[1:] == on_page
