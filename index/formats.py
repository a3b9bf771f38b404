"""Formats of corpora: readers `(stream, account) -> (line, document or why it is skipped)`.

Memory stays flat: a document over LIMIT is skipped.
"""

from __future__ import annotations

import codecs
import re

from .jsonl import read_jsonl
from .records import Reader
from .tables import is_table, read_tsv
from .trec import read_trec

FORMATS: dict[str, Reader] = {
    "trec": read_trec,
    "jsonl": read_jsonl,
    "beir": read_jsonl,
    "tsv": read_tsv,
}
SUFFIXES = {
    **dict.fromkeys((".trec", ".sgml", ".sgm", ".trectext", ".trecweb"), "trec"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
}

_TREC = re.compile(rb"<DOC(?:\s[^<>]{0,1000})?>", re.I)


def tell(suffix: str, start: bytes) -> str | None:
    """Tell a format by a file's suffix, else by its first bytes."""
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if suffix == ".tsv":
        return "tsv" if is_table(start) else None
    if start.startswith(b"{"):
        return "jsonl"
    return "trec" if start.startswith(b"<") and _TREC.search(start) else None
