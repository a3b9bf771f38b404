"""WordNet's entries as documents, on a WordNet of five synsets."""

from __future__ import annotations

from index import entries
from index.documents import wordnet_entries
from index.model import Account, Document


class Toy:
    """land <- island <- java, bali; geography is the topic of island."""

    size = 5
    _names = ("land.n.01", "island.n.01", "java.n.01", "bali.n.01", "geography.n.01")
    _lemmas = (["land"], ["island"], ["Java", "Djawa"], ["Bali"], ["geography"])
    _up = ([], [0], [1], [1], [])
    _down = ([1], [2, 3], [], [], [])

    def name(self, synset: int) -> str:
        return self._names[synset]

    def lemmas(self, synset: int) -> list[str]:
        return self._lemmas[synset]

    def gloss(self, synset: int) -> str:
        return f"gloss {synset}"

    def examples(self, synset: int) -> list[str]:
        return ["they grow coffee on Java"] if synset == 2 else []

    def parents(self, synset: int) -> list[int]:
        return self._up[synset]

    def children(self, synset: int) -> list[int]:
        return self._down[synset]

    def topic_members(self, synset: int) -> list[int]:
        return [1] if synset == 4 else []


def test_an_entry_opens_with_gloss_and_examples() -> None:
    account = Account()
    documents = list(wordnet_entries(Toy(), account))
    assert documents[2] == Document(
        "java.n.01",
        "Java, Djawa",
        "gloss 2. they grow coffee on Java.\n"
        "Words: Java, Djawa.\n"
        "Broader: island (gloss 1).\n"
        "Beside it: Bali.",
    )
    assert account.read == 5


def test_an_entry_names_children_and_members_of_its_field() -> None:
    texts = [document.text.split("\n") for document in wordnet_entries(Toy(), Account())]
    assert texts[1][-1] == "Narrower: Java, Djawa (gloss 2); Bali (gloss 3)."
    assert texts[4][-1] == "In this field: island."


def test_the_words_of_a_synset_are_read_once() -> None:
    class Counting(Toy):
        def __init__(self) -> None:
            self.read: list[int] = []

        def lemmas(self, synset: int) -> list[str]:
            self.read.append(synset)
            return super().lemmas(synset)

    toy = Counting()
    assert len(list(wordnet_entries(toy, Account()))) == 5
    assert sorted(toy.read) == [0, 1, 2, 3, 4]


def test_an_entry_with_very_many_neighbours_stays_short() -> None:
    class Wide(Toy):
        def children(self, synset: int) -> list[int]:
            return [3] * 1000 if synset == 0 else []

    text = next(wordnet_entries(Wide(), Account())).text
    assert text.count("Bali") == entries.NEIGHBOURS
