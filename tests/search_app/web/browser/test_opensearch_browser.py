"""Chromium adds the site as a search engine by itself, from its description."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from flask import Flask
from playwright.sync_api import Browser, BrowserType

from ..conftest import Page
from .chromium import ARGUMENTS, CHROMIUM, in_browser

pytestmark = in_browser
PAUSES = (2, 10, 30)  # seconds for the browser to add it, on a busy machine the longer ones


def added(profile: Path) -> list[tuple[str, str]]:
    """Return the addresses of our search and suggestions that the browser has written."""
    question = "SELECT url, suggest_url FROM keywords WHERE short_name = 'veilsearch'"
    with closing(sqlite3.connect(profile / "Default" / "Web Data")) as data:
        return data.execute(question).fetchall()


def visit(chromium: BrowserType, address: str, profile: Path, seconds: float) -> None:
    """Look at a page for some seconds; only when the browser ends can its file be read."""
    kept = chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=ARGUMENTS)
    kept.new_page().goto(address)
    time.sleep(seconds)
    kept.close()


def test_a_visit_is_enough(app: Flask, address: str, browser: Browser, tmp_path: Path) -> None:
    here = address.replace("127.0.0.1", "localhost")  # it names engines by their hosts
    for seconds in PAUSES:
        visit(browser.browser_type, here, tmp_path, seconds)
        if engines := added(tmp_path):
            break
    ((found, typed),) = engines
    client = app.test_client()
    searched = found.replace("{searchTerms}", quote("java coffee")).removeprefix(here)
    assert "of 40 found" in Page(client.get(searched).text).text
    completed = typed.replace("{searchTerms}", "java%20co").removeprefix(here)
    assert client.get(completed).json == ["java co", ["java coffee", "java code"]]
