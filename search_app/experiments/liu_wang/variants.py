"""Find the variants of the liu-wang experiment, and what was measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..design import Variant
from ..outcomes import Outcomes
from ..report.claims import Side
from ..report.making import BASELINES, NAMES

SSC, LG, SETS = "SSC", "LG(bag)", "LG"
ANNEALED, PARTIAL, BOTH = "SSC, annealed", "partial bags", "partial bags, annealed"
OURS = (ANNEALED, PARTIAL, BOTH)  # what the paper does not do
OTHERS = ("p-linkability", "pooled")  # groups of this product
KINDS = (SSC, *OURS, LG, SETS, *OTHERS)
POOL = 100
_TABLES = {
    SSC: ("ssc", "suppression"),
    ANNEALED: ("annealed",),
    PARTIAL: ("partial",),
    BOTH: ("partial-annealed",),
    LG: ("lg",),
    SETS: ("lg",),
}
_BAG = {LG: "true", SETS: "false"}


class Releases(NamedTuple):
    """The releases of an experiment by what they are: a kind, k and eps."""

    outcomes: Outcomes

    def every(self, kind: str, sessions: bool = False) -> Iterator[tuple[int, float, Variant]]:
        """Yield (k, eps, variant) for each release of `kind`, of people or `sessions`."""
        tables = _TABLES.get(kind, (kind,))
        if sessions:
            tables = ("sessions-lg",) if kind in _BAG else ("sessions",)
        for variant in self.outcomes.experiment.named(*tables):
            if variant.given.get("bag") == _BAG.get(kind):
                k, p = variant.number("k"), variant.number("p")
                yield round(k or 1 / (p or 1)), variant.number("eps") or 0.0, variant

    def at(self, kind: str, k: int, eps: float | None = None, **how: bool) -> Variant | None:
        """Return the release of `kind` at `k`, and at `eps` if it has one."""
        for own_k, own_eps, variant in self.every(kind, **how):
            if own_k == k and (eps is None or own_eps == eps):
                return variant
        return None

    def ks(self, kind: str = SSC, **how: bool) -> list[int]:
        """Return every k of `kind`, ascending."""
        return sorted({k for k, _, _ in self.every(kind, **how)})

    def all_eps(self, kind: str = SSC, **how: bool) -> list[float]:
        """Return every eps of `kind` above 0, ascending."""
        return sorted({eps for _, eps, _ in self.every(kind, **how) if eps})

    def fact(self, name: str, variant: Variant | None) -> float | None:
        """Return the fact `name` of `variant`, None if it isn't known."""
        return None if variant is None else self.outcomes.fact(variant, name)

    def of(self, name: str, table: str) -> float | None:
        """Return the fact `name` of the first variant in the `table`."""
        return self.fact(name, next(iter(self.outcomes.experiment.named(table)), None))

    def side(self, kind: str, k: int, eps: float | None = None) -> Side | None:
        """Return the average precision of each person by the rows of `kind`, if measured."""
        variant = self.at(kind, k, eps)
        if variant is None or not self.outcomes.measured(variant, "group", POOL):
            return None
        at = f"k = {k}" if eps is None else f"k = {k}, eps = {eps:g}"
        return Side(f"{kind} at {at}", self.outcomes.by_people(variant, "group", POOL))

    def baseline(self, mode: str) -> Side | None:
        """Return the average precision of each person in a `mode` without rows, if measured."""
        for variant in self.outcomes.searched(mode, POOL, BASELINES):
            return Side(NAMES[mode], self.outcomes.by_people(variant, mode, POOL))
        return None

    def crossing(self, k: int) -> tuple[float | None, float | None]:
        """Return the last eps at `k` where SSC loses more than LG(bag), and the first where less.

        None stands for no such eps.
        """
        rival = self.fact("loss", self.at(LG, k))
        losses = {eps: self.fact("loss", self.at(SSC, k, eps)) for eps in self.all_eps()}
        known = {eps: loss for eps, loss in losses.items() if loss is not None}
        below = [eps for eps, loss in known.items() if rival is not None and loss < rival]
        first = min(below, default=None)
        before = [eps for eps in known if first is None or eps < first]
        return max(before, default=None), first
