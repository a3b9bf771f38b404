"""Releases in shards on disk [I/O]: written and read one shard at a time, so memory stays flat.

A release that is grouped in parts has a shard for each: the rows of the part's people, and who has
which. Everything else, and what all parts say together, is as in a release of one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Ints
from ..errors import BadInput
from ..model import ROW_NAME, Profiles, Release, row_names
from .files import replaced_folder
from .parts import (
    MEMBERS,
    MOST_SHARDS,
    PRIVATE,
    part_files,
    rows_named,
    shard_name,
    write_files,
    write_manifest,
)
from .records import plain_errors
from .releases import (
    head_parts,
    manifest_of,
    refuse_foreign_folder,
    refuse_named_users,
    shard_parts,
)


@dataclass(frozen=True)
class ReleaseHead:
    """What all shards of a release have in common, and how many rows they have together."""

    method: str
    parameters: Mapping[str, object]
    rows: int
    facts: Mapping[str, object]  # what is true of all shards
    # Users who are called like a row, as `called_like_rows` finds them.
    like_rows: frozenset[str] = frozenset()
    key: bytes | None = field(default=None, repr=False)
    taxonomy: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    base: Profiles | None = field(default=None, repr=False)


def called_like_rows(users: Iterable[str]) -> frozenset[str]:
    """Return those of `users` whose ids could be names of rows: these are few, if any."""
    return frozenset(filter(ROW_NAME.fullmatch, users))


def write_sharded_release(
    head: ReleaseHead,
    shards: Iterable[Release],
    folder: Path,
    *,
    seed: int,
    input_hash: str,
    profiles: Mapping[str, Any] | None = None,
) -> None:
    """Write the release of `shards`, in their order, to `folder`; memory holds one at a time.

    `head` says what they have in common. Their rows get new names, numbered through; the shards'
    own names, facts and parameters are not written. A release that is already there stays until
    this one is whole.
    """
    with plain_errors(folder, "written"):
        refuse_foreign_folder(folder)
        with replaced_folder(folder) as new:
            (new / PRIVATE).mkdir(mode=0o700)
            files = _files(head, shards)
            sums = write_files(new, files, {})
            about = (head.method, head.parameters, profiles or {}, head.facts)
            write_manifest(new, manifest_of(*about, seed, input_hash), sums)


def _files(head: ReleaseHead, shards: Iterable[Release]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the name and the lines of each file: those of one shard after the other."""
    # A generator, so that a shard is made only when the one before it is on the disk.
    names, first, number = row_names(head.rows, head.like_rows), 0, 0
    for number, shard in enumerate(shards):
        if number == MOST_SHARDS:
            raise BadInput(f"a release has at most {MOST_SHARDS} shards; take fewer --parts")
        end = first + len(shard.rows)
        named = replace(shard, rows=replace(shard.rows, users=names[first:end]))
        named = replace(named, method=head.method, parameters=head.parameters, facts=head.facts)
        refuse_named_users(named)
        for part, lines in shard_parts(named).items():
            yield shard_name(part, number), lines
        first = end
    if first != head.rows:
        raise BadInput(f"shards have {first} rows, and {head.rows} were stated")
    yield from head_parts(head.key, head.base, head.taxonomy).items()


class ShardOfUsers:
    """In which shard of a release users stand, by hashes of 64 bits of their names."""

    def __init__(self, release: Path):
        """Read who stands in the folder `release`, of one cohort."""
        hashes, shards = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int16)]
        for number, path in enumerate(part_files(release, MEMBERS)):
            with plain_errors(release, "read"):
                users = rows_named(path.read_bytes())
            # Python's own hashes, with a key that each process draws.
            hashes.append(np.fromiter(map(hash, users), np.int64, len(users)))
            shards.append(np.full(len(users), number, dtype=np.int16))
        self._path, all_hashes = release, np.concatenate(hashes)
        order = np.argsort(all_hashes, kind="stable")
        self._hashes, self._shards = all_hashes[order], np.concatenate(shards)[order]
        if np.any(self._hashes[1:] == self._hashes[:-1]):
            raise BadInput(f"{release}: a user stands in it twice; make the release again")

    def __call__(self, users: Sequence[str]) -> Ints:
        """Return the number of the shard in which each of `users` stands; all must stand in one."""
        wanted = np.fromiter(map(hash, users), np.int64, len(users))
        at = np.minimum(np.searchsorted(self._hashes, wanted), self._hashes.size - 1)
        if strangers := int(np.count_nonzero(self._hashes[at] != wanted)):
            raise BadInput(
                f"{self._path}: {strangers} people of the profiles stand in no row of it; make the "
                "release again"
            )
        return self._shards[at].astype(np.int64)
