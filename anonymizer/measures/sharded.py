"""All measures of a release in shards, one shard at a time: memory holds numbers of users and rows.

Only where a row, its members and sums over everybody say all of a measure: rows that are means of
groups, of people who all have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..backends.everybody import Crowd
from ..model import Profiles, Release
from .belief import NAME as BELIEF
from .belief import BeliefChanges, belief_changes, belief_of, infer
from .group_counts import count_groups, released_weights
from .indices.releases import privacy_index
from .kept import (
    OWN_TERMS,
    KeptSums,
    KeptTerms,
    closeness,
    count_kept_terms,
    kept_shares,
    shares_of,
    terms_kept_of,
)
from .linkability import READINGS, distribution_of, readings
from .measurement import Measurement, MeasureSummary, summarize, summary_of


class ShardMeasures(NamedTuple):
    """What is measured of a shard."""

    groups: dict[str, Floats]  # by measure: of each group
    users: dict[str, Floats]  # by measure: of each user
    shares: tuple[Floats, Ints]  # distinct shares of members, and how many cells have each
    belief: BeliefChanges
    terms: KeptTerms
    kept: KeptSums


def in_shards(release: Release) -> bool:
    """Return whether releases like `release`, a shard, are measured shard by shard."""
    promise, given = release.promise, release.parameters
    says_all = promise.bounds in ("average", "belief") and given.get("representative") != "union"
    grouped = promise.behind == "group" and not promise.hides_members
    return grouped and says_all and given.get("min_users", 1) == 1


def measure_shard(
    everybody: Crowd,
    profiles: Profiles,
    release: Release,
    *,
    sensitive: Mapping[str, float] | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
) -> ShardMeasures:
    """Return what is measured of `release`, a shard of one of `everybody`, and its `profiles`.

    `sensitive` says how sensitive terms are.
    """
    # What is of one row or one user is measured as in a release that is not cut.
    counts = count_groups(profiles, release, everybody)
    changes = belief_changes(*infer(profiles, release, everybody))
    kept = count_kept_terms(profiles, release, everybody)
    index = privacy_index(profiles, release, sensitive, spi_weights, empty)
    values = readings(counts)
    return ShardMeasures(
        {
            "users": counts.sizes.astype(np.float64),
            **{name: values[name] for name in READINGS},
            BELIEF: changes.largest,
        },
        {OWN_TERMS: kept.own} | _by_name(closeness(profiles, release)) | _by_name(index),
        _counted(*np.unique(counts.share, return_counts=True)),
        changes._replace(largest=np.zeros(0)),
        kept._replace(own=np.zeros(0)),
        kept_shares(profiles, released_weights(profiles, release) > 0),
    )


def measures_of(shards: Iterable[ShardMeasures], everybody: Crowd) -> list[MeasureSummary]:
    """Return the summaries of all measures of a release of `everybody` in `shards`."""
    groups: dict[str, list[Floats]] = {}
    users: dict[str, list[Floats]] = {}
    terms, kept = list[KeptTerms](), list[KeptSums]()
    # Of the values of cells only distinct ones are kept: shares are few, cells are many.
    shares, changes = _nothing(), _nothing()
    for shard in shards:
        for into, values in ((groups, shard.groups), (users, shard.users)):
            for name, of in values.items():
                into.setdefault(name, []).append(of)
        terms.append(shard.terms)
        kept.append(shard.kept)
        shares = _together(shares, shard.shares)
        changes = _together(changes, (shard.belief.values, shard.belief.cells))
    of_groups = {name: np.concatenate(values) for name, values in groups.items()}
    distinct = int(np.count_nonzero(everybody.having))
    once = {
        "distribution": distribution_of(of_groups, *shares),
        "belief": belief_of(BeliefChanges(np.zeros(0), *changes)),
        "terms": terms_kept_of(terms, distinct),
        "kept": shares_of(kept, distinct),
    }
    return [*_in_order(of_groups, users, once)]


def _in_order(
    groups: Mapping[str, Floats],
    users: Mapping[str, list[Floats]],
    once: Mapping[str, list[Measurement]],
) -> Iterator[MeasureSummary]:
    """Yield the summaries in the order in which `all_measures` has them."""
    yield from (summary_of(name, "groups", groups[name]) for name in ("users", *READINGS))
    yield from summarize(once["distribution"])
    yield summary_of(BELIEF, "groups", groups[BELIEF])
    for part in ("belief", "terms"):
        yield from summarize(once[part])
    yield from (summary_of(name, "users", np.concatenate(of)) for name, of in users.items())
    yield from summarize(once["kept"])


def _by_name(rows: list[Measurement]) -> dict[str, Floats]:
    """Return the values of `rows` by name."""
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row.name, []).append(row.value)
    return {name: np.array(of) for name, of in values.items()}


_Numbers = tuple[Floats, Ints]  # values, and how often each occurs


def _nothing() -> _Numbers:
    return np.zeros(0), np.zeros(0, dtype=np.int64)


def _counted(values: Floats, counts: Ints) -> _Numbers:
    """Return the distinct `values`, and how often each occurs."""
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights=counts, minlength=distinct.size).astype(np.int64)


def _together(one: _Numbers, other: _Numbers) -> _Numbers:
    values, counts = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    return _counted(values, counts)
