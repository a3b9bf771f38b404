"""Writing an index with Lucene. [I/O]

Documents are numbered in the order in which they are added, by one thread and with merges of
neighbours only, so that Lucene's document number is the row of the forward index.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

from . import jvm
from .java import analyzer, directory, java, talking
from .model import Document

BUFFER_SHARE = 8  # the part of Java's memory that holds documents not yet written

WRITING = "the index can't be written"


class LuceneWriter:
    """Writes an index into a new folder: commits when its block ends well, else rolls back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with talking(WRITING):
            config = java("org.apache.lucene.index.IndexWriterConfig")(analyzer())
            config.setMergePolicy(java("org.apache.lucene.index.LogDocMergePolicy")())
            memory = java("java.lang.Runtime").getRuntime().maxMemory()
            config.setRAMBufferSizeMB(memory / BUFFER_SHARE / 2**20)
            self._writer = java("org.apache.lucene.index.IndexWriter")(directory(folder), config)
            self._row = _Row()

    def add(self, document: Document, number: int, *, replaces: bool = False) -> None:
        """Add a document; if it replaces the one with its id, that one goes."""
        with talking(WRITING):
            filled = self._row.fill(document, number)
            if replaces:
                self._writer.updateDocument(self._row.key(document), filled)
            else:
                self._writer.addDocument(filled)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        with talking(WRITING):
            try:
                if failed is None:
                    self._writer.forceMerge(1)
                    self._writer.commit()
            finally:
                self._writer.rollback()  # closes; what was committed stays
        (self._folder / "write.lock").unlink(missing_ok=True)


class _Row:
    """One Lucene document, filled again and again.

    `contents` is title and text, `title` the title alone (for its boost), `record` what is shown.
    """

    def __init__(self) -> None:
        hidden = java("org.apache.lucene.document.Field$Store").NO
        self._contents = java("org.apache.lucene.document.TextField")("contents", "", hidden)
        self._title = java("org.apache.lucene.document.TextField")("title", "", hidden)
        self._id = java("org.apache.lucene.document.StringField")("id", "", hidden)
        self._number = java("org.apache.lucene.document.NumericDocValuesField")("number", 0)
        self._record = java("org.apache.lucene.document.StoredField")("record", "")
        self._term = java("org.apache.lucene.index.Term")
        self._document = java("org.apache.lucene.document.Document")()
        for field in (self._contents, self._title, self._id, self._number, self._record):
            self._document.add(field)

    def fill(self, document: Document, number: int) -> Any:
        self._contents.setStringValue(f"{document.title} {document.text}")
        self._title.setStringValue(document.title)
        self._id.setStringValue(document.id)
        self._number.setLongValue(number)
        shown = (document.id, document.title, document.text, document.url)
        self._record.setStringValue(json.dumps(shown, ensure_ascii=False))
        return self._document

    def key(self, document: Document) -> Any:
        return self._term("id", document.id)
