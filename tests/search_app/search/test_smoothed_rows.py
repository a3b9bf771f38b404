"""Smoothed rows in search: which are, what the engine is told, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from index.forward.reading import Forward
from index.model import Document
from search_app.disclosure.groups import Groups
from search_app.search.engine import Engine
from search_app.search.explanation import PlaceExplanation, explain, reasons
from search_app.search.explanation_words import sentence, without_in_words
from search_app.search.modes import Modes
from search_app.search.smoothing import (
    PublicRelease,
    SmoothedRows,
    prior_of,
    smoothed,
    smoothing_of,
    strength_for,
    unit_columns,
)
from search_app.server.opening import _called
from search_app.settings import Settings
from search_app.verbs.search import headline

from ..toy_index import Shelf, forward_of, released

TERMS = ("coffee", "island", "milk", "tea")
# the counts of terms in five documents: milk stands beside tea, never beside island
COUNTS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0]])
ROWS = {
    "g0001": {"tea": 0.6, "coffee": 0.2},
    "g0002": {"island": 0.6, "coffee": 0.2, "milk": 0.2},
}
PEOPLE = {**{f"a{n}": {"tea": 1.0} for n in range(5)}, **{f"b{n}": {"milk": 1.0} for n in range(5)}}


def forward() -> Forward:
    return forward_of(COUNTS, TERMS)


def engine() -> Engine:
    return Engine(Shelf([Document(f"d{row}", "", "") for row in range(len(COUNTS))]), forward())


def release(method: str = "pooled", **parameters: Any) -> Release:
    row_of = {user: int(user.startswith("b")) for user in PEOPLE}
    return released(Profiles.from_rows(ROWS), row_of, method, {"p": 0.2, **parameters})


def published(of: Release) -> PublicRelease:
    return PublicRelease(of.rows, of.grouping.sizes, of.promise, of.parameters)


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
    made = smoothed(
        shares,
        prior,
        unit_columns(csr_matrix(vectors)),
        strength_for(promise_of("pooled", {}), 0.2),
    )
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


def explained(document: str) -> PlaceExplanation:
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
    assert headline(served, Settings(), Groups(None)).startswith(
        "by row g0001, shared by 5 people, smoothed; AP "
    )


def test_precision_by_smoothed_rows_is_logged_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search_app.server.opening.read_hash", lambda _folder: "0a1b2c3d4e")
    names = [_called(modes(on), tuple, "group", Path("release")) for on in (True, False)]
    assert names == ["pooled p=0.2 0a1b2c3d smoothed", "pooled p=0.2 0a1b2c3d"]
