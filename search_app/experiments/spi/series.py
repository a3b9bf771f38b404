"""What the spi experiment compares: indices by k, strategies by share, methods by AP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..design import Variant
from ..outcomes import Outcomes
from ..report.summaries import SummedUp

LOG, BY_K, BY_SHARE, TERMS = "log", "figure-1", "figure-2", "terms"
POOL, MODE = 100, "group"
NEAR = 0.02  # a strategy reaches a share if its impressions differ by no more than this
STRATEGY_NAMES = {
    "only-ppp": "only PPP",
    "no-ppp": "no PPP",
    "random": "random",
    "by-nearest-k": "k-anonymity",
}
WEIGHT_NAMES = {"paper": "the paper's weights", "released": "weights of released queries"}
Facts = Mapping[str, float]


def log_facts(outcomes: Outcomes) -> Facts:
    """Return the facts of the log of `outcomes` and of all steps of k; none if not measured."""
    for variant in outcomes.experiment.named(LOG):
        for facts in outcomes.facts_of(variant, "steps"):
            return facts
    return {}


def by_k(outcomes: Outcomes) -> list[tuple[int, Facts]]:
    """Return (k, facts) of the releases of figure 1 in `outcomes`, by ascending k."""
    return [
        (int(k), facts)
        for k, variant in outcomes.experiment.ordered(BY_K, "k")
        for facts in outcomes.facts_of(variant, "log_jsd")
    ]


def by_strategy(outcomes: Outcomes) -> dict[str, dict[float, Facts]]:
    """Return the facts of each strategy at each share that its release in `outcomes` reaches."""
    reached: dict[str, dict[float, Facts]] = {}
    for share, variant in outcomes.experiment.ordered(BY_SHARE, "share"):
        for facts in outcomes.facts_of(variant, "log_jsd"):
            if abs(facts["log_impressions"] - share) <= NEAR:
                name = STRATEGY_NAMES.get(variant.method, variant.method)
                reached.setdefault(name, {})[share] = facts
    return reached


class OfTerms(NamedTuple):
    """A release of rows of terms: its AP, and the facts of its indices."""

    variant: Variant
    ap: float
    facts: Facts

    @property
    def setting(self) -> str:
        """Return the parameters that make the method's releases differ."""
        values = ((name, self.variant.number(name)) for name in ("p", "k", "eps"))
        return ", ".join(f"{name} = {value:g}" for name, value in values if value is not None)


def by_method(summed: SummedUp) -> dict[str, list[OfTerms]]:
    """Return the releases of each method in `summed` that were searched, by ascending AP."""
    methods: dict[str, list[OfTerms]] = {}
    for variant in summed.outcomes.experiment.named(TERMS):
        ap = summed.find(variant, MODE, POOL)
        for facts in summed.outcomes.facts_of(variant, "terms_jsd"):
            if ap is not None:
                methods.setdefault(variant.method, []).append(OfTerms(variant, ap.mean, facts))
    return {name: sorted(some, key=lambda one: one.ap) for name, some in methods.items()}
