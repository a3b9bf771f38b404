"""Corpora of a document a line: JSONL, and MS MARCO's tables of 2 or 4 columns."""

from __future__ import annotations

import io
import json

import pytest

from index.corpora import records
from index.corpora.lines import (
    NOT_COLUMNS,
    NOT_JSON,
    NOT_STRING,
    OTHER_COLUMNS,
    read_jsonl,
    read_tsv,
)
from index.corpora.reading import format_of
from index.model import Account, Document


def jsonl(data: str | bytes) -> tuple[list[tuple[int, Document | str]], Account]:
    account = Account()
    raw = data.encode() if isinstance(data, str) else data
    return list(read_jsonl(io.BytesIO(raw), account)), account


def test_jsonl_objects_have_id_title_text_and_url() -> None:
    data = '{"id": "a", "title": "T", "text": "one", "url": "http://example.org"}\n'
    assert jsonl(data)[0] == [(1, Document("a", "T", "one", "http://example.org"))]


@pytest.mark.parametrize(
    "line",
    [
        '{"docno": "7", "contents": " one "}',
        '{"pid": "7", "docid": "parent", "passage": "one"}',
        '{"docid": "7", "segment": "one"}',
        '{"doc_id": "7", "title": "", "abstract": "one", "body": null}',
        '{"id": 7, "body": "one", "abstract": "two"}',
        '{"_id": 7, "title": null, "text": "one", "more": [1]}',
        '\ufeff{"id": " 7 ", "text": "one"}',
        '{"id": "", "_id": "7", "text": " ", "contents": null, "body": "one"}',
    ],
)
def test_jsonl_names_may_be_the_usual_others(line: str) -> None:
    assert jsonl(line)[0] == [(1, Document("7", "", "one"))]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", NOT_JSON),
        ('["a"]', NOT_JSON),
        ("[" * 100_000, NOT_JSON),
        ('{"text": "x"}', records.NO_ID),
        ('{"id": true, "text": "x"}', records.NO_ID),
        ('{"id": " ", "text": "x"}', records.NO_ID),
        ('{"id": 1}', records.NO_TEXT),
        ('{"id": 1, "text": ["x"]}', NOT_STRING),
        ('{"id": 1, "text": "x", "url": 5}', NOT_STRING),
    ],
)
def test_jsonl_says_what_it_can_not_use(line: str, reason: str) -> None:
    good = '{"id": 2, "text": "x"}'
    assert jsonl(f"\n{line}\n{good}")[0] == [(2, reason), (3, Document("2", "", "x"))]


def test_a_line_that_never_ends_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LIMIT", 100)
    data = json.dumps({"id": 1, "text": "x" * 500}) + '\n{"id": 2, "text": "short"}'
    found = [(1, records.TOO_LONG), (2, Document("2", "", "short"))]
    assert jsonl(data)[0] == tsv(f"1\t{'x' * 500}\n2\tshort") == found


def test_ids_that_would_become_others_are_skipped() -> None:
    """Cleaned, the first two would both be `?`, and the third `a b`."""
    names = (r"\ud800", r"\udfff", r"a\u0000b", r"\ud83d\ude00")
    found, _ = jsonl("\n".join(f'{{"id": "{name}", "text": "x"}}' for name in names))
    assert [document for _, document in found] == [
        *[records.BAD_ID] * 3,
        Document("😀", "", "x"),
    ]


def test_nuls_and_lone_surrogates_are_cleaned() -> None:
    ((_, document),), _ = jsonl(r'{"id": 1, "text": "a\u0000b \ud800 \ud83d\ude00"}')
    assert document == Document("1", "", "a b ? 😀")


def tsv(data: str | bytes) -> list[tuple[int, Document | str]]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_tsv(io.BytesIO(raw), Account()))


def test_tsv_of_two_columns_are_id_and_text_and_four_have_url_and_title() -> None:
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


def test_tsv_lines_without_id_text_or_the_right_columns_are_skipped() -> None:
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


@pytest.mark.parametrize(
    ("first", "form"), [("1\tx", "tsv"), ("1\tu\tt\tx", "tsv"), ("q\td\t1", None), ("x", None)]
)
def test_a_table_is_told_by_suffix_and_columns(first: str, form: str | None) -> None:
    assert format_of(".tsv", f"{first}\n1\tx\n".encode()) == form
