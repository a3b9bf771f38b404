"""Documents, pools, the answers of an index, the account of a corpus, and what search refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[int], object]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Whole = NDArray[np.integer[Any]]  # of any width

FIRST_RECORDS, FIRST_FILES = 5, 20  # places that are kept for each reason
# Places that are kept in all: a reason may name a file, so there may be many reasons.
MOST_SKIPS = 300


def silent(_done: int) -> None:
    """Report to nobody what is done."""


class SearchError(Exception):
    """Anything that the index refuses; its text is one plain line for the user."""


class NothingChanged(SearchError):
    """An update that would change no document."""


class TooSlow(SearchError):
    """A query that was not answered by its deadline; it has no partial answer."""


def clean(text: str) -> str:
    """Return `text` without what neither Lucene nor a web page can carry: NULs and surrogates."""
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

    rows: Ints  # row numbers of the forward index
    scores: NDArray[np.float32]
    cut: bool = False  # the query was longer than is searched; its beginning was

    def __len__(self) -> int:
        return int(self.rows.size)


@dataclass(frozen=True)
class ScorePart:
    """What one term or phrase of a query adds to a document's score."""

    field: str  # contents or title
    term: str  # as it is indexed; a phrase in quotes
    score: float


class Index(Protocol):
    """An index that answers queries, as Lucene does here. It knows no users and no profiles."""

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        """Return the best documents for `query`, at most `size`; raise TooSlow past `deadline`.

        A query is a bag of words, unless `operators` give quotes, + and - a meaning. The deadline
        is in seconds from the call on. Every implementation returns the same documents in the
        same order, with scores equal to the bit.
        """

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Yield the pool of each of `queries`, without a deadline."""

    def explain(
        self,
        query: str,
        rows: Sequence[int],
        *,
        operators: bool = False,
        deadline: float | None = None,
    ) -> list[list[ScorePart]]:
        """Return for each of `rows` what each term of `query` adds to its score, if it is found."""

    def ids(self, rows: Ints) -> NDArray[np.object_]:
        """Return the ids of `rows`, without reading the documents."""

    def document_counts(self, words: Sequence[str]) -> list[int | None]:
        """Return how many documents have each of `words`; None for one that no search looks for.

        That is a stop word, such as “the”. Of a word of several terms, the most frequent counts.
        """

    def row_of(self, name: str) -> int | None:
        """Return the row of the document whose id is `name`; None if there is none."""

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return the documents of `rows`, in their order."""

    def close(self) -> None:
        """Close what is open; every later call is refused."""


@dataclass
class Source:
    """A file as it was when it was read, and the ids of its documents."""

    size: int
    modified: int  # nanoseconds; 0: unknown
    sha256: str
    ids: list[str] = field(default_factory=list)


@dataclass
class Account:
    """What was read of a corpus, what was skipped, and why."""

    read: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # reason -> number of places
    duplicates: int = 0  # replaced by a later document with the same id
    truncated: int = 0  # documents without an end tag, which are read all the same
    latin1: int = 0  # documents that are not UTF-8, and are read as Latin-1
    first_skips: list[tuple[str, str, str]] = field(default_factory=list)  # file, where, reason
    size: int = 0  # bytes on disk of all files to read
    done: int = 0  # how many of these bytes are read
    cut: int = 0  # documents longer than is read; their beginning is
    # Files that were read, by their paths; None: it is gone.
    sources: dict[str, Source | None] = field(default_factory=dict)

    def skip(self, file: str, where: str, reason: str) -> None:
        """Count what is skipped for `reason`, and keep the first places `where` this happens."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        limit = FIRST_RECORDS if where.startswith(("line ", "document ")) else FIRST_FILES
        if self.skipped[reason] <= limit and len(self.first_skips) < MOST_SKIPS:
            self.first_skips.append((file, where, reason))
