"""JSONL: an object a line, as BEIR, Anserini and MS MARCO write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any

from . import records
from .model import Account, Document

NOT_JSON = "not a JSON object"
NOT_STRING = "title, text or url is not a string"

# A passage of MS MARCO has its own pid beside its document's docid.
_IDS = ("id", "_id", "docno", "pid", "docid", "doc_id")
_TEXTS = ("text", "contents", "content", "passage", "segment", "body", "abstract")


def read_jsonl(stream: BufferedIOBase, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Read one JSON object a line: id, title, text and url, or their usual other names."""
    for number, line in records.lines(stream):
        if len(line) > records.LIMIT:
            yield number, records.TOO_LONG
        else:
            yield number, _document(records.decode(line, True, account))


def _document(line: str) -> Document | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return NOT_JSON
    if not isinstance(record, dict):
        return NOT_JSON
    name = _first(record, _IDS)
    if isinstance(name, bool) or not isinstance(name, str | int):
        return records.NO_ID
    fields = [_first(record, names) for names in (("title",), _TEXTS, ("url",))]
    title, text, url = (field.strip() if isinstance(field, str) else None for field in fields)
    if title is None or text is None or url is None:
        return NOT_STRING
    return records.document_of(str(name).strip(), title, text, url)


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return records.first(record.get(name) for name in names)
