"""vocabulary-k and generalization end to end: the example of the paper, promises, refusals."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.vocabulary import own_share
from anonymizer.methods import anonymize, idle_parameters
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.terms.taxonomy import taxonomy_of
from anonymizer.terms.wordnet import WordNet

from ..small_vocabulary import EXAMPLE, TAXONOMY
from ..vocabularies.test_annealing import drawn

METHODS = ("vocabulary-k", "generalization")
TREE = taxonomy_of(iter(TAXONOMY))
Rows = dict[str, dict[str, float]]


def made(rows: Rows, method: str = "vocabulary-k", **parameters: Any) -> Release:
    """Return the release of `rows` by the taxonomy of goods."""
    return anonymize(method, Inputs(Profiles.from_rows(rows), taxonomy=TREE), parameters)


def groups(release: Release) -> list[str]:
    """Return the members of each row as one text."""
    users, row = np.array(release.users), release.row_of_user
    return [" ".join(users[row == number]) for number in range(len(release.rows))]


def rows_of(release: Release) -> list[str]:
    """Return each row as terms with their multiplicities."""
    rows = map(release.rows.row, release.rows.users)
    return [" ".join(f"{term}:{times:g}" for term, times in row.items()) for row in rows]


def words(row: dict[str, float]) -> list[str]:
    return [term for term, times in row.items() for _ in range(int(times))]


@pytest.mark.parametrize("model", [1, 2])
@pytest.mark.parametrize(
    ("order", "typical", "people", "published"),
    [
        ("size", "majority", ["t1 t2 t3", "t4 t5"], ["Jackets:1 Shoes:1 Vino:1 Wine:1"]),
        ("size", "majority", ["t1 t2 t3", "t4 t5"], ["", "Pure-milk:1 Raw-milk:2"]),
        ("size", "generalize", ["t1 t2 t3", "t4 t5"], ["Alcohol:2 Footwear:1 Jackets:1"]),
        ("size", "bags", ["t1 t2 t3", "t4 t5"], ["Boots|Shoes:1 Jackets:1 Vino|Wine:2"]),
        ("input", "majority", ["t1 t2", "t3 t4 t5"], ["Boots:1 Jackets:1 Wine:2"]),
    ],
)
def test_the_running_example(
    order: str, typical: str, people: list[str], published: list[str], model: int
) -> None:
    release = made(EXAMPLE, k=2, eps=4, order=order, typical=typical, model=model)
    assert groups(release) == people
    for row, expected in zip(rows_of(release), published, strict=False):
        assert not expected or row == expected
    assert release.parameters["taxonomy"] == "given"
    assert release.taxonomy == tuple(TAXONOMY)


@pytest.mark.parametrize(
    ("bag", "published"),
    [("true", ["Goods:4", "Groceries:2 Wear:2"]), ("false", ["Goods:1", "Groceries:1 Wear:1"])],
)
def test_the_running_example_generalized(bag: str, published: list[str]) -> None:
    """The leftover t4 takes t1, the first of the largest set: the bag that section V-A prints."""
    release = made(EXAMPLE, "generalization", k=2, bag=bag)
    assert groups(release) == ["t1 t4", "t2 t3 t5"]
    assert rows_of(release) == published
    if bag == "false":
        goods = Counter(term for _, term in release.slots[0].occurrences)
        assert goods == Counter(t for user in ("t1", "t4") for t in words(EXAMPLE[user]))


def test_a_word_is_published_if_k_of_more_people_match_it() -> None:
    """c has no wine, d has nothing of the row, and nobody else has b's shoes."""
    rows = {
        "a": {"Wine": 2.0},
        "b": {"Vino": 1.0, "xyzzy": 1.0, "Shoes": 1.0},
        "c": {"xyzzy": 1.0},
        "d": {"plugh": 3.0},
    }
    release = made(rows, k=2, members=4, order="input")
    assert rows_of(release) == ["Wine:1 xyzzy:1"]
    assert groups(release) == ["a b c"]
    assert [slot.occurrences for slot in release.slots] == [
        (("a", "Wine"), ("b", "Vino")),
        (("c", "xyzzy"), ("b", "xyzzy")),  # c joined first
    ]
    assert own_share(release) == (1 / 2 + 1 + 1 / 2) / 3
    with pytest.raises(Unsatisfiable, match="no row would have a term"):
        made(rows, k=4)
    assert "model" in idle_parameters("vocabulary-k", {"members": 4, "k": 2, "model": 1})


@pytest.mark.parametrize(
    ("method", "more"), [("vocabulary-k", 0), ("vocabulary-k", 2), ("generalization", 0)]
)
def test_rows_keep_what_is_promised(method: str, more: int) -> None:
    """Rows of k people, whose weights are slots, which use no occurrence twice."""
    rng, rows_seen = np.random.default_rng(5), 0
    for _ in range(60):
        rows, k = drawn(rng), int(rng.integers(1, 5))
        try:
            release = made(rows, method, k=k, **({"members": k + more} if more else {}))
        except Unsatisfiable:
            continue
        rows_seen += len(release.rows)
        assert min(release.grouping.sizes) >= k
        assert set(release.users) <= set(rows)
        assert release.left_out == len(rows) - len(release.users)
        used = Counter(pair for slot in release.slots for pair in slot.occurrences)
        assert all(count <= rows[user][term] for (user, term), count in used.items())
        content = [sorted(release.rows.row(name).items()) for name in release.rows.users]
        assert content == sorted(content)  # in the order of making, numbers would tell of people
        weights = Counter((slot.row, slot.term) for slot in release.slots)
        for number, name in enumerate(release.rows.users):
            own = {term: n for (row, term), n in weights.items() if row == number}
            assert release.rows.row(name) == own
        for slot in release.slots:
            served = np.flatnonzero(release.row_of_user == slot.row)
            members = {release.users[user] for user in served.tolist()}
            standing = [user for user, _ in slot.occurrences]
            assert len({*standing}) == len(standing) >= k
            assert {*standing} <= members if more else {*standing} == members
        assert {*release.users} == {user for slot in release.slots for user, _ in slot.occurrences}
    assert rows_seen > 40


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"k": 0}, "k=0 must be at least 1|k=0 must be 1 or more"),
        ({"eps": -1.0}, "eps=-1.0 must be from 0"),
        ({"eps": math.nan}, "eps=nan must be from 0"),
        ({"eps": math.inf}, "eps=inf must be from 0"),
        ({"omega": -2.0}, "omega=-2.0 must be from 0"),
        ({"omega": math.nan}, "omega=nan must be from 0"),
        ({"omega": 0.0}, "omega=0.0 must be above 0"),
        ({"model": 3}, "model=3 must be from 1 to 2"),
        ({"matchings": 0}, "matchings=0 must be"),
        ({"members": 5}, "members=5 must be more than k=5, or off"),
        ({"members": 0}, "members=0 must be at least 2"),
        ({"taxonomy": "tree.tsv"}, None),
    ],
)
def test_wrong_options_are_refused(parameters: dict[str, Any], fault: str | None) -> None:
    if fault is None:  # a file that nobody read
        with pytest.raises(BadParameter, match="needs that file, and none was given"):
            anonymize("vocabulary-k", Inputs(Profiles.from_rows(EXAMPLE)), parameters)
        return
    with pytest.raises(BadParameter, match=fault):
        made(EXAMPLE, **parameters)


@pytest.mark.parametrize("method", METHODS)
def test_what_can_make_no_release_is_refused(method: str) -> None:
    with pytest.raises(Unsatisfiable, match="k=6 is more than the number of people, 5"):
        made(EXAMPLE, method, k=6)
    if method == "vocabulary-k":
        with pytest.raises(Unsatisfiable, match="members=6 is more than the number of people, 5"):
            made(EXAMPLE, method, k=2, members=6)
    with pytest.raises(BadParameter, match="--weights tf"):
        made({"a": {"Wine": 0.5}, "b": {"Wine": 1.0}}, method, k=1)
    with pytest.raises(Unsatisfiable, match="no row would have a term"):
        made({"a": {"xyzzy": 1.0}, "b": {"plugh": 1.0}}, method, k=2)
    sessions = {f"anna#{at}": {"Wine": 1.0} for at in range(1, 4)}
    with pytest.raises(Unsatisfiable, match="k=2 is more than the number of people, 1"):
        made(sessions, method, k=2)
    assert len(made(sessions, method, k=2, count="vocabularies").rows) == 1


def test_identical_words_only() -> None:
    """At eps=0 synonyms don't match, and a word that no taxonomy has matches itself."""
    rows = {"a": {"Wine": 2.0, "xyzzy": 1.0}, "b": {"Wine": 3.0, "xyzzy": 1.0, "Vino": 9.0}}
    assert rows_of(made(rows, k=2, eps=0)) == ["Wine:2 xyzzy:1"]
    assert "taxonomy" in idle_parameters("vocabulary-k", {"eps": 0, "taxonomy": "wordnet"})


def test_words_of_one_synset_match_and_are_two_terms(wordnet: WordNet) -> None:
    profiles = Profiles.from_rows({"a": {"car": 1.0}, "b": {"auto": 1.0}})
    for eps, left in ((0, None), (1, ["car:1"])):
        inputs = Inputs(profiles, wordnet=wordnet)
        if left is None:
            with pytest.raises(Unsatisfiable):
                anonymize("vocabulary-k", inputs, {"k": 2, "eps": eps})
            continue
        assert rows_of(anonymize("vocabulary-k", inputs, {"k": 2, "eps": eps})) == left


def test_a_term_that_occurs_often_makes_one_bag() -> None:
    """99 and 50 occurrences match 50 times; the rest is suppressed."""
    rows = {"a": {"Wine": 99.0}, "b": {"Vino": 50.0}, "c": {"Wine": 60.0}}
    assert rows_of(made(rows, k=3)) == ["Wine:50"]


def test_somebody_whose_cluster_shares_nothing_has_no_row() -> None:
    rows = {"a": {"Wine": 1.0}, "b": {"xyzzy": 1.0}, "c": {"Wine": 1.0}, "d": {"Shoes": 1.0}}
    release = made(rows, k=2, order="input")
    assert groups(release) == ["a c"]
    assert release.left_out == 2
