"""Terms that few people have, taken out of the profiles before a group method sees them.

A term's total over all people decides, the same for all groups: so that a row lacks a rare term
tells nothing of the row's members. Sessions of one person count once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints, Marks
from ..errors import Unsatisfiable
from ..model import Profiles, whole

_SESSION = re.compile(r"(.+)#[1-9][0-9]*", re.DOTALL)


def without_rare_terms(profiles: Profiles, parameters: Mapping[str, object]) -> Profiles:
    """Return `profiles` without the terms that fewer than `min_users` of `parameters` people have.

    The numbers of terms stay. Raise Unsatisfiable if somebody has no term left.
    """
    least = whole(parameters.get("min_users", 1))
    if least == 1:
        return profiles
    return without_terms(profiles, people_with_term(profiles) < least, least)


def without_terms(profiles: Profiles, rare: Marks, least: int) -> Profiles:
    """Return `profiles` without the `rare` terms, which fewer than `least` people have.

    Raise Unsatisfiable if somebody has no term left.
    """
    weights = profiles.weights.copy()
    weights.data[rare[weights.indices]] = 0
    weights.eliminate_zeros()
    if empty := int(np.count_nonzero(np.diff(weights.indptr) == 0)):
        raise Unsatisfiable(
            f"min_users={least} leaves {empty} users no term; take a smaller one, or make the "
            "profiles without users of few terms: veilsearch profiles LOG --size N"
        )
    return Profiles(profiles.users, profiles.terms, weights)


def people_with_term(profiles: Profiles) -> Ints:
    """Return how many people have each term of `profiles`; a person may have many sessions."""
    names = persons_of(profiles.users)
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    owner = np.repeat([number[name] for name in names], profiles.sizes)
    ones = np.ones(owner.size)
    owned = csr_matrix(
        (ones, (owner, profiles.weights.indices)), shape=(len(number), len(profiles.terms))
    )
    return owned.getnnz(axis=0).astype(np.int64)


def are_sessions(users: Sequence[str]) -> bool:
    """Return whether all of `users` are named as sessions are."""
    return all(map(_SESSION.fullmatch, users))


def persons_of(users: Sequence[str]) -> list[str]:
    """Return the person of each of `users`, who are people unless all are named as sessions are."""
    return [*map(person_of, users)] if are_sessions(users) else [*users]


def person_of(user: str) -> str:
    """Return the person whose session is called `user`; `user` if it is no session's name."""
    session = _SESSION.fullmatch(user)
    return session[1] if session else user
