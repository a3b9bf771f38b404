"""Measures of a release, by name: rows, never only means. They never import the methods."""
# The judge of promises, in `verification`, reads only files and shares no code with these either.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..families import Family, listing
from ..model import Profiles, Release
from .belief import belief
from .indices.releases import privacy_index
from .kept import closeness, kept_terms, kept_value
from .linkability import distribution, linkability, sizes
from .measurement import Measurement
from .vocabulary import vocabulary

if TYPE_CHECKING:
    from ..marketing.table import MarketingTable
    from ..terms.wordnet import WordNet

Measure = Callable[[Profiles, Release], list[Measurement]]
_OURS: dict[str, Measure] = {
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
MEASURES: Family[Measure] = Family("veilsearch.measures", _OURS, listing(Measurement))


def all_measures(
    profiles: Profiles,
    release: Release,
    *,
    wordnet: WordNet | None = None,
    table: MarketingTable | None = None,
    sensitive: Mapping[str, float] | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
) -> list[Measurement]:
    """Return the rows of all measures of `release`, made from `profiles`.

    `wordnet` says how far apart terms are, a marketing `table` what they are worth, and `sensitive`
    how sensitive they are.
    """
    more = (kept_value, privacy_index, vocabulary)  # these take more than a release
    return [
        *(row for one in MEASURES.values() if one not in more for row in one(profiles, release)),
        *privacy_index(profiles, release, sensitive, spi_weights, empty),
        *kept_value(profiles, release, table),
        *vocabulary(profiles, release, wordnet),
    ]


__all__ = ["MEASURES", "Measurement", "all_measures"]
