"""Facts of a unit, in addition to its rows: of its release, or of the input of releases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from anonymizer.arrays import Floats
from anonymizer.marketing.table import MarketingTable, values_of
from anonymizer.measures.facts import own_facts
from anonymizer.measures.kept import SYNTHETIC, kept_value, nothing_kept
from anonymizer.measures.linkability import facts as general_facts
from anonymizer.measures.measurement import Measurement
from anonymizer.model import Profiles, Release
from index.forward.reading import Forward

UNSATISFIABLE = "unsatisfiable"  # the fact that no release can keep the promise
KEPT = "kept_"  # prefix of the shares that a release keeps
MARKET = ("bid", "clicks", "impressions", "revenue")  # values of a term in a marketing table
VALUED = ("term_frequency", "user_frequency", *MARKET)  # all values of a term
Facts = dict[str, float]


def facts_of_release(profiles: Profiles, release: Release, table: MarketingTable | None) -> Facts:
    """Return the facts of `release`: its groups, its promise, what it keeps, its deletions."""
    kept = _kept(kept_value(profiles, release, table))
    # A release of single-person rows must not state some of these facts. A report may, as it sums
    # up many releases.
    measured = {**general_facts(profiles, release), **own_facts(profiles, release)}
    if release.deletions is not None:  # final deletions; the last pass listed deleted something
        by_pass = np.bincount(release.deletions.weights.data.astype(np.int64))[1:].tolist()
        counts = {f"deletions_pass_{number}": count for number, count in enumerate(by_pass, 1)}
        kept |= {"passes": len(by_pass), "deletions": sum(by_pass), **counts}
    return {**measured, **kept, **_whose(table)}


def facts_of_nothing(profiles: Profiles, table: MarketingTable | None) -> Facts:
    """Return the facts where no release of `profiles` can keep the promise: nothing is kept."""
    return {UNSATISFIABLE: 1, **_kept(nothing_kept(profiles, table)), **_whose(table)}


def _kept(shares: Sequence[Measurement]) -> Facts:
    """Return `shares` as facts by their short names."""
    # The mark of a synthetic table goes: `table_synthetic` is a fact of its own.
    named = ((share.name.replace(SYNTHETIC, ""), share.value) for share in shares)
    short = ((name.removeprefix("share of ").removesuffix(" kept"), value) for name, value in named)
    return {f"{KEPT}{name.replace(' ', '_')}": value for name, value in short}


def _whose(table: MarketingTable | None) -> Facts:
    return {} if table is None else {"table_synthetic": int(table.synthetic)}


def facts_of_input(
    profiles: Profiles, table: MarketingTable | None, forward: Forward, robots: int
) -> Facts:
    """Return facts of the input of all releases: `profiles`, `table`, and terms in the index."""
    weights = profiles.weights
    known = forward.columns(profiles.terms) >= 0
    row_of = np.repeat(np.arange(len(profiles)), profiles.sizes)
    met = np.bincount(row_of[known[weights.indices]], minlength=len(profiles))
    facts: Facts = {
        "profiles": len(profiles),
        "robots_dropped": robots,
        "terms": len(profiles.terms),
        "log_size": float(weights.data.sum()),
        "longest_history": int(profiles.sizes.max()),
        "weights_in_index": float(weights.data[known[weights.indices]].sum() / weights.data.sum()),
        "users_not_in_index": int(np.count_nonzero(met == 0)),
    }
    return {**facts, **_correlations(profiles, table), **_whose(table)}


def frequencies(profiles: Profiles) -> tuple[Floats, Floats]:
    """Return, for each term of `profiles`, how often it occurs and how many users have it."""
    columns, span = profiles.weights.indices, len(profiles.terms)
    counts = (np.bincount(columns, by, span) for by in (profiles.weights.data, None))
    by_weight, by_user = (count.astype(np.float64) for count in counts)
    return by_weight, by_user


def _correlations(profiles: Profiles, table: MarketingTable | None) -> Facts:
    """Return the correlation of each pair of values, over the terms with an estimate of both."""
    # If there is a table, the two frequencies are correlated over the terms with any estimate. An
    # empty cell of a table is read as 0, and neither is an estimate.
    values = dict(zip(VALUED, frequencies(profiles), strict=False))
    estimated = np.ones(len(profiles.terms), dtype=bool)
    if table is not None:
        market = {what: values_of(table, profiles.terms, what) for what in MARKET}
        estimated = np.logical_or.reduce([value > 0 for value in market.values()])
        values |= market
    facts: Facts = {}
    for one, other in combinations(values, 2):
        both = estimated & (values[one] > 0) & (values[other] > 0)
        x, y = values[one][both], values[other][both]
        # Two points always correlate fully, and a constant with nothing.
        if x.size > 2 and np.ptp(x) > 0 and np.ptp(y) > 0:
            facts[f"n_{one}_{other}"] = int(x.size)
            facts[f"r_{one}_{other}"] = float(np.corrcoef(x, y)[0, 1])
    return facts
