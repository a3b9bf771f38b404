from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from search_app.web.tries import Busy, Tries, Turns


def test_the_sixth_try_of_a_code_in_a_minute_waits() -> None:
    tries = Tries()
    assert [tries.begin("a", "7K3QD", at) for at in (0, 1, 2, 3, 4, 5)] == [0, 0, 0, 0, 0, 60 - 5]
    assert tries.begin("a", "7K3QD", 59.5) == 1
    assert tries.begin("a", "7K3QD", 60) == 0  # the first is forgotten
    assert tries.begin("a", "7K3QD", 60) == 1  # the second is not


def test_another_code_from_the_same_address_goes_on() -> None:
    tries = Tries(each=1)
    assert tries.begin("a", "7K3QD", 0) == 0
    assert tries.begin("a", "7K3QD", 1) == 59
    assert tries.begin("a", "00000", 1) == 0


def test_an_address_waits_after_sixty_codes() -> None:
    tries = Tries()
    assert [tries.begin("a", f"C{number:04}", number / 2) for number in range(60)] == [0] * 60
    assert tries.begin("a", "7K3QD", 30) == 60 - 30
    assert tries.begin("a", "7K3QD", 60) == 0


def test_nobody_s_wrong_codes_keep_out_who_comes_from_elsewhere() -> None:
    tries = Tries()
    for number in range(1000):
        assert tries.begin(f"address {number // 5}", "7K3QD", 0) == 0
    assert tries.begin("address 0", "7K3QD", 0) == 60
    assert tries.begin("new", "7K3QD", 0) == 0


def test_the_operator_s_token_counts_alone() -> None:
    tries = Tries(each=2, all_=3)
    for code in ("a", "b", "c"):
        assert tries.begin("a", code, 0) == 0
    assert tries.begin("a", "d", 0) == 60
    assert [tries.begin("a", None, at) for at in (10, 20, 30)] == [0, 0, 10 + 60 - 30]
    other = Tries(each=2, all_=3)
    assert [other.begin("a", None, 0) for _ in range(3)] == [0, 0, 60]
    assert other.begin("a", "a", 0) == 0


def test_a_refused_try_does_not_count() -> None:
    tries = Tries(each=1)
    tries.begin("a", "c", 0)
    assert [tries.begin("a", "c", at) for at in (10, 20, 30)] == [50, 40, 30]
    assert tries.begin("a", "c", 60) == 0


def test_a_right_code_does_not_count() -> None:
    tries = Tries(each=1)
    for at in range(10):
        assert tries.begin("a", "c", at) == 0
        tries.take_back("a", "c")
    tries.take_back("a", "c")  # nothing is left to take back
    tries.take_back("b", "c")
    assert tries.begin("a", "c", 10) == 0
    tries.take_back("a", "d")  # of another code
    assert tries.begin("a", "c", 10) == 60


def test_who_waits_for_two_reasons_is_told_the_longer_time() -> None:
    tries = Tries(each=2, all_=3)
    for code, at in (("b", 0), ("a", 10), ("a", 20)):
        assert tries.begin("x", code, at) == 0
    assert tries.begin("x", "a", 30) == 60 + 10 - 30  # its own first, not the first of all
    assert tries.begin("x", "b", 30) == 60 + 0 - 30


def test_a_clock_set_back_forgets_what_is_to_come() -> None:
    tries = Tries(each=1)
    tries.begin("a", "c", 1000)
    assert tries.begin("a", "c", 0) == 0


def test_of_too_many_addresses_the_oldest_goes() -> None:
    tries = Tries(each=1, addresses=2)
    for address in ("a", "b", "a", "c"):  # a is refused the second time, and is the newer one
        tries.begin(address, "c", 0)
    assert [tries.begin(address, "c", 1) for address in ("a", "c")] == [59, 59]
    assert tries.begin("b", "c", 1) == 0


# -- turns --------------------------------------------------------------------------------------


def hold(turns: Turns, count: int) -> Callable[[], None]:
    """Let threads have or wait for a turn; return what ends that."""
    came, go = threading.Semaphore(0), threading.Event()

    def wait() -> None:
        with turns.turn():
            came.release()
            assert go.wait(10)

    threads = [threading.Thread(target=wait) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in range(min(count, 2)):
        assert came.acquire(timeout=10)

    def end() -> None:
        go.set()
        for thread in threads:
            thread.join()

    return end


def test_two_at_once_and_the_third_waits_no_longer_than_a_moment() -> None:
    turns = Turns(longest=0.01)
    end = hold(turns, 2)
    with pytest.raises(Busy), turns.turn():
        raise AssertionError("a third")
    end()
    for _ in range(10):  # all turns are given back
        with turns.turn():
            pass


def test_who_waits_comes_next() -> None:
    turns = Turns(longest=10)
    end = hold(turns, 4)  # two of them wait
    end()
    with turns.turn():
        pass


def test_where_enough_wait_nobody_else_does() -> None:
    turns = Turns(waiting=0, longest=10)
    end = hold(turns, 2)
    with pytest.raises(Busy), turns.turn():
        raise AssertionError("a third")
    end()
