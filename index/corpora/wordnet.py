"""WordNet as a corpus: one document per synset, written for readers, as snippets show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Protocol

from ..model import Account, Document

NEIGHBOURS = 40  # synsets, at most, in each section of an entry


class Entries(Protocol):
    """What a corpus needs from WordNet; synsets are numbered from 0."""

    @property
    def size(self) -> int:
        """Return the number of synsets."""

    def name(self, synset: int) -> str:
        """Return the name of `synset`, such as java.n.03."""

    def lemmas(self, synset: int) -> list[str]:
        """Return the words of `synset`."""

    def gloss(self, synset: int) -> str:
        """Return the definition of `synset`."""

    def examples(self, synset: int) -> list[str]:
        """Return the example sentences of `synset`."""

    def parents(self, synset: int) -> list[int]:
        """Return the hypernyms of `synset`."""

    def children(self, synset: int) -> list[int]:
        """Return the hyponyms of `synset`."""

    def topic_members(self, synset: int) -> list[int]:
        """Return the synsets whose topic domain is `synset`."""


def wordnet_entries(wordnet: Entries, account: Account) -> Iterator[Document]:
    """Yield a document for each synset of `wordnet`: its words are the title, then its gloss."""
    # The words of an entry are needed again for dozens of other entries.
    words = cache(lambda synset: ", ".join(wordnet.lemmas(synset)))
    account.size += wordnet.size
    for synset in range(wordnet.size):
        account.read += 1
        account.done += 1
        yield Document(wordnet.name(synset), words(synset), _text(wordnet, words, synset))


def _text(wordnet: Entries, words: Callable[[int], str], synset: int) -> str:
    # The headings below are part of the corpus: another word would change the index.
    parents = wordnet.parents(synset)
    children = wordnet.children(synset)
    siblings = (other for parent in parents for other in wordnet.children(parent))
    coordinate = (words(other) for other in siblings if other != synset)
    field = (words(member) for member in wordnet.topic_members(synset))
    lines = (
        ". ".join((wordnet.gloss(synset), *wordnet.examples(synset))) + ".",
        _section("Words", [words(synset)]),
        _section("Broader", (f"{words(above)} ({wordnet.gloss(above)})" for above in parents)),
        _section("Narrower", (f"{words(below)} ({wordnet.gloss(below)})" for below in children)),
        _section("Beside it", coordinate),
        _section("In this field", field),
    )
    return "\n".join(line for line in lines if line)


def _section(head: str, parts: Iterable[str]) -> str:
    listed = "; ".join(islice(parts, NEIGHBOURS))
    return f"{head}: {listed}." if listed else ""
