"""How much the rows of a mode may change belief about a person's terms, and how often.

The attacker reads a term's own column of the rows, as anonymizer/measures/belief.py says. Each pair
of a row and a term is a cell, also where the row lacks the term. A cell breaks the promise of
equation 1 if belief changes by more than p there.

Clipped and suppressed shares have their rules here, as no method releases them. Both reveal a share
within p of the prior. Of other shares, a clipped one reveals only that it is p or more off, and on
which side. A suppressed one reveals only that it is 0 or more than p off. The belief about these is
the mean over all assignments of the owners that fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.grouping.shares import counts_of
from anonymizer.measures.assignments import Kind, expected_shares
from anonymizer.measures.belief import infer
from anonymizer.model import Profiles, Release, row_names
from anonymizer.promise import UNKNOWN

from .facts import Facts
from .modes import Situation, random_groups

_ROUNDING = 1e-12
# These modes use nothing but another mode's published rows, or add only work on the own device.
# So an attacker learns from them what the other mode's rows reveal.
_OF = dict.fromkeys(("smoothed", "two-stages", "two-stages-smoothed"), "group")
_Change = tuple[Floats, Ints]  # changes of belief, and in how many cells each occurs


def largest(mode: str) -> str:
    """Return the name of the fact that holds the largest change of belief by `mode`."""
    return f"belief_{_OF.get(mode, mode)}"


def beyond(mode: str) -> str:
    """Return the name of the fact that holds the share of cells of `mode` beyond p."""
    return f"beyond_p_{_OF.get(mode, mode)}"


def facts_of_beliefs(situation: Situation, modes: Iterable[str]) -> Facts:
    """Return what an attacker may believe by each of `modes`; nothing if there is no p."""
    p = situation.released.number("p")
    facts: Facts = {}
    for mode in dict.fromkeys(_OF.get(mode, mode) for mode in modes):
        if p is not None and mode in _CHANGES:
            change, cells = _CHANGES[mode](situation)
            # A value without cells is a count that no group has.
            some = cells > 0
            facts[largest(mode)] = float(change[some].max())
            broken = cells[change > p + _ROUNDING].sum()
            facts[beyond(mode)] = float(broken / cells.sum())
    return facts


def _of_random_groups(situation: Situation) -> _Change:
    """Return the changes of belief as if rows of random groups were released."""
    release, drawn = situation.released, random_groups(situation)
    served = np.flatnonzero(drawn.row_of >= 0)
    users = tuple(situation.profiles.users[user] for user in served.tolist())
    names = row_names(drawn.weights.shape[0], set(users))
    rows = Profiles(names, drawn.terms, drawn.weights)
    # Random groups of methods without representatives are plain centroids, without their promise.
    promise = release.promise if "representative" in release.parameters else UNKNOWN
    made = replace(release, rows=rows, users=users, row_of_user=drawn.row_of[served])
    return _of_release(situation.profiles, replace(made, promise=promise))


def _of_release(profiles: Profiles, release: Release) -> _Change:
    columns, posteriors = infer(profiles, release)
    prior = columns.having / columns.users
    standing = np.abs(posteriors.standing - prior[columns.term])
    lacking = np.abs(posteriors.lacking - prior[:, None])
    once = np.ones(standing.size, dtype=np.int64)
    return np.append(standing, lacking.ravel()), np.append(once, columns.lacking.ravel())


# From a row's size, the prior and p: sets of counts of members that a row doesn't tell apart.
_Alike = Callable[[int, Fraction, Fraction], tuple[Ints, ...]]


def _clipped(size: int, prior: Fraction, p: Fraction) -> tuple[Ints, ...]:
    """Return the counts whose shares are clipped from below, and those clipped from above."""
    counts = np.arange(size + 1)
    low, high = math.floor(size * (prior - p)), math.ceil(size * (prior + p))
    ends = counts[counts <= low], counts[counts >= high]
    return tuple(end for end in ends if end.size)


def _suppressed(size: int, prior: Fraction, p: Fraction) -> tuple[Ints, ...]:
    """Return the counts that leave no cell in the row: zero, too few and too many."""
    counts = np.arange(size + 1)
    low, high = math.ceil(size * (prior - p)), math.floor(size * (prior + p))
    return (counts[(counts == 0) | (counts < low) | (counts > high)],)


def _of_alike(situation: Situation, rule: _Alike) -> _Change:
    """Return the changes of belief where `rule` says which counts of members look alike."""
    # Terms with the same table of counts give the same posteriors: each table is inferred once.
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
    """Return (posterior, number of groups) for each size and look of a group."""
    # `table` says how many groups of each of `sizes` have each count of members with the term.
    # Counts that look alike are added up at the smallest of them.
    known, kinds, hidden = [], [], having
    for size, line, sets in zip(sizes.tolist(), table, alike, strict=True):
        says = np.ones(size + 1, dtype=np.bool_)
        for open_ in sets:
            says[open_] = False
            if line[open_[0]]:
                kinds.append(Kind(int(line[open_[0]]), size, open_))
        counts = np.flatnonzero(says)
        known += [(c / size, int(line[c])) for c in counts]
        hidden -= int(line[counts] @ counts)
    expected = expected_shares(hidden, kinds) if kinds else []
    return known + [(share, kind.groups) for share, kind in zip(expected, kinds, strict=True)]


_CHANGES: dict[str, Callable[[Situation], _Change]] = {
    "group": lambda situation: _of_release(situation.profiles, situation.released),
    "random-groups": _of_random_groups,
    "clipped": lambda situation: _of_alike(situation, _clipped),
    "suppressed": lambda situation: _of_alike(situation, _suppressed),
}
