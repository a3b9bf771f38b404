"""Files that are one document each: HTML pages, Markdown and plain text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from ..model import Account
from . import records
from .html import read_page

Texts = Callable[[str], tuple[str, str]]  # of a file's text: its title and its text

_CHARSET = re.compile(rb"""<meta[^<>]{0,200}charset\s*=\s*["']?([\w-]{1,40})""", re.I)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Browsers read these names otherwise: such pages have signs of Windows, or were converted.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$|^(\S.*)\n(?:=+|-+)[ \t]*$", re.M)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t][^()]*)?\)")
_SIGNS = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|>[ \t]?|```.*|~~~.*)|[*`]+", re.M)


def decoded(data: bytes, account: Account, *, page: bool = False) -> str:
    """Return the text of a file's `data`: by its mark, or as a `page` says, or UTF-8."""
    name = next((_MARKS[mark] for mark in _MARKS if data.startswith(mark)), "")
    if page and not name and (named := _CHARSET.search(data[:4096])):
        name = _charset(named[1].decode())
    return data.decode(name, "replace") if name else records.decode(data, True, account)


def _charset(name: str) -> str:
    """Return what a page means that says it is in the charset `name`; "" if that can't be."""
    try:
        known = codecs.lookup(name).name
        # The tag that says it was read byte by byte, so the page is not in UTF-16 and the like.
        as_said = b"<meta>\xff".decode(known, "replace").startswith("<meta>")
    except (LookupError, ValueError):
        return ""
    return _MEANT.get(known, known) if as_said else ""


def plain(text: str) -> tuple[str, str]:
    """Return no title, and `text`."""
    return "", text.strip()


def markdown(text: str) -> tuple[str, str]:
    """Return the first heading of `text`, and `text` without what only marks it up."""
    heading = _HEADING.search(text)
    title = (heading[1] or heading[2]) if heading else ""
    words = _unmarked(title).split()
    # A heading may end with the signs that it begins with.
    last = len(words) - (len(words) > 1 and not words[-1].strip("#"))
    return " ".join(words[:last]), _unmarked(text).strip()


def html(text: str) -> tuple[str, str]:
    """Return the title of the page in `text`, and what readers see of it but its menus."""
    return read_page(text, menus=False)


def _unmarked(text: str) -> str:
    return _SIGNS.sub("", _LINK.sub(r"\1", text))


TEXTS: dict[str, Texts] = {"html": html, "markdown": markdown, "text": plain}
