"""A release whose rows are of one person each, made by the plainest rule: rare terms go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.measures.facts import facts
from anonymizer.methods.km_anonymity import METHOD
from anonymizer.model import Profiles, Release
from anonymizer.rows.reduced import reduced_release
from anonymizer.storage.profiles import fingerprint
from anonymizer.storage.releases import write_release
from search_app.workspace.folder import Workspace

CHOICES = {
    "algorithm": "insert",
    "target": "logsize",
    "ties": "random",
    "reinsert": "none",
    "marketing": "none",
}


def single_rows(
    profiles: Profiles, k: int = 2, frequencies: str = "keep", **chosen: object
) -> Release:
    """Keep the terms that k people or more have: with m = 1 nothing else is asked."""
    columns = profiles.weights.indices
    kept = np.bincount(columns, minlength=len(profiles.terms))[columns] >= k
    parameters = {**CHOICES, "k": k, "m": 1, "frequencies": frequencies, **chosen}
    passes = np.where(kept, 0, 1)
    made = reduced_release(
        profiles,
        kept,
        passes,
        parameters,
        method="km-anonymity",
        promise=METHOD.promise,
        frequencies=frequencies,
    )
    return replace(made, facts=facts(profiles, made))


def write_single_rows(
    root: Path, name: str, profiles: Profiles, made_from: str = "", **chosen: Any
) -> Path:
    """Write such a release into a workspace, as one made from other profiles if so named."""
    made_from = made_from or fingerprint(profiles)
    write_release(single_rows(profiles, **chosen), root / name, seed=0, input_hash=made_from)
    return root / name


def make_current(root: Path, release: Path) -> None:
    """Serve a release of the current profiles."""
    workspace = Workspace(root)
    current = workspace.current()
    named = workspace.relative(release)
    workspace.make_current(release=named, profiles=current.profiles, truth=current.truth)
