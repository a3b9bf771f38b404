"""How surely a member of a group is linked to the group's terms, in several readings.

average   |U|avg / |G|: what p-linkability bounds (Zhu & Xiong, definition 1 as they enforce it).
share     the mean over the group's terms of the share of members who have it. Equal to `average`
          if all profiles are equally long; else it may be larger, up to 1 in a group of one.
worst     the largest share of members who have one of the group's terms: definition 1 read
          literally. 1 means that some term is known of every member. Of the terms that stand in
          the rows alone it is the released linkability, what "every-term" bounds.
belief    the largest change of belief about any term, present or absent: |share of members who
          have it - share of all users who have it| (equation 1, for one who knows the shares).
          Rows that publish the shares tell just that. What a union tells, a row that leaves terms
          out, reduced profiles or pools is another: belief.py has the exact change for whoever
          knows what is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .group_counts import GroupCounts, count_groups, published_counts
from .measurement import Measurement, by_group

if TYPE_CHECKING:
    from ..model import Floats, Profiles, Release

READINGS = ("average", "share", "worst", "belief")
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def sizes(_profiles: Profiles, release: Release) -> list[Measurement]:
    """Count the members of each group."""
    return list(by_group("users", release.grouping.sizes[: release.groups], release.rows.users))


def linkability(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure the readings for each group."""
    found = readings(count_groups(profiles, release))
    return [row for name in READINGS for row in by_group(name, found[name], release.rows.users)]


def distribution(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure quantiles of the readings over groups, and of the share over groups' terms."""
    counts = count_groups(profiles, release)
    spread = {**readings(counts), "share of members, by term": counts.share}
    return [
        Measurement(f"{name}, {quantile:.0%}", float(value))
        for name, values in spread.items()
        for quantile, value in zip(
            QUANTILES, np.quantile(values, QUANTILES, method="inverted_cdf"), strict=True
        )
    ]


def _released(counts: GroupCounts, profiles: Profiles, release: Release) -> float:
    """Return the largest share of members who have a term that stands in their row."""
    span, cells = len(profiles.terms), release.rows.weights
    number = {term: at for at, term in enumerate(profiles.terms)}
    column = np.array([number[term] for term in release.rows.terms])[cells.indices]
    keys = np.repeat(np.arange(len(release.rows)) * span, release.rows.sizes) + column
    had = counts.group * span + counts.term
    at = np.minimum(np.searchsorted(had, keys), had.size - 1)
    return float(np.where(had[at] == keys, counts.share[at], 0.0).max())  # pools release more


def readings(counts: GroupCounts) -> dict[str, Floats]:
    """Return each reading for each group."""
    share = counts.share
    return {
        "average": counts.average_size / counts.distinct,
        "share": np.add.reduceat(counts.members, counts.begins) / (counts.sizes * counts.distinct),
        "worst": np.maximum.reduceat(share, counts.begins),
        "belief": _belief(counts, share),
    }


def _belief(counts: GroupCounts, share: Floats) -> Floats:
    """Return each group's largest change of belief; of absent terms only the most usual counts."""
    prior = counts.having / counts.users
    present = np.maximum.reduceat(np.abs(share - prior[counts.term]), counts.begins)
    by_prior = np.argsort(-prior, kind="stable")
    absent = np.append(prior[by_prior], 0.0)[_usual_terms(counts, by_prior)]
    belief: Floats = np.maximum(present, absent)
    return belief


def _usual_terms(counts: GroupCounts, by_prior: np.ndarray) -> np.ndarray:
    """Count how many of the most usual terms each group has before it lacks one."""
    rank = np.empty_like(by_prior)
    rank[by_prior] = np.arange(by_prior.size)
    ranks = rank[counts.term]
    early = ranks < counts.distinct[counts.group]  # it has no more terms than these without a gap
    group = counts.group[early]
    keys = np.sort(group * by_prior.size + ranks[early])
    group, ranks = np.divmod(keys, by_prior.size)
    kept = np.bincount(group, minlength=counts.sizes.size)
    place = np.arange(keys.size) - (np.cumsum(kept) - kept)[group]
    return np.bincount(group[place == ranks], minlength=counts.sizes.size)


def facts(profiles: Profiles, release: Release) -> Mapping[str, float | int]:
    """Sum up what release.json states: every value holds for the whole release.

    The change of belief is that of one who knows the members' shares, published or not.
    """
    counts = count_groups(profiles, release)
    found = _summed_up(counts, len(release.users))
    found["released_linkability"] = _released(counts, profiles, release)
    found["terms_released"] = int(release.rows.weights.nnz)
    found["terms_suppressed"] = counts.term.size - int(release.rows.weights.nnz)
    return found


def published_facts(release: Release) -> Mapping[str, float | int]:
    """Sum up the same of a release whose rows hide their members' shares: what each publishes.

    The members' own shares, or how many terms they have, would tell more than the rows do.
    """
    return _summed_up(published_counts(release), len(release.users))


def _summed_up(counts: GroupCounts, users: int) -> dict[str, float | int]:
    """Return all facts of groups that publish just what is counted."""
    found = readings(counts)
    return {
        "users": users,
        "groups": counts.sizes.size,
        "single_person_rows": int(np.count_nonzero(counts.sizes == 1)),
        "smallest_group": int(counts.sizes.min()),
        "mean_group": float(counts.sizes.mean()),
        "largest_group": int(counts.sizes.max()),
        "average_linkability": float(found["average"].max()),
        "mean_average_linkability": float(found["average"].mean()),
        "share_linkability": float(found["share"].max()),
        "worst_linkability": float(found["worst"].max()),
        "mean_worst_linkability": float(found["worst"].mean()),
        "released_linkability": float(found["worst"].max()),
        "change_of_belief": float(found["belief"].max()),
        "terms_in_groups": counts.term.size,
        "terms_released": counts.term.size,
        "terms_suppressed": 0,
    }
