"""The judge of releases: reads files only, shares no code with what made them, recounts all.

A release holds if all of this does: its parts are as they were written; it was made from the
profiles it is held against; each user stands in one row; the method's promise is kept, in whole
numbers and fractions; each row is what its members give and nothing else; every fact is true; and
nothing public names a person or a time. `PROMISES` has a line for each method that can be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import evidence, judging_choices, judging_composition, judging_pooled
from . import judging_km_anonymity as km
from .finding import Broken, Finding, Findings, Ints, Verdict
from .foresight import Expected, foresee
from .grounds import Grounds
from .judging_facts import FACTS, NEAR, general_facts, judge_facts
from .judging_p_linkability import WORDS, foresee_p_linkability, judge_p_linkability
from .people import People, read_people
from .tally import tally


class Promise(NamedTuple):
    """What a method promises, for its judge."""

    judge: Callable[[Mapping[str, Any], Grounds], Findings]
    expected: Expected  # what its rows must hold
    words: Set[str]  # that its parameters and facts may hold, their names among them
    deletes: bool = False  # terms of users: some may be left without any, and without a row
    keeps_key: bool = False  # that settled what chance would settle
    once: bool = False  # nothing is promised of two releases of the same people
    facts: Callable[[Grounds], Mapping[str, int | float]] = general_facts
    near: float = NEAR  # how far a stated fact may be off; 0: not at all
    # Why rows of one person must not be published, by parameters and whether users are sessions;
    # nothing where they may be. Without it they are that person's profile.
    lone_rows: Callable[[Mapping[str, Any], bool], str] | None = None
    spare_row: bool = False  # the last one, if it is of fewer users: it holds nothing of theirs


PROMISES: dict[str, Promise] = {
    "p-linkability": Promise(judge_p_linkability, foresee_p_linkability, WORDS),
    "km-anonymity": Promise(
        km.judge_km_anonymity,
        km.foresee_km_anonymity,
        km.WORDS,
        deletes=True,
        facts=km.km_facts,
        near=0.0,  # its shares are rounded: further digits would be another's message
        lone_rows=km.fault_of_lone_rows,
    ),
    "composition": Promise(
        judging_composition.judge_composition,
        judging_composition.foresee_composition,
        judging_composition.WORDS,
        once=True,
    ),
    "pooled": Promise(
        judging_pooled.judge_pooled,
        judging_pooled.foresee_pooled,
        judging_pooled.WORDS,
        keeps_key=True,
        facts=judging_pooled.pooled_facts,
        once=True,
        spare_row=True,
    ),
}
_KNOWN = {*evidence.FORMAT_WORDS, *FACTS, *PROMISES, *judging_choices.WORDS}
_KNOWN.update(*(promise.words for promise in PROMISES.values()))


@dataclass
class Case:
    """A release under judgement: what was found, and what it was found in."""

    findings: list[Finding] = field(default_factory=list)
    parts: evidence.Parts = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    profiles: People | None = None
    rows: evidence.Rows | None = None
    promise: Promise | None = None
    people: Ints | None = None  # behind each row; as many as users, unless these are sessions
    checked: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Return what was found."""
        return Verdict(tuple(self.findings), self.checked)


def verify(release: Path, profiles: Path) -> Verdict:
    """Judge a release folder by the profiles it says it was made from."""
    return examine(release, profiles).verdict


def examine(release: Path, profiles: Path) -> Case:
    """Judge a release and keep the bytes that were judged."""
    case = Case()
    people = read_people(profiles)
    try:
        case.parts = evidence.read_parts(release)
        case.findings += evidence.judge_files(case.parts)
        case.findings += evidence.judge_privacy(release)
        _examine(case, people)
    except Broken as broken:
        case.findings.append(broken.finding)
    return case


def _examine(case: Case, people: People) -> None:
    """Judge what the parts say; stops where nothing behind it can be judged."""
    case.manifest = evidence.read_manifest(case.parts)
    case.findings += evidence.judge_manifest(case.manifest, case.parts, people)
    case.findings += judging_choices.judge_choices(case.manifest["profiles"])
    promise = case.promise = _promise(case)
    parameters = case.manifest["parameters"]
    case.findings += evidence.judge_parts(case.parts, promise.deletes, promise.keeps_key)
    grounds = _grounds(case, people, promise)
    counted = grounds.tally
    case.checked = {
        "users": int(counted.sizes.sum()),
        "rows": counted.sizes.size,
        "terms": len(people.terms),
        "cells": grounds.rows.keys.size,
    }
    if promise.deletes:
        case.checked["users_left_out"] = counted.users - case.checked["users"]
    _count_people(case, people.users, grounds.group_of)
    case.findings += judge_facts(case.manifest["facts"], promise.facts(grounds), promise.near)
    for finding in promise.judge(parameters, grounds):
        case.findings.append(finding)


def _grounds(case: Case, people: People, promise: Promise) -> Grounds:
    """Read and count what the promise is judged by; a breach ends it where nothing can be."""
    parts, leaves_out = case.parts, promise.deletes
    parameters = case.manifest["parameters"]
    known = foresee(parts, people, parameters, promise.expected, leaves_out)
    rows = known.rows if known else evidence.read_rows(parts, people)
    case.findings += evidence.judge_identity(case.manifest, rows, people, _KNOWN)
    case.profiles, case.rows = people, rows
    group_of = (
        known.group_of if known else evidence.read_partition(parts, rows.names, people, leaves_out)
    )
    case.findings += evidence.judge_partition(group_of, rows)
    counted = known.tally if known else tally(people, group_of, rows.span)
    return Grounds(people, parts, rows, group_of, counted, known.shares if known else None)


def _count_people(case: Case, users: list[str], group_of: Ints) -> None:
    """Count the people behind each row, and tell where users are but their sessions."""
    # Where rows are of one user each, a few sessions of one person are k rows: two names that look
    # like sessions are enough. Of groups that would refuse people who are but named like them.
    wary = case.promise is not None and case.promise.lone_rows is not None
    person = judging_choices.people_behind(users, case.manifest["profiles"], wary)
    served = group_of >= 0
    if person is None:
        case.people = np.bincount(group_of[served])
        return
    case.people = judging_choices.people_of_rows(person[served], group_of[served])
    case.checked["people"] = int(person.max()) + 1
    case.findings += judging_choices.tell_sessions(person, case.people)


def _promise(case: Case) -> Promise:
    """Return what the release's method promises."""
    promise = PROMISES.get(case.manifest["method"])
    if promise is not None:
        return promise
    line = f"no promise of its method is known; there are: {', '.join(PROMISES)}"
    if not case.verdict.holds:
        raise Broken("method", evidence.MANIFEST, line)
    from ..model import BadParameter  # it brings scipy along, which a judge has no other use for

    raise BadParameter(f"{evidence.MANIFEST}: {line}")
