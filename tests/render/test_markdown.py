"""Markdown of an assessment and a comparison, and what a notebook shows of comparisons and calibrations."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from looked_at import KINDS, assessed, predictions

import surefoot as sf
from surefoot.render import markdown


class Balanced(HTMLParser):
    """Every element that is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table."""
    found = re.findall(r"(?:^\|.*\|$\n?)+", text, re.M)
    split = re.compile(r"(?<!\\)\|")
    return [[[cell.strip() for cell in split.split(line)[1:-1]] for line in one.splitlines()] for one in found]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_whole(kind: str) -> None:
    a = assessed(kind, 2000)
    text = a.to_markdown()
    assert text.startswith("## ▼ Strongly overconfident\n")
    for table in tables(text):
        assert len({len(row) for row in table}) == 1
        assert all(re.fullmatch(r"---:?", cell) for cell in table[1])
    names = [row[0] for row in tables(text)[0]]
    assert {"O/E", "overstatement", "p-value", "CSR", "accuracy", "ECE", "Brier", "log loss"} <= set(names)
    assert not re.search(r"\bnan\b|\bNone\b|e[+-]\d\d", text)
    assert f"surefoot {sf.__version__}" in text.splitlines()[-1]


def test_slices_are_shown_worst_first_and_twenty_of_them() -> None:
    a = assessed("hundred", 20_000)
    text = a.to_markdown()
    (slices,) = (table for table in tables(text) if "p, adjusted" in table[0])
    assert len(slices) == 22
    assert "... and 80 more." in text
    assert [row[0] for row in slices[2:]] == ["▼"] * 20


def test_names_from_outside_are_text() -> None:
    p = sf.Predictions.from_correct([True, False] * 100, [0.9, 0.8] * 100)
    a = sf.assess(p, by=np.array(["a|b", "<b>*x*</b>"] * 100))
    text = replace(a, source="<i>.csv").to_markdown()
    assert r"a\|b" in text
    assert "<b>" not in text
    assert "<i>" not in text
    assert r"\*x\*" in text


def test_a_comparison_in_markdown_and_in_a_notebook() -> None:
    c = sf.compare({"calm": predictions("ten", 2000, is_over=False), "<bold>": predictions("ten", 2000)})
    text = markdown.render_comparison(c)
    assert text.startswith("## &lt;bold> is riskier than calm")
    side, apart = tables(text)
    assert side[0] == ["", "calm", "&lt;bold>"]
    assert {"ECE", "Brier", "log loss"} <= {row[0] for row in side}
    assert {row[1] for row in apart[2:]} >= {"O/E", "Brier", "log loss"}
    card = Balanced(c._repr_html_())
    words = " ".join(card.words)
    assert "<bold> is riskier than calm" in words
    for row in side[2:]:
        assert row[0] in card.words


def test_a_calibration_in_a_notebook() -> None:
    p = predictions("ten", 1500).rows()
    found = sf.calibrate(p.truth, p.probabilities)
    card = Balanced(found._repr_html_())
    words = " ".join(card.words)
    assert f"Recommended: {found.recommended}" in words
    assert all(name in words for name in found.trials)
    assert "overconfident" in words
