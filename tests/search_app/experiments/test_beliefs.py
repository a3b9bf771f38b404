"""What modes let an attacker believe about a person's terms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Grouping, Profiles
from anonymizer.rows.representative import represent
from index.forward.reading import Forward
from search_app.experiments.beliefs import beyond, facts_of_beliefs, largest
from search_app.experiments.data import no_questions
from search_app.experiments.modes import Situation

from ..toy_index import released

GROUPS = [0, 0, 1, 1, 1, 2, 2, 2]
OWNERS = {"tea": [0, 1, 2], "saw": [0, 3, 4, 5, 6, 7], "oak": [4], "all": list(range(8))}


def profiles(owners: dict[str, list[int]] = OWNERS) -> Profiles:
    terms = {**owners, "all": list(range(8))}
    rows = {
        f"u{user}": {term: 1.0 for term, having in terms.items() if user in having}
        for user in range(8)
    }
    return Profiles.from_rows(rows)


def situation(
    forward: Forward | None = None, of: Profiles | None = None, **given: Any
) -> Situation:
    people, grouping = of or profiles(), Grouping(np.array(GROUPS))
    parameters = {"p": 0.25, "representative": "centroid", "guarantee": "average", **given}
    rows = represent(people, grouping, "centroid")
    row_of = dict(zip(people.users, GROUPS, strict=True))
    release = released(rows, row_of, "p-linkability", parameters)
    nobody: Any = forward
    return Situation(no_questions(), people, release, nobody, "tfidf", 0, 0)


def shares(owners: set[int]) -> list[Fraction]:
    return [
        Fraction(len({user for user in owners if GROUPS[user] == group}), GROUPS.count(group))
        for group in range(3)
    ]


def test_a_centroid_tells_the_share_itself_and_what_is_missing_none() -> None:
    found = facts_of_beliefs(situation(), ["group"])
    wanted = [
        abs(share - Fraction(len(owners), 8))
        for owners in OWNERS.values()
        for share in shares(set(owners))
    ]
    assert found[largest("group")] == pytest.approx(float(max(wanted)))  # tea: 1 - 3/8
    assert found[beyond("group")] == sum(change > Fraction(1, 4) for change in wanted) / 12


def test_what_is_made_of_published_rows_tells_no_more() -> None:
    assert largest("smoothed") == largest("group")
    assert beyond("smoothed") == beyond("group")
    both = facts_of_beliefs(situation(), ["smoothed", "group"])
    assert both == facts_of_beliefs(situation(), ["group"])


def test_random_groups_are_judged_by_their_own_rows() -> None:
    found = facts_of_beliefs(situation(p=0.01), ["random-groups"])
    assert 0 < found[largest("random-groups")] <= 1
    # two, three and three people can't have each term in the same shares
    assert found[beyond("random-groups")] > 0


def test_nothing_is_judged_where_there_is_no_p_or_nothing_is_released() -> None:
    assert facts_of_beliefs(situation(p=None), ["group"]) == {}
    assert facts_of_beliefs(situation(), ["none", "average", "left-out"]) == {}
