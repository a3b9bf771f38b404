"""The report of the frontier: planes of search quality against what attackers get, and a table."""

from __future__ import annotations

from itertools import product

from ..design import Variant
from ..outcomes import Outcomes, PassSeconds
from ..promise.series import baseline
from ..report import cells
from ..report.claims import RULE
from ..report.making import NAMES, made
from ..report.planes import PlaneAxes, PlanePoint, dominated, hypervolume, plane
from ..report.report import Figure, Report, Table
from ..report.summaries import SummedUp
from ..value.figures import RELEVANT, who_asked
from .attacked import BEST, CHANGE, HIGH, KNOWN, LOW, PERSON, PRECISION, PRIOR, ROW, SERVED, SPI
from .claims import claims
from .series import (
    AP,
    AXES,
    MODE,
    VALUE,
    Axis,
    FrontierEntry,
    Qualities,
    entries,
    placed,
    pools,
    qualities,
)

ATTACKER = (
    "All releases face the same attacks, whatever made them and whatever they promise. The "
    "attackers read all rows, and know how many people have each term and share each row. They "
    "read a generalized word as itself, so those who know what it stands for learn more by all "
    "axes."
)
GUESSES = (
    f"Precision of {BEST} guesses: the attacker also knows the victim's row. The best of three "
    "attackers counts: by the column, by boosting that has learnt from other people, and by the "
    "most common terms alone. The last needs no row, so nothing is further left."
)
NAMING = (
    f"Chance to name the person: the attacker knows {KNOWN} random terms of the victim, guesses "
    "the row, and then one of the people who share it. A row for everybody is easily guessed, and "
    "names nobody."
)
CHANGES = (
    "Change of belief: the attacker reads the column of a term, and moves from the share of all "
    "people to what the row says. Of this and the members' real share the one that is closer to "
    "the share of all people counts, if both are on one side of it. The largest over all rows and "
    "terms is shown. Noisy rows are taken at their word, and may be right by chance."
)
INDICES = (
    "SPI compares each person's terms with those of the row, and all terms are equally sensitive "
    "here: it is 0 if nothing changes and 1 if nothing is left. It is high for noise, too. bLM is "
    "the share of information that matched vocabularies lose."
)
VALUED = (
    "Gain by relevance is over the plain order, by the rule evidence. AP and AP_c are of the order "
    "by cosine, against the own profile's."
)
VOLUME = (
    "The hypervolume of a method is the area of the plane that its points dominate, up to a "
    "reference point: no protection at all and the AP of a random order (0 for gain). More is "
    "better. It depends on the settings that were tried."
)


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`."""
    outcomes = summed.outcomes
    some = [(pool, one) for pool in pools(outcomes) for one in qualities(summed, pool)]
    valued = any(quality != AP for _, quality in some)
    return made(
        outcomes,
        (ATTACKER, GUESSES, NAMING, CHANGES, INDICES, *[RELEVANT, VALUED] * valued, VOLUME, *RULE),
        figures=[picture(summed, axis, *one) for one, axis in product(some, AXES)],
        tables=[make(summed, pool) for make in (volumes, table) for pool in pools(outcomes)],
        claims=claims(outcomes) if some else (),
        questions=who_asked if valued else None,
    )


def picture(summed: SummedUp, axis: Axis, pool: int, quality: Qualities) -> Figure | None:
    """Return the plane of `quality` over `pool` against what an attacker gets by `axis`."""
    short, name = ("", "AP") if quality == AP else ("-value", "Gain by relevance")
    fact = axis.fact.removeprefix("attack_")
    return plane(
        (f"frontier-{fact}{short}-{pool}", f"{name} against {axis.name} (pool {pool})"),
        axis.about,
        PlaneAxes(axis.name, quality.name, (*axis.ends, *quality.ends)),
        [
            PlanePoint(entry.method, entry.name, cost, line, _in_words(summed, entry),
                       entry.variant.label)
            for entry, cost, line in placed(summed, axis, quality, pool)
        ],
    )  # fmt: skip


def _in_words(summed: SummedUp, entry: FrontierEntry) -> str:
    """Return what a reader wants to know of one release, apart from its place in the plane."""
    outcomes, variant = summed.outcomes, entry.variant
    people = outcomes.fact(variant, "mean_group")
    precision, prior, row, person, change = (
        cells.number(outcomes.fact(variant, name))
        for name in (PRECISION, PRIOR, ROW, PERSON, CHANGE)
    )
    return (
        f"{people or 1:.1f} people a row. Of {BEST} guesses a share of {precision} is right if the "
        f"row is known, {prior} without it. {KNOWN} known terms name the row with a chance of "
        f"{row}, the person with {person}. Belief changes by {change} at most."
    )


def table(summed: SummedUp, pool: int) -> Table:
    """Return all releases side by side over `pool`."""
    several, best = qualities(summed, pool), _best(summed, pool)
    # On logs nobody says what is relevant, so there is no gain.
    gained = ("gain", "gain, 95 % interval") if VALUE in several else ()
    head = ("release", "people a row", "served", "AP", "AP, 95 % interval", "AP_c", *gained,
            "precision", "95 % interval", "names the row", "95 % interval", "names the person",
            "95 % interval", "change of belief", "SPI", "bLM", "not dominated in")  # fmt: skip
    rows = []
    for entry in entries(summed.outcomes):
        ap, corrected, gain = (
            summed.find(entry.variant, mode, pool, measure)
            for mode, measure in ((MODE, AP.measure), (MODE, "AP_c"), VALUE[1:3])
        )
        gains = (cells.mean(gain), cells.ends(gain)) if gained else ()
        people, served, change, spi, loss = (
            cells.number(summed.outcomes.fact(entry.variant, name))
            for name in ("mean_group", SERVED, CHANGE, SPI, "loss")
        )
        attacks = [
            text
            for name in (PRECISION, ROW, PERSON)
            for text in _with_ends(summed.outcomes, entry.variant, name)
        ]
        quality = (cells.mean(ap), cells.ends(ap), cells.mean(corrected), *gains)
        marks = "; ".join(best.get(entry.name, ())) or cells.NONE
        rows.append((entry.name, people, served, *quality, *attacks, change, spi, loss, marks))
    plain = [
        f"{cells.mean(line)} for {NAMES[mode]}"
        for mode in ("random", "none", "average", "own")
        if (line := summed.find(baseline(summed.outcomes, mode, pool), mode, pool))
    ]
    about = (
        f"Served: the share of people who have a row. Precision: of {BEST} guesses about the "
        "victim's terms, by the best attacker. Not dominated: by AP against precision, the person, "
        f"or the change of belief. AP without a release: {', '.join(plain) or 'not measured'}."
    )
    return Table(f"frontier-{pool}", f"All releases (pool {pool})", about, head, tuple(rows))


def _best(summed: SummedUp, pool: int) -> dict[str, list[str]]:
    """Return by which axes each release is not dominated in AP over `pool`."""
    best: dict[str, list[str]] = {}
    for axis, short in zip(AXES, ("precision", "person", "belief"), strict=True):
        some = list(placed(summed, axis, AP, pool))
        beaten = dominated([(cost, line.mean) for _, cost, line in some])
        for (entry, *_), pale in zip(some, beaten, strict=True):
            if not pale:
                best.setdefault(entry.name, []).append(short)
    return best


def _with_ends(outcomes: Outcomes, variant: Variant, name: str) -> tuple[str, str]:
    """Return the fact `name` of `variant`, and its interval, as texts."""
    value, low, high = (outcomes.fact(variant, name + end) for end in ("", LOW, HIGH))
    known = low is not None and high is not None
    return cells.number(value), f"{low:z.3f} to {high:z.3f}" if known else cells.NONE


def volumes(summed: SummedUp, pool: int) -> Table:
    """Return the hypervolume of each method over `pool`, for each quality and axis."""
    columns: list[str] = []
    by_method: dict[str, list[str]] = {one.method: [] for one in entries(summed.outcomes)}
    references = []
    for quality, axis in product(qualities(summed, pool), AXES):
        random = summed.find(baseline(summed.outcomes, "random", pool), "random", pool)
        # The plain order gains 0, and a random order has the AP that every order has by chance.
        least = random.mean if quality == AP and random else 0.0
        columns.append(f"{quality.name} against {axis.name}")
        references.append(f"({axis.worst:g}, {least:.3f}) for {columns[-1]}")
        some = list(placed(summed, axis, quality, pool))
        for method, texts in by_method.items():
            mine = [(cost, line.mean) for entry, cost, line in some if entry.method == method]
            texts.append(cells.number(hypervolume(mine, (axis.worst, least)) if mine else None))
    about = f"Reference points: {'; '.join(references)}."
    rows = tuple((method, *texts) for method, texts in by_method.items())
    title = f"Hypervolume of each method (pool {pool})"
    return Table(f"volumes-{pool}", title, about, ("method", *columns), rows)
