"""What must hold between the cohorts of a release: nobody stands in two, all are of one kind."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .case import Case, CohortCase
from .choices import person_of
from .facts import WHOLE, judge_facts
from .files.evidence import MANIFEST, MEMBERS, ROWS, SLOTS
from .finding import PROFILES, Finding, Findings, settled

_SAME = ("method", "parameters", "profiles")


def judge_cohorts(case: Case) -> Findings:
    """Yield whether the cohorts of `case` fit together, and how many people wait for one."""
    if len(case.cohorts) > 1:
        breaches = [*_misfits(case)]
        count = len(case.cohorts)
        good = f"nobody stands in two of {count} cohorts, and all were made by the same parameters"
        yield from breaches or [Finding("cohorts", True, MANIFEST, good)]
    if waiting := case.checked.get("waiting"):
        are = "1 user waits" if waiting == 1 else f"{waiting} users wait"
        line = f"{are} for a cohort: no row is made of a profile that came later"
        yield Finding("waiting", True, PROFILES, line)


def _misfits(case: Case) -> Iterator[Finding]:
    """Yield the breaches between the cohorts of `case`."""
    first, *later = case.cohorts
    before = _people(first)
    for cohort in later:
        if first.manifest and cohort.manifest and _kind(cohort) != _kind(first):
            line = "it states another method, or other parameters or choices, than the first cohort"
            yield Finding("cohorts", False, MANIFEST, line).at(cohort.place)
        people = _people(cohort)
        if both := len(before & people):
            line = f"{both} of its people {'stands' if both == 1 else 'stand'} in an earlier cohort"
            yield Finding("cohorts", False, MEMBERS, line).at(cohort.place)
        before |= people
    if not any(cohort.parts.get(ROWS) for cohort in case.cohorts):
        yield Finding("cohorts", False, ROWS, "no cohort has a row")


def _kind(cohort: CohortCase) -> str:
    """Return what `cohort` must have in common with the others, as text."""
    # As text, because True equals 1 and 1 equals 1.0.
    return json.dumps([cohort.manifest.get(name) for name in _SAME], sort_keys=True)


def _people(cohort: CohortCase) -> set[str]:
    """Return the people of `cohort`; sessions are of people."""
    sessions = cohort.manifest.get("profiles", {}).get("granularity") == "session"
    return {person_of(user) if sessions else user for user in cohort.users}


def judge_empty(cohort: CohortCase) -> Findings:
    """Yield whether `cohort`, which has no row, once had some, and counts nobody now."""
    cohort.checked = dict.fromkeys(("users", "rows", "terms", "cells"), 0)
    cohort.checked["rows_withdrawn"] = cohort.changes.withdrawn
    faults = {"there is no row, and none was withdrawn": not cohort.changes.withdrawn}
    yield from settled("withdrawn", ROWS, faults, "all of its rows were withdrawn")
    faults = {
        "somebody has a row, but there is none": bool(cohort.parts[MEMBERS]),
        "a slot is of a row, but there is none": bool(cohort.parts.get(SLOTS)),
    }
    yield from settled("partition", MEMBERS, faults, "nobody has a row any more")
    facts = cohort.manifest["facts"]
    none = {name: 0 if name in WHOLE else 0.0 for name in facts}
    yield from judge_facts(facts, none, changed=True)
