"""How surely a member of a group is linked to the group's terms, in several readings.

average   |U|avg / |G|: what the paper bounds (Zhu & Xiong, definition 1 as they enforce it).
share     the mean over the group's terms of the share of members who have the term. It equals
          `average` if all profiles are equally long; else it may be larger, up to 1 in a group of
          one.
worst     the largest share of members who have one of the group's terms: definition 1 read
          literally. 1 means that all members have some term. Over the terms in the rows alone, it
          is the released linkability, which "every-term" bounds.
belief    the largest change of belief about any term, present or absent: |share of members who
          have it - share of all users who have it| (equation 1, for an attacker with the shares).
          Rows that publish the shares reveal exactly this. Unions, rows with suppressed terms,
          reduced profiles and pools reveal something else: belief.py has the exact change for an
          attacker with only what is published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..model import Profiles, Release
from .group_counts import GroupCounts, count_groups, published_cells, published_counts
from .measurement import Measurement, by_group, spread

if TYPE_CHECKING:
    from ..backends.everybody import Crowd

if TYPE_CHECKING:
    pass

READINGS = ("average", "share", "worst", "belief")
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def sizes(_profiles: Profiles, release: Release) -> list[Measurement]:
    """Return the number of members of each group of `release`."""
    return list(by_group("users", release.grouping.sizes[: release.groups], release.rows.users))


def linkability(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return the readings for each group of `profiles` in `release`."""
    values = readings(count_groups(profiles, release))
    return [row for name in READINGS for row in by_group(name, values[name], release.rows.users)]


def distribution(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return quantiles over the groups of `release`: of the readings, and of all terms' shares."""
    counts = count_groups(profiles, release)
    shares, cells = np.unique(counts.share, return_counts=True)
    return distribution_of(readings(counts), shares, cells)


def distribution_of(values: Mapping[str, Floats], shares: Floats, cells: Ints) -> list[Measurement]:
    """Return quantiles of the readings `values`, and of `shares`, which `cells` count."""
    ones = np.ones(values["average"].size, dtype=np.int64)
    quantiles = {name: spread(values[name], ones, QUANTILES) for name in READINGS}
    quantiles["share of members, by term"] = spread(shares, cells, QUANTILES)
    return [
        Measurement(f"{name}, {quantile:.0%}", value)
        for name, of_name in quantiles.items()
        for quantile, value in zip(QUANTILES, of_name, strict=True)
    ]


def readings(counts: GroupCounts) -> dict[str, Floats]:
    """Return each reading of `counts` for each group."""
    share = counts.share
    # Of a group's absent terms only the most common one counts: its prior is the largest change.
    prior = counts.having / counts.users
    present = np.maximum.reduceat(np.abs(share - prior[counts.term]), counts.begins)
    by_prior = np.argsort(-prior, kind="stable")
    # How many of the most common terms each group has before it lacks one.
    rank = np.empty_like(by_prior)
    rank[by_prior] = np.arange(by_prior.size)
    ranks = rank[counts.term]
    # A group of n terms has at most the first n without a gap, so later ranks play no part.
    early = ranks < counts.distinct[counts.group]
    group = counts.group[early]
    keys = np.sort(group * by_prior.size + ranks[early])
    group, ranks = np.divmod(keys, by_prior.size)
    kept = np.bincount(group, minlength=counts.sizes.size)
    place = np.arange(keys.size) - (np.cumsum(kept) - kept)[group]
    usual = np.bincount(group[place == ranks], minlength=counts.sizes.size)
    # A group that has all terms lacks none: the 0 at the end is its change.
    return {
        "average": counts.average_size / counts.distinct,
        "share": np.add.reduceat(counts.members, counts.begins) / (counts.sizes * counts.distinct),
        "worst": np.maximum.reduceat(share, counts.begins),
        "belief": np.maximum(present, np.append(prior[by_prior], 0.0)[usual]),
    }


def facts(profiles: Profiles, release: Release) -> Mapping[str, float | int]:
    """Return facts of the groups of `release`; belief is that of an attacker with the shares."""
    return facts_of_groups([group_sums(profiles, release)])


class GroupSums(NamedTuple):
    """Of some groups, what the facts of all groups follow from."""

    users: int
    sizes: Ints
    # Each group's, not sums of shards: the judge wants a mean to the last digit.
    average: Floats
    share: float  # the largest; so are belief and released
    worst: Floats
    belief: float
    released: float
    terms: int
    terms_released: int
    terms_suppressed: int


def group_sums(profiles: Profiles, release: Release, everybody: Crowd | None = None) -> GroupSums:
    """Return what facts of the groups of `release` need; belief is for an attacker with the shares.

    The `profiles` may be a part of `everybody`, and its terms are numbered as everybody's.
    """
    counts = count_groups(profiles, release, everybody)
    values = readings(counts)
    published = published_cells(profiles, release, counts)
    sums = _sums(counts, values, float(values["share"].max()), len(release.users))
    return sums._replace(
        released=float(counts.share[published].max(initial=0.0)),
        terms_released=int(release.rows.weights.nnz),
        terms_suppressed=int(np.count_nonzero(~published)),
    )


def published_sums(release: Release, everybody: Crowd | None = None) -> GroupSums:
    """Return what facts need of a `release` that hides members' shares, from its rows alone."""
    # Facts from the members' own shares would reveal what the rows hide.
    counts = published_counts(release, everybody)
    shares = counts.share.data
    sums = [
        math.fsum(shares[i : i + n]) for i, n in zip(counts.begins, counts.distinct, strict=True)
    ]
    of_groups = float(np.max(sums / counts.distinct))
    return _sums(counts, readings(counts), of_groups, len(release.users))


def _sums(counts: GroupCounts, values: Mapping[str, Floats], share: float, users: int) -> GroupSums:
    """Return the sums of groups that publish `counts`, from their readings `values`.

    The largest mean `share` is given, and the number of `users`.
    """
    worst, terms = values["worst"], counts.term.size
    return GroupSums(
        users=users,
        sizes=counts.sizes,
        average=values["average"],
        share=share,
        worst=worst,
        belief=float(values["belief"].max()),
        released=float(worst.max()),
        terms=terms,
        terms_released=terms,
        terms_suppressed=0,
    )


def facts_of_groups(shards: Sequence[GroupSums]) -> Mapping[str, float | int]:
    """Return the facts of all groups of `shards` together."""
    sizes, average, worst = (
        np.concatenate([getattr(shard, name) for shard in shards])
        for name in ("sizes", "average", "worst")
    )
    # fsum depends on no order, so the judge, who counts again, gets the same digits.
    return {
        "users": sum(shard.users for shard in shards),
        "groups": sizes.size,
        "single_person_rows": int(np.count_nonzero(sizes == 1)),
        "smallest_group": int(sizes.min()),
        "mean_group": float(sizes.mean()),
        "largest_group": int(sizes.max()),
        "average_linkability": float(average.max()),
        "mean_average_linkability": math.fsum(average) / sizes.size,
        "share_linkability": max(shard.share for shard in shards),
        "worst_linkability": float(worst.max()),
        "mean_worst_linkability": math.fsum(worst) / sizes.size,
        "released_linkability": max(shard.released for shard in shards),
        "change_of_belief": max(shard.belief for shard in shards),
        "terms_in_groups": sum(shard.terms for shard in shards),
        "terms_released": sum(shard.terms_released for shard in shards),
        "terms_suppressed": sum(shard.terms_suppressed for shard in shards),
    }
