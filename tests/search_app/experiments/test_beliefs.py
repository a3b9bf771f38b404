"""What modes let an attacker believe, against every assignment of terms to people."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Grouping, Profiles
from anonymizer.rows.representative import represent
from index.forward.reading import Forward
from search_app.errors import UsageError
from search_app.experiments.beliefs import _CHANGES, beyond, facts_of_beliefs, largest
from search_app.experiments.data import no_questions
from search_app.experiments.modes import MODES, Situation, clipped_rows, suppressed_rows

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


Told = list[Fraction | None]


def clipped(owners: set[int], p: Fraction) -> Told:
    """Return what groups publish of a term if it is clipped."""
    prior = Fraction(len(owners), len(GROUPS))
    return [min(max(share, prior - p), prior + p) for share in shares(owners)]


def suppressed(owners: set[int], p: Fraction) -> Told:
    """Return what groups publish of a term if they leave out what is far off; 0 is no cell."""
    prior = Fraction(len(owners), len(GROUPS))
    return [share if share and abs(share - prior) <= p else None for share in shares(owners)]


RULES: dict[str, Callable[[set[int], Fraction], Told]] = {
    "clipped": clipped,
    "suppressed": suppressed,
}


def changes(mode: str, owners: set[int], p: Fraction) -> list[Fraction]:
    """Return each group's change of belief, over all sets of as many owners that fit."""
    publish = RULES[mode]
    told = publish(owners, p)
    fitting = [
        shares(set(some))
        for some in combinations(range(len(GROUPS)), len(owners))
        if publish(set(some), p) == told
    ]
    prior = Fraction(len(owners), len(GROUPS))
    return [
        abs(sum(each, Fraction(0)) / len(fitting) - prior) for each in zip(*fitting, strict=True)
    ]


@pytest.mark.parametrize("p", [0.1, 0.125, 0.25, 0.4])
@pytest.mark.parametrize("mode", RULES)
def test_what_hidden_shares_tell_is_the_mean_over_all_that_fits(mode: str, p: float) -> None:
    exact = Fraction(str(p))
    wanted = [each for owners in OWNERS.values() for each in changes(mode, set(owners), exact)]
    found = facts_of_beliefs(situation(p=p), [mode])
    assert found[largest(mode)] == pytest.approx(float(max(wanted)))
    assert found[beyond(mode)] == sum(change > exact for change in wanted) / len(wanted)


@pytest.mark.parametrize("p", [0.1, 0.125, 0.25, 0.4])
@pytest.mark.parametrize("mode", RULES)
def test_each_cell_of_each_set_of_owners_is_inferred(mode: str, p: float) -> None:
    for count in range(1, 9):
        for owners in combinations(range(8), count):
            wanted = [*changes(mode, set(owners), Fraction(str(p))), 0, 0, 0]  # of what all have
            change, cells = _CHANGES[mode](situation(of=profiles({"it": list(owners)}), p=p))
            found = np.repeat(change[cells > 0], cells[cells > 0])
            assert sorted(found) == pytest.approx(sorted(map(float, wanted))), owners


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
    served = clipped_rows(situation())
    rows, prior = served.weights.toarray(), np.array([1.0, 1 / 8, 6 / 8, 3 / 8])
    assert served.terms == ("all", "oak", "saw", "tea")
    assert np.abs(rows - prior).max() == pytest.approx(0.25)
    assert rows[:, 3].tolist() == pytest.approx([5 / 8, 1 / 3, 1 / 8])  # of 1, 1/3 and 0


@pytest.mark.parametrize("p", [0.1, 0.125, 0.2499, 0.25, 0.4])
def test_a_suppressed_row_has_the_releases_cells_within_p_of_the_prior(p: float) -> None:
    served = suppressed_rows(situation(p=p))
    told = [suppressed(set(OWNERS[term]), Fraction(str(p))) for term in served.terms]
    wanted = [[float(share or 0) for share in shares] for shares in told]
    assert served.weights.toarray().T.tolist() == wanted
    assert served.weights.nnz == np.count_nonzero(wanted)


@pytest.mark.parametrize("mode", RULES)
def test_hiding_shares_needs_a_p(mode: str) -> None:
    with pytest.raises(UsageError, match=f"mode {mode} needs a release with a p"):
        list(MODES[mode].scores(situation(p=None)))


def test_only_the_papers_rows_are_suppressed() -> None:
    with pytest.raises(UsageError, match="needs a release that bounds linkability on average"):
        list(MODES["suppressed"].scores(situation(guarantee="every-term")))
