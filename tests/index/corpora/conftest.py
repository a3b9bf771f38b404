"""A small TREC file, and the documents in it; the limit of CSV is put back after each test."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest

from index.model import Document

TREC = """<DOC>
<DOCNO> A-1 </DOCNO>
<URL>http://example.org/1</URL>
<TITLE>Cats &amp; dogs</TITLE>
<TEXT>
A cat &lt;b&gt; sat.
</TEXT>
</DOC>
<DOC>
<DOCNO> A-2 </DOCNO>
<TEXT>second</TEXT>
</DOC>
"""
READ = [
    Document("A-1", "Cats & dogs", "A cat <b> sat.", "http://example.org/1"),
    Document("A-2", "", "second"),
]


@pytest.fixture(autouse=True)
def limit_of_csv() -> Iterator[None]:
    """Put back the limit that all readers of a process share: some tests make it small."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)
