"""Where the terms of profiles came from [I/O]: how many query events had each, and when.

NAME.origins.npz stands next to NAME.jsonl or NAME.npz. It holds the users and terms of the profiles
and their fingerprint. For each user and term it says how many query events of the user have the
term, and when the first and the last were. Queries held out for tests don't count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Ints, Numbers
from ..errors import BadInput
from ..model import Profiles
from ..storage.arrays import hash_of
from ..storage.files import replaced_whole
from ..storage.profiles import fingerprint
from ..storage.records import as_json, names_of, plain_errors

_REMEDY = "delete it, or make the profiles again"


class TermOrigin(NamedTuple):
    """How many query events of a person had a term, and when; None for a time of 0 in the log."""

    times: int
    first: int | None  # seconds since 1970
    last: int | None


@dataclass(frozen=True)
class Origins:
    """The origin of each term of each profile: row i has cells ends[i]:ends[i + 1]."""

    users: tuple[str, ...]
    terms: tuple[str, ...]
    ends: Ints
    columns: Numbers  # ascending in each row
    times: NDArray[np.unsignedinteger]
    first: NDArray[np.integer]  # seconds from `since`
    last: NDArray[np.integer]
    since: int

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {user: row for row, user in enumerate(self.users)}

    def of(self, user: str) -> Mapping[str, TermOrigin]:
        """Return the origin of each term of `user`; an empty mapping for an unknown user."""
        row = self._row_of.get(user)
        if row is None:
            return {}
        cells = slice(int(self.ends[row]), int(self.ends[row + 1]))
        columns, times = self.columns[cells].tolist(), self.times[cells].tolist()
        ends = zip(self.first[cells].tolist(), self.last[cells].tolist(), strict=True)
        return {
            self.terms[column]: TermOrigin(count, self._time(first), self._time(last))
            for column, count, (first, last) in zip(columns, times, ends, strict=True)
        }

    def _time(self, after: int) -> int | None:
        # Every format of logs asks for a time, so a log without times has zeros.
        return self.since + after or None


def stacked_origins(parts: Sequence[Origins]) -> Origins:
    """Return the origins of all `parts`, over the terms of all in sorted order."""
    terms = sorted({term for part in parts for term in part.terms})
    column = {term: at for at, term in enumerate(terms)}
    since = min(part.since for part in parts)

    def seconds(name: str) -> NDArray[np.integer]:
        """Return the times called `name` of all parts, in seconds from the first `since`."""
        shifted = [getattr(part, name).astype(np.int64) + (part.since - since) for part in parts]
        times = np.concatenate(shifted)
        return times.astype(np.uint32) if times.max() < 2**32 else times

    ends = [np.diff(part.ends) for part in parts]
    columns = [
        np.array([column[term] for term in part.terms], dtype=np.int32)[part.columns]
        for part in parts
    ]
    return Origins(
        tuple(user for part in parts for user in part.users),
        tuple(terms),
        np.concatenate([[0], np.cumsum(np.concatenate(ends))]).astype(np.int64),
        np.concatenate(columns),
        np.concatenate([part.times for part in parts]),
        seconds("first"),
        seconds("last"),
        since,
    )


def origins_path(profiles: Path) -> Path:
    """Return the path of the origins of `profiles`, which is next to them."""
    return profiles.with_suffix(".origins.npz")


def write_origins(origins: Origins, profiles: Path, made_from: str) -> None:
    """Write `origins` next to their profiles, whole or not at all; only the owner may read them."""
    path = origins_path(profiles)
    arrays = {
        "users": np.frombuffer(as_json(origins.users), dtype=np.uint8),
        "terms": np.frombuffer(as_json(origins.terms), dtype=np.uint8),
        "ends": origins.ends.astype("<i8", copy=False),
        "columns": origins.columns.astype("<i4", copy=False),
        "times": origins.times.astype("<u4", copy=False),
        "first": origins.first,
        "last": origins.last,
        "since": np.array([origins.since], dtype="<i8"),
        "made_from": np.frombuffer(made_from.encode(), dtype=np.uint8),
    }
    with plain_errors(path, "written"), replaced_whole(path) as file:
        content: dict[str, Any] = {**arrays, "sha256": hash_of(arrays)}
        np.savez(file, **content)


def read_origins(profiles: Path, made_from: str | None = None) -> Origins | None:
    """Return the origins next to `profiles`, None if there are none; refuse a broken file."""
    path = origins_path(profiles)
    if not path.exists():
        return None
    with plain_errors(path, "read"):
        content = path.open("rb")
    with content as file:
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            origins, fingerprint = _checked(arrays)
        # A damaged archive fails in countless ways, so no narrower error will do.
        except Exception as fault:
            raise BadInput(f"{path}: damaged, or no file of origins; {_REMEDY}") from fault
    if made_from not in (None, fingerprint):
        raise BadInput(f"{path}: belongs to other profiles than those next to it; {_REMEDY}")
    return origins


def binary_profiles(origins: Origins, made_from: str) -> Profiles | None:
    """Return the profiles of `origins`, without reading a line; None if not all weights are 1.

    Their fingerprint `made_from` tells.
    """
    entries = (np.ones(origins.columns.size), origins.columns, origins.ends)
    matrix = csr_matrix(entries, (len(origins.users), len(origins.terms)))
    profiles = Profiles(origins.users, origins.terms, matrix)
    return profiles if fingerprint(profiles) == made_from else None


def _checked(stored: dict[str, NDArray[Any]]) -> tuple[Origins, str]:
    """Return the origins in `stored` and the fingerprint of their profiles, or raise."""
    if str(stored.pop("sha256")) != hash_of(stored):
        raise ValueError("the hash differs")
    users, terms = (names_of(stored[name].tobytes()) for name in ("users", "terms"))
    ends, columns = stored["ends"], stored["columns"]
    cells = (columns, stored["times"], stored["first"], stored["last"])
    if ends.size != len(users) + 1 or {part.size for part in cells} != {int(ends[-1])}:
        raise ValueError("the parts don't fit together")
    if ends[0] != 0 or np.any(np.diff(ends) < 1) or not 0 <= columns.min() <= columns.max():
        raise ValueError("a row is empty or a column is negative")
    if columns.max() >= len(terms):
        raise ValueError("there is no such term")
    origins = Origins(users, terms, ends, *cells, int(stored["since"][0]))
    return origins, stored["made_from"].tobytes().decode()
