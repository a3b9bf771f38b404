"""How much the rows of a mode may change belief about a person's terms, and how often.

The attacker reads a term's own column of the rows, as anonymizer/measures/belief.py says. Each pair
of a row and a term is a cell, also where the row lacks the term. A cell breaks the promise of
equation 1 if belief changes by more than p there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from anonymizer.arrays import Floats, Ints
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
            facts[largest(mode)] = float(change[cells > 0].max())
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


_CHANGES: dict[str, Callable[[Situation], _Change]] = {
    "group": lambda situation: _of_release(situation.profiles, situation.released),
    "random-groups": _of_random_groups,
}
