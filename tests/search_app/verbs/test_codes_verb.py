"""veilsearch codes, as an operator calls it."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import write_profiles
from search_app.accounts import codes as personal_code
from search_app.accounts.database import FILE
from search_app.accounts.store import PeopleStore
from search_app.workspace.folder import Workspace

from ..conftest import Run

NOW = time.time()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_code, "_COST", 16)


@pytest.fixture
def run(run: Run) -> Run:
    """Call verbs in a workspace with profiles of u1, u2 and u3."""
    workspace = Workspace(run.workspace)
    workspace.create()
    people = Profiles.from_rows({user: {"tea": 1.0} for user in ("u1", "u2", "u3")})
    write_profiles(people, workspace.root / "profiles.jsonl")
    workspace.make_current(profiles="profiles.jsonl")
    return run


def visitor(run: Run, code: str) -> str | None:
    """Return whom a code signs in, in another process than the verb's as far as SQLite knows."""
    store = PeopleStore(run.workspace / FILE)
    token = store.sign_in(code, NOW)
    return store.visitor_of(token, NOW) if token else None


def read(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def test_new_codes_are_printed_and_work(run: Run) -> None:
    lines = [line.split("  ") for line in run("codes", "--new", "u1", "u2").splitlines()]
    assert [user for user, _ in lines] == ["u1", "u2"]
    assert [visitor(run, code) for _, code in lines] == ["u1", "u2"]


def test_a_new_code_ends_the_one_before(run: Run) -> None:
    before, after = (run.json("codes", "--new", "u1")["codes"]["u1"] for _ in range(2))
    assert [visitor(run, before), visitor(run, after)] == [None, "u1"]
    assert run.talk == "1 earlier code ended\n"
    (listed,) = run.json("codes", "--list")["codes"]
    assert listed["user"] == "u1"
    assert listed["made"].endswith(" UTC")


def test_all_who_have_none_get_a_code_in_a_private_file(run: Run, tmp_path: Path) -> None:
    before = run.json("codes", "--new", "u2")["codes"]["u2"]
    said = run("codes", "--all", "-o", tmp_path / "codes.tsv")
    assert "2 codes, readable by you only; 1 had a code before, which stays valid" in said
    assert "delete the file" in run.talk
    assert stat.S_IMODE((tmp_path / "codes.tsv").stat().st_mode) == 0o600
    codes = read(tmp_path / "codes.tsv")
    assert {user: visitor(run, code) for user, code in codes.items()} == {"u1": "u1", "u3": "u3"}
    assert visitor(run, before) == "u2"


def test_codes_that_nobody_has_got_yet_are_not_overwritten(run: Run, tmp_path: Path) -> None:
    run("codes", "--all", "-o", tmp_path / "codes.tsv")
    codes = (tmp_path / "codes.tsv").read_bytes()
    told = run.refused("codes", "--new", "u1", "u2", "-o", tmp_path / "codes.tsv")
    assert "is there already, and may hold codes that nobody has got yet; name another" in told
    assert (tmp_path / "codes.tsv").read_bytes() == codes
    assert all(visitor(run, code) for code in read(tmp_path / "codes.tsv").values())


def test_ids_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbfu1\r\n\n u3 \nu1\n")
    run("codes", "--new", "u2", "--users", tmp_path / "ids.txt", "-o", tmp_path / "codes.tsv")
    assert list(read(tmp_path / "codes.tsv")) == ["u2", "u1", "u3"]


def test_a_running_server_sees_a_revoked_code_at_once(run: Run) -> None:
    code = run.json("codes", "--new", "u1")["codes"]["u1"]
    serving = PeopleStore(run.workspace / FILE)
    token = serving.sign_in(code, NOW)
    assert token and serving.visitor_of(token, NOW) == "u1"
    assert run("codes", "--revoke", "u1") == "1 code revoked\n"
    assert serving.visitor_of(token, NOW) is None
    assert serving.sign_in(code, NOW) is None


def test_revoking_what_is_not_there_is_a_finding(run: Run) -> None:
    run("codes", "--new", "u1")
    assert run("codes", "--revoke", "u1", "u2", code=1) == "1 code revoked; 1 had none\n"
    assert run("codes", "--list") == ""
    assert "Nobody has a code yet" in run.talk


def test_people_without_a_profile_are_said_to_be_new_by_their_places(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "ids.txt").write_text("u1\nnew-1\n", encoding="utf-8")
    codes = run.json("codes", "--new", "new-2", "u2", "--users", tmp_path / "ids.txt")["codes"]
    assert f"no profile yet for id number 1; {tmp_path / 'ids.txt'}, line 2: new here" in run.talk
    assert "If an id is mistyped: veilsearch codes --revoke" in run.talk
    assert "new-" not in run.talk
    assert {user: visitor(run, code) for user, code in codes.items()} == {u: u for u in codes}
    run("codes", "--new", *"abcdefghi")
    assert "id number 5 and 4 more: new here" in run.talk
    run("codes", "--new", "u1")
    assert "new here" not in run.talk


def test_looking_writes_nothing(run: Run) -> None:
    assert run("codes", "--list") == ""
    assert run("codes", "--revoke", "u1", code=1) == "0 codes revoked; 1 had none\n"
    assert not (run.workspace / FILE).exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--new", "u1", "g0001"], "id number 2: an id has 1 to 100 characters, none of them inv"),
        (["--new", "u1", " u"], "id number 2: an id has 1 to 100 characters, none of them inv"),
        (["--new", "a\u202eb", "u1"], "id number 1: an id has 1 to 100 characters"),
        (["--new", "x" * 101, ""], "id number 1; id number 2: an id has 1 to 100 characters"),
        (["--all"], "--all needs -o FILE.tsv"),
        (["--list", "-o", "x.tsv"], "-o goes only with --new or --all"),
        (["--revoke", "u1", "-o", "x.tsv"], "-o goes only with --new or --all"),
        (["--list", "--users", "x.txt"], "--users goes only with --new or --revoke"),
        (["--new"], "no ids; name them after --new or --revoke"),
        (["--revoke"], "no ids; name them after --new or --revoke"),
        (["--new", "--users", "missing.txt"], "can't be read: No such file or directory"),
        ([], "one of the arguments --new --all --revoke --list --token --revoke-tokens"),
        (["--all", "-o", "/missing/codes.tsv"], "/missing/codes.tsv can't be written"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: list[str], told: str) -> None:
    assert told in run.refused("codes", *arguments)


def test_codes_that_could_not_be_written_do_not_count(run: Run, tmp_path: Path) -> None:
    before = run.json("codes", "--new", "u1")["codes"]["u1"]
    run.refused("codes", "--new", "u1", "u2", "-o", tmp_path / "missing" / "codes.tsv")
    assert visitor(run, before) == "u1"
    assert [line.split("  ")[0] for line in run("codes", "--list").splitlines()] == ["u1"]


def test_no_code_is_written_into_the_workspace(run: Run) -> None:
    told = run.refused("codes", "--all", "-o", run.workspace / "codes.tsv")
    assert "lies in the workspace" in told
    assert not (run.workspace / "codes.tsv").exists()


def test_a_damaged_file_of_people_is_one_line(run: Run) -> None:
    (run.workspace / FILE).write_bytes(b"not a database, but long enough to look like one" * 9)
    assert "can't be opened" in run.refused("codes", "--list")


def test_what_grew_is_forgotten_by_term_and_with_its_person(run: Run) -> None:
    def grown(*users: str) -> list[dict[str, int]]:
        store = PeopleStore(run.workspace / FILE)
        return [store.grown(user) for user in users]

    run("codes", "--new", "u1", "u2", "new")
    store = PeopleStore(run.workspace / FILE)
    for user in ("u1", "u2", "new"):
        store.choose(user, grow=True)
        store.grow(user, {"jazz": 2, "opera": 1})
    store.close()
    only = run.json("forget", "--user", "new", "--term", "jazz")
    assert (only["changed"], only["left"]) == (["people.sqlite"], [])
    run("forget", "--user", "u1", "--term", "jazz")
    assert grown("u1", "u2", "new") == [{"opera": 1}, {"jazz": 2, "opera": 1}, {"opera": 1}]
    assert "none of these terms" in run.refused("forget", "--user", "u1", "--term", "jazz")
    run("forget", "--user", "new")
    # Without the last term of the profile a person is forgotten, with all that grew.
    run("forget", "--user", "u2", "--term", "tea")
    assert grown("u1", "u2", "new") == [{"opera": 1}, {}, {}]
    listed = run.json("codes", "--list")["codes"]
    assert [one["user"] for one in listed] == ["u1"]


def test_tokens_are_made_for_who_has_a_code_and_revoked_alone(run: Run) -> None:
    code = run.json("codes", "--new", "u1")["codes"]["u1"]
    tokens = [run.json("codes", "--token", "u1", "--name", name)["token"] for name in ("a", "b")]
    tokens.append(run("codes", "--token", "u1", "--name", "c").strip())
    store = PeopleStore(run.workspace / FILE)
    assert [store.holder_of(token) for token in tokens] == ["u1"] * 3
    assert {token.name for token in store.tokens("u1")} == set("abc")
    assert run("codes", "--revoke-tokens", "u1") == "3 tokens revoked\n"
    assert [store.holder_of(token) for token in tokens] == [None] * 3
    assert run.json("codes", "--revoke-tokens", "u1", code=1) == {"revoked": 0}
    assert visitor(run, code) == "u1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--token", "u2", "--name", "a"], "that person has no code, or 10 tokens already"),
        (["--token", "u1"], "--token USER and --name NAME go together"),
        (["--list", "--name", "a"], "--token USER and --name NAME go together"),
        (["--token", "u1", "--name", " "], "--name has 1 to 50 visible characters"),
        (["--token", "u1", "--name", "a", "-o", "x.tsv"], "-o goes only with --new or --all"),
    ],
)
def test_a_token_that_can_not_be_made_is_one_line(run: Run, words: list[str], told: str) -> None:
    run("codes", "--new", "u1")
    assert told in run.refused("codes", *words)
