"""What the pages are served from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from flask import current_app

from ..modes import Modes
from ..precision_log import PrecisionLog
from ..settings import Settings

KEY = "veilsearch"


@dataclass(frozen=True)
class Example:
    """A search worth showing: a query as one of the people."""

    user: str
    query: str
    label: str


@dataclass(frozen=True)
class Site:
    """A workspace as the pages see it."""

    modes: Modes
    log: PrecisionLog
    settings: Settings
    people: Mapping[str, str]  # user -> what is shown; empty where people are real: never listed
    clock: Callable[[], float]  # seconds since 1970
    release_name: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    corpus: str = ""  # the index by name


def this_site() -> Site:
    """Return the site of the request being answered."""
    return cast(Site, current_app.extensions[KEY])
