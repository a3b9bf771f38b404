"""The whole way from a log to rows, beside a naive twin that shares no code with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.errors import Unsatisfiable
from anonymizer.measures.belief import belief
from anonymizer.measures.linkability import facts
from anonymizer.methods import parameters_of
from anonymizer.model import QueryLog, Release
from anonymizer.querylog.reading import read_log
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.wordnet import WordNet
from index.build import build_index
from index.forward.reading import Forward
from index.lucene.searching import LuceneIndex
from index.model import Account, Document, Pool
from index.opening import open_index
from search_app.evaluation.relevance import LabelledQuery, Relevance
from search_app.evaluation.topics import Topic
from search_app.experiments.design import ExperimentInputs, Unit, Variant, units_of
from search_app.experiments.evidence import BINS, strangers
from search_app.experiments.modes import MODES, Situation, best_first
from search_app.experiments.outcomes import Block
from search_app.experiments.pipeline import (
    Measured,
    World,
    measure,
    measuring_key,
    prepare,
    release_for,
    warm_up,
)
from search_app.experiments.value.questions import Labelled
from search_app.measures.relevance import AP as BY_LABELS
from search_app.search.engine import Engine
from search_app.search.evidence import RowPopulation
from search_app.search.request import RankingRule
from search_app.search.smoothing import Strength, smoothed, unit_columns
from search_app.tasks.releasing import release_of

from . import naive_twin as twin
from . import toy_world

POOLS = (35, 60, 120)
INPUTS = ExperimentInputs(size=8, users=12, queries_per_user=3, least_hits=100)
OF_SHARES = ("smoothed",)  # of rows that are shares of members
BY_EVIDENCE = {  # whose interests, with which care
    "own-evidence": ("own", "default"),
    "own-careful": ("own", "careful"),
    "group-evidence": ("group", "default"),
    "group-careful": ("group", "careful"),
    "stranger-evidence": ("stranger", "default"),
}
OTHERS = ("random", "stranger", *OF_SHARES, *BY_EVIDENCE)
SEARCHED = tuple(name for name, mode in MODES.items() if name not in OTHERS and not mode.by_pool)


class Toy(NamedTuple):
    """The toy world, read and indexed by the program itself."""

    log: QueryLog
    counter: TermCounter
    lucene: LuceneIndex
    forward: Forward
    wordnet: WordNet
    asked: list[str]  # the queries searched for the last world

    def search(self, queries: Any, most: int) -> Any:
        self.asked.extend(queries)
        return self.lucene.pools(queries, most)

    def world(self, units: tuple[Unit, ...], inputs: ExperimentInputs = INPUTS) -> World:
        self.asked.clear()
        data = prepare(self.log, self.counter, self.search, inputs, units)
        return World(data, self.forward, self.wordnet)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, wordnet: WordNet) -> Iterator[Toy]:
    room = tmp_path_factory.mktemp("toy")
    counter = TermCounter(Analysis(wordnet))
    documents = [Document(name, "", text) for name, text in toy_world.documents().items()]
    build_index(documents, counter, room / "index", account=Account())
    log, report = read_log([toy_world.write_log(room / "log.tsv")])
    assert report.rejected == 0
    lucene, forward = open_index(room / "index")
    yield Toy(log, counter, lucene, forward, wordnet, [])
    lucene.close()


def variant(**given: Any) -> Variant:
    """Return a variant of p-linkability in all modes that have one order."""
    parameters = given.pop("parameters", {"p": 0.6})
    complete = {**parameters_of("p-linkability"), **parameters}
    usual = {"name": "all", "method": "p-linkability", "modes": SEARCHED, "pools": POOLS}
    return Variant(parameters=parameters, complete=complete, **{**usual, **given})


def block(measured: Measured, mode: str, pool: int) -> Block:
    (found,) = [each for each in measured.blocks if (each.mode, each.pool) == (mode, pool)]
    return found


class Twin:
    """The same questions answered the obvious way."""

    def __init__(self, toy: Toy, world: World, unit: Unit) -> None:
        self.representative = str(unit.parameters["representative"])
        self.corpus = twin.Corpus(toy_world.documents(), unit.vectors)
        kept, held = twin.split(toy_world.log(), INPUTS.test_share)
        everybody = twin.profiles(kept, 8, unit.weights)
        self.profiles = {user: everybody[user] for user in list(everybody)[: INPUTS.users]}
        self.users = list(self.profiles)
        whose = {query: user for user, queries in held.items() for query in queries}
        left, found = dict.fromkeys(self.users, INPUTS.queries_per_user), []
        for query in toy.asked:
            pool = toy.lucene.pool(query, max(POOLS)).rows.tolist()
            fit = [n for n in (INPUTS.least_hits, *POOLS) if n <= len(toy.lucene.pool(query, 130))]
            if left[whose[query]] and INPUTS.least_hits in fit:
                left[whose[query]] -= 1
                found.append((whose[query], pool[: max(fit)]))
        number = dict(zip(world.data.questions.user, world.data.questions.person, strict=True))
        self.questions = sorted(found, key=lambda each: number[self.users.index(each[0])])

    def average_precisions(self, rows: Any, pool: int) -> list[float]:
        """Judge the order by each user's row, or Lucene's where there is none."""
        values = []
        for user, documents in self.questions:
            some, row = documents[:pool], rows(user)
            gold = twin.ordered(some, self.corpus.scores(some, self.profiles[user]))
            order = twin.ordered(some, self.corpus.scores(some, row)) if row else some
            values.append(twin.average_precision(order, gold))
        return values

    def made(self, users: list[str]) -> twin.Row:
        return twin.represent([self.profiles[user] for user in users], self.representative)

    def shared(self, groups: Any, user: str, *, without: bool = False) -> twin.Row:
        mine = groups[self.users.index(user)]
        members = [u for u, group in zip(self.users, groups, strict=True) if group == mine]
        others = [u for u in members if u != user]
        if not without:
            return self.made(members)
        return self.made(others) if others else {}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weights": "tf", "vectors": "tf"},
        {"parameters": {"p": 0.7, "representative": "union"}, "seeds": (3,)},
    ],
)
def test_every_mode_equals_the_naive_twin(toy: Toy, given: dict[str, Any]) -> None:
    (unit,) = units_of([variant(**given)])
    world = toy.world((unit,))
    measured, naive = measure(world, unit), Twin(toy, world, unit)
    release = release_for(world, unit)
    assert release is not None
    assert release.users == tuple(naive.users)
    assert 1 < len(release.rows) < len(naive.users)
    rng = np.random.default_rng([unit.seed, 2])
    dealt = rng.permutation(release.row_of_user)
    everybody = {
        name: twin.represent(list(naive.profiles.values()), kind)
        for name, kind in (("average", "centroid"), ("union", "union"))
    }
    rows = {
        "none": lambda _user: {},
        "own": naive.profiles.__getitem__,
        "average": lambda _user: everybody["average"],
        "union": lambda _user: everybody["union"],
        "group": lambda user: naive.shared(release.row_of_user, user),
        "random-groups": lambda user: naive.shared(dealt, user),
        "left-out": lambda user: naive.shared(release.row_of_user, user, without=True),
    }
    assert rows.keys() == set(SEARCHED)
    assert len(world.data.questions) == len(naive.questions) == 3 * INPUTS.users
    for mode, row in rows.items():
        for pool in POOLS:
            expected = naive.average_precisions(row, pool)
            found = block(measured, mode, pool).values["AP"]
            assert found.tolist() == pytest.approx(expected, abs=1e-11), (mode, pool)
    assert np.all(block(measured, "own", 60).values["AP"] == 1)


def test_what_units_share_changes_no_bit(toy: Toy) -> None:
    """Vectors and blocks are kept for units of other seeds, and for no other units."""
    kinds = [
        {"parameters": {"p": p, "augment": augment}, "weights": weights, "seeds": (0, 1)}
        for p, augment in ((0.6, "wordnet"), (0.8, "wordnet"), (0.6, "none"))
        for weights in ("binary", "tf")
    ]
    units = units_of([variant(**kind) for kind in kinds])
    together = toy.world(units)
    for unit in units:
        shared, alone = (
            measure(together, unit),
            measure(replace(together, blocks={}, kept={}), unit),
        )
        assert shared.facts == alone.facts
        for one, other in zip(shared.blocks, alone.blocks, strict=True):
            assert (one.unit, one.mode, one.pool) == (other.unit, other.mode, other.pool)
            assert one.values.keys() == other.values.keys()
            for name, values in one.values.items():
                assert values.tobytes() == other.values[name].tobytes()
    assert len(together.blocks) == 2 * 4  # of two weights: none, own, average, union


@pytest.mark.parametrize("documents", [1, 60, 4097])
@pytest.mark.parametrize("most", [1.0, 999.0, 2000.0])
def test_orders_are_those_of_a_stable_sort(documents: int, most: float) -> None:
    """Scores tie when they are rounded, and places beyond a pool stay last, in their order."""
    rng = np.random.default_rng(documents)
    near = rng.integers(-2, 3, (300, documents)) * 0.4e-12
    scores = rng.choice([-0.5, 0.0, 0.25, most], (300, documents)) + near
    hits = rng.integers(documents + 1, size=300)
    for order, values, size in zip(best_first(scores, hits), scores, hits.tolist(), strict=True):
        rounded = np.round(values, 12).tolist()
        expected = sorted(range(size), key=lambda place: -rounded[place])
        assert order.tolist() == [*expected, *range(size, documents)]


def test_two_stages_equal_the_naive_twin(toy: Toy) -> None:
    """A fifth of each pool, by the row or by Lucene, is ordered by the own profile."""
    (unit,) = units_of([variant(modes=("two-stages", "two-stages-plain", "group", "none"))])
    world = toy.world((unit,))
    measured, naive = measure(world, unit), Twin(toy, world, unit)
    release = release_for(world, unit)
    assert release is not None
    for pool in POOLS:
        for mode, before in (("two-stages", "group"), ("two-stages-plain", "none")):
            expected = []
            for user, documents in naive.questions:
                some, row = documents[:pool], naive.shared(release.row_of_user, user)
                own = naive.corpus.scores(some, naive.profiles[user])
                gold, first = twin.ordered(some, own), some
                if before == "group":
                    first = twin.ordered(some, naive.corpus.scores(some, row))
                best = first[: math.ceil(len(some) / 5)]
                staged = sorted(best, key=gold.index) + first[len(best) :]
                expected.append(twin.average_precision(staged, gold))
            values = block(measured, mode, pool).values["AP"]
            assert values.tolist() == pytest.approx(expected, abs=1e-11), (mode, pool)
            assert values.mean() > block(measured, before, pool).values["AP"].mean()


def test_evidence_orders_all_questions_as_search_orders_one(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share the rule; here pools, rows, their names and cares must fit together."""
    (unit,) = units_of([variant(modes=("group-evidence",))])
    world = toy.world((unit,))
    release, questions = release_for(world, unit), world.data.questions
    assert release is not None
    assert questions.scores is not None
    population = RowPopulation(release.rows, release.grouping.sizes)
    # Search takes so few rows for no population.
    monkeypatch.setattr("search_app.experiments.evidence.population_of", lambda _: population)
    engine, moved = Engine(toy.lucene, toy.forward), 0
    engine.prepare("rows", population)
    own = world.data.profiles["binary"]
    situation = Situation(questions, own, release, toy.forward, "tfidf", 60, 0)
    drawn = strangers(release.groups, release.row_of_user, situation.rng(3))
    for mode, (whose, care) in BY_EVIDENCE.items():
        (scores,) = MODES[mode].scores(situation)
        orders = best_first(scores, np.minimum(questions.hits, 60))
        for at, user in enumerate(questions.user.tolist()):
            some = slice(0, int(questions.hits[at]))
            bm25 = questions.scores[at, :60][some].astype(np.float32)
            pool, rule = Pool(questions.pools[at, :60][some], bm25), RankingRule("evidence", care)
            if whose == "own":
                found = engine.by_profile(pool, own.at(user), rule, "rows")
            else:
                row = (drawn if whose == "stranger" else release.row_of_user)[user]
                found = engine.by_row(pool, release.released_row(int(row)), rule, "rows")
            order = orders[at, : len(pool)].tolist()
            assert order == (found.plain_ranks - 1).tolist(), mode
            moved += order != sorted(order)
    assert moved


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_a_stranger_is_of_another_group(groups: int) -> None:
    """Two people are in no group, the first and the last of these rows; nobody serves the first."""
    row_of = np.array([-1, *np.arange(groups).repeat(20), groups])
    drawn = strangers(groups, row_of, np.random.default_rng(0))
    assert (drawn[0], drawn[-1] >= 0) == (-1, True)
    inside = drawn[1:-1]
    if groups == 1:
        assert (inside == -1).all()
    else:
        assert (inside != row_of[1:-1]).all()
        assert set(inside.tolist()) == set(range(groups))


def test_questions_with_labels_are_judged_by_them(toy: Toy) -> None:
    """Relevance and harm equal a loop over ids; queries of nobody known are not asked."""
    words = [topic.split()[0] for topic in toy_world.TOPICS]
    texts = toy_world.documents()
    users = sorted({line.user for line in toy_world.log()})
    queries = [
        LabelledQuery(Topic(f"q{at}", f"river {word}", at, user), "in", frozenset({word}))
        for at, (user, word) in enumerate(zip([*users, "nobody"], words * 3, strict=False))
    ]
    labels = {name: frozenset(text.split()) for name, text in texts.items()}
    labelled = Labelled(Relevance(queries, labels), toy.lucene.ids)
    (unit,) = units_of([variant(modes=("none", "own", "group-evidence"), pools=(60,))])
    data = prepare(toy.log, toy.counter, toy.search, INPUTS, (unit,), labelled=labelled)
    assert (
        data.digest()
        != replace(data, questions=replace(data.questions, relevant=None, kind=None)).digest()
    )
    measured = measure(World(data, toy.forward, toy.wordnet), unit)
    assert len(data.questions) == len(data.profiles["binary"]) == INPUTS.users
    word_of = {query.topic.user: next(iter(query.labels)) for query in queries}
    for mode in ("none", "own"):
        found = block(measured, mode, 60).values
        for at, user in enumerate(data.questions.user.tolist()):
            name = data.profiles["binary"].users[user]
            ids = toy.lucene.ids(data.questions.pools[at, :60]).tolist()
            if mode == "own":
                corpus = twin.Corpus(texts, "tfidf")
                rows = data.questions.pools[at, :60].tolist()
                scores = corpus.scores(rows, data.profiles["binary"].at(user))
                ids = twin.ordered(ids, scores)
            ranks = [r for r, one in enumerate(ids, 1) if word_of[name] in texts[one].split()]
            ap = math.fsum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks)
            assert found[BY_LABELS][at] == pytest.approx(ap, abs=1e-11)
    shares = [measured.facts[f"share_of_standing_{start}"] for start in BINS]
    assert sum(shares) == pytest.approx(1)
    assert 0 <= measured.facts["left_plain"] <= 1


def pooled(p: float) -> Variant:
    complete = {**parameters_of("pooled"), "p": p, "steps": 2000}
    return Variant("pooled", "pooled", {"p": p}, modes=("group", "smoothed"), complete=complete)


def test_a_pooled_release_is_measured_alike_twice_though_its_key_is_secret(toy: Toy) -> None:
    (unit,) = units_of([pooled(0.2)])
    world = toy.world((unit,))
    one, other = release_for(world, unit), release_for(world, unit)
    assert one is not None
    assert other is not None
    assert one.key == other.key == measuring_key(unit.seed)
    assert one.key != measuring_key(unit.seed + 1)
    assert one.row_of_user.tolist() == other.row_of_user.tolist()
    assert one.rows.weights.toarray().tobytes() == other.rows.weights.toarray().tobytes()
    first, again = measure(world, unit), measure(world, unit)
    assert first.facts == again.facts
    for mode in ("group", "smoothed"):
        values = [block(each, mode, 100).values["AP"] for each in (first, again)]
        assert values[0].tobytes() == values[1].tobytes()


def test_ways_of_deleting_are_compiled_before_anything_is_timed(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, of a few people; where these can be given nothing, that is no fault."""
    given = parameters_of("km-anonymity")
    variants = [
        Variant("all", "km-anonymity", chosen, "tf", modes=(), complete={**given, **chosen})
        for k in (2, 1000)
        for chosen in ({"k": k, "algorithm": "greedy"}, {"k": k, "m": 1})
    ]
    units = units_of([*variants, variant(modes=())])
    made = list[tuple[str, int, int, int]]()

    def noted(method: str, inputs: Any, values: Any, forward: Any) -> Release:
        made.append((values["algorithm"], values["m"], values["k"], len(inputs.profiles)))
        return release_of(method, inputs, values, forward)

    world = toy.world(units)
    monkeypatch.setattr("search_app.experiments.pipeline.release_of", noted)
    monkeypatch.setattr("search_app.experiments.pipeline.FEW", 5)
    warm_up(world, units)
    assert sorted(made) == [("greedy", 2, 2, 5), ("insert", 1, 2, 5)]


def test_belief_is_told_by_what_rows_say(toy: Toy) -> None:
    """Rows without the terms of most members hide shares; the twin infers from what is there."""
    strict = {"p": 0.7, "guarantee": "every-term"}
    (unit,) = units_of([variant(parameters=strict, modes=("group",))])
    world = toy.world((unit,))
    release, found = release_for(world, unit), measure(world, unit).facts["change_of_belief"]
    assert release is not None
    profiles = world.data.profiles["binary"]
    assert found == pytest.approx(max(row.value for row in belief(profiles, release)), abs=1e-12)
    shares = facts(profiles, release)["change_of_belief"]
    assert found < shares - 0.01


def test_a_promise_that_keeps_nothing_of_anybody_is_told_as_that(toy: Toy) -> None:
    """k is more than there are people; where it is to be searched by, that is refused as ever."""
    given = {**parameters_of("km-anonymity"), "k": 1000}
    refused = Variant("all", "km-anonymity", {"k": 1000}, "tf", modes=(), complete=given)
    (unit,) = units_of([refused])
    world = toy.world((unit,))
    measured = measure(world, unit)
    assert measured.blocks == []
    assert measured.facts["unsatisfiable"] == 1
    shares = {name: share for name, share in measured.facts.items() if name.startswith("kept_")}
    assert {*shares.values()} == {0}
    assert {*shares} >= {"kept_distinct_terms", "kept_log_size", "kept_users", "kept_revenue"}
    with pytest.raises(Unsatisfiable):
        measure(world, replace(unit, asked=(("group", 60),)))


def test_smoothed_rows_order_by_the_formula(toy: Toy) -> None:
    (unit,) = units_of([pooled(0.2)])
    world = toy.world((unit,))
    release, questions = release_for(world, unit), world.data.questions
    assert release is not None
    situation = Situation(
        questions, world.data.profiles["binary"], release, toy.forward, "tfidf", 30, 0
    )
    (scores,) = MODES["smoothed"].scores(situation)
    terms, rows = release.rows.terms, release.rows.weights.toarray()
    corpus = twin.Corpus(toy_world.documents(), "tfidf")
    vectors = np.array([[each.get(term, 0.0) for term in terms] for each in corpus._vectors])
    whole = np.array([np.sqrt(sum(w * w for w in each.values())) for each in corpus._vectors])
    units = vectors / whole[:, None]
    sizes = np.bincount(release.row_of_user)
    columns = unit_columns(csr_matrix(units))
    smooth = smoothed(release.rows.weights, sizes @ rows / sizes.sum(), columns, Strength(1.3, 0.1))
    for at, user in enumerate(questions.user.tolist()):
        row = smooth[release.row_of_user[user]]
        documents = toy.forward.numbers[questions.pools[at, :30]]
        wanted = units[documents] @ row / np.linalg.norm(row)
        assert scores[at] == pytest.approx(wanted, abs=1e-9)
