"""The blind comparison: nothing but the order of the documents may tell which column is which."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from search_app.accounts.store import PeopleStore
from search_app.search.request import RankingRule
from search_app.web.question import Question
from search_app.web.views.columns import blind_order

from ..conftest import Page, seen

MIRA = "/compare?q=java&user=1001"
MODES = ("none", "own", "group")
ASKED = Question("java", "1001", "group", 100, 1, cut=False)
_HITS = re.compile(r'<ol class="hits">.*?</ol>', re.DOTALL)
_LANE = re.compile(r"<section.*?</section>", re.DOTALL)
_KEYS = re.compile(r'data-key="(\d+)"')


def keys(html: str) -> list[list[int]]:
    """Return the documents of each column."""
    return [[int(key) for key in _KEYS.findall(column)] for column in _HITS.findall(html)]


def documents(client: FlaskClient) -> dict[str, list[int]]:
    """Return the documents of each mode as the open page has them."""
    return dict(zip(MODES, keys(client.get(MIRA).text), strict=True))


def without_documents(html: str) -> str:
    return _HITS.sub("<hits/>", re.sub(r"\d+ ms", "ms", html))


@pytest.fixture(params=range(8))
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Draw the order with another key each time."""
    key = bytes([request.param]) * 32
    monkeypatch.setattr(PeopleStore, "secret", lambda *_: key)
    return key


def test_a_blind_page_differs_only_by_the_order_of_its_documents(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the order is, all but the columns' documents is the same to the byte."""
    pages = {}
    for number in range(40):
        key = bytes([number]) * 32
        monkeypatch.setattr(PeopleStore, "secret", lambda *_, key=key: key)
        order = tuple(blind_order(MODES, ASKED, key))
        pages[order] = client.get(f"{MIRA}&blind=1").text
    assert set(pages) == set(itertools.permutations(MODES))
    assert len({without_documents(page) for page in pages.values()}) == 1
    known = documents(client)
    for order, page in pages.items():
        assert keys(page) == [known[mode][:10] for mode in order]


def test_a_document_looks_the_same_in_every_blind_column(client: FlaskClient) -> None:
    """The plain order's first and the own profile's first is row 0: the same bytes in all."""
    columns = _HITS.findall(client.get(f"{MIRA}&blind=1").text)
    hits = {column.partition("</li>")[0] for column in columns}
    assert len(hits) == 1


def test_a_blind_page_says_nothing_that_tells(client: FlaskClient) -> None:
    html = client.get(f"{MIRA}&blind=1").text
    page = Page(html)
    assert "Which would you rather have?" in page.text
    columns = "".join(_LANE.findall(html))
    for telling in ("none", "own", "group", "plain", "move", "AP", "τ", "RBO", 'href="#'):
        assert telling not in re.sub(r"<mark>.*?</mark>|grown", "", columns), telling
    assert "reveals about you" not in page.text


def test_revealing_keeps_the_order_and_names_it(client: FlaskClient, key: bytes) -> None:
    order = blind_order(MODES, ASKED, key)
    hidden, shown = (client.get(f"{MIRA}&blind=1{more}").text for more in ("", "&reveal=1"))
    assert keys(hidden) == keys(shown)
    lanes = [lane["class"].split()[-1] for lane in Page(shown).all("section", "lane")]
    assert lanes == order
    names = {"none": "Plain", "own": "My own profile", "group": "My group"}
    for letter, mode in zip("ABC", order, strict=True):
        assert f"{letter} {names[mode]} This ranking sees" in Page(shown).text


def test_the_page_leads_from_blind_to_revealed_and_back(client: FlaskClient) -> None:
    def link(address: str, text: str) -> str:
        return re.search(rf'href="([^"]*)">{text}</a>', client.get(address).text)[1].replace(
            "&amp;", "&"
        )

    hidden = link(MIRA, "Hide which is which")
    assert hidden.endswith("blind=1")
    shown = link(hidden, "Show which is which")
    assert shown.endswith("blind=1&reveal=1")
    assert link(shown, "Hide which is which") == hidden
    assert "blind" not in link(shown, "Leave the blind view")
    pools = [a["href"] for a in seen(client, shown).all("a") if "pool=" in a["href"]]
    assert pools
    assert all(address.endswith("blind=1") for address in pools)  # new order: hidden again


def test_a_new_search_stays_blind_but_not_revealed(client: FlaskClient) -> None:
    page = seen(client, f"{MIRA}&blind=1&reveal=1")
    kept = {field["name"]: field for field in page.all("input") if field.get("form") == "ask"}
    assert kept["blind"]["value"] == "1"
    assert "reveal" not in kept


def test_every_order_is_drawn_about_equally_often() -> None:
    """600 questions: 100 for each of the 6 orders; the bounds are 5 standard deviations away."""
    drawn = Counter(
        tuple(blind_order(MODES, replace(ASKED, query=f"query {number}"), b"key"))
        for number in range(600)
    )
    assert set(drawn) == set(itertools.permutations(MODES))
    assert all(100 - 46 <= times <= 100 + 46 for times in drawn.values())


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, query="coffee"),
        replace(ASKED, user="1002"),
        replace(ASKED, pool=50),
        replace(ASKED, rule=RankingRule("evidence")),
    ],
)
def test_another_question_draws_anew(other: Question) -> None:
    keys = [bytes([number]) for number in range(1, 60)]
    same = sum(blind_order(MODES, ASKED, key) == blind_order(MODES, other, key) for key in keys)
    assert same < 30  # of 59; 10 are expected by chance


def test_the_page_asked_for_draws_the_same() -> None:
    assert blind_order(MODES, replace(ASKED, page=3), b"") == blind_order(MODES, ASKED, b"")
