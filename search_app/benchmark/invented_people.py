"""A workspace of invented people over an index that lies elsewhere and is only read.

Only invented people can be asked for on the pages, and a log of real people shall see no benchmark.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..workspace import Workspace
from .plan import Place
from .processes import process, veilsearch

SIZE = 150
WRITERS = 10 / 9  # people of the town for each who has enough terms


def town_over(index: Path, place: Place, people: int) -> Workspace:
    """Make a town of about so many people, unless this run has made it before."""
    workspace = Workspace(place.temporary / "town")
    if workspace.current().release:
        return workspace
    workspace.make_current(index=str(index.resolve()))
    log = str(workspace.root / "town.tsv")
    for verb in (
        ["town", "-o", log, "--users", str(round(people * WRITERS))],
        ["profiles", log, "--size", str(SIZE), "--users", str(people)],
        ["anonymize", "-m", "p-linkability", "--set", "p=0.4", "--set", "a=1"],
    ):
        process([*veilsearch(workspace.root), *verb])
    return workspace


def invented_queries(terms: list[str], count: int) -> list[str]:
    """Draw two-word queries from the index's most frequent terms, always the same ones."""
    rng = np.random.default_rng(1)
    frequent = terms[20:2000] or terms
    return [" ".join(rng.choice(frequent, 2)) for _ in range(count)]
