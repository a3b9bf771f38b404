"""Verbs called in one workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search_app.cli import main, run


class Run:
    """Calls verbs in one workspace and keeps what they say."""

    def __init__(self, workspace: Path, capsys: pytest.CaptureFixture[str]):
        self.workspace = workspace
        self.capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["--workspace", str(self.workspace), *map(str, arguments)])
        said = self.capsys.readouterr()
        assert ended.value.code == code, said.err
        self.talk = said.err
        return said.out

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "--json"))

    def refused(self, *arguments: object) -> str:
        """Run what must be refused: exit 2, nothing on stdout, one line on stderr."""
        assert self(*arguments, code=2) == ""
        assert self.talk.startswith("veilsearch: ")
        assert self.talk.count("\n") == 1, self.talk
        return self.talk


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the whole demo once."""
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    assert run(["--workspace", str(folder), "demo", "--no-serve"]) == 0
    return folder


THREE_PEOPLE = ("needle-mira", "needle-oren", "needle-ada")
_SEARCHES = ["espresso beans", "mocha coffee", "programming language", "compiler", "cat", "volcano"]


@pytest.fixture(scope="session")
def three_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a workspace of three people who searched twice each, and a corpus on it; copy it."""
    folder = tmp_path_factory.mktemp("three people")
    root, corpus, log = folder / "workspace", folder / "corpus.jsonl", folder / "log.tsv"
    corpus.write_text(
        "".join(
            json.dumps({"id": f"d{at}", "title": text, "text": f"java {text}"}) + "\n"
            for at, text in enumerate(_SEARCHES)
        )
    )
    lines = [
        f"{THREE_PEOPLE[at // 2]}\t{text}\t2026-03-0{at + 1} 08:00:00\t\t\n"
        for at, text in enumerate(_SEARCHES)
    ]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    for verb in (["index", corpus], ["profiles", log], ["anonymize", "--set", "p=0.9"]):
        with pytest.raises(SystemExit) as ended:
            main(["--workspace", str(root), *map(str, verb)])
        assert ended.value.code == 0
    return root
