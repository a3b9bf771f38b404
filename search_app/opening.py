"""A workspace's artefacts, opened for searching [I/O], all as they are at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from anonymizer.model import AnonymizerError, BadInput, Profiles, Release
from anonymizer.profile_file import fingerprint, read_profiles
from anonymizer.release import read_input_hash, read_release
from index.build import open_index
from index.model import SearchError

from .engine import Engine
from .errors import UsageError
from .modes import Modes
from .settings import Settings
from .workspace import CURRENT, Workspace

TRIES = 5
Stamp = tuple[int, int, int] | None
T = TypeVar("T")


class Opened(NamedTuple):
    """What answers searches, and what lets go of its files."""

    modes: Modes
    close: Callable[[], object]


def stamp(workspace: Workspace) -> Stamp:
    """Return what tells one state of a workspace from the next; every update changes it."""
    try:
        status = (workspace.root / CURRENT).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def as_of_one_moment(
    workspace: Workspace, read: Callable[[], T], discard: Callable[[T], object] = lambda _: None
) -> T:
    """Read what is current; if an update replaces it meanwhile, read what is current then.

    An update switches first and then removes what it has replaced, so what is missing or does not
    fit together is a fault only if nothing was switched.
    """
    for _ in range(TRIES):
        before = stamp(workspace)
        try:
            found = read()
        except (UsageError, SearchError, AnonymizerError, OSError):
            if stamp(workspace) == before:
                raise
            continue
        if stamp(workspace) == before:
            return found
        discard(found)
    raise UsageError(f"{workspace.root} was updated {TRIES} times while it was read; try again")


def open_modes(workspace: Workspace, settings: Settings, **choices: Any) -> Modes:
    """Open engine, profiles and release, as `open_all` does, until the process ends."""
    return open_all(workspace, settings, **choices).modes


def open_all(workspace: Workspace, settings: Settings, **choices: Any) -> Opened:
    """Open engine, profiles and release as they are at one moment."""
    return as_of_one_moment(
        workspace,
        lambda: open_once(workspace, settings, **choices),
        lambda opened: opened.close(),
    )


def open_once(
    workspace: Workspace,
    settings: Settings,
    *,
    index: str | None = None,
    profiles: Path | None = None,
    release: Path | None = None,
    personal: bool = True,
) -> Opened:
    """Open engine, profiles and release; without `personal` only the engine."""
    people, released = None, None
    if personal:
        people, released = _open_people(workspace, profiles, release)
    folder = workspace.index_named(index) if index else workspace.find("index")
    lucene, forward = open_index(
        folder,
        heap=settings.heap,
        k1=settings.k1,
        b=settings.b,
        title_boost=settings.title_boost,
    )
    engine = Engine(lucene, forward, settings.vectors, deadline=settings.deadline)
    modes = Modes(engine, people, released)
    return Opened(modes, lucene.close)


def _open_people(
    workspace: Workspace, profiles: Path | None, release: Path | None
) -> tuple[Profiles | None, Release | None]:
    """Read the named profiles and release, else the current ones if there are any."""
    current = workspace.current()
    if profiles is None and current.profiles:
        profiles = workspace.find("profiles")
    if release is None and current.release:
        release = workspace.find("release")
    people = read_profiles(profiles) if profiles else None
    return people, _matching(release, people) if release else None


def _matching(folder: Path, profiles: Profiles | None) -> Release:
    """Read a release and refuse one that was made from other profiles than those beside it."""
    release = read_release(folder)
    if profiles is not None and read_input_hash(folder) != fingerprint(profiles):
        raise BadInput(f"{folder} was made from other profiles; run: veilsearch anonymize PROFILES")
    return release


def people_of(truth: Mapping[str, Any], modes: Modes) -> dict[str, str]:
    """Return the invented people who have a profile: user -> name and interests, by name."""
    shown = {
        user: f"{person['name']} · {', '.join(each['label'] for each in person['interests'])}"
        for user, person in truth["users"].items()
        if modes.profiles is not None and user in modes.profiles.row_of
    }
    return dict(sorted(shown.items(), key=lambda item: item[1]))
