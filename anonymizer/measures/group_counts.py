"""How many members of each group have each term, counted for the measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Marks
from ..errors import BadInput
from ..model import Profiles, Release
from ..profiles.rare_terms import without_rare_terms

if TYPE_CHECKING:
    from ..backends.everybody import Crowd

if TYPE_CHECKING:
    pass


class GroupCounts(NamedTuple):
    """One cell for each group and each term that a member has, group by group."""

    sizes: Ints  # members a group
    distinct: Ints  # distinct terms a group
    begins: Ints  # each group's first cell
    group: Ints  # cell -> group
    term: Ints  # cell -> term of the profiles
    members: Ints | Floats  # cell -> members who have the term
    users: int
    having: Ints  # term -> users who have it
    average_size: float  # |U|avg
    share: Floats  # cell -> the share of the group's members who have the term

    def among(self, everybody: Crowd | None) -> GroupCounts:
        """Return these counts of groups that are some of those of `everybody`; None: all."""
        if everybody is None:
            return self
        return self._replace(
            users=everybody.users,
            having=everybody.having,
            average_size=everybody.average_size,
        )


def count_groups(
    profiles: Profiles, release: Release, everybody: Crowd | None = None
) -> GroupCounts:
    """Return how many members of each group of `release` have each term of their `profiles`.

    If the profiles are a part of `everybody`, they have no rare terms any more.
    """
    if everybody is None:
        profiles = without_rare_terms(profiles, release.parameters)  # as the method saw them
    row_of = row_of_each(profiles, release)
    served = (row_of >= 0) & (row_of < release.groups)
    sizes = np.bincount(row_of[served], minlength=release.groups)
    span = len(profiles.terms)
    keys = np.repeat(row_of * span, profiles.sizes) + profiles.weights.indices
    if not served.all():
        keys = keys[np.repeat(served, profiles.sizes)]
    # The keys are ascending runs, one a user: of numpy's sorts only the stable one uses that.
    keys.sort(kind="stable")
    new = np.ones(keys.size, dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    at = np.flatnonzero(new)
    group, term = np.divmod(keys[at], span)
    distinct = np.bincount(group, minlength=sizes.size)
    members = np.diff(at, append=keys.size)
    counts = GroupCounts(
        sizes=sizes,
        distinct=distinct,
        begins=np.cumsum(distinct) - distinct,
        group=group,
        term=term,
        members=members,
        users=len(profiles),
        having=np.bincount(profiles.weights.indices, minlength=span),
        average_size=float(profiles.sizes.mean()),
        share=members / sizes[group],
    )
    return counts.among(everybody)


def row_of_each(profiles: Profiles, release: Release) -> Ints:
    """Return the row number in `release` of each user of `profiles`; -1 for users without a row."""
    if profiles.users == release.users:
        return release.row_of_user
    there = len(release.users) + release.left_out
    if len(profiles) != there or not set(release.users) <= set(profiles.users):
        raise BadInput("the release was not made from these profiles: their users differ")
    row_of = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    return np.array([row_of.get(user, -1) for user in profiles.users], dtype=np.int64)


def columns_in(profiles: Profiles, release: Release) -> Ints:
    """Return the number in `profiles` of each term of the rows of `release`; -1 for no such term.

    Only rows of matched vocabularies may have terms that nobody has, such as "artifact", and rows
    of noisy counts.
    """
    number = {term: at for at, term in enumerate(profiles.terms)}
    column = np.array([number.get(term, -1) for term in release.rows.terms], dtype=np.int64)
    if release.promise.bounds not in ("vocabulary", "differential") and np.any(column < 0):
        raise BadInput("the release was not made from these profiles: it has other terms")
    return column


def published_cells(profiles: Profiles, release: Release, counts: GroupCounts) -> Marks:
    """Return marks for the cells of `counts` whose terms stand in the groups' rows in `release`."""
    span = len(profiles.terms)
    column = columns_in(profiles, release)[release.rows.weights.indices]
    keys = np.repeat(np.arange(len(release.rows)) * span, release.rows.sizes) + column
    present = counts.group * span + counts.term
    at = np.minimum(np.searchsorted(present, keys), present.size - 1)
    marks = np.zeros(present.size, dtype=np.bool_)
    # Rows of matched vocabularies may have terms that no member has, or nobody.
    marks[at[(present[at] == keys) & (column >= 0)]] = True
    return marks


def published_counts(release: Release, everybody: Crowd | None = None) -> GroupCounts:
    """Return the counts that the rows of `release` publish; they need not be whole numbers.

    Its groups may be some of those of `everybody`, and then terms have everybody's numbers.
    """
    sizes, rows = release.grouping.sizes[: release.groups], release.rows.weights[: release.groups]
    distinct = np.diff(rows.indptr)
    group = np.repeat(np.arange(sizes.size), distinct)
    members = rows.data * sizes[group]
    having = np.rint(np.bincount(rows.indices, weights=members, minlength=rows.shape[1]))
    term = rows.indices.astype(np.int64)
    if everybody is not None:
        number = {term: at for at, term in enumerate(everybody.terms)}
        term = np.array([number[term] for term in release.rows.terms], dtype=np.int64)[term]
    counts = GroupCounts(
        sizes=sizes,
        distinct=distinct,
        begins=np.cumsum(distinct) - distinct,
        group=group,
        term=term,
        members=members,
        users=int(sizes.sum()),
        having=having.astype(np.int64),
        average_size=float(having.sum() / sizes.sum()),
        share=rows.data,
    )
    return counts.among(everybody)


def in_groups(profiles: Profiles, release: Release) -> Profiles:
    """Return those of `profiles` whose users are in groups of `release`."""
    row_of = row_of_each(profiles, release)
    inside = np.flatnonzero((row_of >= 0) & (row_of < release.groups))
    if inside.size == len(profiles):
        return profiles
    return profiles.some(inside)


def released_weights(profiles: Profiles, release: Release) -> Floats:
    """Return for each weight of `profiles` the weight of that term in the user's released row."""
    span, rows = len(profiles.terms), release.rows.weights
    column = columns_in(profiles, release)[rows.indices]
    released = np.repeat(np.arange(len(release.rows)) * span, release.rows.sizes)
    # No user has a term that only rows have.
    released = np.where(column < 0, -1, released + column)
    order = np.argsort(released, kind="stable")
    row_of = row_of_each(profiles, release)
    wanted = np.repeat(row_of * span, profiles.sizes) + profiles.weights.indices
    at: NDArray[np.int64] = np.searchsorted(released, wanted, sorter=order)
    at = order[np.minimum(at, order.size - 1)]
    weights: Floats = np.where(released[at] == wanted, rows.data[at], 0.0)
    return weights
