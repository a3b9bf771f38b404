"""The synthetic town: believable, reproducible, and with a truth that matches its log."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadParameter
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.wordnet import WordNet
from search_app.town import INTERESTS, Town, build_town, log_text, truth
from search_app.town.queries import misspell
from search_app.town.subjects import Library

SEED = 0  # the default of `veilsearch town`
SIZE = 150


class Line(NamedTuple):
    """One line of an AOL log."""

    user: str
    query: str
    time: datetime
    rank: int | None
    url: str


def parse(line: str) -> Line:
    user, query, time, rank, url = line.split("\t")
    return Line(user, query, datetime.fromisoformat(time), int(rank) if rank else None, url)


def build(wordnet: WordNet, seed: int = SEED, **chosen: int) -> Town:
    return build_town(wordnet, rng=np.random.default_rng(seed), **chosen)


@pytest.fixture(scope="session")
def town(wordnet: WordNet) -> Town:
    return build(wordnet)


@pytest.fixture(scope="session")
def lines(town: Town) -> list[Line]:
    return [parse(line) for line in town.lines]


@pytest.fixture(scope="session")
def analysis(wordnet: WordNet) -> Analysis:
    return Analysis(wordnet)


@pytest.fixture(scope="session")
def profiles(lines: list[Line], analysis: Analysis) -> dict[str, list[str]]:
    """Return everybody's most frequent terms; consecutive equal queries are one event."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for (user, query), _ in groupby(lines, key=lambda line: (line.user, line.query)):
        counts[user].update(analysis.terms(query))
    return {user: [term for term, _ in terms.most_common()] for user, terms in counts.items()}


def slips(word: str) -> set[str]:
    """Return a word with one inner letter dropped or doubled, or two neighbours swapped."""
    inner = range(1, len(word) - 1)
    dropped = {word[:at] + word[at + 1 :] for at in inner}
    doubled = {word[:at] + word[at] + word[at:] for at in inner}
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner}
    return (dropped | doubled | swapped) - {word}


def test_every_slip_of_a_word_occurs():
    rng = np.random.default_rng(0)
    # mcha moha | moccha mochha moocha | mcoha mohca mocah
    assert {misspell("mocha", rng) for _ in range(300)} == slips("mocha")


@given(st.integers(0, 2**32), st.lists(st.text("abc", min_size=1, max_size=8), min_size=1))
def test_a_misspelling_changes_one_long_word(seed: int, words: list[str]):
    text = misspell(" ".join(words), np.random.default_rng(seed)).split(" ")
    changed = [(old, new) for old, new in zip(words, text, strict=True) if old != new]
    assert len(changed) == (1 if any(len(word) >= 4 for word in words) else 0)
    assert all(len(old) >= 4 and new in slips(old) for old, new in changed)


SMALL_TOWN = """
import json, sys
from pathlib import Path
import numpy as np
from anonymizer.terms.wordnet import open_wordnet
from search_app.town import build_town, log_text, truth
town = build_town(
    open_wordnet(Path(sys.argv[1])), users=3, queries=40, rng=np.random.default_rng(7)
)
print(log_text(town), json.dumps(truth(town, 7)))
"""


def test_same_seed_same_bytes_whatever_the_hash_seed_and_another_gives_another_town(
    town: Town, wordnet: WordNet, wordnet_cache: Path
):
    first, again = (
        subprocess.run(
            [sys.executable, "-c", SMALL_TOWN, str(wordnet_cache)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    )
    assert first == again
    other = build(wordnet, 7, users=3, queries=40)
    assert first.startswith(log_text(other))
    assert not {person.user for person in other.people} <= {person.user for person in town.people}


def test_log_text_is_the_lines_below_aols_header(town: Town):
    header, *body = log_text(town).split("\n")
    assert header == "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    assert body == [*town.lines, ""]


def test_every_line_is_aol(lines: list[Line]):
    for line in lines:
        assert line.user.isdigit()
        assert len(line.user) == 7
        assert line.query == line.query.strip().lower() != ""
        assert datetime(2026, 3, 1) <= line.time < datetime(2026, 6, 1)
        assert (line.rank is None) == (line.url == "")
        assert line.rank is None or 1 <= line.rank <= 20
        assert line.url == "" or line.url.startswith("http://www.")
        assert line.url == "" or line.url.endswith(".example")


def test_several_clicks_repeat_the_line_with_other_results(lines: list[Line]):
    clicks = Counter((line.user, line.query, line.time) for line in lines)
    assert max(clicks.values()) > 1
    ranks = Counter(line[:4] for line in lines)
    assert max(ranks.values()) == 1


def test_queries_are_as_long_as_in_real_logs(lines: list[Line]):
    lengths = Counter(line.query.count(" ") + 1 for line in lines)
    assert max(lengths) <= 6
    assert 2 <= sum(n * times for n, times in lengths.items()) / len(lines) <= 3


def test_people_search_by_day_and_week(lines: list[Line]):
    hours = Counter(line.time.hour for line in lines)
    assert hours[20] > 3 * hours[4]
    days = Counter(line.time.date() for line in lines)
    assert len(days) == 31 + 30 + 31
    assert max(days.values()) < 2 * min(days.values())


def requests(lines: list[Line]) -> Iterator[Line]:
    """Return one line for each query at one time, whatever was clicked."""
    for _, group in groupby(lines, key=lambda line: line[:3]):
        yield next(group)


def test_shares_of_noise(town: Town, lines: list[Line]):
    shares = {name: count / town.counts["queries"] for name, count in town.counts.items()}
    assert shares["repeated"] == pytest.approx(0.06, abs=0.005)
    assert shares["next pages"] == pytest.approx(0.06, abs=0.005)
    empty = sum(line.query == "-" for line in requests(lines))
    assert empty / town.counts["queries"] == pytest.approx(0.005, abs=0.001)
    clicks = sum(line.rank is not None for line in lines)
    assert clicks == town.counts["clicks"]
    assert 0.4 < clicks / len(lines) < 0.7


def test_about_four_in_a_hundred_queries_are_misspelled(lines: list[Line], analysis: Analysis):
    events = list(requests(lines))
    words = Counter(word for line in events for word in line.query.split())
    usual = {word for word, times in words.items() if times >= 40 and len(word) >= 4}
    wrong = {slip for word in usual for slip in slips(word)} - usual
    wrong = {word for word in wrong if words[word] and not analysis.terms(word)}
    share = sum(any(word in wrong for word in line.query.split()) for line in events) / len(events)
    assert 0.02 < share < 0.05


def test_truth_matches_the_log(town: Town, lines: list[Line], wordnet: WordNet):
    known = truth(town, SEED)
    assert json.loads(json.dumps(known)) == known
    assert (known["format"], known["seed"]) == (1, SEED)
    assert known["counts"]["users"] == len(town.people) == 800
    assert known["counts"]["lines"] == len(lines)
    assert list(known["users"]) == list(dict.fromkeys(line.user for line in lines))
    asked = Counter(line.user for line in requests(lines))
    for user, person in known["users"].items():
        assert 2 <= len(person["interests"]) <= 5
        assert person["queries"] * 0.95 <= asked[user] <= person["queries"] * 1.25
        for interest in person["interests"]:
            assert user in known["interests"][interest["label"]]
            assert wordnet.number(interest["synset"]) >= 0
    assert sum(person["queries"] for person in known["users"].values()) == town.counts["queries"]


def test_everybody_has_a_name_and_number_of_their_own(town: Town):
    assert len({person.name for person in town.people}) == len(town.people)
    assert all(person.name.isalpha() and person.name.istitle() for person in town.people)
    numbers = [int(person.user) for person in town.people]
    assert min(b - a for a, b in pairwise(numbers)) >= 1
    assert max(b - a for a, b in pairwise(numbers)) > 1


def test_some_interests_are_shared_by_many_and_some_are_rare(town: Town):
    fans = Counter(label for person in town.people for label in person.interests)
    assert fans["coffee"] >= 60
    assert fans["programming"] >= 60
    assert sum(count <= 12 for count in fans.values()) >= 10


def test_history_is_long_tailed_around_its_mean(town: Town):
    queries = sorted(person.queries for person in town.people)
    assert np.mean(queries) == pytest.approx(250, rel=0.05)
    assert queries[0] == 0.88 * 250
    assert np.median(queries) < np.mean(queries)
    assert queries[-1] > 2 * 250


def test_a_coffee_lover_and_a_programmer_ask_for_java(
    town: Town, lines: list[Line], profiles: dict[str, list[str]]
):
    examples = truth(town, SEED)["examples"]
    people = {person.user: person for person in town.people}
    asked = {
        label: Counter(word for line in lines if line.user == user for word in line.query.split())
        for label, user in examples.items()
    }
    assert list(examples) == ["coffee", "programming"]
    assert people[examples["coffee"]].interests[0] == "coffee"
    assert people[examples["programming"]].interests[0] == "programming"
    assert "programming" not in people[examples["coffee"]].interests
    assert "coffee" not in people[examples["programming"]].interests
    assert asked["coffee"]["java"] >= 2
    assert asked["programming"]["java"] >= 2
    assert {"espresso", "mocha"} <= set(asked["coffee"])
    assert {"python", "compiler"} <= set(asked["programming"])
    assert all(len(profiles[user]) >= SIZE for user in examples.values())


def test_profiles_stay_full_when_the_last_fifth_of_the_queries_is_held_out(
    lines: list[Line], analysis: Analysis
):
    full = 0
    for _, own in groupby(lines, key=lambda line: line.user):
        queries = list(dict.fromkeys(line.query for line in own))
        kept = queries[: len(queries) * 4 // 5]
        full += len({term for query in kept for term in analysis.terms(query)}) >= SIZE
    assert full >= 720


def vocabulary(label: str, wordnet: WordNet, analysis: Analysis) -> set[str]:
    """Return the terms of an interest's trees: names and definitions."""
    interest = next(each for each in INTERESTS if each.label == label)
    trees = Library(wordnet).tree((interest.synset, *interest.more))
    texts = [" ".join([*wordnet.lemmas(at), wordnet.gloss(at)]) for at in trees]
    return {term for text in (*texts, *interest.words, label) for term in analysis.terms(text)}


def test_interests_outweigh_noise(
    town: Town, profiles: dict[str, list[str]], wordnet: WordNet, analysis: Analysis
):
    sample = town.people[:60]
    labels = sorted({label for person in sample for label in person.interests})
    words = {label: vocabulary(label, wordnet, analysis) for label in labels}
    own, other = [], []
    for person, stranger in zip(sample, sample[1:] + sample[:1], strict=True):
        terms = set(profiles[person.user][:SIZE])
        own.append(len(terms & set().union(*map(words.__getitem__, person.interests))) / SIZE)
        other.append(len(terms & set().union(*map(words.__getitem__, stranger.interests))) / SIZE)
    assert min(own) > 0.6
    assert np.mean(own) > 0.8
    assert np.mean(own) > 2 * np.mean(other)


def test_people_with_a_common_interest_are_three_times_as_alike(
    town: Town, profiles: dict[str, list[str]]
):
    column: dict[str, int] = {}
    rows = [
        [column.setdefault(t, len(column)) for t in terms[:SIZE]] for terms in profiles.values()
    ]
    held = np.zeros((len(rows), len(column)))
    for number, row in enumerate(rows):
        held[number, row] = 1 / math.sqrt(len(row))
    shared = [
        [not set(a.interests).isdisjoint(b.interests) for b in town.people] for a in town.people
    ]
    cosines, alike = held @ held.T, np.array(shared)
    others = ~np.eye(len(rows), dtype=bool)
    assert cosines[alike & others].mean() > 3 * cosines[~alike].mean()


def test_a_town_of_one_and_of_two(wordnet: WordNet):
    counted: list[int] = []
    rng = np.random.default_rng(0)
    town = build_town(wordnet, users=1, queries=1, rng=rng, progress=counted.append)
    (person,) = town.people
    assert counted == [1]
    assert {parse(line).user for line in town.lines} == {person.user}
    assert list(truth(town, 0)["users"]) == [person.user]
    town = build(wordnet, users=2, queries=5)  # the lecture's pair
    assert {person.interests[0] for person in town.people} == {"coffee", "programming"}
    assert set(truth(town, SEED)["examples"].values()) == {person.user for person in town.people}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"users": 0}, "users=0 must be a whole number from 1 to 100000"),
        ({"users": 100_001}, "users=100001 must be a whole number from 1 to 100000"),
        ({"queries": 0}, "queries=0 must be a whole number from 1 to 10000"),
        ({"queries": -5}, "queries=-5 must be a whole number from 1 to 10000"),
    ],
)
def test_impossible_towns_are_refused(wordnet: WordNet, chosen: dict[str, int], message: str):
    with pytest.raises(BadParameter) as refusal:
        build(wordnet, **chosen)
    assert str(refusal.value) == message
