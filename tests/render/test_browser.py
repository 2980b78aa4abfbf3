# ruff: noqa: E501 (scripts for the browser are long lines)
"""The report in a real browser: no error, no request, hover and sort and slices, dark and on paper."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import open_browser, skip_without_browser

import surefoot as sf

pytestmark = pytest.mark.heavy

skip_without_browser()

NAMES = ["airplane", "automobile", "bird", "<script>alert(1)</script>", "deer", "dog"]


def assessed() -> sf.Assessment:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(6) * 0.08, 3000)
    truth = np.array([rng.choice(6, p=row) for row in p])
    sharp = p**1.6 / (p**1.6).sum(axis=1, keepdims=True)
    predictions = sf.Predictions.from_probabilities(np.array(NAMES)[truth], sharp, labels=NAMES)
    return sf.assess(predictions, by="predicted")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assessed().to_html(path)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from open_browser()


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    browser.get_log("performance")
    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    )
    browser.set_window_size(1400, 1000)
    browser.get(page.as_uri())
    return browser


def visible(browser: Any, selector: str) -> list[Any]:
    return [e for e in browser.find_elements("css selector", selector) if e.is_displayed()]


def test_no_error_and_no_request_but_the_file_itself(opened: Any) -> None:
    requests = [
        message["params"]["request"]["url"]
        for entry in opened.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
    ]
    assert all(url.startswith(("file://", "data:")) for url in requests)
    assert sum(url.startswith("file://") for url in requests) == 1
    assert opened.get_log("browser") == []


def test_hover_says_what_the_table_says(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    point = visible(opened, "#doubt .layer[data-slice=all] .pt")[2]
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(opened).move_to_element(point.find_element("css selector", ".hit")).perform()
    tip = opened.find_element("id", "tip")
    assert tip.is_displayed()
    row = opened.execute_script(
        "return [...document.querySelectorAll('#doubt tbody[data-slice=all] tr')[2].cells].map(c => c.textContent)"
    )
    shown = [cell.text for cell in tip.find_elements("css selector", "td")]
    assert shown == row


def test_the_keyboard_reaches_every_point(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    plot = opened.find_element("css selector", "#reliability .plot")
    opened.execute_script("arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_RIGHT)
    plot.send_keys(Keys.ARROW_RIGHT)
    spoken = opened.execute_script("return document.getElementById('live').textContent")
    assert re.match(r"Confidence: .*, Rows: ", spoken)
    plot.send_keys(Keys.ESCAPE)
    assert not opened.find_element("id", "tip").is_displayed()


def test_tables_sort_by_number_both_ways(opened: Any) -> None:
    head = opened.find_element("css selector", "#slices th:nth-child(2) button")
    for order in (1, -1):
        opened.execute_script("arguments[0].click()", head)
        rows = opened.execute_script(
            "return [...document.querySelectorAll('#slices tbody tr')].map(r => +r.cells[1].textContent.replace(/,/g, ''))"
        )
        assert rows == sorted(rows, key=lambda n: order * n)
    assert len(rows) == 6


def test_a_slice_can_be_picked_and_its_own_numbers_are_shown(opened: Any) -> None:
    from selenium.webdriver.support.ui import Select

    a = assessed()
    part = next(p for p in a.slices if p.value == "dog")
    picker = Select(opened.find_element("id", "slice"))
    picker.select_by_visible_text("dog")
    said = next(e.text for e in visible(opened, "#said span"))
    assert said.startswith(f"{part.risk.n:,} rows")
    layers = opened.execute_script(
        "return [...document.querySelectorAll('#reliability .plot > svg:first-child .layer')]"
        ".filter(l => !l.hasAttribute('hidden') && !l.classList.contains('ghost')).map(l => l.querySelectorAll('.pt').length)"
    )
    assert layers == [len(part.reliability)]
    assert opened.find_element("css selector", "#reliability h3").text == "Reliability: dog"
    assert opened.execute_script("return document.querySelectorAll('.ghost').length") == 2
    rows = [row.text for row in visible(opened, "#rows tbody tr")]
    assert all(row.split()[2].startswith("dog") for row in rows)
    picker.select_by_value("all")
    assert "Reliability: dog" not in opened.find_element("css selector", "#reliability h3").text


def test_a_class_called_script_is_text(opened: Any) -> None:
    assert "<script>alert(1)</script>" in [b.text for b in opened.find_elements("css selector", ".pick")]
    assert opened.execute_script("return document.scripts.length") == 1


def luminance(colour: str) -> float:
    channels = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_legible_in_both_themes(theme: str, opened: Any) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )
    back = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (luminance(back) < 0.1) == (theme == "dark")
    colours = opened.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, p, td, th, dt, dd, .big, svg text')]"
        ".filter(e => e.textContent.trim()).map(e => e instanceof SVGElement ? getComputedStyle(e).fill : getComputedStyle(e).color)"
    )
    for colour in set(colours):
        light, dark = sorted([luminance(colour), luminance(back)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_the_reader_s_choice_of_theme_stands_above_the_system_s(opened: Any) -> None:
    opened.find_element("id", "theme").click()
    assert luminance(opened.execute_script("return getComputedStyle(document.body).backgroundColor")) < 0.1


def test_narrow_screens_do_not_scroll_sideways(opened: Any) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        wide = opened.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 360
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_has_one_h1_and_an_alt_for_every_figure_and_a_table_behind_it(opened: Any) -> None:
    counts = opened.execute_script(
        "return [document.querySelectorAll('h1').length, document.querySelectorAll('figure').length,"
        " document.querySelectorAll('figure svg[role=img][aria-label]').length, document.querySelectorAll('figure details table').length]"
    )
    assert counts[0] == 1
    assert counts[1] == counts[3] >= 4
    assert counts[2] >= counts[1]


def test_paper_gets_whole_pages(opened: Any, tmp_path: Path) -> None:
    printed = opened.execute_cdp_cmd(
        "Page.printToPDF", {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69}
    )
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(base64.b64decode(printed["data"]))
    assert pdf.read_bytes().startswith(b"%PDF")
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    pages = text.split("\f")[:-1]
    assert 4 <= len(pages) <= 14
    # the first page is the verdict alone; none is empty; what a reader clicks is gone
    assert "overconfident" in pages[0]
    assert "Reliability" not in pages[0]
    assert all(len(one.split()) > 10 for one in pages)
    assert "Table behind this figure" not in text
    assert "Rows shown" not in text


def test_without_script_all_is_there(page: Path, tmp_path: Path) -> None:
    plain = re.sub(r"<script>.*</script>", "", page.read_text(), flags=re.S)
    assert "Do not take these confidences" in plain
    assert plain.count("<figure") >= 4


@pytest.mark.parametrize("kind", ["correctness", "tally", "infinite", "comparison"])
def test_other_pages_have_no_error_either(kind: str, browser: Any, tmp_path: Path) -> None:
    p = sf.Predictions.from_correct([True, True, False] * 40, [0.9, 0.8, 0.7] * 40)
    path = tmp_path / "r.html"
    if kind == "comparison":
        sf.compare({"<b>": p, "other": p}).to_html(path)
    elif kind == "tally":
        sf.assess(sf.tally(p)).to_html(path)
    elif kind == "infinite":
        sf.assess(sf.Predictions.from_correct([True, False] * 9, [1.0, 1.0] * 9)).to_html(path)
    else:
        sf.assess(p).to_html(path)
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    if kind != "comparison":
        assert browser.find_element("id", "slice").is_displayed()
