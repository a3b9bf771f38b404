"""What people of a study publish [I/O]: rows of their profiles, and queries of several people.

Both are made by a method of the anonymizer, judged as any release, and leave once: a person in two
sets of rows could be found where these overlap.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from anonymizer.errors import AnonymizerError
from anonymizer.model import Profiles, Release
from anonymizer.storage.records import csv_text

from ...disclosure.numbers import count
from ...errors import UsageError, plain_when_writing
from ...settings import Settings
from ...workspace.folder import Workspace
from ..design import PUBLISH, PUBLISH_QUERIES, Study
from ..store import ROOM
from .tables import KeptStudy, harmless

PROFILES, QUERIES = "profiles.jsonl", "queries.csv"
_K = 5  # people, as the opt-in says
_HEAD, _TIME = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n", "2000-01-01 00:00:00"
Once = Callable[[str], bool]  # whether nothing of a kind was published before


def publish_profiles(kept: KeptStudy, folder: Path, settings: Settings, once: Once | None) -> str:
    """Publish rows of the profiles of people who agreed, if that can be; return what was done.

    `once` is None as long as the study is not closed.
    """
    own = {
        str(one.id): dict(one.profile)
        for one in kept.people.values()
        if PUBLISH in one.opt_ins and one.profile
    }
    output, study = folder / PROFILES, kept.study
    return _tried(own, "profiles", once, lambda once: _rows(own, study, output, settings, once))


def publish_queries(kept: KeptStudy, folder: Path, settings: Settings, once: Once | None) -> str:
    """Publish the kept queries that k people who agreed typed; return what was done.

    `once` is None as long as the study is not closed.
    """
    typed = [
        (str(who), " ".join(text.split()))
        for (who, _), text in sorted(kept.queries.items())
        if PUBLISH_QUERIES in kept.people[who].opt_ins
    ]
    output, study = folder / QUERIES, kept.study
    return _tried(
        typed, "queries", once, lambda once: _common(typed, study, output, settings, once)
    )


@contextmanager
def _room(study: Study) -> Iterator[Path]:
    """Provide a private folder in that of `study`, without what a killed export left in it."""
    # Who withdraws is erased there, too, which no folder for temporary files is.
    room = study.folder / ROOM
    with plain_when_writing(room):
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(0o700)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _tried(given: Sized, what: str, once: Once | None, write: Callable[[Once], str]) -> str:
    if not given:
        return "none, as nobody gave any"
    if once is None:
        return f"none of {len(given):,} {what} before the study is closed"
    try:
        return write(once)
    except (AnonymizerError, UsageError) as fault:
        return f"none of {len(given):,} {what}: {fault}"


def _rows(
    own: dict[str, dict[str, float]], study: Study, output: Path, settings: Settings, once: Once
) -> str:
    """Write rows of `own` profiles by the method of the served release; return what was done."""
    from anonymizer.methods import promise_of
    from anonymizer.storage.profiles import write_profiles
    from anonymizer.storage.releases import read_release

    from ...tasks.releasing import released

    profiles = Profiles.from_rows(own)
    served = read_release(Workspace(settings.workspace).find("release"), promise_of)
    release = released(profiles, served.method, dict(served.parameters), 0, settings, choices={})
    with _room(study) as room:
        source = room / "profiles.jsonl"
        write_profiles(profiles, source)
        breach = _judged(release, profiles, source, output, once)
    if breach:
        return f"none of {len(profiles):,} profiles: {breach}"
    return f"{len(release.rows):,} rows of {len(profiles):,} profiles by {served.method}, verified"


def _common(
    typed: list[tuple[str, str]], study: Study, output: Path, settings: Settings, once: Once
) -> str:
    """Write which queries k people `typed`, and how many did; return what was done."""
    from anonymizer.methods import METHODS

    from ...tasks.releasing import made_of_log, released, takes_log

    by = next(filter(takes_log, METHODS))
    with _room(study) as room:
        source = room / "log.tsv"
        lines = (f"{who}\t{text}\t{_TIME}\t\t\n" for who, text in typed)
        source.write_text(_HEAD + "".join(lines), encoding="utf-8")
        log, profiles, choices = made_of_log(source, settings)
        release = released(profiles, by, {"k": _K}, 0, settings, choices=choices, log=log)
        breach = _judged(release, profiles, source, room / "queries.release", once)
    if breach or release.log is None:
        return f"none of {len(typed):,} queries: {breach}"
    people = np.bincount(release.log.weights.indices, minlength=len(release.log.terms))
    table = sorted(zip(map(harmless, release.log.terms), people.tolist(), strict=True))
    with plain_when_writing(output):
        output.write_text(csv_text([("query", "people"), *table]), encoding="utf-8")
    made = count(people.size, "query", "queries")
    return f"{made} of {_K} people or more by {by}, verified"


def _judged(release: Release, profiles: Profiles, source: Path, output: Path, once: Once) -> str:
    """Publish `release` of the `profiles` in `source` as `output`; return what forbids it."""
    from anonymizer.publishing import publish
    from anonymizer.storage.profiles import fingerprint
    from anonymizer.storage.releases import write_release
    from anonymizer.verification.finding import Finding

    folder, name = source.parent / "release", output.name
    write_release(release, folder, seed=0, input_hash=fingerprint(profiles))
    finding = Finding("one release", True, name, "")
    again = finding._replace(holds=False, line="they left with an earlier export, and leave once")
    # Noted before the file is there: a person must never stand in two sets of rows.
    verdict = publish(folder, source, output, lambda _: [finding if once(name) else again])
    return "" if verdict.holds else verdict.breaches[0].line
