"""Datasets of ir_datasets, by the real library on datasets that are registered here."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import pytest

from index.corpora.irds import read_dataset
from index.model import Account, Document, SearchError

ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is an extra (irds)")


Passage = namedtuple("Passage", "doc_id text")
Page = namedtuple("Page", "doc_id url title body")
Crawled = namedtuple("Crawled", "doc_id url body")
Twofold = namedtuple("Twofold", "doc_id text body")


class Paper(namedtuple("Paper", "doc_id title abstract")):
    def default_text(self) -> str:
        return f"{self.title} {self.abstract}"


class Docs(ir_datasets.formats.BaseDocs):  # type: ignore[misc]
    def __init__(self, *records: Any) -> None:
        self.records = records

    def docs_iter(self) -> Iterator[Any]:
        for record in self.records:
            if isinstance(record, Exception):
                raise record
            yield record


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Register a dataset under the name `otters`."""

    def put(*records: Any) -> None:
        dataset = ir_datasets.Dataset(*([Docs(*records)] if records else []))
        monkeypatch.setitem(ir_datasets.registry._registered, "otters", dataset)

    return put


def test_fields_are_taken_by_their_names(register: Any) -> None:
    register(
        Passage("1", " They swim. "),
        Page("2", "http://a.example/", "Otters", "They dive."),
        Crawled("3", "http://b.example/", b"<html><title>R&amp;D</title>caf\xe9</html>"),
        Paper("4", "Otters", "They eat."),
        Passage("5", " "),
        Passage("", "x"),
        Passage("\ud800", "x"),
        Twofold("6", " ", b"They rest."),
    )
    account = Account()
    assert list(read_dataset("otters", account)) == [
        Document("1", "", "They swim."),
        Document("2", "Otters", "They dive.", "http://a.example/"),
        Document("3", "R&D", "café", "http://b.example/"),
        Document("4", "Otters", "They eat."),
        Document("6", "", "They rest."),
    ]
    assert account == Account(
        read=5,
        latin1=1,
        skipped={"no text": 1, "no id": 1, "id is not valid text": 1},
        first_skips=[
            ("otters", "document 5", "no text"),
            ("otters", "document 6", "no id"),
            ("otters", "document 7", "id is not valid text"),
        ],
    )


def refused(name: str) -> str:
    with pytest.raises(SearchError) as caught:
        list(read_dataset(name, Account()))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_no_dataset_is_refused(register: Any) -> None:
    said = "no such dataset; take an id of https://ir-datasets.com, such as vaswani"
    assert refused("no-such-otters") == f"no-such-otters: {said}"
    assert refused("") == f": {said}"
    register()
    assert refused("otters") == "otters: a dataset without documents; take the one it is based on"


def test_a_dataset_that_can_not_be_read_says_why(register: Any) -> None:
    register(Passage("1", "x"), ConnectionError("no\nroute"))
    assert refused("otters") == "otters: ir_datasets can't read it (no route)"
    register(RuntimeError())
    assert refused("otters") == "otters: ir_datasets can't read it (RuntimeError)"


def test_without_the_library_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert refused("vaswani") == (
        "format=irds needs ir_datasets; install it with: pip install ir-datasets"
    )
