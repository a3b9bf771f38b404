"""The pages in a real browser: nothing foreign is asked for, nothing hostile runs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from index.model import Document

from .chromium import in_browser

PAGES = [
    "/",
    "/?q=java",
    "/?q=java+-code&operators=1",
    "/?q=java&user=1001",
    "/compare?q=java&user=1001",
    "/log",
    "/about",
]

pytestmark = in_browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("script", [True, False])
def test_every_page_fits_and_stays_at_home(
    browser: Browser, address: str, scheme: Any, width: int, script: bool
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=script
    )
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    for path in PAGES:
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert complaints == []
    assert [url for url in asked if not url.startswith(address)] == []
    context.close()


def test_hostile_documents_run_nothing(page: Page, address: str, index: Any) -> None:
    hostile = [
        "<script>window.ran = 1</script>",
        "<img src=x onerror='window.ran = 1'>",
        '"><svg onload="window.ran = 1">',
        "</title></textarea><script>window.ran = 1</script>",
    ]
    index.stored = [
        Document(f"{text}{row}", text, f"java {text}", f"javascript:window.ran={row}")
        for row in range(40)
        for text in [hostile[row % 4]]
    ]
    for path in (f"/?q=java+{hostile[1]}&user=1001", f"/compare?q=java+{hostile[2]}&user=1001"):
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.ran") is None
        assert page.locator(".hit").count() >= 10
        assert page.locator("a[href^='javascript']").count() == 0


def test_keys_walk_through_the_results(page: Page, address: str) -> None:
    focused = "document.activeElement.dataset.key ?? document.activeElement.id"
    page.goto(f"{address}/?q=java")
    steps = [("j", "0"), ("j", "1"), ("k", "0"), ("k", "0"), ("/", "q")]
    for key, expected in steps:
        page.keyboard.press(key)
        assert page.evaluate(focused) == expected
    page.keyboard.type("j")  # in the field a letter is a letter
    assert page.evaluate(focused) == "q"


def test_the_same_document_lights_up_in_every_column(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?q=java&user=1001")
    page.locator(".own .hit").nth(1).hover()
    lit = page.locator(".same-document")
    assert [lit.nth(at).get_attribute("data-key") for at in range(lit.count())] == ["2"] * 3
    page.locator("h2#reading").hover()
    assert lit.count() == 0
    page.locator(".own a.plain").nth(2).focus()
    assert lit.first.get_attribute("data-key") == "4"


def test_a_person_chosen_by_pointer_is_asked_for_at_once(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=java")
    page.locator("#user").dispatch_event("pointerdown")
    page.locator("#user").select_option("1001")
    page.wait_for_url("**/?q=java&user=1001")
    assert page.locator(".tabs button[aria-pressed=true]").inner_text().startswith("My group")


def test_without_script_the_buttons_do_it_all(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("searchbox").fill("java")
    page.get_by_role("combobox", name="Search as", exact=True).select_option("1001")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="My own profile").click()
    page.get_by_role("link", name="Compare all three").click()
    assert page.locator(".lane").count() == 3
    page.locator(".own a.plain").nth(1).click()
    assert page.locator(".none .hit:target").get_attribute("data-key") == "2"
    context.close()
