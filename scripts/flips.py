"""Flip single bits in every file of a workspace; count the flips that doctor does not notice.

usage: .venv/bin/python -m scripts.flips WORKSPACE [--flips 60]

WORKSPACE is copied first. It should be small: each flip is one run of doctor's checks. A flip in a
SQLite file is harmless if the file still holds the same, also after SQLite wrote it anew; one in an
archive of arrays if these are the same. Nothing is read from .lock but who holds it, and demo.json
only says whether to build a demo again. Settings are the owner's to write: a flip may make others.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from search_app.server import checkup
from search_app.settings import load_settings


def noticed(root: Path) -> str:
    """Return the first check of the workspace `root` that fails, "" if all is well."""
    try:
        settings = load_settings(root)
    except Exception:  # refused when opened
        return "settings"
    return next((check.name for check in checkup.checkup(settings) if not check.good), "")


def held(path: Path) -> list[str]:
    """Return all that `path` holds; if it is a SQLite file, now and after it is written anew."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            return [f"{name} {stored[name].dtype} {stored[name].tolist()}" for name in stored.files]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        with closing(sqlite3.connect(copy)) as file:
            before = [*file.iterdump(), *file.execute("PRAGMA user_version").fetchall()]
            file.execute("VACUUM")
        with closing(sqlite3.connect(copy)) as file:
            after = [*file.iterdump(), *file.execute("PRAGMA integrity_check").fetchall()]
    return [str(line) for line in (*before, *after)]


def harmless(path: Path, content: bytes) -> bool:
    """Return whether `path` says nothing, or holds the rows that it held with this `content`."""
    if path.name in {".lock", "demo.json"}:
        return True
    with tempfile.TemporaryDirectory() as folder:
        good = Path(folder, path.name)
        good.write_bytes(content)
        try:
            return path.suffix in {".sqlite", ".npz"} and held(path) == held(good)
        except sqlite3.Error:
            return False


def main(arguments: Sequence[str] | None = None) -> None:
    """Print, for each file, how many flips were noticed, and by which checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--flips", type=int, default=60)
    given = parser.parse_args(arguments)
    for name in ("_java", "_wordnet"):  # not of the workspace
        setattr(checkup, name, lambda _settings: "")
    checkup._LEAST_MEMORY = checkup._LEAST_DISK = 0
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "w")
        shutil.copytree(given.workspace, root)
        print("a good workspace:", noticed(root) or "no fault")
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            content = path.read_bytes()
            by: dict[str, int] = {}
            places = rng.integers(0, 8 * len(content), given.flips if content else 0)
            for place in places.tolist():
                spoilt = bytearray(content)
                spoilt[place // 8] ^= 1 << place % 8
                path.write_bytes(spoilt)
                name = noticed(root)
                if not name and harmless(path, content):
                    name = "harmless"
                by[name] = by.get(name, 0) + 1
                path.write_bytes(content)
            missed = by.pop("", 0)
            print(
                f"{path.relative_to(root)} | {len(content):,} | {missed} missed | {by}", flush=True
            )


if __name__ == "__main__":
    main()
