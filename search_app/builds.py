"""Builds of indexes: folders `NAME.NNNN` beside each other, of which each name uses one. [I/O]"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

UNFINISHED = re.compile(r"\..+\.\d{4,}\.[a-z0-9_]{8}")


def name_of(build: Path) -> str:
    """Return the name of the index that a folder is a build of."""
    return build.name.rpartition(".")[0]


def number_of(build: Path, name: str) -> int:
    """Return a build's number; 0 if the folder is no build of this name."""
    number = build.name.rpartition(".")[2]
    plain = number.isascii() and number.isdecimal()
    return int(number) if plain and name_of(build) == name else 0


def builds_of(folder: Path, name: str) -> list[Path]:
    """Return the builds of a name in a folder, the latest last."""
    found = [path for path in folder.glob("*.*") if number_of(path, name)]
    return sorted(found, key=lambda path: number_of(path, name))


def latest_builds(folder: Path) -> dict[str, str]:
    """Return the latest build of each name in a folder: name -> folder's name."""
    names = {name_of(path.parent) for path in folder.glob("[!.]*.*/manifest.json")}
    found = {name: builds_of(folder, name) for name in sorted(names)}
    return {name: builds[-1].name for name, builds in found.items() if builds}


def discard(build: Path) -> None:
    """Remove a build; half of one never has its name, and the next sweep removes what is left."""
    with suppress(OSError):
        hidden = tempfile.mkdtemp(prefix=f".{build.name}.", dir=build.parent)
        build.rename(hidden)
        shutil.rmtree(hidden)
