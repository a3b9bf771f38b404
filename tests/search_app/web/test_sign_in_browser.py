"""Signing in and out in a real browser, which says of each form where it was sent from."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from search_app import personal_code
from search_app.web import Site, create_app

from .chromium import in_browser
from .conftest import ADMIN_TOKEN

pytestmark = in_browser


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_code, "_COST", 16)


@pytest.fixture
def app(private: Site) -> Flask:
    return create_app(private)


def sign_in(page: Page, code: str) -> None:
    page.get_by_label("Your code").fill(code)
    page.get_by_role("button", name="Sign in").click()


def test_from_the_operator_s_code_to_signing_out_without_script(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/?q=java")  # nobody yet
    assert page.url == f"{address}/sign-in"
    sign_in(page, ADMIN_TOKEN)
    page.get_by_label("The person’s id").fill("1001")
    page.get_by_role("button", name="Make a code").click()
    code = page.locator(".given").inner_text()
    assert re.fullmatch(r"[0-9A-Z]{5}(-[0-9A-Z]{5}){4}", code)
    page.goto(f"{address}/sign-in")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    sign_in(page, code.lower())
    page.get_by_role("searchbox").fill("java")
    page.get_by_role("button", name="Search").click()
    assert "1001" not in page.url  # who asks stands in no address
    assert page.locator(".tabs button").count() == 3
    page.goto(f"{address}/admin")
    assert page.get_by_text("Only the operator may see this page.").is_visible()
    page.goto(f"{address}/sign-in")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your code")).to_be_visible()  # else it may go back before it is out
    page.go_back(wait_until="commit")  # nothing personal comes back from the browser's memory
    page.goto(f"{address}/me")
    assert page.url == f"{address}/sign-in"
    context.close()


def test_revoking_by_the_keyboard(page: Page, address: str, private: Site) -> None:
    private.store.new_codes(["1001", "1002"])
    page.goto(f"{address}/sign-in")
    sign_in(page, ADMIN_TOKEN)
    page.get_by_role("button", name="Revoke the code of 1001").press("Enter")
    page.wait_for_function("document.querySelectorAll('tbody tr').length === 1")
    assert [user for user, _ in private.store.codes()] == ["1002"]


def test_no_script_sees_the_session(page: Page, address: str, private: Site) -> None:
    page.goto(f"{address}/sign-in")
    sign_in(page, private.store.new_code("1001"))
    page.wait_for_url(f"{address}/")
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (
        "veilsearch",
        True,
        "Strict",
    )
    assert cookie["expires"] == -1  # gone when the browser is closed
