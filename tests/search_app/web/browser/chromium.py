"""Debian's Chromium, without which the tests of the browser skip and say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
in_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is missing: install chromium"),
]


def device(page: Page, url: str) -> None:
    """Open the page of the device; its script is ready some time after the page has loaded."""
    page.goto(url)
    page.locator("#here").wait_for()


def take(page: Page, text: str) -> None:
    """Have the page of the device take a profile."""
    page.locator("#more").fill(text)
    page.get_by_role("button", name="Add", exact=True).click()


def search(page: Page, query: str) -> None:
    """Search there, and wait until the answer is shown: the panel then has a request more."""
    before = page.locator("#seen pre").count()
    page.locator("#q").fill(query)
    page.locator("#q").press("Enter")
    page.locator("#seen pre").nth(before).wait_for()
