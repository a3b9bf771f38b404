"""What a release by a package's method promises: nothing but what it declares itself.

No judge knows the method, and none loads the package. The release names one of our promises in its
parameters, and states the bounds. Rows must be means or unions of their members, so that everything
can be counted again from rows and profiles. All that the method adds of its own is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...promise import DECLARATION, DECLARED, NAME, declared
from ..choices import MIN_USERS, MOST, Numbers, Words, parameter_faults
from ..files.evidence import Parts
from ..files.profiles import JudgedProfiles
from ..files.strict_lines import is_real, is_short, is_whole
from ..finding import Findings
from ..recounts.groups import judge_groups
from ..recounts.rows import expected_rows, judge_rows
from ..tally import Grounds, Tally
from . import p_linkability
from .record import Judge

_WORDS: Words = {DECLARATION: (*DECLARED,), "representative": ("centroid", "union")}
_BOUNDS: Numbers = {name: p_linkability.NUMBERS[name] for name in "pklt"}
_USUAL: Mapping[str, Any] = {**dict.fromkeys("pklt"), "representative": "centroid", "min_users": 1}
_COUNTED = {*_USUAL, DECLARATION}
_OWN = re.compile(r"[a-z][a-z_]{0,29}")
WORDS = {*_COUNTED, *DECLARED, "centroid", "union"}


def judge_declared(method: str, parameters: Mapping[str, Any]) -> Judge | None:
    """Return how releases by a package's `method` are judged; None if `parameters` don't say it."""
    promise = declared(parameters)
    if promise is None or not NAME.fullmatch(method):
        return None
    # Nothing shows how these were used, so readers may doubt them.
    own = {*parameters} - _COUNTED
    return Judge(
        method,
        promise,
        _judge,
        _foresee,
        {*WORDS, *own, method, "true", "false"},
        _faults,
        own,
        in_shards=p_linkability.in_shards,
    )


def _meant(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return `parameters` with what those that are not stated mean."""
    every_term = parameters.get(DECLARATION) == "every-term"
    return {**_USUAL, **parameters, "guarantee": "every-term" if every_term else "average"}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether the groups keep each bound that is declared, and rows hold nothing else."""
    yield from judge_groups(_meant(parameters), grounds.tally)
    yield from judge_rows(_meant(parameters), grounds.tally, grounds.rows)


def _foresee(
    parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: JudgedProfiles
) -> Any:
    """Return marks for the cells that rows must release, and every cell's weight."""
    return expected_rows(_meant(parameters), tally)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the bounds, and with what the method adds of its own."""
    meant = {**_USUAL, **{name: parameters[name] for name in _COUNTED & parameters.keys()}}
    yield from parameter_faults(meant, _WORDS, {**_BOUNDS, **MIN_USERS})
    if meant[DECLARATION] == "average" and all(meant[name] is None for name in "pklt"):
        yield "it declares a promise, but p, k, l and t are not set"
    if meant[DECLARATION] == "every-term" and meant["p"] is None:
        yield "it declares every-term, but p is not set"
    for name in sorted(parameters.keys() - _COUNTED):
        if not _OWN.fullmatch(name) or not _is_plain(parameters[name]):
            yield "a parameter of its own is no lower-case name with a number or switch"


def _is_plain(value: Any) -> bool:
    """Return whether `value` may be that of a package's own parameter: no text, no long number."""
    if value is None or value in ("true", "false"):
        return True
    real = type(value) is float and is_real(abs(value))
    return (is_whole(value, -MOST, MOST) or real) and is_short(value)
