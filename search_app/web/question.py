"""A request's parameters, checked, as one question, and back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from flask import Request, abort

from ..candidates import MOST
from ..settings import Settings
from .access import NOBODY_HERE, person
from .addresses import link
from .parameters import LONGEST, MIX, MODE, OPERATORS, PAGE, POOL, read_parameters
from .site import DEMO, PLAIN, Site

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
    mix: float = 1.0
    named: bool = True  # addresses name the person: only where people are invented

    def parameters(self, usual: Settings) -> dict[str, Any]:
        """Return the parameters that ask this question, those of the usual kind left out."""
        values = {
            "q": self.query,
            "user": self.user if self.named else "",
            "mode": self.mode if self.user else "",
            "pool": "" if self.pool == usual.pool else str(self.pool),
            "operators": "" if self.operators == usual.operators else str(int(self.operators)),
            "mix": "" if self.mix == usual.mix else f"{self.mix:g}",
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
    user = person(site, arguments)
    values = read_parameters(arguments, (POOL, PAGE, MODE, MIX, OPERATORS), site)
    mode, pool, page = values["mode"], values["pool"], values["page"]
    if site.access == PLAIN and mode not in ("", "none"):
        abort(403, NOBODY_HERE)
    pages = -(-pool // site.settings.top)
    if page > pages:
        abort(400, f"page={page} must be a whole number from 1 to {pages}")
    query = _cleaned(arguments.get("q", ""))
    return Question(
        query=query[:LONGEST].strip(),
        user=user,
        mode=mode or site.modes.usual_mode(user),
        pool=pool,
        page=page,
        cut=len(query) > LONGEST,
        operators=values["operators"],
        mix=values["mix"],
        named=site.access == DEMO,
    )


def address(endpoint: str, question: Question, site: Site) -> str:
    """Return the address of a page that asks a question."""
    asked = urlencode(question.parameters(site.settings))
    return f"{link(endpoint)}?{asked}" if asked else link(endpoint)


def device_address(question: Question, site: Site) -> str:
    """Return where a device asks the same with its own profile; nowhere if that is closed."""
    if not site.on_device:
        return ""
    pool = min(question.pool, MOST)
    asked = replace(question, user="", pool=pool, mix=site.settings.mix, page=1)
    return address("device.show", asked, site)


def counts(request: Request) -> bool:
    """Tell whether a request is a search of ours, not a probe and not another site's doing."""
    return request.method == "GET" and request.headers.get("Sec-Fetch-Site") != "cross-site"


def _cleaned(query: str) -> str:
    """Turn control characters and lone surrogates into blanks."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in query).strip()
