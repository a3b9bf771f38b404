from __future__ import annotations

import pytest

from search_app.web.visitors.tries import Tries

Tried = tuple[str, str | None, float, int]  # from where, which code, when; how long to wait
TRIED: dict[str, tuple[Tries, list[Tried]]] = {
    "the sixth try of a code in a minute": (
        Tries(),
        [
            *(("a", "7K3QD", at, 0) for at in range(5)),
            *(("a", "7K3QD", 5, 60 - 5), ("a", "7K3QD", 59.5, 1)),
            ("a", "7K3QD", 60, 0),  # the first is forgotten
            ("a", "7K3QD", 60, 1),  # the second is not
        ],
    ),
    "another code from the same address": (
        Tries(by_code=1),
        [("a", "7K3QD", 0, 0), ("a", "7K3QD", 1, 59), ("a", "00000", 1, 0)],
    ),
    "any number of other codes": (
        Tries(),
        [*(("a", f"C{number:04}", 0, 0) for number in range(1000)), ("a", "7K3QD", 0, 0)],
    ),
    "a code from elsewhere": (
        Tries(),
        [
            *((f"address {number // 5}", "7K3QD", 0, 0) for number in range(1000)),
            *(("address 0", "7K3QD", 0, 60), ("new", "7K3QD", 0, 0)),
        ],
    ),
    "the operator's token beside codes": (
        Tries(by_code=2),
        [
            *(("a", code, 0, 0) for code in "bcd"),
            *(("a", None, 10, 0), ("a", None, 20, 0), ("a", None, 30, 10 + 60 - 30)),
        ],
    ),
    "a code beside the operator's token": (
        Tries(by_code=2),
        [("a", None, 0, 0), ("a", None, 0, 0), ("a", None, 0, 60), ("a", "a", 0, 0)],
    ),
    "a refused try, which does not count": (
        Tries(by_code=1),
        [("a", "c", 0, 0), *(("a", "c", at, 60 - at) for at in (10, 20, 30)), ("a", "c", 60, 0)],
    ),
    "a clock set back": (Tries(by_code=1), [("a", "c", 1000, 0), ("a", "c", 0, 0)]),
    "too many addresses, of which the oldest goes": (
        Tries(by_code=1, kept=2),
        [
            *(("a", "c", 0, 0), ("b", "c", 0, 0)),
            ("a", "c", 0, 60),  # refused, and the newer one
            *(("c", "c", 0, 0), ("a", "c", 1, 59), ("c", "c", 1, 59), ("b", "c", 1, 0)),
        ],
    ),
}


@pytest.mark.parametrize(("tries", "tried"), TRIED.values(), ids=TRIED)
def test_who_tries_wrong_codes_waits(tries: Tries, tried: list[Tried]) -> None:
    assert [tries.begin(where, code, when) for where, code, when, _ in tried] == [
        wait for *_, wait in tried
    ]


def test_a_right_code_does_not_count() -> None:
    tries = Tries(by_code=1)
    for at in range(10):
        assert tries.begin("a", "c", at) == 0
        tries.take_back("a", "c")
    tries.take_back("a", "c")  # nothing is left to take back
    tries.take_back("b", "c")
    assert tries.begin("a", "c", 10) == 0
    tries.take_back("a", "d")  # of another code
    assert tries.begin("a", "c", 10) == 60
