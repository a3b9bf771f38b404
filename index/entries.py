"""WordNet as a corpus: one document a synset, written to be read, since snippets show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
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
    words = cache(partial(_words, wordnet))  # an entry's words stand in dozens of other entries
    account.size += wordnet.size
    for synset in range(wordnet.size):
        account.read += 1
        account.done += 1
        yield Document(wordnet.name(synset), words(synset), _text(wordnet, words, synset))


def _text(wordnet: Entries, words: Callable[[int], str], synset: int) -> str:
    parents = wordnet.parents(synset)
    children = wordnet.children(synset)
    siblings = (other for parent in parents for other in wordnet.children(parent))
    beside = (words(other) for other in siblings if other != synset)
    field = (words(member) for member in wordnet.topic_members(synset))
    lines = (
        ". ".join((wordnet.gloss(synset), *wordnet.examples(synset))) + ".",
        _section("Words", [words(synset)]),
        _section("Broader", (f"{words(above)} ({wordnet.gloss(above)})" for above in parents)),
        _section("Narrower", (f"{words(below)} ({wordnet.gloss(below)})" for below in children)),
        _section("Beside it", beside),
        _section("In this field", field),
    )
    return "\n".join(line for line in lines if line)


def _words(wordnet: Entries, synset: int) -> str:
    return ", ".join(wordnet.lemmas(synset))


def _section(head: str, parts: Iterable[str]) -> str:
    listed = "; ".join(islice(parts, NEIGHBOURS))
    return f"{head}: {listed}." if listed else ""
