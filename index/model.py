"""Documents, pools, the account of a corpus, and what search refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[int], object]

FIRST_RECORDS, FIRST_FILES = 5, 20  # places kept of each reason
MOST_SKIPS = 300  # places kept in all, as a reason may name what it is about


def silent(_done: int) -> None:
    """Report progress to nobody."""


class SearchError(Exception):
    """Whatever the index refuses; its text is one plain line for the user."""


class TooSlow(SearchError):
    """A query that was not answered by its deadline; there is no part of an answer either."""


def clean(text: str) -> str:
    """Replace what neither Lucene nor a web page can carry: NULs and lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


@dataclass(frozen=True)
class Document:
    """One document of a corpus, cleaned."""

    id: str
    title: str
    text: str
    url: str = ""

    def __post_init__(self) -> None:
        for name in ("id", "title", "text", "url"):
            object.__setattr__(self, name, clean(getattr(self, name)))


@dataclass(frozen=True)
class Pool:
    """The best documents for a query in Lucene's order: score descending, then row ascending."""

    rows: NDArray[np.int64]  # row numbers of the forward index
    scores: NDArray[np.float32]
    cut: bool = False  # the query was longer than is searched; its beginning was

    def __len__(self) -> int:
        return int(self.rows.size)


@dataclass(frozen=True)
class Part:
    """What one term or phrase of a query gives to a document's score."""

    field: str  # contents or title
    term: str  # as it is indexed; a phrase in quotes
    score: float


@dataclass
class Account:
    """What was read of a corpus, and what was not and why."""

    read: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # reason -> how many
    duplicates: int = 0  # replaced by a later document with the same id
    truncated: int = 0  # the end tag is missing; read all the same
    latin1: int = 0  # not UTF-8; read as Latin-1
    first_skips: list[tuple[str, str, str]] = field(default_factory=list)  # file, where, reason
    size: int = 0  # bytes on disk of all files to read
    done: int = 0  # bytes of them that are read

    def skip(self, file: str, where: str, reason: str) -> None:
        """Count what is left out, and note each reason's first places."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        most = FIRST_RECORDS if where.startswith(("line ", "document ")) else FIRST_FILES
        if self.skipped[reason] <= most and len(self.first_skips) < MOST_SKIPS:
            self.first_skips.append((file, where, reason))
