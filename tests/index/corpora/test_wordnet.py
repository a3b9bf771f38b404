"""WordNet's entries as documents, on a WordNet of five synsets."""

from __future__ import annotations

from index.corpora import wordnet as entries
from index.corpora.reading import wordnet_entries
from index.model import Account, Document


class Toy:
    """land <- island <- java, bali; geography is the topic of island."""

    size = 5
    _names = ("land.n.01", "island.n.01", "java.n.01", "bali.n.01", "geography.n.01")
    _lemmas = (["land"], ["island"], ["Java", "Djawa"], ["Bali"], ["geography"])
    name, lemmas = _names.__getitem__, _lemmas.__getitem__
    gloss = "gloss {}".format
    examples = ([], [], ["they grow coffee on Java"], [], []).__getitem__
    parents = ([], [0], [1], [1], []).__getitem__
    children = ([1], [2, 3], [], [], []).__getitem__
    topic_members = ([], [], [], [], [1]).__getitem__


def test_an_entry_has_gloss_examples_neighbours_and_members_of_its_field() -> None:
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
    texts = [document.text.split("\n") for document in documents]
    assert texts[1][-1] == "Narrower: Java, Djawa (gloss 2); Bali (gloss 3)."
    assert texts[4][-1] == "In this field: island."


def test_an_entry_with_very_many_neighbours_stays_short() -> None:
    class Wide(Toy):
        def children(self, synset: int) -> list[int]:
            return [3] * 1000 if synset == 0 else []

    text = next(wordnet_entries(Wide(), Account())).text
    assert text.count("Bali") == entries.NEIGHBOURS
