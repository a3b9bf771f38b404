"""Run an experiment from the log to its folder, going on where a killed run stopped. [I/O]"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.marketing.table import MarketingTable
from anonymizer.model import QueryLog
from anonymizer.storage.files import sweep_for
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.wordnet import is_compiled, open_wordnet
from index.manifest import read_manifest

from ..errors import UsageError, plain_when_writing
from ..evaluation.relevance import Relevance
from ..settings import Settings
from ..workspace.opening import open_by
from . import kept_units
from .data import Data
from .design import Experiment, Unit, units_of
from .frontier.foreign import read_all, refuse_unfit, with_foreign
from .outcomes import Outcomes
from .pipeline import Measured, prepare
from .report.report import Report
from .report.summaries import sum_up
from .results.derived import derived_files, report_of
from .results.folder import (
    Marks,
    kept_in_run,
    refuse_foreign,
    refuse_loss,
    refuse_other_data,
    write_run,
)
from .results.provenance import (
    code_hash,
    context,
    inputs_of,
    key_of,
    machine,
    refuse_changes,
    versions,
)
from .results.trec_runs import run_files
from .spi.logged import Sensitive
from .value.questions import Labelled
from .workers import Place, measured, open_world

UNFINISHED, LOCK = "unfinished", "lock"
MOST_CELLS = 50_000_000  # queries x documents: 3.5 GB a worker
Progress = Callable[[int, int], object]  # gets the units done and the number of all units


@dataclass(frozen=True)
class Sources:
    """The files that an experiment reads, and functions that read them."""

    logs: Sequence[Path]
    log: Callable[[], QueryLog]
    counter: Callable[[], TermCounter]
    index: Path
    index_name: str = ""
    marketing: Path | None = None  # a table; None: a synthetic one if a method needs one
    table: Callable[[], MarketingTable | None] = lambda: None  # reads the file `marketing`
    # A model of sensitive queries, lists of names and of places; and a function that reads them.
    lists: Sequence[Path] = ()
    sensitive: Callable[[], Sensitive] | None = None
    command: str = ""  # the user's command without the folders of files
    relevance: Callable[[], Relevance] | None = None  # None: the log's own queries are asked
    releases: Sequence[Path] = ()  # folders of releases to measure, too

    @property
    def given(self) -> dict[str, Sequence[Path]]:
        """Return the files of each kind that the user may have given."""
        return {"marketing": [self.marketing] if self.marketing else [], "lists": self.lists}


class RunChoices(NamedTuple):
    """How an experiment is run."""

    workers: int = 1
    runs: Sequence[str] = ()  # tables of variants whose orders are written too
    replace: bool = False  # also replace a run of other data, or with results that would be lost


def run_experiment(
    experiment: Experiment,
    sources: Sources,
    folder: Path,
    settings: Settings,
    choices: RunChoices,
    progress: Progress = lambda _done, _of: None,
) -> dict[str, Any]:
    """Run `experiment`, write its results to `folder`, and return a short summary."""
    began = time.monotonic()
    refuse_foreign(folder)
    others = read_all(sources.releases)
    experiment = with_foreign(experiment, others)
    units = units_of(experiment.variants)
    place = Place(sources.index, settings.cache)
    with _room(folder) as room:
        # A run killed while it replaced another had moved that away; this puts it back.
        sweep_for(folder)
        if not choices.replace:
            refuse_loss(folder, experiment, units, orders=bool(choices.runs))
        # Compiled here if it was not yet, so that workers find it compiled.
        if not is_compiled(settings.cache):
            open_wordnet(settings.cache)
        read = partial(inputs_of, sources.logs, sources.index, settings.cache, sources.given)
        inputs = read()
        data = _prepared(experiment, units, sources, settings)
        refuse_unfit(others, data.profiles)
        data = replace(data, foreign={name: one.release for name, one in others.items()})
        digest = data.digest()
        if not choices.replace:
            refuse_other_data(folder, digest)
        workers = _affordable(choices.workers, data)
        shared = context(inputs, digest)
        keys = {unit.name: key_of(unit, shared) for unit in units}
        results = _found(units, keys, room, folder)
        missing = [unit for unit in units if unit.name not in results]
        seconds = dict.fromkeys((unit.name for unit in missing), 0.0)
        progress(len(results), len(units))
        with closing(measured(data, place, missing, workers)) as measured_units:
            for unit, results[unit.name], seconds[unit.name] in measured_units:
                # The unit is kept under the hash of the code at the start, so the code must be the
                # same.
                refuse_changes(inputs, {"code_sha256": code_hash()})
                kept_units.keep(room, keys[unit.name], results[unit.name])
                progress(len(results), len(units))
        refuse_changes(inputs, read())
        outcomes = _outcomes(experiment, units, results, data)
        provenance = _provenance(sources, inputs, settings, workers, data)
        provenance |= _times(began, units, seconds, results)
        orders = _runs(outcomes, choices.runs, data, place, settings)
        summed = sum_up(outcomes)
        report = report_of(summed, provenance["pass_seconds"])
        write_run(
            folder,
            outcomes,
            Marks(keys, digest, provenance),
            lambda rows: {**derived_files(report, summed.summaries, provenance, rows), **orders},
        )
    return _summary(folder, outcomes, units, provenance, report)


def _summary(
    folder: Path,
    outcomes: Outcomes,
    units: Sequence[Unit],
    provenance: Mapping[str, Any],
    report: Report,
) -> dict[str, Any]:
    """Return what the verb prints of a run."""
    return {
        "run": str(folder),
        "people": outcomes.people,
        "queries": int(outcomes.person.size),
        "units": len(units),
        "reused": provenance["units_reused"],
        "rows": sum(block.hits.size for block in outcomes.blocks.values()),
        "seconds": provenance["seconds"],
        "claims": [asdict(claim) for claim in report.claims],
    }


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Provide a locked folder next to `folder` for unfinished work; remove it at the end."""
    room = folder.with_name(f".{folder.name}.{UNFINISHED}")
    with plain_when_writing(folder):
        lock = _locked(room, folder)
    try:
        yield room
        shutil.rmtree(room, ignore_errors=True)
    finally:
        if {path.name for path in room.glob("*")} <= {LOCK}:  # no finished unit to keep
            shutil.rmtree(room, ignore_errors=True)
        os.close(lock)


def _locked(room: Path, folder: Path) -> int:
    """Return the lock of `room`, which is made if it does not exist."""
    # Again and again, as a run that is just ending may remove the room between two steps.
    while True:
        ours = not os.path.lexists(room) or (room.is_dir() and not room.is_symlink())
        furnished = ours and room.is_dir() and any(room.iterdir())
        # The room is removed at the end, so a folder of somebody else must not become it.
        if not ours or (furnished and not (room / LOCK).is_file()):
            raise UsageError(f"{room} exists and is not veilsearch's; move it away")
        room.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_NOFOLLOW: a symbolic link there could name any file.
        lock = os.open(room / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock counts only if its file was not removed in the meantime.
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


def _prepared(
    experiment: Experiment, units: Sequence[Unit], sources: Sources, settings: Settings
) -> Data:
    """Return the data of `experiment`: read the log, and search its held-out queries once."""
    index, _ = open_by(sources.index, settings)
    try:
        return prepare(
            sources.log(),
            sources.counter(),
            lambda queries, limit: index.pools(queries, limit, threads=2),
            experiment.inputs,
            units,
            sources.table(),
            sources.sensitive,
            Labelled(sources.relevance(), index.ids) if sources.relevance else None,
        )
    finally:
        index.close()


def _affordable(workers: int, data: Data) -> int:
    """Return how many of `workers` fit into memory; refuse `data` too large for one."""
    queries, depth = map(int, data.questions.pools.shape)
    if queries * depth > MOST_CELLS:
        raise UsageError(
            f"{queries:,} queries with pools of {depth:,} documents take too much memory; lower "
            f"queries_per_user or the largest pool: their product may be at most {MOST_CELLS:,}"
        )
    # All workers together may take twice the memory of the largest run that is allowed.
    return min(workers, max(1, 2 * MOST_CELLS // max(queries * depth, 1)))


def _runs(
    outcomes: Outcomes, names: Sequence[str], data: Data, place: Place, settings: Settings
) -> dict[str, Iterable[bytes]]:
    """Return the files with the orders of the variants called `names`, by documents' ids."""
    if not names:
        return {}
    index, _ = open_by(place.index, settings)
    try:
        pools = data.questions.pools
        ids = np.full(int(pools.max()) + 1, "", dtype=np.object_)
        rows = np.unique(pools[pools >= 0])
        ids[rows] = index.ids(rows)
    finally:
        index.close()
    return run_files(outcomes, names, open_world(data, place), ids)


def _found(
    units: Sequence[Unit], keys: Mapping[str, str], room: Path, folder: Path
) -> dict[str, Measured]:
    """Return the results of units already measured, from `room` or the run in `folder`."""
    before = kept_in_run(folder, {keys[unit.name]: unit for unit in units})
    results = {}
    for unit in units:
        key = keys[unit.name]
        result = kept_units.find(room, key, unit) or before.get(key)
        if result is not None:
            results[unit.name] = kept_units.renamed(result, unit)
    return results


def _outcomes(
    experiment: Experiment, units: tuple[Unit, ...], results: Mapping[str, Measured], data: Data
) -> Outcomes:
    """Return all results, in the order of the units."""
    # Workers finish in any order, but the same run must write the same bytes.
    blocks = {
        (block.unit, block.mode, block.pool): block
        for unit in units
        for block in results[unit.name].blocks
    }
    facts = {unit.name: results[unit.name].facts for unit in units}
    return Outcomes(experiment, units, facts, data.questions.person, blocks)


def _provenance(
    sources: Sources, inputs: Mapping[str, str], settings: Settings, workers: int, data: Data
) -> dict[str, Any]:
    """Return what was run, on which inputs, with which versions, on which machine."""
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
    results: Mapping[str, Measured],
) -> dict[str, Any]:
    """Return when the run ended, how long it took, the load, and seconds unit by unit."""
    # `release_seconds` count the method alone, `pass_seconds` each of its passes if it has any.
    # `unit_seconds` count facts and searches too. A reused release keeps the seconds that it took
    # when the same code made it on such a machine.
    made = {
        unit.name: results[unit.name]
        for unit in units
        if unit.method and (unit.name in seconds or results[unit.name].seconds)
    }
    return {
        "units_reused": len(units) - len(seconds),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "seconds": round(time.monotonic() - began, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "unit_seconds": {name: round(took, 3) for name, took in seconds.items()},
        "release_seconds": {name: round(unit.seconds, 3) for name, unit in made.items()},
        "pass_seconds": {
            name: [round(took, 6) for took in unit.pass_seconds]
            for name, unit in made.items()
            if unit.pass_seconds
        },
    }
