"""A lecture's prepared searches, read from a file that a person wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from search_app.town.examples import (
    PERSONAS,
    STORY,
    WORDS,
    lecture,
    personas,
    searches,
    story,
)
from search_app.workspace.lecture import KINDS, MOST, Lecture, PreparedSearch, prepare


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lecture.tsv"


def test_each_line_is_a_query_and_perhaps_a_person(file: Path) -> None:
    file.write_text("# my lecture\njava\t1001\n\nbass guitar\n  mercury \t 1002 \n")
    assert prepare(file).searches == (
        PreparedSearch("java", "1001", 2),
        PreparedSearch("bass guitar", "", 4),
        PreparedSearch("mercury", "1002", 5),
    )
    assert prepare(file).faults == ()


def test_a_line_can_say_what_is_shown_and_what_to_say(file: Path) -> None:
    file.write_text("java\t1001, 1002\ttwo\tAsk the room.\n\t\thurts\njava\t\t\tonly a note\n")
    two, hurts, noted = prepare(file).searches
    assert two == PreparedSearch("java", "1001, 1002", 1, "two", "Ask the room.")
    assert (two.users, hurts.users, noted.users) == (("1001", "1002"), (), ())
    assert hurts == PreparedSearch("", "", 2, "hurts")
    assert noted == PreparedSearch("java", "", 3, "all", "only a note")


def test_slides_written_as_lines_are_read_as_they_were(file: Path) -> None:
    told = story("java", ["1001", "1002", "1003"])
    file.write_text("\n".join(map(str, told)))
    assert [slide._replace(line=0) for slide in prepare(file).searches] == list(told)
    assert [slide.shown for slide in told] == [kind for kind, _ in STORY]
    assert {*KINDS} == {"all", *(slide.shown for slide in told)}
    assert [slide.shown for slide in story("java", ["1001"])] == [kind for kind, _ in STORY[1:]]
    assert story("java", []) == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_ending_of_lines_and_a_mark_at_the_beginning(file: Path, ending: str) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + ending.join(["# café", "café\t7", ""]).encode())
    assert prepare(file).searches == (PreparedSearch("café", "7", 2),)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"secret\xff\t1001", "line 2 is not UTF-8; save the file as UTF-8"),
        (
            b"secret\t1001\tall\tnote\tx",
            "line 2 has 5 columns; write a query, a person, what is shown and a note, "
            "with tabs between",
        ),
        (
            b"secret\t1001\tx",
            f"line 2 shows what is not known; write one of {', '.join(KINDS)}",
        ),
        (b"secret\t1001\ttwo", "line 2 shows two people; write both, with a comma between"),
        (b"secret\t\town", "line 2 shows own, which needs a person"),
        (b"\tsecret", "line 2 has no query before its tab"),
        (b"secret\0\t1001", "line 2 holds control characters; take them out"),
        (b"secret" * 400, "line 2 has a query of 2,400 characters; at most 2,000"),
        (b"secret\t\tall\t" + b"n" * 2001, "line 2 has a note of 2,001 characters; at most 2,000"),
    ],
)
def test_a_bad_line_is_told_by_its_number_never_by_what_it_holds(
    file: Path, line: bytes, fault: str
) -> None:
    file.write_bytes(b"java\n" + line + b"\ncoffee\n")
    lecture = prepare(file)
    assert [search.query for search in lecture.searches] == ["java", "coffee"]
    assert lecture.faults == (fault,)


def test_the_file_is_read_as_it_is_now(file: Path) -> None:
    usual = Lecture((PreparedSearch("java", "1001"),))
    assert prepare(file, usual) == usual
    file.write_text("bass\n")
    assert prepare(file, usual).searches == (PreparedSearch("bass", "", 1),)
    file.unlink()
    assert prepare(file, usual) == usual


def test_an_empty_file_prepares_nothing(file: Path) -> None:
    file.write_text("# nothing yet\n")
    assert prepare(file, Lecture((PreparedSearch("java"),))) == Lecture((), (), from_file=True)


def test_what_can_not_be_read_is_told(file: Path) -> None:
    file.mkdir()
    assert prepare(file).faults == ("lecture.tsv can’t be read: Is a directory",)


def test_of_very_many_searches_the_first_are_taken(file: Path) -> None:
    file.write_text("java\n" * (MOST + 1))
    lecture = prepare(file)
    assert len(lecture.searches) == MOST
    assert lecture.faults == ("lecture.tsv has 501 slides; the first 500 are taken",)


def test_of_very_many_bad_lines_the_first_are_named(file: Path) -> None:
    file.write_text("a\tb\tc\n" * 1050 + "java\n")
    lecture = prepare(file)
    assert len(lecture.searches) == 1
    assert len(lecture.faults) == 51
    assert lecture.faults[-1] == "1,000 lines more; is lecture.tsv another kind of file?"


def test_a_file_of_any_other_kind_is_not_read_to_its_end(file: Path) -> None:
    with file.open("wb") as huge:
        huge.truncate(10**9)
    assert prepare(file).faults == ("lecture.tsv is longer than 1,000,000 bytes",)


def one_group(*users: str) -> Release:
    return Release(
        rows=Profiles.from_rows({"g0001": {"fish": 1.0}}),
        users=users,
        row_of_user=np.zeros(len(users), dtype=np.int64),
        method="p-linkability",
        parameters={},
        promise=AVERAGE,
    )


def test_the_town_has_each_word_asked_by_two_people() -> None:
    """Three fans: one of fishing, one of guitar, one of both, who is left out."""
    release = one_group("1", "2", "3")
    truth = {"interests": {"fishing": ["3", "1"], "guitar": ["3", "2"]}}
    bass = (PreparedSearch("bass", "1"), PreparedSearch("bass", "2"))
    assert searches(truth, release) == bass
    assert lecture(truth, release) == Lecture()  # nobody here likes coffee
    assert len({word for word, _ in WORDS}) == len(WORDS) >= 6


def test_the_people_shown_first_share_no_interest() -> None:
    """The first two like tea; nobody else likes anything that another does."""
    fans = [(word, label, f"{word} {label}") for word, labels in WORDS for label in labels]
    likes = {user: {label, user} for _, label, user in fans}
    likes[fans[0][2]].add("tea")
    likes[fans[1][2]].add("tea")
    truth = {
        "interests": {label: [user] for _, label, user in fans},
        "users": {
            user: {"interests": [{"label": label} for label in sorted(labels)]}
            for user, labels in likes.items()
        },
    }
    shown = [search.user for search in personas(truth, one_group(*likes))]
    assert shown[0] == fans[0][2]
    assert fans[1][2] not in shown
    assert len(shown) == PERSONAS
    assert sum(len(likes[user]) for user in shown) == len(set().union(*map(likes.get, shown)))
