"""Terms told by sums over their letters: all of them, or nothing is said."""

from __future__ import annotations

import json
import random

import pytest

from anonymizer.arrays import Ints
from anonymizer.verification.files import term_spotting
from anonymizer.verification.files.term_spotting import spot_terms

TERMS = sorted({"a", "ab", "aba", "abb", "b", "ba", "Ünïcödé", "two words", "{}: ,", "x" * 70})


def line(terms: list[str], name: str = "g1") -> bytes:
    record = {"row": name, "users": 1, "terms": dict.fromkeys(terms, 1.0)}
    return f"{json.dumps(record, ensure_ascii=False)}\n".encode()


def spotted(content: bytes) -> tuple[Ints, Ints] | None:
    return spot_terms(content, TERMS, 4)


@pytest.mark.parametrize("letters", [1, 60, 200, 1_000_000])
def test_every_line_s_terms_are_told(monkeypatch: pytest.MonkeyPatch, letters: int) -> None:
    """However few letters are taken at once, and where one text has more."""
    monkeypatch.setattr(term_spotting, "_AT_ONCE", letters)
    rng = random.Random(letters)  # noqa: S311
    rows = [rng.sample(TERMS, rng.randint(0, len(TERMS))) for _ in range(200)]
    found = spotted(b"".join(map(line, rows)))
    assert found is not None
    ends, columns = found
    assert ends.tolist() == [sum(map(len, rows[:at])) for at in range(len(rows) + 1)]
    assert [TERMS[number] for number in columns.tolist()] == [t for row in rows for t in row]


@pytest.mark.parametrize(
    "content",
    [
        line(["abc"]),  # no such term
        line([""]),
        line(["a"]).replace(b'"a"', b'"\\u0061"'),  # an escape
        line(["a"]).removesuffix(b"\n"),
        line(["a"]).replace(b'"a"', b'"a'),  # an odd number of quotation marks
        b"{}\n",  # fewer than stand before all terms
        b"\n",
        b"",
    ],
)
def test_nothing_is_said_where_it_is_not_sure(content: bytes) -> None:
    assert spotted(line(["a", "b"]) + content if content else content) is None


def test_what_is_wrong_may_be_spotted() -> None:
    """It is for a comparison byte by byte to find that this is no row."""
    found = spotted(line(["a", "b"]).replace(b"1.0", b"???"))
    assert found is not None
    assert found[1].tolist() == [TERMS.index("a"), TERMS.index("b")]
