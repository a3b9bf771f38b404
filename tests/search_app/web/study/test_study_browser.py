"""A study in a real browser: on a phone without script to the end, and votes that grow live."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, Locator, Page, expect

from search_app.study.store import Event
from search_app.web import ServedStudy

from ..browser.chromium import in_browser
from ..conftest import ADMIN_TOKEN
from .conftest import Phone
from .test_leader import reach_the_vote

pytestmark = in_browser
PHONE = {"width": 360, "height": 740}
STEPS = 15  # and the debriefing


@pytest.fixture
def on_phone(browser: Browser) -> Callable[[bool], Page]:
    """Return what opens a page at the size of a phone, with or without script."""

    def opened(script: bool) -> Page:
        context = browser.new_context(viewport=PHONE, java_script_enabled=script)  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(60_000)
        return page

    return opened


def follow(page: Page, target: Locator) -> None:
    """Click `target` and wait for the page to which it leads: a click alone may return before."""
    with page.expect_navigation():
        target.click()


def walk(page: Page, address: str, code: str, look: Callable[[], None]) -> list[str]:
    """Go from the invitation to the end as a person does; `look` at every page."""
    heads = []
    page.goto(f"{address}/join/{code}")
    look()
    follow(page, page.get_by_role("button", name="I agree"))
    while (head := page.locator("h1").inner_text()) != "Thank you":
        heads.append(head)
        assert len(heads) <= STEPS, heads
        look()
        if page.locator("#queries").count():
            page.locator("#queries").fill("coffee\ncoffee\ncoffee")
        for one in page.locator("input[type=text]").all():
            one.fill("7")
        for group in page.locator("fieldset").all():
            group.locator("input").first.check()
        if page.locator("#q").count():
            page.locator("#q").fill("java")
        if page.locator("button.title").count():
            follow(page, page.locator("button.title").nth(1))
            look()
            follow(page, page.get_by_role("link", name="Back to the results").first)
        follow(page, page.locator(".decide button, .go button, .entry button").first)
    look()
    return heads


def test_on_a_phone_without_script_from_the_invitation_to_the_end(
    on_phone: Callable[[bool], Page], address: str, place: ServedStudy
) -> None:
    page = on_phone(False)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    heads = walk(page, address, str(place.store.invite(1)[0]), fits)
    assert len(heads) == STEPS
    assert [one.client_timestamp for one in _events(place)] == [None] * len(_events(place))
    follow(page, page.get_by_role("link", name="Withdraw from"))
    follow(page, page.get_by_role("button", name="Erase"))
    assert page.locator("h1").inner_text() == "Nothing of you is kept any more"
    assert place.store.participants() == []
    assert page.context.cookies() == []


def _events(place: ServedStudy) -> list[Event]:
    return [Event(*row[1:9]) for row in place.store.events()]


def test_axe_finds_nothing_on_any_page_in_light_and_dark(
    on_phone: Callable[[bool], Page], address: str, place: ServedStudy
) -> None:
    page = on_phone(True)
    schemes = cycle(["light", "dark"])

    def assert_nothing_is_wrong() -> None:
        assert page.locator("h1").count() == 1
        page.emulate_media(color_scheme=next(schemes))  # type: ignore[arg-type]
        violations = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == [], page.url

    code = str(place.store.invite(1)[0])
    walk(page, address, code, assert_nothing_is_wrong)
    assert all(one.client_timestamp for one in _events(place) if one.action_name == "prefer")
    for path in ("/withdraw", "/withdrawn", "/leader", "/nosuch", f"/join/{code}", "/join/wrong"):
        page.goto(f"{address}{path}")
        assert_nothing_is_wrong()
    page.context.clear_cookies()
    page.goto(address)
    assert_nothing_is_wrong()
    sign_in(page, address)
    assert_nothing_is_wrong()
    page.goto(f"{address}/leader?reveal=1")
    assert_nothing_is_wrong()


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/leader")
    page.locator("#token").fill(ADMIN_TOKEN)
    follow(page, page.get_by_role("button", name="Sign in"))


def test_votes_grow_on_the_projector(
    browser: Browser, address: str, app: Flask, place: ServedStudy
) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    sign_in(page, address)
    page.locator("#searches-vote").fill("code")
    follow(page, page.get_by_role("button", name="Open the slide"))
    for side, most in (("Height", 720), ("Width", 1280)):
        assert page.evaluate(f"document.documentElement.scroll{side}") <= most
    assert Axe().run(page).response["violations"] == []
    bars = page.locator(".bars .votes")
    assert bars.all_inner_texts() == ["0"] * 4
    for code in place.store.invite(3):
        phone = Phone(app, code)
        phone.agree()
        reach_the_vote(phone)
        phone.post("/answer", step=phone.step, choice="3")
    expect(bars.nth(2)).to_have_text("3")
    assert bars.all_inner_texts() == ["0", "0", "3", "0"]
    page.keyboard.press("r")
    page.wait_for_url("**reveal=1")
    shown = place.slides["vote"].conditions
    assert page.locator(".bars small").all_inner_texts() == list(shown)
