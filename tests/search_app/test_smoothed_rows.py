"""Smoothed rows in search: which are, what the engine is told, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.model import Profiles, Release, ReleasedRow
from index.forward import Forward
from index.lucene import LuceneIndex
from index.model import Document, Part, Pool
from search_app.engine import Engine
from search_app.explanation import Explanation, explain, reasons
from search_app.explanation_words import sentence, without_in_words
from search_app.modes import Modes
from search_app.request import Request
from search_app.search_lines import headline
from search_app.serving import _called
from search_app.settings import Settings
from search_app.smoothed_rows import Published, SmoothedRows, smoothing_of
from search_app.smoothing import prior_of, smoothed, strength_for, unit_columns

TERMS = ("coffee", "island", "milk", "tea")
# the counts of terms in five documents: milk stands beside tea, never beside island
COUNTS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0]])
ROWS = {
    "g0001": {"tea": 0.6, "coffee": 0.2},
    "g0002": {"island": 0.6, "coffee": 0.2, "milk": 0.2},
}
PEOPLE = {**{f"a{n}": {"tea": 1.0} for n in range(5)}, **{f"b{n}": {"milk": 1.0} for n in range(5)}}


class Shelf:
    """Stands for Lucene: finds every document, the first the best."""

    def pool(self, _query: str, size: int, **_how: object) -> Pool:
        rows = np.arange(min(size, len(COUNTS)), dtype=np.int64)
        return Pool(rows, np.array([5, 4, 3, 2, 1], dtype=np.float32)[: rows.size])

    def ids(self, rows: Any) -> Any:
        return np.array([f"d{row}" for row in rows], dtype=np.object_)

    def documents(self, rows: Any) -> list[Document]:
        return [Document(f"d{row}", "", "") for row in rows]

    def explain(self, _query: str, rows: Any, **_how: object) -> list[list[Part]]:
        return [[Part("contents", "x", 5.0 - row)] for row in rows]


def forward() -> Forward:
    df = (COUNTS > 0).sum(axis=0)
    cells, idf = csr_matrix(COUNTS), np.log1p(len(COUNTS) / df)
    arrays: dict[str, Any] = {
        "numbers": np.arange(len(COUNTS)),
        "indptr": cells.indptr,
        "indices": cells.indices,
        "tf": cells.data,
        "df": df,
        "norms_tf": np.linalg.norm(COUNTS, axis=1),
        "norms_tfidf": np.linalg.norm(COUNTS * idf, axis=1),
    }
    return Forward(arrays, list(TERMS))


def engine() -> Engine:
    return Engine(cast(LuceneIndex, Shelf()), forward())


def release(method: str = "pooled", **parameters: Any) -> Release:
    rows = Profiles.from_rows(ROWS)
    groups = np.repeat([0, 1], 5)
    return Release(rows, tuple(PEOPLE), groups, method, {"p": 0.2, **parameters})


def published(of: Release) -> Published:
    return Published(of.rows, of.grouping.sizes, of.method, of.parameters)


def smoothing() -> SmoothedRows:
    made = smoothing_of(published(release()), forward())
    assert made is not None
    return made


def modes(on: bool = True) -> Modes:
    whole = {"group": smoothing()} if on else {}
    return Modes(engine(), Profiles.from_rows(PEOPLE), release(), smoothed=whole)


def wanted(row: int) -> Mapping[str, float]:
    """Return a row by the formula, over the documents' vectors as search has them."""
    idf = np.log1p(len(COUNTS) / (COUNTS > 0).sum(axis=0))
    vectors = COUNTS * idf / np.linalg.norm(COUNTS * idf, axis=1, keepdims=True)
    shares = release().rows.weights
    prior = prior_of(shares, np.array([5, 5]))
    made = smoothed(shares, prior, unit_columns(csr_matrix(vectors)), strength_for("pooled", 0.2))
    return dict(zip(TERMS, made[row].tolist(), strict=True))


def test_the_engine_is_handed_the_smoothed_row_and_told_so() -> None:
    answer = modes().answer("x", "group", "a0", pool=5)
    row = answer.request.row
    assert row is not None
    assert (row.name, row.users) == ("g0001", 5)
    assert row.weights == pytest.approx(wanted(0))
    assert row.weights["milk"] > wanted(0)["island"]  # it stands beside tea
    told = json.loads(answer.request.as_bytes())["row"]
    assert told["smoothed"] is True
    assert told["terms"] == dict(row.weights)
    # d4, "milk", no member has; beside d1, "coffee", it now comes before d0, "island"
    order = answer.ranking.rows.tolist()
    assert order.index(4) < order.index(0)


def test_without_smoothing_nothing_changes() -> None:
    answer = modes(on=False).answer("x", "group", "a0", pool=5)
    assert answer.request.row == release().row_for("a0")
    assert not answer.request.smoothed
    assert "smoothed" not in json.loads(answer.request.as_bytes())["row"]
    own = modes().answer("x", "own", "a0", pool=5)
    assert not own.request.smoothed
    assert own.request.profile == PEOPLE["a0"]


def test_a_row_is_smoothed_once() -> None:
    made, row = smoothing(), release().row_for("b3")
    assert made.of(row).weights is made.of(row).weights  # the engine knows it again
    assert made.of(row).weights == pytest.approx(wanted(1))


def test_all_of_a_group_are_handed_the_same() -> None:
    served = modes()
    told = {served.answer("x", "group", user, pool=5).request.as_bytes() for user in ("a0", "a4")}
    assert len(told) == 1


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("pooled", {"p": 0.3}),
        ("p-linkability", {"p": None}),
        ("p-linkability", {"p": 0.1, "representative": "union"}),
        ("km-anonymity", {"p": 0.1}),
        ("pooled", {"p": "0.1"}),  # what a published file says may be anything
    ],
)
def test_rows_that_serve_best_as_they_are_or_are_no_shares_stay(
    method: str, parameters: Mapping[str, Any]
) -> None:
    assert smoothing_of(published(release(method, **parameters)), forward()) is None


def explained(document: str) -> Explanation:
    request = modes().answer("x", "group", "a0", pool=5).request
    found = explain(engine(), request, document)
    assert found is not None
    return found


def test_an_explanation_sums_to_the_score_by_the_row_that_served() -> None:
    for document in ("d0", "d1", "d2", "d3", "d4"):
        found = explained(document)
        assert found.smoothed
        assert sum(each.share for each in found.terms) == pytest.approx(found.score, abs=1e-9)
        for each in found.terms:
            assert each.weight == pytest.approx(wanted(0)[each.term])


def test_an_explanation_says_that_the_row_is_smoothed() -> None:
    found = explained("d3")
    assert sentence(found).startswith("Moved up 3, from 4 to 1: your group’s smoothed interest")
    assert "in your group’s smoothed row it would stand at" in without_in_words(found)
    served = modes().answer("x", "group", "a0", pool=5)
    (reason, *_) = reasons(engine(), served.request, served.ranking)
    assert reason == "Shares tea with your group’s smoothed interests"
    assert headline(served, Settings(), lone=False).startswith(
        "by row g0001, shared by 5 people, smoothed; AP "
    )


def test_leaving_a_term_out_leaves_it_out_of_the_smoothed_row() -> None:
    found = explained("d3")
    assert found.without is not None
    row = modes().answer("x", "group", "a0", pool=5).request.row
    assert row is not None
    rest = {term: w for term, w in row.weights.items() if term not in found.without.terms}
    request = Request("x", 5, row=ReleasedRow("g0001", 5, rest))
    again = engine().rank(Shelf().pool("x", 5), request)
    assert again.rows.tolist().index(3) + 1 == found.without.rank


def test_precision_by_smoothed_rows_is_logged_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search_app.serving.read_hash", lambda _folder: "0a1b2c3d4e")
    names = [_called(modes(on), "group", Path("release")) for on in (True, False)]
    assert names == ["pooled p=0.2 0a1b2c3d smoothed", "pooled p=0.2 0a1b2c3d"]
