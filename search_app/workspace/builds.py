"""Builds of indexes: folders `NAME.NNNN` next to each other; each name uses one. [I/O]"""

from __future__ import annotations

from pathlib import Path

NAMES = r".+\.\d{4,}"  # of builds


def name_of(build: Path) -> str:
    """Return the name of the index of which the folder `build` is a build."""
    return build.name.rpartition(".")[0]


def number_of(build: Path, name: str) -> int:
    """Return the number of the folder `build`; 0 if it is no build of the index `name`."""
    number = build.name.rpartition(".")[2]
    plain = number.isascii() and number.isdecimal()
    return int(number) if plain and name_of(build) == name else 0


def builds_of(folder: Path, name: str) -> list[Path]:
    """Return the builds of the index `name` in `folder`, the latest last."""
    builds = [path for path in folder.glob("*.*") if number_of(path, name)]
    return sorted(builds, key=lambda path: number_of(path, name))


def latest_builds(folder: Path) -> dict[str, str]:
    """Return the latest build of each name in `folder`: name -> name of the build's folder."""
    names = {name_of(path.parent) for path in folder.glob("[!.]*.*/manifest.json")}
    every = {name: builds_of(folder, name) for name in sorted(names)}
    return {name: builds[-1].name for name, builds in every.items() if builds}
