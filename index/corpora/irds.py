"""Datasets of ir_datasets by their ids; the only module that imports ir_datasets. [I/O]"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten
from typing import Any

from ..model import Account, Document, SearchError
from . import records
from .html import is_page, read_page

LONGEST_REASON = 200  # characters; a failed download's reason lists every address that was tried
_TEXTS = ("text", "body", "contents")


def read_dataset(name: str, account: Account) -> Iterator[Document]:
    """Yield the documents of dataset `name`; ir_datasets downloads what it does not have yet."""
    for number, record in enumerate(_records(name), 1):
        title = _field(record, ("title",), account)
        text = _field(record, _TEXTS, account)
        if is_page(text):
            named, text = read_page(text)
            title = title or named
        if not text and hasattr(record, "default_text"):
            text = str(record.default_text() or "").strip().removeprefix(title).strip()
        url = _field(record, ("url",), account)
        document = records.document_of(_field(record, ("doc_id",), account), title, text, url)
        if isinstance(document, str):
            account.skip(name, f"document {number}", document)
        else:
            account.read += 1
            yield document


def _records(name: str) -> Iterator[Any]:
    # An optional package.
    try:
        import ir_datasets
    except ImportError as error:
        raise SearchError(
            "format=irds needs ir_datasets; install it with: pip install ir-datasets"
        ) from error
    try:
        dataset = ir_datasets.load(name)
    except KeyError as error:
        raise SearchError(
            f"{name}: no such dataset; take an id of https://ir-datasets.com, such as vaswani"
        ) from error
    if not dataset.has_docs():
        raise SearchError(f"{name}: a dataset without documents; take the one it is based on")
    try:
        yield from dataset.docs_iter()
    except Exception as error:  # datasets differ: download, archive, missing package
        why = shorten(str(error), LONGEST_REASON) or type(error).__name__
        raise SearchError(f"{name}: ir_datasets can't read it ({why})") from error


def _field(record: Any, names: tuple[str, ...], account: Account) -> str:
    """Return the first field of `names` that is not empty, as text."""
    values = (getattr(record, name, None) for name in names)
    texts = (
        records.decode(value, True, account) if isinstance(value, bytes) else value
        for value in values
        if isinstance(value, bytes | str)
    )
    return str(records.first(texts)).strip()
