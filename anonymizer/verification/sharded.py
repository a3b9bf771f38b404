"""Releases in shards, judged one shard at a time: memory holds one, and integers of everybody.

A shard is judged by the profiles of its own people and by sums over everybody. Where more is needed
of the other shards, or the release has changed since it was made, all shards are read together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Ints, Marks
from ..errors import BadInput
from .case import CohortCase
from .files import evidence
from .files.evidence import MEMBERS, ROWS, Numbering, part_of, shard_of
from .files.profiles import JudgedProfiles, open_file
from .files.streamed import StreamedProfiles
from .finding import Broken, Finding
from .promises.record import Judge
from .rare_terms import least_people
from .tally import Everybody

_TOGETHER = 1 << 20  # users whose profiles are read in one pass


class ShardsToJudge(NamedTuple):
    """A release in shards: what its whole says, and where its people stand."""

    folder: Path
    cohort: CohortCase  # with the parts that are not cut
    people: StreamedProfiles
    shard_of: Ints  # the shard of each user; -1: none
    rows: list[int]  # of each shard
    everybody: Everybody
    numbering: Numbering  # of all rows

    def each(self) -> Iterator[tuple[CohortCase, JudgedProfiles, Numbering]]:
        """Yield each shard as a cohort, with the profiles of its people and its rows' numbers."""
        first, users = self.numbering.first, np.bincount(self.shard_of, minlength=len(self.rows))
        begins = np.cumsum(users) - users
        for batch in np.unique(begins // _TOGETHER).tolist():
            numbers = np.flatnonzero(begins // _TOGETHER == batch).tolist()
            profiles = self.people.of(self.shard_of, numbers)
            for number, people in zip(numbers, profiles, strict=True):
                names = {part: shard_of(part, number) for part in (ROWS, MEMBERS)}
                files = evidence.read_files(self.folder, [*names.values()])
                sums = {name: evidence.sha256_of(content) for name, content in files.items()}
                if sums[names[MEMBERS]] != self.cohort.sums[names[MEMBERS]]:
                    raise Broken("files", names[MEMBERS], "changed while it was read")
                self.cohort.sums |= sums
                shard = replace(
                    self.cohort,
                    findings=[],
                    parts={**self.cohort.parts, **evidence.joined(files)},
                    everybody=self.everybody,
                    checked={},
                )
                yield shard, people, self.numbering._replace(first=first)
                first += self.rows[number]


def cohort_in_shards(release: Path, profiles: Path) -> CohortCase | None:
    """Return the cohort of the folder `release` if it can be judged by `profiles` in shards."""
    names = evidence.file_names(release)
    cut = [name for name in names if part_of(name) != name]
    # A part that only some shards have, or a note of changes, is about people of several shards.
    plain = {part_of(name) for name in cut} == {ROWS, MEMBERS} and evidence.CHANGES not in names
    # A shard of nobody has no profiles to be judged by.
    files = map(release.joinpath, cut)
    plain = plain and not any(path.is_file() and path.stat().st_size == 0 for path in files)
    if not plain or profiles.suffix != ".npz" or evidence.cohort_places(release) != [""]:
        return None
    cohort = CohortCase("")
    cohort.names = names
    cohort.files = evidence.read_files(release, [name for name in names if name not in cut])
    cohort.parts = dict(cohort.files)
    cohort.findings += evidence.judge_privacy(release, first=True)
    cohort.manifest = evidence.read_manifest(cohort.parts)
    return None if evidence.WITHDRAWN in cohort.manifest else cohort


def people_of(profiles: Path, cohort: CohortCase, words: set[str]) -> StreamedProfiles | None:
    """Return the people of `cohort` and their `profiles`; None if they may be sessions of people,
    or can't be read in pieces.

    It keeps only names that must not be published: those that look like a row's, and those that
    are also a text of release.json or one of `words`.
    """
    texts = words | {*evidence.texts_in(cohort.manifest)}
    try:
        people = StreamedProfiles(profiles, lambda user: user in texts or evidence.like_row(user))
    # Who reads all of it accepts a packed file, and refuses a damaged one.
    except BadInput:
        return None
    sessions = cohort.manifest["profiles"].get("granularity") == "session"
    return None if sessions or people.sessions else people


def _refuse(wrong: Marks, name: str, why: str) -> None:
    """Raise Broken with `why` at the first line of the file `name` that is `wrong`."""
    if wrong.any():
        raise Broken("partition", f"{name}, line {np.argmax(wrong) + 1}", why)


def deal_out(
    release: Path, cohort: CohortCase, people: StreamedProfiles, judge: Judge
) -> ShardsToJudge:
    """Return the shards of `cohort`, of the folder `release`, which `judge` judges by `people`.

    Everybody must stand in one of them.
    """
    cohort.sums = {
        name: evidence.sha256_of(content)
        for name, content in cohort.files.items()
        if name != evidence.CHECKSUMS
    }
    # All members are read before any row: who stands in two shards is seen only here.
    shard_of_user, rows = np.full(len(people), -1, dtype=np.int64), list[int]()
    for number, name in enumerate(one for one in cohort.names if part_of(one) == MEMBERS):
        content = evidence.read_files(release, [name])[name]
        cohort.sums[name] = evidence.sha256_of(content)
        users, row_of = evidence.read_members(content, name)
        places = people.names.find(users)
        _refuse(places < 0, name, "its user has no profile")
        _refuse(shard_of_user[places] >= 0, name, "its user stands in another shard, too")
        shard_of_user[places] = number
        rows.append(len({*row_of}))
    lost = int(np.count_nonzero(shard_of_user < 0))
    if lost and not judge.leaves_out:
        raise Broken("partition", MEMBERS, f"{lost} users of the profiles have no row")
    least = least_people(cohort.manifest["parameters"])
    rare = people.having < least if least > 1 else None
    having = people.having if rare is None else np.where(rare, 0, people.having)
    everybody = Everybody(len(people), int(having.sum()), having, sum(rows), len(rows), rare)
    numbering = Numbering(1, 0, people.marked, left=False, last=sum(rows))
    return ShardsToJudge(release, cohort, people, shard_of_user, rows, everybody, numbering)


def judge_hashes(release: Path, cohort: CohortCase) -> list[Finding]:
    """Return whether each file of `cohort`, of the folder `release`, is as it was written."""
    # What was judged is not read again, as it may have changed since.
    sums = dict(cohort.sums)
    try:
        for name in cohort.names:
            if name not in sums and name != evidence.CHECKSUMS:
                with open_file(release / name) as file:
                    sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        line = f"can't be read ({fault.strerror or fault})"
        return [Finding("files", False, name, line)]
    return [*evidence.judge_files(sums, cohort.parts[evidence.CHECKSUMS])]
