"""Profiles in parts [I/O]: dealt by a secret hash of names, and worked on one part at a time.

`Parts` is all that a method knows of where parts stand. LocalParts are files of one machine.
All parts are over the same terms in the same order, so sums of counts are sums of vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..errors import BadParameter
from ..model import Profiles
from ..profiles.rare_terms import person_of

MOST_PARTS = 10_000  # four digits in the names of shards
G = TypeVar("G")
T = TypeVar("T")


class Parts(Protocol):
    """Profiles dealt into parts, wherever they stand; no part is empty."""

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the terms of all parts."""

    @property
    def part_of(self) -> Ints:
        """Return the part of each user, in the order of the profiles."""

    def each(self, work: Callable[[Profiles, G], T], given: Sequence[G]) -> Iterator[T]:
        """Yield `work(profiles, given[i])` for each part i, in the order of the parts.

        `work` and what it gets and returns can be pickled. Profiles keep the order of the users,
        over all terms. A part may be worked on more than once, so `work` changes nothing.
        """


@dataclass(frozen=True)
class LocalParts:
    """Parts in files of this machine, of which one at a time is in memory."""

    folder: Path
    terms: tuple[str, ...]
    part_of: Ints

    def each(self, work: Callable[[Profiles, G], T], given: Sequence[G]) -> Iterator[T]:
        """Yield `work(profiles, given[i])` for each part i, in the order of the parts."""
        for number, one in enumerate(given):
            yield work(self.read(number), one)

    def read(self, number: int) -> Profiles:
        """Return the profiles of part `number`."""
        return _read_part(self.folder / f"{number:04d}", self.terms)


def deal_key(blocks: Iterable[Profiles], seed: int) -> bytes:
    """Return the key that deals the profiles in `blocks`: a hash of all their content and `seed`.

    It does not depend on where blocks end.
    """
    # With the key and a name one knows the part, and so 1 of N shards with the person's row. So
    # the key is not made from anything that release.json states, as the input hash. The seed is
    # there, the profiles are not. Names, sizes and cells have a hash each: their bytes are the
    # same however they are cut.
    hashes = [hashlib.blake2b(digest_size=32, person=b"veilsearch parts") for _ in range(4)]
    terms: tuple[str, ...] = ()
    for block in blocks:
        names = "".join(f"{len(user)} {user}" for user in block.users)
        cells = block.weights
        lengths = np.diff(cells.indptr).astype("<i8")
        columns, weights = cells.indices.astype("<i4"), cells.data.astype("<f8")
        contents: list[Any] = [names.encode(), lengths, columns, weights]
        for one, content in zip(hashes, contents, strict=True):
            one.update(content)
        terms = block.terms
    whole = hashlib.blake2b(f"{seed} {terms}".encode(), digest_size=32, person=b"veilsearch deal ")
    for one in hashes:
        whole.update(one.digest())
    return whole.digest()


def key_of_deal(secret: bytes) -> bytes:
    """Return the key that deals people for a method with a `secret` key."""
    return hashlib.blake2b(secret, digest_size=32, person=b"veilsearch deal ").digest()


def parts_of(users: Iterable[str], count: int, key: bytes) -> Ints:
    """Return the part, of `count`, into which `key` deals each of `users`."""
    # By the person, so that all sessions of one are in the same part, and count as one there.
    drawn = [
        hashlib.blake2b(person_of(user).encode(), digest_size=8, key=key, person=b"veilsearch part")
        for user in users
    ]
    # A remainder of 64 bits favours no part by more than one user in 10^15.
    numbers = np.frombuffer(b"".join(one.digest() for one in drawn), dtype="<u8")
    return (numbers % np.uint64(count)).astype(np.int64)


def deal(blocks: Iterable[Profiles], count: int, key: bytes, folder: Path) -> LocalParts:
    """Return `count` parts of the profiles in `blocks`, dealt by `key` into the new `folder`."""
    if not 1 <= count <= MOST_PARTS:
        raise BadParameter(f"parts={count} must be from 1 to {MOST_PARTS}")
    parts = deal_to(blocks, lambda users: parts_of(users, count, key), folder)
    refuse_empty(parts.part_of, count)
    return parts


def deal_to(
    blocks: Iterable[Profiles], part_of_each: Callable[[Sequence[str]], Ints], folder: Path
) -> LocalParts:
    """Return the profiles in `blocks` in the parts that `part_of_each` gives, in a new `folder`."""
    folder.mkdir(mode=0o700)
    terms: tuple[str, ...] = ()
    dealt = [np.zeros(0, dtype=np.int16)]
    for block in blocks:
        terms = block.terms
        part_of = part_of_each(block.users)
        # Two bytes a user, as this is all that stays in memory of most users.
        dealt.append(part_of.astype(np.int16))
        # Appended, so that memory holds no more than a block, however many parts there are.
        for number in np.unique(part_of).tolist():
            _append(folder / f"{number:04d}", block, np.flatnonzero(part_of == number))
    return LocalParts(folder, terms, np.concatenate(dealt))


def refuse_empty(part_of: Ints, count: int) -> None:
    """Raise BadParameter if one of `count` parts is nobody's in `part_of`."""
    if empty := count - np.unique(part_of).size:
        raise BadParameter(f"parts={count}: {empty} parts got nobody; take fewer parts")


def _append(path: Path, block: Profiles, rows: Ints) -> None:
    """Append the profiles in `rows` of the `block` to the files of the part at `path`."""
    # Without a record of them, which would check all terms again for each part.
    cells, names = block.weights[rows], [block.users[row].encode() for row in rows.tolist()]
    arrays: dict[str, Any] = {
        "names": b"".join(names),
        "lengths": np.array([len(name) for name in names], dtype=np.int64),
        "sizes": np.diff(cells.indptr).astype(np.int64),
        "columns": cells.indices.astype(np.int32),
        "weights": cells.data,
    }
    for kind, content in arrays.items():
        with path.with_suffix(f".{kind}").open("ab") as file:
            file.write(content)


def _read_part(path: Path, terms: tuple[str, ...]) -> Profiles:
    """Return the profiles over `terms` in the files of the part at `path`."""

    def stored(kind: str, dtype: type[np.generic]) -> Any:
        return np.fromfile(path.with_suffix(f".{kind}"), dtype=dtype)

    # Numbers of bytes, as a name may hold any letter, a line end too.
    names, ends = path.with_suffix(".names").read_bytes(), np.cumsum(stored("lengths", np.int64))
    starts = ends - stored("lengths", np.int64)
    cuts = zip(starts.tolist(), ends.tolist(), strict=True)
    users = tuple(names[low:high].decode() for low, high in cuts)
    indptr = np.concatenate([[0], np.cumsum(stored("sizes", np.int64))])
    entries = (stored("weights", np.float64), stored("columns", np.int32), indptr)
    return Profiles(users, terms, csr_matrix(entries, shape=(len(users), len(terms))))
