"""Refinement: exchange and move members while every group keeps its bounds (refine=swap).

The objective is the sum over groups of the length of the sum of the members' unit vectors. This is
the sum of all users' cosines to the centroid of their group. User by user in row order, the best
step is taken: a move to one of the five closest groups, or an exchange with one of their members.
Of equally good steps, the one to the lowest group is taken, a move first, then the lowest partner.
A step is possible only if both groups satisfy every bound after it, so a group that satisfies its
bounds goes on to do so. No group vanishes: a last member may not go, and would gain nothing.

The bounds of a changed group are computed from its members' original profiles each time. Sums of
weights that were added and subtracted would drift away from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..model import Grouping, Profiles, Progress, silent
from .bounds import Bounds, holds
from .nearest_groups import closest_groups
from .vectors import MatrixRows, add, clear, dot, dots, root, rows_of, square

PASSES = 5
_DIGITS = 1e9  # gains are compared to 9 decimals, so that ties are ties
# In units of the last decimal: a gain below a millionth may be an error of rounding.
_LEAST = 1000.0
_SHARE = 1024  # rows between two reports of progress


class _Groups(NamedTuple):
    """Who is in which group; a group's members are a linked list in row order, ended by -1."""

    group_of: Ints
    first: Ints
    following: Ints
    sizes: Ints
    squares: Floats  # a group's sum times itself
    products: Floats  # a member's vector times the group's sum


class _Desk(NamedTuple):
    """Room to add up a group's vectors and its terms; zeros between two uses."""

    sum: Floats
    pair: Floats  # a user's vector next to the sum of the user's group
    totals: Floats
    terms: Ints
    weights: Floats


class _Work(NamedTuple):
    """All that the loops read and write."""

    rows: MatrixRows
    terms: MatrixRows
    bounds: Bounds
    overall: Floats
    groups: _Groups
    desk: _Desk


def refine(
    profiles: Profiles,
    vectors: csr_matrix | Floats,
    grouping: Grouping,
    bounds: Bounds,
    overall: Floats,
    *,
    passes: int = PASSES,
    progress: Progress = silent,
) -> Grouping:
    """Return `grouping` after moves and exchanges, until nothing changes or all passes are made."""
    rows, terms = rows_of(vectors), rows_of(profiles.weights)
    width, span = vectors.shape[1], len(profiles.terms)
    total, pair = np.zeros(width), np.zeros((width, 2))
    desk = _Desk(total, pair, np.zeros(span), np.empty(span, dtype=np.int64), np.empty(span))
    for _ in range(passes):
        group_of = grouping.group_of.copy()
        order = np.argsort(group_of, kind="stable")
        starts = np.cumsum(grouping.sizes) - grouping.sizes
        following: Ints = np.full(group_of.size, -1, dtype=np.int64)
        same = group_of[order[1:]] == group_of[order[:-1]]
        following[order[:-1][same]] = order[1:][same]
        squares, products = np.empty(grouping.count), np.empty(group_of.size)
        sizes = grouping.sizes.copy()
        groups = _Groups(group_of, order[starts], following, sizes, squares, products)
        work = _Work(rows, terms, bounds, overall, groups, desk)
        _measure_all(work)
        candidates = closest_groups(vectors, grouping)
        steps = 0
        for first in range(0, len(profiles), _SHARE):
            last = min(first + _SHARE, len(profiles))
            steps += _sweep(first, last, candidates, work)
            progress(last)
        grouping = Grouping(work.groups.group_of)
        if not steps:
            break
    return grouping


@compiled
def _measure_all(work: Any) -> None:
    for group in range(work.groups.first.size):
        _measure(group, work)


@compiled
def _measure(group: int, work: Any) -> None:
    """Note the products of the sum of a group's vectors with each of them, and with itself."""
    groups, total = work.groups, work.desk.sum
    member = groups.first[group]
    while member >= 0:
        add(work.rows, member, total)
        member = groups.following[member]
    groups.squares[group], member = 0.0, groups.first[group]
    while member >= 0:
        groups.products[member] = dot(work.rows, member, total)
        groups.squares[group] += groups.products[member]
        member = groups.following[member]
    member = groups.first[group]
    while member >= 0:
        clear(work.rows, member, total)
        member = groups.following[member]


@compiled
def _sweep(first: int, last: int, candidates: Any, work: Any) -> int:
    """Take the best possible step of each of some users; return the number of steps."""
    steps = 0
    for row in range(first, last):
        others, partners, gains = _propose(row, candidates[row], work)
        while gains.size:
            best = np.argmax(gains)
            if gains[best] < _LEAST:
                break
            # A check of the bounds adds up whole profiles, so only the best steps are checked.
            if _possible(row, others[best], partners[best], work):
                _step(row, others[best], partners[best], work)
                steps += 1
                break
            gains[best] = 0.0
    return steps


@compiled
def _propose(row: int, candidates: Any, work: Any) -> Any:
    """Return all steps of a user: to which group, for which partner (-1: none), and the gain."""
    groups = work.groups
    own, total = groups.group_of[row], 0
    for other in candidates:
        if other not in (-1, own):
            total += groups.sizes[other] + 1
    others, partners = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    gains = np.empty(total)
    made = 0
    add(work.rows, row, work.desk.pair[:, 0])
    member = work.groups.first[work.groups.group_of[row]]
    while member >= 0:
        add(work.rows, member, work.desk.pair[:, 1])
        member = work.groups.following[member]
    for other in candidates:
        if other in (-1, own):
            continue
        count = groups.sizes[other] + 1
        others[made : made + count] = other
        _weigh(row, other, work, partners[made : made + count], gains[made : made + count])
        made += count
    clear(work.rows, row, work.desk.pair[:, 0])
    member = work.groups.first[work.groups.group_of[row]]
    while member >= 0:
        clear(work.rows, member, work.desk.pair[:, 1])
        member = work.groups.following[member]
    return others, partners, gains


@compiled
def _weigh(row: int, other: int, work: Any, partners: Any, gains: Any) -> None:
    """Compute the gain of a move into a group, and of an exchange with each of its members."""
    # S and T are the sums of the own and the other group, x and y the two vectors. An exchange
    # turns |S|² into |S - x + y|² = |S - x|² + |y|² + 2 (S·y - x·y); with T, swap x and y.
    rows, groups = work.rows, work.groups
    own_products = np.empty(gains.size)  # S·y
    shared = np.empty(gains.size)  # x·y; together they are x·T
    partners[0], partner, in_all = -1, groups.first[other], 0.0
    for at in range(1, gains.size):
        partners[at] = partner
        shared[at], own_products[at] = dots(rows, partner, work.desk.pair)
        in_all += shared[at]
        partner = groups.following[partner]
    own_square, other_square = groups.squares[groups.group_of[row]], groups.squares[other]
    before = root(own_square) + root(other_square)
    left = own_square + square(rows, row) - 2 * groups.products[row]
    joined = other_square + square(rows, row) + 2 * in_all
    gains[0] = np.rint((root(left) + root(joined) - before) * _DIGITS)
    for at in range(1, gains.size):
        itself, theirs = square(rows, partners[at]), groups.products[partners[at]]
        own_after = root(left + itself + 2 * (own_products[at] - shared[at]))
        other_after = root(joined + itself - 2 * (theirs + shared[at]))
        gains[at] = np.rint((own_after + other_after - before) * _DIGITS)


@compiled
def _possible(row: int, other: int, partner: int, work: Any) -> bool:
    """Return whether both groups satisfy every bound after a step."""
    own = work.groups.group_of[row]
    if partner < 0 and work.groups.sizes[own] == 1:
        return False
    kept = _holds_after(own, row, partner, work)
    return bool(kept and _holds_after(other, partner, row, work))


@compiled
def _holds_after(group: int, leaving: int, joining: int, work: Any) -> bool:
    """Return whether a group satisfies every bound when one leaves and one joins (-1: nobody)."""
    groups, desk = work.groups, work.desk
    members, size = 0, 0
    member = joining if joining >= 0 else groups.first[group]
    while member >= 0:
        if member != leaving:
            members += 1
            size = _count(member, size, work)
        member = groups.first[group] if member == joining else groups.following[member]
    for i in range(size):
        desk.weights[i] = desk.totals[desk.terms[i]]
        desk.totals[desk.terms[i]] = 0.0
    kept: bool = holds(work.bounds, members, desk.terms, desk.weights, size, work.overall)
    return kept


@compiled
def _count(member: int, size: int, work: Any) -> int:
    """Add a member's original weights to a group's; return the number of its terms so far."""
    terms, desk = work.terms, work.desk
    for i in range(terms.starts[member], terms.starts[member + 1]):
        term = terms.columns[i]
        # Every weight is above 0, so a total of 0 means that the term is new.
        if desk.totals[term] == 0:
            desk.terms[size] = term
            size += 1
        desk.totals[term] += terms.values[i]
    return size


@compiled
def _step(row: int, other: int, partner: int, work: Any) -> None:
    """Move a user into a group, and the partner, if any, the other way."""
    own = work.groups.group_of[row]
    _unlink(row, work.groups)
    _link(row, other, work.groups)
    if partner >= 0:
        _unlink(partner, work.groups)
        _link(partner, own, work.groups)
    _measure(own, work)
    _measure(other, work)


@compiled
def _unlink(row: int, groups: Any) -> None:
    group = groups.group_of[row]
    groups.sizes[group] -= 1
    if groups.first[group] == row:
        groups.first[group] = groups.following[row]
        return
    before = groups.first[group]
    while groups.following[before] != row:
        before = groups.following[before]
    groups.following[before] = groups.following[row]


@compiled
def _link(row: int, group: int, groups: Any) -> None:
    groups.group_of[row] = group
    groups.sizes[group] += 1
    if not 0 <= groups.first[group] < row:
        groups.following[row] = groups.first[group]
        groups.first[group] = row
        return
    before = groups.first[group]
    while 0 <= groups.following[before] < row:
        before = groups.following[before]
    groups.following[row] = groups.following[before]
    groups.following[before] = row
