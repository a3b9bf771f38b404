"""Explanations of rankings: what they sum to, what they claim, and what they are made of."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model import Profiles, Release, ReleasedRow
from anonymizer.promise import AVERAGE
from index.model import Document
from search_app.search.engine import Engine
from search_app.search.evidence import RowPopulation
from search_app.search.explanation import (
    DecisiveTerms,
    PlaceExplanation,
    ScoreShare,
    as_json,
    explain,
    explain_places,
    reasons,
    without_terms,
)
from search_app.search.explanation_words import join, sentence, shortened, without_in_words
from search_app.search.modes import Modes
from search_app.search.request import RankingRule, Request

from ..toy_index import Shelf, forward_of


def engine_of(texts: Sequence[str], scores: Sequence[float]) -> Engine:
    stored = [Document(f"d{row}", f"Title {row}", text) for row, text in enumerate(texts)]
    terms = sorted({word for text in texts for word in text.split()})
    counts = np.array([[text.split().count(term) for term in terms] for text in texts])
    return Engine(Shelf(stored, scores), forward_of(counts, terms), "tf")


TEXTS = ["java code code", "java island", "java coffee", "java tea tea"]
SCORES = [4.0, 3.0, 2.0, 1.0]


def by_row(weights: Mapping[str, float], pool: int = 4) -> Request:
    return Request("java", pool, row=ReleasedRow("g0001", 3, weights))


def explained(request: Request, document: str) -> PlaceExplanation:
    found = explain(engine_of(TEXTS, SCORES), request, document)
    assert found is not None
    return found


def test_a_document_is_moved_by_the_groups_interest() -> None:
    found = explained(by_row({"coffee": 1.0}), "d2")
    assert (found.rank, found.plain_rank, found.found, found.users) == (1, 3, 4, 3)
    assert found.score == pytest.approx(2**-0.5)  # one of two words, whole interest
    assert found.terms == (ScoreShare("coffee", 1.0, found.terms[0].share),)
    assert found.terms[0].share == pytest.approx(2**-0.5)
    assert (found.bm25, found.added) == (2.0, ())
    assert found.without == DecisiveTerms(("coffee",), 3, True)
    assert sentence(found) == "Moved up 2, from 3 to 1: your group’s interest in coffee."
    assert without_in_words(found) == (
        "Without coffee in your group’s row it would stand at 3, not 1. "
        "No smaller set of terms would do."
    )


def test_a_document_is_passed_by_others() -> None:
    found = explained(by_row({"coffee": 1.0, "tea": 1.0}), "d1")
    assert (found.rank, found.plain_rank, found.terms) == (4, 2, ())
    assert found.without == DecisiveTerms(("tea", "coffee"), 2, True)  # tea is more of its document
    assert sentence(found) == (
        "Moved down 2, from 2 to 4: other documents share more with your group’s interests, "
        "above all tea and coffee."
    )


def test_a_document_stays() -> None:
    assert sentence(explained(by_row({"code": 1.0}), "d0")) == (
        "In the same place as in the plain order, 1: your group’s interest in code leaves it there."
    )
    none = explained(by_row({"sea": 1.0}), "d1")
    assert none.without is None
    assert without_in_words(none) == ""
    assert sentence(none) == (
        "In the same place as in the plain order, 2: it shares no term with your group’s interests."
    )


def test_the_plain_order_is_explained_by_the_query() -> None:
    found = explained(Request("java", 4), "d1")
    assert (found.kind, found.score, found.bm25, found.terms) == ("none", 3.0, 3.0, ())
    assert sum(part.score for part in found.parts) == 3.0
    assert sentence(found) == (
        "Number 2 in the plain order: found for “java” in the text and “java” in the title."
    )


def test_an_own_profile_is_called_ones_own() -> None:
    found = explained(Request("java", 4, profile={"coffee": 1.0}), "d2")
    assert (found.kind, found.row) == ("own", "")
    assert sentence(found) == "Moved up 2, from 3 to 1: your interest in coffee."
    assert "in your profile it would" in without_in_words(found)


def test_what_is_not_in_the_pool_is_not_explained() -> None:
    engine = engine_of(TEXTS, SCORES)
    assert explain(engine, by_row({"tea": 1.0}), "d9") is None
    assert explain(engine, by_row({"tea": 1.0}, pool=3), "d3") is None


def test_reasons_are_the_largest_shares() -> None:
    engine = engine_of(["tea tea tea coffee coffee code", "code", "java"], [3, 2, 1])
    request = by_row({"code": 1.0, "coffee": 1.0, "tea": 1.0}, pool=3)
    ranking = engine.rank(engine.pool("java", 3), request)
    assert ranking.rows.tolist() == [0, 1, 2]
    assert reasons(engine, request, ranking) == [
        "Shares tea and coffee with your group’s interests",
        "Shares code with your group’s interests",
        "",
    ]
    own = Request("java", 3, profile={"code": 1.0})
    found = reasons(engine, own, engine.rank(engine.pool("java", 3), own), first=1, count=1)
    assert found == ["Shares code with your interests"]
    plain = Request("java", 3)
    assert reasons(engine, plain, engine.rank(engine.pool("java", 3), plain)) == ["", "", ""]


def test_long_lists_are_shortened() -> None:
    assert [join(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert shortened("abcdefg", 6) == list("abcdefg")  # “1 more” would be no shorter
    assert shortened("abcdefgh", 6) == [*"abcdef", "2 more"]


def test_json_holds_all_and_nothing_that_is_not_json() -> None:
    found = explained(by_row({"coffee": 1.0}), "d2")
    told = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert told["without"] == {"terms": ["coffee"], "rank": 3, "smallest": True}
    assert told["terms"] == [{"term": "coffee", "weight": 1.0, "share": found.terms[0].share}]
    assert told["bm25"]["parts"][0] == {"field": "contents", "term": "java", "score": 1.5}
    assert as_json(explained(Request("java", 4), "d1"))["without"] is None


def test_no_function_here_has_a_place_for_a_user_or_a_profile() -> None:
    for function in (explain, explain_places, reasons, without_terms):
        names = set(inspect.signature(function).parameters)
        assert not names & {"user", "users", "profile", "profiles", "release"}, function


def test_two_members_of_a_group_get_the_same_bytes() -> None:
    own = {"1001": {"coffee": 1.0}, "1002": {"tea": 1.0}}
    rows = Profiles.from_rows({"g0001": {"coffee": 0.5, "tea": 0.5}})
    members = np.zeros(2, dtype=np.int64)
    release = Release(rows, ("1001", "1002"), members, "p-linkability", {"p": 0.5}, promise=AVERAGE)
    modes = Modes(engine_of(TEXTS, SCORES), Profiles.from_rows(own), release)
    for mode, same in (("group", True), ("own", False)):
        told = []
        for user in own:
            request = modes.request(Request("java", 4), mode, user)
            found = explain(modes.engine, request, "d2")
            assert found is not None
            told.append(json.dumps(as_json(found)).encode())
        assert (told[0] == told[1]) is same


word = st.sampled_from("abcdefgh")
texts = st.lists(st.lists(word, max_size=8).map(" ".join), min_size=2, max_size=12)
weights = st.dictionaries(st.sampled_from("abcdefghxy"), st.floats(0.01, 100), max_size=7)


def holds(rank: int, found: PlaceExplanation) -> bool:
    if found.rank < found.plain_rank:
        return rank >= found.plain_rank
    return rank <= found.plain_rank


@given(texts, weights, st.data())
def test_parts_sum_to_the_score_and_claims_are_true(
    texts: list[str], interest: dict[str, float], data: st.DataObject
) -> None:
    drawn = data.draw(st.lists(st.floats(0.5, 9), min_size=len(texts), max_size=len(texts)))
    engine = engine_of(["z " + text for text in texts], sorted(drawn, reverse=True))
    request = by_row(interest, len(texts))
    pool = engine.pool("java", len(texts))

    def rank_without(out: Sequence[str], at: int) -> int:
        ranking = engine.rank(pool, without_terms(request, set(out)))
        return int(np.flatnonzero(ranking.plain_ranks == at + 1)[0]) + 1

    for at, found in enumerate(explain_places(engine, request, pool, range(len(texts)))):
        assert found.rank == rank_without((), at)
        parts = [share.share for share in found.terms]
        assert sum(parts) == pytest.approx(found.score, abs=1e-6)
        if found.without is None:
            assert found.rank == found.plain_rank
            continue
        assert found.without.rank == rank_without(found.without.terms, at)
        assert holds(found.without.rank, found)
        if found.without.smallest:
            size = len(found.without.terms)
            smaller = combinations(interest, size - 1)
            assert not any(holds(rank_without(out, at), found) for out in smaller)


COMMON = {"g0001": {"a": 0.5, "b": 0.5}, "g0002": {"b": 1.0, "h": 0.5}, "g0003": {"c": 1.0}}


@given(texts, weights, st.booleans(), st.sampled_from(["default", "careful"]), st.data())
def test_with_evidence_the_parts_sum_to_the_score_too(
    texts: list[str], interest: dict[str, float], public: bool, care: str, data: st.DataObject
) -> None:
    drawn = data.draw(st.lists(st.floats(0, 9), min_size=len(texts), max_size=len(texts)))
    engine = engine_of(["z " + text for text in texts], sorted(drawn, reverse=True))
    engine.prepare("group", RowPopulation(Profiles.from_rows(COMMON), np.array([2, 3, 4])))
    rule, row = RankingRule("evidence", care), ReleasedRow("g0009", 3, interest)
    request = Request("java", len(texts), rule=rule, among="" if public else "group", row=row)
    pool = engine.pool("java", len(texts))
    for found in explain_places(engine, request, pool, range(len(texts))):
        parts = [share.share for share in (*found.terms, *found.added)]
        assert sum(parts) == pytest.approx(found.score, abs=1e-6)
        if found.plain:
            assert found.rank == found.plain_rank
            assert sentence(found).endswith("your group’s interests say nothing about this search.")
        if found.without:
            assert holds(found.without.rank, found)


def test_what_is_plain_names_no_reason() -> None:
    engine = engine_of(TEXTS, SCORES)
    engine.prepare("group", RowPopulation(Profiles.from_rows({"g1": {"tea": 1.0}}), np.array([3])))
    request = replace(by_row({"tea": 1.0}), rule=RankingRule("evidence"), among="group")
    ranking = engine.rank(engine.pool("java", 4), request)
    assert ranking.rows.tolist() == [0, 1, 2, 3]
    assert reasons(engine, request, ranking) == [""] * 4
