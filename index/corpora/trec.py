"""TREC SGML as it is in practice: the newswires of the TREC disks, and TREC's crawls of the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BufferedIOBase

from ..model import Account, Document
from . import records
from .html import ends, is_page, read_page, spans, unescape

LONGEST_TAG = 1024
LONGEST_TITLE = 2000
LONGEST_CODE = 200  # characters; longer content is text, whatever its tag

_TITLES = "TITLE|HEADLINE|HEAD|HL|TTL|TI|DOCTITLE"
# Fields of numbers only: a field that may hold a word of text stays.
_CODES = "|".join(
    (
        "DOCNO|DOCID|DOCOLDNO|FILEID|PARENT",
        r"WORD\.CT|PG\.COL|LIMLEN",  # SJM
        "WKU|APN|APT|APD|ISD|NCL|ECL|NDR|NFG|OCL|XCL|EDF|ICL|FSC|FSS|PNO",  # PATN
    )
)
_VALUE = r"""(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""

_EDGE = re.compile(rb"<(/?)DOC(?:\s([^<>]{0,1000}))?>", re.I)  # shorter than LONGEST_TAG
_EDGE_ID = re.compile(r"""(?<![\w-])id\s*=\s*["']?([^\s"'<>]+)""", re.I)
_ID = re.compile(r"<DOCNO\s*>([^<]*)(?:</DOCNO\s*>)?", re.I)
_OTHER_ID = re.compile(r"<DOCID\s*>([^<]*)(?:</DOCID\s*>)?", re.I)
_URL = re.compile(r"<URL\s*>([^<]*)(?:</URL\s*>)?", re.I)
_HEADER = re.compile(r"<(DOCHDR)\s*>", re.I)
_HEADER_END = ends("DOCHDR")
_TITLE = re.compile(rf"<({_TITLES})\s*>", re.I | re.A)
_TITLE_ENDS = ends(_TITLES)
_CODE = re.compile(rf"<({_CODES})(?:\s[^<>]*)?>", re.I | re.A)
_CODE_ENDS = {name.replace("\\", ""): end for name, end in ends(_CODES).items()}
_MARKUP = re.compile(
    rf"<(?:/?[A-Z][\w:.-]*(?:\s++[\w:.-]++\s*+=\s*+{_VALUE})*+\s*+/?>|!--[^<>]*-->|!\[CDATA\[)",
    re.I | re.A,
)
_CUT_TAG = re.compile(r"</?[A-Z]*\Z", re.I)


def read_trec(stream: BufferedIOBase, account: Account) -> Iterator[tuple[int, Document | str]]:
    """Yield the documents of `stream`: TREC SGML in either case, in any layout, escaped or not."""
    for line, start, body, closed in _bodies(stream):
        if len(body) > records.LIMIT:
            yield line, records.TOO_LONG
            continue
        text = records.decode(body, closed, account)
        named = _EDGE_ID.search(start.decode("utf-8", "replace")) if start else None
        document = _document(text if closed else _CUT_TAG.sub("", text), named)
        account.truncated += isinstance(document, Document) and not closed
        yield line, document


def _document(body: str, named: re.Match[str] | None) -> Document | str:
    """Return the document of `body`; its id is its DOCNO, or that of its tag, or its DOCID."""
    name, body = _cut(body, _ID)
    if not name:
        name = unescape(named[1]) if named else _cut(body, _OTHER_ID)[0]
    if not name:
        return records.NO_ID
    url, body = _cut(body, _URL)
    crawled, body = _without_header(body)
    if crawled is not None or is_page(body):
        title, text = read_page(_without_codes(body))
        return records.document_of(name, title, text, url or crawled or "")
    title, body = _split_title(body)
    return records.document_of(name, title, _plain(_without_codes(body)), url)


def _cut(body: str, field: re.Pattern[str]) -> tuple[str, str]:
    """Return the content of a field, and the body without the field."""
    content = field.search(body)
    if not content:
        return "", body
    return _line(content[1]), f"{body[: content.start()]} {body[content.end() :]}"


def _without_header(body: str) -> tuple[str | None, str]:
    """Return the URL in the header of a crawl, or None without a header, and the page."""
    for start, end in spans(body, _HEADER, _HEADER_END, len(body)):
        words = body[start.end() : end.start()].split(None, 1) if end else []
        rest = end.end() if end else start.end()
        return (words[0] if words else ""), f"{body[: start.start()]} {body[rest:]}"
    return None, body


def _without_codes(body: str) -> str:
    """Return `body` without codes: each ends at its end tag, or else soon at the next tag."""
    kept, after = [], 0
    for start, end in spans(body, _CODE, _CODE_ENDS, LONGEST_CODE):
        last = end.end() if end else body.find("<", start.end())
        if end or 0 <= last - start.end() <= LONGEST_CODE:
            kept.append(body[after : start.start()])
            after = last
    return " ".join([*kept, body[after:]])


def _split_title(body: str) -> tuple[str, str]:
    """Return the first title of `body` that is not empty, and the body without it."""
    for start, end in spans(body, _TITLE, _TITLE_ENDS, LONGEST_TITLE):
        title = _line(body[start.end() : end.start()]) if end else ""
        if end and title:
            return title, f"{body[: start.start()]} {body[end.end() :]}"
    return "", body


def _line(marked: str) -> str:
    return " ".join(_plain(marked).split())


def _plain(marked: str) -> str:
    """Return `marked` without tags and with entities replaced; any other & or < is text."""
    plain = _MARKUP.sub(" ", marked) if "<" in marked else marked
    if "<![CDATA[" in marked:
        plain = plain.replace("]]>", " ")
    return unescape(plain).strip()


def _bodies(stream: BufferedIOBase) -> Iterator[tuple[int, bytes, bytes, bool]]:
    """Yield each document's line, text of its tag, body (cut after LIMIT), and if it is closed."""
    line = first = 1
    begun = b""
    body: bytearray | None = None
    for piece, edge in _pieces(stream):
        if body is not None and len(body) <= records.LIMIT:
            body += piece
        line += piece.count(b"\n")
        if edge is None:
            continue
        if body is not None:
            yield first, begun, bytes(body), bool(edge[1])
        body, first, begun = (None if edge[1] else bytearray()), line, edge[2] or b""
        line += begun.count(b"\n")
    if body is not None:
        yield first, begun, bytes(body), False


def _pieces(stream: BufferedIOBase) -> Iterator[tuple[bytes, re.Match[bytes] | None]]:
    """Yield the pieces of `stream` between its DOC tags, each with the tag that follows, if any."""
    rest = b""
    while chunk := stream.read1(records.CHUNK):
        rest += chunk
        start = 0
        for edge in _EDGE.finditer(rest):
            yield rest[start : edge.start()], edge
            start = edge.end()
        # A tag may be cut in two by the end of the chunk.
        half_tag = rest.rfind(b"<", max(start, len(rest) - LONGEST_TAG))
        cut = len(rest) if half_tag < 0 else half_tag
        yield rest[start:cut], None
        rest = rest[cut:]
    yield rest, None
