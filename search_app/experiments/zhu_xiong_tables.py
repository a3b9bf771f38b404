"""The tables of the zhu-xiong experiment: baselines, what each choice changes, what helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..significance import holm
from .claims import Side, Step, difference_text, p_text, steps_of
from .design import Variant
from .outcomes import Outcomes
from .report import Table
from .summaries import Judged, Summary, all_intervals, by_people, measured
from .zhu_xiong_variants import (
    FIGURE_2,
    FIGURE_4,
    IMPROVEMENTS,
    NAMES,
    ORDER,
    POOLS,
    SENSITIVITY,
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

_BASELINE_MEASURES = ("AP@10", "AP@20", "AP", "AP_c", "nDCG", "overlap@10", "tau", "RBO")
_FACTS = (
    ("mean_group", "people a group"),
    ("average_linkability", "average"),
    ("worst_linkability", "worst term"),
    ("change_of_belief", "belief"),
)
_NONE = "–"


def tables(judged: Judged) -> tuple[Table, ...]:
    """Return all tables whose variants were measured."""
    found = (make(judged) for make in (baselines, choices, improvements, guarantees))
    return tuple(table for table in found if table is not None and table.rows)


def baselines(judged: Judged) -> Table | None:
    """Set all modes side by side, with every measure and the worst tenth of the people."""
    variant = first(judged.outcomes, FIGURE_2)
    if variant is None:
        return None
    pool = main_pool(variant)
    rows = []
    for mode in ORDER:
        who = in_mode(judged.outcomes, variant, mode, pool)
        found = [judged.find(who, mode, pool, name) if who else None for name in _BASELINE_MEASURES]
        ap = found[_BASELINE_MEASURES.index("AP")]
        if ap is not None:
            rows.append((NAMES[mode], *map(_mean, found), _ends(ap), _number(ap.worst_decile)))
    about = (
        f"p = {complete(variant)['p']:g}, pool {pool}. Worst tenth: the mean AP of the tenth of "
        "the people served worst. A product that shows only the last line hides that a random "
        "grouping earns most of it."
    )
    head = ("mode", *_BASELINE_MEASURES, "AP, 95 % interval", "AP, worst tenth")
    return Table("baselines", "Baselines", about, head, tuple(rows))


def choices(judged: Judged) -> Table | None:
    """Change one choice at a time, at the paper's p and a."""
    outcomes, paper = judged.outcomes, usual(judged.outcomes)
    if paper is None:
        return None
    p = complete(paper)["p"]
    variants = [each for each in sensitivity(outcomes) if complete(each).get("p") == p]
    rows = [*_seed_rows(judged, paper), *_pool_rows(judged), *_changed(judged, variants)]
    about = (
        f"One choice changed at a time, at p = {p:g}. The difference is to the paper's choices by "
        "the same seeds, pool and people; p is corrected by Holm within this table. A dagger (†) "
        "marks a choice that changes the gold standard too, so that its AP is of another question. "
        "Average, worst term and belief are the three readings of linkability, each of the worst "
        "group."
    )
    head = ("choice", "pool", "AP", "AP_c", "difference in AP", "p", *(name for _, name in _FACTS))
    return Table("sensitivity", "What each choice changes", about, head, tuple(rows))


def _seed_rows(judged: Judged, paper: Variant) -> list[tuple[str, ...]]:
    """Return the paper's own row, and how far its seeds lie apart."""
    pool = main_pool(paper)
    if judged.find(paper, "group", pool) is None:
        return []
    rows = [_row(judged, "the paper's", paper, pool, _NONE, _NONE)]
    if len(paper.seeds) > 1:
        rows.append(_over_seeds(judged.outcomes, paper, pool))
    return rows


def _over_seeds(outcomes: Outcomes, paper: Variant, pool: int) -> tuple[str, ...]:
    """Tell the least and the most over seeds."""
    singles = [replace(paper, seeds=(seed,)) for seed in paper.seeds]
    columns = [
        _least_and_most([float(np.nanmean(by_people(outcomes, each, "group", pool, name)))
                         for each in singles])
        for name in ("AP", "AP_c")
    ]  # fmt: skip
    facts = [
        _least_and_most(
            [value for each in singles if (value := fact(outcomes, each, name)) is not None]
        )
        for name, _ in _FACTS
    ]
    return (f"by each of {len(singles)} seeds", str(pool), *columns, _NONE, _NONE, *facts)


def _pool_rows(judged: Judged) -> list[tuple[str, ...]]:
    """Return one row for each pool, of the paper's choices."""
    variant = first(judged.outcomes, POOLS)
    if variant is None:
        return []
    return [
        _row(judged, f"pool={pool} †", variant, pool, _NONE, _NONE)
        for pool in variant.pools
        if judged.find(variant, "group", pool) is not None
    ]


def _changed(judged: Judged, variants: Sequence[Variant]) -> list[tuple[str, ...]]:
    """Return one row for each changed choice, with the difference it makes."""
    outcomes, rows, pairs = judged.outcomes, [], []
    for variant in variants:
        pool = main_pool(variant)
        paper = usual_like(outcomes, variant, "group", pool)
        name = changes(outcomes, variant)
        if (
            paper is not None
            and name != "the paper's"
            and measured(outcomes, variant, "group", pool)
        ):
            mark = " †" if moves_gold(variant) else ""
            rows.append((f"{name}{mark}", variant, pool))
            pairs.append(_pair(outcomes, variant, paper, pool))
    found = _corrected(steps_of(pairs)) if pairs else []
    return [_row(judged, *row, *told) for row, told in zip(rows, found, strict=True)]


def improvements(judged: Judged) -> Table | None:
    """Compare other ways to group under the same constraint with the paper's and with chance."""
    outcomes = judged.outcomes
    measures = [
        (variant, pool, paper)
        for variant in outcomes.experiment.named(IMPROVEMENTS)
        for pool in variant.pools
        if measured(outcomes, variant, "group", pool)
        and (paper := usual_like(outcomes, variant, "group", pool)) is not None
    ]
    if not measures:
        return None
    measures.sort(key=lambda each: (each[1], float(complete(each[0])["p"])))
    pairs = [_pair(outcomes, variant, paper, pool) for variant, pool, paper in measures]
    told = _corrected(steps_of(pairs))
    chance = _against_chance(judged, measures)
    rows = [
        (
            f"p={complete(variant)['p']:g} {changes(outcomes, variant)}",
            str(pool),
            _mean(judged.find(variant, "group", pool)),
            *difference,
            random,
            *_facts(outcomes, variant),
        )
        for (variant, pool, _), difference, random in zip(measures, told, chance, strict=True)
    ]
    about = (
        "Each setting keeps the paper's constraint at the same p. The first difference is to the "
        "paper's grouping, p corrected by Holm within this table; the second is to random groups "
        "of the paper's sizes, where they were searched over that pool."
    )
    head = ("setting", "pool", "AP", "difference to the paper's", "p",
            "difference to random groups", *(name for _, name in _FACTS))  # fmt: skip
    return Table(
        "improvements", "Better groups under the same constraint", about, head, tuple(rows)
    )


def _against_chance(judged: Judged, measures: Sequence[tuple[Variant, int, Variant]]) -> list[str]:
    """Return the difference of each setting to random groups of the paper's sizes."""
    outcomes, gaps = judged.outcomes, {}
    for at, (variant, pool, _) in enumerate(measures):
        random = usual_like(outcomes, variant, "random-groups", pool)
        if random is not None:
            ours = by_people(outcomes, variant, "group", pool)
            gaps[at] = ours - by_people(outcomes, random, "random-groups", pool)
    found = dict(zip(gaps, all_intervals(list(gaps.values())), strict=True))
    return [difference_text(found[at]) if at in found else _NONE for at in range(len(measures))]


def guarantees(judged: Judged) -> Table | None:
    """Tell of each reading of the promise what keeping it costs."""
    outcomes = judged.outcomes
    strict = outcomes.experiment.named(f"{SENSITIVITY}guarantee")
    usuals = outcomes.experiment.named(FIGURE_4)
    rows = []
    for variant in (*usuals, *strict):
        pool = main_pool(variant)
        summary = judged.find(variant, "group", pool)
        if summary is not None and variant.method and "p" in complete(variant):
            name = str(complete(variant).get("guarantee", "average"))
            rows.append(
                (name, f"{complete(variant)['p']:g}", _mean(summary), *_promises(outcomes, variant))
            )
    if not rows:
        return None
    rows.append(
        ("belief", "any", _NONE, "can't be enforced by this method; measured", _NONE, _NONE, _NONE)
    )
    about = (
        "Which reading of the promise is enforced, and what all three come to: the average over "
        "a group's terms, the worst term that stands in a row, and the largest change of belief. "
        "Terms left out are those that a row must not show."
    )
    head = ("enforced", "p", "AP", "average", "worst term in a row", "belief", "terms left out")
    return Table("guarantees", "The three readings of the promise", about, head, tuple(rows))


def _promises(outcomes: Outcomes, variant: Variant) -> tuple[str, ...]:
    names = ("average_linkability", "released_linkability", "change_of_belief")
    found = [_number(fact(outcomes, variant, name)) for name in names]
    left, all_terms = (
        fact(outcomes, variant, f"terms_{name}") for name in ("suppressed", "in_groups")
    )
    share = f"{left / all_terms:.1%}" if left is not None and all_terms else _NONE
    return (*found, share)


def _pair(outcomes: Outcomes, variant: Variant, paper: Variant, pool: int) -> tuple[Side, Side]:
    return (
        Side(changes(outcomes, variant), by_people(outcomes, variant, "group", pool)),
        Side("the paper's", by_people(outcomes, paper, "group", pool)),
    )


def _corrected(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Write differences and their p, corrected as one family."""
    corrected = holm([step.p for step in steps])
    return [
        (difference_text(step.difference), p_text(p))
        for step, p in zip(steps, corrected, strict=True)
    ]


def _row(
    judged: Judged, name: str, variant: Variant, pool: int, difference: str, p: str
) -> tuple[str, ...]:
    means = [_mean(judged.find(variant, "group", pool, measure)) for measure in ("AP", "AP_c")]
    return (name, str(pool), *means, difference, p, *_facts(judged.outcomes, variant))


def _facts(outcomes: Outcomes, variant: Variant) -> list[str]:
    return [_number(fact(outcomes, variant, name)) for name, _ in _FACTS]


def _least_and_most(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}" if values else _NONE


def _mean(summary: Summary | None) -> str:
    return _NONE if summary is None else _number(summary.mean)


def _ends(summary: Summary) -> str:
    return _NONE if np.isnan(summary.low) else f"{summary.low:.3f} to {summary.high:.3f}"


def _number(value: float | None) -> str:
    return _NONE if value is None or np.isnan(value) else f"{value:.3f}"
