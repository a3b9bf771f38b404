"""A request's parameters, checked, as one question, and back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from flask import Request, abort, url_for

from ..modes import MODES
from ..settings import Settings
from .site import Site

LONGEST = 2000  # characters of a query
LARGEST_POOL = 10_000
_NUMBER = re.compile(r"[0-9]{1,5}")
_OPERATOR = re.compile(r'(?<!\S)(?:[+-]?"[^"]*[^\W_][^"]*"|[+-][^\W_])')  # a phrase, +must, -not


@dataclass(frozen=True)
class Question:
    """What is asked, as whom, how."""

    query: str
    user: str
    mode: str
    pool: int
    page: int
    cut: bool  # the query was longer than is searched
    operators: bool = False  # quotes, + and - mean something

    def parameters(self, usual: Settings) -> dict[str, Any]:
        """Return the parameters that ask this question, those of the usual kind left out."""
        values = {
            "q": self.query,
            "user": self.user,
            "mode": self.mode if self.user else "",
            "pool": "" if self.pool == usual.pool else str(self.pool),
            "operators": "" if self.operators == usual.operators else str(int(self.operators)),
            "page": "" if self.page == 1 else str(self.page),
        }
        return {name: value for name, value in values.items() if value}

    def in_mode(self, mode: str) -> Question:
        """Return this question in another mode, from its first page."""
        return replace(self, mode=mode, page=1)

    def on_page(self, page: int) -> Question:
        """Return this question on another page."""
        return replace(self, page=page)

    def read_with(self, operators: bool) -> Question:
        """Return this question with or without operators, from its first page."""
        return replace(self, operators=operators, page=1)

    @property
    def has_operators(self) -> bool:
        """Tell whether operators would make a difference."""
        return bool(_OPERATOR.search(self.query))

    def over(self, pool: int) -> Question:
        """Return this question over another pool, from its first page."""
        return replace(self, pool=pool, page=1)


def read_question(arguments: Mapping[str, str], site: Site) -> Question:
    """Check all parameters; whatever is wrong is refused in one sentence."""
    user, mode = arguments.get("user", ""), arguments.get("mode", "")
    _admit(user, mode, site)
    faults: list[str] = []
    pool = _number(arguments, "pool", site.settings.pool, LARGEST_POOL, faults)
    pages = -(-pool // site.settings.top)
    page = _number(arguments, "page", 1, pages, faults)
    if mode not in ("", *MODES):
        faults.append(f"mode={_short(mode)} must be one of {', '.join(MODES)}")
    operators = _switch(arguments, "operators", site.settings.operators, faults)
    if faults:
        abort(400, "; ".join(faults))
    query = _cleaned(arguments.get("q", ""))
    mode = mode or ("group" if user else "none")
    cut = len(query) > LONGEST
    return Question(query[:LONGEST].strip(), user, mode, pool, page, cut, operators)


def address(endpoint: str, question: Question, site: Site) -> str:
    """Return the address of a page that asks a question."""
    asked = urlencode(question.parameters(site.settings))
    return f"{url_for(endpoint)}?{asked}" if asked else url_for(endpoint)


def counts(request: Request) -> bool:
    """Tell whether a request is a search of ours, not a probe and not another site's doing."""
    return request.method == "GET" and request.headers.get("Sec-Fetch-Site") != "cross-site"


def _admit(user: str, mode: str, site: Site) -> None:
    """Let nobody ask as a person of a workspace of real people, or as an unknown person."""
    if not site.people and (user or mode not in ("", "none")):
        abort(403, "The people in this workspace are real: nobody can search as one of them here.")
    if user and user not in site.people:
        abort(404, "There is no such person here. Choose one from the list.")


def _number(
    arguments: Mapping[str, str], name: str, usual: int, largest: int, faults: list[str]
) -> int:
    value = arguments.get(name, "")
    if not value:
        return usual
    number = int(value) if _NUMBER.fullmatch(value) else 0
    if not 1 <= number <= largest:
        faults.append(f"{name}={_short(value)} must be a whole number from 1 to {largest}")
    return number or usual


def _switch(arguments: Mapping[str, str], name: str, usual: bool, faults: list[str]) -> bool:
    value = arguments.get(name, "")
    if value not in ("", "0", "1"):
        faults.append(f"{name}={_short(value)} must be 0 or 1")
    return value == "1" if value else usual


def _short(value: str) -> str:
    return value if len(value) <= 20 else f"{value[:20]}…"


def _cleaned(query: str) -> str:
    """Turn control characters and lone surrogates into blanks."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in query).strip()
