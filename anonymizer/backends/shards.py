"""Shards of a release on their way to its folder [I/O]: kept in files until all are made."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..model import Profiles, Progress, Release, row_names
from ..storage.releases import write_release
from ..storage.sharded import ReleaseHead, write_sharded_release
from .everybody import Made

S = TypeVar("S")


@dataclass(frozen=True)
class Shards(Generic[S]):
    """The shards of a release in files of the `folder`, and what was measured of each."""

    folder: Path
    rows: int
    measured: list[S]

    @property
    def first(self) -> Release:
        """Return the first shard."""
        return next(iter(self))

    def __iter__(self) -> Iterator[Release]:
        """Yield the shards in order; memory holds one."""
        for number in range(len(self.measured)):
            # Written by this very run, into a folder that only its user may read.
            with _place(self.folder, number).open("rb") as file:
                yield pickle.load(file)  # noqa: S301


def keep(made: Iterator[Made[S]], folder: Path, progress: Progress) -> Shards[S]:
    """Return the shards that are `made`, kept in `folder`; call `progress` with users served."""
    # A row's name depends on the number of all rows, so all are made before the first
    # is written.
    rows, served, measured = 0, 0, []
    for number, (shard, measure) in enumerate(made):
        with _place(folder, number).open("wb") as file:
            pickle.dump(shard, file, protocol=pickle.HIGHEST_PROTOCOL)
        rows, served = rows + len(shard.rows), served + len(shard.users)
        measured.append(measure)
        progress(served)
    return Shards(folder, rows, measured)


def in_outline(shards: Shards[S], facts: Mapping[str, Any]) -> Release:
    """Return the release of `shards` with these `facts`, but with rows that say nothing."""
    users, row_of_user, rows = list[str](), list[Ints](), 0
    for shard in shards:
        users += shard.users
        row_of_user.append(shard.row_of_user + rows)
        rows += len(shard.rows)
    nothing = Profiles(row_names(rows, frozenset()), ("",), csr_matrix(np.ones((rows, 1))))
    members = tuple(users), np.concatenate(row_of_user)
    return Release(nothing, *members, shard.method, shard.parameters, facts, promise=shard.promise)


def write_shards(
    shards: Shards[S],
    facts: Mapping[str, Any],
    like_rows: frozenset[str],
    folder: Path,
    *,
    seed: int,
    input_hash: str,
    profiles: Mapping[str, Any],
) -> None:
    """Write the release of `shards` with these `facts` to `folder`; one is a release as any other.

    `like_rows` are users who are called as rows are.
    """
    # Method, parameters and key are the same in all shards, so the first one tells them.
    first = shards.first
    if len(shards.measured) == 1:
        release = replace(first, facts=facts)
        write_release(release, folder, seed=seed, input_hash=input_hash, profiles=profiles)
        return
    head = ReleaseHead(
        first.method,
        first.parameters,
        shards.rows,
        facts,
        like_rows,
        first.key,
        first.taxonomy,
        first.base,
    )
    write_sharded_release(head, shards, folder, seed=seed, input_hash=input_hash, profiles=profiles)


def _place(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:04d}"
