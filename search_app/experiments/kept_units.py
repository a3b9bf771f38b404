"""Units that are measured already [I/O]: kept one by one under a hash of all they depend on.

A run that is killed goes on from what it kept. What can't be read, or says it is something else, is
measured again: each file begins with the SHA-256 of the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.records import write_file

from ..errors import plain_when_writing
from ..evaluation import MEASURES
from .outcomes import Block, Unit
from .pipeline import Measured

SUFFIX = ".unit"
SUM = 32  # bytes


def keep(folder: Path, key: str, measured: Measured) -> None:
    """Write what a unit came to, whole or not at all."""
    arrays: dict[str, Any] = {"about": np.array(json.dumps(_about(key, measured)))}
    for at, block in enumerate(measured.blocks):
        arrays[f"hits{at}"] = block.hits
        arrays[f"values{at}"] = np.stack([block.values[name] for name in MEASURES])
    content = BytesIO()
    np.savez(content, **arrays)
    whole, temporary = content.getvalue(), folder / f".{key}"
    with plain_when_writing(folder):
        temporary.unlink(missing_ok=True)
        write_file(temporary, [hashlib.sha256(whole).digest(), whole], 0o600)
        temporary.replace(folder / f"{key}{SUFFIX}")


def _about(key: str, measured: Measured) -> dict[str, Any]:
    asked = [(block.mode, block.pool) for block in measured.blocks]
    took = {"seconds": measured.seconds, "pass_seconds": measured.pass_seconds}
    about = {"key": key, "facts": measured.facts, "asked": asked, "measures": list(MEASURES)}
    return {**about, **took}


def find(folder: Path, key: str, unit: Unit) -> Measured | None:
    """Return what a unit of this key came to, if it is kept here and whole."""
    try:
        content = (folder / f"{key}{SUFFIX}").read_bytes()
    except OSError:
        return None
    said, whole = content[:SUM], content[SUM:]
    if hashlib.sha256(whole).digest() != said:
        return None
    with np.load(BytesIO(whole), allow_pickle=False) as arrays:
        return _measured(key, unit, arrays)


def _measured(key: str, unit: Unit, arrays: Mapping[str, Any]) -> Measured | None:
    about = json.loads(str(arrays["about"]))
    asked = [(str(mode), int(pool)) for mode, pool in about["asked"]]
    if about["key"] != key or tuple(asked) != unit.asked or about["measures"] != list(MEASURES):
        return None
    blocks = []
    for at, (mode, pool) in enumerate(asked):
        values = dict(zip(MEASURES, arrays[f"values{at}"], strict=True))
        blocks.append(Block(unit.name, mode, pool, arrays[f"hits{at}"], values))
    passes = tuple(about["pass_seconds"])
    return Measured(dict(about["facts"]), blocks, float(about["seconds"]), passes)


def renamed(measured: Measured, unit: Unit) -> Measured:
    """Return what was measured under the name that the unit has in this experiment."""
    blocks = [replace(block, unit=unit.name) for block in measured.blocks]
    return measured._replace(blocks=blocks)
