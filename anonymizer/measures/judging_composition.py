"""What a release by composition promises: each group has each term about as often as all users do.

Weights play no part: a row holds the share of its members who have each term, of all their terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .evidence import MANIFEST, ROWS, Parts
from .finding import Broken, Finding, Findings, told_rows
from .grounds import Grounds, Shares
from .judging_parameters import Numbers, parameter_faults
from .judging_shares import NUMBERS, SIZES, judge_belief, judge_published
from .people import People
from .tally import Tally

_NUMBERS: Numbers = {**NUMBERS, "size": SIZES}
WORDS = {*_NUMBERS}


def judge_composition(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Check the parameters, the groups' sizes, the rows, and then each share."""
    _check(parameters)
    yield Finding("parameters", True, MANIFEST, "all there and in range")
    tally = grounds.tally
    yield from _judge_sizes(parameters["size"], tally)
    shares = grounds.shares or _shares(tally)
    fault = "has a weight that is not the share of its members"
    yield from judge_published(shares, grounds.rows, fault)
    yield from judge_belief(shares, tally, Fraction(str(parameters["p"])))


def foresee_composition(
    parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: People
) -> Shares:
    """Return the shares that rows must hold."""
    _check(parameters)
    return _shares(tally)


def _check(parameters: Mapping[str, Any]) -> None:
    faults = list(parameter_faults(parameters, {}, _NUMBERS))
    if faults:
        raise Broken("parameters", MANIFEST, "; ".join(faults))


def _shares(tally: Tally) -> Shares:
    return Shares(tally.keys, tally.counts, tally.sizes[tally.group])


def _judge_sizes(size: int | None, tally: Tally) -> Findings:
    """Check that groups are equally large, or differ by one where users don't divide."""
    users, groups = tally.users, tally.sizes.size
    wanted = max(1, users // size) if size else groups
    if groups != wanted:
        line = f"{users} users make {wanted} groups of size={size}, but there are {groups}"
        yield Finding("groups", False, ROWS, line)
    least = users // groups
    wrong = (tally.sizes != least) & (tally.sizes != least + 1)
    line = f"has neither {least} nor {least + 1} members, as {users} users in {groups} groups make"
    good = f"groups are equally large: each has {least} members"
    if users % groups:
        good += f", or {least + 1}, as {users} users make no {groups} groups of the same size"
    yield from told_rows("groups", wrong, line, good)
