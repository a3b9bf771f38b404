"""Releases in folders, made by anybody's code, as further variants of an experiment. [I/O]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.storage.foreign import (
    hash_of_rows,
    is_foreign,
    method_in,
    read_any,
    refuse_other_people,
)
from anonymizer.storage.profiles import fingerprint
from anonymizer.storage.releases import read_input_hash

from ...errors import UsageError
from ..design import Experiment, Variant


class ForeignRelease(NamedTuple):
    """A release, the hash of its rows, and that of its profiles if it is known."""

    release: Release
    digest: str
    made_of: str


def read_all(folders: Sequence[Path]) -> dict[str, ForeignRelease]:
    """Return the releases in `folders` by the names that units give them as their methods."""
    others: dict[str, ForeignRelease] = {}
    for folder in folders:
        name = method_in(folder)
        if name in others:
            raise UsageError(f"--releases: two folders are called {name}; rename one")
        release = replace(read_any(folder, promise_of), method=name)
        made_of = "" if is_foreign(folder) else read_input_hash(folder)
        others[name] = ForeignRelease(release, hash_of_rows(folder), made_of)
    return others


def with_foreign(experiment: Experiment, some: Mapping[str, ForeignRelease]) -> Experiment:
    """Return `experiment` with `some` releases, searched by as the first that it makes itself."""
    first = next((one for one in experiment.variants if one.method), Variant("", modes=()))
    added = []
    for name, (release, digest, _) in some.items():
        given: dict[str, Any] = dict(release.parameters)
        # By the hash rows that were made again are measured again.
        complete = {**given, "sha256": digest}
        named = replace(first, name=name, method=name, seeds=(0,))
        added.append(replace(named, parameters=given, complete=complete))
    return replace(experiment, variants=(*experiment.variants, *added))


def refuse_unfit(some: Mapping[str, ForeignRelease], profiles: Mapping[str, Profiles]) -> None:
    """Refuse `some` releases that were not made of the `profiles`, as far as can be seen."""
    for name, (release, _, made_of) in some.items():
        for one in profiles.values():
            refuse_other_people(release, one)
        if made_of and made_of not in map(fingerprint, profiles.values()):
            raise UsageError(f"{name}: made of other profiles than those of this experiment")
        # Only words above a term may be new, and public words.
        strange = {*release.rows.terms}.difference(*(one.terms for one in profiles.values()))
        if strange and release.promise.bounds not in ("vocabulary", "differential"):
            raise UsageError(f"{name}: {len(strange)} of its terms stand in no profile")
