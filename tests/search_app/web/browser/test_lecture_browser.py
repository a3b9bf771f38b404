"""The lecture in a real browser: one key for the next, all of it on a projector's page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from search_app.web import Site, create_app
from search_app.workspace.lecture import Lecture, PreparedSearch

from .chromium import in_browser

SEARCHES = (
    PreparedSearch("java", "1001"),
    PreparedSearch("java beans", "1002"),
    PreparedSearch("java code", "1003"),
)

pytestmark = in_browser


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(replace(site, prepared=lambda: Lecture(SEARCHES)))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("onwards", "back"), [("n", "p"), ("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")]
)
def test_one_key_for_the_next(page: Page, address: str, onwards: str, back: str) -> None:
    page.goto(f"{address}/lecture")
    for number in (1, 2, 3):
        page.keyboard.press(onwards)
        page.wait_for_url(f"**/lecture/{number}")
    page.keyboard.press(onwards)  # the last one stays
    page.keyboard.press(back)
    page.wait_for_url("**/lecture/2")


@pytest.mark.parametrize("look", ["", "?blind=1", "?blind=1&reveal=1"])
def test_a_projector_shows_all_of_it(page: Page, address: str, look: str) -> None:
    page.goto(f"{address}/lecture/1{look}")
    assert page.evaluate("document.documentElement.scrollHeight") <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    assert page.locator(".hit h3").first.evaluate(size) >= 22
    assert page.locator(".hit .snippet").first.evaluate(size) >= 17
