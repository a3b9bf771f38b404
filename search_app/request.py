"""What the engine is told for one ranking: all of it, and the bytes that show it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.model import ReleasedRow


@dataclass(frozen=True)
class Request:
    """A query, how to rank, and at most one profile or released row: no place for a user."""

    query: str
    pool: int
    operators: bool = False
    mix: float = 1.0
    profile: Mapping[str, float] | None = None  # an own profile, in mode own only
    row: ReleasedRow | None = None  # a group's released row
    smoothed: bool = False  # it is: made of all released rows and of the index

    @property
    def interest(self) -> Mapping[str, float]:
        """Return the weights that order the pool; none: the plain order."""
        if self.row is not None:
            return self.row.weights
        return self.profile or {}

    def as_bytes(self) -> bytes:
        """Return all of this as one canonical line of JSON."""
        told: dict[str, Any] = {"query": self.query, "pool": self.pool}
        told |= {"operators": self.operators, "mix": self.mix}
        if self.profile is not None:
            told["profile"] = dict(self.profile)
        if self.row is not None:
            row = {"row": self.row.name, "users": self.row.users, "terms": dict(self.row.weights)}
            told["row"] = {**row, "smoothed": True} if self.smoothed else row
        line = json.dumps(told, ensure_ascii=False, sort_keys=True, allow_nan=False)
        return line.encode("utf-8", "surrogatepass")
