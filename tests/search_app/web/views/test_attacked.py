"""What attackers got, in sentences: rounded up, and each of a figure of the certificate."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.certificate import BOUNDED, FREE, NOT_PROMISED
from search_app.web.views.attacked import sentences


def line(attack: str, measure: str, value: float, **more: Any) -> dict[str, Any]:
    usual = {"known": None, "choice": None, "raw": 1.0, "promised": None, "low": value}
    return {"attack": attack, "measure": measure, "value": value, "high": value, **usual, **more}


def shown(*lines: dict[str, Any], victims: int = 99) -> list[str]:
    named = [*NOT_PROMISED]
    return sentences({"attacks": [*lines], "not_promised": named, "victims": victims})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            line("linking", "top-1", 0.8, known=3, choice="random"),
            "Someone who knows three of your interests finds your row in up to 8 of 10 cases. "
            "Without any method it is up to 10 of 10 cases.",
        ),
        (
            line("linking", "top-1", 0.0, known=1, choice="rarest", raw=0.9),
            "Someone who knows your rarest interest finds your row in no case. Without any method "
            "it is up to 9 of 10 cases.",
        ),
        (
            line("linking", "top-1", 0.1, known=5, choice="rarest", raw=0.9),
            "Someone who knows your 5 rarest interests finds your row in up to 1 of 10 cases. "
            "Without any method it is up to 9 of 10 cases.",
        ),
        (
            line("inference", "column: true terms claimed beyond p", 0.4, known=0),
            "Someone who knows your row, and reads one interest at a time, becomes much surer than "
            "before of up to 4 of 10 of your interests.",
        ),
        (
            line("singling-out", "naming the person behind a row, smallest row", 1 / 3,
                 promised=1 / 3),
            "Who stands behind a row is guessed rightly with a chance of up to 34 %. At most 34 % "
            "is promised.",
        ),
        (
            line("fitting", "largest change of belief", 0.345, promised=0.345),
            "Someone who has all profiles, without names, and learns which row is yours changes "
            "their belief about any interest by up to 35 percentage points. At most 35 is "
            "promised.",
        ),
    ],
)  # fmt: skip
def test_a_figure_is_a_sentence(line: dict[str, Any], sentence: str) -> None:
    assert shown(line)[0] == sentence


def test_every_measure_has_a_sentence_without_gaps() -> None:
    for table, promised in ((BOUNDED, 0.5), (FREE, None)):
        for attack, measures in table.items():
            for measure in measures:
                one = line(attack, measure, 0.5, known=3, choice="random", promised=promised)
                sentence = shown(one)[0]
                assert sentence.endswith(".")
                assert "{" not in sentence


def test_what_is_not_promised_is_named_and_nothing_is_said_without_a_certificate() -> None:
    assert sentences({}) == []
    bound = line("inference", "column: largest real change of belief", 0.4, promised=0.4)
    few = shown(bound)
    assert few[1].startswith("So few people are in it")
    assert shown(bound, victims=100)[1].startswith("Its rows have words that stand for others")
    assert few[-1].startswith("Not promised: that nobody finds out which row is yours; ")
