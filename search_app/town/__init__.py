"""The synthetic town: people with interests from WordNet, and the query log they leave behind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.errors import BadParameter
from anonymizer.model import Progress, silent

from .queries import Searcher
from .sessions import COUNTED, START, Diary
from .subjects import INTERESTS, Interest, Library, Wheel
from .words import NAME_ENDS, NAME_MIDDLES, NAME_STARTS

if TYPE_CHECKING:
    from anonymizer.terms.wordnet import WordNet

__all__ = ["INTERESTS", "Person", "Town", "build_town", "log_text", "truth"]

FORMAT = 1
USERS = 800
QUERIES = 250  # per person, on average
MOST_USERS = 100_000
MOST_QUERIES = 10_000
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
# The lecture's example: the same word, asked by two people who mean different things.
PAIR = ("coffee", "programming")
_LEAST = 0.88  # the quietest person's share of the mean number of queries
# Pareto's exponent: the smaller it is, the more queries the busiest people have.
_TAIL = 2.2


@dataclass(frozen=True)
class Person:
    """One of the town's people; the main interest stands first."""

    user: str
    name: str
    interests: tuple[str, ...]
    queries: int


@dataclass(frozen=True)
class Town:
    """The people, the lines of their query log in AOL's format, and counts of what is in it."""

    people: tuple[Person, ...]
    lines: list[str]
    counts: Mapping[str, int]


def build_town(
    wordnet: WordNet,
    *,
    users: int = USERS,
    queries: int = QUERIES,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Town:
    """Return invented people who search for three months; `queries` is their mean number."""
    for name, value, limit in (("users", users, MOST_USERS), ("queries", queries, MOST_QUERIES)):
        if not 1 <= value <= limit:
            raise BadParameter(f"{name}={value} must be a whole number from 1 to {limit}")
    library = Library(wordnet)
    people = _people(users, queries, rng)
    wanted = {label for person in people for label in person.interests}
    subjects = {i.label: library.subject(i) for i in INTERESTS if i.label in wanted}
    lines: list[str] = []
    counts = Counter(dict.fromkeys(COUNTED, 0))
    for number, person in enumerate(people):
        searcher = Searcher([subjects[label] for label in person.interests], rng)
        diary = Diary(searcher, rng)
        for request in diary.requests(person.queries):
            head = f"{person.user}\t{request.text}\t{START + timedelta(seconds=request.time)}"
            if not request.clicks:
                lines.append(f"{head}\t\t")
            lines += [f"{head}\t{rank}\thttp://www.{host}.example" for rank, host in request.clicks]
        counts.update(diary.counts)
        progress(number + 1)
    return Town(people, lines, {"lines": len(lines), **counts})


def log_text(town: Town) -> str:
    """Return the query log of `town` as the text of an AOL file."""
    return "\n".join([HEADER, *town.lines, ""])


def truth(town: Town, seed: int) -> dict[str, Any]:
    """Return what is known about the people of `town` but is not in the log."""
    synsets = {interest.label: interest.synset for interest in INTERESTS}
    fans: dict[str, list[Person]] = defaultdict(list)
    for person in town.people:
        for label in person.interests:
            fans[label].append(person)
    # For each interest of the lecture's pair, a person who does not have the other one.
    examples: dict[str, str] = {}
    for label, other in (PAIR, PAIR[::-1]):
        only = [person for person in fans[label] if other not in person.interests]
        if only:
            examples[label] = _devoted(label, only)[0].user
    return {
        "format": FORMAT,
        "seed": seed,
        "users": {
            person.user: {
                "name": person.name,
                "interests": [{"label": x, "synset": synsets[x]} for x in person.interests],
                "queries": person.queries,
            }
            for person in town.people
        },
        "interests": {
            label: [fan.user for fan in _devoted(label, fans[label])]
            for label in sorted(fans)
            if fans[label]
        },
        "examples": examples,
        "counts": {"users": len(town.people), **town.counts},
    }


def _people(users: int, queries: int, rng: np.random.Generator) -> tuple[Person, ...]:
    numbers = np.sort(rng.choice(9_000_000, users, replace=False)) + 1_000_000
    parts = ["".join(three).capitalize() for three in product(NAME_STARTS, NAME_MIDDLES, NAME_ENDS)]
    single = len(parts)
    words = 1 if users <= single // 2 else 2
    # Each code is a friendly name, and no two people have the same one.
    codes = rng.choice(single**words, users, replace=False).tolist()
    names = [" ".join(parts[at] for at in divmod(code, single)[2 - words :]) for code in codes]
    wheel = Wheel(INTERESTS, (interest.weight for interest in INTERESTS))
    interests = [_draw(wheel, (), rng) for _ in range(users)]
    # However few people there are, two of them are the lecture's pair.
    if users > 1:
        for person, label in zip(rng.choice(users, 2, replace=False).tolist(), PAIR, strict=True):
            interests[person] = _draw(wheel, (label,), rng)
    shares = _LEAST + (1 - _LEAST) * (_TAIL - 1) * rng.pareto(_TAIL, users)
    quotas = np.maximum(1, np.rint(queries * shares)).astype(int).tolist()
    columns = zip(numbers.tolist(), names, interests, quotas, strict=True)
    return tuple(Person(str(number), *rest) for number, *rest in columns)


def _draw(
    wheel: Wheel[Interest], first: tuple[str, ...], rng: np.random.Generator
) -> tuple[str, ...]:
    labels = dict.fromkeys(first)
    refused = PAIR if first else ()
    size = 2 + Wheel(range(4), (0.16, 0.48, 0.28, 0.08)).spin(rng)
    while len(labels) < size:
        label = wheel.spin(rng).label
        if label not in refused:
            labels.setdefault(label)
    return tuple(labels)


def _devoted(label: str, fans: Sequence[Person]) -> list[Person]:
    """Return the people with an interest, those first who have it high up and search much."""
    return sorted(fans, key=lambda fan: (fan.interests.index(label), -fan.queries, fan.user))
