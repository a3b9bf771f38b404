"""An interest's subject: what WordNet's trees give people to ask about, most familiar first."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from anonymizer.text import STOP_WORDS

from .interests import Interest

if TYPE_CHECKING:
    from anonymizer.wordnet import WordNet

Item = TypeVar("Item")
TOPICS = 64  # a subject's most familiar topics; nobody asks for the rest of a large tree
CLOSENESS = 0.75  # what a step down the tree leaves of a name's score
SPOKEN = 3.5  # score of the first phrase that stands in the interest itself
NEAR = 6  # words of its definition that a topic is asked with
_WORDS = re.compile(r"[a-z]+")
_PHRASE = re.compile(r"[a-z]{3,}(?:[ -][a-z]{2,}){0,2}")
# Whatever would be unpleasant in a lecture: by a word of the definition or of the phrase itself.
_UNFIT = re.compile(
    r"\b(?:offensive|slang|disparag|derogat|obscen|vulgar|insult|sex|genital|prostitut|copulat"
    r"|excre|urin|feces|fecal|semen|rape|nude|naked|porn|fetish|phall|hymen\b|castrat|venereal"
    r"|abort|stillborn|slave|nazi|murder|suicid|tortur|massacre|lynch|behead|terroris|corpse"
    r"|coffin|drunk|cocaine|marijuana|heroin|kaffir|hottentot|golliwog|eskimo|gyps(?:y|ies))",
    re.IGNORECASE,
)
_COARSE = re.compile(r"\b(?:obscene|vulgar|prostitute|disparaging)\b")  # any sense of a word
DULL = 400  # a word standing in more definitions than this tells nothing about a subject


class Wheel(Generic[Item]):
    """A wheel of fortune: items with fields of unequal width."""

    def __init__(self, items: Sequence[Item], widths: Iterable[float]):
        self.items = items
        self._edges = list(accumulate(widths))

    def spin(self, rng: np.random.Generator) -> Item:
        """Return one item, by chance."""
        at = bisect(self._edges, rng.random() * self._edges[-1])
        return self.items[min(at, len(self.items) - 1)]


@dataclass(frozen=True)
class Topic:
    """Something to ask for, and words that explain it."""

    phrase: str
    near: tuple[str, ...]
    plain: bool  # the phrase means this before it means anything else


@dataclass(frozen=True)
class Subject:
    """All topics of one interest, the most familiar first."""

    interest: Interest
    topics: tuple[Topic, ...]


class _Name(NamedTuple):
    phrase: str
    synset: int | None
    score: float
    plain: bool


class Library:
    """WordNet seen as a source of subjects."""

    def __init__(self, wordnet: WordNet):
        self._wordnet = wordnet
        self._coarse: dict[str, bool] = {}

    @cached_property
    def _mentions(self) -> Counter[str]:
        """Count each word in all definitions: what is mentioned often is familiar."""
        glosses = (self._wordnet.gloss(synset) for synset in range(self._wordnet.size))
        return Counter(word for gloss in glosses for word in _WORDS.findall(gloss.lower()))

    def subject(self, interest: Interest) -> Subject:
        """Collect an interest's topics."""
        found: dict[str, _Name] = {}
        for number, phrase in enumerate(interest.words):
            found[phrase] = _Name(phrase, None, SPOKEN / (1 + 0.06 * number), True)
        for synset, depth in self.tree((interest.synset, *interest.more)).items():
            for name in self._names(synset, depth):
                found.setdefault(name.phrase, name)
        ranked = sorted(found.values(), key=lambda name: -name.score)
        topics = (self._topic(name) for name in ranked if self._is_fit(name))
        return Subject(interest, tuple(islice(topics, TOPICS)))

    def tree(self, roots: Iterable[str]) -> dict[int, int]:
        """Return all synsets below the roots, by hyponymy or as their topic, with depths."""
        depths = {self._wordnet.number(root): min(at, 1) for at, root in enumerate(roots)}
        queue = list(depths)
        for synset in queue:
            below = (*self._wordnet.children(synset), *self._wordnet.topic_members(synset))
            for child in below:
                if child not in depths:
                    depths[child] = depths[synset] + 1
                    queue.append(child)
        return depths

    def _names(self, synset: int, depth: int) -> Iterator[_Name]:
        """Return a synset's names; what is close to the root, familiar and plain scores high."""
        pos = self._wordnet.pos(synset)
        if pos not in "nv":
            return
        for rank, lemma in enumerate(self._wordnet.lemmas(synset)[:3]):
            phrase = lemma.lower()
            if not _PHRASE.fullmatch(phrase):
                continue
            mentions = min(self._mentions[word] for word in _WORDS.findall(phrase))
            if rank and mentions < 2:
                continue
            plain = self._wordnet.senses(phrase)[0] == synset
            familiarity = (1 + min(mentions, 100)) ** 0.3 / (1 + rank)
            doubt = (1.0 if plain else 0.4) * (1.0 if pos == "n" else 0.4)
            yield _Name(phrase, synset, CLOSENESS**depth * familiarity * doubt, plain)

    def _topic(self, name: _Name) -> Topic:
        if name.synset is None:
            return Topic(name.phrase, (), name.plain)
        near = (word for word in self._near(name.synset) if word not in name.phrase)
        return Topic(name.phrase, tuple(islice(near, NEAR)), name.plain)

    def _near(self, synset: int) -> Iterator[str]:
        """Return the telling words of a definition, the rarest first."""
        words = dict.fromkeys(_WORDS.findall(self._wordnet.gloss(synset).lower()))
        for word in sorted(words, key=lambda word: self._mentions[word]):
            if len(word) > 2 and 2 <= self._mentions[word] < DULL and self._is_fit_noun(word):
                yield word

    def _is_fit(self, name: _Name) -> bool:
        if name.synset is None:
            return True
        text = f"{name.phrase} {self._wordnet.gloss(name.synset)}"
        return not _UNFIT.search(text) and not any(map(self._is_coarse, name.phrase.split()))

    def _is_fit_noun(self, word: str) -> bool:
        form = self._wordnet.base_form(word)
        if form is None or word not in (form, form + "s") or word in STOP_WORDS:
            return False
        is_noun = self._wordnet.pos(self._wordnet.senses(form)[0]) == "n"
        return is_noun and not _UNFIT.search(word) and not self._is_coarse(form)

    def _is_coarse(self, word: str) -> bool:
        if word not in self._coarse:
            glosses = map(self._wordnet.gloss, self._wordnet.senses(word))
            self._coarse[word] = any(_COARSE.search(gloss) for gloss in glosses)
        return self._coarse[word]
