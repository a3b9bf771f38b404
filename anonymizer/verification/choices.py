"""Parameters and choices of the profiles in release.json, and the people behind the users."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Ints
from .files.evidence import MANIFEST
from .files.profiles import Weighed
from .files.strict_lines import DIGITS, is_real, is_short, is_whole
from .finding import PROFILES, Finding, Findings, settled

# More people or terms than there can be: a longer number may be somebody's id.
MOST = 2**31 - 1
Words = Mapping[str, tuple[str, ...]]
Numbers = Mapping[str, tuple[Callable[[Any], bool], str]]
_LONGEST = 10**12  # seconds
_WORDS: Words = {
    "weights": ("binary", "tf", "tfidf", "recency"),
    "terms": ("wordnet", "all", "letters-digits"),
    "granularity": ("user", "session"),
}


_VALUES: Numbers = {
    **dict.fromkeys(
        ("size", "users", "robots"),
        (
            lambda count: count is None or is_whole(count, 1, MOST),
            f"a whole number from 1 to {MOST}, or null",
        ),
    ),
    "gap": (
        lambda gap: gap is None or is_whole(gap, 0, _LONGEST) or (is_real(gap) and gap < _LONGEST),
        f"a number of seconds from 0 to {_LONGEST}, or null",
    ),
    "test_share": (lambda x: is_real(x) and x < 1, "a number from 0 and below 1"),
    "phrases": (lambda phrases: type(phrases) is bool, "true or false"),
}
WORDS = {*_WORDS, *_VALUES, *(word for words in _WORDS.values() for word in words)}
MIN_USERS: Numbers = {
    "min_users": (lambda count: is_whole(count, 1, MOST), f"a whole number from 1 to {MOST}")
}
# A session as profiles name it: the person and a number, like anna#1.
_SESSION = re.compile(r"(.+)#[1-9][0-9]*", re.DOTALL)


def choice_faults(choices: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with `choices` by their names; some may be missing."""
    names = {*_WORDS, *_VALUES}
    faults = list(_out_of_range(choices, _WORDS, _VALUES, " of the profiles"))
    if choices.keys() - names:
        more = f"of the profiles it may state {', '.join(sorted(names))}, but it states more"
        faults.insert(0, more)
    return faults


def judge_choices(choices: Mapping[str, Any], weighed: Weighed | None) -> Findings:
    """Yield what is wrong with `choices` by their names, and by what the profiles show of them.

    Without `weighed`, only names and ranges are judged.
    """
    faults = choice_faults(choices)
    if weighed is not None and not faults:
        size, kind = choices.get("size"), choices.get("weights")
        untrue = {
            # Nobody with fewer terms has a profile, and of more the most frequent stay.
            "size": size is not None and size != weighed.largest,
            "weights": (kind == "binary" and not weighed.binary)
            or (kind == "tf" and not weighed.whole),
        }
        faults = [f"{name} is not that of the profiles" for name, wrong in untrue.items() if wrong]
    good = "known words say how profiles were made"
    yield from settled("choices", MANIFEST, dict.fromkeys(faults, True), good)


def parameter_faults(
    parameters: Mapping[str, Any], words: Words, numbers: Numbers
) -> Iterator[str]:
    """Yield what is wrong with `parameters`: they must be all that are named, and in range."""
    names = {*words, *numbers}
    for name in sorted(names - parameters.keys()):
        yield f"{name} is missing"
    if parameters.keys() - names:
        yield f"there are more than {', '.join(sorted(names))}"
    yield from _out_of_range(parameters, words, numbers)


def _out_of_range(
    values: Mapping[str, Any], words: Words, numbers: Numbers, of: str = ""
) -> Iterator[str]:
    """Yield what each wrong value must be."""
    # Never the value itself, as it may be a user's id.
    for name in sorted({*words, *numbers} & values.keys()):
        if name in numbers and not numbers[name][0](values[name]):
            yield f"{name}{of} must be {numbers[name][1]}"
        elif name in numbers and values[name] is not None and not is_short(values[name]):
            yield f"{name}{of} must have at most {DIGITS} digits, without zeros at either end"
        elif name in words and values[name] not in words[name]:
            yield f"{name}{of} must be one of {', '.join(words[name])}"


def people_behind(users: list[str], choices: Mapping[str, Any], wary: bool) -> Ints | None:
    """Return the number of each user's person if `users` are sessions of people; else None.

    If `choices` do not say so, names may: each is a person's and a number, and some person has two
    of them. With `wary` one such person is enough, whatever the others are called.
    """
    sessions = [match[1] for match in map(_SESSION.fullmatch, users) if match]
    named = (wary or len(sessions) == len(users)) and len({*sessions}) < len(sessions)
    if choices.get("granularity") != "session" and not named:
        return None
    number: dict[str, int] = {}
    persons = [number.setdefault(person_of(user), len(number)) for user in users]
    return np.array(persons, dtype=np.int64)


def persons_of(users: Sequence[str], choices: Mapping[str, Any]) -> list[str]:
    """Return the person behind each of `users`, who are sessions if `choices` or names say so."""
    sessions = people_behind([*users], choices, wary=False) is not None
    return [person_of(user) if sessions else user for user in users]


def person_of(user: str) -> str:
    """Return the person of the session `user`, or `user` if it is no session."""
    session = _SESSION.fullmatch(user)
    return session[1] if session else user


def people_of_rows(person: Ints, group_of: Ints) -> Ints:
    """Return how many different people, by `person`, are behind each row of `group_of`."""
    span = int(person.max()) + 1
    rows = np.unique(group_of * span + person) // span
    return np.bincount(rows).astype(np.int64, copy=False)


def session_findings(person: Ints, people: Ints, counts_people: bool) -> Findings:
    """Yield what the promise is about, sessions unless it `counts_people`, and rows of one person.

    Each session is of a `person`, and each row of a number of `people`.
    """
    line = (
        f"users are {person.size} sessions of {int(person.max()) + 1} people: the promise is about "
        f"{'people' if counts_people else 'sessions, not people'}"
    )
    alone = np.count_nonzero(people == 1)
    rows = "1 row stands" if alone == 1 else f"{alone} rows stand"
    more = f"; {rows} for one person" if alone else ""
    yield Finding("sessions", True, PROFILES, line + more)
