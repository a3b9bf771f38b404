"""How the promise of a method is judged, as one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

from ...promise import Promise
from ..facts import general_facts
from ..files.foresight import Expected
from ..finding import Findings
from ..tally import Grounds


class Judge(NamedTuple):
    """How releases of a method are judged: by what it promises, whatever they state."""

    method: str
    # Written down a second time, because judges import no method.
    promise: Promise
    judge: Callable[[Mapping[str, object], Grounds], Findings]
    expected: Expected  # what its rows must hold
    words: Set[str]  # the words that its parameters and facts may hold, with their names
    faults: Callable[[Mapping[str, Any]], Iterable[str]]  # what is wrong with its parameters
    quoted: Set[str] = frozenset()  # the parameters that rows and profiles do not show
    deletes: bool = False  # terms of users; users without any have no row
    keeps_key: bool = False  # the release has a secret key, which made the draws
    takes_log: bool = False  # and releases one: it is judged by the log, not by profiles
    facts: Callable[[Grounds], Mapping[str, int | float]] = general_facts
    # Returns why single-person rows must not be published, or "" if they may be. It takes the
    # parameters and whether users are sessions. Without it such a row counts as a profile.
    single_rows: Callable[[Mapping[str, object], bool], str] | None = None
    single_line: str = "each row is one user's"  # the finding if they may be published
