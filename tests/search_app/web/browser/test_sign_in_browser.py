"""Signing in and out in a real browser, which says of each form where it was sent from."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from search_app.web import Site, create_app

from ..conftest import ADMIN_TOKEN
from .chromium import in_browser

pytestmark = in_browser


@pytest.fixture
def app(private: Site) -> Flask:
    return create_app(private)


def sign_in(page: Page, code: str) -> None:
    page.get_by_label("Your code").fill(code)
    page.get_by_role("button", name="Sign in").click()


def test_from_the_operator_s_code_to_signing_out_without_script(
    browser: Browser, address: str
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
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


def test_a_new_token_fits_a_phone(browser: Browser, address: str, private: Site) -> None:
    page = browser.new_context(viewport={"width": 400, "height": 800}).new_page()
    page.goto(f"{address}/sign-in")
    sign_in(page, private.store.new_code("1001"))
    page.goto(f"{address}/me#tokens")
    page.get_by_label("What the token is for").fill("my script")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator(".given")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 400
