"""Subjects: what WordNet's trees give people to ask about, in a toy world and in the real one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.terms.wordnet import WordNet
from search_app.town.subjects import INTERESTS, Interest, Library, TownTopic, Wheel
from search_app.town.words import QUESTIONS


class ToyWordNet:
    """Coffee and what is below it; java is an island first; one definition is not for lectures."""

    entries = (
        ("island.n.01", ["Java"], "an island south of Borneo", []),
        ("coffee.n.01", ["coffee", "java"], "a drink brewed from roasted beans", [2, 3]),
        ("espresso.n.01", ["espresso"], "coffee brewed by steam, from beans", [4]),
        ("swill.n.01", ["swill"], "an offensive word for coffee", []),
        ("doppio.n.01", ["doppio"], "a double espresso of java, by steam", []),
        ("grind.v.01", ["grind"], "make beans of java into powder", []),
    )
    size = len(entries)

    def number(self, name: str) -> int:
        return [entry[0] for entry in self.entries].index(name)

    def base_form(self, word: str) -> str | None:
        return {"beans": "bean", "steam": "steam", "espresso": "espresso"}.get(word)

    def senses(self, term: str) -> list[int]:
        """Bean and steam have no entry of their own: any noun stands in for them."""
        found = [at for at, entry in enumerate(self.entries) if term in map(str.lower, entry[1])]
        return found or [1]

    def pos(self, synset: int) -> str:
        return self.entries[synset][0].split(".")[1]

    def lemmas(self, synset: int) -> list[str]:
        return self.entries[synset][1]

    def gloss(self, synset: int) -> str:
        return self.entries[synset][2]

    def children(self, synset: int) -> list[int]:
        return self.entries[synset][3]

    def topic_members(self, synset: int) -> list[int]:
        return [5] if synset == 1 else []


COFFEE = Interest("coffee.n.01", "coffee", 1.0, "drink", (), ("latte",))


def test_tree_of_a_subject_holds_what_is_below_it_and_what_has_it_as_topic():
    assert Library(ToyWordNet()).tree(["coffee.n.01"]) == {1: 0, 2: 1, 3: 1, 5: 1, 4: 2}


def test_subject_has_the_interests_own_words_first_and_nothing_unfit():
    # Each phrase, the nouns of its definition, and whether it means nothing else first. "beans"
    # stands in three definitions and "steam" in two: the rarer one comes first.
    topics = [
        TownTopic("latte", (), True),
        TownTopic("coffee", ("beans",), True),  # mentioned twice: 3 ** .3 = 1.39
        TownTopic("espresso", ("steam", "beans"), True),  # one step down: .75 * 2 ** .3 = 0.92
        TownTopic("doppio", ("steam",), True),  # two steps down, never mentioned: .75 ** 2 = 0.56
        TownTopic("grind", ("beans",), True),  # one step down, a verb: .75 * .4 = 0.3
        TownTopic("java", ("beans",), False),  # second name, an island first: 1.39 / 2 * .4 = 0.28
    ]
    assert list(Library(ToyWordNet()).subject(COFFEE).topics) == topics


@given(st.integers(0, 2**32), st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any))
def test_a_wheel_stops_only_at_fields_that_have_a_width(seed: int, widths: list[int]):
    wheel = Wheel(range(len(widths)), widths)
    assert widths[wheel.spin(np.random.default_rng(seed))] > 0


def test_a_wheel_stops_as_often_as_its_fields_are_wide():
    wheel, rng = Wheel("ab", (1, 3)), np.random.default_rng(0)
    share = sum(wheel.spin(rng) == "b" for _ in range(4000)) / 4000
    assert share == pytest.approx(3 / 4, abs=5 * math.sqrt(3 / 16 / 4000))


def test_interests_are_well_formed(wordnet: WordNet):
    assert 80 <= len(INTERESTS) <= 120
    assert len({interest.label for interest in INTERESTS}) == len(INTERESTS)
    for interest in INTERESTS:
        assert interest.weight > 0
        assert interest.kind in QUESTIONS
        for name in (interest.synset, *interest.more):
            assert wordnet.number(name) >= 0
