"""Co-occurrence networks: hand arithmetic, and ten naive lines with dicts and math.log."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.model import Profiles
from anonymizer.similarity import cooccurrence
from anonymizer.similarity.cooccurrence import Network, augment_by_network, learn


def matrix(contexts: list[set[int]], terms: int) -> csr_matrix:
    indices = [term for context in contexts for term in sorted(context)]
    indptr = np.cumsum([0, *map(len, contexts)])
    return csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(contexts), terms))


def links(network: Network) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {term: {} for term in network.terms}
    cells = network.weights.tocoo()
    for row, column, weight in zip(cells.row, cells.col, cells.data, strict=True):
        found[network.terms[row]][network.terms[column]] = float(weight)
    return found


def naive(
    contexts: list[set[int]], terms: list[str], neighbours: int, least: int
) -> dict[str, dict[str, float]]:
    n, alone = len(contexts), Counter(term for context in contexts for term in context)
    pairs = Counter(pair for c in contexts for pair in combinations(sorted(c), 2))
    found: dict[str, list[tuple[float, int, str]]] = {term: [] for term in terms}
    for (s, t), both in pairs.items():
        if both >= least and n * both > alone[s] * alone[t]:
            ppmi = math.log(n * both / (alone[s] * alone[t]))
            strength = float(np.round(ppmi / -math.log(both / n), 12))
            found[terms[s]].append((-strength, -both, terms[t]))
            found[terms[t]].append((-strength, -both, terms[s]))
    return {s: {t: -w for w, _, t in sorted(all_)[:neighbours] if w} for s, all_ in found.items()}


COFFEE = [{0, 1}, {0, 1}, {0, 2}, {2}, {2}, {2}, {3}, {3}]  # java and mocha, coffee, tea, milk


def test_a_link_is_normalised_pointwise_mutual_information() -> None:
    network = learn(matrix(COFFEE, 4), ["java", "mocha", "coffee", "tea"], least=1)
    # of 8 contexts 3 have java, 2 mocha, 2 both; 4 have coffee, 1 has it and java: less than 3*4/8
    strength = math.log(8 * 2 / (3 * 2)) / -math.log(2 / 8)
    assert links(network) == {
        "java": {"mocha": pytest.approx(strength, abs=1e-12)},
        "mocha": {"java": pytest.approx(strength, abs=1e-12)},
        "coffee": {},
        "tea": {},
    }


@pytest.mark.parametrize("data", [[7.0, 0.5, -1.0, 2.0], [1, 9, 1, 1]])
def test_only_presence_counts(data: list[float]) -> None:
    rows, columns = [0, 0, 1, 1], [0, 1, 0, 1]
    one = csr_matrix((data, (rows, columns)), shape=(4, 2))
    assert links(learn(one, list("ab"), least=2)) == {"a": {"b": 1.0}, "b": {"a": 1.0}}


def test_cells_that_stand_twice_or_hold_0_are_seen_for_what_they_are() -> None:
    twice = csr_matrix(
        (np.array([1.0, 2.0, 1.0, 1.0, 0.0]), np.array([1, 1, 0, 1, 0]), np.array([0, 3, 5, 5])),
        shape=(3, 2),
    )
    before = twice.data.tolist(), twice.indices.tolist()
    # a stands in 1 of 3 contexts, b in 2, both in 1
    strength = math.log(3 * 1 / (1 * 2)) / -math.log(1 / 3)
    found = links(learn(twice, list("ab"), least=1))
    assert found["a"] == {"b": pytest.approx(strength, abs=1e-12)}
    assert (twice.data.tolist(), twice.indices.tolist()) == before


NAMES = [f"{'zyxwvutsrq'[number % 10]}{number}" for number in range(24)]
contexts_of_terms = st.lists(st.sets(st.integers(0, 23), max_size=7), max_size=40)


@given(contexts_of_terms, st.integers(1, 6), st.integers(1, 4))
def test_a_network_equals_the_naive_one(
    contexts: list[set[int]], neighbours: int, least: int
) -> None:
    network = learn(matrix(contexts, 24), NAMES, neighbours=neighbours, least=least)
    assert links(network) == naive(contexts, NAMES, neighbours, least)
    assert network.weights.has_sorted_indices


@given(st.integers(0, 2**32 - 1))
def test_a_network_of_dense_contexts_equals_the_naive_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.random(24)
    contexts = [set(np.flatnonzero(rng.random(24) < chance).tolist()) for _ in range(60)]
    network = learn(matrix(contexts, 24), NAMES)
    assert links(network) == naive(contexts, NAMES, 5, 3)


def test_no_result_depends_on_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    contexts = matrix([set(rng.integers(0, 24, 6).tolist()) for _ in range(80)], 24)
    whole = learn(contexts, NAMES)
    for cut in (1, 5, 1000):
        monkeypatch.setattr(cooccurrence, "_SHARES", cut)
        other = learn(contexts, NAMES)
        for part in ("indptr", "indices", "data"):
            one, two = getattr(whole.weights, part), getattr(other.weights, part)
            assert one.tobytes() == two.tobytes()


def test_no_context_and_no_term_make_no_link() -> None:
    assert learn(csr_matrix((0, 2)), list("ab")).weights.nnz == 0
    assert learn(csr_matrix((5, 2)), list("ab")).weights.nnz == 0
    assert learn(csr_matrix((5, 0)), []).weights.shape == (0, 0)


def network_of(rows: dict[str, dict[str, float]]) -> Network:
    terms = tuple(rows)
    weights = np.array([[rows[s].get(t, 0.0) for t in terms] for s in terms])
    return Network(terms, csr_matrix(weights.reshape(len(terms), len(terms))))


def augmented(profiles: Profiles, network: Network, combine: str) -> list[dict[str, float]]:
    result = augment_by_network(profiles, network, combine=combine)
    terms = [*profiles.terms, *(t for t in network.terms if t not in profiles.terms)]
    assert result.shape == (len(profiles), len(terms))
    assert result.has_canonical_format
    rows = [result[row] for row in range(len(profiles))]
    return [dict(zip([terms[i] for i in r.indices], r.data.tolist(), strict=True)) for r in rows]


TASTES = {"java": {"mocha": 0.5, "milk": 0.25}, "mocha": {"java": 0.5}, "milk": {}, "tea": {}}


weight = st.sampled_from([0.1, 0.25, 0.3, 0.7, 1.0, 3.0])
rows_of_terms = st.dictionaries(
    st.sampled_from("abcdef"), st.dictionaries(st.sampled_from("cdefgh"), weight, min_size=1)
)


@given(rows_of_terms.filter(bool), rows_of_terms, st.sampled_from(["max", "sum"]))
def test_augmentation_equals_the_naive_one(
    users: dict[str, dict[str, float]], links: dict[str, dict[str, float]], combine: str
) -> None:
    known = sorted({*links, *(t for row in links.values() for t in row)})
    tied = {s: {t: w for t, w in links.get(s, {}).items() if t != s} for s in known}
    expected = []
    for profile in users.values():
        row: dict[str, float] = {}
        for term in sorted(profile):
            for other, strength in [(term, 1.0), *tied.get(term, {}).items()]:
                brought = profile[term] * strength
                met = row.get(other, 0.0)
                row[other] = met + brought if combine == "sum" else max(met, brought)
        expected.append(row)
    assert augmented(Profiles.from_rows(users), network_of(tied), combine) == expected
