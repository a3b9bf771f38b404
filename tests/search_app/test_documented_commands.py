"""What README and docs show is what a reader gets, page by page, in a demo's workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts import docs

PAGES = {
    page.relative_to(docs.ROOT).as_posix(): text
    for page in docs.PAGES
    if docs.runs(text := page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_commands_print(name: str, built_demo: Path, tmp_path: Path) -> None:
    """`python -m scripts.docs --run WORKSPACE` writes what they print now."""
    shutil.copytree(built_demo, tmp_path / "veilsearch-data")
    assert [
        f"{step.does}\n{step.printed}"
        for step in docs.follow(PAGES[name], tmp_path)
        if not docs.matches(step.expected, step.printed)
    ] == []


def test_every_page_with_commands_is_followed() -> None:
    assert {"README.md", "docs/verbs.md", "docs/python.md", "docs/promises.md"} <= set(PAGES)
