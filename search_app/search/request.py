"""All that the engine receives for one ranking, and its bytes, which pages show to the person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.model import ReleasedRow


@dataclass(frozen=True)
class Request:
    """A query, how to rank, and at most one profile or released row; it has no field for a user."""

    query: str
    pool: int
    operators: bool = False
    mix: float = 1.0
    profile: Mapping[str, float] | None = None  # an own profile, in mode own only
    row: ReleasedRow | None = None  # a group's released row
    smoothed: bool = False  # whether the row was made from all released rows and the index

    @property
    def interest(self) -> Mapping[str, float]:
        """Return the weights that order the pool; empty for the plain order."""
        if self.row is not None:
            return self.row.weights
        return self.profile or {}

    def as_bytes(self) -> bytes:
        """Return the whole request as one canonical line of JSON."""
        fields: dict[str, Any] = {"query": self.query, "pool": self.pool}
        fields |= {"operators": self.operators, "mix": self.mix}
        if self.profile is not None:
            fields["profile"] = dict(self.profile)
        if self.row is not None:
            row = {"row": self.row.name, "users": self.row.users, "terms": dict(self.row.weights)}
            fields["row"] = {**row, "smoothed": True} if self.smoothed else row
        line = json.dumps(fields, ensure_ascii=False, sort_keys=True, allow_nan=False)
        return line.encode("utf-8", "surrogatepass")
