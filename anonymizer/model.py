"""The data that flows through the anonymizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import lt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from .arrays import Floats, Ints, Numbers
from .errors import BadInput
from .promise import Promise

SHORT = 6  # digits of a number that a release quotes
Progress = Callable[[int], object]


def silent(_done: int) -> None:
    """Report to nobody what is done."""


@dataclass(frozen=True)
class Texts:
    """Texts laid end to end as UTF-8: text i is blob[at[i]:at[i + 1]]."""

    blob: NDArray[np.uint8]
    at: Ints

    def __len__(self) -> int:
        return self.at.size - 1

    def text(self, number: int) -> str:
        """Return text `number`."""
        return self.blob[self.at[number] : self.at[number + 1]].tobytes().decode()

    def strings(self) -> list[str]:
        """Return all texts, each as an object of its own."""
        content, ends = self.blob.tobytes(), self.at.tolist()
        return [content[low:high].decode() for low, high in pairwise(ends)]

    @classmethod
    def of(cls, strings: Iterable[str]) -> Texts:
        """Return `strings` laid end to end."""
        encoded = [string.encode() for string in strings]
        at = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), at)


@dataclass(frozen=True)
class QueryLog:
    """Query events in the order of the log: user, query, time and number of clicks."""

    users: tuple[str, ...]
    user: Numbers  # row -> position in users
    query: Numbers  # row -> number of the text in queries
    queries: Texts  # distinct; some may stand in no row
    time: Ints  # seconds since 1970, UTC
    clicks: Numbers

    def __len__(self) -> int:
        return self.query.size

    def text(self, row: int) -> str:
        """Return the query of event `row`."""
        return self.queries.text(int(self.query[row]))

    @classmethod
    def from_events(cls, events: Iterable[tuple[str, str, int, int]]) -> QueryLog:
        """Return a log of `events` (user, query, time, clicks); for logs that fit on a page."""
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
        # A copy, as the next two calls would change the caller's matrix.
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
        """Return the row number of each user."""
        return {user: row for row, user in enumerate(self.users)}

    def row(self, user: str) -> dict[str, float]:
        """Return the terms and weights of `user`."""
        return self.at(self.number(user))

    def at(self, row: int) -> dict[str, float]:
        """Return the terms and weights of `row`."""
        columns, weights = self.slice(row)
        terms = map(self.terms.__getitem__, columns.tolist())
        return dict(zip(terms, weights.tolist(), strict=True))

    def slice(self, row: int) -> tuple[Ints, Floats]:
        """Return the column numbers, ascending, and the weights of `row`."""
        low, high = self.weights.indptr[row], self.weights.indptr[row + 1]
        columns: Ints = self.weights.indices[low:high].astype(np.int64)
        weights: Floats = self.weights.data[low:high]
        return columns, weights

    def number(self, user: str) -> int:
        """Return the row number of `user`."""
        if user not in self.row_of:
            raise BadInput(f"no profile for this user; there are {len(self)} others")
        return self.row_of[user]

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of terms of each user."""
        return np.diff(self.weights.indptr).astype(np.int64)

    def some(self, rows: Ints | Sequence[int]) -> Profiles:
        """Return the profiles in `rows`, in this order, over the same terms."""
        numbers = np.asarray(rows, dtype=np.int64)
        users = tuple(self.users[row] for row in numbers.tolist())
        return Profiles(users, self.terms, self.weights[numbers])

    def in_order(self) -> Profiles:
        """Return the profiles with their terms in sorted order, without terms that nobody has."""
        used = np.bincount(self.weights.indices, minlength=len(self.terms)) > 0
        in_order = all(map(lt, self.terms, self.terms[1:]))
        if in_order and used.all():
            return self
        by_name = np.flatnonzero(used).tolist()
        if not in_order:
            by_name.sort(key=self.terms.__getitem__)
        column = np.zeros(len(self.terms), dtype=np.int32)
        column[by_name] = np.arange(len(by_name))
        entries = (self.weights.data, column[self.weights.indices], self.weights.indptr)
        matrix = csr_matrix(entries, shape=(len(self), len(by_name)))
        return Profiles(self.users, tuple(self.terms[number] for number in by_name), matrix)

    @classmethod
    def from_rows(cls, rows: Mapping[str, Mapping[str, float]]) -> Profiles:
        """Return the profiles of `rows`: user -> term -> weight; terms are in sorted order."""
        terms = sorted({term for row in rows.values() for term in row})
        column = {term: number for number, term in enumerate(terms)}
        indptr = np.cumsum([0, *(len(row) for row in rows.values())])
        indices = np.array([column[t] for row in rows.values() for t in row], dtype=np.int64)
        data = np.array([w for row in rows.values() for w in row.values()], dtype=np.float64)
        matrix = csr_matrix((data, indices, indptr), shape=(len(rows), len(terms)))
        return cls(tuple(rows), tuple(terms), matrix)


def stacked(parts: Sequence[Profiles]) -> Profiles:
    """Return the profiles of all `parts`, over the terms of all in sorted order."""
    terms = sorted({term for part in parts for term in part.terms})
    column = {term: at for at, term in enumerate(terms)}
    wide = []
    for part in parts:
        columns = np.array([column[term] for term in part.terms])[part.weights.indices]
        entries = (part.weights.data, columns, part.weights.indptr)
        wide.append(csr_matrix(entries, shape=(len(part), len(terms))))
    users = tuple(user for part in parts for user in part.users)
    return Profiles(users, tuple(terms), csr_matrix(vstack(wide)))


@dataclass(frozen=True)
class Grouping:
    """A partition of users: user u is in group group_of[u] of 0..count-1; no group is empty."""

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

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of members of each group."""
        return np.bincount(self.group_of, minlength=self.count).astype(np.int64)

    @cached_property
    def indicator(self) -> csr_matrix:
        """Return groups x users, 1 where the user is a member."""
        users = self.group_of.size
        ones = np.ones(users)
        return csr_matrix((ones, (self.group_of, np.arange(users))), shape=(self.count, users))


@dataclass(frozen=True)
class ReleasedRow:
    """All that group mode may know: a row's name, how many people it is of, and its weights."""

    name: str
    users: int
    weights: Mapping[str, float]
    fallback: bool = False  # the fallback row: the mean of all groups, for users who are in none
    foreign: bool = False  # whether it serves a person who is in no group: they see its order only


class Slot(NamedTuple):
    """Occurrences of terms that a row publishes as one term, private: who had which."""

    row: int
    term: str  # as published
    occurrences: tuple[tuple[str, str], ...]  # (user, term), in the order in which users joined


@dataclass(frozen=True)
class Release:
    """What a method makes: rows and facts to publish, and in private who has which row."""

    rows: Profiles  # its "users" are row names: g0001, g0002, ...
    users: tuple[str, ...]  # private: all of the profiles' users, except those without a row
    row_of_user: Ints  # private: position in users -> position in rows
    method: str
    parameters: Mapping[str, object]
    facts: Mapping[str, object] = field(default_factory=dict)
    deletions: Profiles | None = None  # private: user -> term -> the pass in which it was deleted
    # Public: the released log, row -> query -> events. A release that is read again has none.
    log: Profiles | None = field(default=None, kw_only=True)
    # Private: what the method kept secret. Not in `repr`, so no traceback shows it.
    key: bytes | None = field(default=None, repr=False)
    promise: Promise = field(kw_only=True)
    # Private: what each published term stands for, if the method matches terms of members.
    slots: tuple[Slot, ...] = field(default=(), kw_only=True, repr=False)
    # Private: child and parent of the taxonomy that was given, if one was.
    taxonomy: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, repr=False)
    # Private, though public elsewhere: what documents say of the terms, if rows are made by it.
    base: Profiles | None = field(default=None, kw_only=True, repr=False)
    # Row -> the cohort of people that it was made of. The rows of all groups come first.
    cohort_of_row: Ints = field(default_factory=lambda: np.zeros(0, np.int64), kw_only=True)

    def __post_init__(self) -> None:
        grouping = Grouping(self.row_of_user)
        object.__setattr__(self, "row_of_user", grouping.group_of)
        if not self.cohort_of_row.size:
            object.__setattr__(self, "cohort_of_row", np.zeros(len(self.rows), np.int64))
        if len(self.users) != grouping.group_of.size:
            raise BadInput("every user needs exactly one row")
        if grouping.count != len(self.rows):
            raise BadInput("every row needs at least one user")
        _refuse_repeats("user", self.users)

    @cached_property
    def grouping(self) -> Grouping:
        """Return the users' partition: those in one group share a row."""
        return Grouping(self.row_of_user)

    @cached_property
    def groups(self) -> int:
        """Return the number of rows that are groups'; a fallback row is no group's."""
        sizes = self.grouping.sizes
        cohorts = [sizes[self.cohort_of_row == one] for one in np.unique(self.cohort_of_row)]
        # Groups that hide their members are equally large, so a smaller last row is no group.
        means = sum(int(of_cohort[-1] < of_cohort[0]) for of_cohort in cohorts)
        return int(sizes.size) - means * self.promise.hides_members

    @cached_property
    def group_rows(self) -> Profiles:
        """Return the rows that are groups', without a fallback row."""
        if self.groups == len(self.rows):
            return self.rows
        return self.rows.some(range(self.groups))

    @property
    def left_out(self) -> int:
        """Return how many users of the profiles have no row, as the method states it."""
        return whole(self.facts.get("users_left_out", 0))

    def number(self, parameter: str) -> float | None:
        """Return the value of `parameter`, or None if it is missing, off or not a number."""
        value = self.parameters.get(parameter)
        return value if isinstance(value, int | float) else None

    def serves(self, user: str) -> bool:
        """Return whether `user` has a row."""
        return user in self._position

    @cached_property
    def _position(self) -> dict[str, int]:
        return {user: at for at, user in enumerate(self.users)}

    @cached_property
    def _released(self) -> dict[int, ReleasedRow]:
        return {}  # row number -> row, once it was needed

    def row_for(self, user: str) -> ReleasedRow:
        """Return the released row that serves `user`."""
        if not self.serves(user):
            raise BadInput(f"this user is not in the release; it serves {len(self.users)} others")
        row = int(self.row_of_user[self._position[user]])
        return self.released_row(row)

    def released_row(self, row: int) -> ReleasedRow:
        """Return row number `row` as group mode sees it."""
        if row not in self._released:
            fallback, sizes = row >= self.groups, self.grouping.sizes
            people, name = int(sizes[row]), self.rows.users[row]
            if fallback:  # it is made of all who are in groups of its cohort, not of those served
                cohort = self.cohort_of_row[: self.groups] == self.cohort_of_row[row]
                people = int(sizes[: self.groups][cohort].sum())
            self._released[row] = ReleasedRow(name, people, self.rows.at(row), fallback)
        return self._released[row]


ROW_NAME = re.compile(r"g+[0-9]{4,}")


def row_names(count: int, taken: Set[str], first: int = 1) -> tuple[str, ...]:
    """Return `count` names numbered from `first`, with a prefix so that none is one of `taken`."""
    last = first + count - 1
    width = max(4, len(str(last)))
    prefix = "g"
    while any(f"{prefix}{number:0{width}d}" in taken for number in range(first, last + 1)):
        prefix += "g"
    return tuple(f"{prefix}{number:0{width}d}" for number in range(first, last + 1))


def is_short(value: float) -> bool:
    """Return whether `value` has at most 6 digits, without zeros at either end."""
    # A release quotes such numbers, and with more digits they could be somebody's id.
    if isinstance(value, int):
        return len(str(value).rstrip("0")) <= SHORT
    return repr(float(value)) == repr(float(f"{value:.{SHORT}g}"))


def whole(value: object) -> int:
    """Return `value`, which a release states, if it is a whole number; refuse any other."""
    if not isinstance(value, int):
        raise BadInput(f"{value} must be a whole number")
    return value


def _refuse_repeats(kind: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise BadInput(f"{len(names) - len(set(names))} {kind}s occur twice; each must occur once")


def largest(rows: Ints, columns: Ints, weights: Floats, shape: tuple[int, int]) -> csr_matrix:
    """Return a matrix of `weights` at `rows` and `columns`; of equal places the largest counts."""
    # csr_matrix would add them up. In this order the last entry of a place is its largest.
    order = np.lexsort((weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    last = np.ones(rows.size, dtype=bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return csr_matrix((weights[last], (rows[last], columns[last])), shape=shape)
