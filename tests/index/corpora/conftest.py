"""A small TREC file, and the documents in it."""

from __future__ import annotations

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
