"""The report and the comparison, looked at by a browser: no words overlap in a figure, nothing is cut or too wide.

For binary, 10-class, 100-class and verbalised data, few rows and many, calibrated and overconfident; on a wide screen,
a phone, in both themes and on paper.
"""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import open_browser, skip_without_browser
from event_sets import SETS, assessed_classes
from event_sets import assessed as counted
from looked_at import KINDS, assessed, predictions

import surefoot as sf

pytestmark = pytest.mark.heavy
skip_without_browser()

WIDTHS = (1200, 910, 390, 360)

#: The texts of each figure that cover another text of it by more than a pixel, or reach out of the page.
OVERLAPS = """
const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden';
const found = [];
for (const svg of document.querySelectorAll('svg.chart')) {
  const texts = [...svg.querySelectorAll('text')].filter(seen).map(e => [e.textContent, e.getBoundingClientRect()]);
  for (const [words, box] of texts) {
    if (box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5) found.push(['cut', words]);
  }
  texts.forEach(([one, a], i) => texts.slice(0, i).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    // boxes are as high as a line, of which letters fill the middle
    if (wide > 1 && high > 3) found.push([one, other]);
  }));
}
return found;
"""
#: Cells and words outside of charts that are wider than what holds them, but for what scrolls by itself.
TOO_WIDE = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const cut = [...document.querySelectorAll('h1, h2, h3, p, dt, dd, pre, summary, .big')]
  .filter(e => e.getClientRects().length && !e.closest('.sr') && !e.matches('.sr') && e.id !== 'tip')
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.textContent.slice(0, 60));
return [wide, cut];
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from open_browser()


def look(browser: Any, path: Path, width: int, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(path.as_uri())


def check(browser: Any, path: Path) -> None:
    """At every width and in both themes, with all tables unfolded."""
    for width in WIDTHS:
        theme = "dark" if width in (910, 390) else "light"
        look(browser, path, width, theme)
        assert browser.execute_script(OVERLAPS) == [], width
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        wide, cut = browser.execute_script(TOO_WIDE)
        assert wide <= 0, width
        assert cut == [], width
    # of every slice that can be picked, the first few
    look(browser, path, 390, "light")
    for value in browser.execute_script("return [...document.querySelectorAll('#slice option')].map(o => o.value)")[:6]:
        browser.execute_script(
            "const s = document.getElementById('slice'); s.value = arguments[0]; s.onchange()", value
        )
        assert browser.execute_script(OVERLAPS) == [], value


def print_page(browser: Any, path: Path, out: Path) -> str:
    """The text of the pages that are printed; words that are cut would be missing."""
    look(browser, path, 1200, "dark")
    paper = {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69}
    out.write_bytes(base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"]))
    return subprocess.run(["pdftotext", "-layout", str(out), "-"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("is_over", [True, False], ids=["overconfident", "calibrated"])
@pytest.mark.parametrize("rows", [40, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_report(kind: str, rows: int, is_over: bool, browser: Any, tmp_path: Path) -> None:
    a = assessed(kind, rows, is_over=is_over)
    path = tmp_path / "report.html"
    a.to_html(path)
    check(browser, path)
    text = print_page(browser, path, tmp_path / "report.pdf")
    # the whole verdict is on the first page
    assert "What to do next" in text.partition("\f")[0]
    assert f"surefoot {sf.__version__}" in text
    for title in re.findall(r"<h3[^>]*>([^<&]*)</h3>", path.read_text()):
        assert title.split()[0] in text
    pages = text.split("\f")[:-1]
    assert 3 <= len(pages) <= 16
    assert all(len(page.split()) > 5 for page in pages)


@pytest.mark.parametrize("name", [*SETS, "sliced", "rare", "classes", "hundred classes"])
def test_the_report_of_events(name: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    event_assessed(name).to_html(path)
    check(browser, path)
    text = print_page(browser, path, tmp_path / "report.pdf")
    assert "What to do next" in text.partition("\f")[0]
    for title in re.findall(r"<h3[^>]*>([^<&]*)</h3>", path.read_text()):
        assert title.split()[0] in text
    pages = text.split("\f")[:-1]
    assert 3 <= len(pages) <= 16
    assert all(len(page.split()) > 5 for page in pages)


def event_assessed(name: str) -> sf.Assessment:
    """One of the sets counted by hand, slices of a risk model, an event of one in a thousand, or classes."""
    if name in SETS:
        return counted(name)
    if name.endswith("classes"):
        return assessed_classes() if name == "classes" else assessed_classes(1000, 100, 1.6)
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 3000) if name == "sliced" else 10.0 ** rng.uniform(-6, -1, 3000)
    happened = np.where(rng.random(3000) < 0.6 * p, "died", "alive")
    site = np.array(["Oslo", "Rome", "a very long name of a hospital in a small town"])[np.arange(3000) % 3]
    return sf.assess(happened, p, of="event", pos_label="died", labels=["alive", "died"], by=site)


@pytest.mark.parametrize("rows", [40, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_acting_alone(kind: str, rows: int, browser: Any, tmp_path: Path) -> None:
    p = predictions(kind, rows, is_over=False)
    by = np.array(["north", "a name that is rather long for a region"])[np.arange(rows) % 2]
    for options in ({"error": 0.2, "refuse": 0.5}, {"error": 0.001}, {"cost_error": 9, "cost_review": 1, "by": by}):
        sf.act_alone(p, **options).to_html(tmp_path / "alone.html")
        check(browser, tmp_path / "alone.html")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [40, 20_000])
def test_the_comparison(kind: str, rows: int, browser: Any, tmp_path: Path) -> None:
    models = {"calibrated": predictions(kind, rows, is_over=False), "overconfident": predictions(kind, rows)}
    path = tmp_path / "compare.html"
    sf.compare(models).to_html(path)
    check(browser, path)
    text = print_page(browser, path, tmp_path / "compare.pdf")
    assert all(name in text for name in (*models, "log loss", "Differences"))
