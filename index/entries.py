"""WordNet as a corpus: one document a synset, written to be read, since snippets show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from .model import Account, Document

NEIGHBOURS = 40  # at most, in each section of an entry


class Entries(Protocol):
    """What a corpus needs of WordNet; synsets are numbered from 0."""

    @property
    def size(self) -> int:
        """Count the synsets."""

    def name(self, synset: int) -> str:
        """Return a synset's name, like java.n.03."""

    def lemmas(self, synset: int) -> list[str]:
        """Return a synset's words."""

    def gloss(self, synset: int) -> str:
        """Return its definition."""

    def examples(self, synset: int) -> list[str]:
        """Return its example sentences."""

    def parents(self, synset: int) -> list[int]:
        """Return its hypernyms."""

    def children(self, synset: int) -> list[int]:
        """Return its hyponyms."""

    def topic_members(self, synset: int) -> list[int]:
        """Return the synsets of which it is the topic domain."""


def wordnet_entries(wordnet: Entries, account: Account) -> Iterator[Document]:
    """Make a document of each synset: its words are the title, its gloss opens the text."""
    for synset in range(wordnet.size):
        account.read += 1
        yield Document(wordnet.name(synset), _words(wordnet, synset), _text(wordnet, synset))


def _text(wordnet: Entries, synset: int) -> str:
    parents = wordnet.parents(synset)
    children = wordnet.children(synset)
    siblings = (other for parent in parents for other in wordnet.children(parent))
    beside = (_words(wordnet, other) for other in siblings if other != synset)
    field = (_words(wordnet, member) for member in wordnet.topic_members(synset))
    lines = (
        ". ".join((wordnet.gloss(synset), *wordnet.examples(synset))) + ".",
        _section("Words", [_words(wordnet, synset)]),
        _section("Broader", (_described(wordnet, parent) for parent in parents)),
        _section("Narrower", (_described(wordnet, child) for child in children)),
        _section("Beside it", beside),
        _section("In this field", field),
    )
    return "\n".join(line for line in lines if line)


def _words(wordnet: Entries, synset: int) -> str:
    return ", ".join(wordnet.lemmas(synset))


def _described(wordnet: Entries, synset: int) -> str:
    return f"{_words(wordnet, synset)} ({wordnet.gloss(synset)})"


def _section(head: str, parts: Iterable[str]) -> str:
    listed = "; ".join(islice(parts, NEIGHBOURS))
    return f"{head}: {listed}." if listed else ""
