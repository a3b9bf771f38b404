"""An experiment run from the log to its folder, going on where a killed run stopped. [I/O]"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.counting import TermCounter
from anonymizer.marketing import MarketingTable
from anonymizer.model import QueryLog
from anonymizer.wordnet import open_wordnet
from index.build import open_index
from index.manifest import read_manifest

from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from . import kept_units
from .data import Data
from .derived import derived_files, report_of
from .design import Experiment
from .outcomes import Outcomes, Unit
from .pipeline import Measured, prepare
from .planning import units_of
from .provenance import (
    code_hash,
    context,
    inputs_of,
    key_of,
    machine,
    refuse_changes,
    versions,
)
from .replacing import refuse_loss, refuse_other_data
from .report import Report
from .run_files import run_files
from .run_folder import Derive, Marks, kept_in_run, refuse_foreign, take_back, write_run
from .summaries import summarize
from .workers import Place, measured, open_world

UNFINISHED, LOCK = "unfinished", "lock"
MOST_CELLS = 50_000_000  # queries x documents: 3.5 GB a worker
Tell = Callable[[int, int], object]  # units done, of so many


@dataclass(frozen=True)
class Sources:
    """What an experiment runs on."""

    logs: Sequence[Path]
    log: Callable[[], QueryLog]
    counter: Callable[[], TermCounter]
    index: Path
    index_name: str = ""
    marketing: Path | None = None  # a table; None: one is drawn where a method wants it
    table: Callable[[], MarketingTable | None] = lambda: None  # of that path
    command: str = ""  # as it was given, without the places of files


class Choices(NamedTuple):
    """How an experiment is run."""

    workers: int = 1
    runs: Sequence[str] = ()  # tables of variants of which the orders are written too
    replace: bool = False  # a run of other data, or of what this one doesn't make


def run_experiment(
    experiment: Experiment,
    sources: Sources,
    folder: Path,
    settings: Settings,
    choices: Choices,
    tell: Tell = lambda _done, _of: None,
) -> dict[str, Any]:
    """Run an experiment into a folder; return what can be said of it in a line or two."""
    began = time.monotonic()
    refuse_foreign(folder)
    units = units_of(experiment.variants)
    place = Place(sources.index, settings.cache)
    with _room(folder) as room:
        take_back(folder, room)
        refuse_loss(folder, experiment, units, bool(choices.runs), choices.replace)
        inputs = _inputs(sources, settings)
        data = _prepared(experiment, units, sources, settings)
        refuse_other_data(folder, data.digest(), choices.replace)
        workers = _affordable(choices.workers, data)
        shared = context(inputs, data.digest())
        keys = {unit.name: key_of(unit, shared) for unit in units}
        found = _found(units, keys, room, folder)
        left = [unit for unit in units if unit.name not in found]
        seconds = dict.fromkeys((unit.name for unit in left), 0.0)
        tell(len(found), len(units))
        with closing(measured(data, place, left, workers)) as results:
            for unit, found[unit.name], seconds[unit.name] in results:
                refuse_changes(inputs, {"code_sha256": code_hash()})
                kept_units.keep(room, keys[unit.name], found[unit.name])
                tell(len(found), len(units))
        refuse_changes(inputs, _inputs(sources, settings))
        outcomes = _outcomes(experiment, units, found, data)
        told = _provenance(sources, inputs, settings, workers, data)
        told |= _times(began, units, seconds, found)
        orders = _runs(outcomes, choices.runs, data, place, settings)
        report, derive = _derived(outcomes, told, orders)
        write_run(folder, room, outcomes, Marks(keys, data.digest(), told), derive)
    return _summary(folder, outcomes, told, report)


def _derived(
    outcomes: Outcomes, told: Mapping[str, Any], orders: Mapping[str, Iterable[bytes]]
) -> tuple[Report, Derive]:
    """Return what the rows say, and who makes the files of it when their hash is known."""
    summaries = summarize(outcomes)
    report = report_of(outcomes, summaries, told["pass_seconds"])
    return report, lambda rows: {**derived_files(report, summaries, told, rows), **orders}


def _summary(
    folder: Path, outcomes: Outcomes, told: Mapping[str, Any], report: Report
) -> dict[str, Any]:
    return {
        "run": str(folder),
        "people": outcomes.people,
        "queries": int(outcomes.person.size),
        "units": len(outcomes.units),
        "reused": told["units_reused"],
        "rows": sum(block.hits.size for block in outcomes.blocks.values()),
        "seconds": told["seconds"],
        "claims": [asdict(claim) for claim in report.claims],
    }


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Give a room for what is under way, which nobody else uses now; it goes when all is done."""
    room = folder.with_name(f".{folder.name}.{UNFINISHED}")
    with plain_when_writing(folder):
        lock = _locked(room, folder)
    try:
        yield room
        shutil.rmtree(room, ignore_errors=True)
    finally:
        if {path.name for path in room.glob("*")} <= {LOCK}:  # there is nothing to go on from
            shutil.rmtree(room, ignore_errors=True)
        os.close(lock)


def _refuse_foreign_room(room: Path) -> None:
    """Refuse a room that somebody else has furnished: it would be emptied at the end."""
    if not os.path.lexists(room):
        return
    ours = room.is_dir() and not room.is_symlink()
    if not ours or (any(room.iterdir()) and not (room / LOCK).is_file()):
        raise UsageError(f"{room} is there already and is not ours; move it away")


def _locked(room: Path, folder: Path) -> int:
    """Make the room and lock it; it may be gone meanwhile, with who has just come to an end."""
    while True:
        _refuse_foreign_room(room)
        room.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(room / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), (room / LOCK).stat()):
                return lock
        except BlockingIOError as fault:
            os.close(lock)
            raise UsageError(
                f"{folder} is being made by another veilsearch; wait for it"
            ) from fault
        except FileNotFoundError:
            pass
        os.close(lock)


def _inputs(sources: Sources, settings: Settings) -> dict[str, str]:
    open_wordnet(settings.cache)  # compiled, where it was not yet
    return inputs_of(sources.logs, sources.index, settings.cache, sources.marketing)


def _prepared(
    experiment: Experiment, units: Sequence[Unit], sources: Sources, settings: Settings
) -> Data:
    """Read the log and search all its held-out questions once."""
    lucene, _ = open_index(
        sources.index,
        heap=settings.heap,
        k1=settings.k1,
        b=settings.b,
        title_boost=settings.title_boost,
    )
    try:
        return prepare(
            sources.log(),
            sources.counter(),
            lambda queries, most: lucene.pools(queries, most, threads=2),
            experiment.inputs,
            units,
            sources.table(),
        )
    finally:
        lucene.close()


def _affordable(workers: int, data: Data) -> int:
    """Return how many workers there is memory for; refuse what is too much for one."""
    queries, depth = map(int, data.questions.pools.shape)
    if queries * depth > MOST_CELLS:
        raise UsageError(
            f"{queries:,} queries with pools of {depth:,} documents take too much memory; lower "
            f"queries_per_user or the largest pool: their product may be {MOST_CELLS:,}"
        )
    return min(workers, max(1, 2 * MOST_CELLS // max(queries * depth, 1)))


def _runs(
    outcomes: Outcomes, names: Sequence[str], data: Data, place: Place, settings: Settings
) -> dict[str, Iterable[bytes]]:
    """Return the files of the orders of some variants, which know documents by their ids."""
    if not names:
        return {}
    lucene, _ = open_index(place.index, heap=settings.heap)
    try:
        pools = data.questions.pools
        ids = np.full(int(pools.max()) + 1, "", dtype=np.object_)
        asked = np.unique(pools[pools >= 0])
        ids[asked] = lucene.ids(asked)
    finally:
        lucene.close()
    return run_files(outcomes, names, open_world(data, place), ids)


def _found(
    units: Sequence[Unit], keys: Mapping[str, str], room: Path, folder: Path
) -> dict[str, Measured]:
    """Return the units that are measured already, here or in the run that is replaced."""
    before = kept_in_run(folder, {keys[unit.name]: unit for unit in units})
    found = {}
    for unit in units:
        key = keys[unit.name]
        result = kept_units.find(room, key, unit) or before.get(key)
        if result is not None:
            found[unit.name] = kept_units.renamed(result, unit)
    return found


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


def _provenance(
    sources: Sources, inputs: Mapping[str, str], settings: Settings, workers: int, data: Data
) -> dict[str, Any]:
    """Tell what was asked, of what, and by which versions on which machine."""
    drawn = data.table is not None and data.table.synthetic
    documents = read_manifest(sources.index)["counts"]["documents"]
    chosen = {name: getattr(settings, name) for name in ("k1", "b", "title_boost")}
    return {
        "command": sources.command,
        "versions": versions(),
        "index": {"name": sources.index_name, "documents": documents},
        "inputs": dict(inputs),
        "marketing": "none" if data.table is None else "synthetic" if drawn else "given",
        "settings": chosen,  # None: as the index was built
        "machine": machine(),
        "workers": workers,
    }


def _times(
    began: float,
    units: Sequence[Unit],
    seconds: Mapping[str, float],
    found: Mapping[str, Measured],
) -> dict[str, Any]:
    """Tell when it was, how long it took, and how busy the machine was; last, unit by unit.

    Of a release it is the method alone, and of some each of its passes; of a unit, facts and
    searches too. What was measured before, by the same code and on such a machine, took what it
    took then.
    """
    made = [unit for unit in units if unit.method]
    made = [unit for unit in made if unit.name in seconds or found[unit.name].seconds]
    return {
        "units_reused": len(units) - len(seconds),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "seconds": round(time.monotonic() - began, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "unit_seconds": {name: round(took, 3) for name, took in seconds.items()},
        "release_seconds": {unit.name: round(found[unit.name].seconds, 3) for unit in made},
        "pass_seconds": {
            unit.name: [round(took, 6) for took in found[unit.name].pass_seconds]
            for unit in made
            if found[unit.name].pass_seconds
        },
    }
