"""The tables of the zhu-xiong experiment: baselines, what each choice changes, what helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..evaluation import MEASURES
from . import zhu_xiong_cells as cells
from .claims import difference_text, listed, steps_of
from .design import Variant
from .outcomes import Outcomes
from .report import Table
from .summaries import SummedUp, all_intervals, by_people, measured
from .zhu_xiong_improvements import improvements, pair
from .zhu_xiong_variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_4,
    NAMES,
    ORDER,
    POOLS,
    THE_PAPERS,
    ap_of,
    changes,
    complete,
    fact,
    first,
    in_mode,
    main_pool,
    moves_gold,
    sensitivity,
    usual,
    usual_like,
)

_OTHER_MODES = ("none", "average", "random-groups", "group")


def tables(summed: SummedUp) -> tuple[Table, ...]:
    """Return all tables whose variants were measured."""
    found = (make(summed) for make in _TABLES)
    return tuple(table for table in found if table is not None and table.rows)


def baselines(summed: SummedUp) -> Table | None:
    """Set all modes side by side, with every measure and the worst tenth of the people."""
    variant = first(summed.outcomes, FIGURE_2)
    if variant is None:
        return None
    pool = main_pool(variant)
    rows = []
    for mode in ORDER:
        who = in_mode(summed.outcomes, variant, mode, pool)
        found = [summed.find(who, mode, pool, name) if who else None for name in MEASURES]
        ap = summed.find(who, mode, pool) if who else None
        if ap is not None:
            rows.append(
                (
                    NAMES[mode],
                    *map(cells.mean, found),
                    cells.ends(ap),
                    cells.number(ap.worst_decile),
                )
            )
    about = (
        f"p = {complete(variant)['p']:g}, pool {pool}. Worst tenth: the mean AP of the tenth of "
        "the people served worst. What grouping by similarity earns is the difference between the "
        "last line and random groups; what a person's own share earns, that between the last two."
    )
    head = ("mode", *MEASURES, "AP, 95 % interval", "AP, worst tenth")
    return Table("baselines", "Baselines", about, head, tuple(rows))


def choices(summed: SummedUp) -> Table | None:
    """Change one choice at a time, at the paper's p and a."""
    outcomes, paper = summed.outcomes, usual(summed.outcomes)
    if paper is None:
        return None
    p = complete(paper)["p"]
    variants = [each for each in sensitivity(outcomes) if complete(each).get("p") == p]
    rows = [
        *_seed_rows(summed, paper),
        *_fewer_seeds(outcomes, paper, variants),
        *_pool_rows(summed),
        *_changed(summed, variants),
    ]
    about = (
        f"One choice changed at a time, at p = {p:g}. The difference is to the paper's choices by "
        "the same seeds, which have their own row where they are fewer than all, over the same "
        "pool and people; p is corrected by Holm within this table. A dagger (†) marks a choice "
        "that changes the gold standard too: its AP is of another question, so that there is no "
        "difference. "
        "Average, worst term and belief are the three readings of linkability, each of the worst "
        "group."
    )
    head = ("choice", "pool", "AP", "AP_c", "difference in AP", "p", *cells.FACTS_HEAD)
    return Table("sensitivity", "What each choice changes", about, head, tuple(rows))


def _seed_rows(summed: SummedUp, paper: Variant) -> list[tuple[str, ...]]:
    """Return the paper's own row, and how far its seeds lie apart."""
    pool = main_pool(paper)
    if summed.find(paper, "group", pool) is None:
        return []
    rows = [_row(summed, THE_PAPERS, paper, pool, cells.NONE, cells.NONE)]
    if len(paper.seeds) > 1:
        rows.append(_over_seeds(summed.outcomes, paper, pool))
    return rows


def _fewer_seeds(
    outcomes: Outcomes, paper: Variant, variants: Sequence[Variant]
) -> list[tuple[str, ...]]:
    """Return the paper's row again by the seeds of those that are held against it."""
    rows: dict[tuple[int, ...], tuple[str, ...]] = {}
    for variant in variants:
        pool = main_pool(variant)
        like = usual_like(outcomes, variant, "group", pool)
        comparable = like is not None and not moves_gold(variant)
        if like is not None and comparable and like.seeds != paper.seeds:
            people = [by_people(outcomes, like, "group", pool, name) for name in ("AP", "AP_c")]
            means = [cells.number(float(values[~np.isnan(values)].mean())) for values in people]
            name = f"{THE_PAPERS}, {_seeds(like.seeds)}"
            told = (*means, cells.NONE, cells.NONE, *cells.facts(outcomes, like))
            rows[like.seeds] = (name, str(pool), *told)
    return list(rows.values())


def _seeds(seeds: Sequence[int]) -> str:
    """Name seeds: 0 to 2 where they follow each other."""
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{'seeds' if len(seeds) > 1 else 'seed'} {listed([str(seed) for seed in seeds])}"


def _over_seeds(outcomes: Outcomes, paper: Variant, pool: int) -> tuple[str, ...]:
    """Tell the least and the most over seeds."""
    singles = [replace(paper, seeds=(seed,)) for seed in paper.seeds]
    columns = []
    for name in ("AP", "AP_c"):
        people = [by_people(outcomes, each, "group", pool, name) for each in singles]
        means = [float(values[~np.isnan(values)].mean()) for values in people]
        columns.append(cells.least_and_most(means))
    facts = [
        cells.least_and_most(
            [value for each in singles if (value := fact(outcomes, each, name)) is not None]
        )
        for name, _ in cells.FACTS
    ]
    return (f"by each of {len(singles)} seeds", str(pool), *columns, cells.NONE, cells.NONE, *facts)


def _pool_rows(summed: SummedUp) -> list[tuple[str, ...]]:
    """Return one row for each pool, of the paper's choices."""
    variant = first(summed.outcomes, POOLS)
    if variant is None:
        return []
    return [
        _row(summed, f"pool={pool} †", variant, pool, cells.NONE, cells.NONE)
        for pool in variant.pools
        if summed.find(variant, "group", pool) is not None
    ]


def _changed(summed: SummedUp, variants: Sequence[Variant]) -> list[tuple[str, ...]]:
    """Return one row for each changed choice, with the difference it makes."""
    outcomes, rows, pairs = summed.outcomes, [], {}
    for variant in variants:
        pool = main_pool(variant)
        paper = usual_like(outcomes, variant, "group", pool)
        name = changes(outcomes, variant)
        if paper is not None and name != THE_PAPERS and measured(outcomes, variant, "group", pool):
            if moves_gold(variant):
                name = f"{name} †"
            else:
                pairs[name, pool] = pair(outcomes, variant, paper, pool)
            rows.append((name, variant, pool))
    none = (cells.NONE, cells.NONE)
    found = dict(zip(pairs, cells.corrected(steps_of(list(pairs.values()))), strict=True))
    return [_row(summed, *row, *found.get((row[0], row[2]), none)) for row in rows]


def other_golds(summed: SummedUp) -> Table | None:
    """Set the modes side by side where a choice changes the gold standard too."""
    outcomes = summed.outcomes
    found = [each for each in sensitivity(outcomes) if moves_gold(each) and _searched(summed, each)]
    rows = [
        (
            changes(outcomes, variant),
            str(main_pool(variant)),
            *[cells.mean(summed.find(variant, mode, main_pool(variant))) for mode in _OTHER_MODES],
            gain,
        )
        for variant, gain in zip(found, _over_random(outcomes, found), strict=True)
    ]
    about = (
        "Documents or profiles weighed otherwise are another question: every mode, and the gold "
        "standard, change with them. AP of each mode against its own gold standard."
    )
    names = [NAMES[mode] for mode in _OTHER_MODES]
    head = ("choice", "pool", *names, "group over random groups")
    return Table("other-golds", "Other weights, other gold standards", about, head, tuple(rows))


def _searched(summed: SummedUp, variant: Variant) -> bool:
    return summed.find(variant, "group", main_pool(variant)) is not None


def _over_random(outcomes: Outcomes, variants: Sequence[Variant]) -> list[str]:
    """Write what each variant's groups gain over random groups of the same sizes."""
    gaps = {}
    for at, variant in enumerate(variants):
        pool = main_pool(variant)
        if all(measured(outcomes, variant, mode, pool) for mode in ("group", "random-groups")):
            ours = by_people(outcomes, variant, "group", pool)
            gaps[at] = ours - by_people(outcomes, variant, "random-groups", pool)
    found = dict(zip(gaps, all_intervals(list(gaps.values())), strict=True))
    return [
        difference_text(found[at]) if at in found else cells.NONE for at in range(len(variants))
    ]


def guarantees(summed: SummedUp) -> Table | None:
    """Tell of each reading of the promise what keeping it costs."""
    outcomes = summed.outcomes
    strict = outcomes.experiment.named(EVERY_TERM)
    tried = (*outcomes.experiment.named(FIGURE_4), *strict)
    found = [each for each in tried if "p" in complete(each) and _searched(summed, each)]
    gains = _over_random(outcomes, found)
    rows = [_promise(summed, *each) for each in zip(found, gains, strict=True)]
    ap = listed(sorted({ap_of(each, p=False) for each in found})) if found else "AP"
    about = (
        f"{ap} by the groups' rows. Which reading of the promise is enforced, and what all three "
        "come to: the average over a group's terms, the worst term that stands in a row, and the "
        "largest change of belief. Terms left out are those that a row must not show."
    )
    head = ("enforced", "p", "AP", "group over random groups",
            "average", "worst term in a row", "belief", "terms left out")  # fmt: skip
    last = ("belief", "any", cells.NONE, "can't be enforced by this method; measured")
    full = (*rows, (*last, *[cells.NONE] * (len(head) - len(last)))) if rows else ()
    return Table("guarantees", "The three readings of the promise", about, head, full)


def _promise(summed: SummedUp, variant: Variant, gain: str) -> tuple[str, ...]:
    pool = main_pool(variant)
    return (
        str(complete(variant).get("guarantee", "average")),
        f"{complete(variant)['p']:g}",
        cells.mean(summed.find(variant, "group", pool)),
        gain,
        *_promises(summed.outcomes, variant),
    )


def _promises(outcomes: Outcomes, variant: Variant) -> tuple[str, ...]:
    names = ("average_linkability", "released_linkability", "change_of_belief")
    found = [cells.number(fact(outcomes, variant, name)) for name in names]
    left, all_terms = (
        fact(outcomes, variant, f"terms_{name}") for name in ("suppressed", "in_groups")
    )
    share = f"{left / all_terms:.1%}" if left is not None and all_terms else cells.NONE
    return (*found, share)


def _row(
    summed: SummedUp, name: str, variant: Variant, pool: int, difference: str, p: str
) -> tuple[str, ...]:
    means = [cells.mean(summed.find(variant, "group", pool, measure)) for measure in ("AP", "AP_c")]
    return (name, str(pool), *means, difference, p, *cells.facts(summed.outcomes, variant))


_TABLES = (baselines, choices, other_golds, improvements, guarantees)
