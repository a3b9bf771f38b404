"""Give people who wait a row [I/O]: they become a new cohort of the served release.

    profiles, and those grown from searches ─▶ people in no cohort
        ─▶ the release's method, for them alone ─▶ verified ─▶ a later cohort

No row changes that is there. People whose row was withdrawn stood in a cohort, so they never wait.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.errors import Unsatisfiable
from anonymizer.measures.group_counts import published_counts
from anonymizer.measures.linkability import readings
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release, stacked
from anonymizer.storage.changes import people_named
from anonymizer.storage.parts import TAXONOMY, read_cohorts, read_manifest
from anonymizer.storage.profiles import fingerprint, read_others, read_profiles, write_profiles
from anonymizer.storage.releases import add_cohort, people_of, read_input_hash, read_release
from anonymizer.storage.uniting import united
from anonymizer.verification.judge import verify_newest

from ..accounts.database import kept_people, place_of_people
from ..accounts.store import PeopleStore
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from ..workspace.ledger import ADMITTED, note_made, people_published
from ..workspace.profile_choices import choices_of, noted_fingerprint
from ..workspace.replacing import Replacement
from .adding import follow_profiles, write_more
from .growth import Growth, newcomers
from .releasing import released, takes_log

_SEEDS = 2**31  # a fresh seed is below this


class TooFew(UsageError):
    """The people who wait are too few for a cohort that keeps the promise."""


class Admission(NamedTuple):
    """What became of the people who wait."""

    release: str
    waiting: int  # before
    admitted: int  # who have a row now
    rows: int  # for them
    cohort: int  # its number; 0 without a new one
    gathering: int  # people whose searches gather interests, and who do not wait yet
    needed: int  # interests that they need
    against_all: float | None = None  # largest change of belief compared with all, if it is bounded
    published: int = 0  # who stand in another row that was published, so they get none


class _Waiting(NamedTuple):
    """The people who wait, and what is known of them."""

    others: Profiles | None  # who have a profile, and are in no cohort
    grown: Profiles | None  # who have none, except what grew from their searches
    counts: dict[str, dict[str, int]]  # of the terms in `grown`
    known: frozenset[str]  # everybody with a profile
    gathering: int = 0  # people in none of these, who have some terms and need more
    needed: int = 0  # terms that they need

    @property
    def number(self) -> int:
        """Return how many wait."""
        return len(self.names)

    @property
    def names(self) -> list[str]:
        """Return who waits."""
        return [user for part in (self.others, self.grown) if part for user in part.users]

    def without(self, people: Set[str]) -> _Waiting:
        """Return those who wait, except `people`."""
        counts = {user: terms for user, terms in self.counts.items() if user not in people}
        others, grown = _without(self.others, people), _without(self.grown, people)
        return self._replace(others=others, grown=grown, counts=counts)


def admit(workspace: Workspace, settings: Settings, *, dry_run: bool = False) -> Admission:
    """Give those who wait in `workspace` rows of the served release; return what was done.

    With `dry_run` nothing is written. The caller holds the workspace's lock.
    """
    folder, path = workspace.find("release"), workspace.find("profiles")
    made_from = _made_from(folder, path)
    if takes_log(read_manifest(folder)["method"]):
        raise UsageError(
            "the served release was made of a log, so nobody can be admitted to it; make a new one "
            "of a log that has everybody"
        )
    # Read and checked once: the rows of a release are many.
    cohorts = read_cohorts(folder)
    who = _who_waits(workspace, settings, made_from, people_named(cohorts))
    # A further row of theirs could not be published, and with it nobody else's of the release.
    barred = people_published(workspace, who.names)
    everyone, who = who.number, who.without(barred)
    if not who.number:
        nobody = Admission(str(folder), everyone, 0, 0, 0, who.gathering, who.needed)
        return nobody._replace(published=len(barred))
    waiting, added = stacked([part for part in (who.others, who.grown) if part]), who.grown
    manifest, seed = read_manifest(folder), secrets.randbelow(_SEEDS)
    if manifest["parameters"].get("taxonomy") == "given":
        manifest["parameters"]["taxonomy"] = str(folder / TAXONOMY)  # the release has kept it
    cohort = _cohort(waiting, manifest, seed, settings)
    number = len(cohorts) + 1
    counts = everyone, len(cohort.users), len(cohort.rows), number
    grow = who.gathering, who.needed
    done = Admission(str(folder), *counts, *grow, _against_all(folder, cohort), len(barred))
    if dry_run:
        return done
    with Replacement(workspace) as replacement:
        staged, now = replacement.place(folder), made_from
        if added:
            everybody = stacked([read_profiles(path), added])
            now = write_more(path, made_from, everybody, replacement)
            follow_profiles(workspace, made_from, now, replacement, but=folder)
        add_cohort(cohorts, staged, cohort, seed=seed, input_hash=now)
        _refuse_breach(staged, waiting, now, replacement.scratch)
        with _moving(workspace, settings, who):
            replacement.carry_out()
    note_made(workspace, folder, ADMITTED)
    return done


def _against_all(folder: Path, cohort: Release) -> float | None:
    """Return how far rows in `folder` and of `cohort` change belief, compared with all people.

    That is the largest change, which nothing bounds. Without a bound within a cohort, it is None.
    """
    if cohort.promise.bounds != "belief":
        return None
    names = tuple(f"later {n}" for n in range(len(cohort.rows)))
    later = replace(cohort, rows=replace(cohort.rows, users=names))
    counts = published_counts(united([read_release(folder, promise_of), later]))
    return float(readings(counts)["belief"].max())


def _without(profiles: Profiles | None, people: Set[str]) -> Profiles | None:
    """Return `profiles` except those of `people`; None if nobody's are left."""
    if profiles is None or people.isdisjoint(profiles.users):
        return profiles
    rows = [row for row, user in enumerate(profiles.users) if user not in people]
    return profiles.some(rows).in_order() if rows else None


def count_waiting(workspace: Workspace, settings: Settings) -> int:
    """Return how many people in `workspace` wait to be admitted."""
    folder = workspace.find("release")
    made_from = _made_from(folder, workspace.find("profiles"))
    return _who_waits(workspace, settings, made_from, people_of(folder)).number


def _made_from(release: Path, profiles: Path) -> str:
    """Return the fingerprint of `profiles`; refuse them if the `release` is of others."""
    made_from = read_input_hash(release)
    # Everybody's profiles take long to read. Their note knows the fingerprint of a file's bytes.
    stated = noted_fingerprint(profiles) or fingerprint(read_profiles(profiles))
    if made_from != stated:
        raise UsageError(f"{release} was made from other profiles than {profiles}; make it again")
    return made_from


def _who_waits(
    workspace: Workspace, settings: Settings, made_from: str, there: Set[str]
) -> _Waiting:
    """Return who waits in `workspace`, whose profiles have the fingerprint `made_from`.

    People in `there` have a row of its release, or had one.
    """
    path = workspace.find("profiles")
    others = read_others(path, there)
    known = frozenset(there).union(others.users if others else ())
    place = kept_people(workspace.root, settings)
    if place is None:
        return _Waiting(others, None, {}, known)
    with closing(PeopleStore(place)) as store:
        counts, others = store.all_grown(), _without(others, store.pausing())
    growth = Growth(choices_of(path, made_from), settings)
    grown = newcomers(growth, counts, known)
    gathering = 0 if growth.fault else len(counts.keys() - known - grown.keys())
    moving = {user: {term: counts[user][term] for term in row} for user, row in grown.items()}
    rows = Profiles.from_rows(grown) if grown else None
    return _Waiting(others, rows, moving, known, gathering, growth.needed)


@contextmanager
def _moving(workspace: Workspace, settings: Settings, who: _Waiting) -> Iterator[None]:
    """Let what grew of those `who` wait move from the store into profiles, which the body does."""
    if who.grown is None:
        yield
        return
    # What is noted here tells after a kill whether it has moved, so that no term counts twice.
    with closing(PeopleStore(place_of_people(workspace.root, settings))) as store:
        store.begin_move(who.counts, who.known)
        yield
        store.settle(who.known.union(who.grown.users))


def _cohort(
    waiting: Profiles, manifest: Mapping[str, Any], seed: int, settings: Settings
) -> Release:
    """Return the rows of those `waiting`, made as the release of `manifest` was."""
    method, parameters = manifest["method"], dict(manifest["parameters"])
    given = [name for name in ("first_seed", "marketing") if parameters.get(name) == "given"]
    if given:
        raise UsageError(
            f"the release was made with a {given[0]} that it does not name, so it can't be "
            "repeated; make a new release of everybody"
        )
    parameters.pop("first_seed", None)  # "drawn", which is the default
    try:
        choices = manifest["profiles"]
        cohort = released(waiting, method, parameters, seed, settings, choices=choices)
        alone = int(np.count_nonzero(cohort.grouping.sizes[: cohort.groups] == 1))
        if alone and not cohort.promise.single_person:
            raise Unsatisfiable(f"{count(alone, 'row', 'rows')} would stand for one person alone")
    except Unsatisfiable as fault:
        raise TooFew(_too_few(len(waiting), method, parameters, fault)) from fault
    return cohort


def _too_few(
    waiting: int, method: str, parameters: Mapping[str, object], fault: Unsatisfiable
) -> str:
    """Return why those `waiting` get no rows by `method`, and when to try again.

    The rows' `parameters` are settled, so the remedy of the `fault` is not said.
    """
    wait = count(waiting, "person waits", "people wait")
    least = fault.needs or (2 if waiting == 1 else 0)  # nobody is a group alone
    if not least:
        why = str(fault).partition(";")[0]
        return f"{wait}, and {method} can't give them rows: {why}. Run admit again when more wait."
    at = [f" at {name}={parameters[name]}" for name in ("p", "k") if name in parameters][:1]
    more = count(least - waiting, "more waits", "more wait")
    needs = f"{method}{''.join(at)} needs at least {least}"
    return f"{wait}; {needs}. Run admit again when {more}."


def _refuse_breach(staged: Path, waiting: Profiles, made_from: str, scratch: Path) -> None:
    """Refuse the release `staged` unless the judge finds that its newest cohort holds.

    It is of those `waiting`, whose profiles are among those of the fingerprint `made_from`.
    """
    # The older cohorts were judged, and keep their bytes.
    profiles = scratch / "profiles.jsonl"
    write_profiles(waiting, profiles)
    if breaches := verify_newest(staged, profiles, made_from).breaches:
        first = breaches[0]
        raise UsageError(
            f"the judge refuses the new cohort, so nothing was changed: {first.claim}: {first.line}"
        )
