"""What Java can't do is one line: too large a heap, no room left, a path that is not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from index.lucene import java, jvm
from index.model import SearchError


def test_a_heap_that_cannot_be_reserved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def refused(_file: int, size: int, **_how: Any) -> None:
        asked.append(size)
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(jvm.mmap, "mmap", refused)
    with pytest.raises(SearchError, match="can't reserve heap=512m and 3 GB besides; set a small"):
        jvm._refuse_no_room("512m")
    assert asked == [(512 << 20) + (3 << 30)]


@pytest.mark.parametrize(("size", "good"), [(699, True), (701, False)])
def test_arrays_without_room_are_refused(
    monkeypatch: pytest.MonkeyPatch, size: int, good: bool
) -> None:
    free = [100, 300]  # before and after garbage is collected

    runtime = SimpleNamespace(
        maxMemory=lambda: 1000,
        totalMemory=lambda: 600,
        freeMemory=lambda: free[0],
        gc=lambda: free.pop(0) if free[1:] else None,
    )
    monkeypatch.setattr(java, "java", lambda _: SimpleNamespace(getRuntime=lambda: runtime))
    if good:
        java.refuse_no_room(size)
    else:
        with pytest.raises(SearchError, match="Java's memory is full; set a larger heap"):
            java.refuse_no_room(size)


def test_a_path_that_is_not_utf_8_is_not_blamed_on_the_index(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff"))
    with pytest.raises(SearchError, match="Lucene needs a path in UTF-8; rename that folder"):
        java.directory(folder)
