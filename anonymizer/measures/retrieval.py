"""How well the frequent patterns of profiles are found again in a release: Recall and sDist.

The patterns are the top closed ones of the profiles (O) and of the users' rows (A): each user's row
counts once, and terms count once.

Recall  sum over O of the largest |O and A| / sum over O of |O|
sDist   sum over O of the least distance from O to A / sum over O of |O|

The distance of two patterns is that of vocabularies by model 2: each term is matched with at most
one of the other pattern that is at most eps away, and each unmatched term costs omega. With
nothing released each term costs omega.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Ints
from ..model import Profiles, Release
from ..terms.taxonomy import Taxonomy
from .patterns import top_patterns

EPS = 4.0  # for releases that have none
TermSet = tuple[str, ...]


def retrieved(
    before: Sequence[TermSet],
    release: Release,
    taxonomy: Taxonomy,
    least_length: int,
    eps: float | None = None,
) -> tuple[float, float]:
    """Return Recall and sDist of the patterns `before`, of at least `least_length` terms.

    Terms are as far apart as in `taxonomy`. Without `eps`, it and omega are those of the `release`.
    """
    after = _patterns(release.rows, release.grouping.sizes, least_length)
    size = max(sum(map(len, before)), 1)
    common = sum(max((len({*one} & {*other}) for other in after), default=0) for one in before)
    costs = _Costs(release, taxonomy, eps)
    far = sum(min(costs.distance(one, other) for other in after or [()]) for one in before)
    return common / size, far / size


def patterns_of(profiles: Profiles, least_length: int) -> list[TermSet]:
    """Return the top patterns of `profiles` that have at least `least_length` terms."""
    return _patterns(profiles, np.ones(len(profiles), np.int64), least_length)


def _patterns(rows: Profiles, people: Ints, least_length: int) -> list[TermSet]:
    """Return the top patterns of `rows`, row i counting for `people[i]` people."""
    rows = rows.in_order()
    patterns = top_patterns(rows.weights, people, least_length)
    return [tuple(rows.terms[number] for number in one.terms) for one in patterns]


class _Costs:
    """What it costs to match a term with another one, or with none."""

    def __init__(self, release: Release, taxonomy: Taxonomy, eps: float | None) -> None:
        own, omega = release.number("eps"), release.number("omega")
        self._taxonomy = taxonomy
        self._first = release.parameters.get("senses", "first") == "first"
        self._eps = eps if eps is not None else EPS if own is None else own
        # Where eps is 0, omega is 1: else nothing would cost anything.
        self.omega = omega if eps is None and omega is not None else self._eps or 1.0
        self._above: dict[str, Mapping[int, int]] = {}
        self._known: dict[tuple[str, str], float] = {}

    def distance(self, one: TermSet, other: TermSet) -> float:
        """Return the distance of the vocabularies `one` and `other`, by model 2."""
        # It takes a quarter of a second to load, and most commands measure nothing.
        from scipy.optimize import linear_sum_assignment

        whole = self.omega * (len(one) + len(other))
        saved = np.array([[self._saved(term, another) for another in other] for term in one])
        return whole - float(saved[linear_sum_assignment(-saved)].sum()) if saved.any() else whole

    def _saved(self, term: str, other: str) -> float:
        """Return how much less it costs to match `term` with the `other` than both with none."""
        if term == other:
            return 2 * self.omega
        if (term, other) not in self._known:
            far = self._steps(term, other) if self._eps else np.inf
            self._known[term, other] = max(0.0, 2 * self.omega - far) if far <= self._eps else 0.0
        return self._known[term, other]

    def _steps(self, term: str, other: str) -> float:
        """Return the length of the shortest way up from `term` and down to the `other`."""
        far, near = self._all_above(term), self._all_above(other)
        return min((far[up] + steps for up, steps in near.items() if up in far), default=np.inf)

    def _all_above(self, term: str) -> Mapping[int, int]:
        """Return the nodes at or above `term` with the fewest steps up to each."""
        if term not in self._above:
            starts = self._taxonomy.nodes_of(term)
            self._above[term] = self._taxonomy.above(starts[:1] if self._first else starts)
        return self._above[term]
