"""Topic files to topics: TREC's tags or XML, BEIR's JSON, or lines of qid and query. [I/O]"""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import console
from .errors import UsageError
from .runs import is_word

MOST_BYTES = 1 << 28  # unpacked: a topic file is small, a packed one may claim to be
FORMS = (
    "give TREC's <top> or <topic number=...>, lines of qid<TAB>query, qid<TAB>user<TAB>query "
    "or qid:query, or JSON lines with _id and text"
)

_START = re.compile(r"(?:\s+|<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*", re.I | re.S)
_TOP = re.compile(r"<top[\s>]", re.I)
_XML = re.compile(r"(?:<\w[^<>]*>(?:\s+|<!--.*?-->)*)?<topic\s", re.I | re.S)
_JSON = re.compile(r'\{\s*"')
_COLON = re.compile(r"(?:[A-Za-z]\w*:)?([0-9]+):(.*)")  # wt09:1:query, or without wt09
_HEADS = {(name, "query") for name in ("qid", "query_id", "query-id")}

_TAG = re.compile(
    r"<(/?)(top|num|title|desc|narr|head|dom|smry|con|fac|def|nat|time)(?:\s[^<>]*)?>", re.I
)
_PREFIX = {"num": re.compile(r"number\s*:", re.I), "title": re.compile(r"topic\s*:", re.I)}
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_TOPIC = re.compile(r"<topic\s([^<>]*)>(.*?)(?:</topic\s*>|(?=<topic\s)|\Z)", re.I | re.S)
_NUMBER = re.compile(r"""\bnumber\s*=\s*(["'])(.*?)\1""", re.I | re.S)
_QUERY = re.compile(r"<query(?:\s[^<>]*)?>(.*?)</query\s*>", re.I | re.S)


@dataclass(frozen=True)
class Topic:
    """One query of a topic file, and where it stands."""

    qid: str
    query: str
    line: int
    user: str = ""  # who asks


def read_topics(path: Path) -> list[Topic]:
    """Read a topic file, plain or gzipped, in its order; the first fault is told with its line."""
    text = _text(path)
    topics = list(_reader(path, text)(path, text))
    if not topics:
        raise UsageError(f"{path}: no topics; {FORMS}")
    first: dict[str, int] = {}
    for topic in topics:
        if not is_word(topic.qid):
            raise _fault(path, topic.line, "the topic's number must be one word")
        if not topic.query:
            raise _fault(path, topic.line, f"topic {topic.qid} is empty; give it a title or query")
        if topic.qid in first:
            line = first[topic.qid]
            raise _fault(path, topic.line, f"topic {topic.qid} is already in line {line}")
        first[topic.qid] = topic.line
    return topics


def _text(path: Path) -> str:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"{path}: the topics can't be read ({why}); give another file") from fault
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path}: topics of more than {MOST_BYTES:,} bytes; split the file")
    return _decoded(path, content).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(path: Path, content: bytes) -> str:
    """Read bytes as UTF-8, else as Latin-1, as older topics are written."""
    if b"\0" in content:  # UTF-16, or no text at all
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise _fault(path, line, "not UTF-8; convert the file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        console.say(f"{path}, line {line}: not UTF-8; the topics are read as Latin-1")
        return content.decode("latin-1")


def _reader(path: Path, text: str) -> Callable[[Path, str], Iterator[Topic]]:
    """Tell a file's form by how it begins: what a query holds says nothing."""
    begin = _begin(text)
    for known, reader in ((_TOP, _from_tags), (_XML, _from_xml), (_JSON, _from_json)):
        if known.match(text, begin):
            return reader
    number, line = next(((n, each) for n, each in _filled(text)), (1, "\t"))
    if "\t" in line:
        return _from_lines
    if _COLON.match(line.strip()):
        return _from_colons
    raise _fault(path, number, f"no form of topics that is read; {FORMS}")


def _begin(text: str) -> int:
    """Return where the first topic begins, behind what XML allows before it."""
    start = _START.match(text)
    return start.end() if start else 0


def _filled(text: str) -> Iterator[tuple[int, str]]:
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


# -- a topic in a line ---------------------------------------------------------------------------


def _from_lines(path: Path, text: str) -> Iterator[Topic]:
    columns = 0
    for number, line in _filled(text):
        fields = line.split("\t")
        fields = [*(field.strip(" \v\f") for field in fields[:-1]), _spaced(fields[-1])]
        if not columns and (fields[0].lower(), fields[-1].lower()) in _HEADS:
            console.say(f"{path}, line {number}: the names of the columns are skipped")
            continue
        columns = columns or len(fields)
        if len(fields) not in (2, 3) or len(fields) != columns:
            wanted = columns if columns in (2, 3) else "2 or 3"
            raise _fault(
                path,
                number,
                f"{len(fields)} columns instead of {wanted}; "
                "write qid<TAB>query, or qid<TAB>user<TAB>query in all lines",
            )
        if not all(fields[:-1]):
            raise _fault(path, number, "an empty column; give topic number and user")
        yield Topic(fields[0], fields[-1], number, "" if columns == 2 else fields[1])


def _from_colons(path: Path, text: str) -> Iterator[Topic]:
    for number, line in _filled(text):
        found = _COLON.match(line.strip())
        if not found:
            raise _fault(path, number, "no number and colon; write qid:query in all lines")
        yield Topic(found[1], _spaced(found[2]), number)


def _from_json(path: Path, text: str) -> Iterator[Topic]:
    for number, line in _filled(text):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise _fault(path, number, "not JSON; write one object in each line") from fault
        qid, query = (found.get("_id"), found.get("text")) if isinstance(found, dict) else (0, 0)
        if not isinstance(qid, str) or not isinstance(query, str):
            raise _fault(path, number, "a topic needs _id and text, both strings; give both")
        yield Topic(qid, _spaced(query), number)


def _spaced(text: str) -> str:
    return " ".join(text.split())


# -- TREC's tags and XML -------------------------------------------------------------------------


def _from_xml(path: Path, text: str) -> Iterator[Topic]:
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    line, counted = 1, 0
    for found in _TOPIC.finditer(text):
        line += text.count("\n", counted, found.start())
        counted = found.start()
        number, query = _NUMBER.search(found[1]), _QUERY.search(found[2])
        if not number or not query:
            what = "query in <query>" if number else 'number="..."'
            raise _fault(path, line, f"the topic has no {what}; give it one")
        qid = _unpadded(html.unescape(number[2]).strip())
        yield Topic(qid, _spaced(html.unescape(query[1])), line)


def _from_tags(path: Path, text: str) -> Iterator[Topic]:
    fields: dict[str, str] | None = None
    start, line, counted = 0, 1, 0
    matches = _tags(text)
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=True):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        name = match[2].lower()
        if name == "top":
            if fields is not None:
                yield _topic(path, fields, start)
            fields, start = (None if match[1] else {}), line
        elif name in _PREFIX and not match[1]:
            if fields is None or name in fields:
                raise _fault(path, line, f"<{name}> where no <top> has begun; write <top> first")
            fields[name] = _value(name, text[match.end() : end])
    if fields is not None:
        yield _topic(path, fields, start)


def _tags(text: str) -> list[re.Match[str]]:
    """Find the tags that part a topic; others are words of who wrote it."""
    kept: list[re.Match[str]] = []
    for match in _TAG.finditer(text, _begin(text)):
        if not kept or _parts(kept[-1], text[kept[-1].end() : match.start()], match):
            kept.append(match)
    return kept


def _parts(last: re.Match[str], between: str, match: re.Match[str]) -> bool:
    """Tell whether a tag begins a line, ends what is open, or follows what has ended."""
    opened, name = last[2].lower(), match[2].lower()
    if match[1] and name in (opened, "top"):
        return True
    if not between.strip() and (last[1] or opened == "top"):
        return True
    begins = "\n" in between and not between.rpartition("\n")[2].strip()
    return begins or opened == "num"


def _value(name: str, text: str) -> str:
    text = text.strip()
    prefix = _PREFIX[name].match(text)
    return _spaced(text[prefix.end() :] if prefix else text)


def _topic(path: Path, fields: dict[str, str], line: int) -> Topic:
    if not fields.get("num"):
        raise _fault(path, line, "the topic has no <num>; give it one")
    return Topic(_unpadded(fields["num"]), fields.get("title", ""), line)


def _unpadded(number: str) -> str:
    """Drop zeros in front: TREC's topics say 051 where its judgments say 51."""
    return (number.lstrip("0") or "0") if re.fullmatch("[0-9]+", number) else number


def _fault(path: Path, line: int, what: str) -> UsageError:
    return UsageError(f"{path}, line {line}: {what}")
