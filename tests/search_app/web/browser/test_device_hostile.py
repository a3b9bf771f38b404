"""On the own device, hostile titles, texts, addresses, terms and answers run nothing."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page

from index.model import Document

from ..hostile_texts import HOSTILE
from .chromium import device, in_browser

pytestmark = in_browser
SHOWN = 40  # documents of the toy index
READY = "#told:has-text('on this device in')"


def test_documents_run_nothing(watched: Page, address: str, index: Any) -> None:
    device(watched, f"{address}/device")
    watched.locator("#more").fill("coffee")
    watched.get_by_role("button", name="Add", exact=True).click()
    seen = 0
    for first in range(0, len(HOSTILE), SHOWN):
        index.stored = [
            Document(f"{text}{row}", text, f"java {text}", text)
            for row, text in enumerate(HOSTILE[first : first + SHOWN])
        ]
        device(watched, f"{address}/device?q=java")
        watched.locator(READY).wait_for()
        while True:
            seen += watched.locator(".hit").count()
            assert watched.evaluate("window.ran") is None
            assert watched.locator("#hits :is(script, img, svg, iframe, [onload])").count() == 0
            assert watched.locator("#hits a").count() == 0
            if not watched.locator("#next").is_visible():
                break
            watched.locator("#next").click()
    assert seen == len(HOSTILE)


def test_terms_run_nothing(watched: Page, address: str) -> None:
    device(watched, f"{address}/device")
    line = json.dumps({"user": HOSTILE[0], "terms": {"coffee": 2.0, **dict.fromkeys(HOSTILE, 1.0)}})
    watched.locator("#more").fill(line)
    watched.get_by_role("button", name="Add", exact=True).click()
    assert watched.locator("#terms li").count() == len(HOSTILE) + 1
    watched.locator("#row").fill(HOSTILE[3])
    device(watched, f"{address}/device?q=java")  # which reads all of it again
    watched.locator(READY).wait_for()
    watched.locator("#terms button").nth(1).click()
    assert watched.evaluate("window.ran") is None
    assert watched.locator("#here :is(script, img, svg, iframe)").count() == 0


def test_addresses_of_the_page_run_nothing(watched: Page, address: str) -> None:
    device(watched, f"{address}/device")
    for number, text in enumerate(HOSTILE[::7]):
        watched.evaluate("text => { location.hash = new URLSearchParams({ q: text }); }", text)
        watched.locator("#seen pre").nth(number).wait_for()
        assert watched.evaluate("window.ran") is None
        assert watched.locator("#seen :is(script, img, svg, iframe)").count() == 0
