"""All that the engine receives for one ranking, and its bytes, which pages show to the person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from anonymizer.model import ReleasedRow

from ..settings import Settings

PUBLIC = "public"  # the population that is made of the corpus
COSINE, EVIDENCE = RANKINGS = "cosine", "evidence"
CARES = ("default", "careful")


class RankingRule(NamedTuple):
    """How an interest orders a pool: by its cosines alone, or only as far as there is evidence."""

    ranking: str = COSINE
    care: str = CARES[0]  # of `evidence`

    @property
    def name(self) -> str:
        """Return the rule in one or two words, as the log names it."""
        if self.ranking == COSINE or self.care == CARES[0]:
            return self.ranking
        return f"{self.ranking}, {self.care}"


COSINES = RankingRule()  # the papers'


def rule_of(settings: Settings) -> RankingRule:
    """Return the rule that `settings` choose where the papers' system is shown or measured."""
    return RankingRule(settings.ranking or COSINE, settings.care)


@dataclass(frozen=True)
class Request:
    """A query, how to rank, and at most one profile or released row; it has no field for a user."""

    query: str
    pool: int
    operators: bool = False
    rule: RankingRule = COSINES
    among: str = ""  # the population that the interest stands among; "": the public one
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
        fields |= {"operators": self.operators, "ranking": self.rule.ranking}
        if self.rule.ranking == EVIDENCE and (self.row or self.profile):
            fields |= {"care": self.rule.care, "among": self.among or PUBLIC}
        if self.profile is not None:
            fields["profile"] = dict(self.profile)
        if self.row is not None:
            row = {"row": self.row.name, "users": self.row.users, "terms": dict(self.row.weights)}
            fields["row"] = {**row, "smoothed": True} if self.smoothed else row
        line = json.dumps(fields, ensure_ascii=False, sort_keys=True, allow_nan=False)
        return line.encode("utf-8", "surrogatepass")
