"""The pages in a real browser: no error, no request to elsewhere, wide and narrow, light and dark, by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.browsing import open_browser, skip_without_browser
from tests.service.serving import database_of, sample

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from tests.service.sockets import LocalServer

pytestmark = pytest.mark.heavy

skip_without_browser()

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    folder: Path = tmp_path_factory.mktemp("pages")
    confidence, correct = sample(3_000, honest=0.9)
    with LocalServer(database_of(folder)) as made:
        for start in range(0, 3_000, 500):
            rows = range(start, start + 500)
            slices = ("DE", MARKUP, "US")
            made.ask(
                "/v1/models/fraud/3/predictions",
                [{"id": i, "confidence": float(confidence[i]), "slice": slices[i % 3]} for i in rows],
            )
            made.ask("/v1/models/fraud/3/labels", [{"id": i, "correct": bool(correct[i])} for i in rows if i < 2_900])
        made.ask("/v1/models/loans/2026-10/predictions", {"id": 1, "confidence": 0.9})
        yield made


@pytest.fixture(scope="module")
def browser(server: LocalServer) -> Iterator[Any]:
    for made in open_browser():
        made.get(address(server, f"/?token={server.token}"))
        yield made


def address(server: LocalServer, path: str) -> str:
    return f"http://127.0.0.1:{server.address[1]}{path}"


def look(browser: Any, server: LocalServer, path: str, *, scheme: str = "light", width: int = 1200) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(address(server, path))


def test_the_token_leaves_the_address_and_scripts_cannot_read_it(browser: Any, server: LocalServer) -> None:
    browser.get(address(server, f"/?token={server.token}"))
    assert browser.current_url == address(server, "/")
    assert browser.execute_script("return document.cookie") == ""
    assert "1 of 2 models needs a look" in browser.find_element("tag name", "h1").text


@pytest.mark.parametrize("path", ["/", "/models/fraud/3", "/models/loans/2026-10", "/v1/models/fraud/3/report"])
def test_no_error_and_no_request_to_elsewhere(browser: Any, server: LocalServer, path: str) -> None:
    browser.get_log("performance")
    browser.get_log("browser")
    look(browser, server, path)
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith("data:")] == [address(server, path)]
    assert browser.get_log("browser") == []


def test_names_are_shown_as_text(browser: Any, server: LocalServer) -> None:
    look(browser, server, "/models/fraud/3")
    assert MARKUP in browser.find_element("tag name", "main").text
    assert browser.find_elements("css selector", "img") == []
    assert browser.find_elements("css selector", "figure svg")


@pytest.mark.parametrize("path", ["/", "/models/fraud/3"])
def test_a_phone_shows_the_whole_width_in_either_light(browser: Any, server: LocalServer, path: str) -> None:
    backgrounds = set()
    for scheme in ("light", "dark"):
        look(browser, server, path, scheme=scheme, width=390)
        assert browser.execute_script("return document.documentElement.scrollWidth") == 390
        backgrounds.add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2


def test_a_model_is_reached_by_keyboard_and_what_has_the_focus_is_seen(browser: Any, server: LocalServer) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    look(browser, server, "/")
    names = []
    for _ in range(6):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        focused = browser.switch_to.active_element
        names.append(focused.text)
        assert focused.value_of_css_property("outline-style") != "none"
        if focused.text == "loans/2026-10":
            break
    assert {"fraud/3", "loans/2026-10"} <= set(names)
    focused.send_keys(Keys.ENTER)
    assert browser.current_url == address(server, "/models/loans/2026-10")
