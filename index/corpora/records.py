"""One record of a corpus: its bytes are decoded and made a document, or it is skipped."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from io import BufferedIOBase
from typing import Any
from unicodedata import normalize

from ..model import Account, Document, clean

Reader = Callable[[BufferedIOBase, Account], Iterator[tuple[int, Document | str]]]

LIMIT = 1 << 26  # bytes of one document
CHUNK = 1 << 20
LONGEST_ID = 32_766  # bytes; Lucene's limit for a term

NO_ID = "no id"
NO_TEXT = "no text"
BAD_ID = "id is not valid text"
LONG_ID = f"id longer than {LONGEST_ID:,} bytes"
TOO_LONG = f"longer than {LIMIT >> 20} MB"


def document_of(name: str, title: str, text: str, url: str) -> Document | str:
    """Return the document `name` with a `title`, `text` and `url`, or why it can't be one."""
    if not name:
        return NO_ID
    # A cleaned id might be that of another document.
    if clean(name) != name:
        return BAD_ID
    if not title and not text:
        return NO_TEXT
    document = Document(name, title, text, url)
    return LONG_ID if len(document.id.encode()) > LONGEST_ID else document


def own_document(name: str, title: str, text: str, url: str) -> Document | str:
    """Return the document `name` with a `title`, `text` and `url`, whose signs have one form."""
    # Systems write ü in one sign or in two, and searches are for the one.
    return document_of(name, normalize("NFC", title), normalize("NFC", text), url)


def first(values: Iterable[Any]) -> Any:
    """Return the first of `values` that is neither None nor blank, or ""."""
    return next((value for value in values if value is not None and str(value).strip()), "")


def decode(data: bytes, whole: bool, account: Account) -> str:
    """Return `data` as text, UTF-8 or else Latin-1; unless `whole`, it may end in a character."""
    try:
        return codecs.utf_8_decode(data, "strict", whole)[0]
    except UnicodeDecodeError:
        account.latin1 += 1
        return data.decode("latin-1")


def lines(stream: BufferedIOBase) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of `stream` that are not blank, with their numbers, cut just above LIMIT."""
    number = 0
    while line := stream.readline(LIMIT + 1):
        number += 1
        rest = line
        # The rest of a long line is dropped, so that memory stays flat.
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(CHUNK)
        if line.strip():
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
