"""What a release by pooled promises: equal groups, and shares or pools' means within p.

Everything that was left to chance, its own key settles, and is settled by it once more: who is
left over, how groups are numbered, and which of equal shares stands first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .evidence import KEY, MANIFEST, ROWS, Parts
from .finding import Broken, Finding, Findings, Ints, told_rows
from .grounds import Grounds, Shares
from .judging_facts import facts_of_rows
from .judging_parameters import Numbers, parameter_faults
from .judging_shares import NUMBERS, judge_belief, judge_published
from .people import People
from .recounting_pools import Plan, of_groups, recount_pools, secret_number, secret_numbers
from .strict_lines import read_strictly
from .tally import Tally

_WORDS = {"meet_paper": ("true", "false")}
_NUMBERS: Numbers = NUMBERS
WORDS = {*_WORDS, *_NUMBERS, "true", "false"}
_KEY = re.compile(r"[0-9a-f]{64}")


def judge_pooled(parameters: Mapping[str, Any], grounds: Grounds) -> Findings:
    """Check parameters and key, the groups, what the key drew, the rows, and then each share."""
    plan = _plan(parameters, grounds.tally, grounds.parts)
    tally = of_groups(grounds.tally, plan.groups)
    yield Finding("parameters", True, MANIFEST, "all there and in range")
    yield Finding("key", True, KEY, "is there: 32 bytes")
    yield from _judge_drawn(grounds.group_of, grounds.people.users, plan)
    if parameters["meet_paper"] == "true":
        yield from _judge_paper(tally, plan)
    shares = grounds.shares or recount_pools(tally, grounds.people.terms, plan)
    fault = "has a share that is neither its members' nor the mean of their pool"
    yield from judge_published(shares, grounds.rows, fault)
    yield from judge_belief(shares, tally, plan.p, "all in groups")
    paper = parameters["meet_paper"] == "true"
    yield from _tell_bounds(grounds.tally.users - tally.users, paper=paper)


def foresee_pooled(
    parameters: Mapping[str, Any], tally: Tally, parts: Parts, people: People
) -> Shares:
    """Return the shares that rows must hold."""
    plan = _plan(parameters, tally, parts)
    return recount_pools(of_groups(tally, plan.groups), people.terms, plan)


def pooled_facts(grounds: Grounds) -> dict[str, int | float]:
    """Return the facts that this method states: those of its groups."""
    sizes = grounds.tally.sizes
    groups = sizes.size - int(sizes[-1] < sizes[0])
    return facts_of_rows(of_groups(grounds.tally, groups), grounds.rows, groups)


def _plan(parameters: Mapping[str, Any], tally: Tally, parts: Parts) -> Plan:
    """Return what pools are made by, or a breach behind which none can be recounted."""
    faults = list(parameter_faults(parameters, _WORDS, _NUMBERS))
    if faults:
        raise Broken("parameters", MANIFEST, "; ".join(faults))
    key, p = _key(parts), Fraction(str(parameters["p"]))
    least = max(2, math.ceil(1 / p))
    size = int(tally.sizes[0])
    if size < least or (size > least and parameters["meet_paper"] == "false"):
        line = f"has {size} members, but groups must have {least} at p={float(p)}"
        more = ", or more" if parameters["meet_paper"] == "true" else ""
        raise Broken("groups", f"{ROWS}, line 1", line + more)
    groups, left = divmod(tally.users, size)
    wanted = [size] * groups + [left] * (left > 0)
    if tally.sizes.tolist() != wanted:
        line = f"there are not {groups} groups of {size} users"
        line += f" and a last row of the {left} left over" if left else ""
        raise Broken("groups", ROWS, line)
    return Plan(groups, size, p, key)


def _key(parts: Parts) -> bytes:
    """Return the key; its file holds nothing else, and nothing of it is told."""
    if KEY not in parts:
        raise Broken(
            "key", KEY, "is missing, so that nobody can tell how equal shares were ordered"
        )
    try:
        record = read_strictly(parts[KEY])
    except (ValueError, RecursionError):
        record = None
    told = record["key"] if type(record) is dict and record.keys() == {"key"} else None
    if type(told) is str and _KEY.fullmatch(told):
        return bytes.fromhex(told)
    raise Broken("key", KEY, "is no key of 32 bytes, and nothing else, in hexadecimal digits")


def _judge_drawn(group_of: Ints, names: Sequence[str], plan: Plan) -> Findings:
    """Check sizes, who is left over, and the order of groups: the key drew both."""
    users, left = group_of.size, group_of.size % plan.size
    line = f"each of {plan.groups} groups has {plan.size} members"
    if left:
        line += f"; {left} {'user is' if left == 1 else 'users are'} left over"
    yield Finding("groups", True, ROWS, line)
    numbers = [secret_number(plan.key, f"left over {name}") for name in names]
    drawn = sorted(range(users), key=numbers.__getitem__)[:left]
    line = "is not of the users whom the key leaves over"
    good = "those left over are whom the key drew" if left else "nobody is left over"
    wrong = np.zeros(plan.groups + (left > 0), dtype=np.bool_)
    wrong[-1] = left > 0 and not np.array_equal(
        np.sort(np.array(drawn)), np.flatnonzero(group_of == plan.groups)
    )
    yield from told_rows("left over", wrong, line, good)
    found, first = np.unique(group_of, return_index=True)
    by_first = found[np.argsort(first, kind="stable")]
    by_first = by_first[by_first < plan.groups]  # groups in the order of their first members
    wrong = np.zeros(wrong.size, dtype=np.bool_)
    wrong[by_first[by_first != _order(plan.key, "groups", plan.groups)]] = True
    line, good = "has not the number that the key gives it", "groups have the numbers the key drew"
    yield from told_rows("numbers", wrong, line, good)


def _order(key: bytes, what: str, count: int) -> Ints:
    return np.argsort(secret_numbers(key, what, count), kind="stable")


def _judge_paper(tally: Tally, plan: Plan) -> Findings:
    """Check that each group has |U|avg / p distinct terms; no smaller size is looked for."""
    need = math.ceil(Fraction(tally.profile_terms, tally.users) / plan.p)
    wrong = tally.distinct < need
    wrong[plan.groups :] = False
    line = f"has fewer than the {need} distinct terms that p={float(plan.p)} needs"
    good = f"each group has {need} distinct terms or more, as p={float(plan.p)} needs"
    yield from told_rows("paper", wrong, line, good)


def _tell_bounds(left: int, *, paper: bool) -> Findings:
    """Tell what the guarantee does not speak of."""
    line = "of whoever reads a term's own column; one who knows what goes together may learn more"
    yield Finding("guarantee", True, MANIFEST, line)
    if left:
        but = ", but how large groups are" if paper else ""
        line = (
            f"nothing published is made of the profiles left over{but}; who knows from elsewhere "
            "how many of all users have a term can take the groups' from that"
        )
        yield Finding("guarantee", True, MANIFEST, line)
