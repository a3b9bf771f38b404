"""Topic files to topics: TREC's tags, or lines of qid, query and perhaps a user between. [I/O]"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import UsageError

MOST_BYTES = 1 << 28  # unpacked: a topic file is small, a packed one may claim to be

_TAG = re.compile(r"<(/?)(top|num|title|desc|narr|head|dom|smry|con|fac|def|nat|time)\s*>", re.I)
_PREFIX = {"num": re.compile(r"number\s*:", re.I), "title": re.compile(r"topic\s*:", re.I)}


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
    topics = list(_from_tags(path, text) if _TAG.search(text) else _from_lines(path, text))
    if not topics:
        raise UsageError(f"{path}: no topics; give TREC topics or lines of qid<TAB>query")
    first: dict[str, int] = {}
    for topic in topics:
        if len(topic.qid.split()) != 1:
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
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise _fault(path, line, "not UTF-8; convert the file") from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _from_lines(path: Path, text: str) -> Iterator[Topic]:
    columns = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        fields = [" ".join(field.split()) for field in line.split("\t")]
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


def _from_tags(path: Path, text: str) -> Iterator[Topic]:
    fields: dict[str, str] | None = None
    start, line, counted = 0, 1, 0
    matches = list(_TAG.finditer(text))
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


def _value(name: str, text: str) -> str:
    text = text.strip()
    prefix = _PREFIX[name].match(text)
    return " ".join((text[prefix.end() :] if prefix else text).split())


def _topic(path: Path, fields: dict[str, str], line: int) -> Topic:
    if not fields.get("num"):
        raise _fault(path, line, "the topic has no <num>; give it one")
    return Topic(fields["num"], fields.get("title", ""), line)


def _fault(path: Path, line: int, what: str) -> UsageError:
    return UsageError(f"{path}, line {line}: {what}")
