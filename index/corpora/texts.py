"""Files that are one document each: HTML pages, Markdown and plain text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from unicodedata import normalize

from ..model import Account
from . import records
from .html import read_page

Texts = Callable[[str], tuple[str, str]]  # of a file's text: its title and its text

_CHARSET = re.compile(rb"""<meta[^<>]{0,200}charset\s*=\s*["']?([\w-]{1,40})""", re.I)
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$|^(\S.*)\n(?:=+|-+)[ \t]*$", re.M)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t][^()]*)?\)")
_SIGNS = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|>[ \t]?|```.*|~~~.*)|[*`]+", re.M)


def decoded(data: bytes, account: Account) -> str:
    """Return the text of a file's `data`: UTF-16 by its mark, or what a page says, or UTF-8."""
    named = _CHARSET.search(data[:4096])
    name = _MARKS.get(data[:2]) or (named[1].decode() if named else "")
    if name:
        try:
            return normalize("NFC", data.decode(codecs.lookup(name).name, "replace"))
        except (LookupError, ValueError):  # no such charset, or none of texts
            pass
    text = records.decode(data.removeprefix(codecs.BOM_UTF8), True, account)
    return normalize("NFC", text)


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
