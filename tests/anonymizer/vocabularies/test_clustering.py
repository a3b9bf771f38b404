"""SSC against an exhaustive twin that shares no code: it tries every matching of everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from anonymizer.model import Profiles
from anonymizer.similarity.term_distances import term_distances
from anonymizer.terms.taxonomy import taxonomy_of
from anonymizer.vocabularies.bags import bags_of
from anonymizer.vocabularies.centres import NOBODY
from anonymizer.vocabularies.clustering import Cluster, cluster, costs_of, distance
from anonymizer.vocabularies.matching import GIVEN_UP, transported

from ..small_vocabulary import EXAMPLE, TAXONOMY

Bag = tuple[str, ...]
Centre = tuple[Bag, ...]
Outcome = frozenset[tuple[tuple[int, ...], Centre]]


class World(NamedTuple):
    """A drawn input, and how the twin sees it."""

    texts: dict[str, str]
    parent: dict[str, str]
    eps: int
    omega: float
    model: int
    k: int
    by_person: bool
    by_size: bool
    least: int | None = None  # of k people who must match a bag


def bags(texts: dict[str, str]) -> Profiles:
    """Return the counts of the words of each of `texts`."""
    counts = {user: Counter(text.split()) for user, text in texts.items()}
    return Profiles.from_rows(
        {user: {term: float(count) for term, count in own.items()} for user, own in counts.items()}
    )


def drawn(seed: int) -> World:
    """Draw up to seven small vocabularies over the nodes of a small forest."""
    rng = np.random.default_rng(seed)
    nodes = [f"n{at}" for at in range(7)]
    parent = {
        nodes[at]: nodes[int(rng.integers(0, at))] for at in range(1, 7) if rng.random() < 0.9
    }
    sessions, users = bool(rng.random() < 0.4), int(rng.integers(2, 7))
    names = [f"u{rng.integers(1, 4)}#{at + 1}" if sessions else f"u{at}" for at in range(users)]
    words = [*nodes, "unknown"]
    texts = {name: " ".join(rng.choice(words, int(rng.integers(1, 5)))) for name in names}
    by_person = bool(rng.random() < 0.8)
    people = {name.split("#")[0] for name in names} if by_person else names
    eps = int(rng.integers(0, 5))
    omega = float(rng.choice([0.5, 1, 2, eps or 1, 3.5, 100]))
    k, model = int(rng.integers(1, min(3, len(people)) + 1)), int(rng.integers(1, 3))
    return World(texts, parent, eps, omega, model, k, by_person, bool(rng.random() < 0.5))


def partly(seed: int) -> World:
    """Draw a world in which fewer than k people must match a bag."""
    world, rng = drawn(seed), np.random.default_rng(seed)
    people = {name.split("#")[0] if world.by_person else name for name in world.texts}
    k = int(rng.integers(2, min(4, max(2, len(people))) + 1))
    return world._replace(k=k, least=int(rng.integers(1, k)), model=2)


def far(world: World, one: str, other: str) -> int | None:
    """Return the steps between two terms, or None if they are not relevant to each other."""
    if one == other:
        return 0
    ways = []
    for term in (one, other):
        ways.append([term])
        while ways[-1][-1] in world.parent:
            ways[-1].append(world.parent[ways[-1][-1]])
    steps = [
        up.index(node) + down.index(node) for up, down in [ways] for node in up if node in down
    ]
    return min(steps) if world.eps and steps and min(steps) <= world.eps else None


def matchings(
    world: World, centre: Centre, words: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[int | None, ...]]]:
    """Yield terms met, weight and the bag of each word for all matches of `words` with `centre`."""
    for places in product([None, *range(len(centre))], repeat=len(words)):
        used = [place for place in places if place is not None]
        steps = [
            far(world, word, term)
            for word, place in zip(words, places, strict=True)
            if place is not None
            for term in centre[place]
        ]
        if len(set(used)) == len(used) and None not in steps:
            yield len(steps), sum(step or 0 for step in steps), places


def best(
    world: World, centre: Centre, members: int, words: tuple[str, ...]
) -> tuple[Fraction, set[Centre]]:
    """Return the distance of `words` from `centre`, and every centre that may come of it."""
    omega, done = Fraction(world.omega), []
    absent = 0 if world.least is None else max(world.k, members + 1) - world.least
    for met, weight, places in matchings(world, centre, words):
        cost = weight + omega * (members * (len(words) + len(centre)) - 2 * met)
        rank = (-met, weight) if world.model == 1 else (cost,)
        done.append((rank, cost, places))
    least = min(rank for rank, _, _ in done)
    after = {
        tuple(
            sorted(
                (*centre[place], word)
                for word, place in zip(words, places, strict=True)
                if place is not None
            )
            + [
                bag
                for at, bag in enumerate(centre)
                if at not in places and members - len(bag) < absent
            ]
            + [
                (word,)
                for word, place in zip(words, places, strict=True)
                if place is None and members <= absent
            ]
        )
        for rank, _, places in done
        if rank == least
    }
    return min(cost for rank, cost, _ in done if rank == least), after


def outcomes(world: World) -> set[Outcome]:
    """Return every outcome that the rules allow; only equal matchings leave a choice."""
    names = [*world.texts]
    words = [tuple(sorted(world.texts[name].split())) for name in names]
    person = [name.split("#")[0] if world.by_person else name for name in names]
    order = [*range(len(names))]
    if world.by_size:
        order.sort(key=lambda user: len(words[user]))
    found: set[Outcome] = set()

    def free(user: int, members: tuple[int, ...]) -> bool:
        return person[user] not in {person[member] for member in members}

    def go(waiting: list[int], done: list[tuple[tuple[int, ...], Centre]]) -> None:
        if not waiting:
            found.add(frozenset(done))
        elif done and (done[-1][0] and len(done[-1][0]) < world.k):
            members, centre = done[-1]
            far_of = {
                user: best(world, centre, len(members), words[user])
                for user in waiting
                if free(user, members)
            }
            nearest = min(far_of, key=lambda user: far_of[user][0])
            for after in far_of[nearest][1]:
                rest = [user for user in waiting if user != nearest]
                go(rest, [*done[:-1], ((*members, nearest), after)])
        elif len({person[user] for user in waiting}) >= world.k:
            seed = waiting[0]
            go(waiting[1:], [*done, ((seed,), tuple((word,) for word in words[seed]))])
        else:
            user, rest = waiting[0], waiting[1:]
            open_to = [at for at, (members, _) in enumerate(done) if free(user, members)]
            if not open_to:
                go(rest, done)
                return
            far_of = {at: best(world, done[at][1], len(done[at][0]), words[user]) for at in open_to}
            near = min(open_to, key=lambda at: far_of[at][0] / len(done[at][0]))
            for after in far_of[near][1]:
                joined = ((*done[near][0], user), after)
                go(rest, [*done[:near], joined, *done[near + 1 :]])

    go(order, [])
    return found


def made(world: World) -> tuple[Profiles, list[Cluster]]:
    """Return the profiles of `world`, and the clusters that the product makes."""
    profiles = bags(world.texts)
    own = bags_of(profiles, by_person=world.by_person)
    pairs = ((child, over) for child, over in world.parent.items())
    distances = term_distances(profiles.terms, taxonomy_of(pairs), world.eps, every_sense=False)
    order = np.arange(len(profiles))
    if world.by_size:
        order = np.argsort(own.sizes, kind="stable")
    costs = costs_of(world.omega, most_pairs=world.model == 1)
    return profiles, cluster(own, distances, costs, world.k, order, least=world.least)


def as_outcome(profiles: Profiles, clusters: list[Cluster]) -> Outcome:
    return frozenset(
        (
            tuple(members),
            tuple(
                sorted(
                    tuple(profiles.terms[term] for term in bag if term != NOBODY)
                    for bag, times in zip(centre.terms.tolist(), centre.stand, strict=True)
                    for _ in range(times)
                )
            ),
        )
        for members, centre in clusters
    )


def sorted_centres(outcome: Outcome) -> Outcome:
    return frozenset((members, tuple(sorted(centre))) for members, centre in outcome)


@pytest.mark.parametrize("draw", [drawn, partly])
@pytest.mark.parametrize("block", range(4))
def test_clusters_are_those_of_an_exhaustive_search(
    block: int, draw: Callable[[int], World]
) -> None:
    """Members in the order in which they joined, and bags, over 320 drawn inputs."""
    for seed in range(40 * block, 40 * (block + 1)):
        world = draw(seed)
        allowed = {sorted_centres(outcome) for outcome in outcomes(world)}
        assert as_outcome(*made(world)) in allowed, world


@pytest.mark.parametrize("model", [1, 2])
def test_the_distance_of_the_running_example(model: int) -> None:
    profiles = Profiles.from_rows(EXAMPLE)
    own = bags_of(profiles)
    distances = term_distances(profiles.terms, taxonomy_of(iter(TAXONOMY)), 4, every_sense=False)
    costs = costs_of(4, most_pairs=model == 1)
    assert distance(0, 1, own, distances, costs) == distance(1, 0, own, distances, costs) == 6


@pytest.mark.parametrize("model", [1, 2])
def test_distances_of_vocabularies_are_symmetric_and_brute_force(model: int) -> None:
    for seed in range(40):
        world = drawn(seed)._replace(model=model)
        profiles = bags(world.texts)
        own, pairs = bags_of(profiles), iter(world.parent.items())
        distances = term_distances(profiles.terms, taxonomy_of(pairs), world.eps, every_sense=False)
        costs = costs_of(world.omega, most_pairs=model == 1)
        words = [tuple(text.split()) for text in world.texts.values()]
        one, other = 0, len(words) - 1
        expected, _ = best(world, tuple((word,) for word in words[one]), 1, words[other])
        assert distance(one, other, own, distances, costs) == expected
        assert distance(other, one, own, distances, costs) == expected


def test_what_is_moved_is_the_assignment_of_single_items() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        weight = rng.integers(0, 6, rng.integers(1, 7, 2)) * (rng.random() < 0.9)
        supply, demand = (rng.integers(1, 9, size) for size in weight.shape)
        single = np.repeat(np.repeat(weight, supply, axis=0), demand, axis=1)
        expected = int(single[linear_sum_assignment(single, maximize=True)].sum())
        total, flow = transported(weight, supply, demand, 0)
        assert total == (flow * weight).sum() == expected
        assert flow.min() >= 0
        assert np.all(flow.sum(axis=1) <= supply)
        assert np.all(flow.sum(axis=0) <= demand)
        # It gives up only what can't be reached: the bounds never exceed the true saving.
        assert transported(weight, supply, demand, expected)[0] == expected
        assert transported(weight, supply, demand, expected + 1)[0] == GIVEN_UP


def test_a_person_with_more_sessions_than_clusters_has_some_without_a_row() -> None:
    profiles = bags({"a#1": "x", "a#2": "x", "a#3": "x", "b#1": "x"})
    own = bags_of(profiles)
    distances = term_distances(profiles.terms, None, 0, every_sense=False)
    clusters = cluster(own, distances, costs_of(1, most_pairs=False), 2, np.arange(4))
    assert [members for members, _ in clusters] == [[0, 3]]
    own = bags_of(profiles, by_person=False)
    clusters = cluster(own, distances, costs_of(1, most_pairs=False), 2, np.arange(4))
    assert Counter(len(members) for members, _ in clusters) == {2: 2}


def test_few_matchings_still_make_clusters_of_everybody() -> None:
    profiles = Profiles.from_rows(EXAMPLE)
    own = bags_of(profiles)
    distances = term_distances(profiles.terms, taxonomy_of(iter(TAXONOMY)), 4, every_sense=False)
    costs = costs_of(4, most_pairs=False)
    clusters = cluster(own, distances, costs, 2, np.arange(5), matchings=1)
    assert sorted(one for members, _ in clusters for one in members) == [0, 1, 2, 3, 4]
