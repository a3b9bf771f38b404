"""Searches of the town that show what personalization does: words that people mean differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from anonymizer.model import Release

from ..workspace.lecture import TWO, Lecture, PreparedSearch
from . import PAIR

PERSONAS = 6  # who are shown first, as differing as they can be
QUERY = "java"  # of the lecture's story: two people mean different things by it
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
    """Return the first of the `searches` whose people share no interest of `truth`."""
    chosen: list[PreparedSearch] = []
    taken: set[str] = set()
    for search in searches(truth, release):
        own = {interest["label"] for interest in truth["users"][search.user]["interests"]}
        if len(chosen) < PERSONAS and not own & taken:
            chosen.append(search)
            taken |= own
    return chosen


STORY = (  # what is shown, and what the lecturer may say
    (TWO, "Two people type the same word. What does either of them want to find?"),
    ("plain", "Without personalization both get this list. Which of them does it serve?"),
    (
        "own",
        "All others are measured by this order. Its price: the server reads your whole profile.",
    ),
    ("read", "Nothing is drawn here: these are the bytes that the engine was handed just now."),
    ("group", "The server reads one list that several people share. What is lost, what is kept?"),
    ("hurts", "Personalization can be worse than none. Who would notice?"),
    ("attacker", "Somebody sees the group’s list. How much of one member can they guess?"),
    ("dial", "From left to right, less and less is known of you. Where would you stop?"),
    ("device", "Nobody has to be told who you are, if your own device makes the order."),
)


def story(query: str, users: Sequence[str]) -> tuple[PreparedSearch, ...]:
    """Return the slides of a lecture on `query`, asked by the first of `users`, or the first two.

    Without users there are none.
    """
    whose = {TWO: ",".join(users[:2]), "device": ""}
    return tuple(
        PreparedSearch("", "", shown=kind, note=note)
        if kind in ("hurts", "attacker")
        else PreparedSearch(query, whose.get(kind, users[0]), shown=kind, note=note)
        for kind, note in STORY
        if users and (kind != TWO or len(users) > 1)
    )


def searches(truth: Mapping[str, Any], release: Release) -> tuple[PreparedSearch, ...]:
    """Return searches for each of `WORDS`, by two people of `truth` who differ in it."""
    return tuple(
        PreparedSearch(word, user)
        for word, labels in WORDS
        for user in pair(truth, release, labels).values()
    )


def lecture(truth: Mapping[str, Any], release: Release) -> Lecture:
    """Return the usual lecture of the town of `truth`, a story."""
    return Lecture(story(QUERY, list(pair(truth, release).values())))
