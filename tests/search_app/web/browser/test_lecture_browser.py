"""The lecture in a real browser: one key for the next, each slide on a projector's page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from search_app.web import Site, create_app
from search_app.workspace.lecture import Lecture, PreparedSearch

from ...village import at_village
from ..conftest import ToyIndex
from .chromium import in_browser

SEARCHES = (
    PreparedSearch("java", "1001"),
    PreparedSearch("java beans", "1002"),
    PreparedSearch("java code", "1003"),
)

LONG = "java " * 60
LOOKS = ("", "?blind=1", "?blind=1&reveal=1")
pytestmark = in_browser


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(replace(site, prepared=lambda: Lecture(SEARCHES)))


@pytest.fixture
def page(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1280, "height": 720}).new_page()


@pytest.mark.parametrize(
    ("onwards", "back"), [("n", "p"), ("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")]
)
def test_one_key_for_the_next(page: Page, address: str, onwards: str, back: str) -> None:
    page.goto(f"{address}/lecture")
    for number in (0, 1, 2, 3):
        page.keyboard.press(onwards)
        page.wait_for_url(f"**/lecture/{number}")
    page.keyboard.press(onwards)  # the last one stays
    page.keyboard.press(back)
    page.wait_for_url("**/lecture/2")


def looked_at(page: Page, url: str, look: str) -> int:
    """Assert that a slide is no larger than a projector; return by how much it scrolls inside."""
    page.goto(f"{url}{look}")
    assert page.evaluate("document.documentElement.scrollHeight") <= 720, page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280, page.url
    slide = page.locator(".slide")
    return int(slide.evaluate("slide => slide.scrollHeight - slide.clientHeight"))


@pytest.mark.parametrize("look", LOOKS)
def test_a_projector_shows_all_of_it(page: Page, address: str, look: str) -> None:
    assert looked_at(page, f"{address}/lecture/1", look) == 0
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    assert page.locator(".hit h3").first.evaluate(size) >= 22
    assert page.locator(".hit .snippet").first.evaluate(size) >= 17


class TestStory:
    """The usual slides, and the same with titles, names and notes that are too long."""

    @pytest.fixture(params=["usual", "long"])
    def app(self, site: Site, index: ToyIndex, request: pytest.FixtureRequest) -> Flask:
        if request.param == "usual":
            told = site.prepared().searches
            return create_app(replace(site, prepared=lambda: Lecture((*told, SEARCHES[0]))))
        for document in index.stored:
            object.__setattr__(document, "title", f"{document.title} {LONG}")
            object.__setattr__(document, "text", f"{document.text} {LONG}")
        told = [slide._replace(query=LONG, note=LONG * 9) for slide in site.prepared().searches]
        people = {user: f"{name} {LONG}" for user, name in site.people.items()}
        slides = Lecture((*told, PreparedSearch(LONG, "1001")))
        return create_app(replace(site, people=people, prepared=lambda: slides))

    def test_every_slide_is_on_the_projector(self, page: Page, address: str) -> None:
        for number in range(11):
            assert looked_at(page, f"{address}/lecture/{number}", "") == 0, number
            if 0 < number < 10:
                page.keyboard.press("i")
                note = page.locator(".note p").bounding_box()
                assert note is not None and 0 <= note["y"] <= note["y"] + note["height"] <= 720
                page.keyboard.press("i")
                assert not page.locator(".note p").is_visible()


def test_a_clicker_goes_on_after_the_dial_was_turned(page: Page, address: str) -> None:
    page.goto(f"{address}/lecture/0?stop=own")
    page.locator(".turner").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/lecture/0?stop=group")
    page.keyboard.press("PageDown")
    page.wait_for_url("**/lecture/1")


class TestGame:
    """A game on a slide."""

    @pytest.fixture
    def app(self, site: Site) -> Flask:
        slides = Lecture((PreparedSearch("", shown="attacker"), *SEARCHES))
        return create_app(replace(at_village(site), prepared=lambda: slides))

    def test_it_is_on_the_projector_and_its_keys_play(self, page: Page, address: str) -> None:
        assert looked_at(page, f"{address}/lecture/1", "") == 0
        page.keyboard.press("2")
        page.wait_for_url("**/lecture/1?pick=2")
        assert looked_at(page, page.url, "") == 0
        page.get_by_role("link", name="Next round").click()
        page.wait_for_url("**/lecture/1?round=2*")
