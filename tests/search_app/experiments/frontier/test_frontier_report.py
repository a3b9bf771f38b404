"""The report of the frontier, of outcomes whose means and attacks are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from anonymizer.methods import parameters_of
from search_app.experiments.definition import label_of, read_definition, text_of
from search_app.experiments.design import Unit, Variant
from search_app.experiments.frontier.attacked import (
    CHANGE,
    HIGH,
    LOW,
    PERSON,
    PRECISION,
    PRIOR,
    ROW,
    SERVED,
    SPI,
)
from search_app.experiments.frontier.figures import report
from search_app.experiments.outcomes import Outcomes
from search_app.experiments.report.report import FAILS, HOLDS, Report, as_record, from_record
from search_app.experiments.report.summaries import sum_up

MakeOutcomes = Callable[..., Outcomes]
# Each release: its AP, and what an attacker gets by precision, of the person and of belief.
WORLD = {
    "pooled": {"p": {0.1: (0.6, 0.2, 0.3, 0.1), 0.4: (0.8, 0.5, 0.4, 0.4)}},
    "dp-rows": {"epsilon": {0.5: (0.3, 0.3, 0.1, 0.0), 8.0: (0.4, 0.1, 0.1, 0.0)}},
    "own-rows": {"": {0: (0.9, 1.0, 0.95, 1.0)}},
}
MODES = {"random": 0.2, "own": 0.9}
Facts = Callable[[Unit], Mapping[str, float]]
Level = Callable[[Unit, str, int], float]


def variants() -> list[Variant]:
    made = [Variant("baselines", modes=tuple(MODES))]
    for method, ((name, settings),) in ((one, [*some.items()]) for one, some in WORLD.items()):
        made += [
            Variant(method, method, {name: value} if name else {}, modes=("group",))
            for value in settings
        ]
    return made


def known(unit: Unit) -> tuple[float, ...]:
    ((_, settings),) = WORLD[unit.method].items()
    return settings[next(iter(unit.parameters.values()), 0)]  # type: ignore[index]


def level(unit: Unit, mode: str, _pool: int) -> float:
    return known(unit)[0] if unit.method else MODES[mode]


def facts(unit: Unit) -> dict[str, float]:
    if not unit.method:
        return {}
    _, precision, person, change = known(unit)
    row = {PRECISION: precision, PERSON: person, ROW: 0.95}
    ends = {name + end: value for name, value in row.items() for end in (LOW, HIGH)}
    more = {PRIOR: 0.1, CHANGE: change, SPI: 0.5, SERVED: 1.0, "mean_group": 4.0}
    return {**row, **ends, **more}


def made(make_outcomes: MakeOutcomes, facts: Facts = facts, level: Level = level) -> Report:
    outcomes = make_outcomes(variants(), level, facts, ("AP", "AP_c"), "frontier")
    return report(sum_up(outcomes), {})


def test_points_that_others_beat_are_pale(make_outcomes: MakeOutcomes) -> None:
    page = made(make_outcomes)
    assert from_record(as_record(page)) == page
    pale = {
        figure.name: {point.release for line in figure.lines for point in line.points}
        - {point.release for line in figure.lines for point in line.points if not point.dominated}
        for figure in page.figures
    }
    assert pale == {
        "frontier-precision-100": {"dp-rows epsilon=0.5"},  # pooled p = 0.1 has more for less
        "frontier-person-100": {"dp-rows epsilon=0.5"},  # equally private, and serves worse
        "frontier-change-100": {"dp-rows epsilon=0.5"},
    }
    volumes, table = page.tables
    # (1 - .2) x (.6 - .2) and (1 - .5) x (.8 - .6); by 0 the random order's .2 counts.
    assert {row[0]: row[1] for row in volumes.rows} == {
        "pooled": "0.420",
        "dp-rows": "0.180",
        "own-rows": "0.000",
    }
    assert "(1, 0.200) for AP against precision of 100 guesses" in volumes.about
    rows = {row[0]: row[-1] for row in table.rows}
    assert rows["dp-rows epsilon = 0.5"] == "\u2013"
    assert rows["pooled p = 0.1"] == "precision; person; belief"
    (point, _) = page.figures[0].lines[0].points
    assert point.about.startswith("pooled p = 0.1: AP 0.600 (")


def test_claims_hold_in_a_world_that_is_made_so(make_outcomes: MakeOutcomes) -> None:
    verdicts = {claim.name: claim.verdict for claim in made(make_outcomes).claims}
    assert verdicts == {
        "attacks-work": HOLDS,
        "belief-is-bound": HOLDS,
        "pooled-over-noise-pool-100": HOLDS,
    }


@pytest.mark.parametrize(
    ("claim", "method", "spoilt"),
    [("attacks-work", "own-rows", {PERSON: 0.39}), ("belief-is-bound", "pooled", {CHANGE: 0.11})],
)
def test_a_figure_that_contradicts_a_claim_fails_it(
    make_outcomes: MakeOutcomes, claim: str, method: str, spoilt: dict[str, float]
) -> None:
    def worse(unit: Unit) -> dict[str, float]:
        return {**facts(unit), **(spoilt if unit.method == method else {})}

    verdicts = {one.name: one.verdict for one in made(make_outcomes, worse).claims}
    assert verdicts.pop(claim) == FAILS
    assert {*verdicts.values()} == {HOLDS}


def test_noisy_rows_that_serve_as_well_fail_the_claim(make_outcomes: MakeOutcomes) -> None:
    def better(unit: Unit, mode: str, pool: int) -> float:
        return level(unit, mode, pool) + 0.4 * (unit.method == "dp-rows")

    verdicts = {one.name: one.verdict for one in made(make_outcomes, level=better).claims}
    assert verdicts["pooled-over-noise-pool-100"] == FAILS


def test_the_definition_has_every_method_at_five_settings() -> None:
    experiment = read_definition(text_of("frontier"), "frontier")
    tables = [variant.name for variant in experiment.variants]
    assert sum(tables.count(name) == 5 for name in {*tables}) >= 8
    assert {variant.name: variant.label for variant in experiment.variants}
    for variant in experiment.variants:
        if variant.method:
            # A release that is served has the same name in reports.
            released = {**parameters_of(variant.method), **variant.given, "first_seed": "drawn"}
            assert label_of(variant.method, released) == variant.label
    assert label_of("mine/", {}) == ""
