from __future__ import annotations

import pytest

from search_app.accounts.codes import (
    NO_CODE,
    PUBLIC,
    SECRET,
    SIGNS,
    Code,
    hash_secret,
    make_code,
    public_part,
    read_code,
)

CODE = Code("7K3QD", "01ABCDEFGHJKMNPQRSTV")
WRITTEN = "7K3QD-01ABC-DEFGH-JKMNP-QRSTV"


@pytest.mark.parametrize(
    "typed",
    [
        WRITTEN,
        WRITTEN.lower(),
        WRITTEN.replace("-", ""),
        f"  {WRITTEN.replace('-', ' ')}\n",
        WRITTEN.replace("-", "–"),
        WRITTEN.replace("0", "O").replace("1", "I"),
        WRITTEN.replace("0", "o").replace("1", "l"),
    ],
)
def test_what_people_type_is_read(typed: str) -> None:
    assert (read_code(typed), str(CODE)) == (CODE, WRITTEN)


@pytest.mark.parametrize(
    "typed",
    [
        *("", "7K3QD", WRITTEN + "0", WRITTEN[:-1], WRITTEN.replace("V", "U")),
        *(WRITTEN + " " * 100, "ß" * 13, "٣" * 25, "\x00" * 25, "-" * 29),
    ],
)
def test_what_can_not_be_a_code_is_none(typed: str) -> None:
    assert read_code(typed) == NO_CODE


@pytest.mark.parametrize(
    ("typed", "public"),
    [
        (WRITTEN, "7K3QD"),
        (f" {WRITTEN[:-1].lower()} ", "7K3QD"),  # a sign too few
        (f"{WRITTEN}00", "7K3QD"),  # and two too many
        ("", ""),
        ("7k", "7K"),
        (WRITTEN.replace("V", "U"), None),  # no sign of a code
        (f"{WRITTEN}-000", None),
        (WRITTEN + " " * 100, None),
        ("the-operator-s-token-of-this-toy-site", None),
    ],
)
def test_a_code_typed_wrongly_has_a_public_part(typed: str, public: str | None) -> None:
    assert public_part(typed) == public


def test_codes_are_a_hundred_bits_and_differ() -> None:
    assert len(SIGNS) ** SECRET == 2**100
    assert not set("ILOU") & set(SIGNS)
    codes = {make_code() for _ in range(500)}
    assert len(codes) == 500
    assert {len(code.public) for code in codes} == {PUBLIC}
    assert all(read_code(str(code)) == code for code in codes)


def test_each_salt_gives_another_hash() -> None:
    hashes = {hash_secret("A", b"one"), hash_secret("A", b"two"), hash_secret("B", b"one")}
    assert len(hashes) == 3
    assert hash_secret("A", b"one") in hashes
