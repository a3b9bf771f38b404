"""The data that flows through the anonymizer, and its errors.

AnonymizerError
├── BadInput       a file or value from outside is broken; names place and remedy
├── BadParameter   a parameter's name or value is not allowed
└── Unsatisfiable  the promise can't be kept on this data; nothing weaker is returned
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]
Progress = Callable[[int], object]


LONE = frozenset({"km-anonymity"})  # methods whose rows are what is left of one person's terms
HIDING = frozenset({"pooled"})  # methods whose rows hide their members' shares
BELIEF = frozenset({"composition", "pooled"})  # methods that bound the change of belief by p


def has_lone_rows(method: str) -> bool:
    """Tell whether each row of a method's releases is of one person."""
    return method in LONE


def silent(_done: int) -> None:
    """Report progress to nobody."""


class AnonymizerError(Exception):
    """Whatever the anonymizer refuses; its text is one plain line for the user."""


class BadInput(AnonymizerError):
    """A file or value from outside is broken."""


class BadParameter(AnonymizerError):
    """A parameter has a name or value that is not allowed."""


class Unsatisfiable(AnonymizerError):
    """No release of this data can keep the promise that was asked for."""


@dataclass(frozen=True)
class Texts:
    """Texts laid end to end as UTF-8: text i is blob[at[i]:at[i + 1]]."""

    blob: NDArray[np.uint8]
    at: Ints

    def __len__(self) -> int:
        return self.at.size - 1

    def text(self, number: int) -> str:
        """Return one text."""
        return self.blob[self.at[number] : self.at[number + 1]].tobytes().decode()

    def strings(self) -> list[str]:
        """Return all texts, each as an object of its own."""
        content, ends = self.blob.tobytes(), self.at.tolist()
        return [content[low:high].decode() for low, high in pairwise(ends)]

    @classmethod
    def of(cls, strings: Iterable[str]) -> Texts:
        """Lay strings end to end."""
        encoded = [string.encode() for string in strings]
        at = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), at)


@dataclass(frozen=True)
class QueryLog:
    """Query events in log order: who asked what when, with how many clicks."""

    users: tuple[str, ...]
    user: Numbers  # row -> position in users
    query: Numbers  # row -> number of the text in queries
    queries: Texts  # distinct; some may stand in no row
    time: Ints  # seconds since 1970, UTC
    clicks: Numbers

    def __len__(self) -> int:
        return self.query.size

    def text(self, row: int) -> str:
        """Return the query of a row."""
        return self.queries.text(int(self.query[row]))

    @classmethod
    def from_events(cls, events: Iterable[tuple[str, str, int, int]]) -> QueryLog:
        """Build a log from (user, query, time, clicks), for logs that fit on a page."""
        users: dict[str, int] = {}
        queries: dict[str, int] = {}
        rows = [
            (users.setdefault(user, len(users)), queries.setdefault(query, len(queries)), *rest)
            for user, query, *rest in events
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        user, query, clicks = (table[column].astype(np.int32) for column in (0, 1, 3))
        return cls(tuple(users), user, query, Texts.of(queries), table[2].copy(), clicks)


@dataclass(frozen=True)
class Profiles:
    """Users x terms, sparse; every weight is finite and above 0, every user has a term."""

    users: tuple[str, ...]
    terms: tuple[str, ...]
    weights: csr_matrix

    def __post_init__(self) -> None:
        weights = csr_matrix(self.weights, dtype=np.float64, copy=True)
        weights.sum_duplicates()
        weights.sort_indices()
        object.__setattr__(self, "weights", weights)
        if weights.shape != (len(self.users), len(self.terms)):
            raise BadInput(
                f"weights are {weights.shape[0]} x {weights.shape[1]} but there are "
                f"{len(self.users)} users and {len(self.terms)} terms"
            )
        _refuse_repeats("user", self.users)
        _refuse_repeats("term", self.terms)
        if not np.all(np.isfinite(weights.data) & (weights.data > 0)):
            raise BadInput("every weight must be a finite number above 0")
        empty = np.flatnonzero(np.diff(weights.indptr) == 0)
        if empty.size:
            raise BadInput(f"{empty.size} users have no term; leave them out of the profiles")

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Map each user to their row number."""
        return {user: row for row, user in enumerate(self.users)}

    def row(self, user: str) -> dict[str, float]:
        """Return one user's terms and weights, for people to read."""
        return self.at(self.number(user))

    def at(self, row: int) -> dict[str, float]:
        """Return the terms and weights of a row."""
        columns, weights = self.slice(row)
        terms = map(self.terms.__getitem__, columns.tolist())
        return dict(zip(terms, weights.tolist(), strict=True))

    def slice(self, row: int) -> tuple[Ints, Floats]:
        """Return the column numbers and weights of a row, columns ascending."""
        low, high = self.weights.indptr[row], self.weights.indptr[row + 1]
        columns: Ints = self.weights.indices[low:high].astype(np.int64)
        weights: Floats = self.weights.data[low:high]
        return columns, weights

    def number(self, user: str) -> int:
        """Return a user's row number."""
        if user not in self.row_of:
            raise BadInput(f"no profile for this user; there are {len(self)} others")
        return self.row_of[user]

    @cached_property
    def sizes(self) -> Ints:
        """Count each user's terms."""
        return np.diff(self.weights.indptr).astype(np.int64)

    @classmethod
    def from_rows(cls, rows: Mapping[str, Mapping[str, float]]) -> Profiles:
        """Build profiles from user -> term -> weight; terms are numbered in sorted order."""
        terms = sorted({term for row in rows.values() for term in row})
        column = {term: number for number, term in enumerate(terms)}
        indptr = np.cumsum([0, *(len(row) for row in rows.values())])
        indices = np.array([column[t] for row in rows.values() for t in row], dtype=np.int64)
        data = np.array([w for row in rows.values() for w in row.values()], dtype=np.float64)
        matrix = csr_matrix((data, indices, indptr), shape=(len(rows), len(terms)))
        return cls(tuple(rows), tuple(terms), matrix)


@dataclass(frozen=True)
class Grouping:
    """A partition of users: group_of[u] in 0..count-1, no group empty; refuses anything else."""

    group_of: Ints
    count: int = field(init=False)

    def __post_init__(self) -> None:
        group_of = np.array(self.group_of, dtype=np.int64)
        object.__setattr__(self, "group_of", group_of)
        if group_of.ndim != 1 or group_of.size == 0:
            raise BadInput("a grouping needs one group number for each of at least one user")
        if group_of.min() < 0:
            raise BadInput("a user is in no group")
        if np.any(np.bincount(group_of) == 0):
            raise BadInput("group numbers must run from 0 without a gap")
        object.__setattr__(self, "count", int(group_of.max()) + 1)

    @classmethod
    def from_members(cls, groups: Iterable[Sequence[int]], users: int) -> Grouping:
        """Build a grouping from lists of row numbers; each row must stand in exactly one."""
        group_of = np.full(users, -1, dtype=np.int64)
        for number, members in enumerate(groups):
            for member in members:
                if not 0 <= member < users:
                    raise BadInput(f"row {member} is no user")
                if group_of[member] >= 0:
                    raise BadInput("a user is in two groups")
                group_of[member] = number
            if not len(members):
                raise BadInput("a group has no members")
        return cls(group_of)

    @cached_property
    def sizes(self) -> Ints:
        """Count the members of each group."""
        return np.bincount(self.group_of, minlength=self.count).astype(np.int64)

    @cached_property
    def indicator(self) -> csr_matrix:
        """Return groups x users, 1 where the user is a member."""
        users = self.group_of.size
        ones = np.ones(users)
        return csr_matrix((ones, (self.group_of, np.arange(users))), shape=(self.count, users))


@dataclass(frozen=True)
class ReleasedRow:
    """All that group mode may know: a row's name, how many stand behind it, its weights."""

    name: str
    users: int
    weights: Mapping[str, float]
    spare: bool = False  # no group's: the mean of all groups, for whom the method leaves over


@dataclass(frozen=True)
class Release:
    """What an anonymizer hands over: published rows and facts, and privately who has which row."""

    rows: Profiles  # its "users" are row names: g0001, g0002, ...
    users: tuple[str, ...]  # private: all of the profiles' but for those who are left out
    row_of_user: Ints  # private: position in users -> position in rows
    method: str
    parameters: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    deletions: Profiles | None = None  # private: user -> term -> the pass in which it was deleted
    key: bytes | None = field(default=None, repr=False)  # private: what the method kept secret

    def __post_init__(self) -> None:
        grouping = Grouping(self.row_of_user)
        object.__setattr__(self, "row_of_user", grouping.group_of)
        if len(self.users) != grouping.group_of.size:
            raise BadInput("every user needs exactly one row")
        if grouping.count != len(self.rows):
            raise BadInput("every row needs at least one user")
        _refuse_repeats("user", self.users)

    @property
    def grouping(self) -> Grouping:
        """Return who shares a row with whom."""
        return Grouping(self.row_of_user)

    @property
    def lone(self) -> bool:
        """Tell whether each row is of one person, as the method says."""
        return has_lone_rows(self.method)

    @property
    def hides_shares(self) -> bool:
        """Tell whether rows publish other shares than their members', as the method says."""
        return self.method in HIDING

    @cached_property
    def groups(self) -> int:
        """Count the rows of groups.

        Of rows that hide their members' shares and are equally large, a last smaller one is none:
        it serves whom the method leaves over, and is made of the others.
        """
        sizes = self.grouping.sizes
        return int(sizes.size) - int(self.hides_shares and sizes[-1] < sizes[0])

    @property
    def left_out(self) -> int:
        """Return how many users of the profiles have no row, as the method says."""
        return int(self.facts.get("users_left_out", 0))

    def serves(self, user: str) -> bool:
        """Tell whether a user has a row."""
        return user in self._position

    @cached_property
    def _position(self) -> dict[str, int]:
        return {user: at for at, user in enumerate(self.users)}

    @cached_property
    def _released(self) -> dict[int, ReleasedRow]:
        return {}  # rows as they are asked for

    def row_for(self, user: str) -> ReleasedRow:
        """Return the released row that serves a user."""
        if not self.serves(user):
            raise BadInput(f"this user is not in the release; it serves {len(self.users)} others")
        row = int(self.row_of_user[self._position[user]])
        return self.released_row(row)

    def released_row(self, row: int) -> ReleasedRow:
        """Return a row as group mode sees it."""
        if row not in self._released:
            spare = row >= self.groups
            behind = self.row_of_user < row if spare else self.row_of_user == row
            size, name = int(np.count_nonzero(behind)), self.rows.users[row]
            self._released[row] = ReleasedRow(name, size, self.rows.at(row), spare)
        return self._released[row]


def _refuse_repeats(kind: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise BadInput(f"{len(names) - len(set(names))} {kind}s stand twice; each must stand once")


def largest(rows: Ints, columns: Ints, weights: Floats, shape: tuple[int, int]) -> csr_matrix:
    """Build a matrix from cells that may stand twice; a cell keeps its largest weight."""
    order = np.lexsort((weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    last = np.ones(rows.size, dtype=bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return csr_matrix((weights[last], (rows[last], columns[last])), shape=shape)
