"""From a query log to what a release costs its people. START HERE.

    log -> profiles -> release -> pool -> re-rank -> rows

`prepare` goes from the log to the pools, which all units of an experiment share. `measure` goes on
to the rows of one unit. The functions that they call are named after their steps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints, Marks
from anonymizer.deletion.histories import OnPass, unheard
from anonymizer.errors import Unsatisfiable
from anonymizer.marketing.table import MarketingTable
from anonymizer.measures.patterns import TermSet, patterns_of
from anonymizer.measures.vocabulary import LENGTHS
from anonymizer.methods import promise_of
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, QueryLog, Release
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.wordnet import WordNet
from index.forward.reading import Forward

from ..errors import UsageError
from ..measures.precision import measured_by_size
from ..measures.relevance import judged
from ..search.rerank import DECIMALS
from ..tasks.releasing import release_of
from .beliefs import facts_of_beliefs, largest
from .data import (
    Data,
    Questions,
    Search,
    draw_questions,
    drop_robots,
    no_questions,
    people_and_queries,
    table_for,
)
from .design import SESSIONS, WEIGHTS, ExperimentInputs, Unit
from .facts import facts_of_input, facts_of_nothing, facts_of_release
from .frontier.attacked import facts_of_attacks
from .liu_wang.facts import facts_of_bags, facts_of_vocabularies
from .modes import EVIDENCE, MODES, Situation, best_first, facts_of_standing, places_in
from .outcomes import Block
from .spi.indices import facts_of_log, facts_of_steps, facts_of_terms
from .spi.logged import LoggedPeople, Sensitive, logged_people
from .spi.strategies import STRATEGIES
from .value.questions import Labelled, labelled_questions

FEW = 40  # people in the small release by which `warm_up` compiles


class Gold:
    """The own-profile order of each question's pool. It judges all other orders."""

    def __init__(
        self, questions: Questions, profiles: Profiles, forward: Forward, vectors: str
    ) -> None:
        self.questions = questions
        self._own = Situation(questions, profiles, None, forward, vectors, 0, 0)
        self._scores = np.zeros((len(questions), 0))
        self._places: dict[int, Ints] = {}

    def depth(self, pool: int) -> int:
        """Return the size of the largest pool when pools are cut to `pool` documents."""
        return min(pool, int(self.questions.pools.shape[1]))

    def places(self, depth: int) -> Ints:
        """Return the gold-standard place of each of the first `depth` documents of each pool."""
        if depth not in self._places:
            # Scores of a smaller pool are the first ones of a larger: only a deeper pool is scored
            # again.
            if self._scores.shape[1] < depth:
                (self._scores,) = MODES["own"].scores(replace(self._own, depth=depth))
            best = best_first(self._scores[:, :depth], self.questions.hits)
            self._places[depth] = places_in(best)
        return self._places[depth]


def block_of(unit: str, mode: str, pool: int, scores: Sequence[Floats], gold: Gold) -> Block:
    """Return the values of `mode` over the first `pool` documents, as the mean over `scores`."""
    depth = gold.depth(pool)
    hits = np.minimum(gold.questions.hits, depth)
    own = gold.places(depth)
    begins = np.arange(0, own.size, max(depth, 1))[:, None]  # of pools, one after the other
    relevant, kind = gold.questions.relevant, gold.questions.kind
    measured = list[dict[str, Floats]]()
    for some in scores:  # one by one, as an order takes as much memory as the scores
        best = best_first(some[:, :depth], hits)
        measured.append(measured_by_size(own.take(best + begins).__getitem__, hits))
        if relevant is not None and kind is not None:
            measured[-1] |= judged(relevant[:, :depth], best, kind)
    means = {name: np.mean([draw[name] for draw in measured], axis=0) for name in measured[0]}
    # Rounded now, so that values in memory are those that files give back.
    values = {name: np.round(mean, DECIMALS) for name, mean in means.items()}
    return Block(unit, mode, pool, hits, values)


@dataclass(frozen=True)
class World:
    """What all units need: the data, the index of document vectors, WordNet and a clock."""

    data: Data
    forward: Forward
    wordnet: WordNet
    # In seconds. No row depends on it.
    clock: Callable[[], float] = lambda: 0.0
    blocks: dict[tuple[object, ...], list[Block]] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)  # by methods, from release to release
    _golds: dict[tuple[str, str], Gold] = field(default_factory=dict)
    _patterns: dict[tuple[str, int], list[TermSet]] = field(default_factory=dict)

    def gold(self, unit: Unit) -> Gold:
        """Return the own-profile orders that judge `unit`."""
        key = unit.weights, unit.vectors
        if key not in self._golds:
            profiles = self.data.profiles[unit.weights]
            self._golds[key] = Gold(self.data.questions, profiles, self.forward, unit.vectors)
        return self._golds[key]

    def patterns(self, weights: str, least_length: int) -> list[TermSet]:
        """Return the top patterns of `least_length` terms or more of the profiles by `weights`."""
        key = weights, least_length
        if key not in self._patterns:
            self._patterns[key] = patterns_of(self.data.profiles[weights], least_length)
        return self._patterns[key]

    def situation(self, unit: Unit, release: Release | None, depth: int = 0) -> Situation:
        """Return what a mode may use of `unit`, its `release` and `depth` documents per pool."""
        data, own = self.data, self.data.profiles[unit.weights]
        return Situation(data.questions, own, release, self.forward, unit.vectors, depth, unit.seed)


class Measured(NamedTuple):
    """The results of one unit: facts of its release, and its rows block by block."""

    facts: dict[str, float]
    blocks: list[Block]
    seconds: float = 0.0  # to make its release
    pass_seconds: tuple[float, ...] = ()  # of each pass; the first includes what comes before it


def prepare(
    log: QueryLog,
    counter: TermCounter,
    search: Search,
    inputs: ExperimentInputs,
    units: Sequence[Unit],
    table: MarketingTable | None = None,
    sensitive: Callable[[], Sensitive] | None = None,
    labelled: Labelled | None = None,
) -> Data:
    """Return the profiles of `log`, questions with their pools, and the `table`.

    The questions are those of `labelled`, else held-out queries. If `units` release the log itself,
    its people are those that `sensitive` judges.
    """
    # What is asked is not in the log, so no query of it need be held out.
    inputs = replace(inputs, test_share=0.0) if labelled else inputs
    weights = sorted({unit.weights for unit in units} - {SESSIONS} or {WEIGHTS[0]})
    weights += [SESSIONS] * any(unit.weights == SESSIONS for unit in units)
    log, robots = drop_robots(log, inputs)
    profiles, held_out = people_and_queries(log, counter, inputs, weights)
    # Sessions are not searched by.
    users = next(some for name, some in profiles.items() if name != SESSIONS).users
    sizes = {pool for unit in units for _, pool in unit.asked}
    if labelled and sizes:
        questions = labelled_questions(labelled, users, search, max(sizes), inputs.seed)
    elif sizes:
        questions = draw_questions(held_out, users, search, inputs, sizes)
    else:
        questions = no_questions()
    logged = None
    if sensitive and any(unit.method in STRATEGIES for unit in units):
        logged = logged_people(log, inputs.least_queries, sensitive)
    table = table_for(units, profiles, table, inputs)
    return Data(profiles, questions, table, robots, logged, inputs.victims)


def measure(world: World, unit: Unit) -> Measured:
    """Return the results of `unit`: make its release, search by it, judge by own profiles."""
    if unit.method in STRATEGIES:
        return Measured(facts_of_log(*chosen_queries(world, unit)), [])
    began, passed = world.clock(), list[float]()
    try:
        release = release_for(world, unit, lambda _number, _deletions: passed.append(world.clock()))
    except Unsatisfiable:
        if unit.asked:
            raise
        # Nothing is searched, and "keeps nothing" is a result too: a table's cell with 0 %.
        profiles = world.data.profiles[unit.weights]
        return Measured(facts_of_nothing(profiles, world.data.table), [])
    seconds = world.clock() - began
    pass_seconds = tuple(end - start for start, end in pairwise([began, *passed]))
    blocks = []
    for mode in dict.fromkeys(mode for mode, _ in unit.asked):
        pools = [pool for name, pool in unit.asked if name == mode]
        # Other modes score a smaller pool as the beginning of the largest: once is enough.
        for together in [[pool] for pool in pools] if MODES[mode].by_pool else [pools]:
            blocks += blocks_of(world, unit, release, mode, together)
    return Measured(facts_of(world, unit, release), blocks, seconds, pass_seconds)


def blocks_of(
    world: World, unit: Unit, release: Release | None, mode: str, pools: Sequence[int]
) -> list[Block]:
    """Return the values of `mode` over each of `pools`; units share those that are of all."""
    key = mode, unit.weights, unit.vectors, *pools
    blocks = world.blocks.get(key)
    if blocks is None:
        scores, gold = list(scored(world, unit, release, mode, max(pools))), world.gold(unit)
        blocks = [block_of(unit.name, mode, pool, scores, gold) for pool in pools]
        if MODES[mode].of_all:
            world.blocks[key] = blocks
    return [replace(block, unit=unit.name) for block in blocks]


def facts_of(world: World, unit: Unit, release: Release | None) -> dict[str, float]:
    """Return the facts of the `release` of `unit`, or those of the input if it has none."""
    data, profiles = world.data, world.data.profiles[unit.weights]
    if release is not None:
        modes = [mode for mode, _ in unit.asked]
        beliefs = facts_of_beliefs(world.situation(unit, release), modes)
        facts = facts_of_release(profiles, release, data.table)
        if release.promise.bounds == "vocabulary":
            before = [world.patterns(unit.weights, least) for least in LENGTHS]
            facts |= facts_of_vocabularies(profiles, release, world.wordnet, before)
        if (exact := beliefs.get(largest("group"))) is not None:
            # Rows of some methods hide their members' shares; `beliefs` reads what rows publish.
            facts["change_of_belief"] = exact
        if data.logged is not None:
            facts |= facts_of_terms(profiles, release, data.logged.model)
        if any(mode == EVIDENCE for mode in modes):
            depth = world.gold(unit).depth(max(pool for _, pool in unit.asked))
            facts |= facts_of_standing(world.situation(unit, release, depth))
        if data.victims is not None:
            facts |= facts_of_attacks(profiles, release, data.victims)
        return {**facts, **beliefs}
    steps = {} if data.logged is None else facts_of_steps(data.logged)
    facts = facts_of_input(profiles, data.table, world.forward, data.robots)
    return {**facts, **facts_of_bags(profiles, world.wordnet), **steps}


def warm_up(world: World, units: Sequence[Unit]) -> None:
    """Run each way of deletion that `units` use on a few people, to compile its code."""
    # Otherwise the first unit's measured seconds would include numba's compilation.
    ways = {}
    for unit in units:
        if unit.method and promise_of(unit.method, unit.parameters).bounds == "combinations":
            # k is not among them: it changes how much is deleted, but not which code runs.
            names = ("algorithm", "target", "m", "reinsert")
            ways[tuple(unit.parameters.get(name) for name in names)] = unit
    for unit in ways.values():
        profiles = world.data.profiles[unit.weights]
        small = {unit.weights: profiles.some(range(min(FEW, len(profiles))))}
        # A large k may be impossible with few people.
        least = replace(unit, parameters={**unit.parameters, "k": 2})
        with suppress(Unsatisfiable):
            release_for(replace(world, data=replace(world.data, profiles=small)), least)


def scored(
    world: World, unit: Unit, release: Release | None, mode: str, pool: int
) -> Iterator[Floats]:
    """Yield the scores of every pool's first `pool` documents in `mode`, once per draw."""
    return MODES[mode].scores(world.situation(unit, release, world.gold(unit).depth(pool)))


def measuring_key(seed: int) -> bytes:
    """Return a key made from `seed`, so that a run can be repeated with the same rows."""
    # Anybody can compute this key, so nothing made with it may be released. Experiments never write
    # their releases. A release for people gets its key from the operating system.
    return hashlib.sha256(f"veilsearch: for measuring only, seed {seed}".encode()).digest()


def chosen_queries(world: World, unit: Unit) -> tuple[LoggedPeople, Marks]:
    """Return the people of the log, and which of their queries the strategy of `unit` releases."""
    people = world.data.logged
    if people is None:
        raise UsageError(f"{unit.method} releases a log, and none is given")
    return people, STRATEGIES[unit.method].released(people, unit.parameters, unit.seed)


def release_for(world: World, unit: Unit, on_pass: OnPass = unheard) -> Release | None:
    """Return the release of `unit`, or None if its modes need none."""
    if not unit.method:
        return None
    if unit.method in world.data.foreign:
        return world.data.foreign[unit.method]
    inputs = Inputs(
        world.data.profiles[unit.weights],
        unit.seed,
        kept=world.kept,
        wordnet=world.wordnet,
        table=world.data.table,
        key=measuring_key(unit.seed),
        on_pass=on_pass,
    )
    return release_of(unit.method, inputs, unit.parameters, lambda: world.forward)
