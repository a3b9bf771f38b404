"""The pages in a real browser: keys, lights, and what the script adds."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from .chromium import in_browser

pytestmark = in_browser


def test_a_link_into_a_fold_opens_it_without_script(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    for anchor in ("api_search", "record-Hit"):  # a record lies in a fold inside a fold
        page.goto(f"{address}/docs#{anchor}")
        assert page.locator(f"#{anchor}").is_visible()
        assert not page.locator("#api_explain").is_visible()
    page.goto(f"{address}/docs#api_search")
    page.locator("#api_search input[name=q]").fill("rare")
    page.locator("#api_search button").click()
    assert '"found": 3' in page.inner_text("body").replace('":3', '": 3')


def test_keys_walk_through_the_results(page: Page, address: str) -> None:
    focused = "document.activeElement.dataset.key ?? document.activeElement.id"
    page.goto(f"{address}/?q=java")
    steps = [("j", "0"), ("j", "1"), ("k", "0"), ("k", "0"), ("/", "q")]
    for key, expected in steps:
        page.keyboard.press(key)
        assert page.evaluate(focused) == expected
    page.keyboard.type("j")  # in the field a letter is a letter
    assert page.evaluate(focused) == "q"


def test_enter_opens_a_result_and_a_question_mark_lists_the_keys(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=java&user=1001&mode=none")
    for key in "jjj?":
        page.keyboard.press(key)
    listed = page.get_by_role("dialog", name="Keys")
    assert "open the result" in listed.inner_text()
    page.keyboard.press("Escape")
    assert not listed.is_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/doc02")
    page.go_back()
    page.locator("a.why").nth(2).focus()
    page.keyboard.press("Enter")  # of a link, it is the link's
    page.locator(".because .sentence").wait_for()


def test_while_typing_terms_of_the_index_are_offered(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#q").press_sequentially("java co")
    page.locator("#offers option").first.wait_for(state="attached")
    offered = page.locator("#offers option").evaluate_all("all => all.map(one => one.value)")
    assert offered == ["java coffee", "java code"]
    assert page.locator("#q").get_attribute("list") == "offers"


def test_keys_that_are_characters_can_be_switched_off(page: Page, address: str) -> None:
    focused = "document.activeElement.dataset.key ?? document.activeElement.id"
    page.goto(f"{address}/?q=java")
    page.get_by_role("button", name="Keys").click()
    page.goto(f"{address}/?q=java&page=2")  # it is kept in the browser
    for key in ("j", "/"):
        page.keyboard.press(key)
        assert page.evaluate(focused) in ("", None)
    assert page.locator("#keys").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Keys").click()
    page.keyboard.press("/")
    assert page.evaluate(focused) == "q"


def test_the_same_document_lights_up_in_every_column(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?q=java&user=1001")
    page.locator(".own .hit").nth(1).hover()
    lit = page.locator(".same-document")
    lit.nth(2).wait_for()
    assert [lit.nth(at).get_attribute("data-key") for at in range(lit.count())] == ["2"] * 3
    page.mouse.move(2, 2)  # in the margin: where the focus scrolls to, no document is below it
    lit.first.wait_for(state="detached")
    page.locator(".own a.plain").nth(2).focus()
    lit.first.wait_for()
    assert lit.first.get_attribute("data-key") == "4"


def test_a_person_chosen_by_pointer_is_asked_for_at_once(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=java")
    page.locator("#user").dispatch_event("pointerdown")
    page.locator("#user").select_option("1001")
    page.wait_for_url("**/?q=java&user=1001")
    assert page.locator(".tabs button[aria-pressed=true]").inner_text().startswith("My group")


def test_without_script_the_buttons_do_it_all(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    page.get_by_role("searchbox").fill("java")
    page.get_by_role("combobox", name="Search as", exact=True).select_option("1001")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="My own profile").click()
    page.get_by_role("link", name="Compare all three").click()
    assert page.locator(".lane").count() == 3
    page.locator(".own a.plain").nth(1).click()
    assert page.locator(".none .hit:target").get_attribute("data-key") == "2"


def test_without_script_a_change_leads_back_to_its_place(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}/me?user=1001#choices")  # which opens that part
    page.get_by_role("button", name="Keep my searches").click()
    assert page.evaluate("document.activeElement.id") == "done"
    message = page.locator("#choices #done").bounding_box()
    assert message is not None
    assert 0 <= message["y"] < 700
    page.goto(f"{address}/?q=java&user=1001")
    page.goto(f"{address}/me?user=1001")
    assert not page.locator("#searches").is_visible()


WHY = "/?q=java&user=1001&mode=own"


def test_why_opens_under_its_result_and_escape_leads_back(page: Page, address: str) -> None:
    page.goto(f"{address}{WHY}")
    hit = page.locator(".hit").nth(1)
    link = hit.locator("a.why")
    link.focus()
    page.keyboard.press("Enter")
    part = hit.locator(".because .sentence")
    part.wait_for()
    assert page.url == f"{address}{WHY}"
    assert page.locator(".because").count() == 1
    assert link.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.className") == "because"
    page.keyboard.press("Escape")
    assert page.locator(".because").count() == 0
    assert link.get_attribute("aria-expanded") == "false"
    assert link.evaluate("link => link === document.activeElement")


def test_print_has_what_was_asked_and_found_and_no_buttons(page: Page, address: str) -> None:
    page.emulate_media(media="print")
    for path in ("/", "/compare"):
        page.goto(f"{address}{path}?q=java&user=1001")
        what = ("#q", "#user", ".tabs [aria-pressed=true], .verdict", ".hit h2, .hit h3")
        assert [page.locator(each).first.is_visible() for each in what] == [True] * 4
        hidden = page.locator(
            "button:not([aria-pressed=true]), #keys, .drawer, a.why, footer, .jumps, nav"
        )
        assert hidden.count() > 5
        assert not any(hidden.nth(at).is_visible() for at in range(hidden.count()))
