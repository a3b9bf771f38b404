"""The facts that release.json states: the general ones, or a method's own in their place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .group_counts import HIDING, in_groups, released_weights, whole_rows
from .linkability import facts as general_facts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ..model import Profiles, Release

Facts = dict[str, float | int]
DECIMALS = 2  # of a share of reduced profiles


def facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what release.json states: every value holds for the whole release."""
    if release.method in HIDING:
        return facts_of_rows(profiles, release)
    return own_facts(profiles, release) or {**general_facts(profiles, release)}


def facts_of_rows(profiles: Profiles, release: Release) -> Facts:
    """Sum up the same of a release whose rows hide their members' shares: what each publishes.

    The members' own shares, or how many terms they have, would tell more than the rows do. A row
    for users left over tells nothing of them, nor does any of these facts.
    """
    counted, groups = in_groups(profiles, release), whole_rows(release)
    sizes = release.grouping.sizes[:groups]
    rows = release.rows.weights[:groups]
    shares, begins, terms = rows.data, rows.indptr[:-1], np.diff(rows.indptr)
    average, worst = float(counted.sizes.mean()), np.maximum.reduceat(shares, begins)
    mean = np.add.reduceat(shares, begins) / terms
    return {
        "users": len(release.users),
        "groups": groups,
        "single_person_rows": int(np.count_nonzero(sizes == 1)),
        "smallest_group": int(sizes.min()),
        "mean_group": float(sizes.mean()),
        "largest_group": int(sizes.max()),
        "average_linkability": average / int(terms.min()),
        "mean_average_linkability": float((average / terms).mean()),
        "share_linkability": float(mean.max()),
        "worst_linkability": float(worst.max()),
        "mean_worst_linkability": float(worst.mean()),
        "released_linkability": float(worst.max()),
        "change_of_belief": _published_belief(counted, release.rows.terms, rows),
        "terms_in_groups": int(rows.nnz),
        "terms_released": int(rows.nnz),
        "terms_suppressed": 0,
    }


def _published_belief(counted: Profiles, terms: tuple[str, ...], rows: csr_matrix) -> float:
    """Return the largest distance of a row's share, or of none, from that of all users."""
    prior = np.bincount(counted.weights.indices, minlength=len(counted.terms)) / len(counted)
    number = {term: at for at, term in enumerate(counted.terms)}
    column = np.array([number[term] for term in terms])[rows.indices]
    lacked = np.bincount(column, minlength=prior.size) < rows.shape[0]
    present = np.abs(rows.data - prior[column])
    return max(float(present.max()), float(prior.max(where=lacked, initial=0.0)))


def own_facts(profiles: Profiles, release: Release) -> Facts:
    """Sum up what releases of this method state in place of the general facts; nothing of most."""
    return _kept_of_reduced(profiles, release) if release.lone else {}


def _kept_of_reduced(profiles: Profiles, release: Release) -> Facts:
    """Return what can be counted from the rows, and roughly what share of the profiles they are.

    What remains of the log is counted in the weights of the profiles, whatever the rows have.
    """
    weights = profiles.weights.data
    _, exponent = np.frexp(weights.max())
    weights = np.ldexp(weights, -exponent)  # lest their sum leaves the range of numbers
    kept = weights[released_weights(profiles, release) > 0]
    terms, terms_kept = (_terms_used(of) for of in (profiles, release.rows))
    # A sum that depends on no order: whoever counts again must get the same digits.
    size, size_kept = (math.fsum(memoryview(of)) for of in (weights, kept))
    shares = {
        "users_kept": len(release.users) / len(profiles),
        "distinct_terms_kept": terms_kept / terms,
        "log_size_kept": size_kept / size,
    }
    return {
        "users": len(release.users),
        "groups": len(release.rows),
        "terms_released": int(release.rows.weights.nnz),
        "users_left_out": len(profiles) - len(release.users),
        # Every row is one person's: from more digits, or from figures of single rows, one could
        # solve for the size of one history, and a release without somebody would tell theirs.
        **{name: round(share, DECIMALS) for name, share in shares.items()},
    }


def _terms_used(profiles: Profiles) -> int:
    return int(np.count_nonzero(np.bincount(profiles.weights.indices)))
