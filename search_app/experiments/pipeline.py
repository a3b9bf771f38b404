"""From a query log to what a release costs its people. START HERE.

    log -> profiles -> release -> pool -> re-rank -> rows

`prepare` goes from the log to the pools: what all units of an experiment share. `measure` goes on
to the rows of one unit. What they call is named after the step it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from anonymizer.counting import TermCounter
from anonymizer.km_greedy import OnPass, unheard
from anonymizer.marketing import MarketingTable
from anonymizer.model import Profiles, QueryLog, Release, Unsatisfiable
from anonymizer.wordnet import WordNet
from index.forward import Forward

from ..releasing import release_of
from .baselines import MODES, Situation
from .beliefs import facts_of_beliefs, largest
from .data import (
    Data,
    Search,
    draw_questions,
    drop_robots,
    no_questions,
    people_and_queries,
    table_for,
)
from .design import Inputs
from .measuring_key import measuring_key
from .outcomes import Block, Floats, Unit
from .ranking import Gold, block_of
from .unit_facts import facts_of_input, facts_of_nothing, facts_of_release

FEW = 40  # people whose release compiles what others need


@dataclass(frozen=True)
class World:
    """What the units of an experiment are made and searched with."""

    data: Data
    forward: Forward
    wordnet: WordNet
    clock: Callable[[], float] = lambda: 0.0  # seconds; nothing of the rows depends on it
    _golds: dict[tuple[str, str], Gold] = field(default_factory=dict)

    def gold(self, unit: Unit) -> Gold:
        """Return the own-profile orders that judge a unit."""
        key = unit.weights, unit.vectors
        if key not in self._golds:
            profiles = self.data.profiles[unit.weights]
            self._golds[key] = Gold(self.data.questions, profiles, self.forward, unit.vectors)
        return self._golds[key]


class Measured(NamedTuple):
    """What one unit came to: facts of its release, and its rows block by block."""

    facts: dict[str, float]
    blocks: list[Block]
    seconds: float = 0.0  # that its release took
    pass_seconds: tuple[float, ...] = ()  # of each of its passes, what comes before in the first


def prepare(
    log: QueryLog,
    counter: TermCounter,
    search: Search,
    inputs: Inputs,
    units: Sequence[Unit],
    table: MarketingTable | None = None,
) -> Data:
    """Take a log to profiles, held-out questions and their pools, and what terms earn."""
    weights = sorted({unit.weights for unit in units})
    log, robots = drop_robots(log, inputs)
    profiles, held_out = people_and_queries(log, counter, inputs, weights)
    users, sizes = profiles[weights[0]].users, {pool for unit in units for _, pool in unit.asked}
    questions = draw_questions(held_out, users, search, inputs, sizes) if sizes else no_questions()
    return Data(profiles, questions, table_for(units, profiles, table, inputs), robots)


def measure(world: World, unit: Unit) -> Measured:
    """Take a unit to its release, search by it, and judge every order by the own profile's.

    Where nothing can be released and nothing is to be searched, all that was to be kept is lost.
    """
    began, passed = world.clock(), list[float]()
    try:
        release = release_for(world, unit, lambda _number, _deletions: passed.append(world.clock()))
    except Unsatisfiable:
        if unit.asked:
            raise
        profiles = world.data.profiles[unit.weights]
        return Measured(facts_of_nothing(profiles, world.data.table), [])
    seconds = world.clock() - began
    pass_seconds = tuple(end - start for start, end in pairwise([began, *passed]))
    gold = world.gold(unit)
    blocks = []
    for mode, pools in scored_together(unit):
        scores = list(scored(world, unit, release, mode, max(pools)))
        blocks += [block_of(unit.name, mode, pool, scores, gold) for pool in pools]
    return Measured(facts_of(world, unit, release), blocks, seconds, pass_seconds)


def scored_together(unit: Unit) -> Iterator[tuple[str, list[int]]]:
    """Yield each mode with pools that are beginnings of the largest of them, scores and all."""
    for mode in dict.fromkeys(mode for mode, _ in unit.asked):
        pools = [pool for asked, pool in unit.asked if asked == mode]
        if MODES[mode].by_pool:
            yield from ((mode, [pool]) for pool in pools)
        else:
            yield mode, pools


def facts_of(world: World, unit: Unit, release: Release | None) -> dict[str, float]:
    """Measure a unit's release; a unit without one tells of the input."""
    data, profiles = world.data, world.data.profiles[unit.weights]
    if release is not None:
        asked = Situation(
            data.questions, profiles, release, world.forward, unit.vectors, 0, unit.seed
        )
        beliefs = facts_of_beliefs(asked, [mode for mode, _ in unit.asked])
        facts = facts_of_release(profiles, release, data.table)
        if (exact := beliefs.get(largest("group"))) is not None:
            facts["change_of_belief"] = exact  # by what rows say: some hide their members' shares
        return {**facts, **beliefs}
    return facts_of_input(profiles, data.table, world.forward, data.robots)


def warm_up(world: World, units: Sequence[Unit]) -> None:
    """Delete terms of a few people in each way the units do, so that none of them compiles."""
    ways = {}
    for unit in units:
        given = unit.parameters
        if unit.method == "km-anonymity":
            ways[tuple(given.get(name) for name in ("algorithm", "target", "m", "reinsert"))] = unit
    for unit in ways.values():
        profiles = world.data.profiles[unit.weights]
        users, few = profiles.users[:FEW], profiles.weights[:FEW]
        small = {unit.weights: Profiles(users, profiles.terms, few)}
        least = replace(unit, parameters={**unit.parameters, "k": 2})
        with suppress(Unsatisfiable):
            release_for(replace(world, data=replace(world.data, profiles=small)), least)


def scored(
    world: World, unit: Unit, release: Release | None, mode: str, pool: int
) -> Iterator[Floats]:
    """Score the documents of every pool by a mode, in one draw or several."""
    questions, profiles = world.data.questions, world.data.profiles[unit.weights]
    depth = world.gold(unit).depth(pool)
    situation = Situation(
        questions, profiles, release, world.forward, unit.vectors, depth, unit.seed
    )
    return MODES[mode].scores(situation)


def release_for(world: World, unit: Unit, on_pass: OnPass = unheard) -> Release | None:
    """Make a unit's release; none for modes that need none."""
    if not unit.method:
        return None
    return release_of(
        world.data.profiles[unit.weights],
        unit.method,
        unit.parameters,
        seed=unit.seed,
        wordnet=world.wordnet,
        forward=lambda: world.forward,
        table=world.data.table,
        key=measuring_key(unit.seed),
        on_pass=on_pass,
    )
