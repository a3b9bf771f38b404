"""Secret orders: told by the key, and by nothing else."""

from __future__ import annotations

import hashlib

import pytest

from anonymizer.errors import BadParameter
from anonymizer.rows.secret_order import fresh_key, refuse_no_key, secret_numbers, secret_order

KEY = bytes(range(32))


def test_numbers_are_those_of_shake() -> None:
    drawn = hashlib.shake_256(KEY + "ties of \u00fc".encode()).digest(24)
    expected = [int.from_bytes(drawn[at : at + 8], "little") for at in (0, 8, 16)]
    assert secret_numbers(KEY, "ties of \u00fc", 3).tolist() == expected


def test_an_order_is_that_of_the_numbers() -> None:
    numbers = secret_numbers(KEY, "groups", 50).tolist()
    assert secret_order(KEY, "groups", 50).tolist() == sorted(range(50), key=numbers.__getitem__)


def test_another_key_or_another_use_makes_another_order() -> None:
    order = secret_order(KEY, "groups", 50).tolist()
    assert order != secret_order(KEY[::-1], "groups", 50).tolist()
    assert order != secret_order(KEY, "left over", 50).tolist()


def test_no_key_is_drawn_twice() -> None:
    keys = {fresh_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}


def test_a_key_that_is_none_is_refused_without_being_shown() -> None:
    for key in (None, b"short"):
        with pytest.raises(BadParameter, match="a secret key of 32 bytes") as refused:
            refuse_no_key(key)
        assert "short" not in str(refused.value)
