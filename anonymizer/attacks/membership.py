"""membership: someone who holds a whole profile says whether the person is in the data."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats
from ..errors import BadInput
from .attacked import Attacked, AttackResult, Named, paired
from .intervals import DRAWS, Estimate, wilson
from .reading import View, having

_FEWEST = 10  # outsiders
_FALSE = 0.01  # of the people who are not in the data, taken for members


def membership(target: Attacked) -> list[AttackResult]:
    """Return how well members are told from people who are not in the data.

    The attacker knows all terms of one person, the rows of `target` and how many people have each
    term. The evidence is a likelihood ratio: the profile as drawn from the shares of the row that
    it fits best, against drawn from the shares of all people. Members are victims. Non-members are
    the people of `outsiders` who are not in the data, if these profiles are given; their terms that
    nobody in the data has are ignored. Else non-members are simulated: each has the size
    of a victim's profile, and terms drawn by how many people have them. Simulated terms do not go
    together as those of real people do: then the figures are above what real outsiders would show.
    """
    victims = target.drawn()
    members = target.own[victims]
    outsiders = _held_out(target)
    if outsiders is None:
        totals = np.bincount(target.own.indices, minlength=target.own.shape[1]).astype(float)
        outsiders = _simulated(members, totals, target)
    of_release, of_raw = (
        _told_apart(evidence(one.view, members), evidence(one.view, outsiders), target)
        for one in (target, target.raw)
    )
    return paired(Named("membership"), of_release, of_raw)


def _held_out(target: Attacked) -> csr_matrix | None:
    """Return the profiles of people who are not in the data of `target`, over its terms."""
    given = target.outsiders
    if given is None:
        return None
    people = [at for at, user in enumerate(given.users) if user not in target.profiles.row_of]
    number = {term: at for at, term in enumerate(target.profiles.terms)}
    shared = [at for at, term in enumerate(given.terms) if term in number]
    if len(people) < _FEWEST or not shared:
        raise BadInput(
            f"{len(people)} of the outsiders are not in the data; {_FEWEST} or more are needed"
        )
    drawn = np.sort(target.rng("outsiders").permutation(people)[: target.victims])
    part = having(given)[drawn][:, shared].tocoo()
    columns = np.array([number[given.terms[at]] for at in shared])[part.col]
    return csr_matrix((part.data, (part.row, columns)), shape=(drawn.size, len(number)))


def _simulated(members: csr_matrix, totals: Floats, target: Attacked) -> csr_matrix:
    """Return a profile of the size of each of `members`, with terms drawn by `totals`."""
    rng, sizes = target.rng("outsiders"), np.diff(members.indptr)
    # Exponential races: the terms that come first are drawn without replacement by `totals`.
    owned = np.flatnonzero(totals)
    columns = [
        np.sort(owned[np.argpartition(rng.exponential(1 / totals[owned]), size - 1)[:size]])
        for size in np.minimum(sizes, owned.size).tolist()
    ]
    ends = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate(columns)
    return csr_matrix((np.ones(indices.size), indices, ends), shape=members.shape)


def evidence(view: View, profiles: csr_matrix) -> Floats:
    """Return for each of `profiles` the log likelihood ratio of its best row in `view`."""
    best = np.zeros(profiles.shape[0])
    for people, scores in view.scores(profiles, whole=True):
        best[people] = scores.max(axis=1)
    return best


def area(members: Floats, outsiders: Floats) -> float:
    """Return the chance that one of `members` has more evidence than one of `outsiders`.

    Equal evidence counts half: the area under the curve of true against false positives.
    """
    return float(_above(members, outsiders).mean())


def _above(members: Floats, outsiders: Floats) -> Floats:
    ordered = np.sort(outsiders)
    low, high = (np.searchsorted(ordered, members, side) for side in ("left", "right"))
    shares: Floats = (low + high) / (2 * ordered.size)
    return shares


def caught(members: Floats, outsiders: Floats) -> int:
    """Return how many of `members` have more evidence than all but 1 % of `outsiders`."""
    allowed = int(_FALSE * outsiders.size)
    # Members must be above it: an outsider who is equal would be taken for one.
    threshold = np.sort(outsiders)[::-1][allowed]
    return int(np.count_nonzero(members > threshold))


def _told_apart(members: Floats, outsiders: Floats, target: Attacked) -> dict[str, Estimate | None]:
    rng = target.rng("membership")
    areas = [
        area(*(one[rng.integers(0, one.size, one.size)] for one in (members, outsiders)))
        for _ in range(DRAWS)
    ]
    low, high = np.quantile(areas, (0.025, 0.975))
    return {
        "AUC": Estimate(area(members, outsiders), float(low), float(high)),
        "true positives at 1 % false": wilson(caught(members, outsiders), members.size),
    }
