"""The folder of a finished run [I/O]: written whole or not at all, checked when read.

    run.json         what was run, counts, and the SHA-256 of every other file
    experiment.toml  the definition in full
    provenance.json  versions, hashes of inputs and code, machine, seconds
    units.jsonl      a line a unit: its release's parameters, seed and facts, and its key
    rows.jsonl, .csv a line a question, unit, mode and pool; people by number
    summary.csv      means with intervals
    report.json, report.html, figures/NAME.svg, .png, .csv

None of it holds a query, a user's id or a document's id.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anonymizer.records import as_json, exchange, sync_folder, write_file

from ..errors import UsageError, plain_when_writing
from .outcomes import Outcomes, Unit
from .rows import csv_rows, json_rows, read_csv_rows

FORMAT = 1
MANIFEST = "run.json"
ROWS = "rows.csv"
Files = Mapping[str, Iterable[bytes]]


def write_run(
    folder: Path,
    outcomes: Outcomes,
    keys: Mapping[str, str],
    provenance: Mapping[str, Any],
    derived: Files,
) -> None:
    """Write a run with the files derived from it; a run already there stays until it is whole."""
    refuse_foreign(folder)
    with plain_when_writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = folder.with_name(f".{folder.name}.new-{secrets.token_hex(4)}")
        try:
            new.mkdir()
            _fill(new, outcomes, keys, provenance, derived)
            _switch(new, folder)
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _fill(
    new: Path,
    outcomes: Outcomes,
    keys: Mapping[str, str],
    provenance: Mapping[str, Any],
    derived: Files,
) -> None:
    blocks = list(outcomes.blocks.values())
    rows = sum(block.hits.size for block in blocks)
    units = [_unit_record(unit, keys[unit.name], outcomes) for unit in outcomes.units]
    files: dict[str, Iterable[bytes]] = {
        "provenance.json": [as_json(provenance, 1)],
        "units.jsonl": map(as_json, units),
        ROWS: csv_rows(blocks, outcomes.person),
        "rows.jsonl": json_rows(blocks, outcomes.person),
        **derived,
    }
    sums = {}
    for name, lines in files.items():
        (new / name).parent.mkdir(exist_ok=True)
        sums[name] = write_file(new / name, lines)
    counts = {"people": outcomes.people, "queries": outcomes.person.size}
    counts |= {"units": len(units), "rows": rows}
    about = {"format": FORMAT, "name": outcomes.experiment.name}
    about |= {"title": outcomes.experiment.title, "inputs": asdict(outcomes.experiment.inputs)}
    write_file(new / MANIFEST, [as_json({**about, "counts": counts, "sha256": sums}, 1)])
    for path in {(new / name).parent for name in files}:
        sync_folder(path)


def _unit_record(unit: Unit, key: str, outcomes: Outcomes) -> dict[str, Any]:
    return {**asdict(unit), "key": key, "facts": dict(outcomes.facts[unit.name])}


def _switch(new: Path, folder: Path) -> None:
    """Put a whole run in its place; the one it replaces goes."""
    if not os.path.lexists(folder):
        new.replace(folder)
    elif not exchange(new, folder):
        old = new.with_name(f"{new.name}.old")
        folder.replace(old)
        new.replace(folder)
        shutil.rmtree(old, ignore_errors=True)


def refuse_foreign(folder: Path) -> None:
    """Refuse to replace anything but a run."""
    if not os.path.lexists(folder):
        return
    ours = folder.is_dir() and not folder.is_symlink()
    if ours and (not any(folder.iterdir()) or (folder / MANIFEST).is_file()):
        return
    raise UsageError(f"{folder} is there already and holds no run; name another folder with -o")


def kept_in_run(folder: Path, wanted: Mapping[str, Unit]) -> dict[str, Any]:
    """Return what a finished run measured of units, by key; nothing where any byte has changed."""
    from .pipeline import Measured

    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        for name in ("units.jsonl", ROWS):
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != manifest["sha256"][name]:
                return {}
        records = [json.loads(line) for line in (folder / "units.jsonl").read_bytes().splitlines()]
        units = [_unit_of(record) for record in records]
        if not any(record["key"] in wanted for record in records):
            return {}
        blocks = read_csv_rows(folder / ROWS, units)
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        return {}
    found = {}
    for record, unit in zip(records, units, strict=True):
        if record["key"] in wanted and wanted[record["key"]].asked == unit.asked:
            mine = [blocks[unit.name, mode, pool] for mode, pool in unit.asked]
            found[record["key"]] = Measured(record["facts"], mine)
    return found


def _unit_of(record: Mapping[str, Any]) -> Unit:
    asked = tuple((str(mode), int(pool)) for mode, pool in record["asked"])
    rest = {name: record[name] for name in ("name", "label", "method", "parameters", "weights")}
    return Unit(**rest, vectors=record["vectors"], seed=record["seed"], asked=asked)
