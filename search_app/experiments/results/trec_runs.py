"""The orders behind the rows, as compressed runs and qrels in TREC's format.

    runs/UNIT.MODE.POOL.run.gz               one order of every pool
    runs/qrels.WEIGHTS.VECTORS.POOL.txt.gz   what the own profile finds relevant, grades 30 to 1

Queries have the same numbers as in rows.csv. Any tool computes the row's AP (all graded documents
are relevant) and nDCG from a run and its qrels. The mode "random" has no run, as it is several
orders. These files name documents by their ids, which reveal the queries.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import Release

from ...evaluation.runs import RunWriter
from ...measures.precision import DEPTH
from ...search.rerank import DECIMALS
from ..design import Unit
from ..modes import best_first
from ..outcomes import Outcomes
from ..pipeline import World, release_for, scored

SEVERAL = "random"  # the mode of several orders
_GZIP = 16 + zlib.MAX_WBITS
Ids = NDArray[np.object_]  # row of the index -> the document's id


def run_files(
    outcomes: Outcomes, names: Sequence[str], world: World, ids: Ids
) -> dict[str, Iterable[bytes]]:
    """Return the files of the variants from the tables `names`; each is computed when read."""
    files: dict[str, Iterable[bytes]] = {}
    variants = outcomes.experiment.named(*names)
    for unit in outcomes.units:
        # One release serves all files of its unit, and is made when the first is read.
        release = cache(partial(release_for, world, unit))
        served = [variant for variant in variants if unit.serves(variant)]
        wanted = {place for one in served for place in product(one.modes, one.pools)}
        for mode, pool in unit.asked:
            if mode == SEVERAL or (mode, pool) not in wanted:
                continue
            name = f"{unit.name}.{mode}.{pool}"
            files[f"runs/{name}.run.gz"] = _packed(_run(world, unit, release, mode, pool, ids))
            judged = f"qrels.{unit.weights}.{unit.vectors}.{pool}"
            files[f"runs/{judged}.txt.gz"] = _packed(_qrels(world, unit, pool, ids))
    return files


def _run(
    world: World, unit: Unit, release: Callable[[], Release | None], mode: str, pool: int, ids: Ids
) -> Iterator[str]:
    """Yield the run's lines of each query, best document first."""
    questions = world.data.questions
    (scores,) = scored(world, unit, release(), mode, pool)
    hits = np.minimum(questions.hits, scores.shape[1])
    order = best_first(scores, hits)
    for at, size in enumerate(hits.tolist()):
        best = order[at, :size]
        text = io.StringIO()
        writer = RunWriter(text, Path(f"{unit.name}.{mode}.{pool}"), f"{unit.name}.{mode}")
        names = ids[questions.pools[at, best]].tolist()
        writer.add(str(at + 1), names, np.round(scores[at, best], DECIMALS))
        yield text.getvalue()


def _qrels(world: World, unit: Unit, pool: int, ids: Ids) -> Iterator[str]:
    """Yield the qrels' lines of each query, best document first."""
    questions, gold = world.data.questions, world.gold(unit)
    depth = gold.depth(pool)
    order = np.argsort(gold.places(depth), axis=1)
    for at, size in enumerate(np.minimum(questions.hits, depth).tolist()):
        names = ids[questions.pools[at, order[at, : min(size, DEPTH)]]].tolist()
        graded = zip(names, range(DEPTH, 0, -1), strict=False)
        yield "".join(f"{at + 1} 0 {name} {grade}\n" for name, grade in graded)


def _packed(lines: Iterator[str]) -> Iterator[bytes]:
    """Yield `lines` compressed, without name and time: the same lines give the same bytes."""
    packer = zlib.compressobj(wbits=_GZIP)
    for some in lines:
        yield packer.compress(some.encode())
    yield packer.flush()
