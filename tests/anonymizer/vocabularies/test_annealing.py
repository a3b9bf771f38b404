"""Exchanges between clusters against naive twins: what slots save, and the best of all pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from anonymizer.errors import Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.terms.taxonomy import taxonomy_of
from anonymizer.verification.judge import verify
from anonymizer.vocabularies import annealing

from ..small_release import Rows
from ..small_vocabulary import TAXONOMY, distance

TREE = dict(TAXONOMY)
EPS = OMEGA = 4


def made(rows: Rows, anneal: str, **parameters: Any) -> Release:
    inputs = Inputs(Profiles.from_rows(rows), seed=3, taxonomy=taxonomy_of(iter(TAXONOMY)))
    return anonymize("vocabulary-k", inputs, {"eps": EPS, "anneal": anneal, **parameters})


def drawn(rng: np.random.Generator, *, sessions: bool = False) -> Rows:
    """Draw vocabularies over nodes of the taxonomy and two words that it lacks."""
    nodes = [*dict.fromkeys(name for pair in TAXONOMY for name in pair), "xyzzy", "plugh"]
    number = int(rng.integers(4, 13))
    return {
        f"u{at // 2}#{at % 2 + 1}" if sessions else f"u{at:02d}": {
            str(term): float(rng.integers(1, 4))
            for term in rng.choice(nodes, rng.integers(1, 6), replace=False)
        }
        for at in range(number)
    }


def worth(release: Release, members: int | None = None) -> float:
    """Return, from its slots, what the clusters of a release are worth; all have `members`."""
    total = 0.0
    for slot in release.slots:
        terms = [term for _, term in slot.occurrences]
        pairs = sum(
            2 * OMEGA - distance(one, other, TREE)
            for at, one in enumerate(terms)
            for other in terms[:at]
        )
        total += pairs / ((members or len(terms)) - 1)
    return total


def groups(release: Release) -> set[frozenset[str]]:
    users = np.array(release.users)
    return {
        frozenset(users[release.row_of_user == row].tolist()) for row in range(len(release.rows))
    }


def test_two_pairs_that_match_better_after_an_exchange() -> None:
    """SSC gives a its nearest, b, and leaves c and d with nothing."""
    rows = {
        "a": {"p": 1.0, "q": 1.0},
        "b": {"p": 1.0, "q": 1.0, "r": 3.0},
        "c": {"p": 1.0, "s": 4.0},
        "d": {"r": 3.0},
    }
    assert groups(made(rows, "false", k=2, order="input")) == {frozenset("ab")}
    release = made(rows, "true", k=2, order="input")
    assert groups(release) == {frozenset("ac"), frozenset("bd")}
    rows_of = [release.rows.row(name) for name in release.rows.users]
    assert {"p": 1.0} in rows_of and {"r": 3.0} in rows_of


@pytest.mark.parametrize("at_once", [1_000, 8])
def test_clusters_are_never_worth_less_and_the_judge_accepts_them(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annealing, "_AT_ONCE", at_once)
    rng, better = np.random.default_rng(4), 0
    for number in range(60):
        sessions = number % 4 == 0
        rows, k = drawn(rng, sessions=sessions), int(rng.integers(2, 5))
        model = int(rng.integers(1, 3))
        try:
            before = made(rows, "false", k=k, model=model)
        except Unsatisfiable:
            continue
        after = made(rows, "true", k=k, model=model)
        assert worth(after) >= worth(before) * (1 - 1e-9)
        better += worth(after) > worth(before)
        profiles, folder = tmp_path / f"p{number}.jsonl", tmp_path / f"r{number}"
        people = Profiles.from_rows(rows)
        write_profiles(people, profiles)
        choices = {"granularity": "session"} if sessions else {}
        stated = replace(after, facts=facts(people, after))
        write_release(stated, folder, seed=3, input_hash=fingerprint(people), profiles=choices)
        assert verify(folder, profiles).breaches == []
        assert made(rows, "true", k=k, model=model).slots == after.slots
    assert better > 5


def test_clusters_of_more_than_k_are_never_worth_less(tmp_path: Path) -> None:
    rng, better = np.random.default_rng(6), 0
    for number in range(40):
        rows, k = drawn(rng), int(rng.integers(1, 3))
        m = k + int(rng.integers(1, 3))
        rows = dict([*rows.items()][: len(rows) // m * m])  # else some clusters have more than m
        try:
            before = made(rows, "false", k=k, members=m)
        except Unsatisfiable:
            continue
        after = made(rows, "true", k=k, members=m)
        assert worth(after, m) >= worth(before, m) * (1 - 1e-9)
        better += worth(after, m) > worth(before, m)
        profiles, folder = tmp_path / f"p{number}.jsonl", tmp_path / f"r{number}"
        people = Profiles.from_rows(rows)
        write_profiles(people, profiles)
        stated = replace(after, facts=facts(people, after))
        write_release(stated, folder, seed=3, input_hash=fingerprint(people), profiles={})
        assert verify(folder, profiles).breaches == []
    assert better > 5


def saved(one: dict[str, float], other: dict[str, float]) -> float:
    """Return what the best matching of two vocabularies saves."""
    mine, theirs = ([t for t, n in row.items() for _ in range(int(n))] for row in (one, other))
    far = np.array([[distance(a, b, TREE) for b in theirs] for a in mine])
    savings = np.where(far <= EPS, 2 * OMEGA - far, 0)
    return float(savings[linear_sum_assignment(savings, maximize=True)].sum())


def test_no_exchange_of_two_people_helps_any_more() -> None:
    """For k=2, of an even number of people, all exchanges are tried again from scratch."""
    rng, tried = np.random.default_rng(8), 0
    for _ in range(25):
        rows = drawn(rng)
        rows = dict([*rows.items()][: len(rows) // 2 * 2])
        try:
            pairs = [sorted(pair) for pair in groups(made(rows, "true", k=2))]
        except Unsatisfiable:
            continue
        left = sorted(rows.keys() - {user for pair in pairs for user in pair})
        if len(left) == 2:  # nothing of them matches, so they have no row
            pairs.append(left)
        for at, (a, b) in enumerate(pairs):
            for c, d in pairs[:at]:
                now = saved(rows[a], rows[b]) + saved(rows[c], rows[d])
                for one, other in ((c, d), (d, c)):
                    tried += 1
                    assert saved(rows[a], rows[one]) + saved(rows[b], rows[other]) <= now
    assert tried > 100


def test_rows_of_single_people_stay() -> None:
    rows = drawn(np.random.default_rng(2))
    assert made(rows, "true", k=1).slots == made(rows, "false", k=1).slots
