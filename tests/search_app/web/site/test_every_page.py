"""Every page in a real browser: it fits, stays at home, is silent, and axe finds nothing in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from flask import Flask
from playwright.sync_api import Browser, Page

from search_app.web import Site, create_app

from ..browser.chromium import in_browser
from ..conftest import ADMIN_TOKEN
from ..run_folders import with_runs

PAGES = {  # by endpoint; of what one endpoint shows, all its faces
    "search.show": [
        "/",
        "/?q=java",
        "/?q=java&user=1001",
        "/?q=java&user=1003&mode=own&pool=20&ranking=cosine&page=2",
        "/?q=java+-code&operators=1",
        "/?q=unheard",
        "/?q=java&pool=0",
    ],
    "search.people": ["/people", "/people?find=code&q=java&to=compare", "/people?find=nobody"],
    "search.document": ["/documents/doc00", "/documents/doc03", "/documents/unheard"],
    "compare.show": [
        "/compare?q=java",
        "/compare?q=java&user=1001",
        "/compare?q=java&user=1001&blind=1",
    ],
    "device.show": ["/device", "/device?q=java", "/device?q=unheard", "/device?q=java&pool=0"],
    "why.show": ["/why?q=java&user=1001&mode=own&doc=doc02", "/why?q=java&doc=doc00"],
    "me.show": ["/me", "/me?user=1001"],
    "me.forget": ["/me/forget?user=1001"],
    "me.forgotten": ["/me/forgotten"],
    "groups.show": ["/groups"],
    "groups.one": ["/groups/g0001", "/groups/g0002", "/groups/g9999"],
    "log.show": ["/log"],
    "experiments.index": ["/experiments"],
    "experiments.show": ["/experiments/toy", "/experiments/later#claims", "/experiments/nosuch"],
    "experiments.compare": [
        "/experiments/compare",
        "/experiments/compare?one=toy&other=later",
        "/experiments/compare?one=toy&other=later&measure=all&pool=1000",
    ],
    "dial.show": ["/dial", "/dial?q=java", "/dial?q=java&user=1001&stop=none", "/dial?q=unheard"],
    "lecture.show": ["/lecture"],
    "lecture.one": [*(f"/lecture/{number}" for number in range(10)), "/lecture/10"],
    "attack.show": ["/attack"],
    "attack.one": ["/attack/1"],  # too few people play here; test_attack_browser.py has more
    "about.show": ["/about"],
    "docs.show": ["/docs"],
    "sign_in.show": [],  # in private mode, below
    "admin.show": [],
}
NO_PAGES = {"assets.file", "me.download", "log.table", "openapi.show", "health.show"}
NO_PAGES |= {"opensearch.describe", "opensearch.suggest", "metrics.show"}
NO_PAGES |= {"experiments.figure", "experiments.download"}
PRIVATE = ["/sign-in", "/about", "/device?q=java"]
SIGNED_IN = [
    "/",
    "/?q=java",
    "/compare?q=java",
    "/device?q=java",
    "/me",
    "/groups",
    "/log",
    "/about",
]
WIDTHS = (1280, 400)
OPERATOR = ["/admin", "/groups", "/about", "/experiments", "/experiments/toy"]

_Scheme = Literal["light", "dark"]
pytestmark = in_browser


@pytest.fixture
def site(site: Site, tmp_path: Path) -> Site:
    """Have two runs of experiments there."""
    return with_runs(site, tmp_path / "workspace")


def test_every_page_is_among_those_walked(app: Flask) -> None:
    endpoints = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and not rule.rule.startswith("/api/")
        if not rule.rule.endswith(".csv")
    }
    assert endpoints - NO_PAGES == set(PAGES)


@contextmanager
def opened(browser: Browser, script: bool = True) -> Iterator[Page]:
    """Open a tab; its console must stay silent, and it must ask for nothing elsewhere."""
    page = browser.new_context(java_script_enabled=script).new_page()
    complaints: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    yield page
    home = page.url.split("/")[2]
    refused = "Failed to load resource: the server responded with a status of 4"
    assert [text for text in complaints if not text.startswith(refused)] == []
    assert {url.split("/")[2] for url in asked} == {home}


def walked() -> list[str]:
    return [path for paths in PAGES.values() for path in paths]


def sign_in(page: Page, address: str, code: str) -> None:
    page.goto(f"{address}/sign-in")
    page.locator("input[name=code]").fill(code)
    page.locator("main form button").click()


def test_without_script_every_page_fits_and_stays_at_home(browser: Browser, address: str) -> None:
    with opened(browser, script=False) as page:
        for path in walked():
            page.goto(address + path)
            assert page.locator("h1").count() == 1, path
            for width in WIDTHS:
                assert_fits(page, width)


def assert_fits(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


def assert_nothing_is_wrong(page: Page, schemes: tuple[_Scheme, _Scheme]) -> None:
    """Look at a page as wide and as narrow screens show it, each in one of the two schemes."""
    assert page.locator("h1").count() == 1, page.url
    page.evaluate(AXE_SCRIPT)
    for width, scheme in zip(WIDTHS, schemes, strict=True):
        assert_fits(page, width)
        page.emulate_media(color_scheme=scheme)
        violations = page.evaluate(
            "axe.run({resultTypes: ['violations']}).then(outcome => outcome.violations)"
        )
        found = [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in violations]
        assert found == [], (page.url, width, scheme)


def test_every_page_fits_and_axe_finds_nothing(browser: Browser, address: str) -> None:
    with opened(browser) as page:
        page.goto(f"{address}/?q=java&user=1001")  # a search that /me and /log can show
        for path in walked():
            page.goto(address + path)
            assert_nothing_is_wrong(page, ("light", "dark"))


class TestPrivate:
    """The same where people sign in."""

    @pytest.fixture
    def app(self, private: Site) -> Flask:
        return create_app(replace(private, settings=replace(private.settings, device=True)))

    def test_pages_fit_and_axe_finds_nothing(
        self, browser: Browser, address: str, private: Site
    ) -> None:
        code = private.store.new_code("1001")
        with opened(browser) as page:
            for who, paths in ((None, PRIVATE), (code, SIGNED_IN), (ADMIN_TOKEN, OPERATOR)):
                if who:
                    page.context.clear_cookies()
                    sign_in(page, address, who)
                for path in paths:
                    answer = page.goto(address + path)
                    assert answer is not None and answer.status == 200, path
                    assert_nothing_is_wrong(page, ("dark", "light"))
