"""An experiment run from the log to its folder, going on where a killed run stopped. [I/O]"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anonymizer.counting import TermCounter
from anonymizer.model import QueryLog
from index.build import open_index

from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from . import kept_units
from .data import Data
from .definition import as_text
from .derived import derived_files, report_of
from .design import Experiment
from .outcomes import Outcomes, Unit
from .pipeline import Measured, prepare
from .planning import units_of
from .provenance import code_hash, context, files_hash, key_of, machine, versions
from .run_folder import kept_in_run, refuse_foreign, write_run
from .workers import Place, measured

UNFINISHED = "unfinished"
Tell = Callable[[int, int], object]  # units done, of so many


@dataclass(frozen=True)
class Sources:
    """What an experiment runs on."""

    logs: Sequence[Path]
    log: Callable[[], QueryLog]
    counter: Callable[[], TermCounter]
    index: Path


def run_experiment(
    experiment: Experiment,
    sources: Sources,
    folder: Path,
    settings: Settings,
    *,
    workers: int = 1,
    tell: Tell = lambda _done, _of: None,
) -> dict[str, Any]:
    """Run an experiment into a folder; return what can be said of it in a line or two."""
    began = time.monotonic()
    refuse_foreign(folder)
    units = units_of(experiment.variants)
    with _unfinished(folder) as kept:
        data = _prepared(experiment, units, sources, settings)
        shared = context(sources.index, data.digest())
        keys = {unit.name: key_of(unit, shared) for unit in units}
        place = Place(sources.index, settings.cache)
        found = _found(units, keys, kept, folder)
        again = len(found)
        tell(again, len(units))
        for unit, result in measured(data, place, _left(units, found), workers):
            kept_units.keep(kept, keys[unit.name], result)
            found[unit.name] = result
            tell(len(found), len(units))
        outcomes = _outcomes(experiment, units, found, data)
        told = _provenance(sources, shared, began, again)
        report = report_of(outcomes)
        definition = {"experiment.toml": [as_text(experiment).encode()]}
        derived = derived_files(outcomes, report, told)
        write_run(folder, outcomes, keys, told, {**definition, **derived})
    return {
        "run": str(folder),
        "people": outcomes.people,
        "queries": int(outcomes.person.size),
        "units": len(units),
        "reused": again,
        "rows": sum(block.hits.size for block in outcomes.blocks.values()),
        "seconds": told["seconds"],
        "claims": [asdict(claim) for claim in report.claims],
    }


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """Give the place for finished units, which nobody else uses now; it goes when all is done."""
    kept = folder.with_name(f".{folder.name}.{UNFINISHED}")
    with plain_when_writing(folder):
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(kept / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise UsageError(
                f"{folder} is being made by another veilsearch; wait for it"
            ) from fault
        yield kept
        shutil.rmtree(kept, ignore_errors=True)
    finally:
        os.close(lock)


def _prepared(
    experiment: Experiment, units: Sequence[Unit], sources: Sources, settings: Settings
) -> Data:
    """Read the log and search all its held-out questions once."""
    most = max(pool for unit in units for _, pool in unit.asked)
    lucene, _ = open_index(sources.index, heap=settings.heap)
    try:
        return prepare(
            sources.log(),
            sources.counter(),
            lambda queries: lucene.pools(queries, most, threads=2),
            experiment.inputs,
            units,
        )
    finally:
        lucene.close()


def _found(
    units: Sequence[Unit], keys: Mapping[str, str], kept: Path, folder: Path
) -> dict[str, Measured]:
    """Return the units that are measured already, here or in the run that is replaced."""
    before = kept_in_run(folder, {keys[unit.name]: unit for unit in units})
    found = {}
    for unit in units:
        key = keys[unit.name]
        result = kept_units.find(kept, key, unit) or before.get(key)
        if result is not None:
            found[unit.name] = kept_units.renamed(result, unit)
    return found


def _left(units: Sequence[Unit], found: Mapping[str, Measured]) -> list[Unit]:
    return [unit for unit in units if unit.name not in found]


def _outcomes(
    experiment: Experiment, units: tuple[Unit, ...], found: Mapping[str, Measured], data: Data
) -> Outcomes:
    """Put all blocks in the order of the units, in whatever order they came."""
    blocks = {
        (block.unit, block.mode, block.pool): block
        for unit in units
        for block in found[unit.name].blocks
    }
    facts = {unit.name: found[unit.name].facts for unit in units}
    return Outcomes(experiment, units, facts, data.questions.person, blocks)


def _provenance(sources: Sources, shared: str, began: float, again: int) -> dict[str, Any]:
    return {
        "versions": versions(),
        "inputs": {
            "log_sha256": files_hash(sources.logs),
            "index_sha256": files_hash([sources.index / "manifest.json"]),
            "code_sha256": code_hash(),
            "all_sha256": shared,
        },
        "machine": machine(),
        "units_reused": again,
        "seconds": round(time.monotonic() - began, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
