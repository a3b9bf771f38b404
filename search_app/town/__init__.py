"""The synthetic town: people with interests from WordNet, and the query log they leave behind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.model import BadParameter, Progress, silent

from .interests import INTERESTS, Interest
from .queries import Searcher
from .sessions import COUNTED, START, Diary, Request
from .subjects import Library, Subject, Wheel
from .words import NAME_ENDS, NAME_MIDDLES, NAME_STARTS

if TYPE_CHECKING:
    from anonymizer.wordnet import WordNet

__all__ = ["INTERESTS", "Person", "Town", "build_town", "log_text", "truth"]

FORMAT = 1
USERS = 800
QUERIES = 250  # a person, on average
MOST_USERS = 100_000
MOST_QUERIES = 10_000
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
# The lecture's example: the same word, asked by two people who mean different things.
PAIR = ("coffee", "programming")
_LEAST = 0.88  # of the mean number of queries, for the quietest person
_TAIL = 2.2  # Pareto's exponent: the smaller, the busier the busiest


@dataclass(frozen=True)
class Person:
    """One of the town's people; the main interest stands first."""

    user: str
    name: str
    interests: tuple[str, ...]
    queries: int


@dataclass(frozen=True)
class Town:
    """The people, their query log as AOL would write it, and what was counted on the way."""

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
    """Invent people and let them search for three months; queries is their mean number."""
    _check("users", users, MOST_USERS)
    _check("queries", queries, MOST_QUERIES)
    library = Library(wordnet)
    people = _people(users, queries, rng)
    subjects = _subjects(library, people)
    lines: list[str] = []
    counts = Counter(dict.fromkeys(COUNTED, 0))
    for number, person in enumerate(people):
        searcher = Searcher([subjects[label] for label in person.interests], rng)
        diary = Diary(searcher, rng)
        for request in diary.requests(person.queries):
            lines += _lines(person.user, request)
        counts.update(diary.counts)
        progress(number + 1)
    return Town(people, lines, {"lines": len(lines), **counts})


def log_text(town: Town) -> str:
    """Return the query log as the text of an AOL file."""
    return "\n".join([HEADER, *town.lines, ""])


def truth(town: Town, seed: int) -> dict[str, Any]:
    """Return what is known about the people but does not stand in the log."""
    synsets = {interest.label: interest.synset for interest in INTERESTS}
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
        "interests": _fans(town.people),
        "examples": _examples(town.people),
        "counts": {"users": len(town.people), **town.counts},
    }


def _check(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise BadParameter(f"{name}={value} must be a whole number from 1 to {most}")


# -- people ------------------------------------------------------------------------------------


def _people(users: int, queries: int, rng: np.random.Generator) -> tuple[Person, ...]:
    numbers = np.sort(rng.choice(9_000_000, users, replace=False)) + 1_000_000
    names = _names(users, rng)
    interests = _interests(users, rng)
    shares = _LEAST + (1 - _LEAST) * (_TAIL - 1) * rng.pareto(_TAIL, users)
    quotas = np.maximum(1, np.rint(queries * shares)).astype(int).tolist()
    columns = zip(numbers.tolist(), names, interests, quotas, strict=True)
    return tuple(Person(str(number), *rest) for number, *rest in columns)


def _interests(users: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Draw everybody's interests; two people are the lecture's pair, if there are two."""
    wheel = Wheel(INTERESTS, (interest.weight for interest in INTERESTS))
    drawn = [_draw(wheel, (), rng) for _ in range(users)]
    if users > 1:
        for person, label in zip(rng.choice(users, 2, replace=False).tolist(), PAIR, strict=True):
            drawn[person] = _draw(wheel, (label,), rng)
    return drawn


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


def _names(users: int, rng: np.random.Generator) -> list[str]:
    """Invent a friendly name for everybody, all different."""
    starts, middles, ends = len(NAME_STARTS), len(NAME_MIDDLES), len(NAME_ENDS)
    single = starts * middles * ends
    words = 1 if users <= single // 2 else 2
    codes = rng.choice(single**words, users, replace=False).tolist()
    return [" ".join(_name(part) for part in divmod(code, single)[2 - words :]) for code in codes]


def _name(code: int) -> str:
    rest, end = divmod(code, len(NAME_ENDS))
    start, middle = divmod(rest, len(NAME_MIDDLES))
    return (NAME_STARTS[start] + NAME_MIDDLES[middle] + NAME_ENDS[end]).capitalize()


def _subjects(library: Library, people: Sequence[Person]) -> dict[str, Subject]:
    wanted = {label for person in people for label in person.interests}
    return {each.label: library.subject(each) for each in INTERESTS if each.label in wanted}


# -- log ---------------------------------------------------------------------------------------


def _lines(user: str, request: Request) -> Iterator[str]:
    head = f"{user}\t{request.text}\t{START + timedelta(seconds=request.time)}"
    if not request.clicks:
        yield f"{head}\t\t"
    for rank, host in request.clicks:
        yield f"{head}\t{rank}\thttp://www.{host}.example"


# -- truth -------------------------------------------------------------------------------------


def _fans(people: Sequence[Person]) -> dict[str, list[str]]:
    """Map each interest to the people who have it, the most devoted first."""
    fans: dict[str, list[Person]] = defaultdict(list)
    for person in people:
        for label in person.interests:
            fans[label].append(person)
    return {label: [fan.user for fan in _devoted(label, fans[label])] for label in sorted(fans)}


def _devoted(label: str, fans: Sequence[Person]) -> list[Person]:
    return sorted(fans, key=lambda fan: (fan.interests.index(label), -fan.queries, fan.user))


def _examples(people: Sequence[Person]) -> dict[str, str]:
    """Name one of each of the lecture's pair who is not the other as well."""
    found: dict[str, str] = {}
    for label, other in (PAIR, PAIR[::-1]):
        fans = [p for p in people if label in p.interests and other not in p.interests]
        if fans:
            found[label] = _devoted(label, fans)[0].user
    return found
