"""Attacks 8 and 10: no text promises what an attack has shown not to hold."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = [
    path
    for folder in ("docs", "templates", "search_app/disclosure", "search_app/web")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".md", ".html", ".py")
]
# Who says that a group hides who is in it, or that nobody can be found, says too much.
MEMBERSHIP = re.compile(
    r"(hides?|hidden|conceals?|secret|can(not|’t) be (found|linked|identified))"
    r"[^.]{0,40}\b(who is in|members?|membership|which group|identity)\b"
    r"|\bnobody can (find|tell|learn|know) (who|which group)",
    re.IGNORECASE,
)
HOLDS = re.compile(  # what is true, and would match
    r"not hide who is in them|hides? what (else )?(the|their) members|hide their members.? shares"
)


def words(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


def test_no_text_promises_that_membership_is_hidden() -> None:
    for path in (ROOT / "README.md", *TEXTS):
        text = HOLDS.sub("", words(path))
        found = MEMBERSHIP.search(text)
        assert not found, (path, text[max(found.start() - 60, 0) : found.end() + 60])


def test_the_texts_say_what_was_measured() -> None:
    promises, readme = words(ROOT / "docs" / "promises.md"), words(ROOT / "README.md")
    assert "Groups do not hide who is in them" in promises
    assert "Belief changed by up to .92 at p = 0.1 and .99 at p = 0.4" in promises
    for text in (promises, readme):
        # A sentence on what both bound is followed by what pooled does not hold against.
        claims = re.findall(r"[^.]*`composition` and `pooled` bound [^.]*\.[^.]*\.", text)
        assert claims
        assert all("one term at a time" in claim for claim in claims), claims
