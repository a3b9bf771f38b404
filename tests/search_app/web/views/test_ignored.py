"""What a search ignores of a query is struck through, and the index's own terms are offered."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from index.forward.texts import Opening
from index.model import Document
from search_app.search.snippet import stems
from search_app.web import Site
from search_app.web.views.ignored import NOTHING, ignored
from search_app.web.views.results import card

from ..conftest import Page, seen


@pytest.mark.parametrize(
    ("query", "common", "absent", "meant"),
    [
        ("java coffee", "", "", ""),
        ("the java of the coffee", "the of", "", ""),
        ("The JAVA", "The", "", ""),
        ("cofee java", "", "cofee", "coffee java"),
        ("java, (Cofee) the cdoe!", "the", "Cofee cdoe", "java, (coffee) the code!"),
        ("cofee qqqq", "", "cofee qqqq", "coffee qqqq"),
        ("qqqq qqqq", "", "qqqq", ""),
        ('"the cofee" -cofee +cofee', "the", "cofee", '"the coffee" -coffee +coffee'),
        ("!?! --- +", "", "", ""),
        ("", "", "", ""),
        ("java " * 12 + "cofee", "", "", ""),  # beyond what is read
    ],
)
def test_words_that_are_ignored(
    site: Site, query: str, common: str, absent: str, meant: str
) -> None:
    words = ignored(site, query, operators=False)
    assert (" ".join(words.common), " ".join(words.absent), words.meant) == (common, absent, meant)


def test_a_phrase_is_no_bag_and_what_must_not_be_there_is_not_missed(site: Site) -> None:
    words = ignored(site, '"the cofee" -cofee +cdoe the', operators=True)
    assert words == (["the"], ["cdoe"], '"the cofee" -cofee +code the')


def test_words_that_a_document_shows_are_not_counted(site: Site) -> None:
    shown = card(0, Opening.of(Document("d", "", "It says Cofee.")), stems("cofee"))
    assert ignored(site, "cofee cdoe", False, {0: shown}).absent == ["cdoe"]
    assert ignored(site, "cofee", False, {0: shown}) == NOTHING


def test_the_page_says_so_and_its_link_asks_for_what_was_meant(client: FlaskClient) -> None:
    page = seen(client, "/?q=the+cofee+java&user=1001&mode=own&page=2")
    assert "Ignored: the – words as common as this are not in the index." in page.text
    assert "Ignored: cofee – no document here has this word." in page.text
    assert "Did you mean the coffee java" in page.text
    address = "/?q=the+coffee+java&user=1001&mode=own"
    assert address in [link["href"] for link in page.all("a")]
    assert len(page.all("s")) == 2
    assert "Did you mean" not in seen(client, address).text
    answer = client.get("/api/v1/search?q=the+cofee").json["ignored"]
    assert answer == {"common": ["the"], "absent": ["cofee"], "meant": "the coffee"}


def test_words_are_texts(client: FlaskClient) -> None:
    page: Page = seen(client, "/?q=a<i>b+%22%3E%3Cs+onclick%3Dcofee")
    assert page.all("i") == []
    assert all(set(tag) == {"dir"} for tag in page.all("s"))
