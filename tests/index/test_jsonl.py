"""JSONL: one object a line."""

from __future__ import annotations

import io
import json

import pytest

from index import records
from index.jsonl import NOT_JSON, NOT_STRING, read_jsonl
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


def test_jsonl_reads_latin1_and_counts_it() -> None:
    found, account = jsonl('{"id": 1, "text": "café"}'.encode("latin-1"))
    assert found == [(1, Document("1", "", "café"))]
    assert account.latin1 == 1


def test_jsonl_skips_a_line_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LIMIT", 100)
    data = json.dumps({"id": 1, "text": "x" * 500}) + '\n{"id": 2, "text": "short"}'
    assert jsonl(data)[0] == [(1, records.TOO_LONG), (2, Document("2", "", "short"))]


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
