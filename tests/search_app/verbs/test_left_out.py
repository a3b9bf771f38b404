"""People of whom a deletion has left nothing: the plain order, said so, and nobody else's row.

Mira, Oren and Ada have their own interests and share one; Noa shares nothing, so she is left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import read_profiles
from search_app.server import checkup

from ..conftest import Run, jsonl
from ..single_rows import make_current, write_single_rows

DOCUMENTS = [
    {"id": f"d{at}", "text": f"java {word}"}
    for at, word in enumerate(("coffee", "program", "island", "cat") * 9)
]
LOG = {"mira": "coffee cat", "oren": "program coffee", "ada": "coffee program", "noa": "island"}
LEFT_OUT = "no row stands for this person: this is the plain order, and nobody else's row"


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    log = tmp_path / "log.tsv"
    lines = [f"{user}\t{query}\t2026-03-01 08:05:00\n" for user, query in LOG.items()]
    log.write_text("".join(lines))
    run("index", jsonl(tmp_path / "corpus.jsonl", DOCUMENTS))
    run("profiles", log)
    profiles = profiles_of(run)
    make_current(run.workspace, write_single_rows(run.workspace, "km", profiles))
    return run


def profiles_of(run: Run) -> Profiles:
    return read_profiles(run.workspace / "profiles.jsonl")


def ids(run: Run, user: str, mode: str) -> list[str]:
    hits = run.json("search", "java", "--user", user, "--mode", mode)["hits"]
    return [hit["id"] for hit in hits]


def test_a_search_of_somebody_left_out_is_plain_and_says_why(run: Run) -> None:
    said = run("search", "java", "--user", "noa")
    assert said.startswith("plain BM25 order; AP ")
    assert run.talk.count(LEFT_OUT) == 1
    answer = run.json("search", "java", "--user", "noa", "--mode", "group")
    assert (answer["mode"], answer["row"]) == ("none", None)
    assert ids(run, "noa", "group") == ids(run, "noa", "none")
    assert ids(run, "noa", "own") != ids(run, "noa", "none")
    assert LEFT_OUT not in run.talk


def test_a_search_of_somebody_else_says_what_the_row_is(run: Run) -> None:
    said = run("search", "java", "--user", "mira", "--explain")
    assert re.match(r"by row g000\d, what a deletion has left of the own profile; AP ", said)
    assert "your released interest in coffee" in said
    assert LEFT_OUT not in run.talk
    assert ids(run, "mira", "group") != ids(run, "mira", "none")


def test_topics_of_people_left_out_are_answered_and_counted(run: Run, tmp_path: Path) -> None:
    topics, path = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\tmira\tjava\n2\tnoa\tjava\n")
    written = run.json("search", "--topics", topics, "--run", path)
    assert (written["topics"], written["no_row"]) == (2, ["2"])
    assert "plain order, as no row stands for the person, for topics: 2" in run.talk
    plain = [line.split()[2] for line in path.read_text().splitlines() if line[0] == "2"]
    assert plain[:10] == ids(run, "noa", "none")
    assert run.json("search", "--topics", topics, "--run", path, "--mode", "own")["no_row"] == []
    assert "plain order" not in run.talk


def test_who_has_no_profile_is_no_one_left_out(run: Run, tmp_path: Path) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tsomebody\tjava\n")
    for asked in (["java", "--user", "somebody"], ["--topics", topics, "--run", tmp_path / "r"]):
        said = run.refused("search", *asked, "--mode", "group")
        assert "deleted" not in said


def test_queries_of_people_left_out_are_judged_in_the_plain_order_and_counted(
    run: Run, tmp_path: Path
) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("1\tmira\tjava\n2\tnoa\tjava\n")
    found = run.json("evaluate", "--queries", queries)
    assert (found["queries"], found["unserved"]) == (2, 1)
    plain = run.json("evaluate", "--queries", queries, "--modes", "none,own")
    assert (plain["queries"], plain["unserved"]) == (2, 0)
    said = run("evaluate", "--queries", queries)
    assert "judged in the plain order: 1 of people without a row in a release" in said


def test_measures_of_rows_of_one_person_each_speak_of_no_groups(run: Run) -> None:
    said = run("measure")
    assert "share of the own terms that is left" in said
    # left are coffee of three people and program of two; deleted cat, and island with its person
    assert re.search(r"distinct terms released +2\n", said)
    assert re.search(r"of these left +5\n", said)
    assert "groups" not in said
    names = {each["name"] for each in run.json("measure")["measures"]}  # for who compares methods
    assert {"share of own terms kept", "average", "worst", "belief", "users"} <= names


def test_the_doctor_counts_who_is_left_out(run: Run) -> None:
    assert (
        checkup._release(run.workspace / "km") == "km-anonymity, 3 users in 3 rows, 1 without a row"
    )
    folder = write_single_rows(run.workspace, "all", profiles_of(run), k=1)
    assert checkup._release(folder) == "km-anonymity, 4 users in 4 rows"
