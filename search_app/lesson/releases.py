"""Releases that only the dial shows [I/O]: in folders of `dial/`, found and dropped meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from anonymizer.errors import AnonymizerError
from anonymizer.methods import promise_of
from anonymizer.model import Release
from anonymizer.storage.parts import MANIFEST
from anonymizer.storage.releases import read_input_hash, read_release

from ..search.modes import Modes
from ..workspace.folder import DIAL, Workspace

Extend = Callable[[Mapping[str, Release]], Modes]
_Stamp = tuple[int, int]


class DialReleases:
    """Modes, with the dial's releases that were made from the same profiles."""

    def __init__(self, workspace: Workspace, made_from: str, modes: Modes, extend: Extend):
        self._folder = workspace.root / DIAL
        self._in_use = (workspace.root / workspace.current().release).resolve()
        self._made_from = made_from
        self._extend = extend
        self._modes, self._served = modes, dict[str, Release]()
        self._plain = modes
        self._read: dict[str, tuple[_Stamp, Release | None]] = {}
        self._lock = threading.Lock()

    def __call__(self) -> Modes:
        """Return the modes with the releases that are there now; others were read before."""
        with self._lock:
            there = {
                path.parent.name: path
                for path in self._folder.glob(f"[!.]*/{MANIFEST}")
                if path.parent.resolve() != self._in_use  # it is a stop already
            }
            self._read = {name: self._read_again(name, there[name]) for name in sorted(there)}
            served = {
                f"{DIAL}/{name}": release
                for name, (_, release) in self._read.items()
                if release is not None
            }
            # Extending prepares every release again, so it waits for a change.
            if [*map(id, served.values())] != [*map(id, self._served.values())]:
                self._modes = self._extend(served) if served else self._plain
                self._served = served
            return self._modes

    def _read_again(self, name: str, manifest: Path) -> tuple[_Stamp, Release | None]:
        """Return the release of a `manifest`, and its stamp; None where it is no stop."""
        stamp = (0, 0)
        try:
            status = manifest.stat()
            stamp = (status.st_ino, status.st_mtime_ns)
            if name in self._read and self._read[name][0] == stamp:
                return self._read[name]
            if read_input_hash(manifest.parent) == self._made_from:
                return stamp, read_release(manifest.parent, promise_of)
        except (AnonymizerError, OSError):  # damaged, or replaced at this moment
            pass
        return stamp, None
