"""What modes let an attacker believe, against every assignment of terms to people."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Grouping, Profiles, Release
from anonymizer.representative import represent
from index.forward import Forward
from search_app.errors import UsageError
from search_app.experiments.baselines import MODES, Situation
from search_app.experiments.beliefs import beyond, facts_of_beliefs, largest
from search_app.experiments.data import no_questions

GROUPS = [0, 0, 1, 1, 1, 2, 2, 2]
OWNERS = {"tea": [0, 1, 2], "saw": [0, 3, 4, 5, 6, 7], "oak": [4], "all": list(range(8))}


def profiles() -> Profiles:
    rows = {
        f"u{user}": {term: 1.0 for term, owners in OWNERS.items() if user in owners}
        for user in range(8)
    }
    return Profiles.from_rows(rows)


def situation(forward: Forward | None = None, **given: Any) -> Situation:
    people, grouping = profiles(), Grouping(np.array(GROUPS))
    parameters = {"p": 0.25, "representative": "centroid", "guarantee": "average", **given}
    rows = represent(people, grouping, "centroid")
    release = Release(rows, people.users, grouping.group_of, "p-linkability", parameters)
    nobody: Any = forward
    return Situation(no_questions(), people, release, nobody, "tfidf", 0, 0)


def shares(owners: set[int]) -> list[Fraction]:
    return [
        Fraction(len({user for user in owners if GROUPS[user] == group}), GROUPS.count(group))
        for group in range(3)
    ]


def clipped(owners: set[int], p: Fraction) -> list[Fraction]:
    """Return what groups publish of a term."""
    prior = Fraction(len(owners), len(GROUPS))
    return [min(max(share, prior - p), prior + p) for share in shares(owners)]


def changes(owners: set[int], p: Fraction) -> list[Fraction]:
    """Return each group's change of belief, over all sets of as many owners that fit."""
    told = clipped(owners, p)
    fitting = [
        shares(set(some))
        for some in combinations(range(len(GROUPS)), len(owners))
        if clipped(set(some), p) == told
    ]
    prior = Fraction(len(owners), len(GROUPS))
    return [
        abs(sum(each, Fraction(0)) / len(fitting) - prior) for each in zip(*fitting, strict=True)
    ]


@pytest.mark.parametrize("p", [0.1, 0.125, 0.25, 0.4])
def test_what_clipped_shares_tell_is_the_mean_over_all_that_fits(p: float) -> None:
    wanted = [
        change for owners in OWNERS.values() for change in changes(set(owners), Fraction(str(p)))
    ]
    found = facts_of_beliefs(situation(p=p), ["clipped"])
    assert found[largest("clipped")] == pytest.approx(float(max(wanted)))
    broken = sum(change > Fraction(str(p)) for change in wanted)
    assert found[beyond("clipped")] == broken / len(wanted)


def test_clipping_does_not_keep_the_promise() -> None:
    found = facts_of_beliefs(situation(), ["clipped"])
    assert found[largest("clipped")] > 0.25
    assert found[beyond("clipped")] > 0


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
    assert facts_of_beliefs(situation(p=None), ["group", "clipped"]) == {}
    assert facts_of_beliefs(situation(), ["none", "average", "left-out"]) == {}


def test_a_clipped_row_is_within_p_of_the_prior() -> None:
    from search_app.experiments.baselines import clipped_rows

    served = clipped_rows(situation())
    rows, prior = served.weights.toarray(), np.array([1.0, 1 / 8, 6 / 8, 3 / 8])
    assert served.terms == ("all", "oak", "saw", "tea")
    assert np.abs(rows - prior).max() == pytest.approx(0.25)
    assert rows[:, 3].tolist() == pytest.approx([5 / 8, 1 / 3, 1 / 8])  # of 1, 1/3 and 0


def test_clipping_needs_a_p() -> None:
    with pytest.raises(UsageError, match="mode clipped needs a release with a p"):
        list(MODES["clipped"].scores(situation(p=None)))
