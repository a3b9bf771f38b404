"""Where the terms of profiles came from [I/O]: how many query events had each, and when.

NAME.origins.npz stands beside NAME.jsonl or NAME.npz: the profiles' users and terms, for each user
and term the number of their query events with it and the times of the first and the last, and the
fingerprint of the profiles. Queries held out for tests count no more than in the profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import BadInput, Ints, Numbers
from .records import as_json, plain_errors, sync
from .whole_files import hash_of, names_of, replaced_whole

_REMEDY = "delete it, or make the profiles again"


class Origin(NamedTuple):
    """How many query events of a person had a term, and when; no time where the log says 0."""

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

    def of(self, user: str) -> Mapping[str, Origin]:
        """Return the origin of each term of a user; of nobody there are none."""
        row = self._row_of.get(user)
        if row is None:
            return {}
        cells = slice(int(self.ends[row]), int(self.ends[row + 1]))
        columns, times = self.columns[cells].tolist(), self.times[cells].tolist()
        ends = zip(self.first[cells].tolist(), self.last[cells].tolist(), strict=True)
        return {
            self.terms[column]: Origin(count, self._time(first), self._time(last))
            for column, count, (first, last) in zip(columns, times, ends, strict=True)
        }

    def _time(self, after: int) -> int | None:
        return self.since + after or None  # logs without times have 0: every format asks for one


def origins_path(profiles: Path) -> Path:
    """Return where the origins of profiles lie: beside them."""
    return profiles.with_suffix(".origins.npz")


def write_origins(origins: Origins, profiles: Path, made_from: str) -> None:
    """Write origins beside their profiles, whole or not at all, for the owner's eyes only."""
    path = origins_path(profiles)
    arrays = _arrays(origins, made_from)
    with plain_errors(path, "written"), replaced_whole(path) as file:
        content: dict[str, Any] = {**arrays, "sha256": hash_of(arrays)}
        np.savez(file, **content)
        sync(file)


def read_origins(profiles: Path, made_from: str | None = None) -> Origins | None:
    """Read the origins beside profiles, None where there are none; refuse whatever is broken.

    With the profiles' fingerprint, origins of other profiles are refused.
    """
    path = origins_path(profiles)
    if not path.exists():
        return None
    with plain_errors(path, "read"):
        content = path.open("rb")
    with content as file:
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            origins, of = _checked(arrays)
        except Exception as fault:  # a damaged archive fails in countless ways
            raise BadInput(f"{path}: damaged, or no file of origins; {_REMEDY}") from fault
    if made_from not in (None, of):
        raise BadInput(f"{path}: belongs to other profiles than those beside it; {_REMEDY}")
    return origins


def _arrays(origins: Origins, made_from: str) -> dict[str, NDArray[Any]]:
    return {
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


def _checked(stored: dict[str, NDArray[Any]]) -> tuple[Origins, str]:
    """Return what arrays say and the fingerprint of their profiles, or raise."""
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
