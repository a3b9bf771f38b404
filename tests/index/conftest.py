"""A toy corpus of five documents, and the simplest analysis."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from index.build import build_index
from index.model import Account, Document

Build = Callable[[Sequence[Document], Path], Path]


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
        build_index(documents, words, folder, account=Account())
        return folder

    return built
