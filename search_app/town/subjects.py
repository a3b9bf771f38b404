"""Interests, and the topics to search for that WordNet has for each, most familiar first."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from anonymizer.terms.analysis import STOP_WORDS

if TYPE_CHECKING:
    from anonymizer.terms.wordnet import WordNet

Item = TypeVar("Item")
TOPICS = 64  # a subject's most familiar topics; the rest of a large tree is not used
CLOSENESS = 0.75  # each step down the tree multiplies a name's score by this
SPOKEN = 3.5  # score of the first phrase that the table of interests gives
NEAR = 6  # words of a topic's definition that may be typed with it
_WORDS = re.compile(r"[a-z]+")
_PHRASE = re.compile(r"[a-z]{3,}(?:[ -][a-z]{2,}){0,2}")
# Topics that would be unpleasant in a lecture, by a word of the definition or of the phrase.
_UNFIT = re.compile(
    r"\b(?:offensive|slang|disparag|derogat|obscen|vulgar|insult|sex|genital|prostitut|copulat"
    r"|excre|urin|feces|fecal|semen|rape|nude|naked|porn|fetish|phall|hymen\b|castrat|venereal"
    r"|abort|stillborn|slave|nazi|murder|suicid|tortur|massacre|lynch|behead|terroris|corpse"
    r"|coffin|drunk|cocaine|marijuana|heroin|kaffir|hottentot|golliwog|eskimo|gyps(?:y|ies))",
    re.IGNORECASE,
)
_COARSE = re.compile(r"\b(?:obscene|vulgar|prostitute|disparaging)\b")  # in any sense of a word
# A word that is in more definitions than this says nothing about a subject.
DULL = 400


@dataclass(frozen=True)
class Interest:
    """A subject: its main synset, a short label, its popularity, and what belongs to it."""

    synset: str
    label: str
    weight: float  # how many people have it, relative to the others
    kind: str  # what sort of questions it brings
    more: tuple[str, ...]  # further synsets whose trees belong to it
    words: tuple[str, ...]  # phrases people use beyond WordNet's names


def _interest(entry: str) -> Interest:
    head, _, rest = entry.partition(":")
    weight, kind, label = head.split(maxsplit=2)
    synsets, _, words = rest.partition("|")
    main, *more = synsets.split()
    phrases = tuple(" ".join(phrase.split()) for phrase in words.split(",") if phrase.strip())
    return Interest(main, label, float(weight), kind, tuple(more), phrases)


_TABLE = Path(__file__).with_name("interests.txt").read_text(encoding="utf-8")
INTERESTS = tuple(map(_interest, _TABLE.strip().replace("\n    ", " ").split("\n")[1:]))


class Wheel(Generic[Item]):
    """A wheel of fortune: items with fields of unequal width."""

    def __init__(self, items: Sequence[Item], widths: Iterable[float]):
        self.items = items
        self._edges = list(accumulate(widths))

    def spin(self, rng: np.random.Generator) -> Item:
        """Return one item, drawn by `rng`."""
        at = bisect(self._edges, rng.random() * self._edges[-1])
        return self.items[min(at, len(self.items) - 1)]


@dataclass(frozen=True)
class TownTopic:
    """Something to ask for, and words that explain it."""

    phrase: str
    near: tuple[str, ...]
    plain: bool  # this is the first meaning of the phrase


@dataclass(frozen=True)
class Subject:
    """All topics of one interest, the most familiar first."""

    interest: Interest
    topics: tuple[TownTopic, ...]


class _Name(NamedTuple):
    phrase: str
    synset: int | None
    score: float
    plain: bool


class Library:
    """WordNet as a source of subjects."""

    def __init__(self, wordnet: WordNet):
        self._wordnet = wordnet
        self._coarse: dict[str, bool] = {}

    @cached_property
    def _mentions(self) -> Counter[str]:
        """Return how often each word is in a definition: a word that is there often is familiar."""
        glosses = (self._wordnet.gloss(synset) for synset in range(self._wordnet.size))
        return Counter(word for gloss in glosses for word in _WORDS.findall(gloss.lower()))

    def subject(self, interest: Interest) -> Subject:
        """Return `interest` with its topics."""
        names: dict[str, _Name] = {}
        for number, phrase in enumerate(interest.words):
            names[phrase] = _Name(phrase, None, SPOKEN / (1 + 0.06 * number), True)
        for synset, depth in self.tree((interest.synset, *interest.more)).items():
            for name in self._names(synset, depth):
                names.setdefault(name.phrase, name)
        ranked = sorted(names.values(), key=lambda name: -name.score)
        topics = (topic for name in ranked if (topic := self._topic(name)))
        return Subject(interest, tuple(islice(topics, TOPICS)))

    def tree(self, roots: Iterable[str]) -> dict[int, int]:
        """Return all synsets below `roots`, by hyponymy or by topic, and their depths."""
        depths = {self._wordnet.number(root): min(at, 1) for at, root in enumerate(roots)}
        queue = list(depths)
        for synset in queue:
            for child in (*self._wordnet.children(synset), *self._wordnet.topic_members(synset)):
                if child not in depths:
                    depths[child] = depths[synset] + 1
                    queue.append(child)
        return depths

    def _names(self, synset: int, depth: int) -> Iterator[_Name]:
        """Yield the names of `synset`; close to the root, familiar and plain ones score high."""
        pos = self._wordnet.pos(synset)
        if pos not in "nv":
            return
        for rank, lemma in enumerate(self._wordnet.lemmas(synset)[:3]):
            phrase = lemma.lower()
            if not _PHRASE.fullmatch(phrase):
                continue
            mentions = min(self._mentions[word] for word in _WORDS.findall(phrase))
            # A further name that definitions hardly mention is not a familiar one.
            if rank and mentions < 2:
                continue
            plain = self._wordnet.senses(phrase)[0] == synset
            familiarity = (1 + min(mentions, 100)) ** 0.3 / (1 + rank)
            doubt = (1.0 if plain else 0.4) * (1.0 if pos == "n" else 0.4)
            yield _Name(phrase, synset, CLOSENESS**depth * familiarity * doubt, plain)

    def _topic(self, name: _Name) -> TownTopic | None:
        if name.synset is None:
            return TownTopic(name.phrase, (), name.plain)
        text = f"{name.phrase} {self._wordnet.gloss(name.synset)}"
        if _UNFIT.search(text) or any(map(self._is_coarse, name.phrase.split())):
            return None
        near = (word for word in self._near(name.synset) if word not in name.phrase)
        return TownTopic(name.phrase, tuple(islice(near, NEAR)), name.plain)

    def _near(self, synset: int) -> Iterator[str]:
        """Yield the nouns of a definition that say something about it, the rarest first."""
        words = dict.fromkeys(_WORDS.findall(self._wordnet.gloss(synset).lower()))
        for word in sorted(words, key=lambda word: self._mentions[word]):
            if len(word) > 2 and 2 <= self._mentions[word] < DULL and self._is_fit_noun(word):
                yield word

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
