"""People and questions: who is taken, what is held out, and in what order people are numbered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.marketing.table import MarketingTable
from anonymizer.model import QueryLog
from anonymizer.terms.analysis import WordAnalysis
from anonymizer.terms.counting import TermCounter
from index.model import Pool
from search_app.errors import UsageError
from search_app.experiments.data import (
    Data,
    Questions,
    draw_questions,
    drop_robots,
    no_questions,
    people_and_queries,
    table_for,
)
from search_app.experiments.design import SESSIONS, WEIGHTS, ExperimentInputs, Unit

DAY = 86_400
LETTERS = "abcdefghij"
INPUTS = ExperimentInputs(size=3, users=5, test_share=0.3, queries_per_user=2, least_hits=4)


def word(person: int, day: int) -> str:
    return f"q{LETTERS[person]}{LETTERS[day]}"


def log_of(people: int = 6) -> QueryLog:
    """Let each person ask one query of one word on each of ten days; the first asks one again."""
    asked = [
        (f"needle-{person}", word(person, day), day * DAY + person, 0)
        for day in range(10)
        for person in range(people)
    ]
    return QueryLog.from_events([*asked, ("needle-0", word(0, 2), 20 * DAY, 0)])


def taken(
    inputs: ExperimentInputs, log: QueryLog | None = None
) -> tuple[list[str], set[str], set[str]]:
    """Return people, the words of their profiles and the queries held out."""
    made, held_out = people_and_queries(
        log or log_of(), TermCounter(WordAnalysis()), inputs, ["binary", "recency"]
    )
    asked = {held_out.text(row) for row in range(len(held_out))}
    return list(made["binary"].users), set(made["binary"].terms), asked


def test_the_last_queries_by_first_asking_are_held_out_and_no_query_is_both() -> None:
    users, terms, asked = taken(replace(INPUTS, size=None, users=None))
    assert users == [f"needle-{person}" for person in range(6)]
    # 30 % of ten: each one's last three; what the first asks again was first asked on day 2
    assert asked == {word(person, day) for person in range(6) for day in (7, 8, 9)}
    assert terms == {word(person, day) for person in range(6) for day in range(7)}


def test_no_more_people_are_taken_than_wanted_and_fewer_if_there_are_no_more() -> None:
    for users, expected in ((5, 5), (6, 6), (7, 6), (720, 6), (None, 6)):
        found, terms, _ = taken(replace(INPUTS, users=users))
        assert found == [f"needle-{person}" for person in range(expected)]
        assert len(terms) == 3 * expected


def test_profiles_of_all_weights_are_of_the_same_people() -> None:
    made, _ = people_and_queries(log_of(), TermCounter(WordAnalysis()), INPUTS, WEIGHTS)
    assert list(made) == list(WEIGHTS)
    assert {profiles.users for profiles in made.values()} == {made["binary"].users}


def test_sessions_are_of_the_same_people_whole_and_without_held_out_queries() -> None:
    """Each day is a session, and the last three days are held out; size is of people alone."""
    counter = TermCounter(WordAnalysis())
    made, _ = people_and_queries(log_of(), counter, INPUTS, ["binary", SESSIONS])
    sessions = made[SESSIONS]
    assert {name.rpartition("#")[0] for name in sessions.users} == {*made["binary"].users}
    assert len(sessions) == 5 * 7 + 1  # the first person asks once more
    assert set(sessions.sizes.tolist()) == {1}
    assert set(sessions.terms) == {word(person, day) for person in range(5) for day in range(7)}


class Searched:
    """Finds as many documents for a query as is said, and remembers what was asked."""

    def __init__(self, size: int, **unusual: int) -> None:
        self.size, self.unusual, self.asked, self.most = size, unusual, list[str](), 0

    def __call__(self, queries: Sequence[str], most: int) -> Iterator[Pool]:
        self.most = most
        for query in queries:
            self.asked.append(query)
            size = min(self.unusual.get(query, self.size), most)
            yield Pool(np.arange(size) + 10 * len(self.asked), np.zeros(size, dtype=np.float32))


def drawn(search: Searched, inputs: ExperimentInputs = INPUTS, depth: int = 5) -> Questions:
    made, held_out = people_and_queries(log_of(), TermCounter(WordAnalysis()), inputs, ["binary"])
    return draw_questions(held_out, made["binary"].users, search, inputs, {depth})


def test_each_person_asks_as_many_as_wanted_of_those_that_find_enough() -> None:
    # all but one of the third person's queries find 3 documents, which is too few
    poor = {word(2, day): 3 for day in (7, 8)}
    search = Searched(5, **poor)
    found = drawn(search)
    assert len(search.asked) == 11  # two of each, and one more of the third person
    assert np.bincount(found.user).tolist() == [2, 2, 1, 2, 2]
    assert found.hits.tolist() == [5] * 9
    assert found.pools.shape == (9, 5)


def test_enough_is_found_however_small_the_pools_are() -> None:
    search = Searched(50)
    found = drawn(search, depth=2)
    assert search.most == 4  # least_hits: with 2 nobody could tell
    assert found.hits.tolist() == [2] * 10
    with pytest.raises(UsageError, match="none of 15 held-out queries finds 51 documents; lower"):
        drawn(Searched(50), replace(INPUTS, least_hits=51), depth=2)


def test_a_pool_is_cut_to_a_size_that_was_asked_for_lest_its_size_tells_the_query() -> None:
    made, held_out = people_and_queries(log_of(), TermCounter(WordAnalysis()), INPUTS, ["binary"])
    several = {word(person, day): 4 + person + day for person in range(5) for day in range(10)}
    found = draw_questions(
        held_out, made["binary"].users, Searched(5, **several), INPUTS, {7, 12, 40}
    )
    told = [several[held_out.text(row)] for row in range(len(held_out))]
    assert set(found.hits.tolist()) <= {4, 7, 12}
    assert len(set(told)) > 3


def test_numbers_of_people_are_seeded_by_the_log_itself() -> None:
    ours, theirs = log_of(), log_of()
    named = replace(theirs, users=tuple(f"{user}!" for user in theirs.users))
    numbered = []
    for log in (ours, named):
        made, held_out = people_and_queries(log, TermCounter(WordAnalysis()), INPUTS, ["binary"])
        asked = draw_questions(held_out, made["binary"].users, Searched(5), INPUTS, {5})
        numbered.append(asked.user.tolist())
    assert numbered[0] != numbered[1]  # the public seed alone doesn't tell them


def test_people_are_numbered_at_random_yet_always_alike() -> None:
    found, again = drawn(Searched(5)), drawn(Searched(5))
    assert found.person.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert np.array_equal(found.user, again.user)
    assert np.array_equal(found.pools, again.pools)
    orders = {tuple(drawn(Searched(5), replace(INPUTS, seed=seed)).user) for seed in range(6)}
    assert len(orders) > 4
    assert (0, 0, 1, 1, 2, 2, 3, 3, 4, 4) not in orders


def test_the_digest_tells_other_profiles_people_and_pools() -> None:
    def digest(inputs: ExperimentInputs = INPUTS, size: int = 5) -> str:
        made, _ = people_and_queries(log_of(), TermCounter(WordAnalysis()), inputs, ["binary"])
        return Data(made, drawn(Searched(size), inputs)).digest()

    seeded = replace(INPUTS, seed=1)
    assert digest() == digest()
    assert len({digest(), digest(seeded), digest(replace(INPUTS, size=2)), digest(size=4)}) == 4


def test_who_has_too_long_a_session_is_left_out_and_counted() -> None:
    # the first person asks four queries in a minute, all others one a day
    busy = [
        (f"needle-{person}", word(person, day), day * DAY, 0) for person in (1, 2) for day in (0, 1)
    ]
    log = QueryLog.from_events([*[("needle-0", word(0, n), n * 20, 0) for n in range(4)], *busy])
    for robots, users, dropped in ((None, 3, 0), (4, 3, 0), (3, 2, 1)):
        rest, count = drop_robots(log, replace(INPUTS, robots=robots))
        assert (len(rest.users), count) == (users, dropped)
    with pytest.raises(UsageError, match="robots=1 leaves nobody; raise it"):
        drop_robots(
            QueryLog.from_events([("u", "a", 0, 0), ("u", "b", 1, 0)]), ExperimentInputs(robots=1)
        )


def unit(method: str) -> Unit:
    return Unit("u001", "one", method, {}, "binary", "tfidf", 0, ())


def test_one_table_is_drawn_by_the_seed_if_a_method_values_terms() -> None:
    made, _ = people_and_queries(log_of(), TermCounter(WordAnalysis()), INPUTS, ["binary", "tf"])
    for units in ([unit("")], [unit("p-linkability")]):
        assert table_for(units, made, None, INPUTS) is None
    units = [unit("p-linkability"), unit("km-anonymity")]
    table = table_for(units, made, None, INPUTS)
    assert table is not None
    assert table.synthetic
    assert set(table.terms) <= set(made["tf"].terms)
    again, other = (
        table_for(units, made, None, replace(INPUTS, seed=seed)) for seed in (INPUTS.seed, 1)
    )
    assert (again is not None, other is not None) == (True, True)
    assert Data(made, no_questions(), table).digest() == Data(made, no_questions(), again).digest()
    assert Data(made, no_questions(), table).digest() != Data(made, no_questions(), other).digest()
    assert Data(made, no_questions(), table).digest() != Data(made, no_questions()).digest()


def test_a_table_that_is_given_is_the_one_of_all() -> None:
    made, _ = people_and_queries(log_of(), TermCounter(WordAnalysis()), INPUTS, ["binary"])
    known, strange = (
        MarketingTable((term,), np.ones(1), np.ones(1), np.ones(1), synthetic=False)
        for term in (made["binary"].terms[0], "tea")
    )
    for method in ("", "km-anonymity"):
        assert table_for([unit(method)], made, known, INPUTS) is known
        with pytest.raises(BadInput, match="knows none of the profiles' terms"):
            table_for([unit(method)], made, strange, INPUTS)


def test_where_nobody_asks_there_are_no_people_and_no_pools() -> None:
    none = no_questions()
    assert (len(none), none.pools.shape, none.hits.size) == (0, (0, 0), 0)
