"""What all parts together are, by sums over the parts, and the parts with it at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple, TypeVar

import numpy as np

from ..arrays import Floats, Ints, Marks
from ..model import Profiles, Release
from ..profiles.rare_terms import are_sessions, people_with_term, without_terms
from ..storage.sharded import called_like_rows
from .parts import Parts

G = TypeVar("G")
S = TypeVar("S")
T = TypeVar("T")


class Crowd(NamedTuple):
    """Everybody, where some profiles are only a part: sums over all of them."""

    # Also those that are rare or nobody's, so that a number is of the same term in all parts.
    terms: tuple[str, ...]
    users: int
    having: Ints  # number of a term -> users who have it
    profile_terms: int  # the sum of the numbers of terms of all profiles
    weights: Floats  # number of a term -> the sum of its weights

    @property
    def average_size(self) -> float:
        """Return the mean number of terms of a profile."""
        return self.profile_terms / self.users


Measure = Callable[[Crowd | None, Profiles | None, Release], S]
Made = tuple[Release, S]  # a shard, and what was measured of it


@dataclass(frozen=True)
class Dealt:
    """Parts of everybody; terms without a mark are rare, and in no profile any more."""

    parts: Parts
    everybody: Crowd
    like_rows: frozenset[str]  # users who are called as rows are
    common: Marks | None = None
    least: int = 1

    @property
    def sizes(self) -> list[int]:
        """Return the number of users of each part."""
        sizes: list[int] = np.bincount(self.parts.part_of).tolist()
        return sizes

    def each(self, work: Callable[[Profiles, G], T], given: Sequence[G]) -> Iterator[T]:
        """Yield `work(profiles, given[i])` for each part i, without rare terms."""
        if self.common is not None:
            work = partial(_on_common, work, self.common, self.least)
        return self.parts.each(work, given)


def _on_common(
    work: Callable[[Profiles, G], T], common: Marks, least: int, profiles: Profiles, given: G
) -> T:
    return work(without_terms(profiles, ~common, least), given)


def with_everybody(parts: Parts, least: int = 1) -> Dealt:
    """Return `parts` without the terms that fewer than `least` people have, and what they sum to.

    Raise Unsatisfiable if somebody has no term left.
    """
    numbers = range(int(parts.part_of.max()) + 1)
    common: Marks | None = None
    if least > 1:
        counted = list(parts.each(_people, numbers))
        # A person of several sessions counts once, but only if all users are named as sessions.
        sessions = all(are for are, _, _ in counted)
        having = np.sum([people if sessions else users for _, users, people in counted], axis=0)
        common = having >= least
    # Summed without rare terms: groups are made of these profiles, and bounds must fit them.
    work = _sums if common is None else partial(_on_common, _sums, common, least)
    everybody, like_rows = reduce(_added, parts.each(work, numbers))
    return Dealt(parts, everybody, like_rows, common, least)


def part_seed(seed: int, part: int) -> int:
    """Return the seed of the work on `part`, of those that `seed` decides."""
    # Not the seed plus the part: then one seed's second part would repeat the next seed's first.
    digest = hashlib.blake2b(f"{seed} {part}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _people(profiles: Profiles, _part: int) -> tuple[bool, Ints, Ints]:
    """Return whether all users are sessions, and users and people with each term."""
    return are_sessions(profiles.users), _users_with_term(profiles), people_with_term(profiles)


def _users_with_term(profiles: Profiles) -> Ints:
    return np.bincount(profiles.weights.indices, minlength=len(profiles.terms)).astype(np.int64)


def _sums(profiles: Profiles, _part: int) -> tuple[Crowd, frozenset[str]]:
    cells, span = profiles.weights, len(profiles.terms)
    weights = np.bincount(cells.indices, weights=cells.data, minlength=span).astype(np.float64)
    counted = _users_with_term(profiles)
    sums = Crowd(profiles.terms, len(profiles), counted, int(cells.nnz), weights)
    return sums, called_like_rows(profiles.users)


def _added(
    one: tuple[Crowd, frozenset[str]], other: tuple[Crowd, frozenset[str]]
) -> tuple[Crowd, frozenset[str]]:
    (first, like_rows), (second, more) = one, other
    sums = Crowd(
        first.terms,
        first.users + second.users,
        first.having + second.having,
        first.profile_terms + second.profile_terms,
        first.weights + second.weights,
    )
    return sums, like_rows | more
