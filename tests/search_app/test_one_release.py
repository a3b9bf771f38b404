"""One release of the same people: what `publish` refuses beside what was published before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.measures.release_facts import facts
from anonymizer.methods import anonymize
from anonymizer.model import BadInput, Profiles
from anonymizer.profile_file import fingerprint, write_profiles
from anonymizer.publication import read_published
from anonymizer.records import as_json
from anonymizer.release import read_release, write_release
from anonymizer.similarity import Documents
from anonymizer.wordnet import WordNet
from search_app.forgetting import forget
from search_app.ledger import ledger_path, read_ledger
from search_app.settings import Settings
from search_app.workspace import Workspace

from .conftest import Run

TERMS = ("cup", "java", "tea")
SAMPLE = Documents(csr_matrix(np.array([[0.6, 0.8, 0], [0, 0.6, 0.8], [1.0, 0, 0]])), TERMS)
PEOPLE = {
    f"person-{n}": dict.fromkeys((TERMS[n % 3], TERMS[(n + n // 3) % 3], f"x{n}"), 1.0)
    for n in range(12)
}


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], wordnet: WordNet) -> Run:
    made = Run(tmp_path / "w", capsys)
    made.workspace.mkdir()
    write(made, wordnet, "pooled", b"k" * 32)
    return made


def write(
    run: Run,
    wordnet: WordNet,
    method: str,
    key: bytes = b"",
    people: dict[str, dict[str, float]] = PEOPLE,
) -> None:
    """Make a release the current one, beside its profiles."""
    profiles = Profiles.from_rows(people)
    given = {
        "pooled": {"sample": SAMPLE, "key": key},
        "composition": {"sample": SAMPLE, "key": b"k" * 32},
        "p-linkability": {},
    }[method]
    parameters = {"p": 0.75} if method == "composition" else {"p": 0.4}
    parameters |= {"augment": "none"} if method == "p-linkability" else {"steps": 500}
    release = anonymize(method, profiles, parameters, wordnet=wordnet, **given)
    release = replace(release, facts=facts(profiles, release))
    folder = run.workspace
    write_profiles(profiles, folder / "profiles.jsonl")
    write_release(release, folder / "release", seed=0, input_hash=fingerprint(profiles))
    Workspace(folder).make_current(profiles="profiles.jsonl", release="release")


def published(run: Run) -> int:
    return sum(each.event == "published" for each in read_ledger(Workspace(run.workspace)))


def refused(run: Run, tmp_path: Path, *more: str) -> str:
    """Return why nothing was published."""
    before = (tmp_path / "f").read_bytes()
    answer = json.loads(run("publish", "--json", "-o", tmp_path / "f", *more, code=1))
    ((claim, line),) = [(f["claim"], f["line"]) for f in answer["findings"] if not f["holds"]]
    assert claim == "one release"
    assert (tmp_path / "f").read_bytes() == before
    assert "person-" not in line
    return str(line)


def test_what_pooled_made_verifies_and_is_published_twice(run: Run, tmp_path: Path) -> None:
    assert "release holds: 12 users in 4 rows" in run("verify")
    for _ in range(2):  # the same bytes tell nothing more
        run("publish", "-o", tmp_path / "f")
    assert published(run) == 2
    assert "key.json" not in (tmp_path / "f").read_text()


@pytest.mark.parametrize("more", [(), ("--second",)])
def test_pooled_anew_with_a_fresh_key_is_refused(
    run: Run, tmp_path: Path, wordnet: WordNet, more: tuple[str, ...]
) -> None:
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, "pooled", b"l" * 32)
    assert "release holds" in run("verify")
    told = refused(run, tmp_path, *more)
    assert "another release of these people was published; two tell more than either" in told
    assert "promised of one alone: publish that one again, or, if nobody ever got it" in told
    assert published(run) == 1


def test_where_nobody_got_it_the_ledger_s_line_may_go(
    run: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, "pooled", b"l" * 32)
    refused(run, tmp_path)
    ledger_path(Workspace(run.workspace)).write_text("")
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, "pooled", b"k" * 32)  # the first one is now the second
    refused(run, tmp_path)


@pytest.mark.parametrize("method", ["composition", "p-linkability"])
def test_no_other_release_stands_beside_pooled(
    run: Run, tmp_path: Path, wordnet: WordNet, method: str
) -> None:
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, method)
    assert "promised of one alone" in refused(run, tmp_path, "--second")
    ledger_path(Workspace(run.workspace)).write_text("")
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, "pooled", b"k" * 32)
    assert "promised of one alone" in refused(run, tmp_path, "--second")


def test_a_second_p_linkability_release_must_be_wanted(
    run: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    write(run, wordnet, "p-linkability")
    run("publish", "-o", tmp_path / "f")
    people = {user: dict(row, tea=2.0) for user, row in PEOPLE.items()}
    write(run, wordnet, "p-linkability", people=dict(reversed(people.items())))
    told = refused(run, tmp_path)
    assert told.endswith("publish that one again, or take --second upon yourself")
    run("publish", "-o", tmp_path / "f", "--second")
    run("publish", "-o", tmp_path / "f")  # it is the last one now
    write(run, wordnet, "p-linkability")
    assert "2 other releases" not in refused(run, tmp_path)
    write(run, wordnet, "p-linkability", people={u: {**r, "cup": 1.0} for u, r in PEOPLE.items()})
    assert "2 other releases of these people were published" in refused(run, tmp_path)


def test_other_people_are_others(run: Run, tmp_path: Path, wordnet: WordNet) -> None:
    run("publish", "-o", tmp_path / "f")
    others = {user.replace("person", "other"): row for user, row in PEOPLE.items()}
    write(run, wordnet, "pooled", b"l" * 32, people=others)
    run("publish", "-o", tmp_path / "f")
    assert published(run) == 2


def test_sessions_are_their_people_s(run: Run, tmp_path: Path, wordnet: WordNet) -> None:
    write(run, wordnet, "p-linkability")
    run("publish", "-o", tmp_path / "f")
    sessions = {f"{user}#{n}": row for n in (1, 2) for user, row in PEOPLE.items()}
    write(run, wordnet, "p-linkability", people=sessions)
    refused(run, tmp_path)


def test_the_ledger_names_nobody_and_old_lines_count_for_nobody(
    run: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    run("publish", "-o", tmp_path / "f")
    path = ledger_path(Workspace(run.workspace))
    assert "person-" not in path.read_text()
    (line,) = map(json.loads, path.read_text().splitlines())
    assert len(line.pop("people")) == 64
    path.write_text(json.dumps(line) + "\n")  # as it was written before
    write(run, wordnet, "pooled", b"l" * 32)
    run("publish", "-o", tmp_path / "f")
    assert published(run) == 2


@pytest.fixture
def forgetful(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a workspace in which releases are made anew without an index."""
    monkeypatch.setattr("search_app.verbs.anonymize._forward", lambda _settings: None)
    monkeypatch.setattr("search_app.releasing.sample_documents", lambda *_: SAMPLE)
    return run


@pytest.mark.parametrize("terms", [None, ("x3",)])
@pytest.mark.parametrize("method", ["composition", "pooled"])
def test_forgetting_publishes_no_second_release(
    forgetful: Run,
    tmp_path: Path,
    wordnet: WordNet,
    method: str,
    terms: tuple[str, ...] | None,
) -> None:
    """Whoever held both against each other could tell what is gone, and who changed sides."""
    run, root = forgetful, forgetful.workspace
    write(run, wordnet, method, b"k" * 32)
    run("publish", "-o", root / "f")
    run("publish", "-o", tmp_path / "f")
    key = read_release(root / "release").key
    done = forget(Workspace(root), Settings(workspace=root), "person-3", terms)
    assert done.release_made
    assert (done.withdrawn, done.removed) == (("f",), ("f",))
    assert "release holds" in run("verify")
    assert read_release(root / "release").key == key  # with another one others would be left over
    assert b"x3" not in (root / "release" / "rows.jsonl").read_bytes()
    assert "promised of one alone" in refused(run, tmp_path, "--second")
    done = forget(Workspace(root), Settings(workspace=root), "person-4", terms and ("x4",))
    assert done.withdrawn == ()
    assert "promised of one alone" in refused(run, tmp_path, "--second")
    assert published(run) == 2


def test_of_who_is_forgotten_nothing_is_published_again(forgetful: Run) -> None:
    """Of 11 users 2 are left over."""
    run, root = forgetful, forgetful.workspace
    run("publish", "-o", root / "f")
    run("forget", "--user", "person-3")
    assert "Not published anew: f, for composition and pooled promise nothing" in run.talk
    assert read_release(root / "release").grouping.sizes.tolist() == [3, 3, 3, 2]
    assert b"x3" not in b"".join(path.read_bytes() for path in root.rglob("*.*"))


def test_p_linkability_is_published_anew_and_that_one_only(
    forgetful: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    run, root = forgetful, forgetful.workspace
    write(run, wordnet, "p-linkability")
    for out in (root / "f", tmp_path / "f"):
        run("publish", "-o", out)
    first = (root / "f").read_bytes()
    done = forget(Workspace(root), Settings(workspace=root), "person-3")
    assert done.withdrawn == ()
    assert b"x3" in first
    assert b"x3" not in (root / "f").read_bytes()
    assert [each.event for each in read_ledger(Workspace(root))][-3:] == [
        "outlived",
        "made",
        "published",
    ]
    run("publish", "-o", tmp_path / "f")  # what was published last may be published again
    fewer = {user: row for user, row in PEOPLE.items() if user != "person-3"}
    write(run, wordnet, "p-linkability", people={u: {**r, "cup": 1.0} for u, r in fewer.items()})
    assert "2 other releases of these people were published" in refused(run, tmp_path)
    write(run, wordnet, "p-linkability", people={u: fewer[u] for u in [*fewer][1:]})
    run("publish", "-o", tmp_path / "f")  # by hand a person less: nobody sees that


@pytest.mark.parametrize("more", [1, 2])
def test_who_is_left_over_is_published_without_a_trace(
    run: Run, tmp_path: Path, wordnet: WordNet, more: int
) -> None:
    """One row more is published for them, which holds what all members have, and nothing else."""
    others = {f"person-{12 + n}": {"tea": 1.0, f"x{12 + n}": 1.0} for n in range(more)}
    write(run, wordnet, "pooled", b"k" * 32, people={**PEOPLE, **others})
    text = run("verify")
    assert "nothing published is made of the profiles left over" in text
    run("publish", "-o", tmp_path / "f")
    found = read_published(tmp_path / "f")
    assert found.sizes.tolist() == [3] * 4 + [more]
    release = read_release(run.workspace / "release")
    left = [user for user in release.users if release.row_for(user).name == "g0005"]
    own = {f"x{user.removeprefix('person-')}" for user in left}
    assert len(left) == more
    assert not own & {*found.rows.terms}
    groups, spare = found.rows.weights[:4].toarray(), found.rows.weights[4].toarray()
    assert spare.ravel() == pytest.approx(groups.mean(axis=0))


def test_a_full_group_of_one_person_s_sessions_is_no_spare_row(
    run: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    """Whichever row it has; what is smaller than the others is told by users, not by people."""
    sessions = {f"a#{n}": {"tea": 1.0, "x1": 1.0} for n in (1, 2, 3)}
    others = {f"{name}#1": {"cup": 1.0, f"x{name}": 1.0} for name in "bcdefghij"}
    for key in (b"k" * 32, b"l" * 32, b"m" * 32):
        write(run, wordnet, "pooled", key, people={**sessions, **others})
        release = read_release(run.workspace / "release")
        mine = {release.row_for(user).name for user in sessions}
        assert len(mine) == 1
        text = run("publish", "-o", tmp_path / "f", code=1)
        assert "1 row stands for one person, whose profile it is" in text
        assert "take a smaller p" in text


def test_a_smaller_row_elsewhere_is_not_published(
    run: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    """A file that says so was not written here."""
    write(run, wordnet, "pooled", b"k" * 32)
    run("publish", "-o", tmp_path / "f")
    first, *lines = (tmp_path / "f").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"users": 3', b'"users": 1')
    about = json.loads(first)
    about["sha256"] = hashlib.sha256(b"".join(lines)).hexdigest()
    (tmp_path / "f").write_bytes(as_json(about) + b"".join(lines))
    with pytest.raises(BadInput, match="a row stands for fewer than two people"):
        read_published(tmp_path / "f")


# --- ways round ---


def test_nothing_is_published_while_somebody_is_forgotten(run: Run, tmp_path: Path) -> None:
    """It would be in the ledger after it was asked what had been published of all."""
    with Workspace(run.workspace).writing("forget"):
        told = run.refused("publish", "-o", tmp_path / "f")
    assert "is being written to by veilsearch forget" in told
    assert not (tmp_path / "f").exists()


def test_who_forgets_terms_may_be_gone_from_other_profiles(
    forgetful: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    """A release of these was published; its successor is of one person less."""
    run, root = forgetful, forgetful.workspace
    write(run, wordnet, "composition")
    run("publish", "-o", tmp_path / "f")
    larger = {user: {**row, "milk": 1.0} for user, row in PEOPLE.items()}
    write_profiles(Profiles.from_rows(larger), root / "larger.jsonl")
    forget(Workspace(root), Settings(workspace=root), "person-3", tuple(PEOPLE["person-3"]))
    assert len(read_release(root / "release").users) == 11
    assert "promised of one alone" in refused(run, tmp_path)


def test_what_is_made_anew_is_not_published_beside_what_stands_alone(
    forgetful: Run, tmp_path: Path, wordnet: WordNet
) -> None:
    """All but one person were released by composition, and all by p-linkability."""
    run, root = forgetful, forgetful.workspace
    fewer = {user: row for user, row in PEOPLE.items() if user != "person-3"}
    write(run, wordnet, "composition", people=fewer)
    run("publish", "-o", tmp_path / "f")
    write(run, wordnet, "p-linkability")
    run("publish", "-o", root / "all")
    done = forget(Workspace(root), Settings(workspace=root), "person-3")
    assert (done.withdrawn, done.release_made) == (("all",), True)
    assert not (root / "all").exists()


def test_published_files_are_found_in_folders(forgetful: Run, wordnet: WordNet) -> None:
    run, root = forgetful, forgetful.workspace
    write(run, wordnet, "p-linkability")
    (root / "public").mkdir()
    run("publish", "-o", root / "public" / "one")
    done = forget(Workspace(root), Settings(workspace=root), "person-3")
    assert "public/one" in done.changed
    assert b"x3" not in (root / "public" / "one").read_bytes()


def test_without_its_key_a_release_is_not_made_anew(forgetful: Run) -> None:
    """With another key others would be left over."""
    root = forgetful.workspace
    (root / "release" / "private" / "key.json").unlink()
    done = forget(Workspace(root), Settings(workspace=root), "person-3")
    assert done.releases_dropped == ("release",)


def test_a_damaged_ledger_stops_no_removal_of_terms(forgetful: Run, wordnet: WordNet) -> None:
    root = forgetful.workspace
    write(forgetful, wordnet, "p-linkability")
    ledger_path(Workspace(root)).write_text("junk\n")
    done = forget(Workspace(root), Settings(workspace=root), "person-3", ("x3",))
    assert done.release_made
