"""Named arrays in a folder [I/O]: whole or absent, checksummed, opened memory-mapped."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .files import replaced_folder, sync, write_file

Arrays = dict[str, NDArray[Any]]
MANIFEST = "manifest.json"


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]], version: str) -> None:
    """Write `arrays` to `folder`, whole or not at all; a folder that is already there stays."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with replaced_folder(folder, first_stays=True) as new:
            sums = {}
            for name, array in arrays.items():
                with (new / f"{name}.npy").open("wb") as file:
                    np.save(file, array, allow_pickle=False)
                    sync(file)
                sums[name] = zlib.crc32((new / f"{name}.npy").read_bytes())
            manifest = {"version": version, "crc32": sums}
            write_file(new / MANIFEST, [json.dumps(manifest, indent=1).encode()])
    except OSError as fault:
        raise BadInput(
            f"{folder} can't be written ({fault.strerror or fault}); check space and rights, or "
            "name another folder: VEILSEARCH_CACHE=DIR"
        ) from fault


def open_arrays(folder: Path, version: str) -> Arrays:
    """Return every array of `folder` memory-mapped, after checking its checksum."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        names = {path.stem for path in folder.glob("*.npy")}
        if not isinstance(manifest, dict) or not names or set(manifest["crc32"]) != names:
            raise ValueError("the manifest does not fit the files")
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise BadInput(f"{folder} is damaged; delete it and run the command again") from fault
    if manifest.get("version") != version:
        raise BadInput(f"{folder} has another format; delete it and run the command again")
    arrays: Arrays = {}
    for name, crc in manifest["crc32"].items():
        path = folder / f"{name}.npy"
        if not path.is_file() or zlib.crc32(path.read_bytes()) != crc:
            raise BadInput(f"{path} is damaged; delete {folder} and run the command again")
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        # A plain view, because slicing a memmap is four times slower.
        arrays[name] = mapped.view(np.ndarray)
    return arrays


def hash_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the name, size and bytes of each of `arrays`, one after the other."""
    digest = hashlib.sha256()
    for name, values in arrays.items():
        digest.update(f"{name} {values.size}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
