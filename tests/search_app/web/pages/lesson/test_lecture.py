"""Lecturer mode: prepared searches one after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.evaluation.log import PrecisionLog
from search_app.web import Site, create_app
from search_app.workspace.lecture import Lecture, PreparedSearch, prepare

from ...conftest import seen

SEARCHES = (
    PreparedSearch("java", "1001"),
    PreparedSearch("java beans", "1002"),
    PreparedSearch("rare java"),
)


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
    assert "java as Mira · coffee java beans as Oren · code rare java" in page.text
    links = [link["href"] for link in page.all("a")]
    assert [f"/lecture/{number}" in links for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert turns(page) == dict.fromkeys(("n", "ArrowRight", "PageDown"), "/lecture/1")
    assert page.html.partition("<dialog")[0].count("<kbd") == 8


def test_without_a_file_the_examples_are_shown(client: FlaskClient) -> None:
    assert "java as Mira · coffee" in seen(client, "/lecture").text
    assert client.get("/lecture/1").status_code == 200
    assert client.get("/lecture/2").status_code == 404


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
    assert "p" not in first
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
    assert "line 3 has 3 columns" in text
    assert "line 2 names a person who is not here" in text
    assert "secret" not in text
    assert "9999" not in text
    assert "java as Bo · code" in seen(written, "/lecture/2").text
    assert written.get("/lecture/3").status_code == 404


@pytest.mark.parametrize("number", ["0", "4", "99999999999999999999", "-1", "x"])
def test_other_numbers_are_not_there(lecture: FlaskClient, number: str) -> None:
    assert lecture.get(f"/lecture/{number}").status_code == 404


def test_a_show_is_not_logged(lecture: FlaskClient, log: PrecisionLog) -> None:
    lecture.get("/lecture/1")
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
