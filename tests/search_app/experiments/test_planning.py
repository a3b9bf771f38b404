"""Variants to units: one release is made once, whoever asks for it."""

from __future__ import annotations

from typing import Any

from search_app.experiments.design import Variant
from search_app.experiments.planning import units_of


def variant(name: str, p: float = 0.4, **rest: Any) -> Variant:
    return Variant(name, "p-linkability", {"p": p}, complete={"p": p, "a": 1}, **rest)


def test_variants_that_need_the_same_release_share_a_unit() -> None:
    one = variant("one", modes=("group", "left-out"), pools=(50, 100), seeds=(0, 1))
    other = Variant("other", "p-linkability", complete={"a": 1, "p": 0.4}, pools=(100, 1000))
    first, second = units_of([one, other])
    assert (first.name, first.seed, second.name, second.seed) == ("u001", 0, "u002", 1)
    assert first.asked == (
        ("group", 50), ("group", 100), ("group", 1000), ("left-out", 50), ("left-out", 100),
    )  # fmt: skip
    assert second.asked == (*first.asked[:2], *first.asked[3:])
    assert first.serves(one)
    assert first.serves(other)
    assert not second.serves(other)


def test_another_parameter_weight_vector_or_method_is_another_unit() -> None:
    units = units_of(
        [
            variant("a"),
            variant("a", p=0.1),
            variant("a", weights="tf"),
            variant("a", vectors="tf"),
            Variant("a", modes=("none",)),
            variant("again"),
        ]
    )
    assert [unit.name for unit in units] == ["u001", "u002", "u003", "u004", "u005"]
    assert [unit.label for unit in units] == [
        "p-linkability p=0.4",
        "p-linkability p=0.1",
        "p-linkability p=0.4 weights=tf",
        "p-linkability p=0.4 vectors=tf",
        "no release",
    ]


def test_a_whole_number_and_its_float_are_not_mixed_up_with_text() -> None:
    given: list[Any] = [1, "1", None]
    units = units_of([Variant("a", "m", complete={"x": value}) for value in given])
    assert [unit.parameters["x"] for unit in units] == given
