"""A toy corpus of five documents, and the simplest analysis."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.build import build_index
from index.model import Account, Document

Build = Callable[[Sequence[Document], Path], Path]


class Counter:
    """Counts terms the obvious way."""

    def __init__(self, analyse: Callable[[str], Iterable[str]]) -> None:
        self._analyse = analyse
        self._number: dict[str, int] = {}

    @property
    def terms(self) -> list[str]:
        return list(self._number)

    def count(self, texts: Sequence[str]) -> tuple[Any, Any, Any]:
        rows = [collections.Counter(self._analyse(text)) for text in texts]
        number = self._number
        columns = [number.setdefault(term, len(number)) for row in rows for term in row]
        tf = [count for row in rows for count in row.values()]
        ends = np.cumsum([len(row) for row in rows])
        return np.array(columns, dtype=np.int32), np.array(tf, dtype=np.int32), ends


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


@pytest.fixture
def toys() -> list[Document]:
    return [
        Document("d0", "", "zebra zebra lion lion"),
        Document("d1", "", "zebra lion"),
        Document("d2", "Pumas", "zebra tiger lion", "http://example.org/2"),
        Document("d3", "", "zebra lion"),
        Document("d4", "", "panda bamboo"),
    ]


@pytest.fixture
def build() -> Build:
    def built(documents: Sequence[Document], folder: Path) -> Path:
        build_index(documents, Counter(words), folder, account=Account())
        return folder

    return built
