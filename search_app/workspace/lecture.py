"""The prepared searches of a lecture [I/O]: from the workspace's lecture.tsv, or the usual ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

NAME = "lecture.tsv"
MOST = 500  # searches
_LARGEST = 1_000_000  # bytes
_LONGEST = 2000  # characters of a query


class PreparedSearch(NamedTuple):
    """A query, and the person who searches, if there is one."""

    query: str
    user: str = ""
    line: int = 0  # of the file; 0: not from a file


@dataclass(frozen=True)
class Lecture:
    """The searches in order, and what is wrong with lines that are skipped."""

    searches: tuple[PreparedSearch, ...] = ()
    faults: tuple[str, ...] = ()
    from_file: bool = False


def prepare(path: Path, usual: Sequence[PreparedSearch] = ()) -> Lecture:
    """Return the searches in the file `path` as it is now; the `usual` ones if there is no file."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return Lecture(tuple(usual))
    except OSError as fault:
        return Lecture((), (f"{NAME} can’t be read: {fault.strerror}",), from_file=True)
    if len(content) > _LARGEST:
        return Lecture((), (f"{NAME} is longer than {_LARGEST:,} bytes",), from_file=True)
    lines = list(_lines(content))
    searches = [line for line in lines if isinstance(line, PreparedSearch)]
    faults = [line for line in lines if isinstance(line, str)]
    if len(searches) > MOST:
        faults.append(f"{NAME} has {len(searches):,} searches; the first {MOST} are taken")
    return Lecture(tuple(searches[:MOST]), tuple(faults), from_file=True)


def _lines(content: bytes) -> Iterator[PreparedSearch | str]:
    """Yield the search of each line, or what is wrong with it."""
    # A message must not hold a query or a person, so it names the line by its number.
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            yield f"line {number} is not UTF-8; save the file as UTF-8"
            continue
        if text.strip() and not text.startswith("#"):
            yield _search(text, number)


def _search(text: str, number: int) -> PreparedSearch | str:
    query, *rest = (part.strip() for part in text.split("\t"))
    if len(rest) > 1:
        return f"line {number} has {len(rest) + 1} columns; write a query, a tab and a person"
    if not query:
        return f"line {number} has no query before its tab"
    if len(query) > _LONGEST:
        return f"line {number} has a query of {len(query):,} characters; at most {_LONGEST:,}"
    if any(unicodedata.category(letter) == "Cc" for letter in "".join([query, *rest])):
        return f"line {number} holds control characters; take them out"
    return PreparedSearch(query, "".join(rest), number)
