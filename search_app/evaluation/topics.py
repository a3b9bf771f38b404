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

from .. import console
from ..errors import UsageError
from .runs import is_word

MOST_BYTES = 1 << 28  # unpacked: a small packed file may grow without limit
FORMS = (
    "give TREC's <top> or <topic number=...>, lines of qid<TAB>query, qid<TAB>user<TAB>query "
    "or qid:query, or JSON lines with _id and text"
)

_START = re.compile(r"(?:\s+|<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*", re.I | re.S)
_TOP = re.compile(r"<top[\s>]", re.I)
_XML = re.compile(r"(?:<\w[^<>]*>(?:\s+|<!--.*?-->)*)?<topic\s", re.I | re.S)
_JSON = re.compile(r'\{\s*"')
_COLON = re.compile(r"(?:[A-Za-z]\w*:)?([0-9]+):(.*)")  # wt09:1:query or 1:query
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
    """One query of a topic file, with its line."""

    qid: str
    query: str
    line: int
    user: str = ""  # the person who asks


def read_topics(path: Path) -> list[Topic]:
    """Return the topics of the file `path`, plain or gzipped; the first fault names its line."""
    text = _text(path)
    every = list(_reader(path, text)(path, text))
    topics = [topic for topic in every if topic.query]
    if not topics:
        raise UsageError(f"{path}: no topics; {FORMS}")
    if empty := [topic for topic in every if not topic.query]:
        where = f"topic {empty[0].qid} in line {empty[0].line}"
        more = f" and {len(empty) - 1:,} more" if empty[1:] else ""
        console.say(f"{path}: skipped {where}{more}: without a title or query")
    first: dict[str, int] = {}
    for topic in topics:
        if not is_word(topic.qid):
            raise _fault(path, topic.line, "the topic's number must be one word")
        if topic.qid in first:
            line = first[topic.qid]
            raise _fault(path, topic.line, f"topic {topic.qid} is already in line {line}")
        first[topic.qid] = topic.line
    return topics


def read_personal_topics(path: Path) -> list[Topic]:
    """Return the topics of the file `path`, in which each topic must name its person."""
    topics = read_topics(path)
    for topic in topics:
        if not topic.user:
            raise UsageError(
                f"{path}, line {topic.line}: topic {topic.qid} names nobody; "
                "write qid<TAB>user<TAB>query in all lines"
            )
    return topics


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of the file `path` that is not blank."""
    yield from _filled(_text(path))


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
    if b"\0" in content:  # UTF-16, or no text at all
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise _fault(path, line, "not UTF-8; convert the file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:  # older topics are Latin-1
        line = content.count(b"\n", 0, fault.start) + 1
        console.say(f"{path}, line {line}: not UTF-8; the topics are read as Latin-1")
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _reader(path: Path, text: str) -> Callable[[Path, str], Iterator[Topic]]:
    """Return the reader for the form of `text`, which its beginning shows."""
    begin = _begin(text)
    for known, reader in ((_TOP, _from_tags), (_XML, _from_xml), (_JSON, _from_json)):
        if known.match(text, begin):
            return reader
    number, line = next(_filled(text), (1, "\t"))
    if "\t" in line:
        return _from_lines
    if _COLON.match(line.strip()):
        return _from_colons
    raise _fault(path, number, f"not a known form of topics; {FORMS}")


def _begin(text: str) -> int:
    """Return where the first topic begins, after blanks, comments and XML's declarations."""
    start = _START.match(text)
    return start.end() if start else 0


def _filled(text: str) -> Iterator[tuple[int, str]]:
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def _from_lines(path: Path, text: str) -> Iterator[Topic]:
    columns = 0
    for number, line in _filled(text):
        fields = line.split("\t")
        fields = [*(field.strip(" \v\f") for field in fields[:-1]), _spaced(fields[-1])]
        if not columns and (fields[0].lower(), fields[-1].lower()) in _HEADS:
            console.say(f"{path}, line {number}: skipped the line of column names")
            continue
        columns = columns or len(fields)
        if len(fields) not in (2, 3) or len(fields) != columns:
            wanted = columns if columns in (2, 3) else "2 or 3"
            form = "write qid<TAB>query, or qid<TAB>user<TAB>query in all lines"
            raise _fault(path, number, f"{len(fields)} columns instead of {wanted}; {form}")
        if not all(fields[:-1]):
            raise _fault(path, number, "an empty column; give topic number and user")
        yield Topic(fields[0], fields[-1], number, "" if columns == 2 else fields[1])


def _from_colons(path: Path, text: str) -> Iterator[Topic]:
    for number, line in _filled(text):
        parts = _COLON.match(line.strip())
        if not parts:
            raise _fault(path, number, "no number and colon; write qid:query in all lines")
        yield Topic(parts[1], _spaced(parts[2]), number)


def _from_json(path: Path, text: str) -> Iterator[Topic]:
    for number, line in _filled(text):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise _fault(path, number, "not JSON; write one object in each line") from fault
        qid, query = (record.get("_id"), record.get("text")) if isinstance(record, dict) else (0, 0)
        if not isinstance(qid, str) or not isinstance(query, str):
            raise _fault(path, number, "a topic needs _id and text, both strings; give both")
        yield Topic(qid, _spaced(query), number)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _from_xml(path: Path, text: str) -> Iterator[Topic]:
    # Comments become empty lines, so that messages name the right line.
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    line, counted = 1, 0
    for topic in _TOPIC.finditer(text):
        line += text.count("\n", counted, topic.start())
        counted = topic.start()
        number, query = _NUMBER.search(topic[1]), _QUERY.search(topic[2])
        if not number or not query:
            what = "query in <query>" if number else 'number="..."'
            raise _fault(path, line, f"the topic has no {what}; give it one")
        qid = _unpadded(html.unescape(number[2]).strip())
        yield Topic(qid, _spaced(html.unescape(query[1])), line)


def _from_tags(path: Path, text: str) -> Iterator[Topic]:
    fields: dict[str, str] | None = None
    start, line, counted = 0, 1, 0
    # Tags that structure a topic; others, such as a <time> in a sentence, are text.
    matches: list[re.Match[str]] = []
    for match in _TAG.finditer(text, _begin(text)):
        if not matches or _parts(matches[-1], text[matches[-1].end() : match.start()], match):
            matches.append(match)
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
                raise _fault(path, line, f"<{name}> before any <top>; write <top> first")
            content = text[match.end() : end].strip()
            prefix = _PREFIX[name].match(content)
            fields[name] = _spaced(content[prefix.end() :] if prefix else content)
    if fields is not None:
        yield _topic(path, fields, start)


def _parts(last: re.Match[str], between: str, match: re.Match[str]) -> bool:
    """Return whether the tag `match` begins a line, ends an open tag, or follows an ended one."""
    opened, name = last[2].lower(), match[2].lower()
    if match[1] and name in (opened, "top"):
        return True
    if not between.strip() and (last[1] or opened == "top"):
        return True
    begins = "\n" in between and not between.rpartition("\n")[2].strip()
    return begins or opened == "num"


def _topic(path: Path, fields: dict[str, str], line: int) -> Topic:
    if not fields.get("num"):
        raise _fault(path, line, "the topic has no <num>; give it one")
    # Unescaped here, after the tags are found: an escaped < must not become a tag.
    return Topic(_unpadded(fields["num"]), _spaced(html.unescape(fields.get("title", ""))), line)


def _unpadded(number: str) -> str:
    """Return `number` without leading zeros: TREC's topics say 051 where its judgments say 51."""
    return (number.lstrip("0") or "0") if re.fullmatch("[0-9]+", number) else number


def _fault(path: Path, line: int, what: str) -> UsageError:
    return UsageError(f"{path}, line {line}: {what}")
