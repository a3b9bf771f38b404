"""560 hostile texts as queries, titles, texts, ids, terms and names run nothing in a browser."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from index.model import Document
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ..hostile_texts import ATTACKS, HOSTILE
from .chromium import in_browser

pytestmark = in_browser
SHOWN = 40  # documents of the toy index, all on one page
TERMS = {"coffee": 1.0, **dict.fromkeys(HOSTILE, 0.5)}


@pytest.fixture
def app(site: Site, modes: Modes, forward: Any) -> Flask:
    """Serve people and a group whose names and terms are hostile."""
    known = forward.columns
    forward.columns = lambda terms: np.array(
        [known([term])[0] if term in ("coffee", "code") else -1 for term in terms], dtype=np.int64
    )
    people = {"1001": TERMS, "1002": {"code": 1.0, HOSTILE[0]: 1.0}}
    release = Release(
        rows=Profiles.from_rows({"g0001": TERMS}),
        users=("1001", "1002"),
        row_of_user=np.zeros(2, dtype=np.int64),
        method="p-linkability",
        parameters={"p": 0.5},
        promise=AVERAGE,
    )
    served = Modes(modes.engine, Profiles.from_rows(people), release)
    names = {"1001": HOSTILE[5], "1002": HOSTILE[60]}
    settings = replace(site.settings, top=SHOWN)
    return create_app(replace(site, modes=served, people=names, settings=settings))


def ran(page: Page) -> object:
    return page.evaluate("window.ran")


@pytest.mark.parametrize("path", ["/?q=java&user=1001", "/compare?q=java&user=1001"])
def test_documents_run_nothing(watched: Page, address: str, index: Any, path: str) -> None:
    for first in range(0, len(HOSTILE), SHOWN):
        index.stored = [
            Document(f"{text}{row}", text, f"java {text}", text)
            for row, text in enumerate(HOSTILE[first : first + SHOWN])
        ]
        watched.goto(address + path)
        assert ran(watched) is None
        assert watched.locator(".hit").count() >= 10
        assert watched.locator("a[href^='javascript' i], a[href^='data' i]").count() == 0


def test_queries_run_nothing(watched: Page, address: str) -> None:
    together = range(0, len(HOSTILE), len(ATTACKS) // 2)  # a way out, and fourteen attacks after it
    for number, (first, last) in enumerate(pairwise([*together, len(HOSTILE)])):
        text = " ".join(["java", *HOSTILE[first:last]])
        path = ("/?q=", "/compare?q=")[number % 2]
        watched.goto(f"{address}{path}{quote(text)}&user=1002")
        assert ran(watched) is None
        assert watched.locator("#q").input_value() == text.strip()


@pytest.mark.parametrize("path", ["/me?user=1001", "/groups", "/groups/g0001", "/log", "/lecture"])
def test_terms_and_names_run_nothing(watched: Page, address: str, path: str) -> None:
    watched.goto(f"{address}/?q=java&user=1001")  # so that there is a last request to show
    watched.goto(address + path)
    assert ran(watched) is None
    assert watched.locator("h1").count() == 1
