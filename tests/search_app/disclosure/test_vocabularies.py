"""What pages and verbs say of rows that stand for vocabularies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Profiles, Release
from anonymizer.promise import Promise
from search_app.disclosure.kinds import kind_of, name_of
from search_app.disclosure.vocabularies import Vocabularies
from search_app.errors import UsageError
from search_app.search.smoothing import refuse_unlike_shares

PEOPLE = Profiles.from_rows(
    {"ann": {"wine": 2.0, "shoe": 1.0}, "bob": {"vino": 1.0, "wine": 1.0}, "cat": {"piano": 1.0}}
)
FACTS = {
    "users": 2,
    "groups": 1,
    "single_person_rows": 0,
    "smallest_group": 2,
    "mean_group": 2.0,
    "largest_group": 2,
    "worst_linkability": 1.0,
    "released_linkability": 1.0,
    "average_linkability": 0.6,
    "change_of_belief": 0.5,
    "kept_occurrences": 4,
    "replaced_occurrences": 1,
    "suppressed_occurrences": 2,
    "users_left_out": 1,
}


def vocabularies(facts: dict[str, Any] = FACTS, **parameters: Any) -> Vocabularies:
    given = {"k": 2, "eps": 4.0, "typical": "majority", "count": "people", **parameters}
    rows = Profiles.from_rows({"g0001": {"wine": 2.0}})
    promise = Promise("group", "vocabulary")
    users, row = ("ann", "bob"), np.zeros(2, dtype=np.int64)
    release = Release(rows, users, row, "vocabulary-k", given, facts, promise=promise)
    return Vocabularies(release, PEOPLE)


def test_they_have_a_kind_and_a_name_of_their_own() -> None:
    release = vocabularies().release
    assert kind_of(release.promise) is Vocabularies
    assert kind_of(Promise("group", "average")) is not Vocabularies
    assert name_of(release) == "vocabulary-k k=2 eps=4.0"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "maybe a rare one of a single member; if all members used it, the row tells this"),
        ({"typical": "bags"}, "lists the very words that its members used, without saying who"),
        ({"typical": "generalize"}, "tells of everybody in it that they used such a word; if all"),
        ({"count": "vocabularies"}, "Sessions are counted here, and several may be of one person"),
    ],
)
def test_all_that_shows_a_row_says_what_its_words_tell(given: dict[str, Any], told: str) -> None:
    shown = vocabularies(**given)
    view = shown.population.view("ann", {})  # type: ignore[union-attr]
    for facts in (shown.facts(), shown.ranking_facts(2), shown.row_facts(0)):
        (fact,) = (fact for fact in facts if "behind each word of a row" in fact.name)
        assert told in fact.meaning
        assert fact.value == "2 or more"
    assert sum(told in fact.meaning for fact in shown.own_facts(view, ())) == 1
    tells = {**dict(shown.explained("").points)}
    assert told in " ".join(map(str, tells.values()))


def test_where_some_need_not_match_the_readers_own_share_is_shown() -> None:
    shown = vocabularies({**FACTS, "own_share": 0.8333}, members=3)
    price = (
        "need not stand for everybody in the row: on average 83.3 % of a row is its reader’s own"
    )
    for facts in (shown.facts(), shown.ranking_facts(2), shown.row_facts(0)):
        (fact,) = (fact for fact in facts if "behind each word of a row" in fact.name)
        assert price in fact.meaning
        assert "for one word of at least this number of them. A word" in fact.meaning
    explained = shown.explained("")
    assert "the words for which at least 2 members have a match" in explained.lead
    assert price in str(explained.points)
    assert price in shown.headline().lead
    made = {"facts": shown.release.facts, "parameters": shown.release.parameters, "release": "r"}
    lines = [" ".join(line.split()) for line in shown.lines(made)]
    assert "share of a row that is its reader's own 0.833" in lines
    assert "A word need not stand for everybody in the row. A word" in vocabularies(members=3).tells


def test_without_a_typical_term_a_word_is_above_everybodys() -> None:
    shown = vocabularies()
    parameters = {"k": 2, "bag": "true"}
    shown = Vocabularies(replace(shown.release, parameters=parameters), PEOPLE)
    assert "or is above one, so the row tells of everybody in it" in shown.tells


def test_no_average_is_shown_as_none_is_promised() -> None:
    shown = vocabularies()
    view = shown.population.view("ann", {})  # type: ignore[union-attr]
    named = [*shown.facts(), *shown.row_facts(0), *shown.own_facts(view, ())]
    assert not [fact.name for fact in named if "on average" in fact.name]
    assert "average" not in [column.name for column in shown.columns]
    assert "Nothing limits this" in str(shown.facts_about(view))


def test_facts_count_uses_of_words() -> None:
    told = {fact.name: fact for fact in vocabularies().facts()}
    assert told["Uses of words kept"].value == "66.7 %"
    assert (
        "4 of 6 uses of a word have a match of all members of their group, and 25 % of these"
        in (told["Uses of words kept"].meaning)
    )
    assert told["People without a row"].value == "1"
    assert told["Linked to an interest, at worst"].value == "1.00"


def test_who_has_no_row_is_told_so() -> None:
    shown = vocabularies()
    view = shown.population.view("cat", {})  # type: ignore[union-attr]
    (first, *_) = shown.own_facts(view, ())
    assert (first.value, view.group) == ("none", None)
    assert "Someone who has no match at all has no row, as 1 person here has none" in str(
        shown.explained("").points
    )
    closed = Vocabularies(shown.release, PEOPLE, closed=True)
    assert "1 person" not in str(closed.explained("").points)


def test_the_command_line_says_what_is_kept() -> None:
    shown = vocabularies()
    made = {"facts": FACTS, "parameters": shown.release.parameters, "release": "w/release"}
    assert [" ".join(line.split()) for line in shown.lines(made)] == [
        "2 users in 1 group of 2: w/release",
        "promised: people behind each occurrence k=2",
        "occurrences kept 0.667",
        "of these, published as another word 0.250",
        "users without a row: nothing matched 1",
        "share of members, worst released term 1.000",
    ]
    assert shown.warning(made) == ""


def test_their_weights_are_no_shares_even_if_all_are_one() -> None:
    release = vocabularies().release
    rows = release.rows.weights.sign()
    with pytest.raises(UsageError, match="weights that count occurrences are no shares"):
        refuse_unlike_shares(release.promise, release.parameters, rows)
