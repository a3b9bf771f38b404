"""A toy site: forty documents about java, half of them on coffee, half on code; three people.

Row r is on coffee where r is even, on code where it is odd, and the plain order is 0, 1, 2, ...
Mira likes coffee and Oren code; they share a row in which both count the same, which leaves the
plain order. Ada likes code and is alone in her group. Bo has a profile but is in no group.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab
from werkzeug.serving import make_server

from anonymizer.model import Profiles, Release
from index.forward import Forward, Vectors
from index.lucene import LuceneIndex
from index.model import Document, Part, Pool, SearchError, TooSlow
from search_app.engine import Engine
from search_app.modes import Modes
from search_app.precision_log import PrecisionLog
from search_app.settings import Settings
from search_app.web import Example, Site, create_app

from .chromium import ARGUMENTS, CHROMIUM

TERMS = ["coffee", "code"]
ADMIN_TOKEN = "the-operator-s-token-of-this-toy-site"  # noqa: S105
PEOPLE = {
    "1001": "Mira · coffee",
    "1002": "Oren · code",
    "1003": "Ada · code",
    "1004": "Bo · code",
}


class ToyIndex:
    """Stands for Lucene: java is in every document, rare in three, nothing else in any."""

    def __init__(self) -> None:
        self.broken = self.slow = False
        self.stored = [
            Document(
                id=f"doc{row:02}",
                title=f"Title {row:02}",
                text=f"A text on {TERMS[row % 2]}. It speaks of java.",
                url=f"https://docs.example/{row}" if row < 2 else "",
            )
            for row in range(40)
        ]

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        if self.broken:
            raise SearchError("the index is broken; build it again")
        if self.slow:
            raise TooSlow("java as 1001 took too long; ask with fewer words")
        assert deadline is None or deadline > 0
        found = 40 if "java" in query else 3 if "rare" in query else 0
        if operators and "+rare" in query:  # all the syntax a toy knows
            found = 3
        rows = np.arange(min(found, size), dtype=np.int64)
        return Pool(rows, (100.0 - rows).astype(np.float32), "many" in query)

    def documents(self, rows: Sequence[int]) -> list[Document]:
        return [self.stored[row] for row in rows]

    def explain(self, _query: str, rows: Sequence[int], **_how: object) -> list[list[Part]]:
        return [[Part("contents", "java", 100.0 - row)] for row in rows]

    def ids(self, rows: Any) -> Any:
        return np.array([self.stored[row].id for row in rows], dtype=np.object_)


class ToyForward:
    """Stands for the forward index: a document has one of the two terms, with weight 1."""

    def __init__(self) -> None:
        self.broken = False

    def columns(self, terms: Sequence[str]) -> Any:
        return np.array([TERMS.index(term) for term in terms], dtype=np.int64)

    def target(self, columns: Any, weights: Any, vectors: str) -> Any:
        assert vectors == "tfidf"
        return columns, weights

    def cosines(self, rows: Any, target: Any) -> Any:
        columns, weights = target
        if self.broken:
            raise ValueError("a fault that names java and 1001")
        interest = dict(zip(columns.tolist(), weights.tolist(), strict=True))
        norm = float(np.linalg.norm(weights)) or 1.0
        return np.array([interest.get(row % 2, 0.0) / norm for row in rows])

    def contributions(self, rows: Any, target: Any) -> Any:
        columns, weights = target
        has = np.asarray(rows)[:, None] % 2 == columns
        return np.where(has, weights / float(np.linalg.norm(weights)), 0.0)

    def vectors(self, rows: Any, vectors: str) -> Vectors:
        assert vectors == "tfidf"
        each = np.ones(len(rows), dtype=np.int64)
        return Vectors(TERMS, np.ones(2), np.cumsum(each), rows % 2, each, each.astype(float))


@pytest.fixture
def index() -> ToyIndex:
    return ToyIndex()


@pytest.fixture
def forward() -> ToyForward:
    return ToyForward()


@pytest.fixture
def modes(index: ToyIndex, forward: ToyForward) -> Modes:
    rows = {"1001": {"coffee": 1.0}, "1002": {"code": 1.0}, "1003": {"code": 1.0}}
    shared = {"g0001": {"coffee": 0.5, "code": 0.5}, "g0002": {"code": 1.0}}
    release = Release(
        rows=Profiles.from_rows(shared),
        users=("1001", "1002", "1003"),
        row_of_user=np.array([0, 0, 1], dtype=np.int64),
        method="p-linkability",
        parameters={"p": 0.5},
    )
    engine = Engine(cast(LuceneIndex, index), cast(Forward, forward))
    return Modes(engine, Profiles.from_rows({**rows, "1004": {"code": 1.0}}), release)


@pytest.fixture
def log(tmp_path: Path) -> PrecisionLog:
    return PrecisionLog(tmp_path / "precision.sqlite")


@pytest.fixture
def site(modes: Modes, log: PrecisionLog) -> Site:
    ticks = count()
    return Site(
        modes=modes,
        log=log,
        settings=Settings(),
        people=PEOPLE,
        clock=lambda: 1_800_000_000 + 0.25 * next(ticks),
        release_name="toy",
        facts={
            "groups": 2,
            "smallest_group": 1,
            "average_linkability": 0.5,
            "worst_linkability": 0.5,
            "change_of_belief": 0.25,
            "share_linkability": 0.75,
            "single_person_rows": 1,
            "p": 0.5,
        },
        corpus="toy corpus",
        build="toy corpus.0001",
        examples=(Example("1001", "java", "java as Mira, who loves coffee"),),
    )


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(site)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def real(site: Site) -> FlaskClient:
    """A site of real people: nobody may be chosen."""
    return create_app(replace(site, people={}, examples=(), access="plain")).test_client()


@pytest.fixture
def private(site: Site) -> Site:
    """A site of real people, who sign in."""
    return replace(site, people={}, examples=(), access="private", admin_token=ADMIN_TOKEN)


@pytest.fixture(scope="module")  # no longer: its event loop is in the way of others
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Tab]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())

    def all(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        """Return the attributes of the tags of a class."""
        return [
            attrs
            for name, attrs in self.tags
            if name == tag and (not kind or kind in (attrs.get("class") or "").split())
        ]


@pytest.fixture
def read() -> type[Page]:
    return Page
