"""(k,m)-anonymity by deleting terms.

Burghardt, Böhm, Guttman & Clifton, Anonymous Search Histories Featuring Personalized Advertisement
(a four-page form of it is in CIKM 2010), definition 1: a log is (k,m)-anonymous if every
combination of at most m terms of a history stands in at least k histories. The definition is about
sets of terms. It does not cover how often a user asked for a term; frequencies="drop" removes that.

Algorithm "greedy" is the paper's: it goes from user to user until nothing changes. With
reinsert="groups" it then gives terms back to groups of users who can have them together. "insert"
is ours: it gives terms to groups of users in one pass, in several orders, and keeps the best. The
target decides what a term is worth; a marketing table has bid, clicks, impressions and revenue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from ..deletion.histories import MOST_TERMS, Histories, histories_of
from ..errors import BadInput, Unsatisfiable
from ..marketing.table import VALUES, MarketingTable, values_of
from ..model import Profiles, Release
from ..promise import Promise
from ..rows.reduced import reduced_release
from .method import Inputs, Method, Options, each_by_itself, option

if TYPE_CHECKING:
    from ..deletion.orders import Worth

TARGETS = ("logsize", "users", "fis", "random", *VALUES)


@dataclass(frozen=True)
class KmAnonymity(Options):
    """The options of a deletion."""

    k: int = option(5, "each released combination of terms stands in at least k rows", least=1)
    m: int = option(
        2,
        f"the promise is for combinations of up to m terms of a row; 1 to {MOST_TERMS}",
        least=1,
        most=MOST_TERMS,
    )
    algorithm: str = option(
        "insert",
        "starts from nothing and gives terms back; greedy: the paper's, which deletes",
        choices=("insert", "greedy"),
    )
    target: str = option(
        "logsize",
        "what to keep most of: logsize (uses of terms), users, fis (frequent combinations), "
        "random (nothing), or a value of terms in a marketing table: bid, clicks, impressions, "
        "revenue",
        choices=TARGETS,
    )
    ties: str = option(
        "random",
        "greedy: --seed draws which of equal terms goes; first: the smallest goes",
        choices=("random", "first"),
    )
    reinsert: str = option(
        "none",
        "greedy: groups gives terms back where k or more people can have them",
        choices=("none", "groups"),
    )
    frequencies: str = option(
        "drop",
        "all weights are 1; keep: the profiles' weights, which the promise does not cover",
        choices=("drop", "keep"),
    )
    marketing: str = option(
        "none", "the table: a CSV file of term,bid,impressions,clicks, or synthetic"
    )

    def effects(self) -> dict[str, bool]:
        """Return for options whether they have an effect with these others."""
        # At m = 1 and at k = 1 all algorithms and targets give the same release. The two are not
        # called idle all the same, as tables of results have a line for each of them.
        greedy = self.algorithm == "greedy" and min(self.m, self.k) > 1
        return {
            "ties": greedy and self.target != "random",
            "reinsert": greedy,
            "marketing": self.target in VALUES,
        }

    def faults_in_parts(self) -> list[str]:
        """Return what of these values can't be had in parts of the users."""
        if self.marketing == "synthetic":
            return ["marketing=synthetic is made from all users at once; in parts name a table"]
        return []

    def faults(self, inputs: Inputs) -> list[str]:
        """Return what is wrong with the values, and whether `inputs` lack a marketing table."""
        faults = super().faults(inputs)
        if inputs.table is not None:
            return faults
        if self.marketing != "none":
            faults.append(f"marketing={self.marketing} needs that table, and none was given")
        elif self.target in VALUES:
            faults.append(
                f"target={self.target} needs a marketing table: set marketing=FILE.csv, or "
                "marketing=synthetic for an invented one"
            )
        return faults


def run(inputs: Inputs, options: KmAnonymity) -> Release:
    """Return the release of `inputs`, reduced until k users have any m terms of a row."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..deletion.orders import most_kept

    profiles, table, k, m = inputs.profiles, inputs.table, options.k, options.m
    if k > len(profiles):
        raise Unsatisfiable(
            f"k={k} is more than the number of users, {len(profiles)}; take a smaller k", needs=k
        )
    histories, worth = histories_of(profiles), _worth(profiles, options.target, table)
    if options.algorithm == "greedy":
        passes, settled = _greedily(histories, worth, inputs, options), options
    else:
        kept = most_kept(histories, worth, k=k, m=m, rng=inputs.rng, progress=inputs.progress)
        passes = np.where(kept, 0, 1).astype(np.int64)
        # Both have no effect here: release.json states their defaults, as its judge demands.
        settled = replace(options, ties="random", reinsert="none")
    marketing = "none"
    if table is not None and options.target in VALUES:
        marketing = "synthetic" if table.drawn else "given"
    settled = replace(settled, marketing=marketing)
    return reduced_release(
        profiles,
        passes == 0,
        passes,
        settled.parameters(),
        method=METHOD.name,
        promise=METHOD.promise,
        frequencies=options.frequencies,
    )


def _worth(profiles: Profiles, target: str, table: MarketingTable | None) -> Worth:
    from ..deletion.orders import Worth

    values = values_of(table, profiles.terms, target) if table and target in VALUES else None
    worth = Worth(target, profiles.weights.data, values)
    with np.errstate(over="ignore"):
        totals = [worth.weights.sum()]
        if values is not None:
            totals.append((worth.weights * values[profiles.weights.indices]).sum())
    if not np.isfinite(totals).all():
        raise BadInput("weights are too large to be added up; divide them by a large number")
    return worth


def _decider(histories: Histories, worth: Worth) -> Floats | str:
    """Return what each term is worth in the whole log; or the target, if it is random or fis."""
    if worth.target == "users":
        return np.bincount(histories.terms, minlength=histories.span).astype(np.float64)
    if worth.target in ("random", "fis"):
        return worth.target
    tf: Floats = np.bincount(histories.terms, worth.weights, histories.span).astype(np.float64)
    return tf if worth.values is None else worth.values * tf


def _greedily(histories: Histories, worth: Worth, inputs: Inputs, options: KmAnonymity) -> Ints:
    """Return the pass in which each cell was deleted, and 0 if it was kept or given back."""
    from ..deletion.greedy import delete_greedily
    from ..deletion.orders import give_back

    passes = delete_greedily(
        histories,
        k=options.k,
        m=options.m,
        by=_decider(histories, worth),
        ties=options.ties,
        rng=inputs.rng,
        progress=inputs.progress,
        on_pass=inputs.on_pass,
    )
    if options.reinsert == "none":
        return passes
    kept = give_back(histories, passes == 0, worth, k=options.k, m=options.m, rng=inputs.rng)
    return np.where(kept, 0, passes)


METHOD = Method(
    name="km-anonymity",
    paper="Burghardt et al.",
    about="terms are deleted, nobody is grouped",
    promise=Promise("person", "combinations"),
    parts_cost="a term is kept only where k people of the same part have it, so less is kept",
    run=run,
    in_parts=each_by_itself(run),
    options=KmAnonymity,
    needs=frozenset({"table"}),
)
