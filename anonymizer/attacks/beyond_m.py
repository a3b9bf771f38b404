"""beyond-m: someone who knows terms of a released row counts how many rows have them all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..errors import BadParameter
from .attacked import Attacked, AttackResult, Named
from .intervals import Estimate, exact, wilson

_STEP = 512  # terms whose pairs are counted at a time
_MORE = 2  # terms beyond m
_COUNTED = 3  # all larger sets of raw profiles are too many to count


def beyond_m(target: Attacked) -> list[AttackResult]:
    """Return how often fewer than k rows of `target` hold the terms that somebody knows of a row.

    The attacker knows some terms that stand in the victim's released row. (k,m)-anonymity promises
    that k rows or more have any m of them: these are counted over all rows, each size up to m. Of
    m + 1 and m + 2 terms nothing is promised: they are drawn at random from each victim's row, or
    are those that the fewest rows have. The same holds of a single term with its weight. Sets of
    more than 3 terms are drawn from raw profiles, too.
    """
    promise, k, m = target.release.promise, *map(target.release.number, "km")
    if promise.bounds != "combinations" or k is None or m is None:
        raise BadParameter("beyond-m attacks (k,m)-anonymity; this release promises something else")
    rows, raw = (_presence(one.release.rows.weights) for one in (target, target.raw))
    results = []
    for size in range(1, int(m) + 1):
        named = Named("beyond-m", size)
        share = exact(_below(rows, size, int(k)))
        raw_share = (
            exact(_below(raw, size, int(k)))
            if size <= _COUNTED
            else _drawn(target.raw, raw, size, int(k) - 1)
        )
        measure = "terms of a row that fewer than k rows have"
        results.append(named.result(measure, share, raw_share, most=0.0))
    for size in range(int(m) + 1, int(m) + _MORE + 1):
        few, one_row = (_drawn(target, rows, size, limit) for limit in (int(k) - 1, 1))
        raw_few, raw_one = (_drawn(target.raw, raw, size, limit) for limit in (int(k) - 1, 1))
        named = Named("beyond-m", size, target.choice)
        results.append(named.result("victims whose terms fewer than k rows have", few, raw_few))
        results.append(named.result("victims whose row alone has the terms", one_row, raw_one))
    weights, raw_weights = (_singled_by_weight(one) for one in (target, target.raw))
    named = Named("beyond-m", 1)
    return [*results, named.result("rows singled out by a term's weight", weights, raw_weights)]


def _presence(weights: csr_matrix) -> csr_matrix:
    ones = np.ones(weights.nnz, dtype=np.int64)
    return csr_matrix((ones, weights.indices, weights.indptr), shape=weights.shape)


def _below(rows: csr_matrix, size: int, k: int) -> float:
    """Return the share of the sets of `size` terms in `rows` that fewer than `k` of them have."""
    held = few = 0
    for supports in _supports(rows, size):
        held += supports.size
        few += int(np.count_nonzero(supports < k))
    return few / held if held else 0.0


def _supports(rows: csr_matrix, size: int) -> Iterator[Ints]:
    """Yield how many of `rows` have each set of `size` terms that stands in one of them."""
    columns = rows.tocsc()
    if size == 1:
        counts = np.diff(columns.indptr)
        yield counts[counts > 0]
    elif size == 2:
        for low in range(0, rows.shape[1], _STEP):
            pairs = csr_matrix(columns[:, low : low + _STEP].T @ rows).tocoo()
            yield pairs.data[pairs.col > pairs.row + low]
    else:  # sets with their first term, in the rows that have it
        for term in range(rows.shape[1]):
            having = columns.indices[columns.indptr[term] : columns.indptr[term + 1]]
            later = rows[having][:, term + 1 :]
            used = np.flatnonzero(np.diff(later.tocsc().indptr))
            if used.size:
                yield from _supports(csr_matrix(later[:, used]), size - 1)


def _drawn(target: Attacked, rows: csr_matrix, size: int, limit: int) -> Estimate:
    """Return the share of victims whose `size` known terms stand in at most `limit` rows."""
    columns, totals = rows.tocsc(), np.diff(rows.tocsc().indptr)
    rng, few = target.rng(f"combinations of {size}"), 0
    numbers = np.flatnonzero(np.diff(rows.indptr) >= size)
    victims = rng.choice(numbers, min(target.victims, numbers.size), replace=False)
    for row in victims.tolist():
        terms = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
        known = rng.choice(terms, size, replace=False)
        if target.choice == "rarest":
            known = terms[np.argsort(totals[terms], kind="stable")[:size]]
        having = np.bincount(
            np.concatenate(
                [columns.indices[columns.indptr[t] : columns.indptr[t + 1]] for t in known]
            )
        )
        few += int(np.count_nonzero(having == size)) <= limit
    return wilson(few, victims.size) if victims.size else exact(0.0)


def _singled_by_weight(target: Attacked) -> Estimate:
    """Return the share of rows with a term of a weight that no other row has for the term."""
    matrix = target.release.rows.weights
    cells = np.column_stack([matrix.indices, matrix.data])
    _, kind, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    alone = np.unique(row[counts[kind.ravel()] == 1])
    return wilson(alone.size, matrix.shape[0])
