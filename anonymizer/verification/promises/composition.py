"""What a release by composition promises: each group has each term about as often as all users do.

Weights play no part: for each term a row holds the share of its members who have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...promise import Promise
from ..choices import Numbers, parameter_faults
from ..files.evidence import ROWS, Parts
from ..files.profiles import JudgedProfiles
from ..finding import Finding, Findings, row_findings
from ..recounts.shares import NUMBERS, QUOTED, SIZES, judge_belief, judge_published, shares_in
from ..tally import ExpectedShares, Grounds, Tally
from .record import Judge

_NUMBERS: Numbers = {**NUMBERS, "size": SIZES}
WORDS = {*_NUMBERS}


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether sizes of groups, rows and shares are as promised."""
    tally = grounds.tally
    size = parameters["size"]
    users, groups = tally.users, tally.made
    wanted = max(1, users // size) if size else groups
    # Users who are too few for one more group may be left in each shard.
    if not wanted - tally.shards < groups <= wanted:
        line = f"{users} users must make {wanted} groups of size={size}, but there are {groups}"
        yield Finding("groups", False, ROWS, line)
    # Groups differ by at most one member, as users seldom divide evenly.
    least = users // groups
    wrong = (tally.sizes != least) & (tally.sizes != least + 1)
    line = (
        f"must have {least} or {least + 1} members, as there are {users} users in {groups} groups"
    )
    good = f"groups are equally large: each has {least} members"
    if users % groups:
        good += f", or {least + 1}, as {users} users can't make {groups} groups of one size"
    yield from row_findings("groups", wrong, line, good)
    shares = grounds.shares or _shares(tally)
    fault = "has a weight that is not the share of its members"
    yield from judge_published(shares, tally, grounds.rows, fault)
    if tally.edited is not None:
        shares = shares_in(grounds.rows, tally.users)
    yield from judge_belief(shares, tally, Fraction(str(parameters["p"])))


def _foresee(
    _parameters: Mapping[str, Any], tally: Tally, _parts: Parts, _people: JudgedProfiles
) -> ExpectedShares:
    """Return the shares that rows must hold."""
    return _shares(tally)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Return what is wrong with `parameters`."""
    return parameter_faults(parameters, {}, _NUMBERS)


def _shares(tally: Tally) -> ExpectedShares:
    return ExpectedShares(tally.keys, tally.counts, tally.sizes[tally.group])


JUDGE = Judge(
    "composition",
    Promise("group", "belief", once=True),
    _judge,
    _foresee,
    WORDS,
    _faults,
    QUOTED,
    in_shards=lambda _: True,
)
