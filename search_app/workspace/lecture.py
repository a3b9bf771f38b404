"""The slides of a lecture [I/O]: from the workspace's lecture.tsv, or the usual ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

NAME = "lecture.tsv"
MOST = 500  # slides
ALL = "all"  # every order side by side, as where a line says nothing else
TWO = "two"  # two people side by side
KINDS = (ALL, "plain", "own", "group", TWO, "read", "attacker", "dial", "device", "hurts")
_PERSONAL = ("own", "group")  # nothing to show without a person
_FREE = ("attacker", "dial", "device", "hurts")  # these need no query
_LARGEST = 1_000_000  # bytes
_REST = "what is shown and a note, with tabs between"
_LONGEST = 2000  # characters of a query, or of a note
_FAULTS = 50  # lines that are named


class PreparedSearch(NamedTuple):
    """A slide: a query, the person who searches, if there is one, and what is shown of it."""

    query: str
    user: str = ""  # of two people: both, with a comma between
    line: int = 0  # of the file; 0: not from a file
    shown: str = ALL
    note: str = ""  # what the lecturer wants to say

    @property
    def users(self) -> tuple[str, ...]:
        """Return the people who search."""
        people = self.user.split(",") if self.shown == TWO else [self.user]
        return tuple(user.strip() for user in people if user.strip())

    def __str__(self) -> str:
        """Return the line of the file that has this slide."""
        return "\t".join((self.query, self.user, self.shown, self.note)).rstrip("\t")


@dataclass(frozen=True)
class Lecture:
    """The slides in order, and what is wrong with lines that are skipped."""

    searches: tuple[PreparedSearch, ...] = ()
    faults: tuple[str, ...] = ()
    from_file: bool = False


NOTHING = Lecture()


def prepare(path: Path, usual: Lecture = NOTHING) -> Lecture:
    """Return the lecture in the file `path` as it is now; the `usual` one if there is no file."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return usual
    except OSError as fault:
        return Lecture((), (f"{NAME} can’t be read: {fault.strerror}",), from_file=True)
    if len(content) > _LARGEST:
        return Lecture((), (f"{NAME} is longer than {_LARGEST:,} bytes",), from_file=True)
    lines = list(_lines(content))
    searches = [line for line in lines if isinstance(line, PreparedSearch)]
    faults = [line for line in lines if isinstance(line, str)]
    if more := len(faults[_FAULTS:]):
        faults[_FAULTS:] = [f"{more:,} lines more; is {NAME} another kind of file?"]
    if len(searches) > MOST:
        faults.append(f"{NAME} has {len(searches):,} slides; the first {MOST} are taken")
    return Lecture(tuple(searches[:MOST]), tuple(faults), from_file=True)


def _lines(content: bytes) -> Iterator[PreparedSearch | str]:
    """Yield the slide of each line, or what is wrong with it."""
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
    columns = [part.strip() for part in text.split("\t")]
    query, user, shown, note = (columns + [""] * 3)[:4]
    search = PreparedSearch(query, user, number, shown or ALL, note)
    wrong = {
        f"has {len(columns)} columns; write a query, a person, {_REST}": len(columns) > 4,
        f"shows what is not known; write one of {', '.join(KINDS)}": search.shown not in KINDS,
        "has no query before its tab": not query and search.shown not in _FREE,
        "shows two people; write both, with a comma between": search.shown == TWO
        and len(search.users) != 2,
        f"shows {shown}, which needs a person": not user and search.shown in _PERSONAL,
        f"has a query of {len(query):,} characters; at most {_LONGEST:,}": len(query) > _LONGEST,
        f"has a note of {len(note):,} characters; at most {_LONGEST:,}": len(note) > _LONGEST,
        "holds control characters; take them out": any(
            unicodedata.category(letter) == "Cc" for letter in "".join(columns)
        ),
    }
    fault = next((fault for fault, here in wrong.items() if here), "")
    return f"line {number} {fault}" if fault else search
