"""How much what a mode serves may change what is believed of anybody's term, and how often.

The attacker reads a term's own column of the rows, as anonymizer/measures/belief.py says. Each row
and each term is a cell, terms that a row does not hold included; in a cell the promise of equation
1 is broken if belief changes by more than p.

Clipped shares have a rule here: nobody releases them. Of a share within p of the prior they say how
many members have the term; of others only that it is at least, or at most, as far off. What is
expected of these is the mean over all assignments of the owners that fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from anonymizer.bounded_shares import counts_of
from anonymizer.measures.assignments import Kind, expected_shares
from anonymizer.measures.belief import infer
from anonymizer.model import Profiles, Release
from anonymizer.representative import row_names

from .baselines import Situation, random_groups
from .outcomes import Floats, Ints
from .unit_facts import Facts

_ROUNDING = 1e-12
_OF = {"smoothed": "group"}  # made of what another mode's rows publish: it tells no more
_Change = tuple[Floats, Ints]  # of belief, and how many cells have it


def largest(mode: str) -> str:
    """Name the fact that holds a mode's largest change of belief."""
    return f"belief_{_OF.get(mode, mode)}"


def beyond(mode: str) -> str:
    """Name the fact that holds the share of a mode's cells that break the promise."""
    return f"beyond_p_{_OF.get(mode, mode)}"


def facts_of_beliefs(situation: Situation, modes: Iterable[str]) -> Facts:
    """Measure what each of the modes lets an attacker believe; nothing where there is no p."""
    p = situation.released.parameters.get("p")
    facts: Facts = {}
    for mode in dict.fromkeys(_OF.get(mode, mode) for mode in modes):
        if p is not None and mode in _CHANGES:
            change, cells = _CHANGES[mode](situation)
            some = cells > 0
            facts[largest(mode)] = float(change[some].max())
            broken = cells[change > float(p) + _ROUNDING].sum()
            facts[beyond(mode)] = float(broken / cells.sum())
    return facts


def _of_group(situation: Situation) -> _Change:
    return _of_release(situation.profiles, situation.released)


def _of_random_groups(situation: Situation) -> _Change:
    """Infer from the rows of random groups as if they were released."""
    release, drawn = situation.released, random_groups(situation)
    served = np.flatnonzero(drawn.row_of >= 0)
    users = tuple(situation.profiles.users[user] for user in served.tolist())
    names = row_names(drawn.weights.shape[0], set(users))
    rows = Profiles(names, drawn.terms, drawn.weights)
    method = release.method if "representative" in release.parameters else "random groups"
    made = Release(rows, users, drawn.row_of[served], method, release.parameters)
    return _of_release(situation.profiles, made)


def _of_release(profiles: Profiles, release: Release) -> _Change:
    columns, posteriors = infer(profiles, release)
    prior = columns.having / columns.users
    standing = np.abs(posteriors.standing - prior[columns.term])
    lacking = np.abs(posteriors.lacking - prior[:, None])
    once = np.ones(standing.size, dtype=np.int64)
    return np.append(standing, lacking.ravel()), np.append(once, columns.lacking.ravel())


def _of_clipped(situation: Situation) -> _Change:
    """Infer from shares of members that were clipped to within p of the prior."""
    profiles, release = situation.profiles, situation.released
    p, users = Fraction(str(release.parameters["p"])), len(profiles)
    sizes, group_of = np.unique(release.grouping.sizes, return_inverse=True)
    counts = counts_of(profiles, release.grouping).tocsc()
    groups = np.bincount(group_of, minlength=sizes.size)
    looks: dict[tuple[int, bytes], list[tuple[float, int]]] = {}
    change, cells = [], []
    for term in range(counts.shape[1]):
        part = slice(counts.indptr[term], counts.indptr[term + 1])
        table = np.zeros((sizes.size, int(sizes[-1]) + 1), dtype=np.int64)
        np.add.at(table, (group_of[counts.indices[part]], counts.data[part].astype(np.int64)), 1)
        table[:, 0] = groups - table.sum(axis=1)
        having = int(counts.data[part].sum())
        look = having, table.tobytes()
        if look not in looks:
            looks[look] = _inferred(table, sizes, having, users, p)
        change += [abs(share - having / users) for share, _ in looks[look]]
        cells += [number for _, number in looks[look]]
    return np.array(change), np.array(cells, dtype=np.int64)


def _inferred(
    table: Ints, sizes: Ints, having: int, users: int, p: Fraction
) -> list[tuple[float, int]]:
    """Return what is believed of a term in groups of each size and count, and in how many groups.

    The table holds how many groups of each size have each count of members with the term.
    """
    told, kinds, hidden = [], [], 0
    prior = Fraction(having, users)
    for size, line in zip(sizes.tolist(), table, strict=True):
        low, high = math.floor(size * (prior - p)), math.ceil(size * (prior + p))
        counts = np.arange(size + 1)
        told += [(c / size, int(line[c])) for c in counts[(counts > low) & (counts < high)]]
        for open_ in (counts[counts <= low], counts[counts >= high]):
            if open_.size and line[open_].any():
                kinds.append(Kind(int(line[open_].sum()), size, open_))
                hidden += int(line[open_] @ open_)
    expected = expected_shares(hidden, kinds) if kinds else []
    return told + [(share, kind.groups) for share, kind in zip(expected, kinds, strict=True)]


_CHANGES: dict[str, Callable[[Situation], _Change]] = {
    "group": _of_group,
    "random-groups": _of_random_groups,
    "clipped": _of_clipped,
}
