"""A workspace of invented people over an index elsewhere, which is only read.

Pages let a visitor choose invented people only, and a log of real people must hold no benchmark.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from search_app.workspace.folder import Workspace

from ..plan import Place
from ..processes import process, veilsearch

SIZE = 150
WRITERS = 10 / 9  # people of the town for each one with enough terms


def town_over(index: Path, place: Place, people: int) -> Workspace:
    """Return a workspace with a town of `people` over `index`, made once in a run."""
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
    """Return `count` queries of two of the most frequent `terms`, always the same ones."""
    rng = np.random.default_rng(1)
    frequent = terms[20:2000] or terms
    return [" ".join(rng.choice(frequent, 2)) for _ in range(count)]
