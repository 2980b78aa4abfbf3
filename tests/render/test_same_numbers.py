"""The same number is the same number everywhere: in text, Markdown, notebook and report."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from looked_at import assessed

import surefoot as sf
from surefoot.figures.labels import typeset
from surefoot.render import markdown
from surefoot.render.html import report
from surefoot.render.main_numbers import sections

#: By name, the code of its row in the table of all indicators, and the card on the first screen of the report.
NAMES = {
    "O/E": ("oe_ratio", "Observed / expected errors"),
    "overstatement": ("overstatement", "Overstatement"),
    "p-value": ("pvalue_omnibus", "p-value"),
    "CSR": ("csr", "Size ratio (CSR)"),
    "deflation": ("deflation", "Deflation"),
    "accuracy": ("accuracy", "Accuracy"),
    "AUC": ("auc", "AUC"),
    "ECE": ("ece", "ECE"),
    "Brier": ("brier", "Brier"),
    "log loss": ("log_loss", "log loss"),
}


def plain(text: str) -> str:
    """As it would be without typesetting."""
    return html.unescape(text).replace("\u00a0", " ").removesuffix(" points").removesuffix(" point")


def in_report(page: str, name: str) -> set[str]:
    code, card = NAMES[name]
    row = re.search(rf"<code>{code}</code></td><td class=\"n\"[^>]*>([^<]*)</td>", page)
    big = re.search(rf"<h2>{re.escape(card)}</h2><p class=\"big[^\"]*\">([^<]*)</p>", page)
    small = re.search(rf"<dt>{re.escape(card)}[^<]*</dt><dd>([^<]*)</dd>", page.partition('id="where"')[0])
    assert row
    assert big or small
    return {plain(found[1]) for found in (row, big, small) if found}


def in_text(text: str, name: str) -> str:
    found = re.search(rf"^    {re.escape(name)} +((?:[<>] )?\S+)", text, re.M)
    assert found
    return plain(typeset(found[1]).replace("inf", "∞"))


def in_markdown(text: str, name: str) -> str:
    found = re.search(rf"^\| {re.escape(name)} \| \*\*([^*]+)\*\*", text, re.M)
    assert found
    return plain(found[1])


def in_card(card: str, name: str) -> str:
    found = re.search(rf">{re.escape(name)}</th><td[^>]*>([^<]*)</td>", card)
    assert found
    return plain(found[1])


@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize(("kind", "rows"), [("ten", 3000), ("binary", 40), ("verbalised", 3000)])
def test_each_number_reads_alike_wherever_it_stands(kind: str, rows: int, is_over: bool) -> None:
    a = assessed(kind, rows, is_over=is_over)
    page, text, md, card = report(a), str(a), markdown.render(a), a._repr_html_()
    shown = {number.name: number.value for numbers in sections(a).values() for number in numbers}
    for name in NAMES:
        if name in shown:
            found = {plain(typeset(shown[name])), in_text(text, name), in_markdown(md, name), in_card(card, name)}
            assert len(found | in_report(page, name)) == 1, (name, found, in_report(page, name))
    assert {"ECE", "Brier", "log loss"} <= set(shown)


def test_the_sentence_says_the_same_ratio_and_points() -> None:
    a = assessed("ten", 3000)
    shown = {number.name: number.value for number in sections(a)["Risk"]}
    text = " ".join(str(a).split())
    assert f"({shown['O/E']} times as many" in text
    assert f"confidence is {shown['overstatement']} point" in text


def test_in_a_mixed_verdict_the_p_value_is_that_of_the_deciding_side_everywhere() -> None:
    rng = np.random.default_rng(0)
    sure, unsure = rng.uniform(0.99, 0.9999, 2000), rng.uniform(0.5, 0.75, 2000)
    correct = np.append(rng.random(2000) < 0.955, rng.random(2000) < unsure + 0.1)
    a = sf.assess(correct=correct, confidence=np.append(sure, unsure))
    assert a.verdict == "mixed"
    assert in_report(report(a), "p-value") == {in_card(a._repr_html_(), "p-value")}


def test_the_summary_says_the_same() -> None:
    a = assessed("ten", 3000)
    shown = {number.name: number.value for numbers in sections(a).values() for number in numbers}
    words = " ".join(a.summary().split())
    for name in ("accuracy", "ECE", "Brier", "log loss", "AUC"):
        assert f"{name} {shown[name]}" in words
