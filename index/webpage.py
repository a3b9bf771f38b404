"""HTML pages to title and text: scripts, styles and comments are dropped, in linear time."""

from __future__ import annotations

import re

from .markup import ends, spans, unescape

_UNSHOWN = "SCRIPT|STYLE|TEMPLATE|TITLE"
# What is possessive is never given back, so it costs no memory however long it is.
_PAGE = re.compile(
    r"(?:\s++|<\?[^<>]*>|<!--[^<>]*-->)*+<(?:!doctype\s+html|html)(?![\w-])", re.I | re.A
)
_START = re.compile(rf"<({_UNSHOWN}|!--)(?:(?<=--)|(?:\s[^<>]*)?>)", re.I | re.A)
_ENDS = {**ends(_UNSHOWN), "!--": re.compile("-->")}
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.I | re.A)


def is_page(body: str) -> bool:
    """Tell whether a document's body begins as an HTML page does."""
    return _PAGE.match(body) is not None


def read_page(page: str) -> tuple[str, str]:
    """Return a page's first title that is not empty, and its text without its titles."""
    title, kept, after = "", [], 0
    for start, end in spans(page, _START, _ENDS, len(page)):
        if end:
            kept.append(page[after : start.start()])
            after = end.end()
            if not title and start[1].upper() == "TITLE":
                title = " ".join(_plain(page[start.end() : end.start()]).split())
    return title, _plain(" ".join([*kept, page[after:]]))


def _plain(marked: str) -> str:
    return unescape(_TAG.sub(" ", marked)).strip()
