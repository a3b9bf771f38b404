"""Marked-up text to plain text: spans between tags, and entities."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

Ends = Mapping[str, re.Pattern[str]]

_ENTITY = re.compile(r"&#?\w{1,32};", re.A)
_FEDERAL_REGISTER = {"&hyph;": "-", "&blank;": " "}  # its own names for what HTML has no name for


def ends(names: str) -> Ends:
    """Return the end tag of each of the names, which stand in capitals between bars."""
    return {name: re.compile(rf"</{name}\s*>", re.I | re.A) for name in names.split("|")}


def spans(
    body: str, starts: re.Pattern[str], closing: Ends, longest: int
) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Yield the start tags, named in group 1, that stand in no earlier span, and their end tags.

    A span longer than `longest` has no end. An end tag is sought once more only after it has
    been passed, so all this takes linear time.
    """
    next_ends: dict[str, re.Match[str] | None] = {}
    after = 0
    for start in starts.finditer(body):
        name = start[1].upper()
        end = next_ends[name] if name in next_ends else closing[name].search(body, start.end())
        if end and end.start() < start.end():
            end = closing[name].search(body, start.end())
        next_ends[name] = end
        if start.start() >= after:
            near = end if end and end.start() - start.end() <= longest else None
            after = near.end() if near else start.end()
            yield start, near


def unescape(text: str) -> str:
    """Read entities that end as they should; a lone & is text."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    return _FEDERAL_REGISTER.get(entity[0].lower()) or html.unescape(entity[0])
