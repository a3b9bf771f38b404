"""pooled: groups of similar users, whose rows publish a mean where a share would reveal too much.

Ours. All groups have m members: m = ceil(1/p), or with `meet_paper` the smallest m that gives each
group |U|avg / p distinct terms (the bound of Zhu & Xiong). The n mod m unassigned users are drawn
without a look at their profiles, and nothing published is made of these. The fallback row serves
them: the shares of all users in groups. For each term a group publishes the share of its members,
or the mean of its pool (rows/pooling.py). Take an attacker who reads a term's own column, and knows
the victim's group and all else but the key. To this attacker the published share is the probability
that the victim has the term. It is at most p away from the share of all users in groups, also for
terms that the row does not hold.

This holds because groups are equally large, made of profiles in the order of their content (any
names could be theirs) and numbered at random, and because equal shares stand in a random order. A
secret key makes these draws, not the seed; someone who has the key could replay them. How groups
are annealed is no part of it: which exchanges are tried may depend on seed and profiles in any way.
One key serves one release, and one release serves one set of profiles. A release that is made again
because somebody is forgotten keeps its key, so that few others move between groups and the fallback
row.

A judge can repeat the draws. SHAKE-256 of the key and of a name in UTF-8 gives each item of a list
8 bytes, a number with its lowest byte first; items stand in ascending order of their numbers.
"left over USER", one item: the n mod m users with the smallest numbers are unassigned. "groups":
groups stand in the order of their first members, and group i gets row number order[i].
"ties of TERM": of equal counts the row of the smaller number stands first; from the lower end last.
Key 00 01 .. 1f, "groups", three items: 18196744385391566406, 9215127205093378510,
12916560353276332279, thus the order 1, 2, 0. "ties of tea": 7035573845584675592,
520046053104225255, 37503385224193059.

Not promised: an attacker with a model of which terms go together can learn more. Someone who learns
elsewhere how many of all n users have a term can subtract the groups' number; the rest are
unassigned users. With `meet_paper` trials decide the size of groups, each with other users
unassigned, so the size depends a little on everybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ..arrays import Ints
from ..errors import Unsatisfiable
from ..model import Grouping, Profiles, Progress, Release
from ..promise import Promise
from ..rows.representative import named_rows
from ..rows.secret_order import (
    Secrets,
    in_order_of_content,
    refuse_no_key,
    secret_numbers,
    secret_numbers_of,
    secret_order,
)
from ..similarity.documents import Documents, likeness, refuse_no_sample
from .method import SWITCH, Inputs, Method, Options, exchanges, option, rare, sampled

_TRIAL = 8  # the trial of a size takes one step in 8


@dataclass(frozen=True)
class _PooledTask:
    """What groups are made from."""

    profiles: Profiles
    sample: Documents
    p: Fraction
    steps: int
    key: bytes
    rng: np.random.Generator
    progress: Progress


class _Dealt(NamedTuple):
    """Users dealt to groups of one size."""

    users: Ints  # of the profiles; the others are unassigned
    profiles: Profiles  # theirs
    group_of: Ints

    @property
    def counts(self) -> csr_matrix:
        """Return how many members of each group have each term: groups x terms."""
        from ..grouping.shares import counts_of

        return counts_of(self.profiles, Grouping(self.group_of))


@dataclass(frozen=True)
class Pooled(Options):
    """The options of a pooled release."""

    p: float = option(0.4, "how far, at most, a published share may be from that of all in groups")
    meet_paper: str = option(
        "false",
        "true: the smallest size that also gives each group |U|avg / p distinct terms",
        choices=SWITCH,
    )
    documents: int = sampled()
    steps: int | None = exchanges("; off: 200 a person, at least 2 million")
    min_users: int = rare()


def run(inputs: Inputs, options: Pooled) -> Release:
    """Return the release of `inputs` with each published share within p of that of all members."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..grouping.annealing import steps_for
    from ..grouping.shares import fraction_of

    profiles, share = inputs.profiles, fraction_of(options.p)
    sample, secret = refuse_no_sample(inputs.sample), refuse_no_key(inputs.key)
    # Never 1, also at p = 1: the row of a group of one person would be their profile.
    least = max(2, math.ceil(1 / share))
    if len(profiles) < 2 * least:
        groups = f"{least}" if least <= len(profiles) else f"more than {len(profiles)}"
        larger = "take a larger p, or more users" if least > 2 else "take more users"
        raise Unsatisfiable(
            f"{len(profiles)} users are too few for two groups of {groups}; {larger}",
            needs=2 * least,
        )
    swaps = options.steps or steps_for(len(profiles))
    task = _PooledTask(profiles, sample, share, swaps, secret, inputs.rng, inputs.progress)
    paper = options.meet_paper == "true"
    dealt = _diverse(task, least) if paper else _deal(task, least, swaps)
    # Groups get new, secret numbers: the old ones would show how the groups were made.
    _, first, group = np.unique(dealt.group_of, return_index=True, return_inverse=True)
    number = np.empty_like(first)
    number[np.argsort(first)] = secret_order(secret, "groups", first.size)
    rows, row_of_user = _rows(task, dealt._replace(group_of=number[group]))
    settled = replace(options, documents=sample.vectors.shape[0])
    return replace(METHOD.release(settled, rows, profiles.users, row_of_user), key=secret)


def _deal(task: _PooledTask, size: int, steps: int) -> _Dealt:
    """Deal users to groups of `size`; the profiles of unassigned users play no part."""
    from ..grouping.annealing import anneal

    everybody, groups = len(task.profiles), len(task.profiles) // size
    # "left over" is part of the format: older releases were drawn under this name.
    numbers = secret_numbers_of(task.key, "left over", task.profiles.users)
    users = np.sort(np.argsort(numbers, kind="stable")[everybody % size :])
    people = task.profiles.some(users)
    sizes = np.full(groups, size, dtype=np.int64)
    ordered, order = in_order_of_content(people, task.key)
    alike = likeness(ordered, task.sample, task.rng)
    annealed = anneal(alike, sizes, task.rng, steps=steps, progress=task.progress)
    group_of = np.empty_like(order)
    group_of[order] = annealed.group_of
    return _Dealt(users, people, group_of)


def _diverse(task: _PooledTask, least: int) -> _Dealt:
    """Return groups of the smallest size, `least` or more, that meets the paper's bound."""
    for size in range(least, len(task.profiles) // 2 + 1):
        trial = _deal(task, size, max(1, task.steps // _TRIAL))
        # Longer annealing makes closer groups with fewer terms: a trial that fails is enough.
        if _meets_paper(task, trial):
            dealt = _deal(task, size, task.steps)
            if _meets_paper(task, dealt):
                return dealt
    raise Unsatisfiable(
        f"at p={float(task.p)} no two groups have |U|avg / p distinct terms each; take a larger p, "
        "or meet_paper=false"
    )


def _meets_paper(task: _PooledTask, dealt: _Dealt) -> bool:
    """Return whether each group has |U|avg / p distinct terms."""
    average = Fraction(int(dealt.profiles.sizes.sum()), len(dealt.profiles))
    return int(np.diff(dealt.counts.indptr).min()) >= average / task.p


def _rows(task: _PooledTask, dealt: _Dealt) -> tuple[Profiles, Ints]:
    """Return what groups publish, then the fallback row if any, and each user's row."""
    from ..rows.pooling import pooled_shares

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


METHOD = Method(
    name="pooled",
    paper="ours",
    about="groups of 1/p similar people; where a group's share would be more than p off, several "
    "groups publish their mean; a secret key is drawn and kept in the private part",
    promise=Promise("group", "belief", once=True, hides_members=True),
    run=run,
    options=Pooled,
    needs=frozenset({"sample", "key"}),
)
