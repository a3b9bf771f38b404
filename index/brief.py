"""What is spared where one search is answered: checks made before, and a second compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ONE = ContextVar("one search", default=False)


@contextmanager
def one_search() -> Iterator[None]:
    """Open meanwhile what one search needs: see `faults_of` and `jvm.start`."""
    before = _ONE.set(True)
    try:
        yield
    finally:
        _ONE.reset(before)


def is_one_search() -> bool:
    """Return whether what is opened now serves one search only."""
    return _ONE.get()
