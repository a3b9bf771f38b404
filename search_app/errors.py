"""The error of the application, and how system errors become one.

UsageError   a wrong argument, setting or workspace; its text is one plain line with the remedy
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UsageError(Exception):
    """The user asked for something that can't be done."""


@contextmanager
def plain_when_writing(path: Path) -> Iterator[None]:
    """Turn an OSError while `path` is written into one line with the remedy."""
    try:
        yield
    except OSError as fault:
        raise UsageError(
            f"{path} can't be written ({fault.strerror or fault}); "
            "check folder, free space and permissions"
        ) from fault
