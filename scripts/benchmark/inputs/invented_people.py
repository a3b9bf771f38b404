"""Invented people for the measurements: more of the demo's kind, and what they ask. [I/O]

usage: python -m scripts.benchmark.inputs.invented_people DEMO_PROFILES COUNT PROFILES.npz
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.model import Profiles
from anonymizer.storage.profiles import read_profiles, write_profiles

from ..processes import process

SIZE = 100  # terms of a made-up person
MIXED = 3  # people of the demo, whose terms a made-up person has


def mixed(people: Profiles, count: int, size: int = SIZE) -> Profiles:
    """Return `count` made-up people, each with `size` terms of three random `people`."""
    rng = np.random.default_rng(count)
    rows = []
    for chosen in rng.integers(len(people), size=(count, MIXED)).tolist():
        terms = np.unique(np.concatenate([people.slice(row)[0] for row in chosen]))
        rows.append(np.sort(rng.choice(terms, min(size, terms.size), replace=False)))
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows)
    matrix = csr_matrix((np.ones(columns.size), columns, ends), shape=(count, len(people.terms)))
    return Profiles(tuple(f"m{number}" for number in range(count)), people.terms, matrix)


def made_up(folder: Path, people: Path, count: int) -> Path:
    """Return the profiles of `count` made-up people in `folder`, written unless they are there."""
    path = folder / f"people-{count}.npz"
    if not path.exists():
        # In a process of its own: the peak memory of children includes that of a large parent.
        part = path.with_name(f"part-{path.name}")
        process([sys.executable, "-m", __name__, str(people), str(count), str(part)])
        part.replace(path)
    return path


def invented_queries(terms: list[str], count: int) -> list[str]:
    """Return `count` queries of two of the most frequent `terms`, always the same ones."""
    rng = np.random.default_rng(1)
    frequent = terms[20:2000] or terms
    return [" ".join(rng.choice(frequent, 2)) for _ in range(count)]


def main(people: str, count: str, output: str) -> None:
    """Write to `output` the profiles of `count` people made up from those in the file `people`."""
    write_profiles(mixed(read_profiles(Path(people)), int(count)), Path(output))


if __name__ == "__main__":
    main(*sys.argv[1:])
