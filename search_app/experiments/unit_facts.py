"""What is measured of a unit beside its rows: of its release, or of what releases are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from anonymizer.marketing import MarketingTable, values_of
from anonymizer.measures.kept_value import SYNTHETIC, kept_value, nothing_kept
from anonymizer.measures.linkability import facts as general_facts
from anonymizer.measures.measurement import Measurement
from anonymizer.measures.release_facts import own_facts
from anonymizer.model import Profiles, Release
from index.forward import Forward

from .outcomes import Floats

UNSATISFIABLE = "unsatisfiable"  # no release can keep what was asked for
KEPT = "kept_"  # begins the names of the shares that a release keeps
MARKET = ("bid", "clicks", "impressions", "revenue")  # what a table values a term by
VALUED = ("term_frequency", "user_frequency", *MARKET)  # what each term has
Facts = dict[str, float]


def facts_of_release(profiles: Profiles, release: Release, table: MarketingTable | None) -> Facts:
    """Measure a release: groups and promises, what it keeps, and how it came about."""
    kept = _kept(kept_value(profiles, release, table))
    # A report sums up many releases, so it may tell what one of single people's rows must not.
    measured = {**general_facts(profiles, release), **own_facts(profiles, release)}
    return {**measured, **kept, **_passes(release.deletions), **_whose(table)}


def facts_of_nothing(profiles: Profiles, table: MarketingTable | None) -> Facts:
    """Say of a promise that no release of these profiles can keep that nothing is kept."""
    return {UNSATISFIABLE: 1, **_kept(nothing_kept(profiles, table)), **_whose(table)}


def _kept(shares: Sequence[Measurement]) -> Facts:
    return {_name(share): share.value for share in shares}


def _name(share: Measurement) -> str:
    """Name a share as a fact; whose table it is by has a fact of its own."""
    what = share.name.replace(SYNTHETIC, "").removeprefix("share of ").removesuffix(" kept")
    return f"{KEPT}{what.replace(' ', '_')}"


def _passes(deletions: Profiles | None) -> Facts:
    """Count what was deleted and not given back, by the pass in which it was deleted.

    Passes are counted up to the last in which something was deleted for good.
    """
    if deletions is None:
        return {}
    by_pass = np.bincount(deletions.weights.data.astype(np.int64))[1:].tolist()
    counts = {f"deletions_pass_{number}": count for number, count in enumerate(by_pass, 1)}
    return {"passes": len(by_pass), "deletions": sum(by_pass), **counts}


def _whose(table: MarketingTable | None) -> Facts:
    return {} if table is None else {"table_synthetic": int(table.synthetic)}


def facts_of_input(
    profiles: Profiles, table: MarketingTable | None, forward: Forward, robots: int
) -> Facts:
    """Measure what every release is made of: the profiles, the table, and what search knows."""
    weights = profiles.weights
    known = forward.columns(profiles.terms) >= 0
    met = np.bincount(_row_of(profiles)[known[weights.indices]], minlength=len(profiles))
    found: Facts = {
        "profiles": len(profiles),
        "robots_dropped": robots,
        "terms": len(profiles.terms),
        "log_size": float(weights.data.sum()),
        "longest_history": int(profiles.sizes.max()),
        "weights_in_index": float(weights.data[known[weights.indices]].sum() / weights.data.sum()),
        "users_not_in_index": int(np.count_nonzero(met == 0)),
    }
    return {**found, **_correlations(profiles, table), **_whose(table)}


def _row_of(profiles: Profiles) -> np.ndarray:
    return np.repeat(np.arange(len(profiles)), profiles.sizes)


def frequencies(profiles: Profiles) -> tuple[Floats, Floats]:
    """Return how often each term occurs, and how many users have it."""
    columns, span = profiles.weights.indices, len(profiles.terms)
    counts = (np.bincount(columns, by, span) for by in (profiles.weights.data, None))
    by_weight, by_user = (each.astype(np.float64) for each in counts)
    return by_weight, by_user


def _correlations(profiles: Profiles, table: MarketingTable | None) -> Facts:
    """Correlate what each term has, pair by pair, over the terms that have an estimate of both.

    Frequencies are correlated over the terms that have any estimate, if there is a table. A table
    knows an empty cell as 0: neither is an estimate.
    """
    values = dict(zip(VALUED, frequencies(profiles), strict=False))
    estimated = np.ones(len(profiles.terms), dtype=bool)
    if table is not None:
        market = {what: values_of(table, profiles.terms, what) for what in MARKET}
        estimated = np.logical_or.reduce([each > 0 for each in market.values()])
        values |= market
    found: Facts = {}
    for one, other in combinations(values, 2):
        both = estimated & (values[one] > 0) & (values[other] > 0)
        x, y = values[one][both], values[other][both]
        if x.size > 2 and np.ptp(x) > 0 and np.ptp(y) > 0:
            found[f"n_{one}_{other}"] = int(x.size)
            found[f"r_{one}_{other}"] = float(np.corrcoef(x, y)[0, 1])
    return found
