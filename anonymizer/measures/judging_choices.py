"""What release.json says of how the profiles were made, and how many people their users are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .evidence import MANIFEST
from .finding import Finding, Findings, Ints
from .strict_lines import is_number, is_whole

_MOST = 2**31 - 1  # more people or terms than there can be; a longer number may be an id
_LONGEST = 10**12  # seconds
_WORDS = {
    "weights": ("binary", "tf", "tfidf", "recency"),
    "terms": ("wordnet", "all", "letters-digits"),
    "granularity": ("user", "session"),
}


def _count(value: object) -> bool:
    return value is None or is_whole(value, 1, _MOST)


def _seconds(value: Any) -> bool:
    return value is None or (is_number(value) and 0 <= value <= _LONGEST)


_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "size": (_count, f"a whole number from 1 to {_MOST}, or null"),
    "users": (_count, f"a whole number from 1 to {_MOST}, or null"),
    "robots": (_count, f"a whole number from 1 to {_MOST}, or null"),
    "gap": (_seconds, f"a number of seconds from 0 to {_LONGEST}, or null"),
    "test_share": (lambda x: is_number(x) and 0 <= x < 1, "a number from 0 and below 1"),
    "phrases": (lambda phrases: type(phrases) is bool, "true or false"),
}
WORDS = {*_WORDS, *_VALUES, *(word for words in _WORDS.values() for word in words)}
_SESSION = re.compile(r"(.+)#[1-9][0-9]*", re.DOTALL)


def judge_choices(choices: Mapping[str, Any]) -> Findings:
    """Check each choice by its name; there may be fewer, as profiles come from elsewhere too."""
    faults = list(_faults(choices))
    for line in faults:
        yield Finding("choices", False, MANIFEST, line)
    if not faults:
        yield Finding("choices", True, MANIFEST, "how profiles were made is told in known words")


def _faults(choices: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with choices; their values are not told, lest one is a user's id."""
    names = {*_WORDS, *_VALUES}
    if choices.keys() - names:
        yield f"of the profiles it may tell {', '.join(sorted(names))}, and there is more"
    for name in sorted(names & choices.keys()):
        value = choices[name]
        if name in _VALUES and not _VALUES[name][0](value):
            yield f"{name} of the profiles must be {_VALUES[name][1]}"
        elif name in _WORDS and value not in _WORDS[name]:
            yield f"{name} of the profiles must be one of {', '.join(_WORDS[name])}"


def people_behind(users: list[str], choices: Mapping[str, Any], wary: bool) -> Ints | None:
    """Return each user's person, by number, where users are sessions of people; else nothing.

    Where the choices don't say so, names do: each is a person's and a number, and some person has
    two of them. To the wary it is enough that some person has, whatever the others are named.
    """
    sessions = [match[1] for match in map(_SESSION.fullmatch, users) if match]
    named = (wary or len(sessions) == len(users)) and len({*sessions}) < len(sessions)
    if choices.get("granularity") != "session" and not named:
        return None
    number: dict[str, int] = {}
    persons = [number.setdefault(person_of(user), len(number)) for user in users]
    return np.array(persons, dtype=np.int64)


def persons_of(users: Sequence[str], choices: Mapping[str, Any]) -> list[str]:
    """Return whose each user is: another's, where users are sessions of people."""
    sessions = people_behind([*users], choices, wary=False) is not None
    return [person_of(user) if sessions else user for user in users]


def person_of(user: str) -> str:
    """Return whose session it is, where a user is one."""
    session = _SESSION.fullmatch(user)
    return session[1] if session else user


def people_of_rows(person: Ints, group_of: Ints) -> Ints:
    """Count the different people behind each row."""
    span = int(person.max()) + 1
    rows = np.unique(group_of * span + person) // span
    return np.bincount(rows).astype(np.int64, copy=False)


def tell_sessions(person: Ints, people: Ints) -> Findings:
    """Tell that what is promised is promised to sessions, and which rows hold but one person."""
    line = (
        f"users are {person.size} sessions of {int(person.max()) + 1} people: what is promised is "
        "promised to sessions, not to people"
    )
    alone = np.count_nonzero(people == 1)
    rows = "1 row stands" if alone == 1 else f"{alone} rows stand"
    more = f"; {rows} for one person" if alone else ""
    yield Finding("sessions", True, "the profiles", line + more)
