"""TSV as MS MARCO writes it: id and text, or id, url, title and text."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase

from . import records
from .model import Account, Document

WIDTHS = (2, 4)
NOT_COLUMNS = "not 2 columns (id, text) or 4 (id, url, title, text)"
OTHER_COLUMNS = "not as many columns as the lines before"


def read_tsv(stream: BufferedIOBase, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Read a document a line; the first line of 2 or 4 columns says how many there are."""
    width = 0
    for number, line in records.lines(stream):
        if len(line) > records.LIMIT:
            yield number, records.TOO_LONG
            continue
        columns = records.decode(line, True, account).rstrip("\r\n").split("\t", max(WIDTHS))
        if not width and len(columns) in WIDTHS:
            width = len(columns)
        if len(columns) == width:
            yield number, _document([column.strip() for column in columns])
        else:
            yield number, OTHER_COLUMNS if width else NOT_COLUMNS


def is_table(start: bytes) -> bool:
    """Tell whether the first line has a table's number of columns."""
    first = start.lstrip(b"\r\n").partition(b"\n")[0]
    return first.count(b"\t") + 1 in WIDTHS


def _document(columns: list[str]) -> Document | str:
    name, *about, text = columns
    url, title = about or ("", "")
    return records.document_of(name, title, text, url)
