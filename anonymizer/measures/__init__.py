"""Judges of a release, by name: rows, never means only. They never import the methods.

What stands beside them under judging_* and verification.py is the judge of promises, which reads
files only and shares no code with these either. Nothing here imports scipy: who verifies a small
release would wait for that longer than for the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .belief import belief
from .closeness import closeness
from .kept_terms import kept_terms
from .kept_value import kept_value
from .linkability import distribution, linkability, sizes
from .measurement import Measurement

if TYPE_CHECKING:
    from ..model import Profiles, Release

MEASURES: dict[str, Callable[[Profiles, Release], list[Measurement]]] = {
    "sizes": sizes,
    "linkability": linkability,
    "distribution": distribution,
    "belief": belief,
    "kept-terms": kept_terms,
    "kept-value": kept_value,
    "closeness": closeness,
}

__all__ = ["MEASURES", "Measurement"]
