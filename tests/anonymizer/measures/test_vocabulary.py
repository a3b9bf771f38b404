"""bLM and its companions of the paper's running example, by slots written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from anonymizer.measures import MEASURES
from anonymizer.measures.belief import infer
from anonymizer.measures.facts import facts
from anonymizer.measures.patterns import patterns_of, retrieved
from anonymizer.measures.vocabulary import occurrences, vocabulary
from anonymizer.model import Profiles, Release, Slot
from anonymizer.promise import UNKNOWN, Promise
from anonymizer.similarity.term_distances import term_distances
from anonymizer.terms.taxonomy import noun_taxonomy, taxonomy_of
from anonymizer.terms.wordnet import WordNet

from ..small_vocabulary import EXAMPLE, TAXONOMY

PROFILES = Profiles.from_rows(EXAMPLE)
VOCABULARY = Promise("group", "vocabulary")


def made(
    slots: Sequence[tuple[str, str, str]], row_of: Mapping[str, str], **parameters: object
) -> Release:
    """Return a release of `slots`: row, term, and user:term of each occurrence."""
    names = sorted({*row_of.values()})
    every = [
        Slot(names.index(row), term, tuple((one[:2], one[3:]) for one in text.split()))
        for row, term, text in slots
    ]
    published: dict[str, dict[str, float]] = {name: {} for name in names}
    for slot in every:
        row = published[names[slot.row]]
        row[slot.term] = row.get(slot.term, 0) + 1
    given = {"taxonomy": "given", "senses": "first", **parameters}
    return Release(
        Profiles.from_rows(published),
        tuple(row_of),
        np.array([names.index(row) for row in row_of.values()]),
        "by hand",
        given,
        {"users_left_out": len(PROFILES) - len(row_of)},
        promise=VOCABULARY,
        slots=tuple(every),
        taxonomy=tuple(TAXONOMY),
    )


SSC = made(
    [
        ("g1", "Jackets", "t1:Jackets t2:Jackets t3:Jackets"),
        ("g1", "Shoes", "t1:Boots t2:Shoes t3:Shoes"),
        ("g1", "Vino", "t1:Wine t2:Vino t3:Vino"),
        ("g1", "Wine", "t1:Wine t2:Vino t3:Wine"),
        ("g2", "Pure-milk", "t4:Pure-milk t5:Pure-milk"),
        ("g2", "Raw-milk", "t4:Raw-milk t5:Pure-milk"),
        ("g2", "Raw-milk", "t4:Raw-milk t5:Raw-milk"),
    ],
    {"t1": "g1", "t2": "g1", "t3": "g1", "t4": "g2", "t5": "g2"},
    eps=4.0,
    omega=None,
)
ROWS_OF_LG = {"t1": "g1", "t2": "g2", "t3": "g2", "t4": "g1", "t5": "g2"}
LG_BAG = made(
    [
        ("g1", "Goods", "t1:Boots t4:Pure-milk"),
        ("g1", "Goods", "t1:Jackets t4:Raw-milk"),
        ("g1", "Goods", "t1:Wine t4:Raw-milk"),
        ("g1", "Goods", "t1:Wine t4:Vino"),
        ("g2", "Groceries", "t2:Vino t3:Raw-milk t5:Pure-milk"),
        ("g2", "Groceries", "t2:Vino t3:Vino t5:Pure-milk"),
        ("g2", "Wear", "t2:Jackets t3:Jackets t5:Jackets"),
        ("g2", "Wear", "t2:Shoes t3:Shoes t5:Pants"),
    ],
    ROWS_OF_LG,
    bag="true",
)
LG = made(
    [
        (
            "g1",
            "Goods",
            "t1:Boots t1:Jackets t1:Wine t1:Wine t4:Pure-milk t4:Raw-milk t4:Raw-milk t4:Vino",
        ),
        (
            "g2",
            "Groceries",
            "t2:Vino t2:Vino t3:Raw-milk t3:Vino t3:Wine t5:Pure-milk t5:Pure-milk t5:Raw-milk",
        ),
        ("g2", "Wear", "t2:Jackets t2:Shoes t3:Jackets t3:Shoes t5:Jackets t5:Pants"),
    ],
    ROWS_OF_LG,
    bag="false",
)


@pytest.mark.parametrize(
    ("release", "loss", "kept", "replaced"),
    [(SSC, 0.253247, 18, 4), (LG_BAG, 0.545455, 20, 20), (LG, 0.688312, 8, 8)],
)
def test_running_example(release: Release, loss: float, kept: int, replaced: int) -> None:
    assert occurrences(PROFILES, release) == (22, kept, replaced)
    values = {row.name: row.value for row in vocabulary(PROFILES, release)}
    assert values["bLM"] == pytest.approx(loss, abs=5e-7)
    assert values["replaced share"] == replaced / kept
    assert values["suppressed occurrences"] == 22 - kept
    assert values["users left empty"] == 0


def test_users_without_a_row_are_left_empty_and_lose_all() -> None:
    slots = [("g1", "Raw-milk", "t4:Raw-milk t5:Raw-milk")]
    release = made(slots, {"t4": "g1", "t5": "g1"}, eps=0.0)
    values = {row.name: row.value for row in vocabulary(PROFILES, release)}
    assert values["users left empty"] == 3
    assert values["bLM"] == 20 / 22


def test_bags_replace_nothing_and_have_no_patterns() -> None:
    slots = [("g1", "Vino|Wine", "t1:Wine t2:Vino t3:Wine")]
    bags = made(slots, {"t1": "g1", "t2": "g1", "t3": "g1"}, typical="bags", eps=4.0)
    values = {row.name: row.value for row in vocabulary(PROFILES, bags)}
    assert values["replaced share"] == 0
    assert "Recall" not in values
    assert "sDist" not in values


def test_no_count_of_suppressed_terms_is_below_zero() -> None:
    """A row of bags may have more terms than its members; suppressed is what it lacks of theirs."""
    world = Profiles.from_rows(
        {"u1": {"Wine": 2, "Vino": 1}, "u2": {"Wine": 1, "Vino": 2, "Raw-milk": 1}}
    )
    slots = [
        ("g1", "Vino", "u1:Vino u2:Vino"),
        ("g1", "Vino|Wine", "u1:Wine u2:Vino"),
        ("g1", "Wine", "u1:Wine u2:Wine"),
    ]
    stated = facts(world, made(slots, {"u1": "g1", "u2": "g1"}, typical="bags", eps=4.0))
    counts = [stated[f"terms_{what}"] for what in ("in_groups", "released", "suppressed")]
    assert counts == [3, 3, 1]


def test_recall_and_distance_by_hand() -> None:
    """Patterns of 2 terms or more, by support: see the comments; omega is 4."""
    world = Profiles.from_rows({"u1": {"Wine": 1, "Raw-milk": 1}, "u2": {"Wine": 1, "Raw-milk": 1}})
    same = made([("g1", "Wine", "t1:Wine t2:Wine")], {"t1": "g1", "t2": "g1"}, eps=4.0)
    taxonomy = taxonomy_of(iter(TAXONOMY))
    # {Raw-milk, Wine} against {Wine}: one of two terms is there, and the other costs 4.
    assert retrieved(patterns_of(world, 1), same, taxonomy, 1) == (0.5, 2.0)
    # No row has two terms: both cost 4.
    assert retrieved(patterns_of(world, 2), same, taxonomy, 2) == (0.0, 4.0)
    vino = made([("g1", "Vino", "t1:Wine t2:Vino")], {"t1": "g1", "t2": "g1"}, eps=4.0)
    # Wine is 2 from Vino, within eps, and Raw-milk costs 4. With eps 0 all costs 1: 3 terms of 2.
    assert retrieved(patterns_of(world, 1), vino, taxonomy, 1) == (0.0, 3.0)
    assert retrieved(patterns_of(world, 1), vino, taxonomy, 1, eps=0.0) == (0.0, 1.5)
    assert retrieved(patterns_of(world, 1), vino, taxonomy, 1, eps=2.0) == (0.0, 2.0)


def test_other_releases_have_none_of_this() -> None:
    rows, row_of = Profiles.from_rows({"g1": {"Wine": 1}}), np.zeros(5, np.int64)
    assert (
        vocabulary(PROFILES, Release(rows, PROFILES.users, row_of, "x", {}, promise=UNKNOWN)) == []
    )


@pytest.mark.parametrize("release", [SSC, LG_BAG, LG])
def test_every_measure_takes_rows_of_terms_that_nobody_has(release: Release) -> None:
    rows = [row for measure in MEASURES.values() for row in measure(PROFILES, release)]
    assert all(np.isfinite(row.value) for row in rows)
    values = {row.name: row.value for row in rows}
    if release is SSC:
        # g0001 publishes Jackets, which all three have; 4 of 5 have it.
        assert facts(PROFILES, release)["worst_linkability"] == 1
        assert values["share of distinct terms kept"] == 6 / 8
    else:
        assert facts(PROFILES, release)["released_linkability"] == 0
        assert values["change of belief, largest"] == pytest.approx(0)


def test_what_a_row_lacks_says_nothing_of_it() -> None:
    """u3 has no row. The row lacks a and c, which 1 of 3 has, and has b, which both have."""
    world = Profiles.from_rows({"u1": {"a": 1, "b": 1}, "u2": {"b": 1, "c": 1}, "u3": {"b": 1}})
    release = Release(
        Profiles.from_rows({"g1": {"b": 1}}), ("u1", "u2"), np.zeros(2, np.int64), "by hand", {},
        {"users_left_out": 1}, promise=VOCABULARY,
    )  # fmt: skip
    columns, posteriors = infer(world, release)
    assert columns.users == 3
    assert posteriors.standing.tolist() == [1]
    assert posteriors.lacking[[0, 2], 0] == pytest.approx(1 / 3)


def test_a_bag_tells_of_each_of_its_terms() -> None:
    slots = [("g1", "Vino|Wine", "t1:Wine t2:Vino t3:Wine")]
    release = made(slots, {"t1": "g1", "t2": "g1", "t3": "g1"}, typical="bags", eps=4.0)
    columns, posteriors = infer(PROFILES, release)
    assert [PROFILES.terms[term] for term in columns.term] == ["Vino", "Wine"]
    assert posteriors.standing.tolist() == [2 / 3, 2 / 3]


def test_distances_are_those_by_which_terms_match(wordnet: WordNet) -> None:
    """Of nouns of WordNet, as the method finds them by bounded walks: two codes, one distance."""
    rng = np.random.default_rng(0)
    taxonomy = noun_taxonomy(wordnet)
    nouns = [term for term in wordnet.terms if taxonomy.nodes_of(term)]
    names = sorted({*rng.choice(nouns, 40).tolist(), "wine", "coffee", "tea", "dog", "cat", "car"})
    near = term_distances(names, taxonomy, 8, every_sense=False)
    close = 0
    for one, term in enumerate(names):
        rows = Profiles.from_rows({"g1": {term: 1}})
        release = Release(
            rows, ("u1",), np.zeros(1, np.int64), "by hand", {"eps": 8.0}, promise=VOCABULARY
        )
        for other, before in enumerate(names):
            steps = near.between(one, other)
            close += steps > 0
            # Unmatched terms cost omega, here 8, each.
            assert retrieved([(before,)], release, taxonomy, 1)[1] == (16 if steps < 0 else steps)
    assert close > 20
