"""Lecturer mode: prepared searches one after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.precision_log import PrecisionLog
from search_app.prepared import Lecture, Search, prepare
from search_app.web import Site, create_app

SEARCHES = (Search("java", "1001"), Search("java beans", "1002"), Search("rare java"))


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


def test_the_start_lists_what_is_prepared_and_the_keys(lecture: FlaskClient, read: Any) -> None:
    page = read(lecture.get("/lecture").text)
    assert "java as Mira · coffee java beans as Oren · code rare java" in page.text
    links = [link["href"] for link in page.all("a")]
    assert [f"/lecture/{number}" in links for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert turns(page) == dict.fromkeys(("n", "ArrowRight", "PageDown"), "/lecture/1")
    assert len(page.all("kbd")) == 8


def test_without_a_file_the_examples_are_shown(client: FlaskClient, read: Any) -> None:
    assert "java as Mira · coffee" in read(client.get("/lecture").text).text
    assert client.get("/lecture/1").status_code == 200
    assert client.get("/lecture/2").status_code == 404


def test_a_search_is_a_comparison_of_five_documents_a_column(
    lecture: FlaskClient, read: Any
) -> None:
    page = read(lecture.get("/lecture/1").text)
    assert [lane["class"] for lane in page.all("section", "lane")] == [
        "lane none",
        "lane own",
        "lane group",
    ]
    keys = [int(hit["data-key"]) for hit in page.all("li", "hit")]
    assert keys == [*range(5), *range(0, 10, 2), *range(5)]
    assert "java as Mira · coffee" in page.text
    tau = 1 - 2 * 190 / 780  # 19 + 18 + ... + 1 pairs of an odd row before a larger even one
    assert "sees the query only AP, pool 40 " in page.text
    assert f"Kendall’s τ {tau:.2f} overlap@10 5 of 10" in page.text


def test_keys_lead_on_and_back(lecture: FlaskClient, read: Any) -> None:
    first, second, last = (turns(read(lecture.get(f"/lecture/{n}").text)) for n in (1, 2, 3))
    assert {first[key] for key in ("n", "ArrowRight", "PageDown")} == {"/lecture/2"}
    assert "p" not in first
    assert {second[key] for key in ("p", "ArrowLeft", "PageUp")} == {"/lecture/1"}
    assert second["n"] == "/lecture/3"
    assert last["p"] == "/lecture/2"
    assert "n" not in last


def test_blind_stays_from_one_search_to_the_next(lecture: FlaskClient, read: Any) -> None:
    open_ = turns(read(lecture.get("/lecture/1").text))
    assert open_["b"] == "/lecture/1?blind=1"
    assert "r" not in open_
    page = read(lecture.get(open_["b"]).text)
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane"] * 3
    assert "Kendall" not in page.text
    hidden = turns(page)
    assert (hidden["b"], hidden["n"]) == ("/lecture/1", "/lecture/2?blind=1")
    assert hidden["r"] == "/lecture/1?blind=1&reveal=1"
    shown = turns(read(lecture.get(hidden["r"]).text))
    assert (shown["r"], shown["n"]) == ("/lecture/1?blind=1", "/lecture/2?blind=1")


def test_a_search_of_nobody_is_plain(lecture: FlaskClient, read: Any) -> None:
    page = read(lecture.get("/lecture/3").text)
    assert [lane["class"] for lane in page.all("section", "lane")] == ["lane none"]
    assert "b" not in turns(page)


def test_bad_lines_and_unknown_people_are_told_by_number(written: FlaskClient, read: Any) -> None:
    text = read(written.get("/lecture").text).text
    assert "line 3 has 3 columns" in text
    assert "line 2 names a person who is not here" in text
    assert "secret" not in text
    assert "9999" not in text
    assert "java as Bo · code" in read(written.get("/lecture/2").text).text
    assert written.get("/lecture/3").status_code == 404


@pytest.mark.parametrize("number", ["0", "4", "99999999999999999999", "-1", "x"])
def test_other_numbers_are_not_there(lecture: FlaskClient, number: str) -> None:
    assert lecture.get(f"/lecture/{number}").status_code == 404


def test_a_show_is_not_logged(lecture: FlaskClient, log: PrecisionLog) -> None:
    lecture.get("/lecture/1")
    assert log.recent(9) == []


def test_titles_hold_no_query(lecture: FlaskClient) -> None:
    for path in ("/lecture", "/lecture/1"):
        title = lecture.get(path).text.partition("<title>")[2].partition("</title>")[0]
        assert title.startswith("Lecture")
        assert "java" not in title


def test_where_nobody_can_be_chosen_a_lecture_is_plain(site: Site, read: Any) -> None:
    searches = (Search("java", "1001", 1), Search("java", "", 2))
    bare = replace(
        site, people={}, access="plain", prepared=lambda: Lecture(searches, (), from_file=True)
    )
    client = create_app(bare).test_client()
    text = read(client.get("/lecture").text).text
    assert "line 1 names a person, but nobody can be chosen here" in text
    assert client.get("/lecture/1").status_code == 200
    assert client.get("/lecture/2").status_code == 404


def test_hostile_queries_are_text(site: Site) -> None:
    hostile = "<script>window.ran = 1</script> java"
    searches = Lecture((Search(hostile, "1001"),))
    client = create_app(replace(site, prepared=lambda: searches)).test_client()
    for path in ("/lecture", "/lecture/1"):
        assert "<script>window" not in client.get(path).text
