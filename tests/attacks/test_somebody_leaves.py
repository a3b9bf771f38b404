"""Attacks 1 to 3 and 5: two moments compared, by an outsider, a stranger and a co-member."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymizer.terms.wordnet import WordNet

from ..search_app.conftest import call
from .served import METHODS, TERM, Served, served
from .watching import PAGES, Visitor, difference, total

ORDER = "/api/v1/search?q=java&mode=group"


@pytest.fixture(params=METHODS)
def server(
    request: pytest.FixtureRequest, tmp_path: Path, index: Path, wordnet: WordNet
) -> Iterator[Served]:
    with served(tmp_path / "w", index, wordnet, request.param, 20) as server:
        yield server


def published(server: Served) -> list[dict[str, object]]:
    """Return the rows of the published file."""
    _, *lines = (server.world.root / "public.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def test_old_minus_new_is_a_whole_row_and_not_the_person_who_was_forgotten(server: Served) -> None:
    """Attack 1: it was the forgotten person's profile, 150 of 150 terms."""
    file = server.world.root / "public.jsonl"
    call(server.world.root, "publish", "-o", file)
    before, user = published(server), next(iter(server.world.members()))
    name = server.world.members()[user]
    server.does(user, "/me/forget")
    if server.world.method == "km-anonymity":
        assert not file.exists()  # who knows who left would know the row
        return
    after = published(server)
    (row,) = (row for row in before if row["row"] == name)
    assert after == [other for other in before if other is not row]
    assert difference(total(before), total(after)) == pytest.approx({**total([row])})


def test_strangers_and_co_members_see_nothing_but_that_a_row_is_gone(server: Served) -> None:
    """Attacks 2 and 3: rows were shown, so a removed term was the only change in them."""
    members = server.world.members()
    row = members[next(iter(members))]
    victim, *friends = [user for user in members if members[user] == row]
    stranger = next(user for user in reversed(members) if members[user] != row)
    visitors = {user: Visitor(server.get(user), TERM) for user in (stranger, *friends[:1])}
    own = [term["term"] for term in json.loads(server.get(victim)("/me/download")[1])["terms"]]
    order = json.loads(server.get(stranger)(ORDER)[1])["results"]

    def all_see() -> None:
        for visitor in visitors.values():
            visitor.sees(PAGES, (), server.names())

    all_see()
    server.does(victim, "/me/terms", term=own[:2])
    all_see()  # the same pages, to the letter
    server.does(victim, "/me/forget")
    all_see()  # no term but their own
    assert [*visitors[stranger].own_rows] == [members[stranger]]
    assert json.loads(server.get(stranger)(ORDER)[1])["results"] == order
    assert row not in server.names()


def test_nobody_reads_the_rows_of_a_second_release(server: Served) -> None:
    """Attack 5: with both rows of a person, 3 known terms found them in 76 % of cases."""
    shutil.copytree(server.world.release, server.world.root / "second")
    server.follow()
    get = server.get(next(iter(server.world.members())))
    for path in (
        *(
            "/groups?release=second",
            "/groups/g0001?release=second",
            "/api/v1/groups?release=second",
        ),
        *(f"{ORDER}:second", "/api/v1/candidates?q=java&row=g0001&release=second"),
    ):
        status, text = get(path)
        assert (status, TERM.findall(text)) == (400, []), path
    columns = json.loads(get("/api/v1/compare?q=java")[1])["columns"]
    assert {column["mode"] for column in columns} <= {"none", "own", "group"}
