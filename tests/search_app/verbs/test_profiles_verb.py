"""What `profiles` reads, drops, rejects and writes down, as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.profiles.origins import TermOrigin, read_origins
from anonymizer.storage.profiles import fingerprint, read_profiles
from search_app.workspace.profile_choices import (
    choices_of,
    choices_path,
    fault_of_choices,
    held_out_path,
)

from ..conftest import Run

LOG = """user\tquery\ttime
7\tprogramming languages of 1970\t1141171200
7\tjava 9q9\t060301000005
8\tkitten\t2006-03-01T00:00:00Z
9\tcoffee\t1141171200
9\tmocha\t1141171201
9\tjava\t1141171202
broken
7\tjava\tyesterday
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def rows(run: Run) -> dict[str, set[str]]:
    profiles = read_profiles(run.workspace / "profiles.jsonl")
    return {user: set(profiles.row(user)) for user in profiles.users}


@pytest.mark.parametrize(
    ("options", "of_seven"),
    [
        ([], {"programming", "language", "java", "q"}),
        (["--phrases"], {"programming language", "java", "q"}),
        (["--terms", "all"], {"programming", "languages", "java", "q"}),
        (
            ["--terms", "letters-digits"],
            {"programming", "languages", "of", "1970", "java", "9q9"},
        ),
    ],
)
def test_choices_of_terms(run: Run, log: Path, options: list[str], of_seven: set[str]) -> None:
    run("profiles", log, *options)
    assert rows(run)["7"] == of_seven


def test_preprocessing_is_that_of_section_5_1_of_burghardt_et_al(run: Run, tmp_path: Path) -> None:
    """Robots are users of a session of over 100 queries; all but letters and digits is blank.

    A query that comes again at once is a next page and no query of its own. Stop words stay ("or"
    is the paper's most frequent term), upper case is lower case, an occurrence in one query counts
    as often as it stands there, and who has no term left is no user.
    """
    at, minute = 1_031_443_200, 60
    asked = [
        *[("robot", f"crawl {n}", at + n) for n in range(101)],
        *[("busy", f"look {n}", at + n) for n in range(100)],
        *[("busy", f"look {n}", at + 30 * minute + n) for n in range(100, 200)],  # 1,801 s later
        *[("edge", f"look {n}", at + n) for n in range(100)],
        *[("edge", f"look {n}", at + 30 * minute - 1 + n) for n in range(100, 101)],  # 1,800 s
        *[("patient", f"wait {n}", at + 30 * minute * n + n) for n in range(150)],
        *[("pager", "same", at + n) for n in range(150)],
        ("anna", "ad-placement", at),
        ("anna", "AD placement", at + minute),
        ("anna", "Müller's caf\xe9_x OR ora-01555 or C++ or", at + 2 * minute),
        ("mute", "+++ !?", at),
    ]
    log = tmp_path / "log.tsv"
    log.write_text("".join(f"{user}\t{query}\t{time}\n" for user, query, time in asked))
    chosen = ("--drop-robots", "100", "--terms", "letters-digits", "--weights", "tf")
    made = run.json("profiles", log, *chosen)
    assert made["robots_dropped"] == 2
    profiles = read_profiles(run.workspace / "profiles.jsonl")
    assert set(profiles.users) == {"busy", "patient", "pager", "anna"}
    assert profiles.row("pager") == {"same": 1}
    assert profiles.row("busy")["look"] == 200
    assert profiles.row("anna") == {
        "ad": 2, "placement": 2, "müller": 1, "s": 1, "café": 1, "x": 1, "or": 3, "ora": 1,
        "01555": 1, "c": 1,
    }  # fmt: skip


def test_phrases_are_wordnets_only(run: Run, log: Path) -> None:
    assert "--phrases needs --terms wordnet" in run.refused(
        "profiles", log, "--phrases", "--terms=all"
    )


def test_a_format_may_be_named(run: Run, log: Path) -> None:
    assert run.json("profiles", log)["log"]["events"] == 6
    told = run.refused("profiles", log, "--format", "aol", "--terms", "all")
    assert f"no line of the log is a query; {log}, line 1: bad time, and so 8 of 9 lines; " in told
    swapped = log.with_name("swapped.tsv")
    swapped.write_text("".join(f"7\t{second}\tjava {second}\n" for second in range(30)))
    assert run.json("profiles", swapped)["log"]["events"] == 30
    more = swapped.with_name("more.tsv")
    more.write_text(swapped.read_text() + "9\tcoffee\t1\n")
    run("profiles", more, "--format", "tsv")
    assert f"nearly every line was rejected: {more}, line 1: bad time" in run.talk


def test_every_flipped_bit_next_to_profiles_is_noticed(run: Run, log: Path) -> None:
    run("profiles", log, "--test-share", "0.5")
    path = run.workspace / "profiles.jsonl"
    made_from = fingerprint(read_profiles(path))
    assert fault_of_choices(path, made_from) == ""
    for other in (choices_path(path), held_out_path(path)):
        content = other.read_bytes()
        for bit in range(8 * len(content)):
            spoilt = bytearray(content)
            spoilt[bit // 8] ^= 1 << bit % 8
            other.write_bytes(spoilt)
            assert str(other) in fault_of_choices(path, made_from)
        other.write_bytes(content)
    held_out_path(path).unlink()
    assert "held-out.tsv is missing" in fault_of_choices(path, made_from)


def test_robots_are_dropped_and_counted(run: Run, log: Path) -> None:
    made = run.json("profiles", log, "--drop-robots", "2")
    assert (made["robots_dropped"], made["users"]) == (1, 2)
    assert "1 person dropped for more than 2 queries" in run("profiles", log, "--drop-robots", "2")
    assert run.json("profiles", log)["robots_dropped"] is None
    assert run.json("profiles", log, "--drop-robots", "2", "--gap", "0s")["users"] == 3
    assert "robots=0 must be at least 1" in run.refused("profiles", log, "--drop-robots", "0")
    one = log.with_name("one.tsv")
    one.write_text("9\ta\t1\n9\tb\t2\n")
    told = run.refused("profiles", one, "--drop-robots", "1")
    assert "--drop-robots 1 drops everybody; raise it or --gap" in told


def test_every_reject_is_written_for_the_owner_without_its_text(run: Run, log: Path) -> None:
    rejects = log.with_name("rejects.jsonl")
    made = run.json("profiles", log, "--rejects", rejects)
    assert [json.loads(line) for line in rejects.read_text().splitlines()] == [
        {"file": str(log), "line": 8, "reason": "too few columns"},
        {"file": str(log), "line": 9, "reason": "bad time"},
    ]
    assert made["log"]["rejected"] == 2
    assert rejects.stat().st_mode & 0o777 == 0o600
    assert "yesterday" not in rejects.read_text()


def test_rejects_are_whole_or_absent(run: Run, log: Path, tmp_path: Path) -> None:
    rejects = tmp_path / "rejects.jsonl"
    rejects.write_text("old")
    run.refused("profiles", log, tmp_path / "none.tsv", "--rejects", rejects)
    assert rejects.read_text() == "old"
    told = run.refused("profiles", log, "--rejects", tmp_path / "none" / "rejects.jsonl")
    assert "rejects.jsonl can't be written (No such file or directory); check folder" in told
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "log.tsv",
        "rejects.jsonl",
    ]


@pytest.mark.parametrize("link", ["none", "symbolic", "hard"])
def test_no_log_is_written_over(run: Run, log: Path, tmp_path: Path, link: str) -> None:
    written = {
        "p.jsonl": ["-o", tmp_path / "p.jsonl"],
        "q.made.json": ["-o", tmp_path / "q.jsonl"],
        "r.held-out.tsv": ["-o", tmp_path / "r.npz", "--test-share", "0.5"],
        "s.tsv": ["--rejects", tmp_path / "s.tsv"],
    }
    for name, options in written.items():
        path = tmp_path / name
        path.write_text(LOG)
        source = path
        if link != "none":
            source = tmp_path / f"link-{name}"
            (source.symlink_to if link == "symbolic" else source.hardlink_to)(path)
        told = run.refused("profiles", log, source, "--format", "tsv", *options)
        assert f"{options[0]} would write over the log {source}; name another file" in told
        assert path.read_text() == LOG
    assert not list(run.workspace.glob("profiles*"))
    run.workspace.joinpath("profiles.jsonl").write_text(LOG)
    told = run.refused("profiles", run.workspace / "profiles.jsonl", "--format", "tsv")
    assert "-o would write over the log" in told


@pytest.mark.parametrize("name", ["p.jsonl", "p.made.json", "p.held-out.tsv", "no/../p.jsonl"])
def test_rejects_and_profiles_are_two_files(run: Run, log: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "no").mkdir()
    options = ["-o", tmp_path / "p.jsonl", "--rejects", tmp_path / name]
    told = run.refused("profiles", log, *options)
    assert f"--rejects {tmp_path / name} is a file that -o writes; name another" in told
    (tmp_path / "p.loop").symlink_to("p.loop")
    run("profiles", log, "-o", tmp_path / "p.jsonl", "--rejects", tmp_path / "p.loop")


def test_what_made_the_profiles_is_written_beside_them(run: Run, log: Path) -> None:
    made: Any = run.json("profiles", log, "--weights=tf", "--gap=1h", "--drop-robots=50")
    path = run.workspace / "profiles.jsonl"
    choices = {
        "size": None,
        "users": None,
        "weights": "tf",
        "terms": "wordnet",
        "phrases": False,
        "granularity": "user",
        "gap": 3600,
        "test_share": 0.0,
        "robots": 50,
    }
    assert made["choices"] == choices
    assert choices_of(path, fingerprint(read_profiles(path))) == choices
    assert choices_path(path).name == "profiles.made.json"
    assert choices_path(path).stat().st_mode & 0o777 == 0o600
    assert "log.tsv" not in choices_path(path).read_text()


def test_the_choices_of_other_profiles_are_none(run: Run, log: Path) -> None:
    run("profiles", log)
    path = run.workspace / "profiles.jsonl"
    mark = fingerprint(read_profiles(path))
    assert choices_of(path, mark)["terms"] == "wordnet"
    assert choices_of(path, "0" * 64) == {}
    for broken in ("", "[]", "{", json.dumps({"sha256": mark}), "[" * 100_000):
        choices_path(path).write_text(broken)
        assert choices_of(path, mark) == {}
    choices_path(path).unlink()
    assert choices_of(path, mark) == {}


@pytest.mark.parametrize("text", ["NaN", "1e999", "Infinity", "[1]", '{"a": 1}', '"u1"', "true"])
def test_choices_that_no_release_can_say_are_passed_over(run: Run, log: Path, text: str) -> None:
    run("profiles", log)
    path = run.workspace / "profiles.jsonl"
    mark = fingerprint(read_profiles(path))
    made = choices_path(path).read_text()
    choices_path(path).write_text(made.replace('"test_share": 0.0', f'"test_share": {text}'))
    choices = choices_of(path, mark)
    assert "test_share" not in choices
    assert bool(choices) == (text not in ("NaN", "Infinity"))
    choices_path(path).write_text(made.replace('"choices": {', '"choices": {"u1": 7, '))
    assert "u1" not in choices_of(path, mark)
    choices_path(path).write_text(made.replace('"test_share": 0.0', f'"test_share": {text}'))
    run("anonymize", path, "--set", "p=0.5", "-o", log.with_name("r"))


def test_held_out_queries_are_those_of_the_profiles(run: Run, log: Path, tmp_path: Path) -> None:
    held_out = tmp_path / "p.held-out.tsv"
    run("profiles", log, "-o", tmp_path / "p.jsonl", "--test-share", "0.5")
    assert held_out.read_text()
    run("profiles", log, "-o", tmp_path / "p.jsonl")
    assert not held_out.exists()
    held_out.mkdir()
    told = run.refused("profiles", log, "-o", tmp_path / "p.jsonl")
    assert f"{held_out} can't be written" in told


def test_where_terms_came_from_is_kept_beside_the_profiles_unless_unwanted(
    run: Run, log: Path
) -> None:
    run("profiles", log)
    path = run.workspace / "profiles.jsonl"
    origins = read_origins(path, fingerprint(read_profiles(path)))
    assert origins is not None
    assert origins.of("9")["mocha"] == TermOrigin(1, 1_141_171_201, 1_141_171_201)
    run("profiles", log, "--no-origins")
    assert read_origins(path) is None
    named = log.rename(log.with_name("x.origins.npz"))
    assert "would write over the log" in run.refused(
        "profiles", named, "-o", log.with_name("x.npz")
    )


# -- people who come later -------------------------------------------------------------------------

LATER = """user\tquery\ttime
7\tvolcano\t1141171300
3\tdog kitten\t1141171000
3\tdog\t1141171100
4\tguitar song\t1141174000
4\tsong\t1141175000
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    path = tmp_path / "later.tsv"
    path.write_text(LATER)
    return path


@pytest.mark.parametrize(
    "choices",
    [
        [],
        ["--weights", "tf", "--terms", "all"],
        ["--size", "2", "--no-origins"],
        ["--test-share", "0.5", "--drop-robots", "9"],
    ],
)
def test_people_of_a_later_log_are_added_as_if_they_had_been_there(
    run: Run, log: Path, later: Path, choices: list[str]
) -> None:
    run("profiles", log, *choices)
    root, path = run.workspace, run.workspace / "profiles.jsonl"
    before = path.read_bytes()
    known = {*read_profiles(path).users}
    text = later.read_text()
    alone = "".join(line for line in text.splitlines(True) if line.split("\t")[0] not in known)
    assert run.json("profiles", later, "--add")["added"] == 2
    assert path.read_bytes().startswith(before)
    added, held_out = path.read_bytes(), held_out_path(path)
    origins, queries = read_origins(path), held_out.read_text() if held_out.exists() else ""
    assert fault_of_choices(path, fingerprint(read_profiles(path))) == ""
    assert not list(root.glob(".repl*"))
    later.write_text(alone)
    run("profiles", log, later, *choices)
    assert path.read_bytes() == added
    again = read_origins(path)
    for user in read_profiles(path).users:
        assert (origins and origins.of(user)) == (again and again.of(user))
    assert queries == (held_out.read_text() if held_out.exists() else "")


def test_a_log_of_known_people_changes_nothing(run: Run, log: Path, later: Path) -> None:
    run("profiles", log, later)
    before = {path: path.read_bytes() for path in run.workspace.glob("profiles*")}
    assert "0 people added, 5 have a profile" in run("profiles", later, "--add")
    later.write_text("")
    said = run("profiles", later, "--add").splitlines()
    assert said[0].startswith("0 lines: 0 queries, ")
    assert said[1] == "The log is empty."
    assert said[2].startswith("0 people added, 5 have a profile")
    assert before == {path: path.read_bytes() for path in run.workspace.glob("profiles*")}


@pytest.mark.parametrize(
    ("made", "added", "why"),
    [
        (["--weights", "tfidf"], [], "weights tfidf depend on everybody"),
        (["--weights", "recency"], [], "weights recency depend on everybody"),
        (["--granularity", "session"], [], "their owners are sessions"),
        (["--users", "2"], [], "--users 2 is all that they hold"),
        ([], ["--weights", "tf"], "takes the choices that the profiles were made by"),
        ([], ["-o", "other.jsonl"], "leave out -o"),
    ],
)
def test_choices_by_which_nobody_can_be_added(
    run: Run, log: Path, later: Path, made: list[str], added: list[str], why: str
) -> None:
    assert "no profiles in" in run.refused("profiles", later, "--add")
    run("profiles", log, *made)
    before = (run.workspace / "profiles.jsonl").read_bytes()
    assert why in run.refused("profiles", later, "--add", *added)
    (run.workspace / "profiles.made.json").write_text("{}")
    assert "is not known" in run.refused("profiles", later, "--add")
    assert (run.workspace / "profiles.jsonl").read_bytes() == before


def test_nobody_is_called_like_a_row(run: Run, log: Path, later: Path) -> None:
    run("profiles", log)
    later.write_text(LATER.replace("\n3\t", "\ng0003\t"))
    assert "like a row's name" in run.refused("profiles", later, "--add")
