"""Each claim of the burghardt experiment: it holds in a world made so, and not in another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from search_app.experiments.burghardt import report
from search_app.experiments.outcomes import Unit
from search_app.experiments.report import FAILS, HOLDS, UNDECIDED, Claim, Report

from .burghardt_world import facts_of, level, seconds, share, world

PAPERS = (
    "users-and-frequency",
    "only-clicks-and-bids",
    "first-iteration",
    "fewer-iterations",
    "own-target-best",
    "level-distinct-terms",
    "level-log-size",
    "level-users",
    "level-bid",
    "level-clicks",
    "level-impressions",
    "level-revenue",
    "terms-left",
    "users-at-small-k",
    "impressions-like-clicks",
    "generic-spread",
    "random-loses-log",
    "random-keeps-terms",
    "users-second",
    "specific-spread",
    "clicks-against-bid",
    "m-hardly-matters",
    "m-equal-at-100",
    "generic-by-m",
    "revenue-by-m",
    "m-less-than-k",
)
TIMES = ("first-iteration-longest", "fis-slowest", "larger-k-faster", "m-3-slower")
KEPT = (
    "insertion-keeps-more-log",
    "insertion-keeps-more",
    "reinsertion-repairs",
    "insertion-over-reinsertion",
    "randoms-waste",
)
SEARCH = ("reduced-over-none-100", "reduced-over-groups-100", "insertion-over-greedy-100")


@pytest.fixture(scope="module")
def made() -> Report:
    outcomes = world(facts_of(synthetic=False))
    return report(outcomes, None, seconds(outcomes))


def claim(made: Report, name: str) -> Claim:
    (found,) = [each for each in made.claims if each.name == name]
    return found


def test_all_claims_hold_where_the_world_is_as_claimed(made: Report) -> None:
    assert tuple(each.name for each in made.claims) == PAPERS + TIMES + KEPT + SEARCH
    assert [each.name for each in made.claims if each.verdict != HOLDS] == []
    assert all(each.source.startswith("Burghardt") for each in made.claims[: len(PAPERS + TIMES)])
    assert all(each.source.startswith("ours") for each in made.claims[len(PAPERS + TIMES) :])


def test_where_all_keep_the_same_nothing_is_won_and_nothing_is_counted(made: Report) -> None:
    # the world has m = 1; 3 k and 2 m are left, of 6 measures, 8 targets and 2 repaired ones
    assert "in 36 of 36 cases" in claim(made, "insertion-keeps-more").finding
    assert "in 6 of 6 cases" in claim(made, "insertion-keeps-more-log").finding
    assert "in 36 of 36 cases" in claim(made, "own-target-best").finding
    assert "in 48 releases" in claim(made, "first-iteration").finding
    assert "in 6 of 6 cases" in claim(made, "reinsertion-repairs").finding
    for name in ("insertion-keeps-more", "insertion-keeps-more-log", "own-target-best"):
        assert "m = 1 left out" in claim(made, name).text


def test_only_search_is_tested(made: Report) -> None:
    assert [each.name for each in made.claims if each.p is not None] == list(SEARCH)
    assert "there is nothing to resample" in " ".join(made.notes)


def test_what_rests_on_a_synthetic_table_says_so_and_its_making_proves_nothing() -> None:
    made = report(world())
    assert claim(made, "only-clicks-and-bids").verdict == UNDECIDED
    marked = {each.name for each in made.claims if "is synthetic" in each.finding}
    assert marked == {
        "own-target-best",
        "level-bid",
        "level-clicks",
        "level-impressions",
        "level-revenue",
        "impressions-like-clicks",
        "specific-spread",
        "clicks-against-bid",
        "m-hardly-matters",
        "m-equal-at-100",
        "revenue-by-m",
        "m-less-than-k",
        "insertion-keeps-more",
    }


def less(by: float, measure: str, **where: Any) -> Callable[[dict[str, Any], str], float]:
    """Let some releases keep less of a measure."""

    def change(given: dict[str, Any], name: str) -> float:
        here = name == measure and all(given[at] == value for at, value in where.items())
        return -by if here else 0.0

    return change


OTHERS = [  # a change of what is kept, a claim that it refutes, and what the finding then says
    (
        less(0.03, "log_size", target="logsize", algorithm="greedy", k=2, m=2, reinsert="none"),
        "own-target-best",
        # users is best now with 0.44; logsize has 0.42
        "It is in 35 of 36 cases. It isn't for log size; the most that is missed is 2.0 points, of "
        "log size at (k=2, m=2).",
    ),
    (
        less(-0.1, "distinct_terms", algorithm="greedy", k=2, m=2),
        "level-distinct-terms",
        "Kept is 21.00 % at (k=2, m=2) and 0.20 % at (k=100, m=3); near is within a factor of 1.5.",
    ),
    (
        less(0.06, "users", algorithm="greedy", k=100, m=3),
        "level-users",
        "Kept is 95.0 % at (k=2, m=2) and 64.0 % at (k=100, m=3); near is within 5 points.",
    ),
    (
        less(0.042, "users", target="fis", algorithm="greedy", k=20, m=2),
        "generic-spread",
        "The most is 5.2 points, of users at (k=20, m=2).",
    ),
    (
        less(0.1, "log_size", target="fis", algorithm="greedy", k=2, m=3),
        "random-loses-log",
        "Random is last not in every case; it keeps up to 28.0 % less than the best, at (k=100, ",
    ),
    (
        less(-0.05, "log_size", target="random", algorithm="greedy", reinsert="none", k=100),
        "random-loses-log",
        "Random is last not in every case; it keeps up to 14.0 % less than the best, at (k=20, ",
    ),
    (
        less(0.002, "distinct_terms", target="random", algorithm="greedy", k=20, m=3),
        "random-keeps-terms",
        "It is so in 5 of 6 cases; its place is 1 to 8.",
    ),
    (
        less(-0.015, "log_size", target="bid", algorithm="greedy", k=2, m=2),
        "users-second",
        "It is so in 5 of 6 cases; its place is 2 to 3.",
    ),
    (
        less(-0.3, "clicks", algorithm="greedy", target="bid"),
        "clicks-against-bid",
        "They differ by up to 20.0 points, at (k=2, m=2): best is clicks, worst logsize.",
    ),
    (
        less(0.05, "revenue", algorithm="greedy", k=20, m=3),
        "m-hardly-matters",
        "They differ by up to 5.0 points, of revenue at k = 20 by target users; in 104 of 112 "
        "cases by less.",
    ),
    (
        lambda given, _name: -0.015 if (given["k"], given["m"]) == (100, 3) else 0.0,
        "m-equal-at-100",
        "At k = 100, 0 of 56 values are within a point.",  # eight targets, seven measures
    ),
    (
        less(0.1, "log_size", algorithm="greedy", k=2, m=3),
        "m-less-than-k",
        # 0.45 - 0.08 - 0.1 at m = 3; 0.45 to 0.18 by k
        "0.00 and 10.80 of dist. terms, 18.0 and 27.0 of log size, 0.0 and 25.0 of users",
    ),
    (
        less(0.2, "bid", algorithm="greedy", k=20, m=3),
        "m-less-than-k",
        "m = 3 instead of 2 changes up to, and k from 2 to 100 costs: 0.00 and 10.80 of dist. terms"
        ", 8.0 and 27.0 of log size, 0.0 and 25.0 of users, 20.0 and 31.0 of bid",
    ),
    (
        less(-0.06, "log_size", algorithm="greedy", k=20, m=2),
        "level-log-size",
        "Kept is 45.0 % at (k=2, m=2), 36.0 % at (k=20, m=2) and 18.0 % at (k=100, m=3)",
    ),
    (
        less(-0.0011, "distinct_terms", algorithm="greedy", k=100, m=3),
        "terms-left",
        "There are 775, 0.31 % of 250,000.",
    ),
    (
        less(0.02, "users", algorithm="greedy", k=2, m=3),
        "users-at-small-k",
        "At k = 2 it is 95.0 % for m = 2 and 93.0 % for m = 3.",
    ),
    (
        less(0.06, "users", algorithm="greedy", k=2),
        "users-at-small-k",
        "At k = 2 it is 89.0 % for m = 2 and 89.0 % for m = 3.",
    ),
    (
        less(0.02, "impressions", algorithm="greedy", k=20, m=3),
        "impressions-like-clicks",
        "They differ by up to 6.0 points, at (k=20, m=3).",
    ),
    (
        less(0.012, "users", algorithm="greedy", target="bid", k=20, m=3),
        "generic-by-m",
        "They differ by up to 1.2 points, of users at k = 20. What is kept differs by up to 8.0 "
        "points, of log size at k = 2.",
    ),
    (
        less(0.02, "revenue", algorithm="greedy", target="bid", k=2, m=3),
        "revenue-by-m",
        # 16 + 2 apart for m = 3, 10 for m = 2
        "0.0 of impressions and 8.0 of revenue; of revenue it is at k = 2.",
    ),
    (
        less(0.07, "bid", algorithm="greedy", target="fis", k=20, m=3),
        "revenue-by-m",
        "7.0 of bid, 0.0 of clicks, 0.0 of impressions and 6.0 of revenue",
    ),
    (
        less(0.03, "log_size", algorithm="insert", k=20, m=2),
        "insertion-keeps-more-log",
        "It is so in 5 of 6 cases; the gain is, in points of the original, from 0.0 of log size at "
        "(k=20, m=2) to 3.0 of log size",
    ),
    (
        less(0.04, "bid", algorithm="insert", k=20, m=2),
        "insertion-keeps-more",
        "It is so in 35 of 36 cases; the gain is, in points of the original, from -1.0 of bid at "
        "(k=20, m=2) to 3.0 of",
    ),
    (
        less(0.01, "log_size", reinsert="groups", k=20, target="logsize"),
        "reinsertion-repairs",
        "It is so in 5 of 6 cases; the gain is, in points of the original, from 0.0",
    ),
    (
        less(-0.05, "log_size", reinsert="groups", k=20, target="logsize"),
        "insertion-over-reinsertion",
        "It is so in 2 of 3 cases; the gain is, in points of the original, from -3.0",
    ),
    (
        less(0.03, "log_size", reinsert="groups", k=100, target="random"),
        "randoms-waste",
        # 0.28 * 18 = 5.04 before; a tenth of it, and 3 more, after
        "Of log size, beside logsize, it goes from 4.5 to 0.5 points at (k=2, m=2), 4.2 to 0.4 "
        "points at (k=20, m=2), 5.0 to 3.5 points at (k=100, m=2).",
    ),
]


@pytest.mark.parametrize(("change", "name", "finding"), OTHERS)
def test_a_claim_does_not_hold_in_another_world(
    change: Callable[[dict[str, Any], str], float], name: str, finding: str
) -> None:
    found = claim(report(world(facts_of(change, synthetic=False))), name)
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


def test_random_is_held_against_the_targets_that_were_repaired_too() -> None:
    # of fis, which keeps 20 points more than logsize, no repaired release was made
    far = less(-0.2, "log_size", target="fis", algorithm="greedy", k=2, m=2)
    found = claim(report(world(facts_of(far, synthetic=False))), "randoms-waste")
    assert "beside logsize, it goes from 4.5 to 0.5 points at (k=2, m=2)," in found.finding


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
    change = less(-more, "distinct_terms", algorithm="greedy", k=100, m=3)
    found = claim(report(world(facts_of(change, synthetic=False))), "level-distinct-terms")
    assert found.verdict == verdict
    assert "near is within a factor of 1.5" in found.finding
    assert "0.18 % at (k=100, m=3) is kept (read as within a factor of 1.5)" in found.text


def test_random_is_neither_best_nor_worst_of_clicks() -> None:
    # random keeps 5 points more than clicks does, which keeps 35 more than bid
    def otherwise(given: dict[str, Any], name: str) -> float:
        if name != "clicks" or given["m"] == 1:
            return 0.0
        return {"random": 0.25, "bid": 0.06}.get(given["target"], 0.0)

    found = claim(report(world(facts_of(otherwise, synthetic=False))), "clicks-against-bid")
    assert found.verdict == FAILS
    assert "up to 35.0 points, at (k=2, m=2): best is clicks, worst bid." in found.finding


def test_advertisement_is_held_against_what_is_generic_here_not_in_the_paper() -> None:
    # users differ by 1 + 12.5 points here: more than the 13 of bid, themselves more than 4.2
    far = less(0.125, "users", target="fis", algorithm="greedy", k=2, m=2)
    found = claim(report(world(facts_of(far, synthetic=False))), "specific-spread")
    assert found.verdict == FAILS
    assert "16.0 of revenue; by a generic measure 13.5 of users, at (k=2, m=2)" in found.finding


@pytest.mark.parametrize(
    ("others", "name", "finding"),
    [
        ({"r_term_frequency_user_frequency": 0.69}, "users-and-frequency", "is 0.690 over 5,000"),
        ({"r_bid_revenue": -0.2}, "only-clicks-and-bids", "bid with clicks and bid with revenue"),
        ({"r_bid_clicks": 0.2}, "only-clicks-and-bids", "Negative: none."),
        ({"deletions_pass_1": 500}, "first-iteration", "50.0% to 50.0% of the deletions in 48"),
        ({"passes": 5}, "fewer-iterations", "They are 5.0 for m = 3 and 5.0 for m = 2"),
    ],
)
def test_what_was_measured_otherwise_refutes_a_claim(
    others: dict[str, float], name: str, finding: str
) -> None:
    found = claim(report(world(facts_of(synthetic=False, **others))), name)
    assert (found.verdict, finding in found.finding) == (FAILS, True), found.finding


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


def test_what_took_long_is_told_in_seconds(made: Report) -> None:
    assert claim(made, "first-iteration-longest").finding == (
        "It is so in 48 of 48 releases. The first and a later one take, as medians over targets, "
        "16.000 and 1.000 s at (k=2, m=2); in the paper 2 h 55 min 58 s and 9 min 25 s at "
        "(k=2, m=2). One run on one machine."
    )
    # 18/16 of 16 + 4 + 1 s for pairs and ten times that for triples: 259.875 s
    assert (
        "259.875 of logsize, 259.875 of users, 519.750 of fis" in claim(made, "fis-slowest").finding
    )
    assert (
        "16.000 s at (k=2, m=2) and 4.000 s at (k=20, m=2)"
        in claim(made, "larger-k-faster").finding
    )
    assert (
        "10.000 s at (k=100, m=3) and 1.000 s at (k=100, m=2)" in claim(made, "m-3-slower").finding
    )


SLOW: list[tuple[str, Callable[[list[float], Unit], list[float]], str]] = [
    (
        "first-iteration-longest",
        lambda took, unit: took[::-1] if unit.parameters["target"] == "bid" else took,
        "It is so in 42 of 48 releases.",
    ),
    (
        "fis-slowest",
        lambda took, unit: (
            [3 * each for each in took] if unit.parameters["target"] == "bid" else took
        ),
        "Slowest is bid",
    ),
    (
        "larger-k-faster",
        lambda took, unit: [5 * each for each in took] if unit.parameters["k"] == 20 else took,
        "16.000 s at (k=2, m=2) and 20.000 s at (k=20, m=2)",
    ),
    (
        "m-3-slower",
        lambda took, unit: [each / 10 for each in took] if unit.parameters["m"] == 3 else took,
        "16.000 s at (k=2, m=3) and 16.000 s at (k=2, m=2)",
    ),
]


@pytest.mark.parametrize(("name", "change", "finding"), SLOW)
def test_other_times_refute_a_claim_and_times_that_are_missing_leave_it_open(
    name: str, change: Callable[[list[float], Unit], list[float]], finding: str
) -> None:
    outcomes = world(facts_of(synthetic=False))
    of = {unit.name: unit for unit in outcomes.units}
    took = {unit: change(each, of[unit]) for unit, each in seconds(outcomes).items()}
    found = claim(report(outcomes, None, took), name)
    assert (found.verdict, finding in found.finding) == (FAILS, True), found.finding
    timed = next(unit for unit in took if len(took[unit]) > 1)
    some = {unit: each for unit, each in took.items() if unit != timed}
    for known, missing in ((some, 1), ({}, 48)):
        found = claim(report(outcomes, None, known), name)
        assert found.verdict == UNDECIDED
        assert found.finding == (f"Of {missing} of 48 releases no time was measured in this run.")
