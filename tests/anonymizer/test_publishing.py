"""The published file: whole or refused, the bytes that were verified, and no trace of a person."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadInput
from anonymizer.publishing import FORMAT, publish, read_published
from anonymizer.verification.finding import Finding, Verdict
from anonymizer.verification.judge import Case, examine, verify

from .small_release import PARAMETERS, Rows, SmallRelease, by_name, made

ROWS = (
    b'{"row": "g0001", "users": 2, "terms": {"kitten": 1.0, "pup": 0.5}}\n'
    b'{"row": "g0002", "users": 3, "terms": {"java": 1.0}}\n'
)


def about(rows: bytes, **changed: Any) -> dict[str, Any]:
    verified = ("guarantee", "k", "l", "min_users", "p", "representative", "t")
    quoted = {name: value for name, value in PARAMETERS.items() if name not in verified}
    line = {
        "format": FORMAT,
        "facts": {"groups": 2, "users": 5},
        "method": "p-linkability",
        "parameters": {name: PARAMETERS[name] for name in verified},
        "quoted": {"parameters": by_name(quoted), "profiles": {}},
        "sha256": hashlib.sha256(rows).hexdigest(),
    }
    return line | changed


def file_of(path: Path, first: object, rows: bytes) -> Path:
    path.write_bytes(json.dumps(first).encode() + b"\n" + rows)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as refused:
        read_published(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    return str(refused.value)


def test_every_flipped_byte_and_every_cut_of_the_rows_is_noticed(tmp_path: Path) -> None:
    path = file_of(tmp_path / "f", about(ROWS), ROWS)
    good = path.read_bytes()
    for at in range(len(good) - len(ROWS) - 1, len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        refusal(path)
        path.write_bytes(good[:at])
        refusal(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "veilsearch published release 1"}, "not that of a published release"),
        ({"seed": 1}, "the names are not exactly format, method, parameters, facts, quoted"),
        ({"facts": 1}, "facts must be of type dict"),
        ({"sha256": "0"}, "changed since it was published"),
    ],
)
def test_another_first_line_is_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    assert why in refusal(file_of(tmp_path / "f", about(ROWS, **change), ROWS))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"users": 2', b'"users": 1', "stands for fewer than two people"),
        (b'"users": 2', b'"users": -1', "stands for fewer than two people"),
        (b'"users": 2', b'"users": 9007199254740993', "for more than 9007199254740992 people"),
        (b'"users": 2', b'"users": 1' + b"0" * 21, "for more than 9007199254740992 people"),
        (b"0.5", b"-0.5", "rows, line 1: a weight is not above 0"),
        (b"0.5", b"NaN", "rows, line 1: NaN is no number"),
        (b"g0002", b"g0001", "rows, line 2: the row occurs twice"),
        (b"g0002", b"anna", "a row is not named by its number, like g0001"),
        (b"g0002", b"g0002\\n", "a row is not named by its number, like g0001"),
        (b"g0002", b"\\u001b[31m", "a row is not named by its number, like g0001"),
        (b"g0002", b"g002", "a row is not named by its number, like g0001"),
        (b"g0002", "g٢".encode(), "a row is not named by its number, like g0001"),
    ],
)
def test_forged_rows_are_refused_though_their_hash_fits(
    tmp_path: Path, old: bytes, new: bytes, why: str
) -> None:
    rows = ROWS.replace(old, new)
    assert why in refusal(file_of(tmp_path / "f", about(rows), rows))


def test_what_is_no_published_file_is_told(tmp_path: Path) -> None:
    assert "can't be read (No such" in refusal(tmp_path / "missing")
    (tmp_path / "f").write_bytes(b"")
    assert "made by: veilsearch publish" in refusal(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"\xff\xfe" + ROWS)
    assert "made by: veilsearch publish" in refusal(tmp_path / "f")
    assert "there is no line" in refusal(file_of(tmp_path / "f", about(b""), b""))


# -- publishing ------------------------------------------------------------------------------------

SIX: Rows = {
    f"{name}-{number}": {f"t{number}": 1.0, f"t{number + 1}": 0.5}
    for number, name in enumerate(("anna", "berta", "carla", "dora", "emma", "frida"))
}
USERS = tuple(SIX)
GROUPS = (USERS[:3], USERS[3:])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a release that holds, r, and its profiles, p.jsonl."""
    release = made(SIX, GROUPS, PARAMETERS)
    release.write(tmp_path / "r")
    release.write_profiles(tmp_path / "p.jsonl")
    (tmp_path / "out").mkdir()
    return tmp_path


def publish_at(place: Path, name: str = "out/f") -> Verdict:
    return publish(place / "r", place / "p.jsonl", place / name)


def breaches_of(release: SmallRelease, place: Path) -> list[Finding]:
    release.write(place / "r")
    release.write_profiles(place / "p.jsonl")
    return publish_at(place).breaches


def test_what_is_published_is_what_was_verified_byte_for_byte(place: Path) -> None:
    """Guarantee G3."""
    assert publish_at(place).holds
    first, _, rows = (place / "out/f").read_bytes().partition(b"\n")
    assert rows == (place / "r/rows.jsonl").read_bytes()
    assert json.loads(first)["sha256"] == hashlib.sha256(rows).hexdigest()
    read = read_published(place / "out/f")
    assert read.sizes.tolist() == [3, 3]
    assert read.rows.row("g0001") == made(SIX, GROUPS, PARAMETERS).rows[0]["terms"]
    before = (place / "out/f").read_bytes()
    assert publish_at(place).holds
    assert (place / "out/f").read_bytes() == before
    assert [path.name for path in (place / "out").iterdir()] == ["f"]


def test_the_bytes_judged_are_the_bytes_written_whatever_happens_between(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (place / "r/rows.jsonl").read_bytes()

    def examined(release: Path, profiles: Path) -> Case:
        case = examine(release, profiles)
        (release / "rows.jsonl").write_bytes(good.replace(b"0.", b"0.9"))
        return case

    monkeypatch.setattr("anonymizer.verification.judge.examine", examined)
    assert publish_at(place).holds
    assert (place / "out/f").read_bytes().endswith(b"\n" + good)


def test_the_published_file_tells_of_nobody_and_of_no_other_release(place: Path) -> None:
    """Guarantee G1: no user, nothing that lasts over releases, no time."""
    assert publish_at(place).holds
    content = (place / "out/f").read_text()
    private = json.loads((place / "r/release.json").read_text())["input_hash"]
    assert not any(secret in content for secret in (*USERS, private, "input_hash"))
    assert not re.search(r"\d\d:\d\d|20\d\d-", content)
    first = json.loads(content.splitlines()[0])
    assert list(first) == ["format", "facts", "method", "parameters", "quoted", "sha256"]
    assert (place / "out/f").stat().st_mode & 0o777 == 0o644


def test_another_seed_publishes_the_same_file(place: Path) -> None:
    publish_at(place)
    release = made(SIX, GROUPS, PARAMETERS)
    release.seed = 99
    release.write(place / "r")
    publish_at(place, "out/g")
    assert (place / "out/f").read_bytes() == (place / "out/g").read_bytes()


@pytest.mark.parametrize("there", [False, True])
def test_a_breach_publishes_nothing(place: Path, there: bool) -> None:
    """Guarantee G2: whatever is wrong, nothing is written and what was there stays."""
    if there:
        publish_at(place)
    before = {path.name: path.read_bytes() for path in (place / "out").iterdir()}
    path = place / "r/rows.jsonl"
    good = path.read_bytes()
    for at in range(0, len(good), 5):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert not publish_at(place).holds
    path.write_bytes(good)
    (place / "r/private").chmod(0o755)
    assert not publish_at(place).holds
    assert {path.name: path.read_bytes() for path in (place / "out").iterdir()} == before


def test_rows_of_one_person_are_never_published(place: Path) -> None:
    release = made(SIX, (USERS[:1], USERS[1:]), {**PARAMETERS, "p": 1.0})
    release.write(place / "r")
    (breach,) = publish_at(place).breaches
    assert breach.where == "rows.jsonl, line 1"
    assert "1 row stands for one person" in breach.line
    assert "--set k=2" in breach.line
    assert not (place / "out/f").exists()


@pytest.mark.parametrize("choices", [{"granularity": "session"}, {}])
def test_rows_of_one_persons_sessions_are_never_published(
    place: Path, choices: dict[str, Any]
) -> None:
    sessions: Rows = {f"{who}#{n}": {f"{who}{n}": 1.0} for who in ("anna", "berta") for n in (1, 2)}
    for groups, rows in (
        ([["anna#1", "anna#2"], ["berta#1", "berta#2"]], 2),
        ([["anna#1", "berta#1"], ["anna#2", "berta#2"]], 0),
    ):
        release = made(sessions, groups, {**PARAMETERS, "p": 0.5, "k": 2})
        release.choices = choices
        breaches = breaches_of(release, place)
        assert (place / "out/f").exists() == (not rows)
        assert [f.line.split(",")[0] for f in breaches] == (
            [f"{rows} rows stand for one person each"] if rows else []
        )
        assert all("make profiles with --granularity user" in f.line for f in breaches)


def test_groups_of_people_some_of_whom_are_named_like_sessions_are_published(place: Path) -> None:
    """Of groups, ids are taken for sessions where all look like them: these may be two people."""
    users = ["room#1", "room#2", *USERS[2:]]
    people = dict(zip(users, SIX.values(), strict=True))
    release = made(people, (users[:2], users[2:]), {**PARAMETERS, "p": None, "k": 2})
    assert breaches_of(release, place) == []


@pytest.mark.parametrize(
    ("rename", "refused"),
    [
        ({"anna-0": "t0"}, "rows.jsonl, line 1"),  # a term of the first row
        ({"frida-5": "t6"}, "rows.jsonl, line 2"),
        ({"anna-0": "T0"}, "rows.jsonl, line 1"),
        ({"anna-0": "t0", "berta-1": "T0"}, "rows.jsonl, line 1"),  # who of them has it?
        ({"anna-0": "t3"}, ""),  # others have it
        ({"anna-0": "t1"}, ""),  # and so has somebody else
        ({user: f"t{at}#1" for at, user in enumerate(USERS)}, ""),  # sessions? nobody has two
        ({"anna-0": "t10"}, ""),
    ],
)
def test_a_term_that_is_the_id_of_the_only_person_who_has_it_is_never_published(
    place: Path, rename: dict[str, str], refused: str
) -> None:
    people = {rename.get(user, user): row for user, row in SIX.items()}
    users = list(people)
    breaches = breaches_of(made(people, (users[:3], users[3:]), PARAMETERS), place)
    assert verify(place / "r", place / "p.jsonl").holds
    assert [breach.where for breach in breaches] == [refused] * bool(refused)
    assert all("give the people other ids" in breach.line for breach in breaches)
    assert (place / "out/f").exists() == (not refused)


@pytest.mark.parametrize(
    ("user", "choices", "named"),
    [
        ("2", {"size": 2}, "size"),
        ("500", {"size": 2, "users": 500, "robots": 500}, "robots, users"),
        ("1800", {"gap": 1800.0}, "gap"),
        ("0.25", {"test_share": 0.25}, "test_share"),
        ("1", {"phrases": True, "users": None, "weights": "recency"}, ""),
        ("20", {"users": 200}, ""),
    ],
)
def test_a_number_that_is_a_users_id_is_never_published(
    place: Path, user: str, choices: dict[str, Any], named: str
) -> None:
    people = {user if own == "anna-0" else own: row for own, row in SIX.items()}
    users = list(people)
    release = made(people, (users[:3], users[3:]), PARAMETERS)
    release.choices = choices
    breaches = breaches_of(release, place)
    line = f"{named}: a number that is a user's id, or holds one in its digits; give the people "
    assert [(b.claim, b.where) for b in breaches] == [("identity", "release.json")] * bool(named)
    assert all(breach.line.startswith(line) for breach in breaches)
    assert (place / "out/f").exists() == (not named)


@pytest.mark.parametrize("user", ["t0", "T0", "frida-5"])
def test_an_id_in_a_row_that_nobody_has_as_a_term_any_more_is_not_published(
    place: Path, user: str
) -> None:
    """Anna took the term out of her profile since the row was made."""
    release = made({user if own == "frida-5" else own: row for own, row in SIX.items()},
                   (USERS[:3], (*USERS[3:5], user)), PARAMETERS)  # fmt: skip
    release.profiles["anna-0"] = {"t1": 0.5}
    release.changes = {"withdrawn": 0, "left": 0, "stood": [], "edited": ["g0001"]}
    found = [(breach.claim, breach.where) for breach in breaches_of(release, place)]
    assert found == [("identity", "rows.jsonl, line 1")] * (user != "frida-5")


@pytest.mark.parametrize(("holder", "refused"), [("anna#2", True), ("berta#2", False)])
def test_a_term_that_only_the_person_behind_sessions_has_is_never_published(
    place: Path, holder: str, refused: bool
) -> None:
    sessions: Rows = {f"{who}#{n}": {f"x{n}": 1.0} for who in ("anna", "berta") for n in (1, 2)}
    sessions[holder]["anna"] = 1.0
    groups = [["anna#1", "berta#1"], ["anna#2", "berta#2"]]
    breaches = breaches_of(made(sessions, groups, {**PARAMETERS, "p": None, "k": 2}), place)
    where = [("identity", "rows.jsonl, line 2")] * refused
    assert [(breach.claim, breach.where) for breach in breaches] == where
    assert not any("anna" in breach.line for breach in breaches)


def test_hidden_files_of_others_stay(place: Path) -> None:
    """Names as backups of editors and other programs' temporary files have them."""
    others = [".f.previous", ".f.12345678", ".f.veil0a1g", ".g.veil0a1b"]
    for name in others:
        (place / "out" / name).write_text("mine")
    (place / "out/.f.veil0000" / "mine").mkdir(parents=True)
    (place / "out/.f.veil0001").symlink_to("f")
    (place / "out/.f.veil0123").write_text("left by a killed publisher")
    with (place / "out/.f.veil4567").open("wb") as at_work:
        fcntl.flock(at_work, fcntl.LOCK_EX)
        publish_at(place)
    assert {path.name for path in (place / "out").iterdir()} == {
        *others, "f", ".f.veil0000", ".f.veil0001", ".f.veil4567"
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["file", "folder", "link", "own"])
def test_nothing_but_a_published_file_is_replaced(place: Path, kind: str) -> None:
    target = place / "out/f"
    match kind:
        case "file":
            target.write_text("a diary")
        case "folder":
            target.mkdir()
        case "link":
            publish_at(place, "out/g")
            target.symlink_to("g")
        case "own":
            target = place / "r" / "rows.jsonl"
    with pytest.raises(BadInput, match=r"is not a published file|lies in the release"):
        publish_at(place, str(target.relative_to(place)))
    if kind == "file":
        assert target.read_text() == "a diary"


def test_a_folder_that_is_not_there_is_told_in_a_line(place: Path) -> None:
    with pytest.raises(BadInput, match="can't be written \\(No such file"):
        publish_at(place, "no/f")


KILLED = """
import os, sys
from pathlib import Path
from anonymizer.storage import files
target, count, left = Path(sys.argv[1]), 0, -1
def trace(frame, event, _):
    global left
    if "storage/files" in frame.f_code.co_filename:
        left -= event == "line"
        if left == 0:
            os.kill(os.getpid(), 9)
        return trace
for step in range(1, 200):
    target.write_bytes(b"old")
    if not os.fork():
        left = step
        sys.settrace(trace)
        with files.replaced_whole(target) as file:
            file.write(b"new" * 100000)
        os._exit(0)
    _, status = os.wait()
    content = target.read_bytes()
    print(status == 0, {b"old": "old", b"new" * 100000: "new"}.get(content, "half"))
    if status == 0:
        break
    for path in target.parent.glob(".f.*") if step % 2 else ():
        path.unlink()
"""


def test_a_kill_at_any_line_of_writing_leaves_the_old_file_or_the_new(place: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(place / "out/f")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    assert {*found[:-1]} == {"False old", "False new"}
    assert found[-1] == "True new"
    assert len(found) > 10
    assert publication_is_clean(place)


def publication_is_clean(place: Path) -> bool:
    """Return whether publishing takes away what killed publishers left."""
    (place / "out/f").unlink()
    publish_at(place)
    return [path.name for path in (place / "out").iterdir()] == ["f"]
