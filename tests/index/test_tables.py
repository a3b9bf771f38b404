"""MS MARCO's tables: 2 or 4 columns."""

from __future__ import annotations

import io

import pytest

from index import records
from index.formats import tell
from index.model import Account, Document
from index.tables import NOT_COLUMNS, OTHER_COLUMNS, read_tsv


def tsv(data: str | bytes) -> list[tuple[int, Document | str]]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_tsv(io.BytesIO(raw), Account()))


def test_two_columns_are_id_and_text_and_four_have_url_and_title() -> None:
    assert tsv("0\tOtters swim.\r\n1\t Otters \tdive.\n2\tThey eat.") == [
        (1, Document("0", "", "Otters swim.")),
        (2, OTHER_COLUMNS),
        (3, Document("2", "", "They eat.")),
    ]
    assert tsv('D1\thttp://a.example/\tOtters\tThey "swim.\nD2\t\t\tx\nD3\tx') == [
        (1, Document("D1", "Otters", 'They "swim.', "http://a.example/")),
        (2, Document("D2", "", "x")),
        (3, OTHER_COLUMNS),
    ]


def test_lines_without_id_text_or_the_right_columns_are_skipped() -> None:
    assert tsv("one\na\tb\tc\n\n\tx\n5\t\n6\tsix\n") == [
        (1, NOT_COLUMNS),
        (2, NOT_COLUMNS),
        (4, records.NO_ID),
        (5, records.NO_TEXT),
        (6, Document("6", "", "six")),
    ]


def test_a_byte_order_mark_is_no_part_of_the_id() -> None:
    assert tsv("\ufeff1\tone\n\ufeff2\ttwo") == [
        (1, Document("1", "", "one")),
        (2, Document("\ufeff2", "", "two")),
    ]


def test_a_line_that_never_ends_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LIMIT", 100)
    assert tsv(f"1\t{'x' * 500}\n2\tshort") == [
        (1, records.TOO_LONG),
        (2, Document("2", "", "short")),
    ]


@pytest.mark.parametrize(
    ("first", "form"), [("1\tx", "tsv"), ("1\tu\tt\tx", "tsv"), ("q\td\t1", None), ("x", None)]
)
def test_a_table_is_told_by_suffix_and_columns(first: str, form: str | None) -> None:
    assert tell(".tsv", f"{first}\n1\tx\n".encode()) == form
