"""Corpora with one document per line: JSONL, TSV and CSV.

JSONL has one object per line, as BEIR, Anserini and MS MARCO write it. TSV has id and text, or id,
url, title and text, as MS MARCO writes it. CSV has a first line with the names of its columns.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from io import BufferedIOBase
from typing import Any

from ..model import Account, Document
from . import records

NOT_JSON = "not a JSON object"
NOT_STRING = "title, text or url is not a string"
WIDTHS = (2, 4)
NOT_COLUMNS = "not 2 columns (id, text) or 4 (id, url, title, text)"
OTHER_COLUMNS = "another number of columns than the lines before"
NO_TEXTS = "no column is called text or title; say which is: --column text=NAME"

# A passage of MS MARCO has its own pid and the docid of its document: the pid must come first.
_IDS = ("id", "_id", "docno", "pid", "docid", "doc_id")
_TEXTS = ("text", "contents", "content", "passage", "segment", "body", "abstract")


def read_jsonl(stream: BufferedIOBase, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Yield the documents of `stream`, one JSON object per line, with the usual names of fields."""
    for number, line in records.lines(stream):
        if len(line) > records.LIMIT:
            yield number, records.TOO_LONG
        else:
            yield number, _of_object(records.decode(line, True, account))


def _of_object(line: str) -> Document | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return NOT_JSON
    if not isinstance(record, dict):
        return NOT_JSON
    name = _first(record, _IDS)
    # In Python a bool is an int, but true is no id.
    if isinstance(name, bool) or not isinstance(name, str | int):
        return records.NO_ID
    fields = [_first(record, names) for names in (("title",), _TEXTS, ("url",))]
    title, text, url = (field.strip() if isinstance(field, str) else None for field in fields)
    if title is None or text is None or url is None:
        return NOT_STRING
    return records.document_of(str(name).strip(), title, text, url)


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return records.first(record.get(name) for name in names)


def read_tsv(stream: BufferedIOBase, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Yield a document for each line of `stream`; the first with 2 or 4 columns sets the number."""
    width = 0
    for number, line in records.lines(stream):
        if len(line) > records.LIMIT:
            yield number, records.TOO_LONG
            continue
        # Split once more than there may be columns, so that a longer line is noticed.
        columns = records.decode(line, True, account).rstrip("\r\n").split("\t", max(WIDTHS))
        if not width and len(columns) in WIDTHS:
            width = len(columns)
        if len(columns) == width:
            name, *about, text = (column.strip() for column in columns)
            url, title = about or ("", "")
            yield number, records.document_of(name, title, text, url)
        else:
            yield number, OTHER_COLUMNS if width else NOT_COLUMNS


def is_table(start: bytes) -> bool:
    """Return whether the first line of `start` has the number of columns of a table."""
    first = start.lstrip(b"\r\n").partition(b"\n")[0]
    return first.count(b"\t") + 1 in WIDTHS


_FIELDS = {"id": _IDS, "title": ("title", "name"), "text": _TEXTS, "url": ("url", "link")}


def read_csv(
    stream: BufferedIOBase, account: Account, name: str, columns: Mapping[str, str]
) -> Iterator[tuple[int, Document | str]]:
    """Yield the documents of `stream`, the table `name`; a row without id has its line's number.

    `columns` says how the column of each field is called, if it has none of the usual names.
    """
    csv.field_size_limit(records.LIMIT)
    number = 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for at, line in records.lines(stream):
            number = at
            # The csv module refuses a return without a new line.
            yield records.decode(line, True, account).rstrip("\r\n").replace("\r", " ") + "\n"

    lines = numbered()
    first = next(lines, "")
    if len(first) > records.LIMIT:
        yield number, records.TOO_LONG
    if not first or len(first) > records.LIMIT:
        return
    # German and French spreadsheets write semicolons.
    delimiter = max(",;\t", key=first.count)
    header = next(csv.reader([first], delimiter=delimiter))
    places = _places([column.strip() for column in header], columns)
    if isinstance(places, str):
        yield number, places
        return
    rows = csv.reader(lines, delimiter=delimiter)
    while True:
        begun = number + 1
        try:
            row = next(rows, None)
        except csv.Error:
            yield begun, records.TOO_LONG
            continue
        if row is None:
            return
        if len(row) != len(header):
            yield begun, OTHER_COLUMNS
            continue
        field = {what: row[at].strip() for what, at in places.items()}
        id_ = field.get("id", f"{name}#{begun}")
        texts = (field.get(what, "") for what in ("title", "text", "url"))
        yield begun, records.own_document(id_, *texts)


def _places(header: list[str], columns: Mapping[str, str]) -> dict[str, int] | str:
    """Return the place in `header` of each field, by its name in `columns` or a usual one.

    If a column is missing, return that.
    """
    lowered = [name.lower() for name in header]
    places = {}
    for field, usual in _FIELDS.items():
        if field in columns:
            if columns[field] not in header:
                return f"no column is called {columns[field]}"
            places[field] = header.index(columns[field])
        elif there := [name for name in usual if name in lowered]:
            places[field] = lowered.index(there[0])
    if "text" not in places and "title" not in places:
        return NO_TEXTS
    return places
