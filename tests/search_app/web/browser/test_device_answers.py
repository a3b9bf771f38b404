"""On the own device, in a real browser: what stands on the page is true of the last search."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from search_app.web import Site, create_app

from .chromium import device, in_browser, search, take

pytestmark = in_browser
NO_RESULTS = "There are no results to show."


def held(page: Page) -> list[Route]:
    """Hold back the next search; return it once it is asked."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if waiting:
            route.continue_()
        else:
            waiting.append(route)

    page.route("**/api/v1/candidates?*", hold)
    return waiting


def panel(page: Page) -> list[str]:
    """Return what is said of each request, the latest first."""
    return page.locator("#seen p").all_inner_texts()


def nothing_stands(page: Page) -> None:
    expect(page.locator(".hit")).to_have_count(0)
    expect(page.locator("#paging")).to_be_hidden()


@pytest.mark.parametrize("broken", ["index", "line"])
def test_a_failed_search_leaves_nothing_of_the_one_before(
    page: Page, address: str, index: Any, broken: str
) -> None:
    device(page, f"{address}/device")
    take(page, "coffee")
    search(page, "java")
    expect(page.locator(".hit")).to_have_count(10)
    if broken == "index":
        index.broken = True
    else:
        page.route("**/api/v1/candidates?*", lambda route: route.abort())
    search(page, "wine")
    nothing_stands(page)
    told = page.locator("#told").inner_text()
    assert told.endswith(NO_RESULTS)
    take(page, "tea")  # orders anew what there is
    nothing_stands(page)
    assert page.locator("#told").inner_text() == told
    index.broken = False
    page.unroute_all()
    search(page, "java")
    expect(page.locator(".hit")).to_have_count(10)


def test_a_first_search_that_fails_leaves_no_plain_order_either(
    page: Page, address: str, index: Any
) -> None:
    def answer_late(route: Route) -> None:
        index.broken = True
        route.continue_()

    page.route("**/api/v1/candidates?*", answer_late)
    device(page, f"{address}/device?q=java")
    expect(page.locator("#told")).to_contain_text(NO_RESULTS)
    nothing_stands(page)


def test_while_the_server_is_asked_no_older_answer_is_ordered(page: Page, address: str) -> None:
    device(page, f"{address}/device")
    take(page, "coffee")
    search(page, "java")
    waiting = held(page)
    page.locator("#q").fill("rare")
    page.locator("#q").press("Enter")
    expect(page.locator("#told")).to_have_text("Searching …")
    take(page, "code")
    assert page.locator("#told").inner_text() == "Searching …"
    nothing_stands(page)
    waiting[0].continue_()
    expect(page.locator(".hit")).to_have_count(3)


def test_going_back_to_the_empty_page_clears_it(page: Page, address: str) -> None:
    device(page, f"{address}/device")
    take(page, "coffee")
    expect(page.locator("#how")).to_be_visible()
    search(page, "java")
    expect(page.locator("#how")).to_be_hidden()
    page.go_back()
    nothing_stands(page)
    expect(page.locator("#q")).to_have_value("")
    expect(page.locator("#told")).to_have_text("")
    expect(page.locator("#how")).to_be_visible()
    page.go_forward()
    expect(page.locator(".hit")).to_have_count(10)


@pytest.mark.parametrize("path", ["/device", "/device?q=java"])
def test_an_empty_query_clears_the_page(page: Page, address: str, path: str) -> None:
    page.goto(f"{address}{path}")
    search(page, "java")
    page.locator("#q").fill("  ")
    page.locator("#q").press("Enter")
    nothing_stands(page)
    expect(page.locator("#told")).to_have_text("")
    take(page, "tea")
    nothing_stands(page)


def test_an_answer_that_comes_after_the_field_was_emptied_is_not_shown(
    page: Page, address: str
) -> None:
    device(page, f"{address}/device")
    waiting = held(page)
    page.locator("#q").fill("java")
    page.locator("#q").press("Enter")
    expect(page.locator("#told")).to_have_text("Searching …")
    page.go_back()
    expect(page.locator("#told")).to_have_text("")
    waiting[0].continue_()
    page.locator("#seen pre").wait_for()
    nothing_stands(page)


def test_text_typed_before_the_script_is_ready_stays(page: Page, address: str) -> None:
    waiting: list[Route] = []
    page.route("**/static/ranking.js*", lambda route: waiting.append(route))  # noqa: PLW0108
    page.goto(f"{address}/device")
    page.locator("#q").fill("java")
    waiting[0].continue_()
    page.locator("#here").wait_for()
    expect(page.locator("#q")).to_have_value("java")


TYPED = {  # queries, and which of the profile's terms stand in each
    "x-ray kittens": "x-ray",
    "X ray, kittens": "x-ray",
    "who is O’Neill?": "o'neill",
    "a Programming-Language": "programming language",
    "c++ for kittens": "c++",
    "l\u2019\u00e9t\u00e9": "e\u0301te\u0301",
    "x-rays of kittens": "",
    "language, programming": "",
    "category": "",
}
TERMS = "x-ray, o'neill, programming language, c++, e\u0301te\u0301, cat, tea"


def test_terms_that_were_typed_are_found_whatever_their_punctuation(
    page: Page, address: str
) -> None:
    device(page, f"{address}/device")
    take(page, "++, tea")
    search(page, "c++ for kittens")
    assert panel(page)[0].endswith("None of your 2 interests is in it, except those you typed: ++.")
    page.evaluate("localStorage.clear()")
    device(page, f"{address}/device")
    take(page, TERMS)
    for query, typed in TYPED.items():
        search(page, query)
        end = f", except those you typed: {typed}." if typed else "."
        assert panel(page)[0].endswith(f"None of your 7 interests is in it{end}"), query


def test_what_was_true_of_a_request_stays_said_of_it(page: Page, address: str) -> None:
    device(page, f"{address}/device")
    search(page, "java tea")
    take(page, "coffee, code")
    search(page, "java")
    take(page, "tea")
    search(page, "java")
    assert panel(page) == [
        "It had no body and no cookie. None of your 3 interests is in it.",
        "It had no body and no cookie. None of your 2 interests is in it.",
        "It had no body and no cookie.",
    ]


def test_of_an_erased_profile_nothing_stays_said_in_any_tab(page: Page, address: str) -> None:
    other = page.context.new_page()
    for tab in (page, other):
        device(tab, f"{address}/device")
        take(tab, "tea, cocoa")
        search(tab, "java tea")
        assert "None of your 2 interests is in it" in panel(tab)[0]
    page.get_by_text("Erase …").click()
    page.get_by_role("button", name="Erase all of it").click()
    other.locator("#terms li").first.wait_for(state="detached")
    for tab in (page, other):
        assert panel(tab) == ["It had no body and no cookie."]


def set_stages(page: Page, address: str, row: str) -> None:
    device(page, f"{address}/device")
    take(page, "tea")
    page.locator("#row").fill(row)
    page.locator("#stages").check()


def in_two_stages(page: Page, address: str, row: str) -> str:
    """Search in two stages; return what is said of the row."""
    set_stages(page, address, row)
    search(page, "java")
    return re.sub(r"^.* interest is not in it\. ", "", panel(page)[0])


def test_a_refused_row_was_told_all_the_same(page: Page, address: str) -> None:
    said = in_two_stages(page, address, "g7777")
    assert said == "The server received the row g7777 and refused the search."
    assert page.locator("#told").inner_text().endswith(NO_RESULTS)
    nothing_stands(page)
    page.route("**/api/v1/candidates?*", lambda route: route.abort())
    search(page, "java")
    assert panel(page)[0].endswith("The row g7777 was sent, but no answer came.")


def test_a_row_that_was_overtaken_was_told_all_the_same(page: Page, address: str) -> None:
    set_stages(page, address, "g0001")
    waiting = held(page)
    page.locator("#q").fill("java")
    page.locator("#q").press("Enter")
    expect(page.locator("#told")).to_have_text("Searching …")
    page.locator("#q").fill("rare")
    page.locator("#q").press("Enter")
    expect(page.locator(".hit")).to_have_count(3)
    assert "The row g0001 was sent, but no answer came." in panel(page)[1]
    waiting[0].continue_()
    expect(page.locator("#seen p").nth(1)).to_contain_text("From the row g0001 the server learned")
    expect(page.locator(".hit")).to_have_count(3)


def test_a_row_of_one_person_may_be_anybodys_who_is_like_them(page: Page, address: str) -> None:
    """Whoever asks may have named any row: nobody is said to be that person."""
    said = in_two_stages(page, address, "g0002")
    assert said == (
        "The row g0002 belongs to one person. From it the server learned that you may be that "
        "person, or similar to them."
    )
    assert in_two_stages(page, address, "g0001") == (
        "From the row g0001 the server learned that you may be one of the 2 people it is made of, "
        "someone else it serves, or similar to them."
    )


class TestOfSeven:
    """Where the operator wants seven results on a page."""

    @pytest.fixture
    def app(self, site: Site) -> Any:
        return create_app(replace(site, settings=replace(site.settings, top=7)))

    def test_a_page_has_as_many_results_as_the_site_sets(self, page: Page, address: str) -> None:
        device(page, f"{address}/device?q=java&pool=40")
        take(page, "coffee")
        expect(page.locator(".hit")).to_have_count(7)
        expect(page.locator("#told")).to_contain_text("1–7 of 40")
        expect(page.locator("#paging span")).to_have_text("Page 1 of 6")
