"""The attacker's games in a real browser: on a projector's page, by keys, without script."""

from __future__ import annotations

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from flask import Flask
from playwright.sync_api import Browser, Page

from search_app.web import Site, create_app

from ...village import at_village
from .chromium import in_browser

ROUNDS = [
    f"/attack/{game}?{release}round={number}{answer}"
    for release in ("", "release=bound&")
    for game, answer in ((1, ""), (1, "&pick=2"), (2, ""), (2, "&ticks=1&tick=3&tick=5"))
    for number in (1, 2)
]

pytestmark = in_browser


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(at_village(site))


def test_rounds_fit_and_axe_finds_nothing(watched: Page, address: str) -> None:
    for path in ROUNDS:
        watched.goto(address + path)
        watched.evaluate(AXE_SCRIPT)
        for width, height, scheme in (
            (1280, 720, "light"),
            (768, 1024, "dark"),
            (400, 800, "dark"),
        ):
            watched.set_viewport_size({"width": width, "height": height})
            watched.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            wide, high = watched.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
            assert wide <= width, (path, width)
            assert high <= height or width < 1280, path
            if "round=1" in path and width != 768:  # others have the same tags and colours
                found = watched.evaluate("axe.run().then(out => out.violations.map(v => v.id))")
                assert found == [], (path, width)


def test_keys_choose_and_go_on(watched: Page, address: str) -> None:
    watched.goto(f"{address}/attack")
    watched.keyboard.press("n")
    watched.wait_for_url("**/attack/1")
    watched.keyboard.press("3")
    watched.wait_for_url("**/attack/1?pick=3")
    watched.keyboard.press("n")
    watched.wait_for_url("**/attack/1?round=2&played=1*")


def test_without_script_a_form_answers(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}/attack/2?release=bound&round=4")
    page.get_by_role("checkbox").nth(2).check()
    page.get_by_role("button", name="Answer").click()
    assert page.url.endswith("/attack/2?release=bound&round=4&tick=3&ticks=1")
    page.get_by_role("link", name="Next round").click()
    assert "/attack/2?release=bound&round=5&played=1&right=" in page.url
