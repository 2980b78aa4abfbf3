"""A browser without a window, for the tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


def skip_without_browser() -> None:
    """Skip the module; with CI set, absence is a failure: there .ci/run installs the browser."""
    if not (CHROMIUM and DRIVER) and not os.environ.get("CI"):
        pytest.skip("no Chromium and chromedriver here", allow_module_level=True)


def open_browser() -> Iterator[Any]:
    """Start it, and end it when the tests are done."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
