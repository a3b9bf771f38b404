"""Which queries of a log are released: strategies of Carpineto & Romano, one record each.

A strategy releases a query of all people or of nobody. By share, queries are released in one drawn
order, so that more is a superset of less, until the next would exceed the share of impressions.
The paper has no code for its third strategy in our copy; `random` is our guess.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from anonymizer.arrays import Marks
from anonymizer.errors import BadParameter
from anonymizer.methods import METHODS
from anonymizer.methods.method import Chooser, Chosen, Options, option

from .logged import LoggedPeople

Drawn = np.random.Generator


@dataclass(frozen=True)
class PeopleOfQuery(Options):
    """What can be chosen when common queries are released."""

    k: int = option(5, "each released query was asked by at least k people", least=1)


@dataclass(frozen=True)
class ShareOfLog(Options):
    """What can be chosen when a share is released."""

    share: float = option(0.5, "of the impressions; less if there are too few", least=0, most=1)


@dataclass(frozen=True, kw_only=True)
class Strategy(Chooser[Chosen]):
    """A way to choose the queries that are released."""

    choose: Callable[[LoggedPeople, Chosen, Drawn], Marks]

    def released(self, people: LoggedPeople, parameters: Mapping[str, Any], seed: int) -> Marks:
        """Return which queries of `people` are released with `parameters`; `seed` draws them."""
        options = self.chosen(parameters)
        if faults := options.own_faults():
            raise BadParameter("; ".join(faults))
        return self.choose(people, options, np.random.default_rng([seed, 2]))


def common(people: LoggedPeople, options: PeopleOfQuery, _rng: Drawn) -> Marks:
    """Return which queries `options.k` of `people` asked."""
    return people.people_of >= options.k


def common_by_share(people: LoggedPeople, options: ShareOfLog, _rng: Drawn) -> Marks:
    """Return the queries of `people` by the k whose impressions come closest to the share.

    k is 2 or more: with 1 everything is released.
    """
    wanted = options.share * people.impressions.sum()
    by_k = np.bincount(people.people_of, weights=people.impressions)
    # A query of n people is released by every k up to n.
    from_k = by_k[::-1].cumsum()[::-1]
    k = 2 + int(np.argmin(np.abs(np.append(from_k, 0)[2:] - wanted)))
    return common(people, PeopleOfQuery(k), _rng)


def _among(inside: Callable[[LoggedPeople], Marks]) -> Callable[..., Marks]:
    """Return a choice of queries that are `inside`, up to a share of all impressions."""

    def choose(people: LoggedPeople, options: ShareOfLog, rng: Drawn) -> Marks:
        # Drawn over all queries, so that a query keeps its turn whatever the strategy lets in.
        order = rng.permutation(inside(people).size)
        order = order[inside(people)[order]]
        done = people.impressions[order].cumsum()
        chosen = np.zeros(people.impressions.size, dtype=bool)
        chosen[order[done <= options.share * people.impressions.sum()]] = True
        return chosen

    return choose


STRATEGIES: Mapping[str, Strategy[Any]] = {
    strategy.name: strategy
    for strategy in (
        Strategy(name="by-k", options=PeopleOfQuery, choose=common),
        Strategy(name="by-nearest-k", options=ShareOfLog, choose=common_by_share),
        Strategy(name="only-ppp", options=ShareOfLog, choose=_among(lambda people: people.listed)),
        Strategy(name="no-ppp", options=ShareOfLog, choose=_among(lambda people: ~people.listed)),
        Strategy(
            name="random",
            options=ShareOfLog,
            choose=_among(lambda people: np.ones_like(people.listed)),
        ),
    )
}
# All that a variant of an experiment may name as its method.
CHOOSERS: Mapping[str, Chooser[Any]] = ChainMap({**STRATEGIES}, cast(Any, METHODS))


def needs_of(method: str) -> frozenset[str]:
    """Return what `method` needs in addition to profiles, nothing if it is a strategy or ""."""
    return frozenset(METHODS[method].needs if method in METHODS else ())
