"""An experiment of one's own: every mean in one table, AP in one figure."""

from __future__ import annotations

from typing import Any

from search_app.experiments.design import Variant
from search_app.experiments.general import report


def test_every_variant_and_mode_is_listed(make_outcomes: Any) -> None:
    variants = [
        Variant("base", modes=("none",)),
        Variant("mine", "p-linkability", {"p": 0.4}, modes=("group", "random-groups")),
    ]
    levels = {"none": 0.25, "group": 0.75, "random-groups": 0.5}
    made = report(
        make_outcomes(
            variants, lambda _unit, mode, _pool: levels[mode], measures=("AP", "tau"), name="mine"
        )
    )
    (table,) = made.tables
    assert table.head == ("variant", "release", "mode", "pool", "AP", "tau")
    assert table.rows == (
        ("base", "no release", "none", "100", "0.250", "0.250"),
        ("mine", "p-linkability p=0.4", "group", "100", "0.750", "0.750"),
        ("mine", "p-linkability p=0.4", "random-groups", "100", "0.500", "0.500"),
    )
    (figure,) = made.figures
    assert [line.name for line in figure.lines] == [
        "none, pool 100",
        "group, pool 100",
        "random-groups, pool 100",
    ]
    assert figure.lines[1].points[0].x == "mine: p-linkability p=0.4"
    assert made.claims == ()
    told = " ".join(made.notes)
    assert "people asked" in told
    assert "paper" not in told  # it has none,
    assert "Holm" not in told  # and nothing is tested


def test_a_measure_that_is_undefined_leaves_a_dash(make_outcomes: Any) -> None:
    made = report(
        make_outcomes(
            [Variant("base", modes=("none",))],
            lambda _unit, _mode, _pool: float("nan"),
            measures=("AP",),
        )
    )
    assert made.figures == ()
    assert made.tables[0].rows == (("base", "no release", "none", "100", "–"),)
