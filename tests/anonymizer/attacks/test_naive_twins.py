"""Each attack agrees with a twin of plain loops, on small drawn people."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.attacks.attacked import Attacked
from anonymizer.attacks.beyond_m import _supports
from anonymizer.attacks.fitting import assigned
from anonymizer.attacks.inference import rising
from anonymizer.attacks.learning import _company, _evidence
from anonymizer.attacks.linking import likeliest, linked, row_odds
from anonymizer.attacks.membership import area, evidence
from anonymizer.model import Profiles

from .worlds import (
    AVERAGE,
    BELIEF,
    VOCABULARY,
    Rows,
    attacked,
    centroids,
    dealt,
    drawn,
    figures,
    release,
)

SEEDS = range(6)
LEAST = 1e-9


def world(seed: int) -> tuple[Rows, list[list[str]], Attacked]:
    people = drawn(20, seed)
    groups = dealt([*people], 3 + seed, seed)
    return people, groups, attacked(people, release(people, groups, p=0.3))


def likelihood(row: dict[str, float], known: set[str], everybody: set[str] | None) -> float:
    """Return the log chance of these terms in a row, or of these and no others of everybody's."""

    def within(value: float) -> float:
        return min(max(value, LEAST), 1 - LEAST)

    total = sum(math.log(within(row.get(term, 0))) for term in known)
    lacking = (everybody or set()) - known
    return total + sum(math.log1p(-within(row.get(term, 0))) for term in lacking)


@pytest.mark.parametrize("seed", SEEDS)
def test_fitting_finds_about_as_many_as_the_likeliest_assignment(seed: int) -> None:
    """Rows of the words that 4, 1 or 2 of 10 members share: some fit nearly everybody."""
    from scipy.optimize import linear_sum_assignment

    rng, terms = np.random.default_rng(seed), [f"t{at:02d}" for at in range(60)]
    people = {
        f"u{user:02d}": {str(term): 1.0 for term in sorted(rng.choice(terms, 15, replace=False))}
        for user in range(60)
    }
    groups = dealt([*people], 6, seed)
    shared = [
        {term: 1.0 for term in terms if sum(term in people[user] for user in group) >= least}
        for group, least in zip(groups, (4, 1, 2) * 2, strict=True)
    ]
    target = attacked(people, release(people, groups, VOCABULARY, shared, p=0.3))
    view = target.view
    scores = np.concatenate([one for _, one in view.scores(target.own, whole=True)])
    room = np.repeat(np.arange(view.sizes.size), view.sizes)
    _, likeliest = linear_sum_assignment(-scores[:, room])
    right, most = (
        np.count_nonzero(one == view.row_of)
        for one in (assigned(view, target.own), room[likeliest])
    )
    assert right >= 0.9 * most


@pytest.mark.parametrize("seed", SEEDS)
def test_linking(seed: int) -> None:
    people, groups, target = world(seed)
    rows = centroids(people, groups)
    victims, known = target.knowing(np.arange(20), 2)
    right = linked(target.view, victims, known)
    for place, victim in enumerate(victims.tolist()):
        user = target.profiles.users[victim]
        terms = {target.profiles.terms[at] for at in known[place].indices}
        assert terms <= people[user].keys()
        assert len(terms) == 2
        score = [likelihood(row, terms, None) + math.log(len(group))
                 for row, group in zip(rows, groups, strict=True)]  # fmt: skip
        own = score[next(at for at, group in enumerate(groups) if user in group)]
        better = sum(value > own + 1e-6 for value in score)
        equal = sum(abs(value - own) <= 1e-6 for value in score)
        for at, top in enumerate((1, 5)):
            assert right[place, at] == pytest.approx(min(1, max(0, (top - better) / equal)))


@pytest.mark.parametrize("seed", SEEDS)
def test_odds_that_a_row_is_somebodys(seed: int) -> None:
    people, groups, target = world(seed)
    known = target.knowing(np.arange(20), 2)[1]
    for odds, cells in zip(row_odds(target.view, known), known, strict=True):
        terms = {target.profiles.terms[at] for at in cells.indices}
        rows = zip(centroids(people, groups), groups, strict=True)
        chances = [math.exp(likelihood(row, terms, None)) * len(group) for row, group in rows]
        for value, chance in zip(odds, chances, strict=True):
            rest = max(sum(chances) - chance, LEAST * sum(chances))
            assert value == pytest.approx(math.log(chance / rest), abs=1e-4)
    assert likeliest(np.array([2.0, -1, 2, 0])).tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_that_a_row_makes_likelier(seed: int) -> None:
    people, groups, target = world(seed)
    usual = Counter(term for row in people.values() for term in row)
    marks = rising(target.view).toarray()
    for number, row in enumerate(centroids(people, groups)):
        likelier = {term for term, share in row.items() if share > usual[term] / 20 + 1e-9}
        terms = target.profiles.terms
        assert {terms[at] for at in np.flatnonzero(marks[number])} == likelier


@pytest.mark.parametrize("seed", SEEDS)
def test_evidence_of_whole_profiles(seed: int) -> None:
    people, groups, target = world(seed)
    every = {term for row in people.values() for term in row}
    prior = {term: sum(term in row for row in people.values()) / len(people) for term in every}
    best = evidence(target.view, target.own)
    for user, value in zip(target.profiles.users, best, strict=True):
        own = set(people[user])
        rows = (likelihood(row, own, every) for row in centroids(people, groups))
        assert value == pytest.approx(max(rows) - likelihood(prior, own, every), abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_columns(seed: int) -> None:
    people, groups, target = world(seed)
    rows = centroids(people, groups)
    every = {term for row in people.values() for term in row}
    prior = {term: sum(term in row for row in people.values()) / len(people) for term in every}
    changes = [abs(row.get(term, 0) - prior[term]) for row in rows for term in every]
    row_of = {user: row for row, group in zip(rows, groups, strict=True) for user in group}
    claims = [
        (term in people[user], prior[term])
        for user, row in row_of.items()
        for term, share in row.items()
        if share - prior[term] > 0.3 + 1e-9
    ]
    got = figures("inference", people, target.release)
    for figure in ("published", "real"):
        assert got[0, f"column: largest {figure} change of belief"].value == pytest.approx(
            max(changes)
        )
    assert got[0, "column: published share off the real one, largest"].value < 1e-9
    own = sum(map(len, people.values()))
    claimed = got[0, "column: true terms claimed beyond p"].value
    assert claimed == pytest.approx(sum(has for has, _ in claims) / own)
    if claims:
        gain = got[0, "column: real mean change there"].value
        assert gain == pytest.approx(sum(has - usual for has, usual in claims) / len(claims))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_row_gets_more_people_than_it_serves(seed: int) -> None:
    _, groups, target = world(seed)
    placed = assigned(target.view, target.own)
    assert Counter(placed.tolist()) == dict(enumerate(map(len, groups)))


def test_supports() -> None:
    people = drawn(15, 3)
    profiles = Profiles.from_rows(people)
    ones = csr_matrix(profiles.weights > 0).astype(np.int64)
    for size in (1, 2, 3, 4):
        counts = Counter(s for row in people.values() for s in combinations(sorted(row), size))
        got = np.concatenate([*_supports(csr_matrix(ones), size)])
        assert sorted(got.tolist()) == sorted(counts.values())


def test_area() -> None:
    rng = np.random.default_rng(0)
    members, outsiders = rng.integers(0, 9, 30).astype(float), rng.integers(0, 7, 20).astype(float)
    wins = [(m > o) + (m == o) / 2 for m in members for o in outsiders]
    assert area(members, outsiders) == pytest.approx(sum(wins) / len(wins))


@pytest.mark.parametrize("seed", SEEDS)
def test_totals_account_for_what_rows_suppress(seed: int) -> None:
    """Where rows drop terms, the owners left are spread over the people whose rows lack them."""
    people = drawn(20, seed)
    groups = dealt([*people], 5, seed)
    rows = [{term: share for term, share in row.items() if share < 0.6}
            for row in centroids(people, groups)]  # fmt: skip
    view = attacked(people, release(people, groups, AVERAGE, rows, p=0.3)).view
    profiles = Profiles.from_rows(people)
    for number, term in enumerate(profiles.terms):
        owners = sum(term in row for row in people.values())
        shown = sum(row.get(term, 0) * len(group) for row, group in zip(rows, groups, strict=True))
        lacking = sum(len(g) for row, g in zip(rows, groups, strict=True) if term not in row)
        spread = (owners - shown) / lacking if lacking else 0
        assert view.absent[number] == pytest.approx(max(spread, LEAST), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_other_profiles_teach(seed: int) -> None:
    """Log odds of known terms with 20 people of the prior added, and sums of cosines over a row."""
    people, groups, target = world(seed)
    users, terms = target.profiles.users[:12], target.profiles.terms
    teachers, totals = target.own[:12], np.asarray(target.own[:12].sum(axis=0)).ravel()
    having = {term: {user for user in users if term in people[user]} for term in terms}
    known = [1, 4]
    evidence = _evidence(teachers, teachers.tocsc(), totals, np.array(known))
    row = centroids(people, groups)[0]
    company = _company(target.view, np.array([0]), teachers, totals)[0]
    for number, term in enumerate(terms):
        odds = 0.0
        for other in (having[terms[at]] for at in known):
            both, usual = len(other & having[term]), 20 * (len(other) + 1) / 14
            owners = len(having[term])
            odds += math.log((both + usual) / (owners + 20))
            odds -= math.log((len(other) - both + usual) / (12 - owners + 20))
        assert evidence[number] == pytest.approx(odds)
        more = 0.0
        for other_term, share in row.items():
            mine, other = having[term], having[other_term]
            if other_term != term and mine and other:
                prior = sum(other_term in own for own in people.values()) / len(people)
                more += (share - prior) * len(mine & other) / math.sqrt(len(mine) * len(other))
        assert company[number] == pytest.approx(more, abs=1e-9)


@pytest.mark.parametrize("choice", ["random", "rarest"])
def test_who_knows_more_knows_the_same_and_more(choice: str) -> None:
    people = drawn(20, 1)
    target = attacked(people, release(people, dealt([*people], 4), BELIEF, p=0.3), choice=choice)
    for few, more in combinations((1, 2, 3), 2):
        victims, known = target.knowing(np.arange(20), more)
        fewer = target.knowing(victims, few)[1]
        assert fewer.multiply(known).nnz == fewer.nnz == few * victims.size
