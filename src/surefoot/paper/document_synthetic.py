"""The page's part on synthetic data: every table of the paper beside ours, and the claims that rest on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from surefoot.paper.agreement import SINGLE, Cell, count_agreement
from surefoot.paper.claims import Claim, synthetic_claims
from surefoot.paper.names import HEADS, TABLES, row_name
from surefoot.paper.synthetic import Extreme, Synthetic
from surefoot.paper.tables import markdown_table
from surefoot.synthetic import MODES, PROFILES

#: The least share of drawn tables in which a printed extreme has to be one.
_NOT_RARE = 0.01
#: The paper's tables of simulations, in its order, with what is printed of each row.
_SHOWN = ("perfect_summary", "perfect_by_size", "modes", "cwauc_counts", "cwauc_synthetic")


def synthetic_part(made: Synthetic) -> list[str]:
    """The paragraphs and tables."""
    by_table: dict[str, list[Cell]] = defaultdict(list)
    for one in made.cells:
        by_table[one.table].append(one)
    agree, every = count_agreement(made.cells)
    singles = [one for one in made.cells if one.kind == "single run" and not one.again]
    expected = len(singles) * (1 - SINGLE)
    outside = [one for one in made.cells if not one.agrees and not one.again]
    same = sum(one.share >= _NOT_RARE for one in made.extremes)
    runs = len(next(iter(made.ranked.values()))["auc"])
    parts = [
        "## Synthetic data",
        f"**{agree:,} of {every:,} printed numbers agree with ours**, each counted once: a mean over 100 repetitions "
        "within four standard errors, a rate by a binomial test at 0.0001, a mean of infinite variance among 99.9% of "
        f"bootstrapped means of 100 of ours, a single run among {SINGLE:.0%} of {runs} of ours. Ours are "
        f"{_repetitions(made)}.",
        _kinds(by_table),
        "CSR and sigma of Uniform, Skew High, Bimodal, Tight Hi and Normal have infinite variance (the mean of 1/doubt "
        "diverges), so that a printed mean is at the mercy of a few rows; they are in italics. In Tables 8 and 9 sigma "
        "is one number for all eight modes of a distribution. Table 1 averages Table 5, Table 3 repeats rows of Tables "
        "8 and 9, the second column of Table 10 is what the first leaves of ten, and differences follow from what they "
        f"are of: none of these is counted again. Of {len(singles)} numbers of single runs, an exact copy would have "
        f"{expected:.1f} outside.",
        f"{len(outside)} numbers are outside:\n\n{_outside(outside)}",
        "### What the text says of synthetic data",
        claims_table(synthetic_claims(made)),
    ]
    for name in _SHOWN[:1]:
        parts += [f"### {TABLES[name]}: perfect calibration, averaged over sizes", wide(by_table[name])]
    parts += [
        f"### {TABLES['p_risk_extremes']}: extremes of P_risk by profile",
        f"For each mode, the distribution of the largest and of the smallest mean P_risk. In {same} of "
        f"{len(made.extremes)} rows the printed distribution is the extreme one, or shares the extreme, in at least 1% "
        "of tables of 100 repetitions drawn from ours; the last column says in how many.",
        _extremes(made.extremes),
        f"### {TABLES['perfect_by_size']}: perfect calibration by size",
        wide(by_table["perfect_by_size"]),
        f"### {TABLES['modes']}: all modes, N = 1,000",
        wide(by_table["modes"]),
        f"### {TABLES['cwauc_counts']}: distributions with cwAUC above and below AUC",
        f"The paper prints one run; ours is the mean of {runs}. Areas that differ by rounding only are equal.",
        wide(by_table["cwauc_counts"]),
        f"### {TABLES['cwauc_synthetic']}: cwA and cwAUC under perfect calibration",
        "The class that is not predicted has the score min(c, 1 - c), as the printed numbers show; areas are the mean "
        f"of both classes. Our column is the mean of {runs} runs.",
        wide(by_table["cwauc_synthetic"]),
    ]
    return parts


def _repetitions(made: Synthetic) -> str:
    """How often each size was simulated: most of them so often, the others named."""
    often = {size: len(next(iter(results.values()))["acc"]) for size, results in made.by_size.items()}
    usual = max(often.values())
    others = " and ".join(f"{count:,} at N = {size:,}" for size, count in often.items() if count != usual)
    return f"{usual:,} repetitions" + (f" ({others})" if others else "")


def _kinds(by_table: dict[str, list[Cell]]) -> str:
    rows = []
    for name in ("perfect_by_size", "modes", "cwauc_counts", "cwauc_synthetic"):
        own = [one for one in by_table[name] if not one.again]
        for kind in dict.fromkeys(one.kind for one in own):
            of_kind = [one for one in own if one.kind == kind]
            rows.append([TABLES[name], kind, str(len(of_kind)), str(sum(one.agrees for one in of_kind))])
    return markdown_table(("table", "numbers", "printed", "agree"), rows, words=2)


def _outside(cells: Sequence[Cell]) -> str:
    rows = (
        [TABLES[c.table], row_name(c.row), HEADS[c.quantity], c.kind, f"{c.printed:g}", number(c.ours)] for c in cells
    )
    return markdown_table(("table", "row", "quantity", "rule", "printed", "ours"), rows, words=4)


def _extremes(extremes: Sequence[Extreme]) -> str:
    heads = (
        "extreme",
        "mode",
        "printed",
        "ours",
        *(HEADS[name] for name in ("over_1_sigma", "over_3_sigma", "p_risk")),
        "shared by",
    )
    rows = []
    for one in extremes:
        names = [PROFILES[name].title for name in (one.printed, one.ours)]
        pairs = [f"{number(printed)} / {number(ours)}" for printed, ours in one.values]
        share = f"{one.share:.0%}"
        rows.append(
            [one.extreme, MODES[one.mode].title, *names, *pairs, share if one.share >= _NOT_RARE else f"**{share}**"]
        )
    return markdown_table(heads, rows, words=4)


def wide(cells: Sequence[Cell]) -> str:
    """Rows as in the paper, printed / ours in each cell; what does not agree is bold, infinite variance italic."""
    rows: dict[tuple[str, ...], dict[str, Cell]] = defaultdict(dict)
    for one in cells:
        rows[one.row][one.quantity] = one
    columns = list(dict.fromkeys(one.quantity for one in cells))
    table = ([row_name(row), *(_pair(own.get(name)) for name in columns)] for row, own in rows.items())
    return markdown_table(["printed / ours", *(HEADS[name] for name in columns)], table)


def _pair(one: Cell | None) -> str:
    if one is None:
        return ""
    text = f"{number(one.printed)} / {number(one.ours)}"
    return f"**{text}**" if not one.agrees else f"*{text}*" if one.kind == "infinite variance" else text


def claims_table(claims: Sequence[Claim]) -> str:
    """What the text says, the verdict, and the figures on both sides."""
    rows = ([one.text, one.verdict, one.printed, one.ours] for one in claims)
    return markdown_table(("the text says", "verdict", "the paper's tables", "ours"), rows, words=4)


def number(value: float) -> str:
    """Four digits, or a power of ten."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.2e}"
