"""Lecturer mode: prepared searches one after the other."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, ReleasedRow
from search_app.evaluation.log import PrecisionLog
from search_app.evaluation.relevance import Relevance
from search_app.search.engine import Engine
from search_app.search.modes import Modes
from search_app.web import Site, create_app
from search_app.web.site import Truth
from search_app.workspace.lecture import Lecture, PreparedSearch, prepare

from ....village import at_village
from ...conftest import DOCUMENTS, TERMS, seen

SEARCHES = (
    PreparedSearch("java", "1001"),
    PreparedSearch("java beans", "1002"),
    PreparedSearch("rare java"),
)


def precision(order: Iterable[int], good: set[int]) -> float:
    """Return the mean precision at the ranks of `good` documents."""
    found = [rank for rank, row in enumerate(order, 1) if row in good]
    return sum(number / rank for number, rank in enumerate(found, 1)) / len(found)


@pytest.fixture
def lecture(site: Site) -> FlaskClient:
    return create_app(replace(site, prepared=lambda: Lecture(SEARCHES))).test_client()


@pytest.fixture
def written(site: Site, tmp_path: Path) -> FlaskClient:
    """A site whose lecture stands in a file; some of its lines are bad."""
    file = tmp_path / "lecture.tsv"
    file.write_text("java\t1001\nsecret\t9999\nsecret\t1001\tx\njava\t1004\n")
    return create_app(replace(site, prepared=lambda: prepare(file))).test_client()


def turns(page: Any) -> dict[str, str]:
    """Return where each key leads."""
    links = [link for link in page.all("a") if "data-press" in link]
    return {key: link["href"] for link in links for key in link["data-press"].split()}


def test_the_start_lists_what_is_prepared_and_the_keys(lecture: FlaskClient) -> None:
    page = seen(lecture, "/lecture")
    assert "1 java as Mira · coffee 2 java beans as Oren · code 3 rare java" in page.text
    links = [link["href"] for link in page.all("a")]
    assert [f"/lecture/{number}" in links for number in range(5)] == [*[True] * 4, False]
    assert turns(page) == dict.fromkeys(("n", "ArrowRight", "PageDown"), "/lecture/0")
    assert page.html.partition("<dialog")[0].count("<kbd") == 9


def test_without_a_file_the_lecture_is_a_story(client: FlaskClient) -> None:
    text = seen(client, "/lecture").text
    assert "Same word, two people java as Mira · coffee and Oren · code" in text
    assert "java 1001,1002 two Two people type the same word." in text  # a line to copy
    titles = (
        "How much|Same word|What everybody|everything known|server read|released|hurts|attacker"
    )
    for number, title in enumerate(f"{titles}|How much|device".split("|")):
        page = seen(client, f"/lecture/{number}")
        assert title in page.text
        assert f"{number} of 9" in page.text
        assert ("Note" in page.text) == (number > 0)
    assert "n" not in turns(page)
    assert client.get("/lecture/10").status_code == 404


def test_two_people_stand_side_by_side_each_by_their_own_profile(client: FlaskClient) -> None:
    page = seen(client, "/lecture/1")
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane own"] * 2
    keys = [int(hit["data-key"]) for hit in page.all("li", "hit")]
    assert keys == [*range(0, 12, 2), *range(1, 13, 2)]
    assert "pool" not in page.text
    assert "b" not in turns(page)


@pytest.mark.parametrize(
    ("number", "kind", "keys"),
    [(2, "none", range(6)), (3, "own", range(0, 12, 2)), (5, "group", range(6))],
)
def test_an_order_stands_alone(
    client: FlaskClient, number: int, kind: str, keys: Sequence[int]
) -> None:
    page = seen(client, f"/lecture/{number}")
    assert [lane["class"] for lane in page.all("section", "lane")] == [f"lane {kind}"]
    assert [int(hit["data-key"]) for hit in page.all("li", "hit")] == [*keys]
    assert "1.00 is the same" in page.text
    assert ("Of your personal top 10, your group finds 5, plain search 5." in page.text) == (
        kind == "group"
    )


def test_the_dial_turns_on_its_slide(client: FlaskClient) -> None:
    page = seen(client, "/lecture/0")
    assert [dial["data-dial"] for dial in page.all("div", "dial")] == [
        "/api/v1/dial?q=java&user=1001"
    ]
    stops = {str(link["data-stop"]): link for link in page.all("a") if "data-stop" in link}
    assert [*stops] == ["own", "group", "none"]
    assert stops["own"]["href"] == "/lecture/0?stop=own"
    turned = seen(client, "/lecture/0?stop=own")
    assert "aria-current" in next(
        link for link in turned.all("a") if link.get("data-stop") == "own"
    )


def test_the_attacker_is_played_on_its_slide(site: Site) -> None:
    told = Lecture((PreparedSearch("", shown="attacker", note="Vote."), PreparedSearch("java")))
    client = create_app(replace(at_village(site), prepared=lambda: told)).test_client()
    keys = turns(seen(client, "/lecture/1"))
    assert (keys["2"], keys["n"]) == ("/lecture/1?pick=2", "/lecture/2")
    end = seen(client, keys["2"])
    assert "You " in end.text
    assert "/lecture/1?round=2&played=1" in "".join(str(link["href"]) for link in end.all("a"))


def test_what_the_server_read_is_what_the_engine_was_handed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[Any] = []
    for name in ("pool", "by_profile", "by_row"):
        made = getattr(Engine, name)

        def noted(engine: Engine, *given: Any, made: Any = made, **more: Any) -> Any:
            handed.append(given[:2])
            return made(engine, *given, **more)

        monkeypatch.setattr(Engine, name, noted)
    page = seen(create_app(site).test_client(), "/lecture/4")
    lines = [html.unescape(one) for one in re.findall(r"<pre[^>]*>(.*?)</pre>", page.html, re.S)]
    plain, own, group = map(json.loads, lines)
    assert handed[0] == tuple(plain[name] for name in ("query", "pool"))
    assert [given for pool, given in handed[1:] if given == own["profile"]]
    (row,) = [given for _, given in handed[1:] if isinstance(given, ReleasedRow)]
    assert group["row"] == {"row": row.name, "users": row.users, "terms": row.weights}
    assert [f" {len(line.encode())} bytes " in page.text for line in lines] == [True] * 3


def test_where_a_group_is_worse_a_slide_says_so_and_why(site: Site) -> None:
    """A row of coffee alone: the coffee of the group pushes all code down, which Oren likes."""
    release = site.modes.release
    assert release is not None and site.modes.profiles is not None
    rows = Profiles.from_rows({"g0001": {"coffee": 1.0}, "g0002": {"code": 1.0}})
    modes = Modes(site.modes.engine, site.modes.profiles, replace(release, rows=rows))
    told = (
        PreparedSearch("java", "1002", shown="group"),
        PreparedSearch("java", "1002"),
        PreparedSearch("java", "1001", shown="group"),
        PreparedSearch("java", "1002", shown="plain"),
    )
    code = Truth(
        Relevance([], {f"doc{row:02}": frozenset({TERMS[row % 2]}) for row in range(DOCUMENTS)}),
        {"1002": frozenset({"code"})},
    )
    bad = replace(site, modes=modes, prepared=lambda: Lecture(told))
    evens, odds = range(0, 40, 2), range(1, 40, 2)
    for truth, judge, good in (
        (None, "the own top 30", {*odds, *evens[:10]}),
        (code, "what this person likes", {*odds}),
    ):
        client = create_app(replace(bad, truth=lambda truth=truth: truth)).test_client()
        high, low = (precision(order, good) for order in (range(40), [*evens, *odds]))
        said = f"does worse than plain search. By {judge}, AP falls from {high:.2f} to {low:.2f}."
        text = seen(client, "/lecture/1").text
        assert said in text
        assert (
            f"Why? In the group’s row, “coffee” pulls up 10 documents outside {judge}, such" in text
        )
        assert said in seen(client, "/lecture/2").text
        for fine in (3, 4):
            assert "worse" not in seen(client, f"/lecture/{fine}").text


def test_a_search_is_a_comparison_of_five_documents_a_column(lecture: FlaskClient) -> None:
    page = seen(lecture, "/lecture/1")
    assert [lane["class"] for lane in page.all("section", "lane")] == [
        "lane none",
        "lane own",
        "lane group",
    ]
    keys = [int(hit["data-key"]) for hit in page.all("li", "hit")]
    assert keys == [*range(5), *range(0, 10, 2), *range(5)]
    assert "java as Mira · coffee" in page.text
    assert "sees the query only AP, pool 40 " in page.text


def test_keys_lead_on_and_back(lecture: FlaskClient) -> None:
    first, second, last = (turns(seen(lecture, f"/lecture/{n}")) for n in (1, 2, 3))
    assert {first[key] for key in ("n", "ArrowRight", "PageDown")} == {"/lecture/2"}
    assert first["p"] == "/lecture/0"
    assert {second[key] for key in ("p", "ArrowLeft", "PageUp")} == {"/lecture/1"}
    assert second["n"] == "/lecture/3"
    assert last["p"] == "/lecture/2"
    assert "n" not in last


def test_blind_stays_from_one_search_to_the_next(lecture: FlaskClient) -> None:
    open_ = turns(seen(lecture, "/lecture/1"))
    assert open_["b"] == "/lecture/1?blind=1"
    assert "r" not in open_
    page = seen(lecture, open_["b"])
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane"] * 3
    assert "Kendall" not in page.text
    hidden = turns(page)
    assert (hidden["b"], hidden["n"]) == ("/lecture/1", "/lecture/2?blind=1")
    assert hidden["r"] == "/lecture/1?blind=1&reveal=1"
    shown = turns(seen(lecture, hidden["r"]))
    assert (shown["r"], shown["n"]) == ("/lecture/1?blind=1", "/lecture/2?blind=1")


def test_a_search_of_nobody_is_plain(lecture: FlaskClient) -> None:
    page = seen(lecture, "/lecture/3")
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane none"]
    assert "b" not in turns(page)


def test_bad_lines_and_unknown_people_are_told_by_number(written: FlaskClient) -> None:
    text = seen(written, "/lecture").text
    assert "line 3 shows what is not known" in text
    assert "line 2 names a person who is not here" in text
    assert "secret" not in text
    assert "9999" not in text
    assert "java as Bo · code" in seen(written, "/lecture/2").text
    assert written.get("/lecture/3").status_code == 404


@pytest.mark.parametrize("number", ["4", "99999999999999999999", "-1", "x"])
def test_other_numbers_are_not_there(lecture: FlaskClient, number: str) -> None:
    assert lecture.get(f"/lecture/{number}").status_code == 404


def test_nothing_of_it_is_logged(client: FlaskClient, log: PrecisionLog) -> None:
    for number in range(10):
        client.get(f"/lecture/{number}")
    assert log.recent(9) == []


def test_where_nobody_can_be_chosen_a_lecture_is_plain(site: Site) -> None:
    searches = (PreparedSearch("java", "1001", 1), PreparedSearch("java", "", 2))
    bare = replace(
        site, people={}, access="plain", prepared=lambda: Lecture(searches, (), from_file=True)
    )
    client = create_app(bare).test_client()
    text = seen(client, "/lecture").text
    assert "line 1 names a person, but nobody can be chosen here" in text
    assert client.get("/lecture/1").status_code == 200
    assert client.get("/lecture/2").status_code == 404


def test_hostile_queries_are_text(site: Site) -> None:
    hostile = "<script>window.ran = 1</script> java"
    searches = Lecture((PreparedSearch(hostile, "1001"),))
    client = create_app(replace(site, prepared=lambda: searches)).test_client()
    for path in ("/lecture", "/lecture/1"):
        assert "<script>window" not in client.get(path).text
