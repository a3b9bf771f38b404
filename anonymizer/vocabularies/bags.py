"""Profiles as bags: whole counts of terms, and the person behind each vocabulary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..errors import BadParameter, Unsatisfiable
from ..model import Profiles
from ..profiles.rare_terms import persons_of

MOST = 1 << 31  # occurrences of a vocabulary: sums of savings must fit into 64 bits


class Bags(NamedTuple):
    """Vocabulary i has `counts[at[i]:at[i + 1]]` occurrences of the terms there."""

    at: Ints
    terms: Numbers
    counts: Ints
    sizes: Ints  # occurrences of each vocabulary
    person: Ints  # whose each vocabulary is; a person may have several


def bags_of(profiles: Profiles, *, by_person: bool = True) -> Bags:
    """Return `profiles` as bags; with `by_person` sessions like anna#1 are the person's."""
    weights, at = profiles.weights.data, profiles.weights.indptr.astype(np.int64)
    if np.any((weights != np.floor(weights)) | (weights < 1)):
        raise BadParameter(
            "weights must be counts, whole numbers of 1 or more; make the profiles with: "
            "veilsearch profiles LOG --weights tf"
        )
    if weights.sum() >= MOST:
        raise BadParameter(f"the profiles have {MOST} occurrences of terms or more; take fewer")
    counts = weights.astype(np.int64)
    persons = persons_of(profiles.users) if by_person else profiles.users
    number: dict[str, int] = {}
    person = np.array([number.setdefault(name, len(number)) for name in persons], dtype=np.int64)
    sizes = np.add.reduceat(counts, at[:-1])
    return Bags(at, profiles.weights.indices.astype(np.int32), counts, sizes, person)


def refuse_few(bags: Bags, size: int, name: str = "k") -> None:
    """Refuse `bags` of fewer people than the `size` of a group, which the option `name` sets."""
    people = int(np.unique(bags.person).size)
    if size > people:
        line = f"{name}={size} is more than the number of people, {people}; take a smaller {name}"
        raise Unsatisfiable(line, needs=size)
