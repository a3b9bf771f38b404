"""The page of a document: its text stays text, whatever its id and length; hits lead to it."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from index.model import Document
from search_app.web.views.results import LONGEST_TEXT

from ..conftest import ToyIndex, says, seen

TEXT = "One <script>alert(1)</script>\n\nTwo & three"


def put(index: ToyIndex, name: str, text: str = TEXT, url: str = "") -> None:
    index.stored[2] = Document(name, "A <b>title</b>", text, url)


IDS = [
    "plain",
    "a/b.html",
    "a b?c#d&e=f%41",
    "ümläut \U0001f600",
    "<i>",
    "http://x.example//y",
    "a/",
]


@pytest.mark.parametrize("name", IDS)
def test_a_hit_without_an_address_opens_here(
    client: FlaskClient, index: ToyIndex, name: str
) -> None:
    put(index, name)
    for path in ("/?q=java", "/compare?q=java"):
        hit = seen(client, path).all("a")
        assert f"/documents/{quote(name)}" in [link["href"] for link in hit]
    page = seen(client, f"/documents/{quote(name)}")
    assert "<script>alert" not in page.html
    assert "<b>" not in page.html
    assert "A <b>title</b>" in page.text
    assert "One <script>alert(1)</script> Two & three" in page.text
    assert name in page.text


def test_the_page_of_the_device_does_not_say_which_document_is_read(client: FlaskClient) -> None:
    assert "/documents/" not in seen(client, "/device?q=java").html


@pytest.mark.parametrize("name", ["/a", "..", "a/../b", "./a", "a/.", "a\nb"])
def test_an_id_that_no_browser_would_send_is_no_link(
    client: FlaskClient, index: ToyIndex, name: str
) -> None:
    put(index, name)
    opened = [link["href"] or "" for link in seen(client, "/?q=java").all("a")]
    opened = [link for link in opened if link.startswith("/documents/")]
    assert opened == [f"/documents/doc{row:02}" for row in range(3, 10)]


def test_a_hit_with_an_address_leads_there_and_so_does_its_page(
    client: FlaskClient, index: ToyIndex
) -> None:
    put(index, "plain", url="https://docs.example/2")
    for path in ("/?q=java", "/documents/plain"):
        links = {link["href"]: link.get("rel") for link in seen(client, path).all("a")}
        assert links["https://docs.example/2"] == "noreferrer noopener"
        assert "/documents/plain" not in links
    put(index, "plain", url="javascript:alert(1)")
    assert "javascript" not in seen(client, "/documents/plain").html


@pytest.mark.parametrize("more", [0, 1])
def test_a_long_text_ends_and_the_page_says_so(
    client: FlaskClient, index: ToyIndex, more: int
) -> None:
    put(index, "long", "<" * (LONGEST_TEXT + more))
    page = seen(client, "/documents/long")
    assert page.html.count("&lt;") == LONGEST_TEXT + 2  # and those of the title
    assert ("100,000 of 100,001 characters" in page.text) == bool(more)
    answer = client.get("/api/v1/documents/long").json
    assert answer["text"] == "<" * LONGEST_TEXT
    assert answer["characters"] == LONGEST_TEXT + more


@pytest.mark.parametrize("name", ["unheard", "doc0", "DOC03", "%00", "%FF", "doc03/"])
def test_what_the_index_does_not_have_is_not_there(client: FlaskClient, name: str) -> None:
    seen(client, f"/documents/{name}", 404)
    assert client.get(f"/api/v1/documents/{name}").status_code == 404


def test_the_page_names_nobody(client: FlaskClient) -> None:
    path = "/documents/doc03?user=1001&q=java"
    says(client, path, "Title 03", "A text on code", wrong=["Mira", "java as"])
