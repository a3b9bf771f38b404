"""Units already measured [I/O]: each in a file named by a hash of all that it depends on."""
# A run that was killed goes on from these files. Each begins with the SHA-256 of the rest. A unit
# whose file is damaged, or holds something else, is measured again.

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.storage.files import replaced_whole

from ..errors import plain_when_writing
from .design import Unit
from .outcomes import Block
from .pipeline import Measured

SUFFIX = ".unit"
SUM = 32  # bytes


def keep(folder: Path, key: str, measured: Measured) -> None:
    """Write `measured` to the file of `key` in `folder`, whole or not at all."""
    about = {
        "key": key,
        "facts": measured.facts,
        "asked": [(block.mode, block.pool) for block in measured.blocks],
        "measures": list(measured.blocks[0].values) if measured.blocks else [],
        "seconds": measured.seconds,
        "pass_seconds": measured.pass_seconds,
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
    for at, block in enumerate(measured.blocks):
        arrays[f"hits{at}"] = block.hits
        arrays[f"values{at}"] = np.stack(list(block.values.values()))
    content = BytesIO()
    np.savez(content, **arrays)
    whole = content.getvalue()
    with plain_when_writing(folder), replaced_whole(folder / f"{key}{SUFFIX}") as file:
        file.write(hashlib.sha256(whole).digest() + whole)


def find(folder: Path, key: str, unit: Unit) -> Measured | None:
    """Return the results of `unit` if `folder` has an intact file of `key`."""
    try:
        content = (folder / f"{key}{SUFFIX}").read_bytes()
    except OSError:
        return None
    stored, whole = content[:SUM], content[SUM:]
    if hashlib.sha256(whole).digest() != stored:
        return None
    # Loading a pickle could run code.
    with np.load(BytesIO(whole), allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
        places = [(str(mode), int(pool)) for mode, pool in about["asked"]]
        if (about["key"], tuple(places)) != (key, unit.asked):
            return None
        blocks = []
        for at, (mode, pool) in enumerate(places):
            values = dict(zip(about["measures"], arrays[f"values{at}"], strict=True))
            blocks.append(Block(unit.name, mode, pool, arrays[f"hits{at}"], values))
    passes = tuple(about["pass_seconds"])
    return Measured(dict(about["facts"]), blocks, float(about["seconds"]), passes)


def renamed(measured: Measured, unit: Unit) -> Measured:
    """Return `measured` under the name that `unit` has in this experiment."""
    blocks = [replace(block, unit=unit.name) for block in measured.blocks]
    return measured._replace(blocks=blocks)
