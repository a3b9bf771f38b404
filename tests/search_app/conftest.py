"""Verbs called in one workspace."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from search_app.cli import main
from search_app.cli import run as run_verb
from search_app.workspace.folder import Workspace


class Run:
    """Calls verbs in one workspace and keeps what they print."""

    main: Callable[[Sequence[str]], NoReturn] = staticmethod(main)

    def __init__(self, workspace: Path, capsys: pytest.CaptureFixture[str]):
        self.workspace = workspace
        self.capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            self.main(["--workspace", str(self.workspace), *map(str, arguments)])
        printed = self.capsys.readouterr()
        assert ended.value.code == code, printed.err
        self.talk = printed.err
        return printed.out

    def json(self, *arguments: object, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))

    def refused(self, *arguments: object) -> str:
        """Run `arguments` that must be refused by exit 2 and one line on stderr; return it."""
        assert self(*arguments, code=2) == ""
        assert self.talk.startswith("veilsearch: ")
        assert self.talk.count("\n") == 1, self.talk
        return self.talk


def call(workspace: Path, *words: object) -> None:
    """Call a verb by `words`; it must succeed."""
    assert run_verb(["--workspace", str(workspace), *map(str, words)]) == 0, words


def jsonl(path: Path, records: Iterable[object]) -> Path:
    """Write each of `records` to `path` as a line of JSON, and return the path."""
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def serve_release(root: Path, people: Profiles, release: Release) -> None:
    """Make `release` and its profiles, `people`, the current ones of the workspace in `root`."""
    root.mkdir(exist_ok=True)
    write_profiles(people, root / "profiles.jsonl")
    write_release(release, root / "release", seed=0, input_hash=fingerprint(people))
    Workspace(root).make_current(profiles="profiles.jsonl", release="release")


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the verbs of a workspace that does not exist yet."""
    return Run(tmp_path / "a workspace ☕", capsys)


@pytest.fixture(scope="session", autouse=True)
def any_machine() -> Iterator[None]:
    """Let doctor find enough memory and disk whatever else runs on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("search_app.server.checkup._LEAST_MEMORY", 0)
        patch.setattr("search_app.server.checkup._LEAST_DISK", 0)
        yield


@pytest.fixture(scope="session")
def built_demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the demo, to be copied; the first worker that needs it builds it for all."""
    temporary = tmp_path_factory.getbasetemp()
    built = (temporary if worker_id == "master" else temporary.parent) / "demo"
    with built.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            call(built, "demo", "--no-serve")
    return built


@pytest.fixture(scope="session")
def demo(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the demo."""
    return Path(shutil.copytree(built_demo, tmp_path_factory.mktemp("demo") / "workspace"))


THREE_PEOPLE = ("needle-mira", "needle-oren", "needle-ada")
_SEARCHES = ["espresso beans", "mocha coffee", "programming language", "compiler", "cat", "volcano"]


@pytest.fixture(scope="session")
def three_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of three people who searched twice each; copy it before a change."""
    folder = tmp_path_factory.mktemp("three people")
    root, log = folder / "workspace", folder / "log.tsv"
    documents = (
        {"id": f"d{at}", "title": text, "text": f"java {text}"} for at, text in enumerate(_SEARCHES)
    )
    lines = [
        f"{THREE_PEOPLE[at // 2]}\t{text}\t2026-03-0{at + 1} 08:00:00\t\t\n"
        for at, text in enumerate(_SEARCHES)
    ]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    call(root, "index", jsonl(folder / "corpus.jsonl", documents))
    call(root, "profiles", log)
    call(root, "anonymize", "--set", "p=0.9")
    return root
