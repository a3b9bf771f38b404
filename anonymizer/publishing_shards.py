"""What publishing keeps of a release in shards while they are judged, one after the other [I/O]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Ints, Marks
from .errors import BadInput
from .storage.files import AT_ONCE
from .storage.parts import MEMBERS, ROW_HASH, ROWS, part_and_shard, row_hash, rows_named, shard_name
from .verification.finding import Finding

if TYPE_CHECKING:
    from .verification.case import CohortCase
    from .verification.files.streamed import StreamedProfiles

NAMED = (
    "has a term that is a user's id, and nobody else has it; give the people other ids and make "
    "the profiles again"
)
NOT_NAMED = "no term is a user's id, or others have it, too"


class PublishedShards:
    """The shards of the folder `release`: the hash of their rows, who stands in which, and names.

    Of a row it keeps 8 bytes, and nothing of a person.
    """

    def __init__(self, release: Path):
        self._release = release
        self._digest = hashlib.sha256()
        self._sums: dict[str, str] = {}
        self._hashes: list[bytes] = []  # of each shard, those of its rows
        self._folded: list[str] = []
        self._own: Marks = np.zeros(0, dtype=np.bool_)
        self._rows_with: list[tuple[int, Ints, Ints]] = []  # shard, rows, terms

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of all rows."""
        return self._digest.hexdigest()

    def add(self, people: StreamedProfiles, shard: CohortCase) -> None:
        """Note the next `shard`, as it was judged, of a release of `people`."""
        number = len(self._hashes)
        content = shard.parts[ROWS]
        # The hash of all rows, as that of the same rows in one file: a ledger and a certificate
        # can't tell one from the other.
        self._digest.update(content)
        name = shard_name(ROWS, number)
        self._sums[name] = shard.sums[name]
        self._sums[shard_name(MEMBERS, number)] = shard.sums[shard_name(MEMBERS, number)]
        self._hashes.append(b"".join(map(row_hash, content.splitlines())))
        if not self._folded:
            self._folded = [term.casefold() for term in people.terms]
            self._own = people.folded.marks(self._folded)
        self._note_names(number, shard)

    def _note_names(self, number: int, shard: CohortCase) -> None:
        """Note which rows of `shard` have a term that is a user's id, and who else has it."""
        if shard.profiles is None or shard.rows is None or not self._own.any():
            return
        columns, names = shard.profiles.cells.columns, shard.profiles.users
        user = np.repeat(np.arange(len(names)), shard.profiles.sizes)
        rows, terms = np.divmod(shard.rows.keys, shard.rows.span)
        there = terms < self._own.size
        there[there] = self._own[terms[there]]
        self._rows_with.append((number, rows[there], terms[there]))
        for at in np.flatnonzero(self._own[columns]).tolist():
            if self._folded[columns[at]] != names[user[at]].casefold():
                self._own[columns[at]] = False

    def named(self) -> Iterator[Finding]:
        """Yield whether a row has a term that is a user's id, which nobody else has."""
        good = True
        for number, rows, terms in self._rows_with:
            wrong = rows[self._own[terms]]
            if wrong.size:
                good = False
                where = f"{shard_name(ROWS, number)}, line {wrong.min() + 1}"
                yield Finding("identity", False, where, NAMED)
        if good:
            yield Finding("identity", True, ROWS, NOT_NAMED)

    def rows(self) -> Iterator[bytes]:
        """Yield all rows, block by block; raise BadInput if they are not those that were judged."""
        # Rows are not kept since they were judged, so they are hashed once more on their way.
        for name in [name for name in self._sums if part_and_shard(name)[0] == ROWS]:
            digest = hashlib.sha256()
            with (self._release / name).open("rb") as file:
                while block := file.read(AT_ONCE):
                    digest.update(block)
                    yield block
            self._refuse_other(name, digest.hexdigest())

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        """Yield the hash of a row and a person in it, for each person."""
        for number, hashes in enumerate(self._hashes):
            name = shard_name(MEMBERS, number)
            content = (self._release / name).read_bytes()
            self._refuse_other(name, hashlib.sha256(content).hexdigest())
            served = rows_named(content)
            # Rows are numbered in their order, and each serves somebody.
            place = {row: at * ROW_HASH for at, row in enumerate(sorted({*served.values()}))}
            for user, row in served.items():
                yield hashes[place[row] : place[row] + ROW_HASH], user

    def _refuse_other(self, name: str, sha256: str) -> None:
        if sha256 != self._sums[name]:
            raise BadInput(f"{self._release / name}: changed while it was read; publish again")


Stood = Iterable[tuple[bytes, str]]  # the hash of a row's line, and a person in it
