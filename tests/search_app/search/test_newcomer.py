"""A person in no release: search by the closest published row, chosen where the profile is."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Profiles, Release, ReleasedRow
from anonymizer.promise import Promise
from anonymizer.storage.releases import write_release
from index.model import Pool
from search_app.evaluation.log import PrecisionLog
from search_app.search.engine import Engine, Ranking
from search_app.workspace.folder import Workspace

from ..conftest import Run, call, jsonl

DOCUMENTS = [
    {"id": "d1", "title": "Java, the language", "text": "Java is a programming language. Java!"},
    {"id": "d2", "title": "Java, the island", "text": "Java is an island with volcanoes. Java!"},
    {"id": "d3", "title": "Coffee", "text": "Java is a coffee. Brew mocha from a bean in a cup."},
]
# At p = 0.65 a group needs 3.25 / 0.65 = 5 terms: cat and dan are g0001, bob and ann g0002.
PEOPLE = {
    "ann": ("coffee", "mocha"),
    "bob": ("programming", "language", "java"),
    "cat": ("coffee", "mocha", "bean", "roast"),
    "dan": ("coffee", "mocha", "bean", "cup"),
}
G0001 = math.sqrt(3 * 1**2 + 2 * 0.5**2)  # its length: coffee, mocha, bean 1, cup and roast 1/2
G0002 = math.sqrt(5 * 0.5**2)


def line(user: str, *terms: str) -> str:
    return json.dumps({"user": user, "terms": dict.fromkeys(terms, 1.0)}) + "\n"


def write(path: Path, *terms: str) -> Path:
    path.write_text(line("zoe-needle", *terms))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make once what the tests only read: an index alone, and one with a release of four."""
    folder = tmp_path_factory.mktemp("made")
    profiles = folder / "people.jsonl"
    profiles.write_text("".join(line(user, *terms) for user, terms in PEOPLE.items()))
    call(folder / "bare", "index", jsonl(folder / "corpus.jsonl", DOCUMENTS))
    shutil.copytree(folder / "bare", folder / "people")
    choices = ("p=0.65", "augment=none", "first_seed=cat")
    sets = [word for choice in choices for word in ("--set", choice)]
    call(folder / "people", "anonymize", profiles, "-m", "p-linkability", *sets)
    release, public = folder / "people" / "release", folder / "public.jsonl"
    call(folder / "people", "publish", release, "-o", public, "--against", profiles)
    return folder


@pytest.fixture
def bare(made: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a workspace with nothing but an index."""
    return Run(made / "bare", capsys)


@pytest.fixture
def people(made: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a workspace with a release of four people."""
    return Run(made / "people", capsys)


@pytest.fixture
def of_my_own(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a copy of it, to be changed."""
    shutil.copytree(made / "people", tmp_path / "workspace")
    return Run(tmp_path / "workspace", capsys)


@pytest.fixture
def zoe(tmp_path: Path) -> Path:
    return write(tmp_path / "zoe.jsonl", "coffee", "bean", "zither", "cup")


@pytest.fixture
def published(made: Path, tmp_path: Path) -> Path:
    """Return the release's public part as one file, as it is sent to anybody."""
    return Path(shutil.copy(made / "public.jsonl", tmp_path))


def ids(answer: Any) -> list[str]:
    return [hit["id"] for hit in answer["hits"]]


def test_a_newcomer_is_served_by_the_closest_row(people: Run, zoe: Path) -> None:
    answer = people.json("search", "java", "--newcomer", zoe)
    assert (answer["mode"], answer["row"], answer["user"]) == ("group", "g0001", None)
    by_row = people.json("search", "java", "--user", "cat", "--mode", "group")
    assert ids(answer) == ids(by_row) == ["d3", "d1", "d2"]
    assert [hit["score"] for hit in answer["hits"]] == [hit["score"] for hit in by_row["hits"]]
    assert "choice" not in by_row


def test_no_newcomer_is_served_by_the_mean_of_all_groups(people: Run, tmp_path: Path) -> None:
    rows = {"g0001": {"coffee": 1.0}, "g0002": {"java": 1.0, "language": 1.0}}
    rows["g0003"] = {"coffee": 0.5, "java": 0.5, "language": 0.5}  # serves one person
    release = Release(
        Profiles.from_rows(rows),
        ("ann", "bob", "cat", "dan", "eve"),
        np.array([0, 0, 1, 1, 2]),
        "pooled",
        {"p": 0.5},
        key=bytes(32),
        promise=Promise("group", "belief", once=True, hides_members=True),
    )
    write_release(release, tmp_path / "r", seed=0, input_hash="")
    both = write(tmp_path / "both.jsonl", "coffee", "java", "language")
    answer = people.json("search", "java", "--newcomer", both, "--release", tmp_path / "r")
    assert (answer["choice"]["row"], answer["choice"]["users"]) == ("g0002", 2)
    assert answer["choice"]["rows"] == 2


def test_the_engine_gets_the_row_alone(
    people: Run, zoe: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_row, given = Engine.by_row, []

    def seen(engine: Engine, pool: Pool, row: ReleasedRow, *rule: Any) -> Ranking:
        given.append({"row": row.name, "users": row.users, "terms": row.weights})
        return by_row(engine, pool, row, *rule)

    monkeypatch.setattr(Engine, "by_row", seen)
    people("search", "java", "--newcomer", zoe)
    assert given == [json.loads(published.read_text().splitlines()[1])]


def test_the_choice_is_told_in_full(people: Run, zoe: Path) -> None:
    choice = people.json("search", "java", "--newcomer", zoe)["choice"]
    assert (choice["row"], choice["users"], choice["rows"]) == ("g0001", 2, 2)
    assert (choice["terms"], choice["unknown"], choice["notice"]) == (4, 1, None)
    length = 2 * G0001  # zoe's four terms have length 2
    assert choice["cosine"] == round((1 + 1 + 0.5) / length, 12)
    assert choice["runner_up"] == round(0.5 / (2 * G0002), 12)
    told = [(each["term"], each["share"]) for each in choice["contributions"]]
    assert [term for term, _ in told] == ["bean", "coffee", "cup"]
    assert [share for _, share in told] == pytest.approx([1 / length, 1 / length, 0.5 / length])


def test_the_choice_is_told_in_words(people: Run, zoe: Path) -> None:
    lines = people("search", "java", "--newcomer", zoe).splitlines()
    assert lines[0].startswith("by row g0001, shared by 2 people; AP ")
    assert lines[1] == (  # (1 + 1 + 0.5) / (2 * sqrt(3.5)) and 0.5 / (2 * sqrt(1.25))
        "closest of 2 to your profile (cosine 0.668, next 0.224): bean 0.267, coffee 0.267, "
        "cup 0.134; 1 of your 4 terms is in no row; nothing of it left this machine"
    )
    assert people.talk == ""


def test_only_the_largest_contributions_are_told_in_words(people: Run, tmp_path: Path) -> None:
    terms = ("coffee", "mocha", "bean", "roast", "cup", "java", "island", "tea")
    told = people("search", "java", "--newcomer", write(tmp_path / "n.jsonl", *terms))
    # 3 terms at 1 / sqrt(3.5 * 8), 2 at half of it; java is not in the row
    assert "bean 0.189, coffee 0.189, mocha 0.189, cup 0.094, roast 0.094; 2 of" in told
    terms = ("coffee", "mocha", "programming", "language", "java", "cup")
    found = people.json("search", "java", "--newcomer", write(tmp_path / "n.jsonl", *terms))
    assert found["choice"]["row"] == "g0002"
    assert found["choice"]["unknown"] == 0


def test_the_own_profile_is_the_gold_standard(people: Run, zoe: Path) -> None:
    own = people.json("search", "java", "--newcomer", zoe, "--mode", "own")
    assert own["precision"]["ap"] == 1.0
    assert ids(own)[0] == "d3"
    assert "choice" not in own
    plain = people.json("search", "java", "--newcomer", zoe, "--mode", "none")
    assert ids(plain) == ids(people.json("search", "java"))
    assert plain["precision"]["pool"] == 3
    assert people("search", "java", "--newcomer", zoe, "--mode", "own").startswith("by the own")


def test_a_published_file_and_an_index_are_enough(
    people: Run, bare: Run, published: Path, zoe: Path
) -> None:
    found = bare.json("search", "java", "--newcomer", zoe, "--release", published)
    here = people.json("search", "java", "--newcomer", zoe)
    assert {**found, "milliseconds": 0} == {**here, "milliseconds": 0}
    assert not list(bare.workspace.rglob("*release*"))


def test_no_profiles_but_the_newcomers_are_read(of_my_own: Run, zoe: Path, tmp_path: Path) -> None:
    others = tmp_path / "others.jsonl"
    others.write_text(line("cat", "tea"))
    Workspace(of_my_own.workspace).make_current(profiles=str(others))
    of_my_own.refused("search", "java", "--user", "cat", "--mode", "group")
    assert "was made from other profiles" in of_my_own.talk
    assert of_my_own.json("search", "java", "--newcomer", zoe)["row"] == "g0001"


def test_a_member_may_land_in_anothers_row(people: Run, tmp_path: Path) -> None:
    """Ann was grouped with bob, the last two left; cat's and dan's row is closer to her."""
    assert people.json("search", "java", "--user", "ann", "--mode", "group")["row"] == "g0002"
    ann = write(tmp_path / "ann.jsonl", *PEOPLE["ann"])
    choice = people.json("search", "java", "--newcomer", ann)["choice"]
    assert choice["row"] == "g0001"
    assert choice["cosine"] == round((1 + 1) / (math.sqrt(2) * G0001), 12)  # 0.756
    assert choice["runner_up"] == round((0.5 + 0.5) / (math.sqrt(2) * G0002), 12)  # 0.632
    for user, row in {"bob": "g0002", "cat": "g0001", "dan": "g0001"}.items():
        own = write(tmp_path / "own.jsonl", *PEOPLE[user])
        assert people.json("search", "java", "--newcomer", own)["row"] == row


def test_a_person_without_a_term_in_common_gets_the_plain_order_and_is_told(
    people: Run, tmp_path: Path
) -> None:
    stranger = write(tmp_path / "stranger.jsonl", "volcano", "zither")
    notice = (
        "none of the 2 rows shares a term with your profile: this is the plain order, and "
        "nobody's profile was used for it"
    )
    for mode in ((), ("--mode", "group")):
        answer = people.json("search", "java", "--newcomer", stranger, *mode)
        assert people.talk == f"{notice}\n"
        assert (answer["mode"], answer["row"]) == ("none", None)
        assert answer["choice"]["notice"] == notice
        assert (answer["choice"]["row"], answer["choice"]["unknown"]) == (None, 2)
        assert ids(answer) == ids(people.json("search", "java"))
    assert people("search", "java", "--newcomer", stranger).startswith("plain BM25 order; AP ")
    people("search", "java", "--newcomer", stranger, "--mode", "own")
    assert people.talk == ""


def test_without_a_release_a_newcomer_has_the_own_profile(bare: Run, zoe: Path) -> None:
    answer = bare.json("search", "java", "--newcomer", zoe)
    assert (answer["mode"], answer["row"]) == ("own", None)
    assert ids(answer)[0] == "d3"
    bare.refused("search", "java", "--newcomer", zoe, "--mode", "group")
    assert "no release here; make one with" in bare.talk


def test_nothing_of_a_newcomer_is_stored(of_my_own: Run, zoe: Path, tmp_path: Path) -> None:
    people = of_my_own
    PrecisionLog(people.workspace / "precision.sqlite").close()
    before = content(people.workspace)
    topics, run = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\tjava\n")
    for mode in ("group", "own", "none"):
        people("search", "java", "--newcomer", zoe, "--mode", mode)
        people("search", "--topics", topics, "--run", run, "--newcomer", zoe, "--mode", mode)
        people("search", "java", "--newcomer", zoe, "--mode", mode, "--json")
    after = content(people.workspace)
    # What the index's files looked like when they were read may be new; what is in it is not.
    seen = {name for name in after if name.endswith(".checked.json")}
    assert {**after, **dict.fromkeys(seen)} == {**before, **dict.fromkeys(seen)}
    assert any(name.endswith("precision.sqlite") for name in after)
    stored = [*after.values(), run.read_bytes()]
    for needle in (b"zither", b"zoe-needle", b"newcomer"):
        assert not any(needle in each for each in stored)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_newcomer_asks_many_topics(people: Run, zoe: Path, tmp_path: Path) -> None:
    topics, run = tmp_path / "topics.tsv", tmp_path / "run.txt"
    topics.write_text("1\tjava\n2\tisland\n")
    asked = ("search", "--topics", topics, "--run", run, "--newcomer")
    told = people(*asked, zoe).splitlines()
    assert told[0].startswith("2 topics, 4 rows in ")
    assert told[1].startswith("by row g0001, shared by 2 people, closest of 2 to your profile (")
    alone = ids(people.json("search", "java", "--newcomer", zoe))
    assert [row.split()[2] for row in run.read_text().splitlines()] == [*alone, "d2"]
    assert people.json(*asked, zoe)["choice"]["row"] == "g0001"
    assert "choice" not in people.json(*asked, zoe, "--mode", "own")
    stranger = write(tmp_path / "stranger.jsonl", "zither")
    assert people.json(*asked, stranger)["choice"]["row"] is None
    assert people.talk.startswith("none of the 2 rows shares a term with your profile")
    topics.write_text("1\tann\tjava\n")
    people.refused(*asked, zoe)
    assert "names the users; remove --newcomer" in people.talk


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"user": "z", "terms": {"tea": 0}}', "line 1: a weight is not above 0 and finite"),
        ("", "there is no line"),
        (line("z", "tea") + line("y", "tea"), "2 profiles where a newcomer has one; put the line"),
    ],
)
def test_a_broken_profile_is_one_line(people: Run, tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "me.jsonl"
    path.write_text(text)
    for mode in ("group", "own", "none"):
        people.refused("search", "java", "--newcomer", path, "--mode", mode)
        assert f"{path}" in people.talk
        assert told in people.talk


def test_a_published_file_that_was_changed_is_refused(
    bare: Run, published: Path, zoe: Path, tmp_path: Path
) -> None:
    def refused(path: Path) -> str:
        return bare.refused("search", "java", "--newcomer", zoe, "--release", path)

    published.write_bytes(published.read_bytes().replace(b"mocha", b"mocho"))
    assert f"{published}: changed since it was published" in refused(published)
    published.write_bytes(b"tea\n")
    assert str(published) in refused(published)
    assert "No such file or directory" in refused(tmp_path / "none")


def test_a_published_file_says_nobodys_row(people: Run, published: Path) -> None:
    people.refused("search", "java", "--user", "cat", "--release", published)
    assert "does not say who has which row; name your profile with --newcomer" in people.talk


def test_a_run_never_overwrites_a_newcomers_files(
    people: Run, zoe: Path, published: Path, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.tsv"
    topics.write_text("1\tjava\n")
    asked = ("search", "--topics", topics, "--newcomer", zoe, "--release", published, "--run")
    for path, name in ((zoe, "newcomer"), (published, "release")):
        before = path.read_bytes()
        people.refused(*asked, path)
        assert f"--run {path} is the file of --{name}" in people.talk
        assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["user", "profiles"])
def test_a_newcomer_is_nobody_else(people: Run, zoe: Path, name: str) -> None:
    people.refused("search", "java", "--newcomer", zoe, f"--{name}", "cat")
    assert f"--newcomer and --{name} name different people; remove one of them" in people.talk
