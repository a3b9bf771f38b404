"""Suggestions come from the index alone: its terms, and titles of documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from index.model import Document
from search_app.web import Site
from search_app.web.views.suggestions import suggestions

from ..conftest import ToyIndex


@pytest.mark.parametrize(
    ("text", "terms", "titles"),
    [
        ("co", ["coffee", "code"], []),
        ("java co", ["java coffee", "java code"], ["Java Coffee"]),
        ("java Cof", ["java coffee"], ["Java Coffee"]),
        ("java", [], ["Java Coffee", "java"]),
        ("java ", [], []),
        ("java c", [], []),
        ("", [], []),
        ("!", [], []),
        ("java" * 26, [], []),
    ],
)
def test_what_a_query_may_become(
    site: Site, index: ToyIndex, text: str, terms: list[str], titles: list[str]
) -> None:
    index.stored[3:6] = [
        Document(f"d{n}", t, "") for n, t in enumerate(("Java Coffee", "java", "java"))
    ]
    index.stored[6:] = [Document(f"e{n}", "Tea", "coffee code") for n in range(34)]
    assert suggestions(site, text) == (terms, titles)
    # The same without anybody's profile or search.
    assert suggestions(replace(site, people={}).stop(), text) == (terms, titles)
