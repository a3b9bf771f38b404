"""What members have below the terms that their row publishes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints, Marks
from ..files.evidence import JudgedRows
from ..files.profiles import JudgedProfiles
from ..promises.rows import find, find_any
from .network import TermNetwork
from .slots import Slots


class Below(NamedTuple):
    """What is below the terms that rows publish."""

    stray: Marks  # slots with an occurrence that is not
    twice: Ints  # rows with a term below two of theirs
    keys: Ints  # row * span + term, ascending
    total: Floats  # of all members of the row: their occurrences below the term
    least: Floats  # of the member who has the fewest

    def more_or_less(self, slots: Slots, *, whole: bool) -> Marks:
        """Return marks for `slots` that are not `whole`, or are too many or too few of a term."""
        keys = slots.row * len(slots.terms) + slots.term
        different, at, times = np.unique(keys, return_inverse=True, return_counts=True)
        here, known = find(different, self.keys)
        # No occurrence is used twice, so only one slot of a term can hold all that is below it.
        wrong: Marks = ~known[at] | (slots.sizes != self.total[here][at])
        if not whole:
            wrong = (~known | (self.least[here] != times))[at]
        return wrong


def below(
    slots: Slots, network: TermNetwork, people: JudgedProfiles, group_of: Ints, rows: JudgedRows
) -> Below:
    """Return what of `people` is below the terms of `rows`, by `network`; `group_of` serves them.

    The `slots` are those of the rows.
    """
    number = {rows.terms[at]: at for at in np.unique(rows.cells.columns).tolist()}
    ways = [network.way_up(term) for term in people.terms]
    names = (map(network.word, way) for way in ways)
    named = [[number[name] for name in some if name in number] for some in names]
    ends = np.cumsum([0, *map(len, named)])
    above = np.array([at for some in named for at in some], dtype=np.int64)
    term = np.repeat(np.arange(len(ways)), np.diff(ends))
    stray = ~np.isin(slots.own * rows.span + slots.term[slots.slot], term * rows.span + above)
    stray_slots = np.bincount(slots.slot, stray, slots.row.size) > 0
    # Each cell of a profile, next to each published term above it that its row has.
    user = np.repeat(np.arange(group_of.size), people.sizes)
    column = people.cells.columns
    times = np.where(group_of[user] >= 0, np.diff(ends)[column], 0)
    cell = np.repeat(np.arange(user.size), times)
    place = np.arange(cell.size) - np.repeat(np.cumsum(times) - times, times)
    keys = group_of[user[cell]] * rows.span + above[ends[column[cell]] + place]
    at, there = find_any(keys, rows.keys)
    cell, at = cell[there], at[there]
    twice = group_of[user[cell[1:][cell[1:] == cell[:-1]]]]
    # For each member and term of their row, what the member has below it.
    pairs, back = np.unique(at * group_of.size + user[cell], return_inverse=True)
    own: Floats = np.bincount(back, people.cells.weights[cell], pairs.size).astype(np.float64)
    of, count = pairs // group_of.size, rows.keys.size
    least = np.full(count, np.inf)
    np.minimum.at(least, of, own)
    members = np.bincount(group_of[group_of >= 0], minlength=len(rows.names))
    least[np.bincount(of, minlength=count) < members[rows.keys // rows.span]] = 0
    total: Floats = np.bincount(of, own, count).astype(np.float64)
    return Below(stray_slots, twice, rows.keys, total, least)
