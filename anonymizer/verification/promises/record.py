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
    expected: Expected | None  # what its rows must hold; None: their members don't decide it
    words: Set[str]  # the words that its parameters and facts may hold, with their names
    faults: Callable[[Mapping[str, Any]], Iterable[str]]  # what is wrong with its parameters
    quoted: Set[str] = frozenset()  # the parameters that rows and profiles do not show
    keeps: Set[str] = frozenset()  # the parts of its releases that others don't have
    leaves_out: bool = False  # users may have no row, as nothing of theirs is published
    facts: Callable[[Grounds], Mapping[str, int | float]] = general_facts
    # Returns why single-person rows must not be published, or "" if they may be. It takes the
    # parameters and whether users are sessions. Without it such a row counts as a profile.
    single_rows: Callable[[Mapping[str, object], bool], str] | None = None
    # Returns whether releases with these parameters are judged shard by shard: a group, its row and
    # sums over everybody must say all. Such releases state the general facts.
    in_shards: Callable[[Mapping[str, Any]], bool] = lambda _: False
    single_line: str = "each row is one user's"  # the finding if they may be published
