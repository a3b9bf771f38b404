"""What a release promises: the one record of a method that pages, verbs and the ledger read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Behind = Literal["group", "person", "query"]
Bounds = Literal[
    "average",
    "every-term",
    "belief",
    "differential",
    "combinations",
    "vocabulary",
    "query",
    "nothing",
]


@dataclass(frozen=True)
class Promise:
    """What a release of a method promises."""

    # Who stands behind a released row; query: one person, by queries that k people entered.
    behind: Behind
    bounds: Bounds
    # Holds for only one release of the same people.
    once: bool = False
    hides_members: bool = False  # rows do not show their members' shares
    words_above: bool = False  # rows show words that stand for people's own words below them

    @property
    def single_person(self) -> bool:
        """Return whether each row is of one person."""
        return self.behind in ("person", "query")


AVERAGE = Promise("group", "average")
UNKNOWN = Promise("group", "nothing")  # for a method that is not known here

# What a package's method may promise, as its releases declare: what rows and profiles show.
DECLARED = {
    "average": AVERAGE,
    "every-term": Promise("group", "every-term"),
    "nothing": UNKNOWN,
}
DECLARATION = "promise"  # the parameter that declares it
NAME = re.compile(r"[a-z][a-z0-9-]{1,39}")  # of what a package adds


def declared(parameters: Mapping[str, object]) -> Promise | None:
    """Return what `parameters` declare that a package's method promises; None if nothing known."""
    return DECLARED.get(str(parameters.get(DECLARATION)))
