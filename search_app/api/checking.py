"""Arguments of the library: what is of another kind is refused in one line [I/O]."""

from __future__ import annotations

from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

from search_app.errors import UsageError

Place = str | PathLike[str]


def refuse_other_kind(name: str, given: object, *kinds: type) -> None:
    """Raise UsageError unless the argument `given`, called `name`, is of one of `kinds`."""
    if not isinstance(given, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise UsageError(f"{name} must be of type {wanted}, not {type(given).__name__}")


def whole(name: str, given: Any, least: int = 0) -> int:
    """Return the argument `given`, called `name`, if it is a whole number from `least` on."""
    # True and 1.0 equal 1, but who gives them has mixed up two arguments.
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < least:
        raise UsageError(f"{name} must be a whole number from {least} on")
    return int(given)


def place_of(given: Any) -> Path:
    """Return the path `given`."""
    if not isinstance(given, str | PathLike) or "\0" in str(given):
        raise UsageError(f"a path must be a text or a Path, not {type(given).__name__}")
    return Path(given)
