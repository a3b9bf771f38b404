"""Tables, figures and notes of the burghardt experiment, of outcomes that can be worked out."""

from __future__ import annotations

import pytest

from search_app.experiments.burghardt.shares import Cell, KeptShares
from search_app.experiments.burghardt.tables import significance
from search_app.experiments.design import Unit
from search_app.experiments.report.report import Report, Table, as_record, from_record

from .burghardt_world import TARGETS, facts_of, release, report, seconds, world


@pytest.fixture(scope="module")
def made() -> Report:
    return report(world())


def table(made: Report, name: str) -> Table:
    (found,) = [each for each in made.tables if each.name == name]
    assert all(len(row) == len(found.head) for row in found.rows)
    return found


def row(made: Report, name: str, *begin: str) -> tuple[str, ...]:
    (found,) = [row for row in table(made, name).rows if row[: len(begin)] == begin]
    return found[len(begin) :]


def test_all_parts_are_there_and_are_written_and_read(made: Report) -> None:
    assert [each.name for each in made.figures] == ["tradeoff", "figure-1", "figure-2"]
    names = "table-3 table-5 table-6 table-7 iterations insertion gains reinsertion search"
    assert " ".join(each.name for each in made.tables) == names
    assert from_record(as_record(made)) == made


def test_table_3_has_correlations_their_number_and_a_mark(made: Report) -> None:
    found = table(made, "table-3")
    assert found.head == ("", "of", "revenue", "impressions", "clicks", "bid", "user frequency")
    assert row(made, "table-3", "term frequency", "corr.") == (*["0.100*"] * 4, "0.800*")
    # r = 0.1 of 1,000 terms: t = 3.175; p = 0.0008 in tables of the normal distribution
    assert row(made, "table-3", "term frequency", "sig.") == ("< 0.001",) * 5
    assert row(made, "table-3", "term frequency", "N") == (*["1,000"] * 4, "5,000")
    # r = -0.01 of 1,000 terms: t = -0.316, p = 0.376
    assert row(made, "table-3", "bid", "corr.") == ("0.100*", "0.100*", "-0.010", "", "")
    assert row(made, "table-3", "bid", "sig.") == ("< 0.001", "< 0.001", "0.376", "", "")
    assert row(made, "table-3", "bid", "N") == ("1,000", "1,000", "1,000", "", "")
    assert row(made, "table-3", "impressions", "corr.") == ("0.100*", "", "", "", "")
    assert "empty cell of the table is read like 0" in found.about


def test_significance_is_one_tailed() -> None:
    # n = 3 has one degree of freedom: p = 1/2 - atan(t) / pi, and t = 1 where r = 1 / sqrt(2)
    assert significance(0.5**0.5, 3) == pytest.approx(1 / 4)
    assert significance(-(0.5**0.5), 3) == pytest.approx(1 / 4)
    assert significance(1.0, 3) == 0


def test_table_5_has_the_best_of_each_measure(made: Report) -> None:
    synthetic = [f"{name} (synthetic) %" for name in ("bid", "clicks", "impressions", "revenue")]
    assert table(made, "table-5").head == (
        "k, m",
        *("dist. terms %", "log size %", "users %"),
        *synthetic,
    )
    assert row(made, "table-5", "2, 2") == (
        "11.00 (random)",
        *("45.0", "95.0", "51.0", "85.0", "85.0", "61.0"),
    )
    assert row(made, "table-5", "100, 3")[:3] == ("0.20 (random)", "18.0", "70.0")
    assert row(made, "insertion", "2, 2")[:3] == ("14.00 (random)", "48.0", "98.0")
    assert row(made, "gains", "2, 2") == ("+3.00", *["+3.0"] * 6)


def test_tables_6_and_7_have_what_the_others_stay_behind(made: Report) -> None:
    terms, log, users = (row(made, "table-6", "100, 2")[at : at + 4] for at in (0, 4, 8))
    assert terms == ("0.00", "0.0", "0.10", "0.10")  # random is the best
    assert log == ("5.0", "28.0", "2.0", "2.0")  # 0.28 * 18 = 5.04
    assert users == ("1.0", "1.4", "1.0", "1.0")  # 1 of 70
    clicks = row(made, "table-7", "2, 3")[4:8]
    assert clicks == ("20.0", "23.5", "41.0", "20.0")  # bid is the worst; 20 of 85
    assert table(made, "table-7").head[5:7] == (
        "clicks (synthetic): R",
        "clicks (synthetic): R / best %",
    )
    for name in ("table-6", "table-7"):
        assert "R is read as R / best" in table(made, name).about


def test_iterations_and_reinsertion(made: Report) -> None:
    assert row(made, "iterations", "2, 2")[:5] == ("6", "1,000", "90.0", "–", "–")
    assert row(made, "reinsertion", "20, 2", "logsize") == ("30.0", "31.0", "+1.0", "33.0")
    # of random's loss, 0.14 * 30 = 4.2, a tenth is left, and a point is won
    assert row(made, "reinsertion", "20, 2", "random") == ("25.8", "30.6", "+4.8", "31.0")


def test_the_seconds_of_passes_stand_beside_the_papers() -> None:
    outcomes = world()
    made = report(outcomes, seconds(outcomes))
    # seven targets take 16 s, and fis 32
    papers = ("2 h 55 min 58 s", "9 min 25 s")
    assert row(made, "iterations", "2, 2")[3:] == ("16.000", "1.000", *papers)
    assert row(made, "iterations", "2, 3")[3:] == ("160.000", "10.000", "90 h 8 min 24 s", "")
    assert row(made, "iterations", "20, 2")[3:] == ("4.000", "0.250", "", "")
    assert row(made, "iterations", "2, 1")[3:] == ("–", "–", "", "")


def test_what_differs_by_target_is_told_from_least_to_most() -> None:
    facts = facts_of()

    def some(unit: object) -> dict[str, float]:
        found = facts(unit)  # type: ignore[arg-type]
        if "passes" in found and unit.parameters["target"] == "bid":  # type: ignore[attr-defined]
            return {**found, "passes": 9, "deletions": 2000}
        return found

    made = report(world(some))
    assert row(made, "iterations", "2, 2")[:3] == ("6 to 9", "1,000 to 2,000", "45.0 to 90.0")


def test_the_search_table_sets_reduced_profiles_beside_groups_of_k(made: Report) -> None:
    gap = "+0.200 (+0.200 to +0.200)"
    name = "reduced profiles, insert, m = 2"
    found = row(made, "search", name, "20", "100")
    assert found == ("0.800", "0.775 to 0.825", "0.800", gap, "< 0.001", "89.0%", "1.00", "0.990")
    assert row(made, "search", "groups", "20", "100")[3:] == ("–", "–", "100.0%", "20.00", "0.050")
    assert row(made, "search", "groups, p = 0.4", "–", "100")[-2:] == ("3.00", "0.333")
    assert row(made, "search", "no personalization", "–", "100")[0] == "0.300"


def test_figures_follow_each_target_over_k(made: Report) -> None:
    plane, first, second = made.figures
    assert [line.name for line in plane.lines][-3:] == [
        "groups",
        "no personalization",
        "global average",
    ]
    assert [line.name for line in first.lines] == [*TARGETS, "insertion, best target"]
    log = {line.name: [(p.x, round(p.value, 4)) for p in line.points] for line in first.lines}
    assert log["logsize"] == [(2, 0.37), (20, 0.30), (100, 0.18)]  # m = 3
    assert log["insertion, best target"] == [(2, 0.40), (20, 0.33), (100, 0.21)]
    clicks = {line.name: [round(p.value, 4) for p in line.points] for line in second.lines}
    assert clicks["bid"] == [0.44, 0.34, 0.20]
    assert (second.up, "synthetic" in second.about) == ("clicks (synthetic) kept", True)


def test_notes_tell_what_was_taken_and_whose_table_it_is(made: Report) -> None:
    told = " ".join(made.notes)
    assert "2,400 histories hold 250,000 distinct terms, 60,000 occurrences" in told
    assert "7 people with a session of more than 100 queries were skipped" in told
    assert "66.0% of the occurrences are of such terms" in told
    assert "The marketing table is synthetic" in told
    given = report(world(facts_of(synthetic=False)))
    assert "marketing table that was given" in " ".join(given.notes)
    assert "synthetic" not in str(as_record(given))


def test_a_note_tells_what_insertion_by_random_is(made: Report) -> None:
    told = "target random visits the terms in an order that the seed draws"
    assert any(told in note for note in made.notes)
    without = world(keep=lambda each: each.complete.get("target") != "random")
    assert not any(told in note for note in report(without).notes)


def test_no_table_no_value() -> None:
    def bare(unit: object) -> dict[str, float]:
        found = facts_of()(unit)  # type: ignore[arg-type]
        market = ("bid", "clicks", "impressions", "revenue", "synthetic")
        return {name: value for name, value in found.items() if not name.endswith(market)}

    made = report(world(bare))
    assert table(made, "table-5").head == ("k, m", "dist. terms %", "log size %", "users %")
    assert "table-7" not in [each.name for each in made.tables]
    assert "figure-2" not in [each.name for each in made.figures]
    assert row(made, "table-3", "term frequency", "corr.") == ("", "", "", "", "0.800*")
    assert row(made, "table-3", "term frequency", "N") == ("", "", "", "", "5,000")
    assert len(table(made, "table-3").rows) == 3


def test_whatever_is_missing_is_left_out() -> None:
    nothing = report(world(keep=lambda _: False))
    assert (nothing.figures, nothing.tables, nothing.claims) == ((), (), ())
    names = {each.name for each in world().experiment.variants}
    assert names == {"input", "tables", "reinsert", "baselines", "search"}
    for name in names:
        for keep in (lambda v, n=name: v.name == n, lambda v, n=name: v.name != n):
            made = report(world(keep=keep))
            assert from_record(as_record(made)) == made
    for algorithm in ("greedy", "insert"):
        report(world(keep=lambda v, a=algorithm: v.complete.get("algorithm") == a))


def test_shares_are_means_over_seeds_of_what_all_have() -> None:
    from ..conftest import outcomes_of

    seeded = release("tables", k=2, target="random", seeds=(0, 1))
    outcomes = outcomes_of(
        [seeded],
        lambda *_: 0.5,
        lambda unit: {"kept_users": 0.25 + unit.seed / 2, **({"odd": 1.0} if unit.seed else {})},
    )
    shares = KeptShares(outcomes)
    assert shares.of("greedy", Cell(2, 2), "random", "users") == (0.25 + 0.75) / 2
    assert shares.fact("greedy", Cell(2, 2), "random", "odd") is None


def test_levels_at_which_nothing_is_kept_are_told() -> None:
    """At k = 100 no release is to be had."""

    def facts(unit: Unit) -> dict[str, float]:
        found = facts_of()(unit)
        if unit.method != "km-anonymity" or unit.parameters["k"] < 100:
            return found
        return {"unsatisfiable": 1, **{name: 0.0 for name in found if name.startswith("kept_")}}

    made = report(world(facts))
    assert "releases are impossible, as nothing of these people could be kept" in made.notes[0]
    (gains,) = (table for table in made.tables if table.name == "gains")
    assert any({*row} >= {"0.0"} for row in gains.rows)
