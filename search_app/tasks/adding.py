"""Add the people of a log to profiles that are there [I/O]; nobody else's profile changes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

from anonymizer.errors import BadParameter
from anonymizer.model import ROW_NAME, Profiles, stacked
from anonymizer.profiles.origins import origins_path, read_origins, stacked_origins, write_origins
from anonymizer.storage.changes import with_edited
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.profiles import fingerprint, read_profiles, write_profiles
from anonymizer.storage.releases import read_input_hash

from ..accounts.database import place_of_people
from ..accounts.store import PeopleStore
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace, write_whole
from ..workspace.profile_choices import (
    ProfilingChoices,
    choices_of,
    choices_path,
    hash_of_text,
    held_out_hash,
    held_out_path,
    usual_choices,
    write_choices,
)
from ..workspace.releases import release_folders
from ..workspace.replacing import Replacement
from .growth import growth_of, newcomers
from .profiling import (
    Built,
    NobodyNew,
    about,
    build_from,
    check_outputs,
    held_out_lines,
    read_of,
    synthetic_truth,
)


def add_profiles_of(
    logs: Sequence[Path],
    settings: Settings,
    choices: ProfilingChoices,
    *,
    form: str | None = None,
    rejects: Path | None = None,
) -> dict[str, Any]:
    """Add the people in `logs` who have no profile to the current profiles; return what was read.

    The caller holds the workspace's lock. `choices` must be the ones that the profiles were made
    by, or the default ones.
    """
    workspace = Workspace(settings.workspace)
    path = workspace.find("profiles")
    profiles = read_profiles(path)
    made_from = fingerprint(profiles)
    made_by = _choices(path, made_from, choices, settings)
    check_outputs(logs, path, rejects)
    dated = origins_path(path).exists()
    try:
        built = build_from(
            logs,
            settings,
            made_by,
            form=form,
            rejects=rejects,
            origins=dated,
            known={*profiles.users},
        )
    except (NobodyNew, BadParameter) as fault:  # nobody, or nobody with enough terms
        nobody: dict[str, Any] = {"profiles": str(path), "added": 0, "users": len(profiles)}
        if isinstance(fault, NobodyNew):
            nobody |= {"log": read_of(fault.report), "robots_dropped": None}
        return nobody
    named = sum(bool(ROW_NAME.fullmatch(user)) for user in built.profiles.users)
    if named:
        have = count(named, "person has an id", "people have ids")
        raise UsageError(f"{have} like a row's name, as g0001; give them others")
    everybody = stacked([profiles, built.profiles])
    with Replacement(workspace) as replacement:
        now = write_more(path, made_from, everybody, replacement, built)
        follow_profiles(workspace, made_from, now, replacement)
        current = workspace.current()
        same = synthetic_truth(logs, workspace)[1] == current.log_sha256
        # The invented names of a town must not stand with real people's profiles.
        kept = {"truth": current.truth, "log_sha256": current.log_sha256} if same else {}
        replacement.carry_out(**{"truth": "", "log_sha256": "", **kept})
    added = {"added": len(built.profiles)}
    return {**about(built, everybody, path, made_by), **added}


def profiles_of_searches(settings: Settings) -> dict[str, Any]:
    """Give a profile to everybody whose searches gathered enough, in the workspace of `settings`.

    Return how many came. That is how people without a query log begin. The caller holds the
    workspace's lock. Once there is a release, people get rows by `admit` instead.
    """
    workspace = Workspace(settings.workspace)
    current = workspace.current()
    if current.release:
        raise UsageError("there is a release; give people rows of it with: veilsearch admit")
    path = workspace.find("profiles") if current.profiles else workspace.root / "profiles.jsonl"
    before = read_profiles(path) if current.profiles else None
    made_from = fingerprint(before) if before else ""
    growth = growth_of(workspace, made_from, settings)
    with closing(PeopleStore(place_of_people(workspace.root, settings))) as store:
        counts, known = store.all_grown(), {*before.users} if before else set()
        grown = newcomers(growth, counts, known)
        if not grown:
            why = growth.fault or f"nobody new has gathered {growth.needed} interests yet"
            raise UsageError(f"{why}; see: veilsearch doctor")
        added = Profiles.from_rows(grown)
        everybody = stacked([before, added]) if before else added
        with Replacement(workspace) as replacement:
            first = None if made_from else usual_choices(settings)
            write_more(path, made_from, everybody, replacement, first=first)
            moving = {
                user: {term: counts[user][term] for term in row} for user, row in grown.items()
            }
            store.begin_move(moving, known)
            replacement.carry_out(profiles=workspace.relative(path))
        store.settle(everybody.row_of)
    return {"profiles": str(path), "added": len(added), "users": len(everybody)}


def write_more(
    path: Path,
    made_from: str,
    everybody: Profiles,
    replacement: Replacement,
    built: Built | None = None,
    first: ProfilingChoices | None = None,
) -> str:
    """Write the profiles of `everybody` for the place `path`, where some of them are already.

    Return their fingerprint. The others may have been `built` from a log. If nobody is there yet,
    `made_from` is "", and `first` are the choices.
    """
    staged, now = replacement.place(path), fingerprint(everybody)
    write_profiles(everybody, staged)
    choices, held_out = choices_of(path, made_from), held_out_hash(path) if made_from else ""
    if first:
        choices = dict(vars(first))
    if built and choices.get("test_share"):
        place = held_out_path(path)
        kept_back = place.read_text(encoding="utf-8")
        kept_back += held_out_lines(built.held_out, kept_back.count("\n"))
        write_whole(replacement.place(place), kept_back)
        held_out = hash_of_text(kept_back)
    replacement.place(choices_path(path))
    write_choices(staged, now, choices, held_out)
    if made_from and (origins := read_origins(path, made_from)):
        more = [built.origins] if built and built.origins else []
        replacement.place(origins_path(path))
        write_origins(stacked_origins([origins, *more]), staged, now)
    return now


def follow_profiles(
    workspace: Workspace,
    made_from: str,
    now: str,
    replacement: Replacement,
    *,
    but: Path | None = None,
) -> None:
    """Let the releases in `workspace` that are `made_from` profiles be of those profiles `now`.

    The only change is that people have come. The release `but` stays as it is.
    """
    for folder in release_folders(workspace):
        if folder != but and read_input_hash(folder) == made_from:
            with_edited(read_cohorts(folder), replacement.place(folder), (), (), now)


def _choices(
    path: Path, made_from: str, given: ProfilingChoices, settings: Settings
) -> ProfilingChoices:
    """Return the choices that made the profiles at `path`; refuse others, and some of them."""
    known = choices_of(path, made_from)
    if known.keys() != {choice.name for choice in fields(ProfilingChoices)}:
        raise UsageError(f"--add: how {path} was made is not known; make it again from logs")
    choices = ProfilingChoices(**known)
    if given not in (choices, usual_choices(settings)):
        raise UsageError(
            "--add takes the choices that the profiles were made by; name no others with it"
        )
    faults = {
        f"weights {choices.weights} depend on everybody": choices.weights not in ("binary", "tf"),
        f"--users {choices.users} is all that they hold": choices.users is not None,
        "their owners are sessions": choices.granularity != "user",
    }
    if wrong := [fault for fault, there in faults.items() if there]:
        raise UsageError(f"nobody can be added to {path}: {'; '.join(wrong)}; make it again")
    return choices
