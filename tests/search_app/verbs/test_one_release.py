"""One release of the same people: what `publish` refuses beside what was published before."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize, promise_of
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.publishing import read_published
from anonymizer.similarity.documents import Documents
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.profiles import fingerprint, read_profiles, write_profiles
from anonymizer.storage.releases import add_cohort, read_release
from anonymizer.terms.wordnet import WordNet
from search_app.forgetting.person import forget
from search_app.settings import Settings
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import ledger_path, note_made, read_ledger

from ..conftest import Run, serve_release

TERMS = ("cup", "java", "tea")
SAMPLE = Documents(csr_matrix(np.array([[0.6, 0.8, 0], [0, 0.6, 0.8], [1.0, 0, 0]])), TERMS)
PEOPLE = {
    f"person-{n}": dict.fromkeys((TERMS[n % 3], TERMS[(n + n // 3) % 3], f"x{n}"), 1.0)
    for n in range(12)
}


class World(Run):
    """One workspace in which releases of the same people become the current one in turn."""

    wordnet: WordNet
    file: Path  # which is published

    def write(
        self, method: str, key: bytes = b"", people: dict[str, dict[str, float]] = PEOPLE
    ) -> None:
        """Make a release the current one, next to its profiles."""
        profiles = Profiles.from_rows(people)
        serve_release(self.workspace, profiles, self._made(method, key, profiles))

    def admit(self, method: str, key: bytes, people: dict[str, dict[str, float]]) -> None:
        """Make a further cohort of `people`, next to those that are there."""
        place, profiles = self.workspace / "release", Profiles.from_rows(people)
        path = self.workspace / "profiles.jsonl"
        before = read_profiles(path)
        everybody = Profiles.from_rows({u: before.row(u) for u in before.users} | people)
        write_profiles(everybody, path)
        place.rename(old := place.with_name("earlier"))
        cohort = self._made(method, key, profiles)
        add_cohort(read_cohorts(old), place, cohort, seed=0, input_hash=fingerprint(everybody))
        shutil.rmtree(old)

    def _made(self, method: str, key: bytes, profiles: Profiles) -> Release:
        given = {
            "pooled": {"sample": SAMPLE, "key": key},
            "composition": {"sample": SAMPLE, "key": b"k" * 32},
            "p-linkability": {},
        }[method]
        parameters = {"p": 0.75} if method == "composition" else {"p": 0.4}
        parameters |= {"augment": "none"} if method == "p-linkability" else {"steps": 500}
        inputs = Inputs(profiles, wordnet=self.wordnet, **given)
        release = anonymize(method, inputs, parameters)
        return replace(release, facts=facts(profiles, release))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], wordnet: WordNet) -> World:
    world = World(tmp_path / "a workspace ☕", capsys)
    world.wordnet, world.file = wordnet, tmp_path / "f"
    world.write("pooled", b"k" * 32)
    return world


def published(run: World) -> int:
    return sum(each.event == "published" for each in read_ledger(Workspace(run.workspace)))


def refused(run: World, *more: str) -> str:
    """Return why nothing was published."""
    before = run.file.read_bytes()
    answer = json.loads(run("publish", "--json", "-o", run.file, *more, code=1))
    ((claim, line),) = [(f["claim"], f["line"]) for f in answer["findings"] if not f["holds"]]
    assert claim == "one release"
    assert run.file.read_bytes() == before
    assert "person-" not in line
    return str(line)


def test_what_pooled_made_verifies_and_is_published_twice(run: World) -> None:
    assert "release holds: 12 users in 4 rows" in run("verify")
    for _ in range(2):  # the same bytes tell nothing more
        run("publish", "-o", run.file)
    assert published(run) == 2
    assert "key.json" not in run.file.read_text()


@pytest.mark.parametrize("more", [(), ("--second",)])
def test_pooled_anew_with_a_fresh_key_is_refused(run: World, more: tuple[str, ...]) -> None:
    run("publish", "-o", run.file)
    run.write("pooled", b"l" * 32)
    assert "release holds" in run("verify")
    told = refused(run, *more)
    assert told.startswith("12 of these people stand in another row than in the release of ")
    assert "a promise holds for one release only; publish the rows of the earlier release" in told
    assert published(run) == 1


@pytest.mark.parametrize("method", ["composition", "p-linkability"])
def test_no_other_release_stands_beside_pooled(run: World, method: str) -> None:
    run("publish", "-o", run.file)
    run.write(method)
    assert "holds for one release only" in refused(run, "--second")
    for name in ("ledger.jsonl", "ledger.key"):
        (run.workspace / name).unlink()
    run("publish", "-o", run.file)
    run.write("pooled", b"k" * 32)
    assert "holds for one release only" in refused(run, "--second")


def test_a_second_p_linkability_release_must_be_wanted(run: World) -> None:
    run.write("p-linkability")
    run("publish", "-o", run.file)
    people = {user: dict(row, tea=2.0) for user, row in PEOPLE.items()}
    run.write("p-linkability", people=dict(reversed(people.items())))
    told = refused(run)
    assert told.endswith("publish the rows of the earlier release, or accept this with --second")
    run("publish", "-o", run.file, "--second")
    assert run.talk.startswith("accepted by --second: 12 of these people stand in another row")
    for _ in range(2):  # all its rows, and those of the first release, are known
        run("publish", "-o", run.file)
        run.write("p-linkability")
    run.write("p-linkability", people={u: {**r, "cup": 1.0} for u, r in PEOPLE.items()})
    assert refused(run).count("12 of these people stand in another row") == 2


@pytest.mark.parametrize("counts", [(12, 13), (13, 12)])
def test_one_person_more_or_less_is_refused_with_the_overlap_and_its_cost(
    run: World, tmp_path: Path, counts: tuple[int, int]
) -> None:
    """Attack 4: profiles --users N, pooled, publish; then the same with N + 1, or N - 1."""
    log = tmp_path / "log.tsv"
    queries = (
        f"{user}\t{term}\t2026-03-01 08:00:00\n"
        for user, row in {**PEOPLE, "person-late": {"tea": 1.0, "xlate": 1.0}}.items()
        for term in row
    )
    log.write_text("AnonID\tQuery\tQueryTime\n" + "".join(queries))
    members = []
    for count, key in zip(counts, (b"k" * 32, b"l" * 32), strict=True):
        made = run.workspace / f"{count}.jsonl"
        run("profiles", log, "--users", count, "--terms", "all", "--second", "-o", made)
        profiles = read_profiles(made)
        assert len(profiles.users) == count
        run.write("pooled", key, {user: profiles.row(user) for user in profiles.users})
        lines = (run.workspace / "release" / "private" / "members.jsonl").read_text().splitlines()
        members.append({each["user"]: each["row"] for each in map(json.loads, lines)})
        if len(members) == 1:
            run("publish", "-o", run.file)
    again = members[0].keys() & members[1].keys()
    both = Counter((members[0][user], members[1][user]) for user in again)
    alone = list(both.values()).count(1)
    for more in ((), ("--second",)):
        told = refused(run, *more)
        assert told.startswith("12 of these people stand in another row than in the release of ")
        assert f", {alone} of them alone in both rows together; of each person who shares" in told
        assert "a promise holds for one release only" in told
    assert 0 < alone < 12


def test_other_people_are_others(run: World) -> None:
    run("publish", "-o", run.file)
    others = {user.replace("person", "other"): row for user, row in PEOPLE.items()}
    run.write("pooled", b"l" * 32, people=others)
    run("publish", "-o", run.file)
    assert published(run) == 2


def test_sessions_are_their_people_s(run: World) -> None:
    run.write("p-linkability")
    run("publish", "-o", run.file)
    sessions = {f"{user}#{n}": row for n in (1, 2) for user, row in PEOPLE.items()}
    run.write("p-linkability", people=sessions)
    refused(run)


@pytest.mark.parametrize("people", [{}, {"people": "ab" * 32}])
@pytest.mark.parametrize(("method", "more"), [("p-linkability", ("--second",)), ("pooled", None)])
def test_releases_in_lines_of_earlier_versions_may_be_of_the_same_people(
    run: World, people: dict[str, str], method: str, more: tuple[str, ...] | None
) -> None:
    run.write(method, b"k" * 32)
    run("publish", "-o", run.file)
    path = ledger_path(Workspace(run.workspace))
    (line,) = map(json.loads, path.read_text().splitlines())
    old = {name: line[name] for name in line if name not in ("key", "stood", "chain")}
    path.write_text(json.dumps({**old, **people}) + "\n")
    path.with_name("ledger.key").unlink()  # there was none
    others = {f"other-{user}": {**row, "cup": 2.0} for user, row in PEOPLE.items()}
    run.write(method, b"l" * 32, people=others)
    told = refused(run)
    assert told.startswith("an earlier version noted the release of ")
    assert "without its people, who may be the same; if its rows are published again, they" in told
    if more is not None:
        run("publish", "-o", run.file, *more)
    else:
        assert "a promise holds for one release only" in refused(run, "--second")
        run.write(method, b"k" * 32)
        run("publish", "-o", run.file)  # now it is known who they are
        run.write(method, b"l" * 32, people=others)
        run("publish", "-o", run.file)


@pytest.mark.parametrize("method", ["pooled", "p-linkability"])
def test_a_cohort_of_new_people_may_follow_and_nobody_of_it_may_move(
    run: World, method: str
) -> None:
    run.write(method, b"k" * 32)
    run("publish", "-o", run.file)
    first = run.file.read_bytes().splitlines()[1:]
    later = {f"later-{n}": {**row, "cup": 1.0} for n, row in enumerate(PEOPLE.values())}
    run.admit(method, b"l" * 32, later)
    for _ in range(2):
        run("publish", "-o", run.file)
        assert run.file.read_bytes().splitlines()[1 : 1 + len(first)] == first
    run("forget", "--user", "person-3")
    run("publish", "-o", run.file)
    for people, told in (
        (later, "12 of these people stand"),
        ({"x": {"tea": 1.0}, **PEOPLE}, "12"),
    ):
        shutil.rmtree(run.workspace / "release")
        run.write(method, b"m" * 32, people=dict(list(people.items())[::-1]))
        assert refused(run).startswith(told)


@pytest.mark.parametrize("method", ["pooled", "p-linkability"])
def test_files_published_before_a_cohort_came_lose_the_row_and_get_no_new_one(
    run: World, method: str
) -> None:
    root = run.workspace
    run.write(method, b"k" * 32)
    run("publish", "-o", root / "f1")
    run.admit(method, b"l" * 32, {f"later-{n}": row for n, row in enumerate(PEOPLE.values())})
    run("publish", "-o", root / "f2")
    for user in ("person-3", "later-3"):
        mine = read_release(root / "release", promise_of).row_for(user).name.encode()
        names = [name for name in ("f1", "f2") if mine in (root / name).read_bytes()]
        before = {name: (root / name).read_bytes().splitlines() for name in names}
        answer = json.loads(run("forget", "--user", user, "--json"))
        copies = [(copy["path"], copy["successor"]) for copy in answer["published"]]
        assert copies == [(name, True) for name in names]
        # A file without a row that was withdrawn earlier is in no line of the ledger.
        assert None not in [copy["at"] for copy in answer["published"]]
        for name, (_, *rows) in before.items():
            assert (root / name).read_bytes().splitlines()[1:] == [r for r in rows if mine not in r]
            read_published(root / name)


def test_who_leaves_learns_of_a_file_that_was_published_elsewhere(run: World) -> None:
    run.write("p-linkability")
    run("publish", "-o", run.file)  # outside of the workspace
    line = read_ledger(Workspace(run.workspace))[-1]
    words = run("forget", "--user", "person-3")
    assert f"a file, SHA-256 of its rows {line.sha256}, published " in words
    assert "it is not in the workspace; take it down where it is" in words
    assert "can't be called back" in run.talk
    (other, *_) = read_release(run.workspace / "release", promise_of).users
    answer = json.loads(run("forget", "--user", other, "--json"))
    assert [(copy["path"], copy["at"]) for copy in answer["published"]] == [("", line.at)]


def test_a_damaged_published_file_keeps_nobody_from_leaving(run: World) -> None:
    root = run.workspace
    for name in ("f", "g"):
        run("publish", "-o", root / name)
        (root / name).write_bytes((root / name).read_bytes().replace(b'"method"', b'"methud"', 1))
    (root / "g").write_bytes((root / "g").read_bytes().replace(b"x3", b"y3"))
    run("publish", "-o", root / "h")
    (root / "h").write_bytes((root / "h").read_bytes().replace(b"published", b"publishee", 1))
    answer = json.loads(run("forget", "--user", "person-3", "--json", code=1))
    copies = [(copy["path"], copy["successor"]) for copy in answer["published"]]
    assert copies == [("f", False), ("h", False)]
    assert not (root / "f").exists()
    assert not (root / "h").exists()
    assert answer["left"] == ["g"]


def test_a_ledger_that_is_missing_is_noticed_by_its_key(run: World) -> None:
    for _ in range(2):
        run("publish", "-o", run.file)
    path = ledger_path(Workspace(run.workspace))
    for spoil in (lambda: path.write_bytes(b""), path.unlink):
        spoil()
        told = run.refused("publish", "-o", run.file)
        assert "ledger.jsonl, line 1: damaged (it is missing); restore the file from a copy" in told
    note_made(Workspace(run.workspace), run.workspace / "release")
    assert "line 2: damaged (it is missing)" in run.refused("publish", "-o", run.file)


def test_workspaces_that_share_a_ledger_know_of_each_other(run: World, tmp_path: Path) -> None:
    other = Run(tmp_path / "other", run.capsys)
    shutil.copytree(run.workspace, other.workspace)
    shared = tmp_path / "shared.jsonl"
    for one, file in ((run, "f1"), (run, "f2"), (other, "f3")):  # the same rows may go out again
        one("publish", "-o", tmp_path / file, "--ledger", shared)
        assert (f"new ledger {shared} made" in one.talk) == (file == "f1")
    assert [path.name for path in sorted(tmp_path.glob("shared*"))] == [
        "shared.jsonl", "shared.jsonl.key"
    ]  # fmt: skip
    assert shared.with_name("shared.jsonl.key").stat().st_mode & 0o777 == 0o600
    third = World(tmp_path / "third", run.capsys)
    third.wordnet, third.file = run.wordnet, tmp_path / "f4"
    third.write("p-linkability")
    words = ("publish", "--json", "-o", third.file, "--ledger", shared)
    answer = json.loads(third(*words, "--second", code=1))
    (breach,) = (finding for finding in answer["findings"] if not finding["holds"])
    assert breach["where"] == "shared.jsonl"
    assert breach["line"].startswith("12 of these people stand in another row")
    assert published(third) == 0
    third("publish", "-o", third.file)  # without it, nobody knows
    own = ledger_path(Workspace(run.workspace))
    run("publish", "-o", run.file, "--ledger", own)
    assert published(run) == 3
    assert published(other) == 1


def test_what_is_no_ledger_is_refused(run: World, tmp_path: Path) -> None:
    for bad, why in (
        (run.workspace / "profiles.jsonl", "profiles.jsonl, line 1: damaged"),
        (tmp_path / "none" / "f", "can't be written (No such file or directory)"),
        (tmp_path, "can't be written (Is a directory)"),
        (run.file, "is the file to publish; name another one"),
    ):
        assert why in run.refused("publish", "-o", run.file, "--ledger", bad)
        assert not run.file.exists()
    assert published(run) == 0


def test_a_person_who_comes_back_after_being_forgotten_is_new_but_for_this(run: World) -> None:
    """Their keyed hash stays in the ledger, so nobody gets into a second row that way."""
    run.write("p-linkability")
    run("publish", "-o", run.file)
    run("forget", "--user", "person-3")
    people = {"person-3": PEOPLE["person-3"], **{f"new-{n}": PEOPLE[f"person-{n}"] for n in "012"}}
    shutil.rmtree(run.workspace / "release")
    run.write("p-linkability", people=people)
    assert refused(run).startswith("1 of these people stands in another row than in the release")


@pytest.mark.parametrize("method", ["composition", "pooled", "p-linkability"])
def test_after_somebody_left_the_same_rows_may_be_published_and_no_others(
    run: World, method: str
) -> None:
    """Two releases compared tell who changed sides; a release without a row tells that row."""
    root = run.workspace
    run.write(method, b"k" * 32)
    for out in (root / "f", run.file):
        run("publish", "-o", out)
    first = run.file.read_bytes().splitlines()
    assert "published: f, SHA-256 of its rows" in run("forget", "--user", "person-3")
    left = (root / "f").read_bytes().splitlines()
    assert {*left[1:]} < {*first[1:]}
    assert "release holds" in run("verify", "--since", run.file)
    run("publish", "-o", run.file)
    assert run.file.read_bytes().splitlines() == left
    fewer = {user: row for user, row in PEOPLE.items() if user != "person-3"}
    shutil.rmtree(root / "release")
    run.write(method, b"k" * 32, people={u: {**r, "cup": 1.0} for u, r in fewer.items()})
    refused(run)


def test_a_removed_term_changes_no_published_file(run: World) -> None:
    root = run.workspace
    run("publish", "-o", root / "f")
    before = (root / "f").read_bytes()
    run("forget", "--user", "person-3", "--term", "x3")
    assert "to withdraw the row: veilsearch forget --user U --leave" in run.talk
    assert "Take the person out" not in run.talk
    assert (root / "f").read_bytes() == before
    run("publish", "-o", root / "f")
    first, *rows = (root / "f").read_bytes().splitlines()
    assert rows == before.splitlines()[1:]
    # Nobody can recount the others any more.
    assert [*json.loads(first)["facts"]] == [
        "groups", "largest_group", "mean_group", "single_person_rows", "smallest_group", "users"
    ]  # fmt: skip


def test_who_leaves_the_group_is_asked_for_no_term(run: World) -> None:
    told = run.refused("forget", "--user", "person-3", "--leave", "--term", "x3")
    assert "--leave keeps the profile" in told
    answer = json.loads(run("forget", "--user", "person-3", "--leave", "--json"))
    assert (answer["rows_withdrawn"], answer["published"]) == (1, [])
    told = run.refused("forget", "--user", "person-3", "--leave")
    assert "this person has no row (any more), so nothing was changed" in told
    assert "nobody with this id has a row" in run.refused("forget", "--user", "nobody", "--leave")
    run("forget", "--user", "person-3", "--term", "x3")
    assert "This person has no row (any more)." in run.talk
    assert "share of it" not in run.talk
    run("forget", "--user", "person-4", "--leave")
    assert "Take the person out" not in run.talk


@pytest.mark.parametrize("more", [1, 2])
def test_who_is_left_over_is_published_without_a_trace(run: World, more: int) -> None:
    """One row more is published for them, which holds what all members have, and nothing else."""
    others = {f"person-{12 + n}": {"tea": 1.0, f"x{12 + n}": 1.0} for n in range(more)}
    run.write("pooled", b"k" * 32, people={**PEOPLE, **others})
    text = run("verify")
    assert "nothing published is made of the unassigned users' profiles" in text
    run("publish", "-o", run.file)
    found = read_published(run.file)
    assert found.sizes.tolist() == [3] * 4 + [more]
    release = read_release(run.workspace / "release", promise_of)
    left = [user for user in release.users if release.row_for(user).name == "g0005"]
    own = {f"x{user.removeprefix('person-')}" for user in left}
    assert len(left) == more
    assert not own & {*found.rows.terms}
    groups, spare = found.rows.weights[:4].toarray(), found.rows.weights[4].toarray()
    assert spare.ravel() == pytest.approx(groups.mean(axis=0))


def test_a_full_group_of_one_person_s_sessions_is_no_spare_row(run: World) -> None:
    """Whichever row it has; what is smaller than the others is told by users, not by people."""
    sessions = {f"a#{n}": {"tea": 1.0, "x1": 1.0} for n in (1, 2, 3)}
    others = {f"{name}#1": {"cup": 1.0, f"x{name}": 1.0} for name in "bcdefghij"}
    for key in (b"k" * 32, b"l" * 32, b"m" * 32):
        run.write("pooled", key, people={**sessions, **others})
        release = read_release(run.workspace / "release", promise_of)
        mine = {release.row_for(user).name for user in sessions}
        assert len(mine) == 1
        text = run("publish", "-o", run.file, code=1)
        assert "1 row stands for one person, so it is a profile" in text
        assert "take a smaller p" in text


# --- ways round ---


def test_nothing_is_published_while_somebody_is_forgotten(run: World) -> None:
    """It would be in the ledger after it was asked what had been published of all."""
    with Workspace(run.workspace).writing("forget"):
        told = run.refused("publish", "-o", run.file)
    assert "is being written to by veilsearch forget" in told
    assert not run.file.exists()


def test_published_files_are_in_folders_too(run: World) -> None:
    root = run.workspace
    run.write("p-linkability")
    (root / "public").mkdir()
    run("publish", "-o", root / "public" / "one")
    done = forget(Workspace(root), Settings(workspace=root), {"person-3"})
    assert "public/one" in done.changed
    assert b"x3" not in (root / "public" / "one").read_bytes()


@pytest.mark.parametrize("way", ["--leave", None])
def test_a_damaged_ledger_keeps_nobody_from_leaving(run: World, way: str | None) -> None:
    root = run.workspace
    run("publish", "-o", root / "f")
    path = ledger_path(Workspace(root))
    path.write_text("junk\n" + path.read_text())
    more = () if way is None else (way,)
    answer = json.loads(run("forget", "--user", "person-3", "--json", *more))
    assert answer["rows_withdrawn"] == 1
    (fault,) = answer["damaged"]
    assert "ledger.jsonl, line 1: damaged" in fault
    assert "restore the file from a copy" in fault
    path.unlink()
    path.mkdir()  # not to be written at all
    run("forget", "--user", "person-4", *more)
    assert "The ledger could not be used: " in run.talk
    assert "person-4" not in (root / "release" / "private" / "members.jsonl").read_text()
