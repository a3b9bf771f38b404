"""SearXNG's json_engine reads our answers: the block of docs/api.md, by that engine's rules.

Its rules, of its source in August 2026: a query is a path of keys. A value with another key is
looked into, in order. Of all results found by results_query the first is the list. A result without
url or title is left out; of each the first value counts. {query} is encoded as in a form, {pageno}
begins with 1. A status from 400 on is a fault unless no_result_for_http_status has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote

import pytest
import yaml
from flask.testing import FlaskClient

from search_app.web import Site, create_app

from ..conftest import ToyIndex

DOCS = Path(__file__).parents[4] / "docs" / "api.md"
HOST = "https://HOST"


@pytest.fixture
def engine() -> dict[str, Any]:
    """Return the documented block."""
    block = DOCS.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    (settings,) = yaml.safe_load(block)
    assert settings["engine"] == "json_engine"
    return dict(settings)


def at(data: Any, path: list[str]) -> Iterator[Any]:
    """Yield the values at a path of keys, wherever it begins."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        inside = isinstance(value, dict | list)
        rest = path[1:] if str(key) == path[0] else path
        if not rest:
            yield value
        elif inside:
            yield from at(value, rest)


def first(data: Any, query: str) -> Any:
    return next(at(data, query.split("/")), None)


def read(
    engine: dict[str, Any], client: FlaskClient, query: str, page: int
) -> list[dict[str, str]]:
    """Return the results of a page as the engine gives them to SearXNG."""
    address = engine["search_url"].format(query=quote_plus(query), pageno=page)
    assert address.startswith(f"{HOST}/")
    answer = client.get(address.removeprefix(HOST), headers=engine.get("headers", {}))
    if answer.status_code in engine["no_result_for_http_status"]:
        return []
    assert answer.status_code < 400
    found = []
    for item in first(answer.json, engine["results_query"]):
        values = [first(item, engine[f"{name}_query"]) for name in ("url", "title", "content")]
        if None not in values[:2]:
            url, title, content = map(str, values)
            found.append({"url": engine["url_prefix"] + url, "title": title, "content": content})
    return found


def test_all_pages_are_read_and_lead_to_documents(
    engine: dict[str, Any], client: FlaskClient
) -> None:
    pages = [read(engine, client, "java & coffee", page) for page in range(1, 6)]
    assert [len(page) for page in pages] == [10] * 4 + [0]
    results = [result for page in pages for result in page]
    assert [result["title"] for result in results] == [f"Title {at:02}" for at in range(40)]
    assert results[3]["content"] == "A text on code. It speaks of java."
    for result in results:
        assert client.get(result["url"].removeprefix(HOST)).status_code == 200
    assert read(engine, client, "java", 1000) == []  # beyond the last page: no fault
    assert read(engine, client, "nothing", 1) == []


def test_ids_with_any_signs_lead_to_their_documents(
    engine: dict[str, Any], client: FlaskClient, index: ToyIndex
) -> None:
    names = ["a b", "a/b", "ä?b#c%20", 'q"&<x>', "../up"]
    index.stored[: len(names)] = [
        replace(one, id=name) for one, name in zip(index.stored, names, strict=False)
    ]
    results = read(engine, client, "java", 1)[: len(names)]
    for name, result in zip(names[:-1], results, strict=False):
        assert unquote(result["url"].removeprefix(f"{HOST}/documents/")) == name
    assert results[-1]["url"] == HOST  # no address leads to it


def test_with_a_token_a_private_server_answers_in_plain_order(
    engine: dict[str, Any], private: Site
) -> None:
    private.store.new_code("1003")
    token = private.store.new_token("1003", "searxng")
    client = create_app(private).test_client()
    engine["headers"] = {"Authorization": f"Bearer {token}"}
    results = read(engine, client, "java", 1)
    assert [result["title"] for result in results] == [f"Title {at:02}" for at in range(10)]
