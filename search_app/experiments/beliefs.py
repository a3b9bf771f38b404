"""How much what a mode serves may change what is believed of anybody's term, and how often.

The attacker reads a term's own column of the rows, as anonymizer/measures/belief.py says. Each row
and each term is a cell, terms that a row does not hold included; in a cell the promise of equation
1 is broken if belief changes by more than p.

Clipped and suppressed shares have rules here: nobody releases them. Of a share within p of the
prior they say how many members have the term. Of others clipped shares say only that it is at
least, or at most, as far off; suppressed shares only that it is 0 or further off. What is expected
of these is the mean over all assignments of the owners that fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

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
# Made of what another mode's rows publish, or served beside it by the own device: no more is told.
_OF = dict.fromkeys(("smoothed", "two-stages", "two-stages-smoothed"), "group")
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


# Sets of counts that look alike in a row of some size, by the prior and p.
_Alike = Callable[[int, Fraction, Fraction], tuple[Ints, ...]]


def _clipped(size: int, prior: Fraction, p: Fraction) -> tuple[Ints, ...]:
    """Return the counts of shares clipped from below, and of those clipped from above."""
    counts = np.arange(size + 1)
    low, high = math.floor(size * (prior - p)), math.ceil(size * (prior + p))
    ends = counts[counts <= low], counts[counts >= high]
    return tuple(end for end in ends if end.size)


def _suppressed(size: int, prior: Fraction, p: Fraction) -> tuple[Ints, ...]:
    """Return the counts of which no cell stands: none, too few and too many."""
    counts = np.arange(size + 1)
    low, high = math.ceil(size * (prior - p)), math.floor(size * (prior + p))
    return (counts[(counts == 0) | (counts < low) | (counts > high)],)


def _of_alike(situation: Situation, rule: _Alike) -> _Change:
    """Infer from shares of members some of which look alike.

    Terms of as many users, with the same cells in as many rows of each size, are inferred once.
    """
    profiles, release = situation.profiles, situation.released
    p, users = Fraction(str(release.parameters["p"])), len(profiles)
    sizes, group_of = np.unique(release.grouping.sizes, return_inverse=True)
    counts = counts_of(profiles, release.grouping).tocsc()
    groups = np.bincount(group_of, minlength=sizes.size)
    alike = cache(lambda having: [rule(m, Fraction(having, users), p) for m in sizes.tolist()])
    looks: dict[tuple[int, bytes], list[tuple[float, int]]] = {}
    change, cells = [], []
    for term in range(counts.shape[1]):
        part = slice(counts.indptr[term], counts.indptr[term + 1])
        table = np.zeros((sizes.size, int(sizes[-1]) + 1), dtype=np.int64)
        np.add.at(table, (group_of[counts.indices[part]], counts.data[part].astype(np.int64)), 1)
        table[:, 0] = groups - table.sum(axis=1)
        having = int(counts.data[part].sum())
        for line, sets in zip(table, alike(having), strict=True):
            for open_ in sets:
                line[open_[0]], line[open_[1:]] = line[open_].sum(), 0
        look = having, table.tobytes()
        if look not in looks:
            looks[look] = _inferred(table, sizes, having, alike(having))
        change += [abs(share - having / users) for share, _ in looks[look]]
        cells += [number for _, number in looks[look]]
    return np.array(change), np.array(cells, dtype=np.int64)


def _inferred(
    table: Ints, sizes: Ints, having: int, alike: list[tuple[Ints, ...]]
) -> list[tuple[float, int]]:
    """Return what is believed of a term in groups of each size and look, and in how many groups.

    The table holds how many groups of each size have each count of members with the term; those
    whose counts look alike stand at the least of these.
    """
    told, kinds, hidden = [], [], having
    for size, line, sets in zip(sizes.tolist(), table, alike, strict=True):
        says = np.ones(size + 1, dtype=np.bool_)
        for open_ in sets:
            says[open_] = False
            if line[open_[0]]:
                kinds.append(Kind(int(line[open_[0]]), size, open_))
        counts = np.flatnonzero(says)
        told += [(c / size, int(line[c])) for c in counts]
        hidden -= int(line[counts] @ counts)
    expected = expected_shares(hidden, kinds) if kinds else []
    return told + [(share, kind.groups) for share, kind in zip(expected, kinds, strict=True)]


_CHANGES: dict[str, Callable[[Situation], _Change]] = {
    "group": _of_group,
    "random-groups": _of_random_groups,
    "clipped": lambda situation: _of_alike(situation, _clipped),
    "suppressed": lambda situation: _of_alike(situation, _suppressed),
}
