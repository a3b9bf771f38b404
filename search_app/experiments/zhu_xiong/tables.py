"""The tables of the zhu-xiong experiment: baselines, effects of choices, improvements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from anonymizer.arrays import Floats

from ...measures.precision import MEASURES
from ..design import Variant
from ..outcomes import Outcomes
from ..report import cells
from ..report.claims import listed
from ..report.making import NAMES
from ..report.report import Table
from ..report.summaries import SummedUp, mean_of
from .variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_4,
    IMPROVEMENTS,
    ORDER,
    POOLS,
    THE_PAPERS,
    ap_of,
    changes,
    first,
    in_mode,
    main_pool,
    pair,
    sensitivity,
    usual,
    usual_like,
)

_OTHER_MODES = ("none", "average", "random-groups", "group")
_DAGGER = " †"  # marks choices that change the gold standard too
Row = tuple[str, ...]


def baselines(summed: SummedUp) -> Table | None:
    """Return all modes of `summed` with every measure and the worst tenth of the people."""
    variant = first(summed.outcomes, FIGURE_2)
    if variant is None:
        return None
    pool, rows = main_pool(variant), list[Row]()
    for mode in ORDER:
        who = in_mode(summed.outcomes, variant, mode, pool)
        lines = (summed.find(who, mode, pool, name) for name in MEASURES)
        if (ap := summed.find(who, mode, pool)) is not None:
            last = (cells.ends(ap), cells.number(ap.worst_decile))
            rows.append((NAMES[mode], *map(cells.mean, lines), *last))
    about = (
        f"p = {variant.p:g}, pool {pool}. Worst tenth: the mean AP of the tenth of "
        "the people served worst. The last line minus random groups is what grouping by similarity "
        "gains. The last line minus the line before is what a person's own share gains."
    )
    head = ("mode", *MEASURES, "AP, 95 % interval", "AP, worst tenth")
    return Table("baselines", "Baselines", about, head, tuple(rows))


def choices(summed: SummedUp) -> Table | None:
    """Return what each single change of a choice does in `summed`, at the paper's p and a."""
    outcomes, paper = summed.outcomes, usual(summed.outcomes)
    if paper is None:
        return None
    p = paper.given["p"]
    variants = [variant for variant in sensitivity(outcomes) if variant.given.get("p") == p]
    tried = first(outcomes, POOLS)
    pools = [pool for pool in (tried.pools if tried else ()) if summed.find(tried, "group", pool)]
    rows = [
        *_seed_rows(summed, paper),
        *_fewer_seeds(outcomes, paper, variants),
        *[_row(summed, f"pool={pool}{_DAGGER}", tried, pool) for pool in pools if tried],
        *_changed(summed, variants),
    ]
    about = (
        f"One choice changed at a time, at p = {paper.p:g}. The difference is to the paper's "
        "choices with the same seeds, pool and people. Seeds that are fewer than all have a row of "
        "their own. P is corrected by Holm within this table. A dagger (†) marks a choice that "
        "changes the gold standard too. Its AP answers another question, so it has no difference. "
        "Average, worst term and belief are the three readings of linkability, each of the worst "
        "group."
    )
    head = ("choice", "pool", "AP", "AP_c", "difference in AP", "P", *cells.FACTS_HEAD)
    return Table("sensitivity", "What each choice changes", about, head, tuple(rows))


def _row(
    summed: SummedUp,
    name: str,
    variant: Variant,
    pool: int,
    difference: tuple[str, str] = cells.NO_DIFFERENCE,
) -> Row:
    means = (cells.mean(summed.find(variant, "group", pool, name)) for name in ("AP", "AP_c"))
    return (name, str(pool), *means, *difference, *cells.facts(summed.outcomes, variant))


def _means(outcomes: Outcomes, variant: Variant, pool: int) -> list[float]:
    """Return AP and AP_c as means over people."""
    people = (outcomes.by_people(variant, "group", pool, name) for name in ("AP", "AP_c"))
    return [mean_of(values) for values in people]


def _seed_rows(summed: SummedUp, paper: Variant) -> Iterator[Row]:
    """Yield the paper's own row, and a row with the range over its seeds."""
    pool, outcomes = main_pool(paper), summed.outcomes
    if summed.find(paper, "group", pool) is None:
        return
    yield _row(summed, THE_PAPERS, paper, pool)
    if len(paper.seeds) > 1:
        singles = [replace(paper, seeds=(seed,)) for seed in paper.seeds]
        means = zip(*(_means(outcomes, single, pool) for single in singles), strict=True)
        every = ([outcomes.fact(single, name) for single in singles] for name, _ in cells.FACTS)
        facts = ([value for value in some if value is not None] for some in every)
        name = f"by each of {len(singles)} seeds"
        ranges = (*map(cells.least_and_most, means), *cells.NO_DIFFERENCE)
        yield (name, str(pool), *ranges, *map(cells.least_and_most, facts))


def _fewer_seeds(outcomes: Outcomes, paper: Variant, variants: Sequence[Variant]) -> Iterable[Row]:
    """Return the paper's row again for each set of fewer seeds that `variants` have."""
    rows: dict[tuple[int, ...], Row] = {}
    for variant in variants:
        pool = main_pool(variant)
        like = usual_like(outcomes, variant, "group", pool)
        if like is not None and not variant.unusual and like.seeds != paper.seeds:
            means = map(cells.number, _means(outcomes, like, pool))
            rest = (*means, *cells.NO_DIFFERENCE, *cells.facts(outcomes, like))
            rows[like.seeds] = (f"{THE_PAPERS}, {_seeds(like.seeds)}", str(pool), *rest)
    return rows.values()


def _seeds(seeds: Sequence[int]) -> str:
    """Return `seeds` as text: "0 to 2" if they follow each other."""
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{'seeds' if len(seeds) > 1 else 'seed'} {listed([str(seed) for seed in seeds])}"


def _changed(summed: SummedUp, variants: Sequence[Variant]) -> list[Row]:
    """Return one row for each changed choice, with the difference it makes."""
    outcomes, rows, pairs = summed.outcomes, [], {}
    for variant in variants:
        pool = main_pool(variant)
        paper = usual_like(outcomes, variant, "group", pool)
        name = changes(outcomes, variant)
        if paper and name != THE_PAPERS and outcomes.measured(variant, "group", pool):
            if variant.unusual:
                name += _DAGGER
            else:
                pairs[name, pool] = pair(outcomes, variant, paper, pool)
            rows.append((name, variant, pool))
    gaps = cells.corrected(pairs)
    return [_row(summed, *row, gaps.get(row[::2], cells.NO_DIFFERENCE)) for row in rows]


def other_golds(summed: SummedUp) -> Table:
    """Return the modes of `summed` for choices that change the gold standard too."""
    outcomes = summed.outcomes
    other = [one for one in sensitivity(outcomes) if one.unusual and _searched(summed, one)]
    rows = [
        (
            changes(outcomes, variant),
            str(main_pool(variant)),
            *[cells.mean(summed.find(variant, mode, main_pool(variant))) for mode in _OTHER_MODES],
            gain,
        )
        for variant, gain in zip(other, _over_random(outcomes, other), strict=True)
    ]
    about = (
        "Other weights of documents or profiles change every mode and the gold standard too. AP of "
        "each mode is by its own gold standard."
    )
    names = [NAMES[mode] for mode in _OTHER_MODES]
    head = ("choice", "pool", *names, "group over random groups")
    return Table("other-golds", "Other weights, other gold standards", about, head, tuple(rows))


def _searched(summed: SummedUp, variant: Variant) -> bool:
    return summed.find(variant, "group", main_pool(variant)) is not None


def _over_random(outcomes: Outcomes, variants: Sequence[Variant]) -> list[str]:
    """Return what the groups of each variant gain over random groups of the same sizes."""
    gaps: dict[int, Floats] = {}
    for at, variant in enumerate(variants):
        pool = main_pool(variant)
        if all(outcomes.measured(variant, mode, pool) for mode in ("group", "random-groups")):
            random = outcomes.by_people(variant, "random-groups", pool)
            gaps[at] = outcomes.by_people(variant, "group", pool) - random
    texts = cells.differences(gaps)
    return [texts.get(at, cells.NONE) for at in range(len(variants))]


def improvements(summed: SummedUp) -> Table | None:
    """Return other ways to group in `summed`, compared with the paper's and with chance."""
    outcomes = summed.outcomes
    tried = [
        (variant, pool, paper)
        for variant in outcomes.experiment.named(IMPROVEMENTS)
        for pool in variant.pools
        if outcomes.measured(variant, "group", pool)
        and (paper := usual_like(outcomes, variant, "group", pool)) is not None
    ]
    tried.sort(key=lambda setting: (setting[1], setting[0].p))
    pairs = {
        at: pair(outcomes, variant, paper, pool)
        for at, (variant, pool, paper) in enumerate(tried)
        if changes(outcomes, variant) != THE_PAPERS
    }
    gaps: dict[int, Floats] = {}
    for at, (variant, pool, _) in enumerate(tried):
        random = usual_like(outcomes, variant, "random-groups", pool)
        if random is not None:
            ours = outcomes.by_people(variant, "group", pool)
            gaps[at] = ours - outcomes.by_people(random, "random-groups", pool)
    over_paper, over_chance = cells.corrected(pairs), cells.differences(gaps)
    rows = [
        (
            f"p={variant.p:g} {changes(outcomes, variant)}",
            str(pool),
            cells.mean(summed.find(variant, "group", pool)),
            *over_paper.get(at, cells.NO_DIFFERENCE),
            over_chance.get(at, cells.NONE),
            *cells.facts(outcomes, variant),
        )
        for at, (variant, pool, _) in enumerate(tried)
    ]
    note = (
        "Each setting keeps the paper's constraint at the same p. The first difference is to the "
        "paper's grouping; its P is corrected by Holm within this table. The second is to random "
        "groups of the paper's sizes, if they were searched over that pool. The best of many lines "
        "looks better than it is. So the claims choose it on some people and test it on others."
    )
    head = ("setting", "pool", "AP", "difference to the paper's", "P",
            "difference to random groups", *cells.FACTS_HEAD)  # fmt: skip
    return Table("improvements", "Better groups under the same constraint", note, head, tuple(rows))


def guarantees(summed: SummedUp) -> Table:
    """Return what it costs in `summed` to keep each reading of the promise."""
    outcomes = summed.outcomes
    tried = outcomes.experiment.named(FIGURE_4, EVERY_TERM)
    searched = [variant for variant in tried if "p" in variant.given and _searched(summed, variant)]
    gains = _over_random(outcomes, searched)
    readings = ("average_linkability", "released_linkability", "change_of_belief")
    rows = list[Row]()
    for variant, gain in zip(searched, gains, strict=True):
        suppressed, every = (
            outcomes.fact(variant, f"terms_{name}") for name in ("suppressed", "in_groups")
        )
        enforced = str(variant.given.get("guarantee", "average"))
        ap_here = cells.mean(summed.find(variant, "group", main_pool(variant)))
        values = (cells.number(outcomes.fact(variant, name)) for name in readings)
        share = f"{suppressed / every:.1%}" if suppressed is not None and every else cells.NONE
        rows.append((enforced, f"{variant.p:g}", ap_here, gain, *values, share))
    ap = listed(sorted({ap_of(one, p=False) for one in searched})) if searched else "AP"
    about = (
        f"{ap} by the groups' rows. One reading of the promise is enforced, all three are "
        "measured. They are the average over a group's terms, the worst term in a row, and the "
        "largest change of belief. Suppressed terms are those that a row must not show."
    )
    head = ("enforced", "p", "AP", "group over random groups",
            "average", "worst term in a row", "belief", "terms suppressed")  # fmt: skip
    last = ("belief", "any", cells.NONE, "can't be enforced by this method; measured")
    full = (*rows, (*last, *[cells.NONE] * (len(head) - len(last)))) if rows else ()
    return Table("guarantees", "The three readings of the promise", about, head, full)


TABLES = (baselines, choices, other_golds, improvements, guarantees)
