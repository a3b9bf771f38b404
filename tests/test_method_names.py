"""Where a method's name may stand: everything else asks its promise, or what it needs."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from anonymizer.methods import METHODS
from anonymizer.methods.baselines import BASELINES

ROOT = Path(__file__).parents[1]
PACKAGES = ("anonymizer", "index", "loops", "search_app")
DEFAULT = "search_app/settings.py"  # has the constant that defaults and remedies name


def files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from (ROOT / package).rglob("*.py")
    yield from (ROOT / "templates").rglob("*.html")


@cache
def said(path: Path) -> list[tuple[int, str]]:
    """List all lines of a template; of code, strings and comments alone: names are no claims."""
    if path.suffix == ".html":
        return [*enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    with path.open("rb") as file:
        return [
            (token.start[0], token.string)
            for token in tokenize.tokenize(file.readline)
            if token.type in (tokenize.STRING, tokenize.COMMENT)
        ]


def own(name: str) -> set[str]:
    file = f"{name.replace('-', '_')}.py"
    room = "baselines/" if METHODS[name] in BASELINES else ""
    return {f"anonymizer/{of}/{room}{file}" for of in ("methods", "verification/promises")}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_named_in_its_own_files_and_by_experiments_alone(name: str) -> None:
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in files()
        if path.relative_to(ROOT).parts[:2] != ("search_app", "experiments")
        for line, text in said(path)
        if word.search(text)
    }
    elsewhere = {place for place in found if place.rpartition(":")[0] not in own(name)}
    assert {place.rpartition(":")[0] for place in elsewhere} <= {DEFAULT}, (
        f"choose another name: {elsewhere}"
    )
    assert len(elsewhere) <= 1, f"choose another name: {elsewhere}"


def test_each_method_has_a_file_and_a_judge_of_its_name() -> None:
    for name in METHODS:
        assert all((ROOT / path).is_file() for path in own(name)), name
