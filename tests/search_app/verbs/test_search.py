"""The verb search: operators, explanations, and topic files to runs, with real Lucene."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from search_app import __version__
from search_app.accounts.store import PeopleStore

from ..conftest import Run, call, jsonl

DOCUMENTS = [
    {"id": "d1", "title": "Coffee", "text": "Java is a coffee. Brew mocha and java from beans."},
    {"id": "d2", "title": "Java, the language", "text": "Java is a programming language."},
    {"id": "d3", "title": "Java, the island", "text": "Java is an island with volcanoes."},
    {"id": "d4", "title": "Cats", "text": "A kitten is a young cat."},
]
LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
7\tmocha coffee\t2026-03-01 08:05:00\t\t
8\tprogramming language\t2026-03-01 09:00:00\t\t
9\tvolcano island\t2026-03-02 10:00:00\t\t
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two workspaces to be copied: an index alone, and one with people."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "log.tsv").write_text(LOG)
    call(folder / "plain", "index", jsonl(folder / "corpus.jsonl", DOCUMENTS))
    shutil.copytree(folder / "plain", folder / "people")
    call(folder / "people", "profiles", folder / "log.tsv")
    call(folder / "people", "anonymize", "-m", "p-linkability", "--set", "p=0.9")
    return folder


@pytest.fixture
def plain(run: Run, made: Path) -> Run:
    shutil.copytree(made / "plain", run.workspace)
    return run


@pytest.fixture
def people(run: Run, made: Path) -> Run:
    shutil.copytree(made / "people", run.workspace)
    return run


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.tsv"
    path.write_text("q2\tjava\nq1\tkitten cat\nq3\tthe of\nq4\tnowhere\n")
    return path


def rows(path: Path) -> list[tuple[str, str, str, int, float, str]]:
    split = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        (qid, q0, name, int(rank), float(score), tag) for qid, q0, name, rank, score, tag in split
    ]


def ids(answer: Any) -> set[str]:
    return {hit["id"] for hit in answer["hits"]}


def test_operators_are_asked_for(plain: Run) -> None:
    assert ids(plain.json("search", "java -island")) == {"d1", "d2", "d3"}
    assert ids(plain.json("search", "java -island", "--operators")) == {"d1", "d2"}
    assert ids(plain.json("search", '"java is an island"', "--operators")) == {"d3"}
    assert plain("search", "--operators", "--", "-java").strip() == "nothing found"
    (plain.workspace / "veilsearch.toml").write_text("operators = true\n")
    assert ids(plain.json("search", "java -island")) == {"d1", "d2"}


def test_a_hit_is_explained_by_its_terms(plain: Run) -> None:
    answer = plain.json("search", "java island", "--explain")
    hit = answer["hits"][0]
    assert hit["id"] == "d3"
    assert {(part["field"], part["term"]) for part in hit["parts"]} == {
        ("contents", "java"),
        ("contents", "island"),
    }
    for each in answer["hits"]:
        assert sum(part["score"] for part in each["parts"]) == pytest.approx(
            each["score"], rel=1e-6
        )
    lines = plain("search", "java island", "--explain").splitlines()
    assert lines[2].strip() == (
        "Number 1 in the plain order: found for “island” and “java” in the text."
    )
    assert lines[3].strip().startswith(f"BM25 {hit['score']:.4f} = contents:")
    assert not {"parts", "why"} & plain.json("search", "java island")["hits"][0].keys()


def test_what_grew_from_searches_counts_as_on_the_pages(people: Run) -> None:
    with closing(PeopleStore(people.workspace / "people.sqlite")) as store:
        for user in ("7", "new"):
            store.choose(user, grow=True)
            store.grow(user, {"island": 1, "volcano": 1})
    own = ("search", "java", "--mode", "own", "--user")
    assert people.json(*own, "new")["hits"][0]["id"] == "d3"
    scores = [hit["score"] for hit in people.json(*own, "7")["hits"]]
    alone = people.workspace / "profiles.jsonl"  # named, so it is a file like any other
    assert scores != [hit["score"] for hit in people.json(*own, "7", "--profiles", alone)["hits"]]
    assert "user" in people.refused(*own, "new", "--profiles", alone)


@pytest.mark.parametrize("rule", ["cosine", "evidence"])
@pytest.mark.parametrize("mode", ["own", "group"])
def test_a_place_in_a_personal_ranking_is_explained(people: Run, mode: str, rule: str) -> None:
    asked = ("search", "java", "--user", "9", "--mode", mode, "--ranking", rule, "--explain")
    answer = people.json(*asked)
    island = next(hit for hit in answer["hits"] if hit["id"] == "d3")
    assert island["why"]["kind"] == mode
    if rule == "cosine":
        assert {"island", "volcano"} <= {share["term"] for share in island["why"]["terms"]}
    for hit in answer["hits"]:
        shares = [*hit["why"]["terms"], *hit["why"]["added"]]
        assert sum(share["share"] for share in shares) == pytest.approx(hit["score"], abs=1e-6)
        moved = hit["rank"] != hit["plain_rank"]
        assert (hit["why"]["without"] is not None) is moved or rule == "evidence"
    lines = [line.strip() for line in people(*asked).splitlines()]
    for hit in answer["hits"]:
        assert hit["why"]["sentence"] in lines
    assert sum(line.startswith("score ") for line in lines) == len(answer["hits"])


def test_titles_count_when_they_are_set_to(plain: Run) -> None:
    before = {hit["id"]: hit["score"] for hit in plain.json("search", "coffee java")["hits"]}
    (plain.workspace / "veilsearch.toml").write_text("title_boost = 2\n")
    answer = plain.json("search", "coffee java", "--explain")
    after = {hit["id"]: hit["score"] for hit in answer["hits"]}
    assert ids(answer) == set(before)
    assert all(after[name] > before[name] for name in before)
    assert {part["field"] for part in answer["hits"][0]["parts"]} == {"contents", "title"}


def test_bm25_is_set_when_searching(plain: Run) -> None:
    built = plain.json("search", "java")["hits"]
    (plain.workspace / "veilsearch.toml").write_text("k1 = 0.9\nb = 0.4\n")
    assert plain.json("search", "java")["hits"] == built  # as it was built
    (plain.workspace / "veilsearch.toml").write_text("k1 = 0\n")
    flat = {hit["score"] for hit in plain.json("search", "java")["hits"]}
    assert len(flat) == 1  # without k1 a term counts the same however often it is there


def test_a_query_that_takes_too_long_is_one_line(
    plain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.limits.QueryClock.left", lambda _clock: 0.0)
    plain("search", "java", code=2)
    assert plain.talk.startswith("veilsearch: the search took longer than deadline=5.0 seconds; ")
    assert plain.talk.count("\n") == 1


def test_topics_become_a_run(plain: Run, topics: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    text = plain("search", "--topics", topics, "--run", path)
    assert text.startswith("4 topics, 4 rows in ")
    assert text.strip().endswith(str(path))
    assert plain.talk == "nothing found for topics: q3, q4\n"
    written = rows(path)
    alone = plain.json("search", "java")["hits"]
    assert [row[0] for row in written] == ["q2", "q2", "q2", "q1"]
    assert [row[2] for row in written] == [*(hit["id"] for hit in alone), "d4"]
    assert [row[3] for row in written] == [1, 2, 3, 1]
    assert written[0][4] == pytest.approx(alone[0]["score"], rel=1e-7)
    assert written[0][4] > written[1][4] > written[2][4]
    assert {(row[1], row[5]) for row in written} == {("Q0", "veilsearch")}


def test_a_batch_tells_machines_what_it_did(plain: Run, topics: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    made = plain.json("search", "--topics", topics, "--run", path, "--top", 1, "--threads", 2)
    assert (made["topics"], made["rows"], made["empty"], made["cut"]) == (4, 2, ["q3", "q4"], [])
    assert made["run"] == str(path)
    assert made["seconds"] > 0
    first = path.read_bytes()
    plain("search", "--topics", topics, "--run", path, "--top", 1, "--pool", 2)
    assert path.read_bytes() == first  # whatever the threads and the pool
    plain("search", "--topics", topics, "--run", path, "--tag", "mine")
    assert {row[5] for row in rows(path)} == {"mine"}


def test_a_run_may_begin_with_what_made_it(plain: Run, topics: Path, tmp_path: Path) -> None:
    bare, described = tmp_path / "bare.txt", tmp_path / "described.txt"
    plain("search", "--topics", topics, "--run", bare, "--tag", "mine")
    plain("search", "--topics", topics, "--run", described, "--tag", "mine", "--metadata")
    lines = described.read_text().splitlines(keepends=True)
    block = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    assert "".join(lines[len(block) :]) == bare.read_text()
    assert (block[0], block[-1]) == ("ir_metadata.start\n", "ir_metadata.end\n")
    facts = yaml.safe_load("".join(block[1:-1]))
    assert facts["tag"] == "mine"
    assert facts["implementation"]["source"] == {"name": "veilsearch", "version": __version__}
    assert facts["method"]["retrieval"] == [
        {"name": "BM25", "documents": 1000},
        {"name": "re-ranking", "mode": "usual", "rule": "cosine"},
    ]
    assert facts["data"]["documents"] == len(DOCUMENTS)


@pytest.mark.parametrize("link", ["none", "soft", "hard"])
@pytest.mark.parametrize("read", ["topics", "profiles"])
def test_a_run_never_overwrites_what_is_read(
    plain: Run, topics: Path, tmp_path: Path, link: str, read: str
) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("kept")
    source = {"topics": topics, "profiles": other}[read]
    before, run = source.read_bytes(), tmp_path / "run.txt"
    if link == "none":
        run = source
    elif link == "soft":
        run.symlink_to(source)
    else:
        run.hardlink_to(source)
    plain.refused("search", "--topics", topics, "--profiles", other, "--run", run)
    assert f"--run {run} is the file of --{read}" in plain.talk
    assert source.read_bytes() == before


def test_the_pool_grows_to_what_is_shown(plain: Run, topics: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    assert plain.json("search", "java", "--top", 500)["pool"] == 500
    assert plain.talk == ""
    assert plain.json("search", "java", "--top", 5)["pool"] == 100
    plain.refused("search", "java", "--top", 10_001)
    answer = plain.json("search", "java", "--top", 3, "--pool", 2)
    assert (answer["pool"], len(answer["hits"])) == (2, 2)
    assert plain.talk == "--top 3 is more than --pool 2: at most 2 results are shown\n"
    plain("search", "--topics", topics, "--run", path, "--top", 2, "--pool", 1)
    assert "--top 2 is more than --pool 1" in plain.talk
    assert [row[3] for row in rows(path)] == [1, 1]


def test_a_run_may_be_longer_than_usual(run: Run, tmp_path: Path) -> None:
    corpus, topics, path = (tmp_path / name for name in ("c.jsonl", "t.tsv", "run.txt"))
    corpus.write_text("".join(f'{{"id": "{n}", "text": "same"}}\n' for n in range(1100)))
    topics.write_text("1\tsame\n")
    run("index", corpus)
    assert run.json("search", "--topics", topics, "--run", path)["rows"] == 1000
    assert run.json("search", "--topics", topics, "--run", path, "--top", 1050)["rows"] == 1050


def test_operators_hold_for_topics(plain: Run, tmp_path: Path) -> None:
    topics, path = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\tjava -island\n")
    plain("search", "--topics", topics, "--run", path, "--operators")
    assert {row[2] for row in rows(path)} == {"d1", "d2"}


def test_each_topic_is_asked_by_its_user(people: Run, tmp_path: Path) -> None:
    topics, path = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\t7\tjava\n2\t8\tjava\n3\t9\tjava\n")
    people("search", "--topics", topics, "--run", path, "--mode", "own", "--top", 1)
    assert [row[2] for row in rows(path)] == ["d1", "d2", "d3"]
    people("search", "--topics", topics, "--run", path)  # group, as for a single query
    for number, user in enumerate("789", 1):
        alone = people.json("search", "java", "--user", user)
        assert alone["mode"] == "group"
        names = [row[2] for row in rows(path) if row[0] == str(number)]
        assert names == [hit["id"] for hit in alone["hits"]]
    topics.write_text("1\tjava\n")
    people("search", "--topics", topics, "--run", path, "--user", 8, "--mode", "own", "--top", 1)
    assert [row[2] for row in rows(path)] == ["d2"]


def test_an_unknown_user_is_told_by_line_alone(people: Run, tmp_path: Path) -> None:
    topics, path = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\t7\tjava\n2\t1234567\tjava\n")
    for mode in ("own", "group"):
        people("search", "--topics", topics, "--run", path, "--mode", mode, code=2)
        assert "topic 2, line 2: " in people.talk
        assert "1234567" not in people.talk
        assert not path.exists()
    people("search", "--topics", topics, "--run", path, "--user", "7", code=2)
    assert "names the users; remove --user" in people.talk


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name what to search for: either a QUERY or --topics"),
        (["java", "--topics", "t"], "either a QUERY or --topics"),
        (["java", "--index", ""], "--index is empty; name one or remove it"),
        (["java", "--user", ""], "--user is empty; name one or remove it"),
        (["java", "--profiles", "p"], "--profiles is for a person's search; name the person"),
        (["java", "--release", "r"], "--release is for a person's search; name the person"),
        (
            ["--topics", "{topics}", "--run", "{run}", "--profiles", "p"],
            "--profiles is for a person's search; name the person",
        ),
        (["--topics", "t"], "--topics FILE and --run FILE go together"),
        (["java", "--run", "r"], "--topics FILE and --run FILE go together"),
        (["java", "--threads", "2"], "--threads is for --topics; remove it"),
        (["java", "--tag", "x"], "--tag is for --topics; remove it"),
        (["java", "--metadata"], "--metadata is for --topics; remove it"),
        (["--topics", "{topics}", "--run", "{run}", "--explain"], "--explain is for one QUERY"),
        (["--topics", "{topics}", "--run", "{run}", "--threads", "0"], "threads=0 must be from 1"),
        (["--topics", "{topics}", "--run", "{run}", "--pool", "0"], "pool=0 must be from 1"),
        (
            ["--topics", "{topics}", "--run", "{run}", "--tag", "a b"],
            "--tag 'a b' must be one word",
        ),
        (["--topics", "{topics}", "--run", "no/such/run"], "no/such/run can't be written"),
        (["--topics", "missing", "--run", "{run}"], "missing: the topics can't be read"),
        (["--topics", "{topics}", "--run", "{run}", "--mode", "own"], "mode own needs a person"),
    ],
)
def test_wrong_use_is_one_line(
    plain: Run, topics: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    run = tmp_path / "run.txt"
    filled = [each.format(topics=topics, run=run) for each in arguments]
    assert plain("search", *filled, code=2) == ""
    assert told in plain.talk
    assert plain.talk.count("\n") == 1
    assert not run.exists()
