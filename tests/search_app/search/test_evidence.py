"""The rule `evidence`: the worked example, a naive twin in plain Python, and edges."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.arrays import Ints
from anonymizer.model import Profiles
from index.forward.reading import Forward, Neighbours
from search_app.search import evidence
from search_app.search.evidence import CARES, Care, EvidenceRule, RowPopulation, Scored
from search_app.search.rerank import order

from ..toy_index import forward_of

TERMS = ("coffee", "espresso", "island", "java", "programming")
ROWS = {
    "r0": {"coffee": 1.0, "espresso": 0.5, "java": 0.5},
    "r1": {"java": 0.5, "programming": 1.0},
    "r2": {"island": 1.0, "java": 0.25},
    "r3": {"coffee": 0.5, "island": 0.5, "programming": 0.5},
}
PEOPLE = np.array([2, 4, 4, 2])
# four documents of the pool, and two more of the corpus
COUNTS = np.array(
    [[0, 0, 3, 4, 0], [3, 0, 0, 4, 0], [0, 0, 0, 4, 3], [0, 0, 0, 1, 2], [1, 1, 0, 0, 0],
     [0, 0, 1, 0, 1]]
)  # fmt: skip
POOL, BM25 = np.arange(4), np.array([4.0, 3.8, 3.6, 3.0])


class Counted(Forward):
    """Documents that are alike by their counts, as in the worked example."""

    def neighbours(self, rows: Ints, most: int) -> Neighbours:
        """Return the nearest documents by the cosine of counts."""
        units = COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True)
        cosines = np.round(units[rows] @ units[rows].T, 12)
        np.fill_diagonal(cosines, 0)
        near = np.argsort(-cosines, axis=1, kind="stable")[:, :most]
        return Neighbours(near.astype(np.int64), np.take_along_axis(cosines, near, axis=1))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> EvidenceRule:
    """Return the rule over the worked example, with two neighbours and the two largest."""
    monkeypatch.setattr(evidence, "NEAR", 2)
    monkeypatch.setattr(evidence, "BEST", 2)
    forward = forward_of(COUNTS, TERMS)
    forward.__class__ = Counted
    return EvidenceRule(RowPopulation(Profiles.from_rows(ROWS), PEOPLE), forward, "tf")


def scored(made: EvidenceRule, name: str, care: Care = CARES["default"]) -> Scored:
    return made.scored(POOL, BM25, ROWS[name], name, care)


def six(values: Sequence[float] | np.ndarray) -> list[float]:
    return np.round(values, 6).tolist()


def test_the_worked_example(made: EvidenceRule) -> None:
    assert made.common == pytest.approx(
        dict(zip(TERMS, (0.25, 1 / 12, 5 / 12, 1 / 3, 5 / 12), strict=True))
    )
    direction = made.direction(ROWS["r1"])
    away = [ROWS["r1"].get(term, 0) - made.common[term] for term in TERMS]
    assert six(np.array(away) / direction.length) == [
        -0.319801, -0.106600, -0.533002, 0.213201, 0.746203,
    ]  # fmt: skip
    assert six([direction.mean, direction.spread]) == [0.176623, 0.390146]
    one = scored(made, "r1")
    assert six(one.t) == [-0.835235, -0.507356, 1.132038, 1.502382]
    assert six(made.closeness_of(POOL)) == [-0.216803, 0.043386, 0.221359, 0.690526]
    assert (one.standing, one.gate) == (1, 1)
    assert six(one.support) == [0.312341, 0.148401, 0.527376, 0.569960]
    assert six(one.scores) == [1.347077, 1.308079, 1.405390, 1.254038]
    assert order(one.scores).tolist() == [2, 0, 1, 3]


def test_the_worked_example_for_the_other_askers(made: EvidenceRule) -> None:
    one = scored(made, "r0")
    assert six([one.standing, one.gate]) == [0.666667, 0.166667]
    assert six(one.scores) == [1.386820, 1.344364, 1.269951, 1.085718]
    assert order(one.scores).tolist() == [0, 1, 2, 3]
    plain = scored(made, "r3")
    assert (plain.standing, plain.gate) == (0, 0)
    assert six(plain.scores) == [1.386294, 1.335001, 1.280934, 1.098612]
    assert scored(made, "r0", CARES["careful"]).gate == 0


# -- a twin in plain Python, which shares no code ------------------------------------------------

Terms = Mapping[str, float]


def dot(one: Terms, other: Terms) -> float:
    return math.fsum(weight * other.get(term, 0) for term, weight in one.items())


def unit(terms: Terms) -> Terms:
    length = math.sqrt(dot(terms, terms))
    return {term: weight / length for term, weight in terms.items()} if length > 1e-12 else {}


def naive(
    documents: list[dict[str, int]], bm25: list[float], rows: dict[str, Terms],
    people: list[int], own: Terms, name: str,
) -> list[float]:  # fmt: skip
    df = {term: sum(term in d for d in documents) for d in documents for term in d}
    idf = {term: math.log(1 + len(documents) / df[term]) for term in df}
    vectors = [unit({t: n * idf[t] for t, n in d.items()}) for d in documents]
    logs = [unit({t: (1 + math.log(n)) * idf[t] for t, n in d.items()}) for d in documents]
    terms = {t for row in rows.values() for t in row}
    prior = {
        t: math.fsum(n * row.get(t, 0) for n, row in zip(people, rows.values(), strict=True))
        / sum(people)
        for t in terms
    }

    def away(row: Terms) -> Terms:
        return unit({t: row.get(t, 0) - prior.get(t, 0) for t in terms | row.keys()})

    def close(row: Terms) -> float:
        best = sorted((dot(vectors[d], away(row)) for d in range(len(bm25))), reverse=True)[:10]
        return round(statistics.fmean(best), 12)

    u = away(own)
    products = [dot(vector, u) for vector in vectors]
    mean, spread = statistics.fmean(products), statistics.pstdev(products)
    if not u or spread <= 1e-12:
        return [math.log(score) for score in bm25]
    t = [(product - mean) / spread for product in products[: len(bm25)]]
    others = [close(row) for other, row in rows.items() if other != name]
    stands = sum(one < close(own) for one in others) / len(others) if others else 0
    gate = min(max((stands - 0.6) / 0.4, 0), 1)
    scores = []
    for d, score in enumerate(bm25):
        like = [(round(dot(logs[d], logs[o]), 12), -o) for o in range(len(bm25)) if o != d]
        near = [(cosine, -o) for cosine, o in sorted(like, reverse=True)[:8] if cosine > 0]
        weight = math.fsum(cosine for cosine, _ in near)
        held = math.fsum(cosine * t[o] for cosine, o in near) / weight if weight else 0
        scores.append(math.log(score) + 0.15 * gate * (t[d] + held) / 2)
    return scores


WORDS = [f"t{number}" for number in range(9)]
SOME = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 4), min_size=1)
ROW = st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0.25, 0.5, 1.0]), min_size=1)


@given(
    st.lists(SOME, min_size=13, max_size=20), st.lists(ROW, min_size=1, max_size=5), ROW,
    st.booleans(),
)  # fmt: skip
def test_the_rule_is_its_naive_twin(
    documents: list[dict[str, int]], rows: list[Terms], own: Terms, member: bool
) -> None:
    counts = np.array([[document.get(word, 0) for word in WORDS] for document in documents])
    counts[0] = 1  # each word is in a document
    documents[0] = dict.fromkeys(WORDS, 1)
    named = {f"r{number}": row for number, row in enumerate(rows)}
    people = [2 + number for number in range(len(rows))]
    own, name = (rows[0], "r0") if member else (own, "")
    made = EvidenceRule(
        RowPopulation(Profiles.from_rows(named), np.array(people)), forward_of(counts, WORDS)
    )
    bm25 = np.linspace(9, 2, 12)
    mine = made.scored(np.arange(12), bm25, own, name)
    expected = naive(documents, bm25.tolist(), named, people, own, name)
    assert mine.scores.tolist() == pytest.approx(expected, abs=1e-9)


# -- edges ---------------------------------------------------------------------------------------


def test_what_says_nothing_of_its_own_leaves_the_plain_order(made: EvidenceRule) -> None:
    for interest in (made.common, {}):
        plain = made.scored(POOL, BM25, dict(interest))
        assert plain.gate == 0 or interest == {}
    assert (
        made.scored(POOL, BM25, made.common).scores.tolist() == np.round(np.log(BM25), 12).tolist()
    )
    alone = EvidenceRule(
        RowPopulation(Profiles.from_rows({"r0": ROWS["r0"]}), np.array([3])),
        forward_of(COUNTS, TERMS),
    )
    assert alone.scored(POOL, BM25, ROWS["r0"], "r0").gate == 0


def test_a_score_of_zero_or_less_is_the_smallest(made: EvidenceRule) -> None:
    one = made.scored(POOL, np.array([2.0, 0.5, 0.0, -3.0]), ROWS["r3"], "r3")
    assert order(one.scores).tolist() == [0, 1, 2, 3]
    assert one.scores[2] == one.scores[3]
    assert np.isfinite(one.scores).all()
    assert not made.scored(POOL[:0], BM25[:0], ROWS["r1"], "r1").scores.size


def test_more_than_500_rows_are_compared_with_500_that_their_names_draw(
    monkeypatch: pytest.MonkeyPatch, made: EvidenceRule
) -> None:
    monkeypatch.setattr(evidence, "OTHERS", 3)
    few = EvidenceRule(
        RowPopulation(Profiles.from_rows(ROWS), PEOPLE), forward_of(COUNTS, TERMS), "tf"
    )
    assert few.closeness_of(POOL).size == 3
    assert few.common == made.common
    assert {round(3 * scored(few, name).standing) for name in ROWS} <= {0, 1, 2, 3}
