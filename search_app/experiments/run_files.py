"""The orders behind the rows, as runs and qrels in TREC's form, packed.

    runs/UNIT.MODE.POOL.run.gz               one order of every pool
    runs/qrels.WEIGHTS.VECTORS.POOL.txt.gz   what the own profile finds relevant in it, 30 to 1

A query has the number that it has in rows.csv. By any tool, AP (all that is graded is relevant) and
nDCG of such a run and its qrels are the row's. The mode "random" has no run: it is several orders.
Documents stand here by their ids, which tell what was asked.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import Release

from ..evaluation import DEPTH
from ..rerank import DECIMALS
from ..runs import RunWriter
from .orders import best_first
from .outcomes import Outcomes, Unit
from .pipeline import World, release_for, scored

SEVERAL = "random"  # the mode of several orders
_GZIP = 16 + zlib.MAX_WBITS
Ids = NDArray[np.object_]  # row of the index -> the document's id


def run_files(
    outcomes: Outcomes, names: Sequence[str], world: World, ids: Ids
) -> dict[str, Iterable[bytes]]:
    """Return the files of the variants of some names; each is computed when it is read."""
    files: dict[str, Iterable[bytes]] = {}
    for unit in outcomes.units:
        release = cache(partial(release_for, world, unit))
        for mode, pool in _asked(outcomes, names, unit):
            name = f"{unit.name}.{mode}.{pool}"
            files[f"runs/{name}.run.gz"] = _packed(_run(world, unit, release, mode, pool, ids))
            judged = f"qrels.{unit.weights}.{unit.vectors}.{pool}"
            files[f"runs/{judged}.txt.gz"] = _packed(_qrels(world, unit, pool, ids))
    return files


def _asked(outcomes: Outcomes, names: Sequence[str], unit: Unit) -> list[tuple[str, int]]:
    """Return what the variants of some names ask of a unit."""
    wanted = {
        (mode, pool)
        for name in names
        for variant in outcomes.experiment.named(name)
        if unit.serves(variant)
        for mode in variant.modes
        for pool in variant.pools
    }
    return [pair for pair in unit.asked if pair in wanted and pair[0] != SEVERAL]


def _run(
    world: World,
    unit: Unit,
    release: Callable[[], Release | None],
    mode: str,
    pool: int,
    ids: Ids,
) -> Iterator[str]:
    """Yield the lines of each query's documents, best first."""
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
    """Yield the lines of each query's relevant documents, best first."""
    questions, gold = world.data.questions, world.gold(unit)
    depth = gold.depth(pool)
    order = np.argsort(gold.places(depth), axis=1)
    for at, size in enumerate(np.minimum(questions.hits, depth).tolist()):
        names = ids[questions.pools[at, order[at, : min(size, DEPTH)]]].tolist()
        graded = zip(names, range(DEPTH, 0, -1), strict=False)
        yield "".join(f"{at + 1} 0 {name} {grade}\n" for name, grade in graded)


def _packed(lines: Iterator[str]) -> Iterator[bytes]:
    """Pack without name and time, so that the same lines are the same bytes."""
    packer = zlib.compressobj(wbits=_GZIP)
    for some in lines:
        yield packer.compress(some.encode())
    yield packer.flush()
