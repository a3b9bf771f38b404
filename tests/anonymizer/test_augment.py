"""Zhu & Xiong's worked examples, and a naive twin that walks WordNet in plain loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from anonymizer.augment import Candidates, augment_profiles, similarity_to, unit_rows
from anonymizer.model import BadParameter, Profiles
from anonymizer.wordnet import WordNet


def _similarity(profiles: Profiles, wordnet: WordNet, a: int) -> float:
    return float(similarity_to(unit_rows(augment_profiles(profiles, wordnet, a=a)), 0)[1])


def test_plain_profiles_share_nothing(paper: Profiles) -> None:
    assert similarity_to(unit_rows(paper.weights), 0)[1] == 0


def test_synset_replacement_makes_riding_and_equitation_one(
    paper: Profiles, wordnet: WordNet
) -> None:
    # UP1 = kitten 1, riding .8; UP2 = pup .6, riding 1
    expected = 0.8 * 1 / (math.hypot(1, 0.8) * math.hypot(0.6, 1))
    assert _similarity(paper, wordnet, a=0) == pytest.approx(expected, abs=1e-12)
    assert _similarity(paper, wordnet, a=0) == pytest.approx(0.5357, abs=5e-5)


def test_one_hypernym_step_adds_young_mammal_and_sport(paper: Profiles, wordnet: WordNet) -> None:
    shared = 0.8 * 1 + 1 * 0.6 + 0.8 * 1  # riding, young mammal, sport
    length = math.sqrt(2 * (1 + 0.8**2)) * math.sqrt(2 * (1 + 0.6**2))
    assert _similarity(paper, wordnet, a=1) == pytest.approx(shared / length, abs=1e-12)


@pytest.mark.parametrize(("a", "printed"), [(1, 0.7365), (2, 0.8035), (3, 0.8370)])
def test_similarity_rises_with_a(paper: Profiles, wordnet: WordNet, a: int, printed: float) -> None:
    assert _similarity(paper, wordnet, a) == pytest.approx(printed, abs=5e-5)


def test_java_is_coffee_to_one_and_a_language_to_the_other(
    paper: Profiles, wordnet: WordNet
) -> None:
    chosen = Candidates(paper, wordnet).closest()
    java = paper.terms.index("java")
    senses = {}
    for user in ("UP3", "UP4"):
        row = paper.number(user)
        columns, _ = paper.slice(row)
        path = chosen[paper.weights.indptr[row] + columns.tolist().index(java)]
        senses[user] = wordnet.name(wordnet.path(int(path))[0])
    assert senses == {"UP3": "coffee.n.01", "UP4": "java.n.03"}


def test_a_term_without_synset_stays_itself(paper: Profiles, wordnet: WordNet) -> None:
    augmented = augment_profiles(paper, wordnet, a=3)
    column = wordnet.size + paper.terms.index("C++")
    assert augmented[paper.number("UP4"), column] == 0.4


def test_two_terms_of_one_synset_keep_the_largest_weight_or_the_sum(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({"u": {"riding": 0.8, "equitation": 1.0}})
    assert augment_profiles(profiles, wordnet, a=0).data.tolist() == [1.0]
    assert augment_profiles(profiles, wordnet, a=0, combine="sum").data.tolist() == [1.8]


def test_the_first_sense_of_java_is_the_island(paper: Profiles, wordnet: WordNet) -> None:
    augmented = augment_profiles(paper, wordnet, a=0, sense="first")
    assert augmented[paper.number("UP3"), wordnet.number("java.n.01")] == 0.6


@pytest.mark.parametrize("wrong", [{"a": -1}, {"combine": "mean"}, {"sense": "last"}])
def test_wrong_parameters_are_named(
    paper: Profiles, wordnet: WordNet, wrong: dict[str, object]
) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(BadParameter, match=f"{name}={value} must be"):
        augment_profiles(paper, wordnet, **wrong)  # type: ignore[arg-type]


def _naive(profiles: Profiles, wordnet: WordNet, a: int) -> np.ndarray:
    """Definition by definition, one user and term at a time."""
    result = np.zeros((len(profiles), wordnet.size))
    for row in range(len(profiles)):
        profile = profiles.at(row)
        norm = math.sqrt(math.fsum(weight**2 for weight in profile.values()))
        for term, weight in profile.items():
            best, chosen = -1.0, None
            for synset in wordnet.senses(term):
                for number in wordnet.paths(synset):
                    path = wordnet.path(number)
                    words = {w.lower() for s in path for w in wordnet.lemmas(s)} - {term}
                    shared = math.fsum(profile.get(word, 0.0) for word in words)
                    score = round(shared / (math.sqrt(len(words) or 1) * norm), 12)
                    if score > best:
                        best, chosen = score, path
            for synset in (chosen or [])[: a + 1]:
                result[row, synset] = max(result[row, synset], weight)
    return result


def _ambiguous_profiles(wordnet: WordNet) -> Profiles:
    """Invent users who know words of several senses and, for some senses, a word above them."""
    rng = np.random.default_rng(7)
    pool: list[str] = []
    for term in rng.choice(wordnet.terms, 1500).tolist():
        paths = [p for synset in wordnet.senses(term) for p in wordnet.paths(synset)]
        if len(paths) > 1:
            path = wordnet.path(int(rng.choice(paths)))
            above = wordnet.lemmas(int(rng.choice(path)))
            pool += [term, str(rng.choice(above)).lower()]
    return Profiles.from_rows(
        {
            f"u{number}": {
                word: float(rng.choice([0.5, 1.0, 0.3]))
                for at in rng.choice(len(pool) // 2, 8, replace=False).tolist()
                for word in pool[2 * at : 2 * at + 2]
            }
            for number in range(60)
        }
    )


def test_augmentation_equals_the_naive_twin(wordnet: WordNet) -> None:
    profiles = _ambiguous_profiles(wordnet)
    for a in range(4):
        found = augment_profiles(profiles, wordnet, a=a)[:, : wordnet.size].toarray()
        assert np.array_equal(found, _naive(profiles, wordnet, a))


def test_unit_rows_have_length_one(paper: Profiles) -> None:
    unit = unit_rows(paper.weights)
    for row in range(len(paper)):
        assert similarity_to(unit, row)[row] == 1
    for one, other in itertools.combinations(range(len(paper)), 2):
        assert similarity_to(unit, one)[other] == similarity_to(unit, other)[one]
