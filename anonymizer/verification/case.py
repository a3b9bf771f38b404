"""What is judged: a release, cohort by cohort, with the findings so far."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from ..arrays import Ints
from .files import evidence
from .files.profiles import JudgedProfiles
from .files.streamed import StreamedProfiles
from .finding import Finding, Verdict
from .promises.record import Judge
from .tally import Everybody


@dataclass
class CohortCase:
    """A cohort under judgement: the findings, and what they are about."""

    place: str  # its folder in the release; "" for the first cohort
    findings: list[Finding] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of its files: parts, or shards of them
    files: evidence.Parts = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)  # their SHA-256
    parts: evidence.Parts = field(default_factory=dict)
    manifest: evidence.Manifest = field(default_factory=evidence.Manifest)
    changes: evidence.Changes = field(default_factory=evidence.Changes)
    users: Set[str] = frozenset()
    profiles: JudgedProfiles | None = None  # of these users
    rows: evidence.JudgedRows | None = None
    judge: Judge | None = None
    everybody: Everybody | None = None  # if it is one shard of a release
    group_of: Ints | None = None  # the row of each user; -1: none
    people: Ints | None = None  # people behind each row; its users, unless these are sessions
    faults: str = ""  # of its parameters
    checked: dict[str, int] = field(default_factory=dict)

    @property
    def rows_made(self) -> int:
        """Return how many rows it had when it was made."""
        return self.parts.get(evidence.ROWS, b"").count(b"\n") + self.changes.withdrawn


@dataclass
class Case:
    """A release under judgement: its cohorts, and the findings on all of them."""

    everybody: JudgedProfiles  # nobody, if they are `streamed`
    cohorts: list[CohortCase] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    streamed: StreamedProfiles | None = None

    @property
    def may_wait(self) -> bool:
        """Return whether people may have come since the release was made."""
        return len(self.cohorts) > 1 or any(cohort.changes.there for cohort in self.cohorts)

    @property
    def users(self) -> set[str]:
        """Return the users of all cohorts."""
        return {user for cohort in self.cohorts for user in cohort.users}

    @property
    def checked(self) -> dict[str, int]:
        """Return how much was checked in all cohorts."""
        counts = [cohort.checked for cohort in self.cohorts]
        names = dict.fromkeys(name for count in counts for name in count)
        checked = {name: sum(count.get(name, 0) for count in counts) for name in names}
        if "terms" in checked:  # cohorts share them
            checked["terms"] = len(self.everybody.terms)
        if self.may_wait:
            checked["waiting"] = len({*self.everybody.users} - self.users)
        if len(counts) > 1:
            checked["cohorts"] = len(counts)
        return checked

    @property
    def verdict(self) -> Verdict:
        """Return the verdict over all findings."""
        placed = [one.at(cohort.place) for cohort in self.cohorts for one in cohort.findings]
        return Verdict((*placed, *self.findings), self.checked)
