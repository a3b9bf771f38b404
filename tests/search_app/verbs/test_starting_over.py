"""Starting over: nobody gets a second row unless the operator says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.methods import promise_of
from anonymizer.storage.releases import read_release

from ..conftest import Run

GROUPS = ("anonymize", "--set", "k=2", "--set", "p=off", "--set", "augment=none")
QUERIES = ("green tea", "tea cup", "football match", "tennis ball", "coffee pot", "tea pot")
NEW = ("profiles LOG --add", "veilsearch admit", "--second")


def log_of(path: Path, people: range) -> Path:
    lines = (
        f"person-{n}\t{QUERIES[(n + at) % len(QUERIES)]}\t2006-03-01 07:1{at}:00\n"
        for n in people
        for at in range(2)
    )
    path.write_text("".join(lines))
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return log_of(tmp_path / "log.tsv", range(8))


@pytest.fixture
def run(run: Run, log: Path) -> Run:
    """Return a workspace that serves groups of eight people, as a first try."""
    run("profiles", log)
    run(*GROUPS)
    return run


def current(run: Run) -> Any:
    return json.loads((run.workspace / "current.json").read_text())


def published(run: Run) -> None:
    run("publish", "-o", run.workspace.parent / "public.jsonl")


def left(run: Run) -> None:
    run("forget", "--user", "person-3", "--leave")


def joined(run: Run) -> None:
    run("profiles", log_of(run.workspace.parent / "more.tsv", range(20, 26)), "--add")
    run("admit")


def test_tries_replace_each_other(run: Run, log: Path) -> None:
    run(*GROUPS, "--seed", 1)
    run("profiles", log)
    run(*GROUPS)
    assert current(run)["release"] == "release"
    assert not (run.workspace / "release.2").exists()


@pytest.mark.parametrize(
    ("happened", "told"),
    [
        (published, ("8 people stand", "0 lost theirs", "it was published")),
        (left, ("lost theirs", "it was not published")),
        (joined, ("14 people stand", "0 lost theirs")),
    ],
)
def test_nobody_gets_a_second_row_by_chance(
    run: Run, log: Path, happened: Any, told: tuple[str, ...]
) -> None:
    happened(run)
    before, rows = current(run), (run.workspace / "release/rows.jsonl").read_bytes()
    for words in (GROUPS, ("profiles", log), ("profiles", log, "-o", log.with_suffix(".jsonl"))):
        run(*words, code=2)
        assert len(run.talk.splitlines()) == 1
        for part in (*told, *NEW):
            assert part in run.talk
        assert current(run) == before
        assert (run.workspace / "release/rows.jsonl").read_bytes() == rows
    run(*GROUPS, "-o", run.workspace / "trial")  # tries elsewhere are free
    run("verify")


def test_who_starts_over_keeps_the_old_release(run: Run, log: Path) -> None:
    published(run)
    rows = (run.workspace / "release/rows.jsonl").read_bytes()
    larger = tuple(word.replace("k=2", "k=4") for word in GROUPS)
    run(*larger, "--second")
    assert current(run)["release"] == "release.2"
    assert (run.workspace / "release/rows.jsonl").read_bytes() == rows
    run(*larger)  # the second one is a try
    assert current(run)["release"] == "release.2"
    run("profiles", log, "--second")
    run(*larger)
    assert current(run)["release"] == "release.2"
    assert (run.workspace / "release/rows.jsonl").read_bytes() == rows
    # Whoever leaves goes from both.
    run("forget", "--user", "person-3")
    for name in ("release", "release.2"):
        assert "person-3" not in read_release(run.workspace / name, promise_of).users
