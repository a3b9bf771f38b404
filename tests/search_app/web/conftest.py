"""A toy site: forty documents about java, half of them on coffee, half on code; four people.

Document r is on coffee if r is even, else on code, and the plain order is 0, 1, 2, ... Mira likes
coffee and Oren code. They share a row with equal weights for both, which keeps the plain order. Ada
likes code and is alone in her group. Bo has a profile but is in no group.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from asyncio import AbstractEventLoop
from asyncio.events import _set_running_loop
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab
from werkzeug.routing import Rule
from werkzeug.serving import make_server

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from index.forward.reading import Forward
from index.model import Document, Pool, ScorePart, SearchError, TooSlow
from search_app.accounts import codes
from search_app.accounts.store import PeopleStore
from search_app.evaluation.log import PrecisionLog
from search_app.forgetting.person import ForgetReport
from search_app.search.engine import Engine
from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.tasks.growth import Growth
from search_app.town.examples import story
from search_app.web import Example, Live, Site, create_app
from search_app.web.charts import log_figures
from search_app.workspace.lecture import Lecture

from ..toy_index import Shelf
from .browser.chromium import ARGUMENTS, CHROMIUM

TERMS = ["coffee", "code"]
DOCUMENTS = 40
NOTHING_FORGOTTEN = ForgetReport()
ADMIN_TOKEN = "the-operator-s-token-of-this-toy-site"  # noqa: S105
PEOPLE = {
    "1001": "Mira · coffee",
    "1002": "Oren · code",
    "1003": "Ada · code",
    "1004": "Bo · code",
}


class ToyIndex(Shelf):
    """Stands for Lucene: java is in every document, rare in three, nothing else in any."""

    def __init__(self) -> None:
        self.broken = self.slow = False
        stored = [
            Document(
                id=f"doc{row:02}",
                title=f"Title {row:02}",
                text=f"A text on {TERMS[row % 2]}. It speaks of java.",
                url=f"https://docs.example/{row}" if row < 2 else "",
            )
            for row in range(DOCUMENTS)
        ]
        super().__init__(stored, range(100, 60, -1))

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        if self.broken:
            raise SearchError("the index is broken; build it again")
        if self.slow:
            raise TooSlow("java as 1001 took too long; ask with fewer words")
        assert deadline is None or deadline > 0
        hits = 40 if "java" in query else 3 if "rare" in query else 0
        if operators and "+rare" in query:  # the only operator this toy has
            hits = 3
        rows = np.arange(min(hits, size), dtype=np.int64)
        return Pool(rows, (100.0 - rows).astype(np.float32), "many" in query)

    def explain(self, _query: str, rows: Sequence[int], **_how: object) -> list[list[ScorePart]]:
        return [[ScorePart("contents", "java", 100.0 - row)] for row in rows]


class ToyForward(Forward):
    """Stands for the forward index: a document has one of the two terms, with weight 1."""

    documents = 40

    def __init__(self) -> None:
        rows = np.arange(DOCUMENTS)
        ones = np.ones(DOCUMENTS, dtype=np.int64)
        arrays = {
            **{"numbers": rows, "indptr": np.arange(DOCUMENTS + 1), "indices": rows % 2},
            **{"tf": ones, "df": np.array([DOCUMENTS // 2] * 2)},
            **{"norms_tf": ones.astype(float), "norms_tfidf": ones.astype(float)},
        }
        super().__init__(arrays, list(TERMS))
        self._idf = np.ones(2)
        self.broken = False

    def cosines(self, rows: Any, target: Any) -> Any:
        if self.broken:
            raise ValueError("a fault that names java and 1001")
        return super().cosines(rows, target)


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
        facts={
            "groups": 2,
            "smallest_group": 1,
            "average_linkability": 0.5,
            "worst_linkability": 0.5,
            "change_of_belief": 0.25,
            "share_linkability": 0.75,
            "single_person_rows": 1,
        },
        promise=AVERAGE,
    )
    engine = Engine(index, cast(Forward, forward))
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
        growth=Growth({"weights": "binary", "granularity": "user", "terms": "letters"}, Settings()),
        release_name="toy",
        corpus="toy corpus",
        build="toy corpus.0001",
        examples=(Example("1001", "java"),),
        prepared=lambda: Lecture(story("java", ["1001", "1002"])),
    )


@pytest.fixture
def app(site: Site) -> Flask:
    return create_app(site)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def real(site: Site) -> FlaskClient:
    """Return a client of a site of real people, where nobody can be chosen."""
    return create_app(replace(site, people={}, examples=(), access="plain")).test_client()


@pytest.fixture
def private(site: Site) -> Site:
    """Return a site of real people, who sign in."""
    return replace(site, people={}, examples=(), access="private", admin_token=ADMIN_TOKEN)


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """Start one browser for all tests of a worker; its event loop stands still between them."""
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        _set_running_loop(None)
        yield browser, loop
        _set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium: tuple[Browser, AbstractEventLoop]) -> Iterator[Browser]:
    """Return the browser, whose event loop would block those of tests that have no browser."""
    browser, loop = chromium
    _set_running_loop(loop)
    yield browser
    for context in browser.contexts:
        context.close()
    _set_running_loop(None)


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
def page(browser: Browser) -> Tab:
    return browser.new_context().new_page()


@pytest.fixture
def watched(page: Tab) -> Iterator[Tab]:
    """Watch a page: any message, error or dialog would be an attack that succeeded."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    yield page
    assert messages == []


class Templates(BytecodeCache):
    """Templates that one app has compiled for all."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Let all apps share what each would compile for itself: half of what a page's test costs."""
    compiled: dict[tuple[object, ...], Any] = {}
    compile_builder = Rule._compile_builder

    def once(rule: Rule, append_unknown: bool = True) -> Any:
        key = (rule.rule, *rule._trace, repr(rule.defaults), append_unknown)
        if key not in compiled:
            compiled[key] = compile_builder(rule, append_unknown)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": Templates()})
        patch.setattr(Rule, "_compile_builder", once)
        yield


@pytest.fixture(autouse=True)
def _any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash codes quickly, and count the log for as long as a busy machine takes."""
    monkeypatch.setattr(codes, "_COST", 16)
    monkeypatch.setattr(log_figures, "SHORT", 1e9)
    monkeypatch.setattr(log_figures, "PATIENCE", 300.0)


def signed_in(site: Site | Live, code: str) -> FlaskClient:
    """Return a client of `site` that has signed in with `code`."""
    client = create_app(site).test_client()
    assert client.post("/sign-in", data={"code": code}).status_code == 303
    return client


@dataclass
class Forgetting:
    """Records what should be forgotten, and returns `answer` or raises `fault`."""

    answer: ForgetReport = NOTHING_FORGOTTEN
    fault: Exception | None = None
    asked: list[tuple[str, set[str] | None]] = field(default_factory=list)

    def __call__(
        self, store: PeopleStore, user: str, terms: Collection[str] | None
    ) -> ForgetReport:
        self.asked.append((user, None if terms is None else set(terms)))
        if self.fault:
            raise self.fault
        if terms is None:
            store.forget(user)
        else:
            store.forget_grown({user: terms})
        return self.answer


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
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
        """Return the attributes of each `tag`, of the class `kind` if given."""
        return [
            attrs
            for name, attrs in self.tags
            if name == tag and (not kind or kind in (attrs.get("class") or "").split())
        ]


def says(client: FlaskClient, path: str, *expected: str, wrong: Sequence[str] = ()) -> str:
    """Return the text of the page at `path`, with all that is `expected` and nothing `wrong`."""
    text = seen(client, path).text
    assert [words for words in expected if words not in text] == []
    assert [words for words in wrong if words in text] == []
    return text


def seen(client: FlaskClient, path: str, status: int = 200) -> Page:
    """Return the page at `path`, which must be answered with `status`."""
    with client.get(path) as answer:
        assert answer.status_code == status, path
        return Page(answer.text)
