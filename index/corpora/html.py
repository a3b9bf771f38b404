"""Marked-up text to plain text: spans between tags, entities, and whole HTML pages."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

Ends = Mapping[str, re.Pattern[str]]

_ENTITY = re.compile(r"&#?\w{1,32};", re.A)
# TREC's Federal Register has names of its own, which HTML does not know.
_FEDERAL_REGISTER = {"&hyph;": "-", "&blank;": " "}


def ends(names: str) -> Ends:
    """Return a pattern for the end tag of each of `names`, which are capitals between bars."""
    return {name: re.compile(rf"</{name}\s*>", re.I | re.A) for name in names.split("|")}


def spans(
    body: str, starts: re.Pattern[str], closing: Ends, longest: int
) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Yield the start tags of `body` that are in no earlier span, and their end tags.

    Group 1 of `starts` is the name, and `closing` has the end tags. A span longer than `longest`
    has no end.
    """
    # An end tag is searched again only after it was passed, so all this takes linear time.
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
    """Return `text` with entities replaced if they end with a semicolon; any other & is text."""
    if "&" not in text:
        return text
    own = _FEDERAL_REGISTER.get
    return _ENTITY.sub(lambda entity: own(entity[0].lower()) or html.unescape(entity[0]), text)


_UNSHOWN = "SCRIPT|STYLE|TEMPLATE|TITLE"
_MENUS = "NAV|NOSCRIPT|SVG|SELECT|BUTTON"
# Possessive repeats never go back, so a long match takes no memory.
_PAGE = re.compile(
    r"(?:\s++|<\?[^<>]*>|<!--[^<>]*-->)*+<(?:!doctype\s+html|html)(?![\w-])", re.I | re.A
)
_START, _START_OR_MENU = (
    re.compile(rf"<({names}|!--)(?:(?<=--)|(?:\s[^<>]*)?>)", re.I | re.A)
    for names in (_UNSHOWN, f"{_UNSHOWN}|{_MENUS}")
)
_ENDS = {**ends(f"{_UNSHOWN}|{_MENUS}"), "!--": re.compile("-->")}
_HEADING = re.compile(r"<(H1)(?:\s[^<>]*)?>", re.I | re.A)
_HEADING_ENDS = ends("H1")
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.I | re.A)


def is_page(body: str) -> bool:
    """Return whether `body` begins as an HTML page does."""
    return _PAGE.match(body) is not None


def read_page(page: str, *, menus: bool = True) -> tuple[str, str]:
    """Return the first title of `page` that is not empty, and its text without titles.

    Without `menus` what leads to other pages is no text, and a heading may be the title.
    """
    title, kept, after = "", [], 0
    for start, end in spans(page, _START if menus else _START_OR_MENU, _ENDS, len(page)):
        if end:
            kept.append(page[after : start.start()])
            after = end.end()
            if not title and start[1].upper() == "TITLE":
                title = _line(page[start.end() : end.start()])
    shown = " ".join([*kept, page[after:]])
    if not (title or menus):
        headings = spans(shown, _HEADING, _HEADING_ENDS, len(shown))
        title = next((_line(shown[h.end() : end.start()]) for h, end in headings if end), "")
    return title, _plain(shown)


def _line(marked: str) -> str:
    return " ".join(_plain(marked).split())


def _plain(marked: str) -> str:
    return unescape(_TAG.sub(" ", marked)).strip()
