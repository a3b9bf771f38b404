"""Playing the attacker: answers are right, draws are fair, and the formula counts as told."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from statistics import mean
from typing import Any

import numpy as np
import pytest

from anonymizer.attacks import Attacked
from anonymizer.model import Profiles, Release
from anonymizer.promise import Promise
from search_app.lesson.attacker import KNOWN, WORDS, Attacker, TheirTerms, limit, why_not

from ..village import LIMIT, PEOPLE, profiles_of, released

VILLAGE = profiles_of()
RELEASES = {"average": released(VILLAGE), "bound": released(VILLAGE, LIMIT)}
USUAL = Counter(term for row in VILLAGE.values() for term in row)
Row = dict[str, float]


def attacker(release: Release, people: Any = VILLAGE) -> Attacker:
    return Attacker(Attacked(Profiles.from_rows(people), release, known=(KNOWN,)))


@pytest.fixture(scope="module", params=RELEASES)
def player(request: pytest.FixtureRequest) -> Attacker:
    return attacker(RELEASES[request.param])


def rows_of(player: Attacker) -> list[Row]:
    release = player.target.release
    return [release.released_row(row).weights for row in range(release.groups)]  # type: ignore[misc]


def user_of(player: Attacker, person: int) -> str:
    return player.target.profiles.users[person]


def names(player: Attacker, deal: TheirTerms) -> list[str]:
    return [player.target.profiles.terms[term] for term in deal.terms.tolist()]


def test_answers_are_right(player: Attacker) -> None:
    served = player.target.release.row_for
    row_names = player.target.release.rows.users
    for number in range(1, 40):
        line, deal = player.whose(number), player.theirs(number)
        assert line is not None and deal is not None
        rows = [served(user_of(player, person)).name for person in line.people]
        assert [name == row_names[line.row] for name in rows] == [
            at == line.answer for at in range(4)
        ]
        assert len({*line.people}) == 4
        own = VILLAGE[user_of(player, deal.person)]
        assert deal.own.tolist() == [term in own for term in names(player, deal)]
        assert served(user_of(player, deal.person)).name == row_names[deal.row]
        for person in line.people:
            shown = player.shown(person)
            assert len({*shown}) == KNOWN
            assert {*shown} <= VILLAGE[user_of(player, person)].keys()


def test_a_number_draws_a_round_again_and_in_other_releases_alike() -> None:
    one, other = (attacker(release) for release in RELEASES.values())
    drawn = set()
    for number in range(1, 20):
        first, second = (player.theirs(number) for player in (one, other))
        assert first is not None and second is not None
        assert (first.person, first.terms.tolist()) == (second.person, second.terms.tolist())
        lines = [player.whose(number) for player in (one, other, attacker(RELEASES["average"]))]
        assert len({tuple(line.people) for line in lines if line}) == 1
        drawn.add((first.person, *first.terms.tolist()))
    assert len(drawn) == 19


def test_commonness_gives_nothing_away(player: Attacker) -> None:
    """Half are the person's own, and the others are of the same blocks of alike terms."""
    order = sorted(USUAL, key=lambda term: (USUAL[term], term))
    block = {term: at // 32 for at, term in enumerate(order)}
    by_commonness = []
    for number in range(1500):
        deal = player.theirs(number)
        assert deal is not None
        terms = names(player, deal)
        assert len({*terms}) == WORDS
        own = [term for term, has in zip(terms, deal.own, strict=True) if has]
        others = [term for term in terms if term not in own]
        assert Counter(block[term] for term in own) == Counter(block[term] for term in others)
        likeliest = sorted(terms, key=lambda term: -USUAL[term])[: WORDS // 2]
        by_commonness.append(2 * len({*likeliest} & {*own}))
    error = np.std(by_commonness) / math.sqrt(1500)
    assert abs(mean(by_commonness) - WORDS / 2) < 4 * error


def guess(player: Attacker, row: int, people: list[int]) -> list[float]:
    """Return by how much the terms that are shown of people speak for `row`, with plain loops."""
    rows, odds = rows_of(player), []
    for person in people:
        terms = player.shown(person)
        chances = [math.prod(max(one.get(term, 0), 1e-9) for term in terms) for one in rows]
        odds.append(chances[row] / (sum(chances) - chances[row] + 1e-9 * sum(chances)))
    best = [value > max(odds) * (1 - 1e-6) for value in odds]
    return [right / sum(best) for right in best]


def test_the_formulas_figures_are_those_of_a_count_over_all_people(player: Attacker) -> None:
    lines = [*player._lined_up(*player._drawn(0))]
    answers = [user_of(player, line.people[line.answer]) for line in lines]
    assert Counter(answers) == Counter([*VILLAGE])
    right = [guess(player, line.row, line.people)[line.answer] for line in lines]
    assert player.wins.tolist() == pytest.approx(right)
    deals = [*player._dealt(*player._drawn(0))]
    assert Counter(user_of(player, deal.person) for deal in deals) == Counter([*VILLAGE])
    rows, right = rows_of(player), []
    for deal in deals:
        row, own = rows[deal.row], VILLAGE[user_of(player, deal.person)]
        claims = {term for term, share in row.items() if share > USUAL[term] / PEOPLE + 1e-9}
        right.append(sum((term in claims) == (term in own) for term in names(player, deal)))
    assert player.hits.tolist() == right
    assert mean(right) > 1.2 * WORDS / 2


def test_the_strongest_terms_are_those_furthest_above_usual(player: Attacker) -> None:
    row = rows_of(player)[3]
    above = {term: share - USUAL[term] / PEOPLE for term, share in row.items()}
    strongest = player.strongest(3, 18)
    assert [share for _, share in strongest] == pytest.approx([row[term] for term, _ in strongest])
    assert sum(above[term] for term, _ in strongest) == pytest.approx(
        sum(sorted(above.values())[-18:])
    )


def test_too_few_people_or_terms_are_no_game() -> None:
    users = ("u00", "u01", "u05", "u06")  # whoever has a row, only two have another one
    release, few = RELEASES["average"], {user: VILLAGE[user] for user in users}
    served = {"users": users, "row_of_user": np.array([0, 0, 1, 1])}
    rows = {"rows": release.rows.some(range(2)), "cohort_of_row": np.zeros(2, dtype=np.int64)}
    small = replace(release, **served, **rows)
    assert attacker(small, few).whose(1) is None
    short = {user: dict(list(row.items())[:KNOWN]) for user, row in VILLAGE.items()}
    assert attacker(RELEASES["average"], short).theirs(1) is None


PROMISES: list[tuple[Promise, dict[str, object], str]] = [
    (Promise("group", "average"), {"p": 0.4}, "profile fills at most 40 % of its group’s list"),
    (Promise("group", "every-term"), {"p": 0.25}, "at most 25 % of a group have any one interest"),
    (Promise("group", "belief"), {"p": 0.125}, "by at most 12.5 percentage points"),
    (Promise("person", "combinations"), {"k": 5, "m": 2}, "any 2 interests of a row, or fewer"),
    (Promise("group", "vocabulary"), {"k": 3}, "words of at least 3 vocabularies"),
    (Promise("group", "differential"), {"epsilon": 2.0, "delta": 1e-6}, "e^2.0 times"),
    (Promise("group", "nothing"), {}, "promises nothing"),
]
NO_GAMES = [
    (Promise("query", "query"), "no attack here reads queries"),
    (Promise("person", "nothing"), "there is nothing to guess"),
    (Promise("group", "vocabulary", words_above=True), "stand for others"),
]


@pytest.mark.parametrize(("promise", "given", "words"), PROMISES)
def test_each_promise_is_a_sentence(promise: Promise, given: dict[str, object], words: str) -> None:
    release = replace(RELEASES["average"], promise=promise, parameters=given)
    assert words in limit(release)
    assert why_not(release) == ""


@pytest.mark.parametrize(("promise", "words"), NO_GAMES)
def test_rows_without_a_game_say_why(promise: Promise, words: str) -> None:
    assert words in why_not(replace(RELEASES["average"], promise=promise))
