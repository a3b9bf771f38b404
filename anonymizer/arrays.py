"""Named arrays in a folder [I/O]: whole or absent, checksummed, opened memory-mapped."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import BadInput, Ints

Arrays = dict[str, NDArray[Any]]
MANIFEST = "manifest.json"


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]], version: str) -> None:
    """Write arrays under a temporary name and rename; a folder already there wins."""
    try:
        _save_whole(folder, arrays, version)
    except OSError as fault:
        raise BadInput(
            f"{folder} can't be written ({fault.strerror or fault}); see to room and rights, or "
            "name another folder: VEILSEARCH_CACHE=DIR"
        ) from fault


def _save_whole(folder: Path, arrays: Mapping[str, NDArray[Any]], version: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        sums = {name: _save(temporary / f"{name}.npy", array) for name, array in arrays.items()}
        manifest = {"version": version, "crc32": sums}
        (temporary / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        temporary.chmod(0o755)
        if not folder.exists():
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _save(path: Path, array: NDArray[Any]) -> int:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return zlib.crc32(path.read_bytes())


def open_arrays(folder: Path, version: str) -> Arrays:
    """Map every array of a folder after checking its checksum."""
    manifest = _manifest(folder)
    if manifest.get("version") != version:
        raise BadInput(f"{folder} has another format; delete it and run the command again")
    arrays: Arrays = {}
    for name, crc in manifest["crc32"].items():
        path = folder / f"{name}.npy"
        if not path.is_file() or zlib.crc32(path.read_bytes()) != crc:
            raise BadInput(f"{path} is damaged; delete {folder} and run the command again")
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        arrays[name] = mapped.view(np.ndarray)  # slicing a memmap is four times slower
    return arrays


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        names = {path.stem for path in folder.glob("*.npy")}
        if not isinstance(manifest, dict) or not names or set(manifest["crc32"]) != names:
            raise ValueError("the manifest does not fit the files")
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise BadInput(f"{folder} is damaged; delete it and run the command again") from fault
    return manifest


def pack(texts: Sequence[str]) -> tuple[NDArray[np.uint8], Ints]:
    """Lay texts end to end as UTF-8; text i is blob[at[i]:at[i + 1]]."""
    encoded = [text.encode() for text in texts]
    at = np.cumsum([0, *(len(text) for text in encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), at


def ragged(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], Ints]:
    """Lay lists of numbers end to end; list i is values[at[i]:at[i + 1]]."""
    at = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    values = np.fromiter((value for row in rows for value in row), np.int32, int(at[-1]))
    return values, at
