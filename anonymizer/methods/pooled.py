"""pooled: groups of alike users whose rows publish a mean where a share would tell too much.

Ours. All groups have m members, m = ceil(1/p), or the smallest m with which each group has
|U|avg / p distinct terms, too (`meet_paper`, the bound of Zhu & Xiong). The n mod m users left
over are drawn without a look at their profiles, and nothing that is published is made of these:
they are served by one row more, the shares of all who are in groups. What a group publishes of a
term is the share of its members, or the mean of its pool (see pooling.py). Whoever reads a term's
own column, knowing the victim's group and all else but the key, believes with just the published
share that the victim has the term: at most p away from the share of all who are in groups, for
terms that the row does not hold, too.

That holds because groups are equally large, made of profiles in the order of their content (any
names could be theirs), numbered at random, and equal shares stand in a random order. These draws
and the users left over come from a secret key, not from the seed; who has the key could replay
them. One key serves one release, and one release one set of profiles; made anew because somebody
is forgotten, it keeps the key, so that few others change sides.
What the key settles, so that a judge can settle it once more: SHAKE-256 of the key and of a name
in UTF-8 gives each of a list of items 8 bytes, a number with its lowest byte first, and items stand
in ascending order of their numbers. "left over USER", one item: the n mod m users with the smallest
numbers are left over, whoever else is there. Groups in the order of their first members, "groups":
the group at place i of that order gets row number order[i]. Rows, "ties of TERM": of equal counts
the row of the smaller number stands first, for the pool from the lower end last.
Key 00 01 .. 1f, "groups", three items: 18196744385391566406, 9215127205093378510,
12916560353276332279, thus the order 1, 2, 0. "ties of tea": 7035573845584675592,
520046053104225255, 37503385224193059.

Not promised: an attacker with a model of which terms go together can learn more; and who knows
from elsewhere how many of all n users have a term can take the groups' from that, which leaves
those left over. With `meet_paper` the size of groups is found by trials, each of which leaves over
others: it depends a little on everybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ..annealing import anneal, steps_for
from ..bounded_shares import counts_of, fraction_of
from ..model import BadParameter, Grouping, Ints, Profiles, Progress, Release, Unsatisfiable, silent
from ..places import in_order_of_content
from ..pooling import pooled_shares
from ..representative import named_rows
from ..secret_order import (
    Secrets,
    refuse_no_key,
    secret_numbers,
    secret_numbers_of,
    secret_order,
)
from ..similarity import Documents, likeness, refuse_bad_sampling

_TRIAL = 8  # a size is tried with one of so many steps


@dataclass(frozen=True)
class _Task:
    """What groups are to be made of."""

    profiles: Profiles
    sample: Documents
    p: Fraction
    steps: int
    key: bytes
    rng: np.random.Generator
    progress: Progress


class _Dealt(NamedTuple):
    """Users dealt out to groups of one size."""

    users: Ints  # of the profiles; the others are left over
    profiles: Profiles  # theirs
    group_of: Ints

    @property
    def counts(self) -> csr_matrix:
        """Return how many members have each term: groups x terms."""
        return counts_of(self.profiles, Grouping(self.group_of))


def anonymize(
    profiles: Profiles,
    *,
    p: float = 0.4,
    meet_paper: str = "false",
    documents: int = 2000,
    steps: int | None = None,
    sample: Documents | None = None,
    key: bytes | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    **_others: object,
) -> Release:
    """Group alike users, and pool shares until each published one is within p of all members'."""
    share = fraction_of(p)
    if meet_paper not in ("true", "false"):
        raise BadParameter(f"meet_paper={meet_paper} must be true or false")
    sample, secret = refuse_bad_sampling(sample, documents, steps), refuse_no_key(key)
    least = max(2, math.ceil(1 / share))
    _refuse_few(len(profiles), least)
    swaps = steps or steps_for(len(profiles))
    task = _Task(profiles, sample, share, swaps, secret, rng, progress)
    dealt = _diverse(task, least) if meet_paper == "true" else _deal(task, least, swaps)
    rows, row_of_user = _rows(task, _renumbered(secret, dealt))
    given = {"p": p, "meet_paper": meet_paper}
    parameters = {**given, "documents": sample.vectors.shape[0], "steps": steps}
    return Release(rows, profiles.users, row_of_user, "pooled", parameters, key=secret)


def _refuse_few(users: int, size: int) -> None:
    if users < 2 * size:
        groups = f"{size}" if size <= users else f"more than {users}"
        larger = "take a larger p, or more users" if size > 2 else "take more users"
        raise Unsatisfiable(f"{users} users make no two groups of {groups}; {larger}")


def _deal(task: _Task, size: int, steps: int) -> _Dealt:
    """Deal users out to groups of a size, by the profiles of no other users than these."""
    everybody, groups = len(task.profiles), len(task.profiles) // size
    numbers = secret_numbers_of(task.key, "left over", task.profiles.users)
    users = np.sort(np.argsort(numbers, kind="stable")[everybody % size :])
    names = tuple(task.profiles.users[user] for user in users.tolist())
    people = Profiles(names, task.profiles.terms, task.profiles.weights[users])
    sizes = np.full(groups, size, dtype=np.int64)
    ordered, order = in_order_of_content(people, task.key)
    alike = likeness(ordered, task.sample, task.rng)
    found = anneal(alike, sizes, task.rng, steps=steps, progress=task.progress)
    group_of = np.empty_like(order)
    group_of[order] = found.group_of
    return _Dealt(users, people, group_of)


def _diverse(task: _Task, least: int) -> _Dealt:
    """Return groups of the smallest size from the least one on that meets the paper's bound."""
    for size in range(least, len(task.profiles) // 2 + 1):
        trial = _deal(task, size, max(1, task.steps // _TRIAL))
        if _meets_paper(task, trial):  # closer groups have fewer terms, so others need no look
            dealt = _deal(task, size, task.steps)
            if _meets_paper(task, dealt):
                return dealt
    raise Unsatisfiable(
        f"no two groups have |U|avg / p distinct terms each at p={float(task.p)}; take a larger p, "
        "or meet_paper=false"
    )


def _meets_paper(task: _Task, dealt: _Dealt) -> bool:
    """Tell whether each group has |U|avg / p distinct terms."""
    average = Fraction(int(dealt.profiles.sizes.sum()), len(dealt.profiles))
    return int(np.diff(dealt.counts.indptr).min()) >= average / task.p


def _renumbered(key: bytes, dealt: _Dealt) -> _Dealt:
    """Give groups secret numbers, in the order of their first members.

    Those they were made under tell how they were made.
    """
    _, first, group = np.unique(dealt.group_of, return_index=True, return_inverse=True)
    number = np.empty_like(first)
    number[np.argsort(first)] = secret_order(key, "groups", first.size)
    return dealt._replace(group_of=number[group])


def _rows(task: _Task, dealt: _Dealt) -> tuple[Profiles, Ints]:
    """Return what groups publish, with a last row for those left over, and each user's row."""
    counts, terms = dealt.counts, task.profiles.terms
    groups, members = counts.shape[0], dealt.users.size

    def ties(term: int) -> Secrets:
        return secret_numbers(task.key, f"ties of {terms[term]}", groups)

    shares = pooled_shares(counts, members // groups, task.p, ties)
    published = shares.numerators / shares.denominators
    rows = csr_matrix((published, (shares.groups, shares.terms)), shape=counts.shape)
    if members < len(task.profiles):
        everybodys = csr_matrix(np.asarray(counts.sum(axis=0)) / members)
        rows = vstack([rows, everybodys], format="csr")
    rows.sort_indices()
    row_of_user = np.full(len(task.profiles), groups, dtype=np.int64)
    row_of_user[dealt.users] = dealt.group_of
    return named_rows(task.profiles, rows), row_of_user
