"""Which finished run may be replaced: only by one that holds all it holds. [I/O]

A damaged run holds nothing that could be relied on; whatever is run in its place replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .design import Experiment
from .outcomes import Unit
from .provenance import files_hash
from .run_folder import MANIFEST, PRIVATE, UNITS, unit_of

_REMEDY = "name another folder with -o, or give --replace"
Asked = set[tuple[str, int]]
_NOT_TOLD = {"robots": None}  # inputs that older runs don't tell of: as it was for them


def refuse_loss(
    folder: Path,
    experiment: Experiment,
    units: Iterable[Unit],
    orders: bool = False,
    replace: bool = False,
) -> None:
    """Refuse to replace a run of other inputs, or of releases or orders that would be lost."""
    manifest = _manifest(folder)
    if manifest is None or replace:
        return
    inputs, before = asdict(experiment.inputs), manifest.get("inputs")
    others = {**_NOT_TOLD, **before} if isinstance(before, Mapping) else {}
    if others != inputs:
        named = [
            f"{n}={'off' if v is None else v}" for n, v in others.items() if inputs.get(n, "") != v
        ]
        raise UsageError(f"{folder} holds a run of other inputs ({', '.join(named)}); {_REMEDY}")
    made: dict[str, Asked] = {}
    for unit in units:
        made.setdefault(_identity(unit), set()).update(unit.asked)
    for unit in _units(folder):
        again = made.get(_identity(unit))
        lost = sorted(set(unit.asked) - (again or set()))
        if lost or again is None:
            asked = f", mode {lost[0][0]}, pool {lost[0][1]}" if lost else ""
            raise UsageError(
                f"{folder} holds a run of what this one doesn't make, such as {unit.label} (seed "
                f"{unit.seed}{asked}); {_REMEDY}"
            )
    if (folder / PRIVATE).is_dir() and not orders:
        raise UsageError(f"{folder} holds {PRIVATE}, which would be lost; give --runs or --replace")


def refuse_other_data(folder: Path, data: str, replace: bool = False) -> None:
    """Refuse to replace a run of other people, queries or pools."""
    manifest = _manifest(folder)
    if manifest is not None and not replace and manifest.get("data") != data:
        raise UsageError(f"{folder} holds a run of other data; {_REMEDY}")


def _manifest(folder: Path) -> Mapping[str, Any] | None:
    """Return what a folder says of its run; None where it holds none, or a damaged one."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        sound = files_hash([folder / UNITS]) == manifest["sha256"][UNITS]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if sound else None


def _units(folder: Path) -> list[Unit]:
    lines = (folder / UNITS).read_bytes().splitlines()
    return [unit_of(json.loads(line)) for line in lines]


def _identity(unit: Unit) -> str:
    parts = (unit.method, dict(unit.parameters), unit.weights, unit.vectors, unit.seed)
    return json.dumps(parts, sort_keys=True)
