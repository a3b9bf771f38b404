from __future__ import annotations

from search_app.web.tries import Tries


def test_the_sixth_try_in_a_minute_waits() -> None:
    tries = Tries()
    assert [tries.begin("a", at) for at in (0, 1, 2, 3, 4, 5)] == [0, 0, 0, 0, 0, 60 - 5]
    assert tries.begin("a", 59.5) == 1
    assert tries.begin("a", 60) == 0  # the first is forgotten
    assert tries.begin("a", 60) == 1  # the second is not


def test_other_addresses_go_on_until_there_are_thirty() -> None:
    tries = Tries()
    assert [tries.begin(str(number % 6), number) for number in range(30)] == [0] * 30
    assert tries.begin("new", 30) == 60 - 30
    assert tries.begin("new", 60) == 0


def test_a_refused_try_does_not_count() -> None:
    tries = Tries(each=1)
    tries.begin("a", 0)
    assert [tries.begin("a", at) for at in (10, 20, 30)] == [50, 40, 30]
    assert tries.begin("a", 60) == 0


def test_a_right_code_does_not_count() -> None:
    tries = Tries(each=1)
    for at in range(10):
        assert tries.begin("a", at) == 0
        tries.take_back("a")
    tries.take_back("a")  # nothing is left to take back
    assert tries.begin("a", 10) == 0
    assert tries.begin("a", 10) == 60


def test_the_address_that_waits_longest_for_itself_is_told_so() -> None:
    tries = Tries(each=2, all_=3)
    for address, at in (("b", 0), ("a", 10), ("a", 20)):
        assert tries.begin(address, at) == 0
    assert tries.begin("a", 30) == 60 + 10 - 30  # its own first, not the first of all
    assert tries.begin("b", 30) == 60 + 0 - 30


def test_a_clock_set_back_forgets_what_is_to_come() -> None:
    tries = Tries(each=1)
    tries.begin("a", 1000)
    assert tries.begin("a", 0) == 0
