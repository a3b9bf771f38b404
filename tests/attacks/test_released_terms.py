"""Attacks 6 and 7: people singled out by a rare term, or by a term and its weight."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ..search_app.conftest import call, jsonl

Rows = Mapping[str, Mapping[str, float]]
# Three towns of six people: each has a hobby, a rare word of their own, and weights of their own.
HOBBIES = ("tea", "chess", "rugby")
PEOPLE = {
    f"p{n}": {
        **{HOBBIES[n % 3]: 1.0 + n, f"rare{n}": 1.0},
        **dict.fromkeys((f"pair{n // 2}", "coffee", f"town{n % 3}"), 2.0),
    }
    for n in range(18)
}


def released_by(profiles: Path, method: str, *chosen: str) -> list[dict[str, Any]]:
    """Return the rows of a release of `profiles` by `method`."""
    release = profiles.with_name("release")
    call(profiles.parent / "w", "anonymize", profiles, "-m", method, *chosen, "-o", release)
    return [json.loads(line) for line in (release / "rows.jsonl").read_text().splitlines()]


def singled_out(rows: Rows, keys: Mapping[str, Any]) -> set[str]:
    """Return who has one of `keys`, each a term or a term with its weight, that nobody else has."""
    having = Counter(key for user in rows for key in keys[user])
    return {user for user in rows if any(having[key] == 1 for key in keys[user])}


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    lines = [{"user": user, "terms": terms} for user, terms in PEOPLE.items()]
    return jsonl(tmp_path / "p.jsonl", lines)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_no_released_term_has_fewer_than_min_users(profiles: Path, least: int) -> None:
    """Attack 6: "has t" singled out 99 % of people by terms that one person has."""
    options = ("augment=none", "k=3", "p=0.9", f"min_users={least}")
    chosen = (word for option in options for word in ("--set", option))
    rows = released_by(profiles, "p-linkability", *chosen)
    released = {term for row in rows for term in row["terms"]}
    known = {user: released & terms.keys() for user, terms in PEOPLE.items()}
    assert bool(singled_out(PEOPLE, known)) == (least == 1)
    having = Counter(term for terms in known.values() for term in terms)
    assert min(having.values()) >= least


@pytest.mark.parametrize("kept", [False, True])
def test_weights_single_out_rows_only_if_they_are_asked_for(profiles: Path, kept: bool) -> None:
    """Attack 7: one term and its weight singled out 70 % of the rows."""
    more = ("--set", "frequencies=keep") if kept else ()
    chosen = ("--set", "k=3", "--set", "m=1", *more)
    rows = {row["row"]: row["terms"] for row in released_by(profiles, "km-anonymity", *chosen)}
    pairs = {name: {*row.items()} for name, row in rows.items()}
    assert bool(singled_out(rows, pairs)) == kept
    assert not singled_out(rows, {name: {*row} for name, row in rows.items()})
