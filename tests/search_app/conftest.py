"""Verbs called in one workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search_app.cli import main


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
