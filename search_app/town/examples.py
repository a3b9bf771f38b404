"""Searches of the town that show what personalization does: words that people mean differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from anonymizer.model import Release

from ..workspace.lecture import PreparedSearch
from . import PAIR

PERSONAS = 6  # who are shown first, as differing as they can be
QUERY = "java"  # the lecture's example: two people mean different things by it
WORDS = (  # of several meanings, each with two interests that mean different things by it
    (QUERY, PAIR),
    ("bass", ("fishing", "guitar")),
    ("mercury", ("astronomy", "mythology")),
    ("python", ("snakes", "programming")),
    ("crane", ("birds", "ships")),
    ("court", ("tennis", "law")),
    ("coach", ("football", "trains")),
    ("bridge", ("poker", "bridges")),
)


def pair(
    truth: Mapping[str, Any], release: Release, labels: tuple[str, str] = PAIR
) -> dict[str, str]:
    """Return for each of two interests (`labels`) a fan in `release` who is no fan of the other."""
    # The one whose group has most fans of it, then the most devoted: they show what grouping does
    # for people whose group suits them. It suits others less; the pages list everybody.
    fans = {label: truth["interests"].get(label, []) for label in labels}
    row_of = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    chosen = {}
    for label, other in (labels, labels[::-1]):
        fans_in_row = Counter(row_of[user] for user in fans[label] if user in row_of)
        only = [user for user in fans[label] if user in row_of and user not in fans[other]]
        if only:
            chosen[label] = max(only, key=lambda user: fans_in_row[row_of[user]])
    return chosen


def personas(truth: Mapping[str, Any], release: Release) -> list[PreparedSearch]:
    """Return the first of the lecture's searches whose people share no interest of `truth`."""
    chosen: list[PreparedSearch] = []
    taken: set[str] = set()
    for search in searches(truth, release):
        own = {interest["label"] for interest in truth["users"][search.user]["interests"]}
        if len(chosen) < PERSONAS and not own & taken:
            chosen.append(search)
            taken |= own
    return chosen


def searches(truth: Mapping[str, Any], release: Release) -> tuple[PreparedSearch, ...]:
    """Return the lecture's searches: each of `WORDS` by two people of `truth` who differ in it."""
    return tuple(
        PreparedSearch(word, user)
        for word, labels in WORDS
        for user in pair(truth, release, labels).values()
    )
