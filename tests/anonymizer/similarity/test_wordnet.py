"""Zhu & Xiong's worked examples, and naive twins that walk WordNet in plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array

from anonymizer.model import Profiles
from anonymizer.similarity import wordnet as augment
from anonymizer.similarity.wordnet import DECIMALS, CandidatePaths, augment_profiles, unit_rows
from anonymizer.terms.wordnet import WordNet


def similarity_to(unit: csr_matrix, row: int) -> np.ndarray:
    """Return the cosine of every row with one of them (definition 2), rounded."""
    return np.round((unit @ unit[row].T).toarray().ravel(), DECIMALS)


def _similarity(profiles: Profiles, wordnet: WordNet, a: int) -> float:
    return float(similarity_to(unit_rows(augment_profiles(profiles, wordnet, a=a)), 0)[1])


def test_plain_profiles_share_nothing(paper: Profiles) -> None:
    assert similarity_to(unit_rows(paper.weights), 0)[1] == 0


def _sets(profiles: Profiles, wordnet: WordNet, user: str, a: int) -> dict[frozenset[str], float]:
    """Return an augmented profile as the paper prints it: sets of words and their weights."""
    row = augment_profiles(profiles, wordnet, a=a)[profiles.number(user)]
    names = [frozenset(wordnet.lemmas(synset)) for synset in row.indices.tolist()]
    return dict(zip(names, row.data.tolist(), strict=True))


KITTEN, PUP = frozenset({"kitten", "kitty"}), frozenset({"pup", "whelp"})
RIDING = frozenset({"riding", "horseback riding", "equitation"})
YOUNG, SPORT = frozenset({"young mammal"}), frozenset({"sport", "athletics"})


@pytest.mark.parametrize(
    ("a", "user", "printed"),
    [
        (0, "UP1", {KITTEN: 1.0, RIDING: 0.8}),  # tables 2 and 3
        (0, "UP2", {PUP: 0.6, RIDING: 1.0}),
        (1, "UP1", {KITTEN: 1.0, RIDING: 0.8, YOUNG: 1.0, SPORT: 0.8}),  # table 4
        (1, "UP2", {PUP: 0.6, RIDING: 1.0, YOUNG: 0.6, SPORT: 1.0}),
    ],
)
def test_augmented_profiles_are_the_printed_ones(
    paper: Profiles, wordnet: WordNet, a: int, user: str, printed: dict[frozenset[str], float]
) -> None:
    assert _sets(paper, wordnet, user, a) == printed


@pytest.mark.parametrize(("a", "printed"), [(0, 0.5357), (1, 0.7365), (2, 0.8035), (3, 0.8370)])
def test_similarity_rises_with_a(paper: Profiles, wordnet: WordNet, a: int, printed: float) -> None:
    assert _similarity(paper, wordnet, a) == pytest.approx(printed, abs=5e-5)


def test_java_is_coffee_to_one_and_a_language_to_the_other(
    paper: Profiles, wordnet: WordNet
) -> None:
    chosen = CandidatePaths(paper, wordnet).closest()
    java = paper.terms.index("java")
    senses = {}
    for user in ("UP3", "UP4"):
        row = paper.number(user)
        columns, _ = paper.slice(row)
        path = chosen[paper.weights.indptr[row] + columns.tolist().index(java)]
        senses[user] = wordnet.name(wordnet.path(int(path))[0])
    assert senses == {"UP3": "coffee.n.01", "UP4": "java.n.03"}


def test_scores_that_differ_by_rounding_only_are_ties(wordnet: WordNet) -> None:
    # earth stands on the island's path, beverage and nutrient on the drink's, both of equal length;
    # 0.7 is a little less than 0.3 + 0.4 as the machine adds them to java's 1
    profile = {"java": 1.0, "earth": 0.7, "beverage": 0.3, "nutrient": 0.4}
    profiles = Profiles.from_rows({"u": profile})
    augmented = augment_profiles(profiles, wordnet, a=0)
    assert augmented[0, wordnet.number("java.n.01")] == 1


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


def _chosen(profile: dict[str, float], wordnet: WordNet) -> dict[str, int]:
    """Choose each term's path, adding up in the order of the terms' names; -1 where none is."""
    most = max(profile.values())
    known = {wordnet.term_number(term.lower()): w / most for term, w in profile.items()}
    norm = np.sum(np.array([weight / most for weight in profile.values()]) ** 2)
    values, at = wordnet.path_terms
    chosen = {}
    for term, weight in profile.items():
        best, chosen[term] = -math.inf, -1
        for path in (p for synset in wordnet.senses(term) for p in wordnet.paths(synset)):
            words, shared = values[at[path] : at[path + 1]].tolist(), 0.0
            for word in words:
                shared += known.get(word, 0.0)
            cosine = (shared - weight / most) / np.sqrt(max(len(words) - 1, 1) * norm)
            if np.round(cosine, 12) > best:
                best, chosen[term] = np.round(cosine, 12), path
    return chosen


def _first(profile: dict[str, float], wordnet: WordNet) -> dict[str, int]:
    """Choose each term's first path, whatever the rest of the profile is."""
    paths = {t: [p for s in wordnet.senses(t) for p in wordnet.paths(s)] for t in profile}
    return {term: (found or [-1])[0] for term, found in paths.items()}


def _climbed(
    profiles: Profiles, row: int, wordnet: WordNet, a: int, combine: str, sense: str
) -> dict[int, float]:
    """Augment one profile with a dict: column -> weight."""
    profile = profiles.at(row)
    paths = (_chosen if sense == "profile" else _first)(profile, wordnet)
    cells: dict[int, float] = {}
    for term, weight in profile.items():
        columns = [wordnet.size + profiles.terms.index(term)]
        if paths[term] >= 0:
            columns = wordnet.path(paths[term])[: a + 1]
        for column in columns:
            met = cells.get(column, 0.0)
            cells[column] = met + weight if combine == "sum" else max(met, weight)
    return cells


AMBIGUOUS = """
java coffee mocha island indonesia language python snake bank river money set run game sport break
mercury planet metal god apple fruit company jaguar cat car animal kitten pup dog star sun actor
film light table chair furniture data paper mouse computer horse riding equitation entity object
person event matter whole thing way rock music stone jazz bass fish guitar note turkey country bird
chicken food drink water wine red color go take make get hot cold quickly C++ zzz Java Turkey
programming_language horseback_riding
"""
WORDS = st.sampled_from(AMBIGUOUS.split()).map(lambda word: word.replace("_", " "))
WEIGHTS = st.sampled_from([1.0, 0.5, 0.1, 0.3, 0.7, 1 / 3, 4.0, 17.0])
PROFILE = st.dictionaries(WORDS, WEIGHTS, min_size=1, max_size=40)


@given(
    st.lists(PROFILE, min_size=1, max_size=3),
    st.integers(0, 3),
    st.sampled_from(["max", "sum"]),
    st.sampled_from(["profile", "first"]),
)
def test_augmentation_equals_the_naive_one_to_the_bit(
    wordnet: WordNet, users: list[dict[str, float]], a: int, combine: str, sense: str
) -> None:
    profiles = Profiles.from_rows({f"u{row}": profile for row, profile in enumerate(users)})
    found = augment_profiles(profiles, wordnet, a=a, combine=combine, sense=sense)
    assert found.has_canonical_format
    for row in range(len(users)):
        expected = _climbed(profiles, row, wordnet, a, combine, sense)
        cells = found[row]
        assert dict(zip(cells.indices.tolist(), cells.data.tolist(), strict=True)) == expected


def test_no_result_depends_on_the_cut_and_progress_counts_every_user(
    wordnet: WordNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = _ambiguous_profiles(wordnet)
    whole = augment_profiles(profiles, wordnet, combine="sum")
    for cut in (1, 7, 60):
        monkeypatch.setattr(augment, "_SHARES", cut)
        told: list[int] = []
        other = augment_profiles(profiles, wordnet, combine="sum", progress=told.append)
        assert other.data.tobytes() == whole.data.tobytes()
        assert other.indices.tobytes() == whole.indices.tobytes()
        assert other.indptr.tobytes() == whole.indptr.tobytes()
        assert told == sorted(told)
        assert len(told) >= cut - 1
        assert told[-1] == len(profiles)


def test_unit_rows_are_the_same_however_many_are_scaled_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    matrix = csr_matrix(random_array((40, 90), density=0.5, rng=rng)) + csr_matrix(np.eye(40, 90))
    scaled = matrix.multiply(1 / matrix.max(axis=1).toarray()).tocsr()
    expected = scaled.data / np.repeat(
        np.sqrt(scaled.multiply(scaled).sum(axis=1).A1), np.diff(scaled.indptr)
    )
    whole = unit_rows(matrix)
    assert np.allclose(whole.data, expected, rtol=1e-15, atol=0)
    monkeypatch.setattr(augment, "_ROWS_AT_ONCE", 7)
    assert unit_rows(matrix).data.tobytes() == whole.data.tobytes()
