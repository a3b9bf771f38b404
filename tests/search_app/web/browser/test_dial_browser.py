"""The dial in a real browser: it turns, all panels follow, and the address keeps the stop."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from .chromium import in_browser

pytestmark = in_browser
DIAL = "/dial?q=java&user=1001"


def turned(page: Page, address: str, query: str = DIAL) -> Page:
    """Open the dial; its script is ready when the slider is there."""
    page.goto(f"{address}{query}")
    page.locator(".turner").wait_for()
    return page


def first(page: Page) -> list[str]:
    return page.locator(".placed li span").all_text_contents()


def test_keys_turn_all_panels_and_the_address_keeps_the_stop(watched: Page, address: str) -> None:
    page = turned(watched, address)
    slider = page.get_by_role("slider", name="How much is known of you")
    slider.press("ArrowLeft")
    expect(page.locator(".says")).to_contain_text("Your own profile.")
    assert first(page)[:2] == ["Title 00", "Title 02"]
    slider.press("End")
    expect(page.locator(".says")).to_contain_text("Nobody known.")
    expect(slider).to_have_attribute("aria-valuetext", "Nobody known")
    assert first(page)[:2] == ["Title 00", "Title 01"]
    expect(page.locator(".dots i:visible")).to_have_count(4)
    expect(page.locator(".guesses li")).to_have_count(0)
    page.wait_for_url("**&stop=none")
    slider.press("ArrowLeft")
    page.wait_for_url("**&stop=group")
    expect(page.locator(".guesses .right")).to_have_count(1)
    expect(page.locator(".dots i:visible")).to_have_count(2)
    page.reload()
    expect(page.locator(".says")).to_contain_text("Groups of 1–2")
    expect(page.locator("[aria-current=true][data-stop]")).to_have_attribute("data-stop", "group")
    page.get_by_role("slider").press("End")
    page.locator("#user").select_option("1003")
    page.locator("#q").press("Enter")
    page.wait_for_url("**&user=1003*")
    expect(page.locator(".says")).to_contain_text("Nobody known.")


def test_a_click_on_a_label_turns_it_without_a_new_page(watched: Page, address: str) -> None:
    page = turned(watched, address)
    page.evaluate("window.stays = true")
    page.locator("[data-stop=own]").click()
    expect(page.locator(".says")).to_contain_text("Your own profile.")
    page.wait_for_url("**&stop=own")
    assert page.evaluate("window.stays")


def test_the_script_shows_what_the_server_shows(watched: Page, address: str) -> None:
    page, texts = watched, {}
    for stop in ("own", "group", "none"):
        turned(page, address, f"{DIAL}&stop={stop}")
        texts[stop] = page.locator(".panels").inner_text(), page.locator(".says").inner_text()
    for stop in ("none", "own", "group"):
        page.locator(f"[data-stop={stop}]").click()
        expect(page.locator(".says")).to_have_text(texts[stop][1])
        assert page.locator(".panels").inner_text() == texts[stop][0]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_documents_glide_unless_motion_is_unwelcome(
    browser: Browser, address: str, motion: str
) -> None:
    context = browser.new_context(reduced_motion=motion)  # type: ignore[arg-type]
    page = turned(context.new_page(), address, f"{DIAL}&stop=own")
    assert page.evaluate("document.getAnimations().length") == 0
    # The dial turns in the next frame; what is asked for later in the same frame sees it move.
    moving = page.evaluate(
        """() => new Promise((resolve) => {
          document.querySelector("[data-stop=none]").click();
          requestAnimationFrame(() => resolve(
            document.getAnimations().filter((one) => one.effect.target.matches(".placed li")).length
          ));
        })"""
    )
    assert (moving > 0) == (motion == "no-preference")


def test_without_script_links_and_a_table_show_the_stops(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}{DIAL}")
    assert page.locator(".turner").is_hidden()
    assert page.locator(".stops tbody tr").count() == 3
    page.get_by_role("link", name="Nobody known").click()
    expect(page.locator(".says")).to_contain_text("Nobody known.")
    assert page.locator(".guesses li").count() == 0
