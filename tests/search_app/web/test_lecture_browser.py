"""The lecture in a real browser: one key for the next, all of it on a projector's page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from search_app.prepared import Lecture, Search
from search_app.web import Site, create_app

from .chromium import in_browser

SEARCHES = (Search("java", "1001"), Search("java beans", "1002"), Search("java code", "1003"))

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


def test_keys_hide_and_show_which_is_which(page: Page, address: str) -> None:
    page.goto(f"{address}/lecture/1")
    page.keyboard.press("b")
    page.wait_for_url("**/lecture/1?blind=1")
    heads = page.locator(".lane h2").all_inner_texts()
    assert heads == ["A", "B", "C"]
    documents = page.locator(".hits").all_inner_texts()
    page.keyboard.press("r")
    page.wait_for_url("**/lecture/1?blind=1&reveal=1")
    assert {head[1:] for head in page.locator(".lane h2").all_inner_texts()} == {
        "Plain",
        "My own profile",
        "My group",
    }
    shown = page.locator(".hits").all_inner_texts()
    first = [text.split("\n")[1] for text in shown]
    assert first == [text.split("\n")[1] for text in documents]
    page.keyboard.press("b")
    page.wait_for_url("**/lecture/1")


@pytest.mark.parametrize("look", ["", "?blind=1", "?blind=1&reveal=1"])
def test_a_projector_shows_all_of_it(page: Page, address: str, look: str) -> None:
    page.goto(f"{address}/lecture/1{look}")
    assert page.evaluate("document.documentElement.scrollHeight") <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    assert page.locator(".hit h3").first.evaluate(size) >= 22
    assert page.locator(".hit .snippet").first.evaluate(size) >= 17


def test_without_script_the_links_do_the_same(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/lecture")
    page.get_by_role("link", name="Begin").click()
    page.get_by_role("link", name="Next search").click()
    assert page.url.endswith("/lecture/2")
    page.get_by_role("link", name="Blind").click()
    page.get_by_role("link", name="Show which is which").click()
    assert page.locator(".lane h2 .name").count() == 3
    context.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_blind_and_open_comparisons_fit(browser: Browser, address: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    for path in ("/compare?q=java&user=1001&blind=1", "/lecture", "/lecture/2"):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()
