"""The one row type of all measures."""

from __future__ import annotations

from typing import NamedTuple


class Measurement(NamedTuple):
    """One value of one measure, of a user, of a group, or of the whole release."""

    name: str
    value: float
    user: str = ""
    group: str = ""
    low: float | None = None
    high: float | None = None
