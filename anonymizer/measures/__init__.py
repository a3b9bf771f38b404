"""Measures of a release, by name: rows, never only means. They never import the methods."""
# The judge of promises, in `verification`, reads only files and shares no code with these either.

from __future__ import annotations

from collections.abc import Callable

from ..model import Profiles, Release
from .belief import belief
from .indices.releases import privacy_index
from .kept import closeness, kept_terms, kept_value
from .linkability import distribution, linkability, sizes
from .measurement import Measurement
from .vocabulary import vocabulary

MEASURES: dict[str, Callable[[Profiles, Release], list[Measurement]]] = {
    "sizes": sizes,
    "linkability": linkability,
    "distribution": distribution,
    "belief": belief,
    "kept-terms": kept_terms,
    "kept-value": kept_value,
    "closeness": closeness,
    "vocabulary": vocabulary,
    "privacy-index": privacy_index,
}

__all__ = ["MEASURES", "Measurement"]
