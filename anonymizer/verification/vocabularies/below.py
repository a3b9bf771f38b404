"""What members have below the terms that their row publishes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints, Marks
from ..files.evidence import JudgedRows
from ..files.profiles import JudgedProfiles
from ..recounts.rows import find
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
    named = {at: [number[one] for one in some if one in number] for at, some in enumerate(names)}
    own = zip(slots.own.tolist(), slots.term[slots.slot].tolist(), strict=True)
    stray = [term not in named.get(at, ()) for at, term in own]
    place = {key: at for at, key in enumerate(rows.keys.tolist())}
    total, least = np.zeros(rows.keys.size), np.full(rows.keys.size, np.inf)
    members, twice = np.zeros(rows.keys.size, dtype=np.int64), list[int]()
    ends, columns = people.cells.ends.tolist(), people.cells.columns.tolist()
    weights = people.cells.weights.tolist()
    for user, group in enumerate(group_of.tolist()):
        below_of: dict[int, float] = {}  # what the user has below each term of the row
        for cell in range(*ends[user : user + 2]) if group >= 0 else ():
            keys = (group * rows.span + term for term in named[columns[cell]])
            here = [place[key] for key in keys if key in place]
            twice += [group] * (len(here) > 1)
            for one in here:
                below_of[one] = below_of.get(one, 0.0) + weights[cell]
        for one, count in below_of.items():
            total[one] += count
            least[one] = min(least[one], count)
            members[one] += 1
    sizes = np.bincount(group_of[group_of >= 0], minlength=len(rows.names))
    least[members < sizes[rows.keys // rows.span]] = 0
    stray_slots = np.bincount(slots.slot, stray, slots.row.size) > 0
    return Below(stray_slots, np.array(twice, dtype=np.int64), rows.keys, total, least)
