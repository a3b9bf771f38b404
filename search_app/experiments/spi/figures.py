"""The report of the spi experiment: figures 1 and 2, and the indices over rows of terms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.measures.indices.divergence import WEIGHTS
from anonymizer.measures.indices.exposure import CHANNELS

from ..outcomes import Outcomes, PassSeconds
from ..report.cells import number
from ..report.making import ends_of, figure, line, made
from ..report.planes import AP_ENDS, PlaneAxes, PlanePoint, plane
from ..report.report import Figure, FigurePoint, Report, Table
from ..report.summaries import SummedUp
from .claims import claims
from .series import MODE, POOL, WEIGHT_NAMES, OfTerms, by_k, by_method, by_strategy, log_facts

INDICES = (
    "SPI and JSD are 0 if a person's release is like the original, and 1 if nothing is left. They "
    "are high for noise of any kind: an empty or random release has 1. So impressions, the share "
    "of query events that is released, always stand next to them. All are means over people.",
    "The paper's weights also count for suppressed queries. With the weights of released queries, "
    "which are ours, a query that a person's release lacks weighs 1.",
    "PEL is a percentage, by four channels: the paper does not say how it estimates p(x|y). A "
    "person without a release has PEL 0.",
    "A query is released for all people who asked it or for nobody. Figure 1 follows the paper: "
    "query-k also drops queries without a letter or digit. Shares are filled by whole "
    "queries in one drawn order. A share is reached if the impressions differ by 2 points at most. "
    "The third strategy of the paper is lost in our copy; random is our guess.",
)
_PEL = tuple(f"PEL, {channel}" for channel in CHANNELS)
LEVELS = (0.65, 0.7, 0.72, 0.75, 0.8)  # of AP


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`."""
    outcomes = summed.outcomes
    return made(
        outcomes,
        (*_notes(outcomes), *INDICES),
        figures=[
            *(terms_by_ap(summed, which) for which in WEIGHTS),
            indices_by_k(outcomes),
            exposure_by_k(outcomes),
            *(strategies(outcomes, which) for which in WEIGHTS),
        ],
        tables=[table_by_k(outcomes), table_by_share(outcomes), *tables_of_terms(summed)],
        claims=claims(outcomes),
    )


def _notes(outcomes: Outcomes) -> Iterator[str]:
    """Yield what the log is, and where sensitivity comes from."""
    if facts := log_facts(outcomes):
        yield (
            f"The log has {facts['people']:,.0f} people with "
            f"{outcomes.experiment.inputs.least_queries} queries or more. The sensitivity of "
            f"queries comes from {'weak' if facts['model_weak'] else 'given'} labels."
        )


def indices_by_k(outcomes: Outcomes) -> Figure:
    """Return figure 1: the indices of `outcomes` and the impressions by k."""
    points = by_k(outcomes)
    spi = ((f"spi_{which}", f"SPI, {name}") for which, name in WEIGHT_NAMES.items())
    names = (*spi, ("jsd", "JSD"), ("impressions", "impressions"))
    lines = [
        line(name, (FigurePoint(float(k), facts[f"log_{fact}"]) for k, facts in points))
        for fact, name in names
    ]
    title = "Figure 1: SPI, JSD and impressions by k"
    return figure(("figure-1", title), ends_of(lines, "k"), ("k", "mean over people"), lines)


def exposure_by_k(outcomes: Outcomes) -> Figure:
    """Return the second part of figure 1: PEL of `outcomes` by k, for each channel."""
    lines = [
        line(
            channel,
            (FigurePoint(float(k), facts[f"log_pel_{channel}"]) for k, facts in by_k(outcomes)),
        )
        for channel in CHANNELS
    ]
    title = "Figure 1: PEL by k"
    return figure(("figure-1-pel", title), ends_of(lines, "k"), ("k", "PEL, %"), lines)


def strategies(outcomes: Outcomes, which: str) -> Figure:
    """Return figure 2: SPI with the weights `which` by share of impressions, by strategy."""
    lines = [
        line(name, (FigurePoint(at, facts[f"log_spi_{which}"]) for at, facts in some.items()))
        for name, some in by_strategy(outcomes).items()
    ]
    title = f"Figure 2: SPI by what is released ({WEIGHT_NAMES[which]})"
    about = "Higher is more private. A strategy has a point where it reaches the share."
    return figure((f"figure-2-{which}", title), about, ("share of impressions", "SPI"), lines)


def terms_by_ap(summed: SummedUp, which: str) -> Figure | None:
    """Return the plane of AP against SPI with the weights `which`, for rows of terms."""
    return plane(
        (f"terms-{which}", f"Rows of terms: AP against SPI ({WEIGHT_NAMES[which]})"),
        "The row that serves a person is compared with the own profile, term by term.",
        PlaneAxes("SPI", "AP", ("the row is the profile", "nothing of it is left", *AP_ENDS), 1),
        [
            PlanePoint(
                name,
                f"{name} {one.setting}".strip(),
                one.facts[f"terms_spi_{which}"],
                summed.find(one.variant, MODE, POOL),
            )
            for name, some in by_method(summed).items()
            for one in some
        ],
    )


def table_by_k(outcomes: Outcomes) -> Table:
    """Return all indices of `outcomes` by k, and by k as a share of people."""
    people = log_facts(outcomes).get("people", np.nan)
    head = ["k", "k/people", "impressions", "people without", "SPI, paper", "SPI, released", "JSD"]
    names = ["spi_paper", "spi_released", "jsd"]
    rows = tuple(
        (
            f"{k:,}",
            f"{k / people:.4f}",
            f"{facts['log_impressions']:.4f}",
            f"{facts['log_people_without_release']:,.0f}",
            *(number(facts[f"log_{name}"]) for name in names),
            *(number(facts[f"log_{name}_by_queries"]) for name in names),
            *(f"{facts[f'log_pel_{channel}']:.1f}" for channel in CHANNELS),
        )
        for k, facts in by_k(outcomes)
    )
    about = (
        "Means over people. The columns with an asterisk weigh each person by the queries before. "
        "People without have no release."
    )
    starred = ("SPI, paper*", "SPI, released*", "JSD*")
    return Table("figure-1", "By k", about, (*head, *starred, *_PEL), rows)


def table_by_share(outcomes: Outcomes) -> Table:
    """Return all indices of each strategy of `outcomes` at each share that it reaches."""
    rows = tuple(
        (
            name,
            f"{share:.0%}",
            f"{facts['log_impressions']:.4f}",
            *(number(facts[f"log_{one}"]) for one in ("spi_paper", "spi_released", "jsd")),
            *(f"{facts[f'log_pel_{channel}']:.1f}" for channel in CHANNELS),
            f"{facts['log_sensitive_share']:.1%}",
        )
        for name, some in by_strategy(outcomes).items()
        for share, facts in some.items()
    )
    head = ("released", "share", "impressions", "SPI, paper", "SPI, released", "JSD", *_PEL)
    about = "Sensitive: the share of released queries that are more likely sensitive than not."
    return Table("figure-2", "By strategy", about, (*head, "sensitive"), rows)


def tables_of_terms(summed: SummedUp) -> Iterator[Table]:
    """Yield the indices of rows of terms in `summed`, and those at the same AP."""
    methods, facts = by_method(summed), ("spi_paper", "spi_released", "jsd", "impressions")
    head = ("SPI, paper", "SPI, released", "JSD", "impressions")
    rows = tuple(
        (name, one.setting, number(one.ap), *(number(one.facts[f"terms_{it}"]) for it in facts))
        for name, some in methods.items()
        for one in some
    )
    about = (
        "Word by word, the row that serves a person against the person's profile. Impressions: the "
        "share of the own profile's weight whose terms are in the row."
    )
    yield Table("terms", "Rows of terms", about, ("method", "at", "AP", *head), rows)
    matched = tuple(
        (f"{level:.2f}", name, *cells)
        for level in LEVELS
        for name, some in methods.items()
        if (cells := _at_level(some, level, facts))
    )
    about = (
        "The same indices at the same AP: straight lines between a method's releases. A method has "
        "no row at an AP that its releases don't enclose."
    )
    yield Table(
        "terms-at-ap", "Rows of terms at the same AP", about, ("AP", "method", *head), matched
    )


def _at_level(some: list[OfTerms], level: float, facts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `facts` of a method's releases at the AP `level`, or nothing outside them."""
    aps = [one.ap for one in some]
    if not aps[0] <= level <= aps[-1]:
        return ()
    values = ([one.facts[f"terms_{name}"] for one in some] for name in facts)
    return tuple(number(float(np.interp(level, aps, of))) for of in values)
