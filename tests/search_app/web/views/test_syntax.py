"""Operators in a query: off until asked for, and kept while one pages, compares and asks on."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from search_app.settings import Settings
from search_app.web import Site, create_app

from ..conftest import seen

WITH = ['"java code"', "java +code", "java -code", '-"java code" java', 'x "rare" "java"']
WITHOUT = [
    "java",
    'java "code',
    '"" java',
    "C++ java",
    "java - code",
    "java-code",
    '"!?" java',
    "+ java",
]


@pytest.mark.parametrize("path", ["/", "/compare"])
@pytest.mark.parametrize("query", WITH)
def test_a_query_with_operators_is_read_plainly_and_offered_with_them(
    client: FlaskClient, path: str, query: str
) -> None:
    page = seen(client, f"{path}?q={quote(query)}")
    assert "Quotes, + and − were read as plain words. Search with them" in page.text
    [offered] = [a["href"] for a in page.all("a") if "operators=1" in (a["href"] or "")]
    page = seen(client, offered)
    assert "+ asks for a word, − leaves it out. Search for plain words" in page.text


@pytest.mark.parametrize("path", ["/", "/compare"])
@pytest.mark.parametrize("query", WITHOUT)
def test_a_query_without_operators_is_offered_nothing(
    client: FlaskClient, path: str, query: str
) -> None:
    assert "operators" not in client.get(f"{path}?q={quote(query)}").text


def test_operators_count_only_when_asked_for(client: FlaskClient) -> None:
    assert "of 40 found" in seen(client, "/?q=java+%2Brare").text
    assert "of 3 found" in seen(client, "/?q=java+%2Brare&operators=1").text
    compared = seen(client, "/compare?q=java+%2Brare&operators=1").text
    assert "All 3 documents found" in compared


def test_operators_are_kept_through_pages_modes_and_comparison(client: FlaskClient) -> None:
    page = seen(client, "/?q=java+-code&user=1001&operators=1")
    links = [a["href"] or "" for a in page.all("a") if "q=java" in (a["href"] or "")]
    links = [link for link in links if not link.startswith("/why?")]
    plain = [link for link in links if "operators=1" not in link]
    assert plain == ["/?q=java+-code&user=1001&mode=group"]  # the way back
    assert len(links) == 1 + 2 + 1 + 1 + 1  # comparison, two rankings, device, the next page
    assert {"type": "hidden", "name": "operators", "value": "1"} in page.all("input")
    page = seen(client, "/compare?q=java+-code&user=1001&operators=1")
    links = [a["href"] or "" for a in page.all("a") if "q=java" in (a["href"] or "")]
    assert [link for link in links if "operators=1" not in link] == [
        "/compare?q=java+-code&user=1001&mode=group"
    ]
    assert {"type": "hidden", "name": "operators", "value": "1"} in page.all("input")


def test_where_operators_are_usual_plain_words_are_the_exception(site: Site) -> None:
    client = create_app(replace(site, settings=Settings(operators=True))).test_client()
    assert "operators" not in client.get("/?q=java").text
    page = seen(client, "/?q=java+%2Brare")
    assert "of 3 found" in page.text
    assert {"href": "/?q=java+%2Brare&operators=0"} in page.all("a")
    page = seen(client, "/?q=java+%2Brare&operators=0")
    assert "of 40 found" in page.text
    assert {"href": "/?q=java+%2Brare"} in page.all("a")


def test_a_query_of_too_many_words_is_said_to_be_cut(client: FlaskClient) -> None:
    said = "The query has very many words; only the first of them were searched."
    assert said in client.get("/?q=java+many&user=1001").text
    assert said in client.get("/compare?q=java+many").text
    assert said not in client.get("/?q=java").text
