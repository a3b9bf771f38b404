"""Hostile text in queries, titles, texts, addresses and names stays text."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index.model import Document
from search_app.web.views.results import web_address

from ..conftest import Page, seen

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus=alert(1) autofocus='",
    "</title><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "\u202eevil",
    "emoji 🦜☕",
]


def assert_harmless(page: Any) -> None:
    """Check that a page holds our own script only, no handlers and no inline style."""
    assert [s.get("src", "").split("?")[0] for s in page.all("script")] == ["/static/script.js"]
    assert not page.all("style")
    assert not page.all("img")
    for _tag, attributes in page.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not (attributes.get("href") or "").lower().startswith(("javascript", "data", "//"))


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800 lone", "nul \0 byte"])
@pytest.mark.parametrize("path", ["/", "/compare"])
def test_hostile_documents_stay_text(client: FlaskClient, index: Any, path: str, text: str) -> None:
    index.stored = [Document(text, text, f"{text} java", text) for _ in range(40)]
    response = client.get(path, query_string={"q": "java", "user": "1001"})
    assert response.status_code == 200
    assert_harmless(Page(response.text))


@pytest.mark.parametrize("query", ["%ED%A0%80java", "java%00", "java%0d%0aSet-Cookie:x", "%FFjava"])
def test_broken_bytes_in_a_query_are_survived(client: FlaskClient, query: str) -> None:
    response = seen(client, f"/?q={query}").html
    assert "1–10 of 40 found" in response


# Slow: in a fresh clone the first draw of a text waits for Hypothesis' table of characters.
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.dictionaries(
        st.sampled_from(["q", "user", "mode", "pool", "page", "other"]),
        st.text(max_size=40) | st.sampled_from(["java", "1001", "own", "1"]),
    )
)
def test_no_parameters_break_a_page(client: FlaskClient, parameters: dict[str, str]) -> None:
    values = {name: text.encode("utf-8", "replace") for name, text in parameters.items()}
    for path in ("/", "/compare"):
        assert client.get(path, query_string=values).status_code in (200, 400, 404)


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://docs.example/a", "https://docs.example/a"),
        (" http://docs.example ", "http://docs.example"),
        ("javascript:alert(1)", ""),
        ("JAVASCRIPT:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//docs.example", ""),
        ("https://", ""),
        ("http://[::1", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_are_linked(url: str, link: str) -> None:
    assert web_address(url) == link
