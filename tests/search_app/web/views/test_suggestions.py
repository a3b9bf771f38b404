"""Suggestions come from the index alone: its terms, and titles of documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from index.model import Document
from search_app.web import Site
from search_app.web.views.suggestions import suggestions

from ..conftest import ToyIndex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("co", ["coffee", "code"]),
        ("java co", ["java coffee", "java code"]),
        ("java Cof", ["java coffee"]),
        ("java", ["Java Coffee", "java"]),
        *((text, []) for text in ("java ", "java c", "", "!", "java" * 26)),
    ],
)
def test_what_a_query_may_become(
    site: Site, index: ToyIndex, text: str, expected: list[str]
) -> None:
    titles = ["Java Coffee", "java", "java", *["Tea"] * 34]
    index.stored[3:] = [Document(f"d{at}", title, "coffee code") for at, title in enumerate(titles)]
    assert suggestions(site, text) == expected
    # The same without anybody's profile or search.
    assert suggestions(replace(site, people={}).stop(), text) == expected


def test_stems_are_no_suggestions(site: Site, index: ToyIndex) -> None:
    """Of German and French the index knows stems, which nobody types."""
    index.stored[3:] = [Document(f"d{at}", "Java Coffee", "coffee code") for at in range(37)]
    german = replace(site, settings=replace(site.settings, language="de"))
    assert suggestions(german, "java") == ["Java Coffee"]
    assert suggestions(german, "co") == []
