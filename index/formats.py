"""Formats of corpora: readers `(stream, account) -> (line, document or why it is skipped)`.

Memory stays flat: a document over LIMIT is skipped.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from .model import Account, Document

Reader = Callable[[BinaryIO, Account], Iterator[tuple[int, Document | str]]]

LIMIT = 1 << 26  # bytes of one document
CHUNK = 1 << 20
LONGEST_TAG = 1024
LONGEST_ID = 32_766  # bytes; Lucene's limit for a term
LONGEST_TITLE = 2000

NO_ID = "no id"
NO_TEXT = "no text"
LONG_ID = f"id longer than {LONGEST_ID:,} bytes"
TOO_LONG = f"longer than {LIMIT >> 20} MB"
NOT_JSON = "not a JSON object"
NOT_STRING = "title, text or url is not a string"

_TITLES = "TITLE|HEADLINE|HEAD|HL|TTL|TI"
_UNSHOWN = "DOCNO|DOCID|DOCOLDNO|DOCHDR|FILEID|PARENT|URL"
_VALUE = r"""(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""

_EDGE = re.compile(rb"<(/?)DOC(?:\s[^<>]{0,1000})?>", re.I)  # shorter than LONGEST_TAG
_ID = re.compile(r"<DOCNO\s*>([^<]*)", re.I)
_URL = re.compile(r"<URL\s*>([^<]*)", re.I)
_TITLE = re.compile(rf"<({_TITLES})\s*>", re.I | re.A)
_TITLE_END = {name: re.compile(rf"</{name}\s*>", re.I | re.A).search for name in _TITLES.split("|")}
_HIDDEN = re.compile(rf"<({_UNSHOWN})\s*>[^<]*", re.I)
_MARKUP = re.compile(
    rf"</?[A-Z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*{_VALUE})*\s*/?>|<!--[^<>]*-->|<!\[CDATA\[|\]\]>",
    re.I | re.A,
)
_CUT_TAG = re.compile(r"</?[A-Z]*\Z", re.I)
_ENTITY = re.compile(r"&#?\w{1,32};", re.A)


def read_trec(stream: BinaryIO, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Read TREC SGML: tags in either case, nested or on one line, text escaped or raw."""
    for line, body, closed in _bodies(stream):
        if len(body) > LIMIT:
            yield line, TOO_LONG
            continue
        text = _decode(body, closed, account)
        document = _trec_document(text if closed else _CUT_TAG.sub("", text))
        account.truncated += isinstance(document, Document) and not closed
        yield line, document


def _trec_document(body: str) -> Document | str:
    number, url = _ID.search(body), _URL.search(body)
    name = _line(number[1]) if number else ""
    if not name:
        return NO_ID
    title, rest = _split_title(body)
    text = _plain(_HIDDEN.sub(" ", rest))
    return _document(name, title, text, _line(url[1]) if url else "")


def _document(name: str, title: str, text: str, url: str) -> Document | str:
    """Make a document of stripped fields, or say why it can't be one."""
    if not title and not text:
        return NO_TEXT
    document = Document(name, title, text, url)
    return LONG_ID if len(document.id.encode()) > LONGEST_ID else document


def _split_title(body: str) -> tuple[str, str]:
    """Return the first title that is not empty, and the body without it."""
    for start, end in _titles(body):
        title = _line(body[start.end() : end.start()])
        if title:
            return title, f"{body[: start.start()]} {body[end.end() :]}"
    return "", body


def _titles(body: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the tags around each title; end tags are sought once, so it takes linear time."""
    ends: dict[str, re.Match[str] | None] = {}  # name -> its next end tag, None if there is none
    after = 0
    for start in _TITLE.finditer(body):
        name = start[1].upper()
        end = ends[name] if name in ends else _TITLE_END[name](body, start.end())
        if end and end.start() < start.end():
            end = _TITLE_END[name](body, start.end())
        ends[name] = end
        if end and start.start() >= after and end.start() - start.end() <= LONGEST_TITLE:
            after = end.end()
            yield start, end


def _line(marked: str) -> str:
    return " ".join(_plain(marked).split())


def _plain(marked: str) -> str:
    """Drop tags, then read entities; a lone & or < is text."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), _MARKUP.sub(" ", marked)).strip()


def _bodies(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield each document's line, its body up to a little over LIMIT, and whether it is closed."""
    line = first = 1
    body: bytearray | None = None
    for piece, edge in _pieces(stream):
        line += piece.count(b"\n")
        if body is not None and len(body) <= LIMIT:
            body += piece
        if edge is None:
            continue
        if body is not None:
            yield first, bytes(body), edge == b"/"
        body, first = (None if edge else bytearray()), line
    if body is not None:
        yield first, bytes(body), False


def _pieces(stream: BinaryIO) -> Iterator[tuple[bytes, bytes | None]]:
    """Cut a stream at its DOC tags: yield what stands before, and "/" or "" if a tag follows."""
    rest = b""
    while chunk := stream.read(CHUNK):
        rest += chunk
        start = 0
        for edge in _EDGE.finditer(rest):
            yield rest[start : edge.start()], edge[1]
            start = edge.end()
        half_tag = rest.rfind(b"<", max(start, len(rest) - LONGEST_TAG))
        cut = len(rest) if half_tag < 0 else half_tag
        yield rest[start:cut], None
        rest = rest[cut:]
    yield rest, None


def read_jsonl(stream: BinaryIO, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Read one JSON object a line: id (docno, _id), title, text (contents), url."""
    for number, line in _lines(stream):
        too_long = len(line) > LIMIT
        yield number, TOO_LONG if too_long else _json_document(_decode(line, True, account))


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines that are not blank, cut a little over LIMIT."""
    number = 0
    while line := stream.readline(LIMIT + 1):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(CHUNK)
        if line.strip():
            yield number, line.removeprefix(codecs.BOM_UTF8)


def _json_document(line: str) -> Document | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return NOT_JSON
    if not isinstance(record, dict):
        return NOT_JSON
    name = _first(record, "id", "docno", "_id")
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        return NO_ID
    title, text, url = (
        _first(record, *names) for names in (("title",), ("text", "contents"), ("url",))
    )
    if not (isinstance(title, str) and isinstance(text, str) and isinstance(url, str)):
        return NOT_STRING
    return _document(str(name).strip(), title.strip(), text.strip(), url.strip())


def _first(record: dict[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), "")


def _decode(data: bytes, whole: bool, account: Account) -> str:
    """Decode UTF-8, or Latin-1 where that fails; a cut document may end inside a character."""
    try:
        return codecs.utf_8_decode(data, "strict", whole)[0]
    except UnicodeDecodeError:
        account.latin1 += 1
        return data.decode("latin-1")


FORMATS: dict[str, Reader] = {"trec": read_trec, "jsonl": read_jsonl}
SUFFIXES = {
    **dict.fromkeys((".trec", ".sgml", ".sgm"), "trec"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
}


def tell(suffix: str, start: bytes) -> str | None:
    """Tell a format by a file's suffix, else by its first bytes."""
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    return "trec" if start.startswith(b"<") and _EDGE.search(start) else None
