"""The folder of a finished run [I/O]: written whole or not at all, checked when read.

    run.json         what was run, counts, and the SHA-256 of every other file and of itself
    experiment.toml  the definition in full
    provenance.json  versions, hashes of inputs and code, machine, seconds
    units.jsonl      one line per unit: its release's parameters, seed and facts, the tables of the
                     definition that need it, and its key; units.csv: one column per parameter
    rows.jsonl, .csv one line per question, unit, mode and pool; people by number
    summary.csv      means with intervals
    report.json, report.html, figures/NAME.svg, .png, .csv
    runs/            only with --runs: see trec_runs.py

No file holds a query or a user's id. Only runs/ holds documents' ids.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.storage.files import replaced_folder, sync_folder, write_file
from anonymizer.storage.records import as_json

from ...errors import UsageError, plain_when_writing
from ...workspace.folder import check_of, with_check
from ..definition import as_text
from ..design import Experiment, Unit
from ..outcomes import Outcomes
from ..pipeline import Measured
from .provenance import files_hash
from .rows import csv_rows, csv_units, json_rows, read_csv_rows

FORMAT = 2  # of run.json; format 1 had no hash of itself
MANIFEST = "run.json"
UNITS, ROWS, PROVENANCE = "units.jsonl", "rows.csv", "provenance.json"
PRIVATE = "runs/"  # names documents, which reveal the queries
_REMEDY = "name another folder with -o, or give --replace"
# Inputs that older runs don't state, with the values that they had there.
_NOT_STATED = {"robots": None, "least_queries": 45, "victims": None}
Files = Mapping[str, Iterable[bytes]]
Derive = Callable[[str], Files]  # hash of the rows -> derived files


class Marks(NamedTuple):
    """What identifies a run: the key of each unit, the hash of its data, its provenance."""

    keys: Mapping[str, str]
    data: str
    provenance: Mapping[str, object]


def write_run(folder: Path, outcomes: Outcomes, marks: Marks, derive: Derive) -> None:
    """Write a run of `outcomes` to `folder`; a run already there stays until this is complete."""
    refuse_foreign(folder)
    with plain_when_writing(folder), replaced_folder(folder) as new:
        blocks = list(outcomes.blocks.values())
        rows = sum(block.hits.size for block in blocks)
        experiment, units = outcomes.experiment, []
        for unit in outcomes.units:
            serving = [one.name for one in experiment.variants if unit.serves(one)]
            about = {"tables": list(dict.fromkeys(serving)), "key": marks.keys[unit.name]}
            units.append({**asdict(unit), **about, "facts": dict(outcomes.facts[unit.name])})
        files: dict[str, Iterable[bytes]] = {
            "experiment.toml": [as_text(outcomes.experiment).encode()],
            PROVENANCE: [as_json(marks.provenance, 1)],
            UNITS: map(as_json, units),
            "units.csv": [csv_units(units)],
            ROWS: csv_rows(blocks, outcomes.person),
            "rows.jsonl": json_rows(blocks, outcomes.person),
        }
        sums = _written(new, files)
        sums |= _written(new, derive(sums[ROWS]))
        counts = {"people": outcomes.people, "queries": outcomes.person.size}
        counts |= {"units": len(units), "rows": rows}
        # The manifest is written last, with the hashes of all others: without it there is no run.
        manifest = {"format": FORMAT, "name": experiment.name, "title": experiment.title}
        manifest |= {"inputs": asdict(experiment.inputs), "data": marks.data, "counts": counts}
        write_file(new / MANIFEST, [with_check({**manifest, "sha256": sums}, 1).encode()])
        # A file's name survives a power cut only if its folder is synced too.
        for path in {(new / name).parent for name in sums}:
            sync_folder(path)


def _written(new: Path, files: Files) -> dict[str, str]:
    """Write `files` to the folder `new`; return the hash of each."""
    sums = {}
    for name, lines in files.items():
        # Files that reveal queries are for their owner only.
        private = name.startswith(PRIVATE)
        (new / name).parent.mkdir(0o700 if private else 0o777, exist_ok=True)
        sums[name] = write_file(new / name, lines, 0o600 if private else 0o666)
    return sums


def refuse_foreign(folder: Path) -> None:
    """Refuse `folder` if it holds anything but a run, or a file that is not the run's."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise UsageError(f"{folder} exists and is no folder; name another with -o")
    every = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    there = {path.relative_to(folder).as_posix() for path in every}
    if there and (more := sorted(there - _files_of_run(folder))):
        raise UsageError(
            f"{folder} holds {more[0]}, which is no part of its run and would be lost; move it, or "
            "name another folder with -o"
        )


def _files_of_run(folder: Path) -> set[str]:
    try:
        return {MANIFEST, *json.loads((folder / MANIFEST).read_bytes())["sha256"]}
    except FileNotFoundError as fault:
        raise UsageError(f"{folder} exists and holds no run; name another with -o") from fault
    except (ValueError, KeyError, TypeError) as fault:
        raise UsageError(
            f"{folder}: {MANIFEST} is damaged, so the files of the run are unknown; remove the "
            "folder, or name another with -o"
        ) from fault
    except OSError as fault:
        raise UsageError(
            f"{folder} can't be read ({fault.strerror}); check its permissions"
        ) from fault


def changed_file(folder: Path) -> str:
    """Return the first file of the run in `folder` that has changed, or "" if none has."""
    manifest = _sound(folder)
    if manifest is None:
        return MANIFEST
    return next((name for name in manifest["sha256"] if not _sound(folder, name)), "")


def _sound(folder: Path, *names: str) -> dict[str, Any] | None:
    """Return the manifest of `folder`; None if it has none, or if a file of `names` changed."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        sums = manifest["sha256"]
        sound = manifest["format"] == 1 or manifest["check"] == check_of(manifest)
        sound = sound and all(files_hash([folder / name]) == sums[name] for name in names)
        return dict(manifest) if sound and isinstance(sums, dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / UNITS).read_bytes().splitlines()]


def unit_of(record: Mapping[str, Any]) -> Unit:
    """Return the unit in `record`, a line of units.jsonl."""
    places = tuple((str(mode), int(pool)) for mode, pool in record["asked"])
    rest = {field.name: record[field.name] for field in fields(Unit)}
    return Unit(**{**rest, "asked": places})


def kept_in_run(folder: Path, wanted: Mapping[str, Unit]) -> dict[str, Measured]:
    """Return the results of `wanted` units by key from the run in `folder`, if intact."""
    if _sound(folder, UNITS, ROWS) is None:
        return {}
    try:
        records = _records(folder)
        units = [unit_of(record) for record in records]
        if not any(record["key"] in wanted for record in records):
            return {}
        blocks = read_csv_rows(folder / ROWS, units)
    # What can't be read is measured again.
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        return {}
    times = json.loads((folder / PROVENANCE).read_bytes()) if _sound(folder, PROVENANCE) else {}
    seconds, passes = (times.get(name, {}) for name in ("release_seconds", "pass_seconds"))
    results = {}
    for record, unit in zip(records, units, strict=True):
        if record["key"] in wanted and wanted[record["key"]].asked == unit.asked:
            mine = [blocks[unit.name, mode, pool] for mode, pool in unit.asked]
            took = float(seconds.get(unit.name, 0)), tuple(map(float, passes.get(unit.name, ())))
            results[record["key"]] = Measured(record["facts"], mine, *took)
    return results


def refuse_loss(
    folder: Path, experiment: Experiment, units: Iterable[Unit], *, orders: bool = False
) -> None:
    """Refuse `folder` if an intact run there has other inputs, or results that would be lost."""
    manifest = _sound(folder, UNITS)
    if manifest is None:
        return
    inputs, before = asdict(experiment.inputs), manifest.get("inputs")
    others = {**_NOT_STATED, **before} if isinstance(before, Mapping) else {}
    if others != inputs:
        named = [
            f"{n}={'off' if v is None else v}" for n, v in others.items() if inputs.get(n, "") != v
        ]
        raise UsageError(f"{folder} holds a run of other inputs ({', '.join(named)}); {_REMEDY}")
    made: dict[str, set[tuple[str, int]]] = {}
    for unit in units:
        made.setdefault(_identity(unit), set()).update(unit.asked)
    for unit in map(unit_of, _records(folder)):
        again = made.get(_identity(unit))
        lost = sorted(set(unit.asked) - (again or set()))
        if lost or again is None:
            place = f", mode {lost[0][0]}, pool {lost[0][1]}" if lost else ""
            raise UsageError(
                f"{folder} holds results that this run doesn't make, such as {unit.label} (seed "
                f"{unit.seed}{place}); {_REMEDY}"
            )
    if (folder / PRIVATE).is_dir() and not orders:
        raise UsageError(f"{folder} holds {PRIVATE}, which would be lost; give --runs or --replace")


def refuse_other_data(folder: Path, data: str) -> None:
    """Refuse `folder` if its run has other data (people, queries, pools) than `data`."""
    manifest = _sound(folder, UNITS)
    if manifest is not None and manifest.get("data") != data:
        raise UsageError(f"{folder} holds a run of other data; {_REMEDY}")


def _identity(unit: Unit) -> str:
    parts = (unit.method, dict(unit.parameters), unit.weights, unit.vectors, unit.seed)
    return json.dumps(parts, sort_keys=True)
