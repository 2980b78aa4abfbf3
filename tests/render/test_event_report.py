"""The report of an event and of classes, in every state that data can be in; and one number in every medium."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from event_sets import SETS, assessed, assessed_classes, classes, event
from test_report import read
from test_same_numbers import in_card, in_markdown, in_text, plain

import surefoot as sf
from surefoot.figures.labels import typeset
from surefoot.render import wording
from surefoot.render.html import report
from surefoot.render.main_numbers import sections

RNG = np.random.default_rng(0)

CASES = {
    "one row": event(((0.3, 1, 1),)),
    "one row, no event": event(((0.3, 1, 0),)),
    "all predictions equal": event(((0.4, 100, 50),)),
    "none expected": event(((0.0, 50, 0),)),
    "certain and right": event(((0.0, 30, 0), (1.0, 30, 30))),
    "certain and wrong": event(((0.0, 30, 3), (0.4, 30, 12), (1.0, 30, 29))),
    "no events": event(((0.1, 200, 0), (0.3, 200, 0))),
    "events only": event(((0.1, 20, 20), (0.9, 20, 20))),
    "tinier": event(((1e-20, 500, 0), (1e-6, 500, 1), (0.01, 500, 4))),
    "tiny": event(((1e-9, 500, 0), (1e-6, 500, 1), (0.01, 500, 4))),
    "unequal weights": event(SETS["overpredicts"], sample_weight=np.arange(1010.0)),
    "many probabilities": sf.Predictions.from_probabilities(
        (RNG.random(300) < 0.3).astype(int), RNG.beta(1, 3, 300), of="event"
    ),
}
MANY = {
    "three classes": classes(300, 3),
    "one row": classes(1, 3),
    "hundred classes": classes(300, 100),
    "weights": sf.Predictions.from_probabilities(
        ["a", "b", "c"] * 30, RNG.dirichlet(np.ones(3), 90), sample_weight=RNG.random(90), of="classes"
    ),
}


def check(a: sf.Assessment, path: Path) -> str:
    """A whole page without odd values, and the other media too; return the page."""
    a.to_html(path)
    page = path.read_text()
    found = read(page)
    assert found.scripts == 1
    assert len(page.encode()) < 1_500_000
    text = " ".join(found.words)
    for odd in (r"\bnan\b", r"\binf\b", r"\bNone\b", r"\{\{", r"e[+-]\d\d"):
        assert not re.search(odd, text), odd
    for medium in (str(a), a.summary(), a.to_markdown(), a._repr_html_(), a.risk._repr_html_(), repr(a)):
        assert not re.search(r"\bnan\b|\bNone\b", medium)
    json.loads(a.to_json())
    return page


@pytest.mark.parametrize("by", [None, "column", "truth"])
@pytest.mark.parametrize("name", CASES)
def test_every_state_of_an_event_has_a_whole_page(name: str, by: str | None, tmp_path: Path) -> None:
    p = CASES[name]
    sliced = np.arange(len(p)) % 3 if by == "column" else by
    page = check(sf.assess(p, by=sliced), tmp_path / "r.html")
    assert ('id="slices"' in page) == (by is not None)
    assert page.count("<figure") >= 2


@pytest.mark.parametrize("name", MANY)
def test_every_state_of_classes_has_a_whole_page(name: str, tmp_path: Path) -> None:
    p = MANY[name]
    page = check(sf.assess(p), tmp_path / "r.html")
    shown = min(12, len(p.labels or ()))
    assert len(re.findall(r'<figure id="class\d+"', page)) == shown
    if name == "hundred classes":
        assert "The 12 worst; 88 classes are not shown." in page


@pytest.mark.parametrize("p", [CASES["many probabilities"], MANY["three classes"]], ids=["event", "classes"])
def test_a_tally_has_a_page_too(p: sf.Predictions, tmp_path: Path) -> None:
    page = check(sf.assess(sf.tally(p)), tmp_path / "r.html")
    assert "curve is smoothed" not in page
    assert "curve is smoothed" in report(sf.assess(p))
    if p.view == "event":
        assert "The decision curve is not available for this input: it needs the rows, not a tally." in page


def test_a_million_rows_in_a_tally(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 20, 1_000_000)
    kept = sf.tally(sf.Predictions.from_probabilities((rng.random(len(p)) < p).astype(int), p, of="event"))
    a = sf.assess(kept)
    page = check(a, tmp_path / "r.html")
    assert a.verdict == "no evidence against calibration"
    assert f"Expected {p.sum():,.0f} events" in page


#: The code of each number in the table of all indicators, and its card.
CODES = {
    "O/E": "oe_ratio",
    "difference": "overstatement",
    "p-value": "pvalue_omnibus",
    "in the large": "calibration_in_the_large",
    "intercept": "calibration_intercept",
    "slope": "calibration_slope",
    "ICI": "ici",
    "E50": "e50",
    "E90": "e90",
    "Emax": "emax",
    "ECE": "ece",
    "Hosmer-Lemeshow": "hosmer_lemeshow",
    "Spiegelhalter z": "spiegelhalter_z",
    "C-statistic (AUC)": "auc",
    "Brier": "brier",
    "scaled Brier": "scaled_brier",
    "log loss": "log_loss",
    "net benefit": "net_benefit",
}
CARDS = {
    "O/E": "Observed / expected events",
    "slope": "Calibration slope",
    "difference": "Mean predicted minus observed",
    "Brier": "Brier score",
}


def in_report(page: str, name: str) -> set[str]:
    row = re.search(rf"<code>{CODES[name]}</code></td><td class=\"n\"[^>]*>([^<]*)</td>", page)
    top = page.partition('id="where"')[0]
    card = CARDS.get(name, name)
    big = re.search(rf"<h2>{re.escape(card)}</h2><p class=\"big[^\"]*\">([^<]*)</p>", top)
    small = re.search(rf"<dt>{re.escape(name)}</dt><dd>([^<]*)</dd>", top)
    assert row, name
    assert big or small, name
    return {plain(found[1]) for found in (row, big, small) if found}


@pytest.mark.parametrize("name", [*SETS, "classes"])
def test_each_number_reads_alike_wherever_it_stands(name: str) -> None:
    a = assessed_classes() if name == "classes" else assessed(name)
    page, text, md, card = report(a), str(a), a.to_markdown(), a._repr_html_()
    shown = {number.name: number.value for numbers in sections(a).values() for number in numbers}
    assert set(shown) <= set(CODES)
    assert name == "classes" or set(shown) == set(CODES)
    for one, value in shown.items():
        found = {plain(typeset(value)), in_text(text, one), in_markdown(md, one), in_card(card, one)}
        assert len(found | in_report(page, one)) == 1, (one, found, in_report(page, one))


def test_the_numbers_are_those_of_the_metrics() -> None:
    a = assessed("overpredicts")
    shown = {number.name: number.value for numbers in sections(a).values() for number in numbers}
    # 118 / 273; every other number is told by the metric of its name
    assert shown["O/E"] == "0.432"
    for name in ("slope", "in the large", "intercept"):
        assert float(shown[name]) == pytest.approx(a[CODES[name]], rel=5e-3)
    for name in ("Brier", "ICI", "Emax", "C-statistic (AUC)", "net benefit"):
        assert float(shown[name]) == pytest.approx(a[CODES[name]], abs=5e-5)
    words = " ".join(a.summary().split())
    assert f"calibration slope {shown['slope']}, C-statistic (AUC) {shown['C-statistic (AUC)']}" in words


def test_a_metric_that_was_not_computed_is_not_shown() -> None:
    a = sf.assess(event(SETS["overpredicts"]), metrics=("brier",))
    names = {number.name for numbers in sections(a).values() for number in numbers}
    assert {"O/E", "Brier", "p-value"} <= names
    assert not names & {"E50", "Hosmer-Lemeshow", "net benefit"}
    assert "Hosmer" not in str(a)


def test_the_report_speaks_of_the_event() -> None:
    page = report(assessed("overpredicts"))
    top = html.unescape(re.sub(r"<[^>]+>", " ", page.partition("</style>")[2].partition('id="indicators"')[0]))
    assert "Event: died" in top
    assert not re.search(r"\bconfidences?\b|\baccuracy\b|\bCSR\b|\boverconfident", top)
    assert "fewer events than predicted" in top
    # all three bins are below the line
    assert "In 3 bins of 3, fewer events than predicted" in top
    assert "Low risks are too low and high risks too high" in report(assessed("too extreme"))


def test_names_from_outside_are_escaped() -> None:
    evil = "<script>alert(1)</script>"
    truth, p = np.array([evil, "no"] * 60), np.tile([0.7, 0.2], 60)
    a = sf.assess(truth, p, labels=["no", evil], of="event", pos_label=evil, by=truth)
    c = sf.assess(truth, np.column_stack([1 - p, p]), labels=["no", evil], of="classes")
    for one in (a, c):
        assert "<script>alert" not in report(one)
        assert "<script>alert" not in one._repr_html_()
        assert "<script>" not in one.to_markdown()


def test_the_table_of_classes_holds_every_column_of_the_text() -> None:
    a = assessed_classes()
    page = report(a)
    table = page.partition('id="slices"')[2]
    for title in ("Class", "Expected", "Observed", "O/E", "95% CI", "Verdict", "p, adjusted"):
        assert title in table
    assert wording.slice_title(a) in html.unescape(page)
    assert table.count('class="pick"') == 15


def test_the_key_names_the_mark_of_bins_with_events_only() -> None:
    page = report(sf.assess(event(((0.02, 200, 0), (0.5, 100, 50), (0.98, 200, 200)))))
    key = re.search(r'<p class="key".*?</p>', page, re.DOTALL)
    assert key
    assert "all events: limit at 95%" in key[0]
    assert "no event: limit at 95%" in key[0]


def test_bars_stay_inside_of_the_axis() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(0.05, 2, 3000).clip(1e-9, 1 - 1e-9)
    page = report(sf.assess(y_true=(rng.random(3000) < p).astype(int), probabilities=p, of="event"))
    bars = re.findall(r'<rect x="([-\d.]+)%" width="([\d.]+)%"[^>]*class="bar"', page)
    assert bars
    assert all(float(x) >= 0 and float(x) + float(wide) <= 100.01 for x, wide in bars)


def brier_intervals(page: str) -> list[str]:
    """The intervals of the Brier score: of the card in large type, and of the table of its parts."""
    text = " ".join(" ".join(read(page).words).split())
    (card,) = re.findall(r"Brier score (?:−?[\d.]+) 95% CI ([\d.]+ to [\d.]+);", text)
    (row,) = re.findall(r"Brier score [\d.]+ ([\d.]+ to [\d.]+|—) the sum", text)
    return [card, row]


@pytest.mark.parametrize("grouped", [False, True])
def test_a_page_has_one_interval_of_the_brier_score(grouped: bool) -> None:
    rng = np.random.default_rng(3)
    risk = rng.beta(2, 3, 60)
    p, y = np.repeat(risk, 10), np.repeat(rng.random(60) < risk, 10)
    groups = np.repeat(np.arange(60), 10)
    a = sf.assess(y, p, of="event", groups=groups if grouped else None)
    page = report(a)
    assert len(set(brier_intervals(page))) == 1
    assert ("not known for rows that belong together" in page) == grouped
    assert ("±1.96 for 95% of calibrated models" in page) == (not grouped)
    assert ("±1.96" in str(a) and "which these are not" in " ".join(str(a).split())) == grouped
