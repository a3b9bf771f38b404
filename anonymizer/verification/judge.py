"""The judge of releases: reads only files, shares no code with what made them, counts all again.

A release holds if all of this is true: its parts are as they were written; it was made from the
profiles it is compared with; each user stands in one row; the method's promise is kept, in whole
numbers and fractions; each row is made of its members and nothing else; every fact is true; and
nothing public names a person or a time. `JUDGES` has a line for each method of ours; a release by
another method is judged by the promise that it declares.

A release may have cohorts, of people who joined later. Each is judged by itself, by the profiles of
its own people; what must hold between them is in `cohorts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Ints
from ..errors import BadParameter
from . import choices as judging_choices
from .case import Case, CohortCase
from .cohorts import judge_cohorts, judge_empty
from .facts import FACTS, FactFigures, facts_of_figures, figures_of, judge_facts
from .files import evidence
from .files.foresight import foresee
from .files.profiles import JudgedProfiles, read_people
from .files.streamed import StreamedProfiles
from .files.strict_lines import is_whole
from .finding import Broken, Finding, Verdict, over_shards
from .promises import (
    composition,
    generalization,
    km_anonymity,
    p_linkability,
    pooled,
    query_k,
    vocabulary_k,
)
from .promises.baselines import BASELINES
from .promises.declared import WORDS, judge_declared
from .promises.record import Judge
from .rare_terms import judge_rare, least_people, rare_since, rare_terms, without
from .sharded import ShardsToJudge, cohort_in_shards, deal_out, judge_hashes, people_of
from .since import judge_since
from .tally import Grounds, as_made, tally
from .vocabularies.slots import read_slots

JUDGES: dict[str, Judge] = {
    judge.method: judge
    for judge in (
        p_linkability.JUDGE,
        km_anonymity.JUDGE,
        composition.JUDGE,
        pooled.JUDGE,
        vocabulary_k.JUDGE,
        generalization.JUDGE,
        query_k.JUDGE,
        *BASELINES,
    )
}
_KNOWN = {*evidence.FORMAT_WORDS, *FACTS, *JUDGES, *judging_choices.WORDS, *WORDS}
_KNOWN.update(*(judge.words for judge in JUDGES.values()))


def judge_of(method: str, parameters: Mapping[str, Any]) -> Judge | None:
    """Return how a release by `method` is judged, ours or what its `parameters` declare."""
    return JUDGES.get(method) or judge_declared(method, parameters)


def verify(release: Path, profiles: Path, since: Path | None = None) -> Verdict:
    """Return the verdict on the folder `release`, judged by the `profiles` it was made from.

    It is also compared with how it was before, if `since` is a folder or published file of it.
    """
    case = examine_shards(release, profiles) if since is None else None
    case = case or examine(release, profiles)
    if since is not None:
        case.findings += judge_since(case.cohorts, since)
    return case.verdict


def examine_shards(
    release: Path,
    profiles: Path,
    show: Callable[[StreamedProfiles, CohortCase], object] = lambda _people, _shard: None,
) -> Case | None:
    """Return the case of `release`, judged by `profiles` one shard at a time.

    Return None if it must be judged as a whole. `show` gets everybody and each shard once judged.
    """
    try:
        cohort = cohort_in_shards(release, profiles)
    except Broken:  # who reads all of it will name the breach
        return None
    if cohort is None:
        return None
    parameters = cohort.manifest["parameters"]
    judge = cohort.judge = judge_of(cohort.manifest["method"], parameters)
    if judge is None or not judge.in_shards(parameters):
        return None
    people = people_of(profiles, cohort, _KNOWN | {*judge.words})
    if people is None:
        return None
    case = Case(people.nobody, [cohort], streamed=people)
    cohort.faults = "; ".join(judge.faults(parameters))
    with _breach_of(cohort):
        _judge_shards(deal_out(release, cohort, people, judge), judge, show)
    # Of files that were judged the bytes that were judged have been counted. A breach that ended
    # the judgement leaves others.
    cohort.findings[:0] = judge_hashes(release, cohort)
    return case


def _judge_shards(
    shards: ShardsToJudge, judge: Judge, show: Callable[[StreamedProfiles, CohortCase], object]
) -> None:
    """Judge `shards` one by one, and then what they are together."""
    cohort, people, everybody = shards.cohort, shards.people, shards.everybody
    manifest = cohort.manifest
    judged, promised = list[list[Finding]](), list[list[Finding]]()
    counted, sizes = list[FactFigures](), list[Ints]()
    for shard, profiles, numbering in shards.each():
        promise = list[Finding]()
        with _breach_of(shard):
            grounds = _judge_shard(shard, profiles, numbering, judge)
            counted.append(figures_of(grounds))
            sizes.append(grounds.tally.sizes)
            if not cohort.faults:
                promise += judge.judge(manifest["parameters"], grounds)
            show(people, shard)
        judged.append(shard.findings)
        promised.append(promise)
        for name, count in shard.checked.items():
            cohort.checked[name] = cohort.checked.get(name, 0) + count
    # Two numbers of a row are all that is kept of it.
    cohort.people = np.concatenate([np.zeros(0, dtype=np.int64), *sizes])
    cohort.checked["terms"] = len(people.terms)
    cohort.findings.append(Finding("shards", True, evidence.MEMBERS, evidence.SHARDS_HOLD))
    cohort.findings += evidence.judge_manifest(manifest, cohort.sums, people.fingerprint(), 1)
    cohort.findings += evidence.judge_parts(cohort.parts, judge.keeps)
    cohort.findings += judging_choices.judge_choices(manifest["profiles"], people.weighed)
    cohort.findings += over_shards(judged)
    if len(counted) == len(judged):
        average = everybody.profile_terms / everybody.users
        true = facts_of_figures(counted, average)
        cohort.findings += judge_facts(manifest["facts"], true, changed=False)
    _judge_parameters(cohort)
    cohort.findings += over_shards(promised)


def _judge_shard(
    shard: CohortCase, people: JudgedProfiles, numbering: evidence.Numbering, judge: Judge
) -> Grounds:
    """Judge the rows of `shard` by the profiles of its `people`; return what they are judged by."""
    rare = shard.everybody.rare if shard.everybody else None
    counted = people if rare is None else without(people, rare)
    grounds = _grounds(shard, counted, judge, numbering)._replace(all_people=people)
    if rare is not None:
        least = least_people(shard.manifest["parameters"])
        shard.findings += judge_rare(grounds.rows, grounds.slots, rare, least)
    _count(shard, grounds, judge)
    return grounds


def examine(release: Path, profiles: Path) -> Case:
    """Return the case of `release`, judged by `profiles`, with the bytes that were judged."""
    # Outside of `try`: broken profiles are bad input, and no breach of the release.
    case = Case(read_people(profiles))
    fingerprint = case.everybody.fingerprint()
    for cohort, numbering in _read_all(case, release):
        with _breach_of(cohort):
            _examine(case, cohort, fingerprint, numbering)
    if case.cohorts:
        case.findings += judge_cohorts(case)
    return case


def verify_newest(release: Path, profiles: Path, made_from: str) -> Verdict:
    """Return the verdict on the last cohort of `release`, and on how it fits the earlier ones.

    It is judged by the `profiles` of its people, a part of those of the fingerprint `made_from`.
    """
    case = Case(read_people(profiles))
    for cohort, numbering in _read_all(case, release):
        if cohort is case.cohorts[-1]:
            with _breach_of(cohort):
                _examine(case, cohort, made_from, numbering)
    if case.cohorts:
        case.findings += judge_cohorts(case)
    return case.verdict


def _read_all(case: Case, release: Path) -> Iterator[tuple[CohortCase, evidence.Numbering]]:
    """Read the cohorts of `release` into `case`; yield each that can be read, and its numbering."""
    try:
        case.cohorts += map(CohortCase, evidence.cohort_places(release))
    except Broken as broken:
        case.findings.append(broken.finding)
        return
    readable, first_row, users = [], 1, set[str]()
    for cohort in case.cohorts:
        with _breach_of(cohort):
            _read(cohort, release / cohort.place)
            readable.append((cohort, first_row))
        first_row += cohort.rows_made
    left = any(one.changes.withdrawn for one in case.cohorts)
    for cohort, first_row in readable:
        with _breach_of(cohort):
            # If nobody can have come later, everybody must have a row.
            cohort.users = {*case.everybody.users}
            if case.may_wait:
                cohort.users = evidence.people_named(cohort.parts, cohort.changes.stood)
            users |= cohort.users  # those of this cohort and of earlier ones
            yield cohort, evidence.Numbering(first_row, cohort.changes.withdrawn, users, left)


@contextmanager
def _breach_of(cohort: CohortCase) -> Iterator[None]:
    """Add to the findings on `cohort` the breach that ends its judgement, if one does."""
    try:
        yield
    except Broken as broken:
        cohort.findings.append(broken.finding)


def _read(cohort: CohortCase, folder: Path) -> None:
    """Read the parts of `cohort` in `folder`, and judge whether they are as they were written."""
    cohort.names = evidence.file_names(folder)
    cohort.files = evidence.read_files(folder, cohort.names)
    cohort.parts = evidence.joined(cohort.files)
    checksums = cohort.parts[evidence.CHECKSUMS]
    cohort.sums = {
        name: evidence.sha256_of(content)
        for name, content in cohort.files.items()
        if name != evidence.CHECKSUMS
    }
    cohort.findings += evidence.judge_files(cohort.sums, checksums)
    cohort.findings += evidence.judge_privacy(folder, first=not cohort.place)
    cohort.manifest = evidence.read_manifest(cohort.parts, first=not cohort.place)
    cohort.changes = evidence.read_changes(cohort.parts, cohort.manifest)
    cohort.findings += evidence.judge_shards(cohort.files)


def _examine(
    case: Case, cohort: CohortCase, fingerprint: str, numbering: evidence.Numbering
) -> None:
    """Judge what the parts of `cohort` say, by the profiles of its own people."""
    parts, manifest, changes = cohort.parts, cohort.manifest, cohort.changes
    # A person who removes a term loses whole lines of a log: its profiles are others then.
    changed = case.everybody.queries is not None and changes.edited
    made_from = manifest["input_hash"] if changed else fingerprint
    cohort.findings += evidence.judge_manifest(manifest, cohort.sums, made_from, numbering.first)
    judge = cohort.judge = _judge(cohort)
    cohort.findings += evidence.judge_parts(parts, judge.keeps)
    takes_log = evidence.LOG in judge.keeps
    if takes_log == (case.everybody.queries is None):
        remedy = "a log; name it" if takes_log else "profiles; name these"
        raise BadParameter(f"{evidence.MANIFEST}: it was made from {remedy} with --against")
    people = case.everybody.of(cohort.users)
    # What people of a later cohort searched for since may have made their profiles, too.
    unchanged = people.users and not (cohort.place or changes.happened)
    choices = manifest["profiles"]
    cohort.findings += judging_choices.judge_choices(choices, people.weighed if unchanged else None)
    cohort.faults = "; ".join(judge.faults(manifest["parameters"]))
    if parts[evidence.ROWS] or len(case.cohorts) == 1:
        _judge_rows(case, cohort, people, numbering)
        return
    none, words = evidence.no_rows(), _KNOWN | {*cohort.names}
    cohort.findings += evidence.judge_identity(manifest, none, numbering, words)
    cohort.findings += judge_empty(cohort)
    _judge_parameters(cohort)


def _judge_parameters(cohort: CohortCase) -> None:
    """Find that the parameters of `cohort` can be those of its method; raise Broken if not."""
    if cohort.faults:
        raise Broken("parameters", evidence.MANIFEST, cohort.faults)
    good = "all there and in range"
    cohort.findings.append(Finding("parameters", True, evidence.MANIFEST, good))


def _judge_rows(
    case: Case, cohort: CohortCase, people: JudgedProfiles, numbering: evidence.Numbering
) -> None:
    """Judge the rows of `cohort`; Broken ends it where nothing more can be judged."""
    judge = _judge(cohort)
    if not people.users:
        raise Broken("partition", evidence.MEMBERS, "nobody in it has a profile")
    manifest, changes, counted_people = cohort.manifest, cohort.changes, people
    parameters, choices = manifest["parameters"], manifest["profiles"]
    least, unknown = least_people(parameters), _left_out_unnamed(cohort, judge, case)
    # A term in a slot was not rare when it was made, though it may be in no row.
    by_slots = evidence.SLOTS in judge.keeps and (changes.happened or unknown > 0)
    if least > 1 and changes.happened and not by_slots:
        rows = evidence.read_rows(cohort.parts, people)
        counted_people = without(people, rare_since(people, choices, least, rows), changed=True)
    elif least > 1 and not by_slots:
        counted_people = without(people, rare_terms(people, choices, least))
    grounds = _grounds(cohort, counted_people, judge, numbering)
    grounds = grounds._replace(all_people=people)
    if least > 1:
        # Each of those who left or changed may have had a term at the making.
        least_now = max(0, least - grounds.tally.unsure - unknown)
        rare = rare_terms(people, choices, least_now)
        cohort.findings += judge_rare(grounds.rows, grounds.slots, rare, least)
    _count(cohort, grounds, judge)
    facts, changed = manifest["facts"], grounds.tally.edited is not None or unknown > 0
    cohort.findings += judge_facts(facts, judge.facts(grounds), changed)
    _judge_parameters(cohort)
    for finding in judge.judge(parameters, grounds):
        cohort.findings.append(finding)


def _left_out_unnamed(cohort: CohortCase, judge: Judge, case: Case) -> int:
    """Return how many users have no row by what `cohort` states, and can't be told from others.

    They wait for a later cohort, among people who came since.
    """
    stated = cohort.manifest["facts"].get("users_left_out")
    unnamed = case.may_wait and judge.leaves_out and evidence.DELETIONS not in judge.keeps
    return int(str(stated)) if unnamed and is_whole(stated, 0, judging_choices.MOST) else 0


def _count(cohort: CohortCase, grounds: Grounds, judge: Judge) -> None:
    """Count what is judged of `cohort`, and say what was withdrawn or can't be recounted."""
    sizes, changes, checked = grounds.tally.sizes, cohort.changes, cohort.checked
    checked |= {
        "users": int(np.count_nonzero(grounds.group_of >= 0)),
        "rows": sizes.size,
        "terms": len(grounds.people.terms),
        "cells": grounds.rows.keys.size,
    }
    if judge.leaves_out:
        rowless = len(grounds.people.users) - checked["users"]
        checked["users_left_out"] = rowless - len(changes.stood)
    _count_people(cohort, grounds)
    if changes.there:
        edited = len(changes.edited)
        # Rows that hide their members are made of all groups together.
        if judge.promise.hides_members and grounds.tally.edited is not None:
            edited = checked["rows"]
        checked |= {"rows_withdrawn": changes.withdrawn, "rows_not_recounted": edited}
        cohort.findings += _changed(checked)


def _changed(checked: dict[str, int]) -> Iterator[Finding]:
    """Yield what `checked` says of rows withdrawn and not recounted."""
    withdrawn, edited = checked["rows_withdrawn"], checked["rows_not_recounted"]
    if withdrawn:
        rows = "1 row was" if withdrawn == 1 else f"{withdrawn} rows were"
        line = f"{rows} withdrawn; --since OLDER shows that the others are as they were"
        yield Finding("withdrawn", True, evidence.MANIFEST, line)
    if edited:
        line = (
            f"{edited} {'row' if edited == 1 else 'rows'} can't be recounted, because a profile "
            "changed since. All were checked when made; --since OLDER shows that none has changed"
        )
        yield Finding("recounted", True, "rows.jsonl", line)


def _grounds(
    cohort: CohortCase, people: JudgedProfiles, judge: Judge, numbering: evidence.Numbering
) -> Grounds:
    """Read and count what the promise is judged by."""
    parts, changes = cohort.parts, cohort.changes
    parameters = cohort.manifest["parameters"]
    known = None
    if not (changes.happened or cohort.faults):  # rows that are as foreseen need not be read
        known = foresee(parts, people, parameters, judge.expected, judge.leaves_out)
    rows = known.rows if known else evidence.read_rows(parts, people)
    # The words of a package's method are its own, so none of them may be a user's id.
    words = _KNOWN | {*cohort.names} | ({*judge.words} - numbering.users)
    cohort.findings += evidence.judge_identity(cohort.manifest, rows, numbering, words)
    cohort.profiles, cohort.rows = people, rows
    cohort.group_of = group_of = (
        known.group_of
        if known
        else evidence.read_partition(parts, rows.names, people, judge.leaves_out, changes.stood)
    )
    sizes = evidence.sizes_made(group_of, rows, changes.left * judge.promise.hides_members)
    cohort.findings += evidence.judge_partition(group_of, sizes, rows)
    counted = known.tally if known else tally(people, group_of, rows.span)
    if changes.there:
        made = as_made(replace(counted, sizes=sizes), people, group_of, rows.names, changes)
        counted = made if made.unsure or made.withdrawn else counted
    # If rows are of one user each, k rows may be k sessions of one person. So two names that look
    # like sessions are enough; for groups this would refuse people who only have such names.
    wary = judge.single_rows is not None
    choices = cohort.manifest["profiles"]
    person = None
    if cohort.everybody is None:
        person = judging_choices.people_behind(people.users, choices, wary)
    counted = counted.among(cohort.everybody)
    slots = None
    if evidence.SLOTS in judge.keeps:
        slots = read_slots(parts, rows.names, people.users, rows.terms)
    shares = known.shares if known else None
    ends = evidence.shard_ends(cohort.files)
    counted = counted if ends is None else replace(counted, shards=ends.size)
    read = people, parts, rows, group_of, counted, shares, person, slots, parameters
    return Grounds(*read, ends=ends)


def _count_people(cohort: CohortCase, grounds: Grounds) -> None:
    """Count the people behind each row, and say if users are sessions of people."""
    person, group_of = grounds.person, grounds.group_of
    served = group_of >= 0
    if person is None:
        cohort.people = np.bincount(group_of[served])
        return
    cohort.people = judging_choices.people_of_rows(person[served], group_of[served])
    cohort.checked["people"] = int(person.max()) + 1
    counts_people = cohort.manifest["parameters"].get("count") == "people"
    cohort.findings += judging_choices.session_findings(person, cohort.people, counts_people)


def _judge(cohort: CohortCase) -> Judge:
    """Return how releases of the method are judged."""
    judge = judge_of(cohort.manifest["method"], cohort.manifest["parameters"])
    if judge is not None:
        return judge
    line = (
        f"its method can't be judged; these can: {', '.join(JUDGES)}, and others that declare "
        "which promise they keep"
    )
    # In a damaged release the name may be damaged, too: then it is a breach, else wrong use. A
    # later cohort must be by the method of the first.
    if cohort.place or not all(one.holds for one in cohort.findings):
        raise Broken("method", evidence.MANIFEST, line)
    raise BadParameter(f"{evidence.MANIFEST}: {line}")
