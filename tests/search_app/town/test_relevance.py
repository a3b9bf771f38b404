"""Relevance by the town's truth: queries in and off interests, and entries below synsets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from anonymizer.terms.wordnet import WordNet
from search_app.errors import UsageError
from search_app.town import build_town, truth
from search_app.town.relevance import truth_relevance

SYNSETS = {"coffee": "coffee.n.01", "dogs": "dog.n.01"}


@pytest.fixture(scope="module")
def known(wordnet: WordNet) -> dict[str, Any]:
    town = build_town(wordnet, users=60, queries=3, rng=np.random.default_rng(4))
    return truth(town, 4)


def below(wordnet: WordNet, synset: int) -> set[str]:
    """Return the names of what is below a synset, by kind or by topic; recursively."""
    found, stack = set[int](), [synset]
    while stack:
        one = stack.pop()
        if one not in found:
            found.add(one)
            stack += [*wordnet.children(one), *wordnet.topic_members(one)]
    return {wordnet.name(one) for one in found}


def test_three_queries_of_four_are_in_the_askers_interests(
    wordnet: WordNet, known: dict[str, Any]
) -> None:
    made = truth_relevance(wordnet, known)
    assert len(made.queries) == 4 * 60
    kinds = Counter((query.topic.user, query.kind) for query in made.queries)
    for user, person in known["users"].items():
        assert (kinds[user, "in"], kinds[user, "off"]) == (3, 1)
        own = {interest["label"].replace(" ", "-") for interest in person["interests"]}
        for query in made.queries:
            if query.topic.user == user:
                assert (query.kind == "in") == (query.labels <= own)
                assert len(query.labels) == 1
    assert {len(query.topic.query.split()) for query in made.queries} == {1, 2}
    assert len({query.topic.qid for query in made.queries}) == 4 * 60


def test_an_entry_is_relevant_to_what_it_stands_below(
    wordnet: WordNet, known: dict[str, Any]
) -> None:
    made = truth_relevance(wordnet, known)
    for label, synset in SYNSETS.items():
        theirs = {name for name, words in made.labels.items() if label in words}
        assert theirs == below(wordnet, wordnet.number(synset))
    assert "coffee" in made.labels["espresso.n.01"]
    ids = np.array(["espresso.n.01", "dog.n.01", "none-such"], dtype=np.object_)
    query = next(query for query in made.queries if query.labels == {"coffee"})
    assert made.relevant(query, ids).tolist() == [True, False, False]


def test_a_query_is_of_words_of_an_entry_of_its_interest(
    wordnet: WordNet, known: dict[str, Any]
) -> None:
    made = truth_relevance(wordnet, known)
    for query in made.queries[:40]:
        (label,) = query.labels
        numbers = (wordnet.number(name) for name, words in made.labels.items() if label in words)
        texts = (f"{wordnet.lemmas(n)[0]} {wordnet.gloss(n)}".lower() for n in numbers)
        assert any(all(word in text for word in query.topic.query.split()) for text in texts)


def test_the_seed_of_the_truth_decides(wordnet: WordNet, known: dict[str, Any]) -> None:
    one, again = (truth_relevance(wordnet, known).queries for _ in range(2))
    assert one == again
    assert truth_relevance(wordnet, {**known, "seed": 5}).queries != one


@pytest.mark.parametrize("interests", [[], [{"label": "none such", "synset": "dog.n.01"}]])
def test_an_unknown_interest_is_refused(wordnet: WordNet, interests: list[dict[str, str]]) -> None:
    users = {"1": {"name": "Ada", "interests": interests, "queries": 3}}
    with pytest.raises(UsageError, match="write the town again"):
        truth_relevance(wordnet, {"seed": 0, "users": users})
