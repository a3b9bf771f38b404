"""What searches add to a person's own profile, if they chose that [I/O]: terms and their counts.

What grew is kept in people.sqlite and laid over the profile when that is read. It changes no file
of profiles: people who stand in a row, and the row itself, stay as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from typing import Any

from anonymizer.model import Profiles
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.terms.counting import TermCounter

from ..accounts.database import kept_people
from ..accounts.store import PeopleStore
from ..settings import Settings
from ..workspace.folder import Workspace
from ..workspace.profile_choices import (
    analysis_of,
    choices_of,
    noted_fingerprint,
    usual_choices,
)

# Fewest terms of a profile that is admitted. A bound on the average divides the mean length of all
# profiles of a cohort: very short ones would lower it, and let the groups of all others be smaller.
LEAST = 5
_MOST = 100_000  # terms of searches in memory: people can type without end
_MEANINGLESS = {
    "tfidf": "they are weighted by how rare a term is among all people (tfidf)",
    "recency": "they are weighted by the age of each search (recency)",
}


class Growth:
    """How searches add to profiles that were made by some choices."""

    def __init__(self, choices: Mapping[str, Any], settings: Settings):
        self.fault = _fault(choices)  # why searches can't add to these profiles; empty if they can
        self.sums = choices.get("weights") == "tf"  # whether a weight counts occurrences
        self.size: int | None = choices.get("size")  # most terms of a profile; None: no limit
        self.needed = max(LEAST, self.size or 0)  # terms of a person who can be admitted
        self._choices, self._settings = choices, settings
        self._counter: TermCounter | None = None  # made when it is needed: WordNet takes a while
        self._lock = threading.Lock()  # a counter serves one thread at a time

    def counts(self, query: str) -> dict[str, int]:
        """Return how often each term is in `query`, analysed as the searches of the log were."""
        with self._lock:
            self._counter = self._counter or analysis_of(self._choices, self._settings)
            counted = self._counter.count([query])
            terms = self._counter.terms
            if len(terms) > _MOST:
                self._counter = None
        pairs = zip(counted.columns.tolist(), counted.tf.tolist(), strict=True)
        return {terms[column]: tf for column, tf in pairs}

    def clear(self) -> None:
        """Keep no term of any search in memory."""
        with self._lock:
            self._counter = None

    def over(self, profile: Mapping[str, float], grown: Mapping[str, int]) -> Mapping[str, float]:
        """Return `profile` with what has `grown` laid over it, weighted as profiles here are."""
        if self.fault or not grown:
            return profile
        if self.sums:
            return {**profile, **{t: profile.get(t, 0.0) + n for t, n in grown.items()}}
        return {**dict.fromkeys(grown, 1.0), **profile}

    def ready(self, grown: Mapping[str, int]) -> bool:
        """Return whether a person without a past can be admitted, if these terms have `grown`."""
        return not self.fault and len(grown) >= self.needed

    def profile(self, grown: Mapping[str, int]) -> dict[str, float]:
        """Return what has `grown` as a profile: with a size, its most frequent terms."""
        first = sorted(grown, key=lambda term: -grown[term])[: self.size]  # ties: the first met
        return {term: float(grown[term]) if self.sums else 1.0 for term in first}


def growth_of(workspace: Workspace, made_from: str, settings: Settings) -> Growth:
    """Return how searches add to the profiles of `workspace`.

    Their fingerprint is `made_from`; "": none are open. If there are none at all, the first ones
    are made by the default choices.
    """
    if made_from:
        return Growth(choices_of(workspace.find("profiles"), made_from), settings)
    return Growth({} if workspace.current().profiles else vars(usual_choices(settings)), settings)


def newcomers(
    growth: Growth, grown: Mapping[str, Mapping[str, int]], known: Collection[str]
) -> dict[str, dict[str, float]]:
    """Return a profile of each person with enough `grown` terms who is none of those `known`."""
    return {
        user: growth.profile(counts)
        for user, counts in grown.items()
        if user not in known and growth.ready(counts)
    }


def laid_over(
    workspace: Workspace, settings: Settings, profiles: Profiles
) -> Callable[[str, Mapping[str, float]], Mapping[str, float]]:
    """Return what lays over one of the `profiles` of `workspace` what grew of its person."""
    place = kept_people(workspace.root, settings)
    if place is None:
        return lambda _user, past: past
    path = workspace.find("profiles")
    made_from = noted_fingerprint(path) or fingerprint(profiles)
    growth = growth_of(workspace, made_from, settings)
    store = PeopleStore(place)
    store.settle(profiles.row_of)
    return lambda user, past: growth.over(past, store.grown(user))


def settle_growth(workspace: Workspace, settings: Settings) -> None:
    """Remove from the store what has moved into the profiles of `workspace`.

    It is called before people get profiles. The caller holds the lock of `workspace`.
    """
    place, profiles = kept_people(workspace.root, settings), workspace.current().profiles
    if place is not None:
        with closing(PeopleStore(place)) as store:
            if store.moves():
                users = read_profiles(workspace.root / profiles).users if profiles else ()
                store.begin_move({}, {*users})


def _fault(choices: Mapping[str, Any]) -> str:
    if not choices:
        return "it is not known how the profiles here were made"
    if choices.get("granularity") != "user":
        return "profiles here are of sessions, not of people"
    weights = str(choices.get("weights"))
    if weights in _MEANINGLESS:
        return f"profiles here can’t grow search by search: {_MEANINGLESS[weights]}"
    return ""
