"""What a release by pooled promises: equal groups, and shares or means of pools within p.

The release's own key made all draws, and the judge repeats them: who is unassigned, how groups are
numbered, and which of equal shares stands first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...arrays import Ints
from ...promise import Promise
from ..choices import parameter_faults
from ..facts import facts_of_rows
from ..files.evidence import KEY, MANIFEST, ROWS, Parts
from ..files.profiles import JudgedProfiles
from ..files.strict_lines import read_strictly
from ..finding import Broken, Finding, Findings, row_findings
from ..recounts.pools import Plan, of_groups, recount_pools, secret_numbers
from ..recounts.shares import NUMBERS, QUOTED, judge_belief, judge_published, shares_in
from ..tally import ExpectedShares, Grounds, Tally
from .record import Judge

_WORDS = {"meet_paper": ("true", "false")}
WORDS = {*_WORDS, *NUMBERS, "true", "false"}
_KEY = re.compile(r"[0-9a-f]{64}")


def _judge(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Yield whether key, groups, draws, rows and shares are as promised."""
    plan = _plan(parameters, grounds.tally, grounds.parts)
    tally = of_groups(grounds.tally, plan.groups)
    yield Finding("key", True, KEY, "is there: 32 bytes")
    if changed := tally.edited is not None:
        line = "draws and pools are of all groups of the making, and were checked then"
        yield Finding("groups", True, ROWS, f"each group has {plan.size} members; {line}")
    else:
        yield from _judge_drawn(grounds.group_of, grounds.people.users, plan)
    paper = parameters["meet_paper"] == "true"
    if paper:
        need = math.ceil(Fraction(tally.profile_terms, tally.users) / plan.p)
        wrong = tally.distinct < need
        wrong[plan.groups :] = False
        wrong = tally.sure(wrong)
        line = f"has fewer than the {need} distinct terms that p={float(plan.p)} needs"
        good = f"each group has {need} distinct terms or more, as p={float(plan.p)} needs"
        good += tally.so_far
        yield from row_findings("paper", wrong, line, good)
    if changed:
        shares = shares_in(grounds.rows, tally.users)
    else:
        shares = grounds.shares or recount_pools(tally, grounds.people.terms, plan)
        fault = "has a share that is neither its members' nor the mean of its pool"
        yield from judge_published(shares, tally, grounds.rows, fault)
    yield from judge_belief(shares, tally, plan.p, "all in groups")
    # Readers must see what the guarantee does not cover.
    line = "it covers a term's own column; related terms, or all profiles, may reveal more"
    yield Finding("guarantee", True, MANIFEST, line)
    if grounds.tally.users - tally.users:
        but = ", except the size of groups" if paper else ""
        line = (
            f"nothing published is made of the unassigned users' profiles{but}; someone who learns "
            "elsewhere how many of all users have a term can subtract the groups' number"
        )
        yield Finding("guarantee", True, MANIFEST, line)


def _foresee(
    parameters: Mapping[str, Any], tally: Tally, parts: Parts, people: JudgedProfiles
) -> ExpectedShares:
    """Return the shares that rows must hold."""
    plan = _plan(parameters, tally, parts)
    return recount_pools(of_groups(tally, plan.groups), people.terms, plan)


def _facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that this method states: those of its groups."""
    sizes = grounds.tally.sizes
    groups = sizes.size - int(sizes[-1] < sizes[0])
    return facts_of_rows(of_groups(grounds.tally, groups), grounds.rows, groups)


def _faults(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Return what is wrong with `parameters`."""
    return parameter_faults(parameters, _WORDS, NUMBERS)


def _plan(parameters: Mapping[str, Any], tally: Tally, parts: Parts) -> Plan:
    """Return what pools are made by; raise Broken if they can't be counted again."""
    key, p = key_of(parts), Fraction(str(parameters["p"]))
    least = max(2, math.ceil(1 / p))
    size = int(tally.sizes[0])
    if size < least or (size > least and parameters["meet_paper"] == "false"):
        line = f"has {size} members, but groups must have {least} at p={float(p)}"
        more = ", or more" if parameters["meet_paper"] == "true" else ""
        raise Broken("groups", f"{ROWS}, line 1", line + more)
    groups, left = divmod(tally.users, size)
    wanted = [size] * groups + [left] * (left > 0)
    there = tally.sizes.tolist()
    if tally.withdrawn and tally.made == len(wanted):
        wanted = [size] * (len(there) - 1) + [left if there[-1] == left else size]
        groups = wanted.count(size)
    if there != wanted:
        line = f"there must be {groups} groups of {size} users"
        line += f" and a last row of the {left} unassigned" if left else ""
        raise Broken("groups", ROWS, line)
    return Plan(groups, size, p, key)


def key_of(parts: Parts) -> bytes:
    """Return the key in `parts`; its file must hold nothing else."""
    if KEY not in parts:
        raise Broken("key", KEY, "is missing, so nobody can check how equal shares were ordered")
    try:
        record = read_strictly(parts[KEY])
    except (ValueError, RecursionError):
        record = None
    digits = record["key"] if type(record) is dict and record.keys() == {"key"} else None
    if type(digits) is str and _KEY.fullmatch(digits):
        return bytes.fromhex(digits)
    # No finding shows what the file holds, as it may be the key after all.
    raise Broken("key", KEY, "must hold a key of 32 bytes in hexadecimal digits, and nothing else")


def _judge_drawn(group_of: Ints, names: Sequence[str], plan: Plan) -> Findings:
    """Yield whether the key drew the unassigned users and the order of groups."""
    users, left = group_of.size, group_of.size % plan.size
    line = f"each of {plan.groups} groups has {plan.size} members"
    if left:
        line += f"; {left} {'user is' if left == 1 else 'users are'} unassigned"
    yield Finding("groups", True, ROWS, line)
    numbers = [int(secret_numbers(plan.key, f"left over {name}", 1)[0]) for name in names]
    drawn = sorted(range(users), key=numbers.__getitem__)[:left]
    line = "does not serve the unassigned users that the key drew"
    good = "the key drew the unassigned users" if left else "nobody is unassigned"
    wrong = np.zeros(plan.groups + (left > 0), dtype=np.bool_)
    wrong[-1] = left > 0 and not np.array_equal(
        np.sort(np.array(drawn)), np.flatnonzero(group_of == plan.groups)
    )
    yield from row_findings("unassigned", wrong, line, good)
    # The key numbers groups in the order of their first members.
    rows, first = np.unique(group_of, return_index=True)
    by_first = rows[np.argsort(first, kind="stable")]
    by_first = by_first[by_first < plan.groups]
    wrong = np.zeros(wrong.size, dtype=np.bool_)
    drawn_order = np.argsort(secret_numbers(plan.key, "groups", plan.groups), kind="stable")
    wrong[by_first[by_first != drawn_order]] = True
    line, good = "has another number than the key drew", "groups have the numbers that the key drew"
    yield from row_findings("numbers", wrong, line, good)


JUDGE = Judge(
    "pooled",
    Promise("group", "belief", once=True, hides_members=True),
    _judge,
    _foresee,
    WORDS,
    _faults,
    QUOTED,
    keeps=frozenset({KEY}),
    facts=_facts,
)
