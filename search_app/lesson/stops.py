"""The stops of the dial: a person's search by their own profile, by rows of releases, and plain."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from anonymizer.attacks import Attacked
from anonymizer.attacks.guesses import ColumnReader, Guess
from anonymizer.attacks.reading import raw_release
from anonymizer.errors import AnonymizerError
from anonymizer.methods import METHODS
from anonymizer.model import Profiles, Release

from ..disclosure.kinds import kind_of, name_of
from ..disclosure.numbers import count
from ..search.modes import FURTHER, Answer, Modes
from .attacker import KNOWN, Attacker

GUESSES = 24  # of the attacker, about a person
OWN, NOBODY = "Your own profile", "Nobody known"
IN_USE = "in use"  # the release, among others with the same label


@dataclass(frozen=True)
class Stop:
    """A ranking of a person's search, and what goes with it."""

    mode: str
    label: str
    people: int  # that the ranking can’t tell apart
    answer: Answer
    guesses: tuple[Guess, ...]  # about the person, by someone who has learnt their row
    mean: float  # right guesses about everybody who has a row, on average

    @property
    def right(self) -> int:
        """Return how many guesses are right."""
        return sum(guess.right for guess in self.guesses)

    @property
    def ap(self) -> float | None:
        """Return how close the ranking is to the one by the own profile; None without one."""
        return self.answer.precision.ap if self.answer.precision else None

    @property
    def share(self) -> str:
        """Return the same in percent: 100 only where it is 1."""
        if self.ap is None:
            return ""
        return f"{100 if self.ap == 1 else min(round(100 * self.ap), 99)} %"

    @property
    def hidden(self) -> str:
        """Return in a sentence how many people the ranking can't tell apart."""
        if self.mode == "none":
            return f"All {count(self.people, 'person', 'people')}."
        others = count(self.people - 1, "other", "others")
        return f"You and {others}." if self.people > 1 else "Nobody: it is you."


@dataclass(frozen=True)
class Reading:
    """A release, or the own profiles, as an attacker reads it."""

    mode: str
    release: Release
    label: str
    attacker: ColumnReader
    mean: float  # right guesses about everybody who has a row, on average

    @cached_property
    def player(self) -> Attacker:
        """Return who plays games with the rows; AnonymizerError if too few people have one."""
        return Attacker(Attacked(self.attacker.profiles, self.release, known=(KNOWN,)))


class Dial:
    """The stops that there are now, for everybody."""

    def __init__(self, now: Callable[[], Modes]):
        self.now = now  # returns modes with each release that can be a stop
        self._lock = threading.Lock()
        self._read: dict[str, Reading] = {}
        self.known: Sequence[Reading] = ()  # what was read so far, best for an attacker first

    def settle(self) -> None:
        """Read what the next call of `stops` would wait for."""
        self.readings(self.now())

    def readings(self, modes: Modes) -> list[Reading]:
        """Return the own profiles and the releases of `modes`, best for an attacker first."""
        if not modes.profiles:
            return []
        with self._lock:
            known, own = self._read, self._read.get("own")
            if own is None or own.attacker.profiles is not modes.profiles:
                known, own = {}, _read("own", raw_release(modes.profiles), modes.profiles)
            self._read = {"own": own}
            for mode in modes.modes:
                release, kept = modes.release_of(mode), known.get(mode)
                # Attacks do not read yet what stands for words below it.
                if release is None or release.promise.words_above:
                    continue
                # What has the same rows is read once, however often others come and go.
                try:
                    same = kept is not None and kept.release is release
                    made = kept if same else _read(mode, release, modes.profiles)
                except AnonymizerError:  # such as rows that serve nobody any more
                    continue
                if made:
                    self._read[mode] = made
            rest = [one for one in self._read.values() if one.mode != "own"]
            self.known = [own, *sorted(rest, key=lambda one: (-one.mean, one.label, one.mode))]
            return [*self.known]

    def stops(self, modes: Modes, user: str, answers: Mapping[str, Answer]) -> list[Stop]:
        """Return the stops of `user` by the `answers` of `modes`: from own profile to plain.

        A release in which no row stands for `user` is none.
        """
        readings = self.readings(modes)
        shown = [one for one in readings if one.mode in answers and not answers[one.mode].foreign]
        labels = Counter(one.label for one in shown)
        stops = [
            Stop(
                one.mode,
                f"{one.label}, {_folder(one.mode)}" if labels[one.label] > 1 else one.label,
                answers[one.mode].users or 1,
                answers[one.mode],
                tuple(one.attacker.guesses(user, GUESSES)),
                one.mean,
            )
            for one in shown
        ]
        everybody = len(modes.profiles) if modes.profiles else 0
        return [*stops, Stop("none", NOBODY, everybody, answers["none"], (), 0.0)]


def label_of(release: Release) -> str:
    """Return what `release` is, in a few words: sizes of its groups, and what they promise."""
    promise, method = release.promise, METHODS.get(release.method)
    p = release.number("p")
    if promise.bounds == "belief" and p is not None:
        return f"{release.method.capitalize()}, belief moves ≤ {p:g}"
    sizes = release.grouping.sizes[: release.groups].tolist()
    fewest, most = min(sizes), max(sizes)
    people = f"{fewest}–{most}" if fewest < most else count(most, "person", "people")
    by = release.method
    if method is not None and promise != method.promise:
        by += f" {promise.bounds}"
    elif method is not None and method.paper != "ours":
        by = "paper"
    given = name_of(release).removeprefix(release.method).split()
    about = ", ".join([by, *given]).replace("=", " = ")
    return f"{kind_of(promise).words.units.capitalize()} of {people} ({about})"


def _read(mode: str, release: Release, profiles: Profiles) -> Reading:
    attacker = ColumnReader(profiles, release)
    mean = float(attacker.right(GUESSES).mean())
    return Reading(mode, release, OWN if mode == "own" else label_of(release), attacker, mean)


def _folder(mode: str) -> str:
    return mode.removeprefix(FURTHER) if mode.startswith(FURTHER) else IN_USE
