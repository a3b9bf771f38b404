"""Each claim of the burghardt experiment: it holds in a world made so, and not in another."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from search_app.experiments.design import Unit
from search_app.experiments.report.report import FAILS, HOLDS, UNDECIDED, Claim, Report

from .burghardt_world import facts_of, level, report, share, world

# As reports have them: of the paper, ours on what is kept, and ours on search.
NAMES = """
users-and-frequency only-clicks-and-bids first-iteration fewer-iterations own-target-best
level-distinct-terms level-log-size level-users level-bid level-clicks level-impressions
level-revenue terms-left users-at-small-k impressions-like-clicks generic-spread random-loses-log
random-keeps-terms users-second specific-spread clicks-against-bid m-hardly-matters m-equal-at-100
generic-by-m revenue-by-m m-less-than-k
insertion-keeps-more-log insertion-keeps-more reinsertion-repairs insertion-over-reinsertion
"""
PAPERS = 26  # the first of them
SEARCH = ["reduced-over-none-100", "reduced-over-groups-100", "insertion-over-greedy-100"]


@pytest.fixture(scope="module")
def made() -> Report:
    return report(world(facts_of(synthetic=False)))


def claim(made: Report, name: str) -> Claim:
    (found,) = [each for each in made.claims if each.name == name]
    return found


def test_all_claims_hold_where_the_world_is_as_claimed(made: Report) -> None:
    assert [each.name for each in made.claims] == [*NAMES.split(), *SEARCH]
    assert [each.name for each in made.claims if each.verdict != HOLDS] == []
    assert all(each.source.startswith("Burghardt") for each in made.claims[:PAPERS])
    assert all(each.source.startswith("ours") for each in made.claims[PAPERS:])


def test_where_all_keep_the_same_nothing_is_won_and_nothing_is_counted(made: Report) -> None:
    # the world has m = 1; 3 k and 2 m are left, of 6 measures, 8 targets and 2 repaired ones
    assert "in 36 of 36 cases" in claim(made, "insertion-keeps-more").finding
    assert "in 6 of 6 cases" in claim(made, "insertion-keeps-more-log").finding
    assert "in 36 of 36 cases" in claim(made, "own-target-best").finding
    assert "in 48 releases" in claim(made, "first-iteration").finding
    assert "in 6 of 6 cases" in claim(made, "reinsertion-repairs").finding
    for name in ("insertion-keeps-more", "insertion-keeps-more-log", "own-target-best"):
        assert "without m = 1" in claim(made, name).text


def test_only_search_is_tested(made: Report) -> None:
    assert [each.name for each in made.claims if each.p is not None] == SEARCH
    assert "there is nothing to resample" in " ".join(made.notes)


def test_what_rests_on_a_synthetic_table_says_so_and_its_making_proves_nothing() -> None:
    made = report(world())
    assert claim(made, "only-clicks-and-bids").verdict == UNDECIDED
    marked = {each.name for each in made.claims if "is synthetic" in each.finding}
    assert " ".join(sorted(marked)) == (
        "clicks-against-bid impressions-like-clicks insertion-keeps-more level-bid level-clicks "
        "level-impressions level-revenue m-equal-at-100 m-hardly-matters m-less-than-k "
        "own-target-best revenue-by-m specific-spread"
    )


def changed(text: str) -> Callable[..., Any]:
    """Read "measure by where" of the releases of which more or less of a measure is kept."""
    measure, by, *where = text.split()

    def change(given: dict[str, Any], name: str) -> float:
        here = measure in (name, "any")
        for at, _, value in (each.partition("=") for each in where):
            here = here and str(given.get(at)) == value
        return float(by) if here else 0.0

    return change


# a claim, what refutes it - a change of what is kept, or another fact -, and what it then finds
OTHERS = """
own-target-best: log_size -0.03 target=logsize algorithm=greedy k=2 m=2 reinsert=none
    in 35 of 36 cases. It is not so for log size; the largest gap is 2.0 points, of log size
level-distinct-terms: distinct_terms +0.1 algorithm=greedy k=2 m=2
    Kept is 21.00 % at (k=2, m=2) and 0.20 % at (k=100, m=3); near is within a factor of 1.5.
level-users: users -0.06 algorithm=greedy k=100 m=3
    Kept is 95.0 % at (k=2, m=2) and 64.0 % at (k=100, m=3); near is within 5 points.
generic-spread: users -0.042 target=fis algorithm=greedy k=20 m=2
    The largest distance is 5.2 points, of users at (k=20, m=2).
random-loses-log: log_size -0.1 target=fis algorithm=greedy k=2 m=3
    Random is not always last. It keeps up to 28.0 % less than the best, at (k=100
random-loses-log: log_size +0.05 target=random algorithm=greedy reinsert=none k=100
    Random is not always last. It keeps up to 14.0 % less than the best, at (k=20
random-keeps-terms: distinct_terms -0.002 target=random algorithm=greedy k=20 m=3
    It is so in 5 of 6 cases; its place is 1 to 8.
users-second: log_size +0.015 target=bid algorithm=greedy k=2 m=2
    It is so in 5 of 6 cases; its place is 2 to 3.
clicks-against-bid: clicks +0.3 algorithm=greedy target=bid
    They differ by up to 20.0 points, at (k=2, m=2): best is clicks, worst logsize.
m-hardly-matters: revenue -0.05 algorithm=greedy k=20 m=3
    up to 5.0 points, of revenue at k = 20 by target users; in 104 of 112 cases by less.
m-equal-at-100: any +0.015 k=100 m=3
    At k = 100, 0 of 56 values are within a point.
m-less-than-k: log_size -0.1 algorithm=greedy k=2 m=3
    0.00 and 10.80 of dist. terms, 18.0 and 27.0 of log size, 0.0 and 25.0 of users
m-less-than-k: bid -0.2 algorithm=greedy k=20 m=3
    8.0 and 27.0 of log size, 0.0 and 25.0 of users, 20.0 and 31.0 of bid
level-log-size: log_size +0.06 algorithm=greedy k=20 m=2
    Kept is 45.0 % at (k=2, m=2), 36.0 % at (k=20, m=2) and 18.0 % at (k=100, m=3)
terms-left: distinct_terms +0.0011 algorithm=greedy k=100 m=3
    There are 775, 0.31 % of 250,000.
users-at-small-k: users -0.02 algorithm=greedy k=2 m=3
    At k = 2 it is 95.0 % for m = 2 and 93.0 % for m = 3.
users-at-small-k: users -0.06 algorithm=greedy k=2
    At k = 2 it is 89.0 % for m = 2 and 89.0 % for m = 3.
impressions-like-clicks: impressions -0.02 algorithm=greedy k=20 m=3
    They differ by up to 6.0 points, at (k=20, m=3).
generic-by-m: users -0.012 algorithm=greedy target=bid k=20 m=3
    up to 1.2 points, of users at k = 20. What is kept differs by up to 8.0 points, of log size
revenue-by-m: revenue -0.02 algorithm=greedy target=bid k=2 m=3
    0.0 of impressions and 8.0 of revenue; that of revenue is at k = 2.
revenue-by-m: bid -0.07 algorithm=greedy target=fis k=20 m=3
    7.0 of bid, 0.0 of clicks, 0.0 of impressions and 6.0 of revenue
insertion-keeps-more-log: log_size -0.03 algorithm=insert k=20 m=2
    in 5 of 6 cases. The gain in points of the original goes from 0.0 of log size at (k=20, m=2)
insertion-keeps-more: bid -0.04 algorithm=insert k=20 m=2
    in 35 of 36 cases. The gain in points of the original goes from -1.0 of bid at (k=20, m=2)
reinsertion-repairs: log_size -0.01 reinsert=groups k=20 target=logsize
    It is so in 5 of 6 cases. The gain in points of the original goes from 0.0
insertion-over-reinsertion: log_size +0.05 reinsert=groups k=20 target=logsize
    It is so in 2 of 3 cases. The gain in points of the original goes from -3.0
specific-spread: users -0.125 target=fis algorithm=greedy k=2 m=2
    16.0 of revenue; by a generic measure 13.5 of users, at (k=2, m=2)
clicks-against-bid: clicks +0.25 target=random; clicks +0.06 target=bid
    up to 35.0 points, at (k=2, m=2): best is clicks, worst bid.
users-and-frequency: r_term_frequency_user_frequency=0.69
    is 0.690 over 5,000
only-clicks-and-bids: r_bid_revenue=-0.2
    bid with clicks and bid with revenue
only-clicks-and-bids: r_bid_clicks=0.2
    Negative: none.
first-iteration: deletions_pass_1=500
    50.0% to 50.0% of the deletions in 48
fewer-iterations: passes=5
    They are 5.0 for m = 3 and 5.0 for m = 2
"""


@pytest.mark.parametrize("case", re.findall(r"(.+): (.+)\n    (.+)\n", OTHERS), ids=" ".join)
def test_a_claim_does_not_hold_in_another_world(case: tuple[str, str, str]) -> None:
    name, otherwise, finding = case
    if " " in otherwise:
        changes = [changed(each) for each in otherwise.split("; ")]
        facts = facts_of(lambda *kept: sum(each(*kept) for each in changes), synthetic=False)
    else:
        fact, _, value = otherwise.partition("=")
        facts = facts_of(synthetic=False, **{fact: float(value)})
    found = claim(report(world(facts)), name)
    assert (found.verdict, finding in found.finding) == (FAILS, True), found.finding


def test_where_targets_lie_close_advertisement_is_no_other_matter() -> None:
    def alike(given: dict[str, Any], name: str) -> float:
        if name not in ("bid", "clicks", "impressions", "revenue"):
            return 0.0
        return 0.5 - share(given, name)

    found = claim(report(world(facts_of(alike, synthetic=False))), "specific-spread")
    assert found.verdict == FAILS
    told = "0.0 of bid, 0.0 of clicks, 0.0 of impressions and 0.0 of revenue; by a generic"
    assert told in found.finding


def test_where_there_is_no_k_of_100_the_largest_is_asked() -> None:
    known = world(facts_of(synthetic=False), keep=lambda each: each.complete.get("k") in (2, 20))
    found = claim(report(known), "m-equal-at-100")
    assert (found.verdict, found.finding) == (
        HOLDS,
        "At k = 20, 56 of 56 values are within a point.",
    )
    assert "the largest k there is" in found.text


@pytest.mark.parametrize(("more", "verdict"), [(0.0006, HOLDS), (0.001, FAILS), (-0.001, FAILS)])
def test_of_the_few_distinct_terms_near_is_a_factor(more: float, verdict: str) -> None:
    # 0.2 % is kept at (k=100, m=3); of the paper's 0.18 %, 0.27 % is 1.5 times as many
    change = changed(f"distinct_terms {more} algorithm=greedy k=100 m=3")
    found = claim(report(world(facts_of(change, synthetic=False))), "level-distinct-terms")
    assert found.verdict == verdict
    assert "near is within a factor of 1.5" in found.finding
    assert "0.18 % at (k=100, m=3) is kept (read as within a factor of 1.5)" in found.text


@pytest.mark.parametrize(
    ("levels", "name", "finding"),
    [
        ({"insert": 0.3}, "reduced-over-none-100", "0.300 for k = 2 and 0.300 for no personal"),
        ({"insert": 0.5}, "reduced-over-groups-100", "0.500 for reduced at k = 100 and 0.600 for"),
        ({"greedy": 0.9}, "insertion-over-greedy-100", "at k = 20 and 0.900 for greedy at k = 20"),
    ],
)
def test_search_that_is_no_better_refutes_a_claim(
    levels: dict[str, float], name: str, finding: str
) -> None:
    def otherwise(unit: Unit, mode: str, pool: int) -> float:
        given = unit.parameters.get("algorithm") if mode == "group" else None
        return levels.get(str(given), level(unit, mode, pool))

    found = claim(report(world(by_level=otherwise)), name)
    assert (found.verdict, finding in found.finding) == (FAILS, True), found.finding
