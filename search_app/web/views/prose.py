"""Markdown of a study's texts as HTML: headings, paragraphs, lists, bold and italic."""

from __future__ import annotations

import re
from itertools import groupby

from markupsafe import Markup, escape

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*[-*]\s+(.*)")
_BOLD, _ITALIC = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*(.+?)\*")


def prose(text: str) -> Markup:
    """Return `text` as HTML; its largest headings become h2, because a page has an h1 already."""
    parts = []
    for kind, lines in groupby(text.splitlines(), _kind):
        content = [line.strip() for line in lines]
        if kind == "heading":
            for line in content:
                level, title = _HEADING.fullmatch(line).groups()  # type: ignore[union-attr]
                tag = f"h{min(len(level) + 1, 6)}"
                parts.append(f"<{tag}>{_inline(title)}</{tag}>")
        elif kind == "item":
            items = (_ITEM.fullmatch(line)[1] for line in content)  # type: ignore[index]
            parts.append(f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>")
        elif kind:
            parts.append(f"<p>{_inline(' '.join(content))}</p>")
    return Markup("\n".join(parts))  # noqa: S704 each piece is escaped


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    return "heading" if _HEADING.fullmatch(line) else "item" if _ITEM.fullmatch(line) else "text"


def _inline(text: str) -> str:
    bold = _BOLD.sub(r"<strong>\1</strong>", str(escape(text)))
    return _ITALIC.sub(r"<em>\1</em>", bold)
