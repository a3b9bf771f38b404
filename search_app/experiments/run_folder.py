"""The folder of a finished run [I/O]: written whole or not at all, checked when read.

    run.json         what was run, counts, and the SHA-256 of every other file
    experiment.toml  the definition in full
    provenance.json  versions, hashes of inputs and code, machine, seconds
    units.jsonl      a line a unit: its release's parameters, seed and facts, the tables of the
                     definition that ask for it, and its key; units.csv: a column a parameter
    rows.jsonl, .csv a line a question, unit, mode and pool; people by number
    summary.csv      means with intervals
    report.json, report.html, figures/NAME.svg, .png, .csv
    runs/            only if asked for: see run_files.py

None of it holds a query or a user's id; only runs/ holds documents' ids.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.records import as_json, exchange, sync_folder, write_file

from ..errors import UsageError, plain_when_writing
from .definition import as_text
from .outcomes import Outcomes, Unit
from .pipeline import Measured
from .provenance import files_hash
from .rows import csv_rows, csv_units, json_rows, read_csv_rows

FORMAT = 1
MANIFEST = "run.json"
UNITS, ROWS, PROVENANCE = "units.jsonl", "rows.csv", "provenance.json"
PRIVATE = "runs/"  # they name documents, which tell what was asked
Files = Mapping[str, Iterable[bytes]]
Took = tuple[float, tuple[float, ...]]  # seconds of a release, and of each of its passes
Derive = Callable[[str], Files]  # of the hash of the rows


class Marks(NamedTuple):
    """What a run is known by: the key of each unit, the hash of its data, where it comes from."""

    keys: Mapping[str, str]
    data: str
    provenance: Mapping[str, Any]


def write_run(
    folder: Path,
    room: Path,
    outcomes: Outcomes,
    marks: Marks,
    derive: Derive,
) -> None:
    """Write a run with the files derived from it; a run already there stays until it is whole.

    It is written in a room beside its place, which nobody else uses.
    """
    refuse_foreign(folder)
    new, old = room / "new", room / "old"
    with plain_when_writing(folder):
        shutil.rmtree(new, ignore_errors=True)  # what a killed run left
        new.mkdir()
        _fill(new, outcomes, marks, derive)
        _switch(new, folder, old)
        sync_folder(folder.parent)


def _fill(new: Path, outcomes: Outcomes, marks: Marks, derive: Derive) -> None:
    blocks = list(outcomes.blocks.values())
    rows = sum(block.hits.size for block in blocks)
    units = [_unit_record(unit, marks.keys[unit.name], outcomes) for unit in outcomes.units]
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
    about = {"format": FORMAT, "name": outcomes.experiment.name}
    about |= {"title": outcomes.experiment.title, "inputs": asdict(outcomes.experiment.inputs)}
    about |= {"data": marks.data, "counts": counts}
    write_file(new / MANIFEST, [as_json({**about, "sha256": sums}, 1)])
    for path in {(new / name).parent for name in sums}:
        sync_folder(path)


def _written(new: Path, files: Files) -> dict[str, str]:
    """Write files; return the hash of each."""
    sums = {}
    for name, lines in files.items():
        private = name.startswith(PRIVATE)
        (new / name).parent.mkdir(0o700 if private else 0o777, exist_ok=True)
        sums[name] = write_file(new / name, lines, 0o600 if private else 0o666)
    return sums


def _unit_record(unit: Unit, key: str, outcomes: Outcomes) -> dict[str, Any]:
    serving = [each.name for each in outcomes.experiment.variants if unit.serves(each)]
    facts = dict(outcomes.facts[unit.name])
    return {**asdict(unit), "tables": list(dict.fromkeys(serving)), "key": key, "facts": facts}


def _switch(new: Path, folder: Path, old: Path) -> None:
    """Put a whole run in its place; what it replaces stays in the room, and goes with it."""
    if not os.path.lexists(folder):
        new.replace(folder)
    elif not exchange(new, folder):
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)
        try:
            new.replace(folder)
        except OSError:
            old.replace(folder)
            raise


def take_back(folder: Path, room: Path) -> None:
    """Put a run back that was moved away when the kill came, where two can't be exchanged."""
    if not os.path.lexists(folder) and (room / "old").is_dir():
        with plain_when_writing(folder):
            (room / "old").replace(folder)


def refuse_foreign(folder: Path) -> None:
    """Refuse to replace anything but a run, or one to which somebody has added a file."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise UsageError(f"{folder} is there already and is no folder; name another with -o")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if _is_file(path)}
    if not there:
        return
    if more := sorted(there - _files_of_run(folder)):
        raise UsageError(
            f"{folder} holds {more[0]}, which is no part of its run and would be lost; move it, or "
            "name another folder with -o"
        )


def _files_of_run(folder: Path) -> set[str]:
    try:
        return {MANIFEST, *json.loads((folder / MANIFEST).read_bytes())["sha256"]}
    except FileNotFoundError as fault:
        raise UsageError(
            f"{folder} is there already and holds no run; name another with -o"
        ) from fault
    except (ValueError, KeyError, TypeError) as fault:
        raise UsageError(
            f"{folder}: {MANIFEST} is damaged, so nobody knows what is part of the run; remove the "
            "folder, or name another with -o"
        ) from fault
    except OSError as fault:
        raise UsageError(f"{folder} can't be read ({fault.strerror}); see to its rights") from fault


def _is_file(path: Path) -> bool:
    return path.is_symlink() or not path.is_dir()


def changed_file(folder: Path) -> str:
    """Name the first file of a run that is not as it was written; nothing if all are."""
    try:
        sums = json.loads((folder / MANIFEST).read_bytes())["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return MANIFEST
    for name, digest in sums.items():
        path = folder / name
        if not path.is_file() or files_hash([path]) != digest:
            return str(name)
    return ""


def kept_in_run(folder: Path, wanted: Mapping[str, Unit]) -> dict[str, Measured]:
    """Return what a finished run measured of units, by key; nothing where any byte has changed."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        for name in (UNITS, ROWS):
            if files_hash([folder / name]) != manifest["sha256"][name]:
                return {}
        records = [json.loads(line) for line in (folder / UNITS).read_bytes().splitlines()]
        units = [unit_of(record) for record in records]
        if not any(record["key"] in wanted for record in records):
            return {}
        blocks = read_csv_rows(folder / ROWS, units)
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        return {}
    found, took = {}, _times(folder, manifest)
    for record, unit in zip(records, units, strict=True):
        if record["key"] in wanted and wanted[record["key"]].asked == unit.asked:
            mine = [blocks[unit.name, mode, pool] for mode, pool in unit.asked]
            found[record["key"]] = Measured(record["facts"], mine, *took(unit.name))
    return found


def _times(folder: Path, manifest: Mapping[str, Any]) -> Callable[[str], Took]:
    """Return what tells how long a unit's release took in a finished run; 0: not known."""
    told: Mapping[str, Any] = {}
    with suppress(OSError, ValueError, KeyError):
        if files_hash([folder / PROVENANCE]) == manifest["sha256"][PROVENANCE]:
            told = json.loads((folder / PROVENANCE).read_bytes())
    seconds, passes = (told.get(name, {}) for name in ("release_seconds", "pass_seconds"))
    return lambda name: (float(seconds.get(name, 0)), tuple(map(float, passes.get(name, ()))))


def unit_of(record: Mapping[str, Any]) -> Unit:
    """Return the unit of a line of units.jsonl."""
    asked = tuple((str(mode), int(pool)) for mode, pool in record["asked"])
    rest = {name: record[name] for name in ("name", "label", "method", "parameters", "weights")}
    return Unit(**rest, vectors=record["vectors"], seed=record["seed"], asked=asked)
