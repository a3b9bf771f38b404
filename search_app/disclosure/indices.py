"""How much a row changes what can be learnt of a person: the index JSD, in words for pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.measures.indices.divergence import Compared
from anonymizer.measures.indices.releases import privacy_index
from anonymizer.model import Profiles, Release

from .numbers import two_decimals
from .own_view import OwnView

ENTRIES = 3  # those that matter most
MOST_PEOPLE = 20_000  # with more, a page would wait for seconds
SCALE = (
    "0 means that rows have people’s interests as their profiles do, and 1 that they have nothing "
    "of them. An empty or random row has 1, too."
)


def own_index(view: OwnView) -> tuple[float, str] | None:
    """Return JSD of the person of `view`, and the entries that matter most to it, in words.

    None where no row stands for the person: they may see another one only in part.
    """
    group = view.group
    if group is None or group.row.foreign or group.row.fallback:
        return None
    own = {term.term: term.weight for term in view.terms}
    names = [*dict.fromkeys([*own, *group.row.weights])]
    before, after = (
        csr_matrix([[weights.get(name, 0.0) for name in names]])
        for weights in (own, group.row.weights)
    )
    cells = Compared(before, after).cells
    order = np.argsort(-cells.divergence, kind="stable")[:ENTRIES]
    parts = [
        f"“{names[cells.document[at]]}” ({_change(cells.p[at], cells.q[at])})"
        for at in order.tolist()
        if cells.divergence[at] > 0
    ]
    return min(1.0, float(cells.divergence.sum())), ", ".join(parts)


def mean_index(profiles: Profiles, release: Release) -> str | None:
    """Return the mean of JSD over the people of `release`; None if they are too many.

    Of `profiles`, others than its people may wait for a row.
    """
    if len(release.users) > MOST_PEOPLE or not {*release.users} <= profiles.row_of.keys():
        return None
    if len(profiles) != len(release.users) + release.left_out:
        rows = [profiles.row_of[user] for user in release.users]
        profiles = Profiles(release.users, profiles.terms, profiles.weights[rows])
        release = replace(release, facts={})  # who has no row is not counted either
    values = [one.value for one in privacy_index(profiles, release) if one.name == "JSD"]
    return two_decimals(float(np.mean(values)))


def _change(p: float, q: float) -> str:
    if q == 0:
        return "suppressed"
    return "added" if p == 0 else "rarer than in your profile" if q < p else "more than your own"
