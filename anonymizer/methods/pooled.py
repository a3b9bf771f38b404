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

In parts of the users, the key deals people to parts by their names, which says nothing of their
profiles. Each part is grouped by itself; of the users who are too few for one more group there,
those of all parts together make the last groups. All else is as above, over the groups of all
parts: who is unassigned, how groups are numbered, pools, and the fallback row.

Not promised: an attacker with a model of which terms go together can learn more. Someone who learns
elsewhere how many of all n users have a term can subtract the groups' number; the rest are
unassigned users. With `meet_paper` trials decide the size of groups, each with other users
unassigned, so the size depends a little on everybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ..arrays import Ints
from ..backends.everybody import Crowd, Dealt, Made, Measure, part_seed
from ..errors import Unsatisfiable
from ..model import Grouping, Profiles, Progress, Release, row_names
from ..promise import Promise
from ..rows.representative import named_rows, over_used
from ..rows.secret_order import (
    Secrets,
    in_order_of_content,
    key_of_part,
    refuse_no_key,
    secret_numbers,
    secret_numbers_of,
    secret_order,
)
from ..similarity.documents import Documents, likeness, refuse_no_sample
from .method import SWITCH, Inputs, Method, Options, exchanges, option, rare, sampled

S = TypeVar("S")
_UNASSIGNED, _CARRIED = -1, -2  # in place of a group: in none, or in one with users of other parts
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

        if not self.users.size:
            return csr_matrix(np.zeros((0, len(self.profiles.terms)), dtype=np.int32))
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
    steps: int | None = exchanges("; off: 200 a person, at least 4 million")
    min_users: int = rare()

    def faults_in_parts(self) -> list[str]:
        """Return what of these values can't be had in parts of the users."""
        paper = "meet_paper=true tries sizes on all users at once; in parts leave it out"
        return [paper] * (self.meet_paper == "true")


def run(inputs: Inputs, options: Pooled) -> Release:
    """Return the release of `inputs` with each published share within p of that of all members."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..grouping.annealing import steps_for

    profiles, least = inputs.profiles, _least_size(options, len(inputs.profiles))
    task = _task(inputs, options, options.steps or steps_for(len(profiles)))
    paper = options.meet_paper == "true"
    dealt = _diverse(task, least) if paper else _deal(task, least, task.steps)
    group_of = np.full(len(profiles), -1, dtype=np.int64)
    group_of[dealt.users] = dealt.group_of
    counts = dealt.counts
    number = _numbered(task.key, group_of)
    group_of[dealt.users] = number[dealt.group_of]
    size = dealt.users.size // counts.shape[0]
    ordered, terms = csr_matrix(counts[np.argsort(number)]), profiles.terms
    rows = _rows(ordered, terms, size, task.p, task.key, fallback=dealt.users.size < len(profiles))
    row_of_user = np.where(group_of < 0, counts.shape[0], group_of)
    settled = replace(options, documents=task.sample.vectors.shape[0])
    named = named_rows(profiles, rows)
    return replace(METHOD.release(settled, named, profiles.users, row_of_user), key=task.key)


def _least_size(options: Pooled, users: int) -> int:
    """Return the size of groups at p, of this number of `users`."""
    from ..grouping.shares import fraction_of

    # Never 1, also at p = 1: the row of a group of one person would be their profile.
    least = max(2, math.ceil(1 / fraction_of(options.p)))
    if users < 2 * least:
        groups = f"{least}" if least <= users else f"more than {users}"
        larger = "take a larger p, or more users" if least > 2 else "take more users"
        raise Unsatisfiable(
            f"{users} users are too few for two groups of {groups}; {larger}",
            needs=2 * least,
        )
    return least


def _task(inputs: Inputs, options: Pooled, steps: int) -> _PooledTask:
    from ..grouping.shares import fraction_of

    sample, secret = refuse_no_sample(inputs.sample), refuse_no_key(inputs.key)
    share, rng = fraction_of(options.p), inputs.rng
    return _PooledTask(inputs.profiles, sample, share, steps, secret, rng, inputs.progress)


def _deal(task: _PooledTask, size: int, steps: int) -> _Dealt:
    """Deal users to groups of `size`; the profiles of unassigned users play no part."""
    everybody = len(task.profiles)
    # "left over" is part of the format: older releases were drawn under this name.
    numbers = secret_numbers_of(task.key, "left over", task.profiles.users)
    users = np.sort(np.argsort(numbers, kind="stable")[everybody % size :])
    people = task.profiles.some(users)
    return _Dealt(users, people, _groups_of(task, people, task.key, size, steps))


def _groups_of(task: _PooledTask, people: Profiles, key: bytes, size: int, steps: int) -> Ints:
    """Return groups of `size`, which divides the number of `people`; `key` orders equal ones."""
    from ..grouping.annealing import anneal

    sizes = np.full(len(people) // size, size, dtype=np.int64)
    ordered, order = in_order_of_content(people, key)
    alike = likeness(ordered, task.sample, task.rng)
    annealed = anneal(alike, sizes, task.rng, steps=steps, progress=task.progress)
    group_of = np.empty_like(order)
    group_of[order] = annealed.group_of
    return group_of


def _numbered(key: bytes, group_of: Ints) -> Ints:
    """Return the new, secret number of each group of `group_of`; -1 is no group."""
    # The old numbers would show how the groups were made.
    old, first = np.unique(group_of, return_index=True)
    first = first[old >= 0]
    number = np.empty_like(first)
    number[np.argsort(first)] = secret_order(key, "groups", first.size)
    return number


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


def _rows(
    counts: csr_matrix,
    terms: Sequence[str],
    size: int,
    p: Fraction,
    key: bytes,
    *,
    fallback: bool,
) -> csr_matrix:
    """Return what groups of `size` with `counts` publish, then the `fallback` row if there is one.

    Pools are made over all groups, by `key`, so that each share is within `p`.
    """
    from ..rows.pooling import pooled_shares

    groups = counts.shape[0]

    def ties(term: int) -> Secrets:
        return secret_numbers(key, f"ties of {terms[term]}", groups)

    shares = pooled_shares(counts, size, p, ties)
    published = shares.numerators / shares.denominators
    rows = csr_matrix((published, (shares.groups, shares.terms)), shape=counts.shape)
    if fallback:
        everybodys = csr_matrix(np.asarray(counts.sum(axis=0)) / (groups * size))
        rows = vstack([rows, everybodys], format="csr")
    rows.sort_indices()
    return rows


class _DealtPart(NamedTuple):
    """A part dealt to groups of one size, and those of its users who are too few for one more."""

    users: tuple[str, ...]
    group_of: Ints  # _UNASSIGNED, _CARRIED, or the group
    carried: Profiles
    counts: csr_matrix  # groups x terms


def in_parts(
    dealt: Dealt, inputs: Inputs, options: Pooled, measure: Measure[S]
) -> Iterator[Made[S]]:
    """Yield the shards of a release of all `dealt` people, and the `measure` of each.

    A group is of one part, nearly always; pools are of all groups. A shard is a run of rows.
    """
    from ..grouping.shares import fraction_of

    people, key = dealt.everybody.users, refuse_no_key(inputs.key)
    size, numbers = _least_size(options, people), range(len(dealt.sizes))
    # Of everybody, not of each part: so no more people go without a group than without parts, and
    # the judge draws the same ones without a look at parts.
    drawn = dealt.each(partial(_first_drawn, key, people % size), numbers)
    first = sorted(pair for part in drawn for pair in part)[: people % size]
    left_over = frozenset(user for _, user in first)
    parts = list(dealt.each(partial(_deal_part, inputs, options, size, left_over), numbers))
    # Each part has too few users for one more group; together they make the last groups.
    rest = [part.carried for part in parts]
    cells = csr_matrix(vstack([one.weights for one in rest]))
    few = Profiles(tuple(user for one in rest for user in one.users), dealt.parts.terms, cells)
    last = _deal_few(inputs, options, size, few, len(parts))
    counts = csr_matrix(vstack([*(part.counts for part in parts), last.counts]))
    group_of, users = _together(dealt.parts.part_of, parts, last)
    # Rows are numbered over all parts. If a row's number told its part, the pool's other groups
    # of this part would tell more of it than the pool does.
    number = _numbered(key, group_of)
    counts = csr_matrix(counts[np.argsort(number)])
    having = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    rows = _rows(
        counts, dealt.parts.terms, size, fraction_of(options.p), key, fallback=bool(left_over)
    )
    row_of_user = np.where(group_of < 0, counts.shape[0], number[group_of])
    settled = replace(options, documents=refuse_no_sample(inputs.sample).vectors.shape[0])
    total = int(having.sum())
    inside = Crowd(dealt.parts.terms, counts.shape[0] * size, having, total, np.zeros(0))
    # The fallback row comes last of all. A shard of it alone would show no group's size.
    shards = min(len(parts), counts.shape[0])
    cuts = (np.arange(shards + 1) * counts.shape[0] // shards).tolist()
    cuts[-1] = rows.shape[0]
    for low, high in pairwise(cuts):
        own = np.flatnonzero((row_of_user >= low) & (row_of_user < high))
        names = row_names(high - low, frozenset())
        shard = over_used(names, dealt.parts.terms, rows[low:high])
        served = tuple(users[user] for user in own.tolist())
        release = METHOD.release(settled, shard, served, row_of_user[own] - low)
        yield replace(release, key=key), measure(inside, None, release)


def _first_drawn(key: bytes, count: int, profiles: Profiles, _part: int) -> list[tuple[int, str]]:
    """Return the `count` users of a part with the smallest secret numbers, and these."""
    numbers = secret_numbers_of(key, "left over", profiles.users)
    first = np.argsort(numbers, kind="stable")[:count].tolist()
    return [(int(numbers[user]), profiles.users[user]) for user in first]


def _deal_part(
    inputs: Inputs,
    options: Pooled,
    size: int,
    left_over: Set[str],
    profiles: Profiles,
    part: int,
) -> _DealtPart:
    """Deal the users of `part` to groups of `size`; those in `left_over` get none."""
    numbers = secret_numbers_of(refuse_no_key(inputs.key), "left over", profiles.users)
    group_of = np.full(len(profiles), _UNASSIGNED, dtype=np.int64)
    order = [u for u in np.argsort(numbers).tolist() if profiles.users[u] not in left_over]
    # Those with the largest numbers are carried: nobody who lacks the key can tell who they are.
    grouped = len(order) // size * size
    carried, users = np.sort(order[grouped:]).astype(int), np.sort(order[:grouped]).astype(int)
    group_of[carried] = _CARRIED
    dealt = _deal_few(inputs, options, size, profiles.some(users), part)
    group_of[users] = dealt.group_of
    return _DealtPart(profiles.users, group_of, profiles.some(carried), dealt.counts)


def _deal_few(inputs: Inputs, options: Pooled, size: int, people: Profiles, part: int) -> _Dealt:
    """Deal all `people`, some of `part`, to groups of `size`."""
    from ..grouping.annealing import steps_for

    users = np.arange(len(people))
    if not users.size:
        return _Dealt(users, people, users)
    steps = steps_for(users.size)
    if options.steps:
        steps = max(1, options.steps * users.size // inputs.people)
    own = replace(inputs, profiles=people, seed=part_seed(inputs.seed, part))
    task = _task(own, options, steps)
    return _Dealt(users, people, _groups_of(task, people, key_of_part(task.key, part), size, steps))


def _together(part_of: Ints, parts: Sequence[_DealtPart], last: _Dealt) -> tuple[Ints, list[str]]:
    """Return the groups of all users, and their names, in the order of the profiles."""
    starts = np.cumsum([0, *(part.counts.shape[0] for part in parts)]).tolist()
    of_parts = [
        np.where(part.group_of < 0, part.group_of, part.group_of + start)
        for part, start in zip(parts, starts, strict=False)
    ]
    by_part = np.concatenate(of_parts)
    by_part[by_part == _CARRIED] = last.group_of + starts[-1]
    order = np.argsort(np.argsort(part_of, kind="stable"))
    names = [user for part in parts for user in part.users]
    return by_part[order], [names[at] for at in order.tolist()]


METHOD = Method(
    name="pooled",
    paper="ours",
    about="groups of 1/p similar people; where a group's share would be more than p off, several "
    "groups publish their mean; a secret key is drawn and kept in the private part",
    promise=Promise("group", "belief", once=True, hides_members=True),
    run=run,
    in_parts=in_parts,
    options=Pooled,
    needs=frozenset({"sample", "key"}),
)
