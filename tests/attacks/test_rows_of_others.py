"""Attacks by people who are served by the row of a group that they are not in.

They see an order. By scores the whole row could be computed: so there are none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.terms.wordnet import WordNet
from search_app.accounts.store import ORDERS

from ..search_app.conftest import call
from .served import DOCUMENTS, WORDS, Served, served, texts
from .watching import DOCUMENT, NOISE, Get

SEARCH = "/api/v1/search?q=java&mode=group"


@pytest.fixture
def server(tmp_path: Path, index: Path, wordnet: WordNet) -> Iterator[Served]:
    with served(tmp_path / "w", index, wordnet, "p-linkability", 20) as server:
        yield server


def pages(get: Get, more: str = "") -> list[dict[str, Any]]:
    """Return all results of a search, page by page."""
    first = json.loads(get(SEARCH + more)[1])
    rest = (json.loads(get(f"{SEARCH}{more}&page={at}")[1]) for at in range(2, first["pages"] + 1))
    return [hit for page in (first, *rest) for hit in page["results"]]


def solved(scores: dict[str, float]) -> dict[str, float]:
    """Return the row that gives documents these `scores`, as shares of its largest weight.

    A score is a cosine: over 60 known documents these are 60 equations for 14 unknowns.
    """
    words = {name: text.split() for name, text in texts().items()}
    having = {word: sum(word in text for text in words.values()) for word in WORDS}
    idf = {word: math.log(1 + len(words) / having[word]) for word in WORDS}
    # Each document has "java", too; no row has it.
    java = math.log(2)
    matrix = []
    for name in scores:
        vector = [idf[word] * (word in words[name]) for word in WORDS]
        matrix.append(np.array(vector) / math.hypot(java, *vector))
    found = np.linalg.lstsq(np.array(matrix), np.array([*scores.values()]), rcond=None)[0]
    weights = dict(zip(WORDS, found.tolist(), strict=True))
    most = max(weights.values())
    return {word: w / most for word, w in weights.items() if w > most * 1e-6}


def test_by_scores_a_row_can_be_computed_so_those_of_a_foreign_row_are_not_shown(
    server: Served,
) -> None:
    members = server.world.members()
    user = next(iter(members))
    get = server.get(user)
    row = json.loads(get("/me/download")[1])["row"]["terms"]
    by_cosine = pages(get, "&ranking=cosine")
    own = solved({hit["id"]: hit["score"] for hit in by_cosine})
    known = {word: weight for word, weight in row.items() if word in WORDS}
    assert own == pytest.approx({w: v / max(known.values()) for w, v in known.items()}, rel=1e-6)
    server.does(user, "/me/leave")
    hits = pages(get)
    assert {hit["score"] for hit in hits} == {None}
    assert json.loads(get(SEARCH)[1])["row"]["name"] != members[user]
    why = json.loads(get(f"/api/v1/explain?q=java&mode=group&doc={hits[0]['id']}")[1])
    assert (why["mode"], why["score"], "hidden" in why) == ("group", None, False)
    assert why["terms"] == []
    column = json.loads(get("/api/v1/compare?q=java")[1])["columns"][-1]
    assert (column["mode"], column["sent"]) == ("group", None)
    assert {hit["score"] for hit in column["results"]} == {None}
    page = get(f"/why?q=java&mode=group&doc={hits[0]['id']}")[1]
    assert "not shown" in page


@pytest.mark.parametrize("ranking", ["cosine", "evidence"])
def test_a_profile_of_all_words_reads_no_row_of_others(
    tmp_path: Path, index: Path, wordnet: WordNet, ranking: str
) -> None:
    """Explanations named each weight of the row: people searched for all words, joined and left."""
    everything = dict.fromkeys(WORDS, 1.0)
    rows = {
        f"reader-{n}": everything | {f"own-{n}-{at}": 1.0 for at in range(40)} for n in range(6)
    }
    with served(tmp_path / "w", index, wordnet, "p-linkability", 20, ranking=ranking) as server:
        server.join(rows)
        call(server.world.root, "admit")
        server.join({"waiting": everything})
        server.follow()
        server.does("reader-0", "/me/leave")
        named = re.compile("|".join(WORDS))
        for reader in ("reader-0", "waiting"):
            get = server.get(reader)
            assert json.loads(get(SEARCH)[1])["mode"] == "group"
            for path in ("/?", *(f"/why?doc=d{at}&" for at in range(8))):
                page = get(f"{path}q=java&mode=group")[1]
                assert not named.findall(DOCUMENT.sub("", page)), path
            for at in range(8):
                why = json.loads(get(f"/api/v1/explain?q=java&mode=group&doc=d{at}")[1])
                assert (why["mode"], why["terms"]) == ("group", [])


@pytest.mark.parametrize("other", ["ranking=cosine", f"pool={DOCUMENTS - 9}"])
def test_a_foreign_row_orders_by_the_usual_rule_only(server: Served, other: str) -> None:
    """Two orders of the same documents tell more of the row than one."""
    user = next(iter(server.world.members()))
    get = server.get(user)
    server.does(user, "/me/leave")
    usual, changed = json.loads(get(SEARCH)[1]), json.loads(get(f"{SEARCH}&{other}")[1])
    assert (usual["mode"], changed["mode"]) == ("group", "none")
    assert "usual rule only" in " ".join(changed["notices"])


def test_a_foreign_row_orders_so_many_results_a_day(server: Served) -> None:
    user, other = [*server.world.members()][::19]
    server.does(user, "/me/leave")
    modes = [json.loads(server.get(user)(SEARCH)[1])["mode"] for _ in range(ORDERS + 2)]
    assert modes == ["group"] * ORDERS + ["none"] * 2
    answer = json.loads(server.get(user)(SEARCH)[1])
    assert "ordered enough results today" in " ".join(answer["notices"])
    assert server.get(user)("/compare?q=java")[0] == 200
    assert json.loads(server.get(other)(SEARCH)[1])["mode"] == "group"  # their own group's row


def test_that_any_group_has_a_made_up_interest_costs_a_search(server: Served) -> None:
    """A profile may grow by anything, so no page but a search may follow what rows have of it."""
    profiles = {"nobody": "unheard", "somebody": "okapi"}
    server.join({user: {term: 1.0} for user, term in profiles.items()})
    server.follow()
    seen = []
    for user, term in profiles.items():
        get = server.get(user)
        paths = ("/me", "/me/download", "/api/v1/profile", "/about")
        seen.append([NOISE.sub("", get(path)[1]).replace(term, "X") for path in paths])
        modes = [json.loads(get(SEARCH)[1])["mode"] for _ in range(ORDERS + 1)]
        assert modes[-2:] == ["none" if user == "nobody" else "group", "none"]
    assert seen[0] == seen[1]
