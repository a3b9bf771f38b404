"""Judges of a release, by name: rows, never means only. They never import the methods."""

from __future__ import annotations

from collections.abc import Callable

from ..model import Profiles, Release
from .linkability import linkability
from .measurement import Measurement

MEASURES: dict[str, Callable[[Profiles, Release], list[Measurement]]] = {
    "linkability": linkability,
}

__all__ = ["MEASURES", "Measurement"]
