"""What a release of matched vocabularies keeps: bLM and its companions, and frequent patterns.

The measures of Liu & Wang, from profiles whose weights are counts, and from the slots: a slot is a
published term and the occurrences that it stands for, b. N is the number of distinct terms.

bLM             (sum over slots of |b| (distinct terms of b - 1) / (N - 1), + suppressed) / all
replaced share  of the kept occurrences, those published as another term
own share       of the slots of a user's row, those that hold an occurrence of the user
Recall, sDist   the top closed patterns of the profiles, found again in the users' rows

A generalized term is one slot for each row. If bags are kept, its b is the bag that the paper
prints for Goods: |b| are the occurrences it is published for, and the distinct terms are those of
all that the row's members have below it. A set keeps one occurrence of each member, so its b are
these: of each member, the alphabetically first below it. This gives .545455 and .688312 of the
running example; with all terms below, a set would get .798701.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..errors import BadInput
from ..model import Profiles, Release, Slot
from ..terms.taxonomy import Taxonomy, noun_taxonomy, taxonomy_of
from ..terms.wordnet import WordNet
from .measurement import Measurement
from .patterns import patterns_of, retrieved

LENGTHS = (1, 2)  # least terms of a pattern
_BY_LENGTH = {1: "", 2: ", 2 terms or more"}


class Counted(NamedTuple):
    """Occurrences of `profiles`: how many there are, are kept, and of these replaced."""

    every: int
    kept: int
    replaced: int


def vocabulary(
    profiles: Profiles, release: Release, wordnet: WordNet | None = None
) -> list[Measurement]:
    """Return what `release` keeps of the vocabularies in `profiles`; nothing if it has no slots.

    A taxonomy of `wordnet` is needed unless one was given when the release was made.
    """
    if release.promise.bounds != "vocabulary":
        return []
    counts, taxonomy = occurrences(profiles, release), taxonomy_for(release, wordnet)
    rows = {
        "bLM": loss(profiles, release, taxonomy),
        "replaced share": counts.replaced / max(counts.kept, 1),
        "share of occurrences suppressed": 1 - counts.kept / counts.every,
        "suppressed occurrences": counts.every - counts.kept,
        "users left empty": len(profiles) - len(release.users),
    }
    if release.parameters.get("members"):
        rows["own share"] = own_share(release)
    for least in LENGTHS if patterns_are_defined(release) else ():
        before = patterns_of(profiles, least)
        recall, distance = retrieved(before, release, taxonomy, least)
        rows[f"Recall{_BY_LENGTH[least]}"] = recall
        rows[f"sDist{_BY_LENGTH[least]}"] = distance
    return [Measurement(name, float(value)) for name, value in rows.items()]


def patterns_are_defined(release: Release) -> bool:
    """Return whether the rows of `release` hold terms, and not bags of terms."""
    return release.parameters.get("typical") != "bags"


def taxonomy_for(release: Release, wordnet: WordNet | None) -> Taxonomy:
    """Return the taxonomy by which `release` was made; that of `wordnet` if none was given."""
    if release.taxonomy:
        return taxonomy_of(iter(release.taxonomy))
    if wordnet is None:
        raise BadInput("these measures need WordNet, by which the release was made")
    return noun_taxonomy(wordnet)


def occurrences(profiles: Profiles, release: Release) -> Counted:
    """Return how many occurrences of `profiles` the slots of `release` keep and replace."""
    kept = replaced = 0
    for slot in release.slots:
        own = _one_each(slot)
        names = slot.term.split("|") if not patterns_are_defined(release) else [slot.term]
        kept += len(own)
        replaced += sum(term not in names for term in own.values())
    return Counted(round(float(profiles.weights.sum())), kept, replaced)


def own_share(release: Release) -> float:
    """Return which share of their row's slots the users of `release` stand in, on average."""
    return own_shares(release) / len(release.users)


def own_shares(release: Release) -> float:
    """Return the sum over users of `release` of the share of their row's slots they stand in."""
    slots = np.bincount([slot.row for slot in release.slots], minlength=len(release.rows))
    standing = Counter(user for slot in release.slots for user in {u for u, _ in slot.occurrences})
    rows = zip(release.users, release.row_of_user.tolist(), strict=True)
    # fsum depends on no order, so a second count has the same digits.
    return math.fsum(standing[user] / slots[row] for user, row in rows)


def loss(profiles: Profiles, release: Release, taxonomy: Taxonomy) -> float:
    """Return bLM of `release`; `taxonomy` says which terms lie below a generalized one."""
    counts = occurrences(profiles, release)
    bags = _below(profiles, release, taxonomy) if _keeps_bags(release) else _slots(release)
    lost = sum(size * (distinct - 1) for size, distinct in bags)
    span = max(np.unique(profiles.weights.indices).size - 1, 1)
    return float((lost / span + counts.every - counts.kept) / counts.every)


def _keeps_bags(release: Release) -> bool:
    """Return whether the slots of a row with one term are occurrences of one generalized term."""
    return release.parameters.get("bag") == "true"


def _one_each(slot: Slot) -> Mapping[str, str]:
    """Return one occurrence of each member in `slot`: the first by the alphabet."""
    return dict(sorted(slot.occurrences, reverse=True))


def _slots(release: Release) -> Iterator[tuple[int, int]]:
    """Yield the occurrences and distinct terms of each slot of `release`."""
    for slot in release.slots:
        own = _one_each(slot)
        yield len(own), len({*own.values()})


def _below(profiles: Profiles, release: Release, taxonomy: Taxonomy) -> Iterator[tuple[int, int]]:
    """Yield for each generalized term the occurrences kept, and the distinct terms below it."""
    kept: dict[tuple[int, str], int] = {}
    terms: dict[tuple[int, str], set[str]] = {}
    for slot in release.slots:
        kept[slot[:2]] = kept.get(slot[:2], 0) + len(slot.occurrences)
        terms.setdefault(slot[:2], set()).update(term for _, term in slot.occurrences)
    names = [tuple(upwards(taxonomy, term)) for term in profiles.terms]
    for user, row in zip(release.users, release.row_of_user.tolist(), strict=True):
        for number in profiles.slice(profiles.number(user))[0].tolist():
            name = next((name for name in names[number] if (row, name) in kept), None)
            if name is not None:
                terms[row, name].add(profiles.terms[number])
    return ((size, len(terms[place])) for place, size in kept.items())


def upwards(taxonomy: Taxonomy, term: str) -> Iterator[str]:
    """Return the names of the nodes from `term` up, by first senses and first parents."""
    return map(taxonomy.name_of, taxonomy.way_up(term))
