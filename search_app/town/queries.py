"""What a person of the synthetic town types, and where they would click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .subjects import Subject, TownTopic, Wheel
from .words import (
    ERRANDS,
    HOSTS,
    MOMENTS,
    PLACES,
    QUESTIONS,
    SERVICES,
    SHOWS,
    SITES,
    SONG_HEADS,
    SONG_TAILS,
    THINGS,
)

LONGEST = 5  # words of a query
DEVOTION = (1.0, 0.75, 0.6, 0.5, 0.45)  # weight of the first, second, ... interest
_DWELLS = 0.2  # chance that the next query is about the same topic
_FORMS = (0.19, 0.46, 0.18, 0.07, 0.1)  # bare, explained, compared, labelled, asked
_NOISE = (0.06, 0.13)  # least and largest share of everyday errands
_SONGS = [f"{head} {tail}" for head in SONG_HEADS for tail in SONG_TAILS]


class TypedQuery(NamedTuple):
    """The text typed, and the hosts that answer it, the most likely first."""

    text: str
    hosts: Sequence[str]


class Curiosity:
    """One person's way of asking about one subject."""

    def __init__(self, subject: Subject, rng: np.random.Generator):
        self._label = subject.interest.label
        self._stem = self._label.removesuffix("s").removesuffix("ie")
        questions = QUESTIONS[subject.interest.kind].split(";")
        self._questions = Wheel(questions, _habit(questions, rng))
        self._hosts = [f"{self._label.replace(' ', '-')}-{host}" for host in HOSTS]
        # Familiar topics come more often, but each person has other preferences.
        ranks = np.arange(len(subject.topics), dtype=np.float64)
        tastes: list[float] = (rng.gamma(3.0, size=ranks.size) / (ranks + 30.0)).tolist()
        self._topics = Wheel(subject.topics, tastes)
        self._topic = self._topics.spin(rng)
        forms = (self._bare, self._explained, self._compared, self._labelled, self._asked)
        self._forms = Wheel(forms, _FORMS)

    def query(self, rng: np.random.Generator) -> TypedQuery:
        """Return a query on the last topic or another one, in words drawn by `rng`."""
        if rng.random() > _DWELLS:
            self._topic = self._topics.spin(rng)
        text = self._forms.spin(rng)(self._topic, rng)
        short = text if text.count(" ") < LONGEST else self._topic.phrase
        return TypedQuery(short, self._hosts)

    def _bare(self, topic: TownTopic, rng: np.random.Generator) -> str:
        return topic.phrase if topic.plain or rng.random() < 0.4 else self._labelled(topic, rng)

    def _labelled(self, topic: TownTopic, _rng: np.random.Generator) -> str:
        return topic.phrase if self._stem in topic.phrase else f"{topic.phrase} {self._label}"

    def _explained(self, topic: TownTopic, rng: np.random.Generator) -> str:
        if not topic.near:
            return self._bare(topic, rng)
        first = int(rng.integers(len(topic.near)))
        words = topic.near[first : first + 1 + int(rng.random() < 0.35)]
        return " ".join((topic.phrase, *words))

    def _compared(self, topic: TownTopic, rng: np.random.Generator) -> str:
        other = self._topics.spin(rng)
        if other.phrase in topic.phrase or topic.phrase in other.phrase:
            return self._bare(topic, rng)
        return f"{topic.phrase} {other.phrase}"

    def _asked(self, topic: TownTopic, rng: np.random.Generator) -> str:
        return self._questions.spin(rng).format(x=topic.phrase)


class Errands:
    """One person's everyday noise: weather, shops, songs, sites."""

    def __init__(self, rng: np.random.Generator):
        lists = {"place": PLACES, "site": SITES, "thing": THINGS, "song": _SONGS}
        lists |= {"service": SERVICES, "show": SHOWS, "moment": MOMENTS}
        self._values = {name: Wheel(items, _habit(items, rng)) for name, items in lists.items()}
        ways = {name: text.split(";") for name, text in ERRANDS.items()}
        self._ways = {name: Wheel(texts, _habit(texts, rng, 0.5)) for name, texts in ways.items()}
        self._errands = Wheel(tuple(ERRANDS), _habit(tuple(ERRANDS), rng, 0.6))
        self._home = self._values["place"].spin(rng)

    def query(self, rng: np.random.Generator) -> TypedQuery:
        """Return a query that anybody could have, drawn by `rng`."""
        errand = self._errands.spin(rng)
        at_home = errand == "place" and rng.random() < 0.5
        value = self._home if at_home else self._values[errand].spin(rng)
        way = self._ways[errand].spin(rng)
        hosts = [value] if errand == "site" else SITES
        return TypedQuery(way.format(x=value, place=self._home), hosts)


Theme = Curiosity | Errands


class Searcher:
    """A person with interests and errands."""

    def __init__(self, subjects: Sequence[Subject], rng: np.random.Generator):
        curiosities = [Curiosity(subject, rng) for subject in subjects]
        shares = np.array(DEVOTION[: len(subjects)])
        noise = rng.uniform(*_NOISE)
        widths = [*(shares / shares.sum() * (1 - noise)).tolist(), noise]
        self._themes: Wheel[Theme] = Wheel([*curiosities, Errands(rng)], widths)

    def theme(self, rng: np.random.Generator) -> Theme:
        """Return the interest or the errands that come next, drawn by `rng`."""
        return self._themes.spin(rng)


def misspell(text: str, rng: np.random.Generator) -> str:
    """Return `text` with a letter dropped, doubled or swapped in a word of four or more letters."""
    words = text.split(" ")
    long = [number for number, word in enumerate(words) if len(word) >= 4 and word.isalpha()]
    if not long:
        return text
    number = long[int(rng.integers(len(long)))]
    word = words[number]
    at, kind = int(rng.integers(1, len(word) - 1)), rng.random()
    letter, following = word[at], word[at + 1]
    if kind < 1 / 3:
        words[number] = word[:at] + letter + word[at:]
    elif kind < 2 / 3 and letter != following:
        words[number] = word[:at] + following + letter + word[at + 2 :]
    else:
        words[number] = word[:at] + word[at + 1 :]
    return " ".join(words)


def _habit(items: Sequence[str], rng: np.random.Generator, shape: float = 0.3) -> Sequence[float]:
    """Return how often a person uses each of `items`: a few often, most hardly ever."""
    # A gamma distribution with a small shape has many values near 0 and a few large ones.
    widths: list[float] = rng.gamma(shape, size=len(items)).tolist()
    return widths
