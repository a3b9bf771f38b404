"""What is told of a release, a row or a person: a value, and what it means."""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A measured value and its meaning."""

    name: str
    value: str
    meaning: str
