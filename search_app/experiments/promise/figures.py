"""The report of the promise experiment: search against the largest change of belief."""
# A row of a table, or a point of a figure, is one kind of rows at one p. A figure appears only if
# the experiment has its variants.

from __future__ import annotations

from collections.abc import Sequence

from ..beliefs import beyond, largest
from ..design import Variant
from ..modes import PICKED
from ..outcomes import PassSeconds
from ..report import cells
from ..report.claims import AS_GOOD_RULE, RULE
from ..report.making import made
from ..report.planes import by_belief
from ..report.report import Figure, Report, Table
from ..report.summaries import SummedUp
from .claims import claims
from .series import ALL, AVERAGE, NAMED, PLAIN_STAGES, baseline, pools

ATTACKER = (
    "The change of belief is that of equation 1, |posterior - prior|. The attacker knows all rows, "
    "how many people have each term and which row serves which person, and reads a term's own "
    "column. The largest change is over all rows and all terms, also terms that a row lacks. Cells "
    "beyond p are the pairs of a row and a term with a larger change than p. This attacker does "
    "not use which terms go together. One who does can learn more from pooled rows, but not from "
    "composition's."
)
SMOOTHED = (
    "Smoothed rows are made of the published rows and the public corpus alone, so they change "
    "belief as much as the published rows do. Their prior is the mean of the released rows, each "
    "counted once for each person who shares it. Above p = 0.2 nothing is smoothed."
)
STAGES = (
    f"In two stages, a row or BM25 first picks one in {PICKED} documents of the pool (200 of "
    "1,000). The person's own device then orders these by the own profile, which the server never "
    "sees. All other documents follow in their old order. Belief changes as it does by the rows "
    "that pick."
)
UNASSIGNED = (
    "Pooled draws the people in no group without a look at their profiles, and publishes nothing "
    "made of these profiles. Their row holds the shares of all people in groups, so it does not "
    "change belief about them. If an attacker learns elsewhere how many of all people have a term, "
    "subtracting the groups' counts reveals the rest; the promise does not cover this."
)
KEY = (
    "Here the secret key of a pooled release comes from the seed, so that a run can be repeated. "
    "These releases are for measuring only and are never written."
)


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`."""
    searched = pools(summed.outcomes)
    return made(
        summed.outcomes,
        (ATTACKER, UNASSIGNED, SMOOTHED, STAGES, KEY, *RULE, *AS_GOOD_RULE),
        figures=[tradeoff(summed, pool) for pool in searched],
        tables=[table(summed, pool) for pool in searched],
        claims=claims(summed.outcomes),
    )


def tradeoff(summed: SummedUp, pool: int) -> Figure | None:
    """Return the plane of AP over `pool`, with a line per kind of rows."""
    rows = [
        (series.name, f"{series.name} at p = {p:g}", variant, series.mode)
        for series in ALL
        for p, variant in series.by_p(summed.outcomes)
    ]
    about = "Along a line, p rises. Rows that keep their promise are no further right than p."
    return by_belief(summed, pool, about, rows, name=f"promise-{pool}", fact=largest)


def _every_p(summed: SummedUp) -> list[float]:
    return sorted({p for series in ALL for p, _ in series.by_p(summed.outcomes)})


def table(summed: SummedUp, pool: int) -> Table:
    """Return all kinds of rows side by side over `pool`, for each p."""
    outcomes, rows = summed.outcomes, list[tuple[str, ...]]()

    def add(name: str, p: str, variant: Variant | None, mode: str, last: Sequence[str]) -> None:
        ap, corrected = (summed.find(variant, mode, pool, what) for what in ("AP", "AP_c"))
        if ap is not None:
            rows.append((name, p, cells.mean(ap), cells.mean(corrected), cells.ends(ap), *last))

    for p in _every_p(summed):
        for series in ALL:
            if (variant := series.at(outcomes, p, pool)) is not None:
                broken = outcomes.fact(variant, beyond(series.mode))
                share = cells.NONE if broken is None else f"{broken:.4%}" if broken else "0"
                belief = cells.number(outcomes.fact(variant, largest(series.mode)))
                people = cells.number(outcomes.fact(variant, "mean_group"))
                add(series.name, f"{p:g}", variant, series.mode, (belief, share, people))
    # Modes without a release reveal nothing about anybody: their change of belief is 0.
    for mode in (AVERAGE, "none", PLAIN_STAGES) if rows else ():
        add(NAMED[mode], "any", baseline(outcomes, mode, pool), mode, ("0.000", "0", cells.NONE))
    about = (
        f"AP and AP_c over pool {pool}. Belief: the largest change of belief over all rows and "
        "terms; a kept promise holds it at p or below. Cells beyond p: the share of pairs of a row "
        "and a term with a larger change. All are means over the seeds' releases."
    )
    head = ("rows", "p", "AP", "AP_c", "AP, 95 % interval", "belief", "cells beyond p",
            "people a row")  # fmt: skip
    return Table(f"promise-{pool}", f"Search and belief (pool {pool})", about, head, tuple(rows))
