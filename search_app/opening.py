"""A workspace's artefacts, opened for searching [I/O], all as they are at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from anonymizer.model import AnonymizerError, BadInput, Profiles, Release
from anonymizer.profile_file import fingerprint, read_profiles
from anonymizer.release import read_input_hash, read_release
from index.build import open_index
from index.forward import Forward
from index.model import SearchError

from .engine import Engine
from .errors import UsageError
from .modes import FURTHER as MODE_OF_FURTHER
from .modes import Modes
from .newcomer import NEWCOMER, Newcomer, welcome
from .settings import Settings
from .smoothed_rows import Published, SmoothedRows, smoothing_of
from .workspace import CURRENT, Workspace

TRIES = 5
FURTHER = 6  # releases beside the current one, at most
Stamp = tuple[int, int, int] | None
T = TypeVar("T")


class Opened(NamedTuple):
    """What answers searches, and what lets go of its files."""

    modes: Modes
    close: Callable[[], object]
    made_from: str = ""  # the profiles' fingerprint, if it was asked for


class People(NamedTuple):
    """Whom searches can be personalized for: the people of a workspace, or one newcomer."""

    profiles: Profiles | None = None
    release: Release | None = None
    newcomer: Newcomer | None = None
    further: Mapping[str, Release] = {}  # other releases of the same profiles, by name


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
    newcomer: Path | None = None,
    personal: bool = True,
    further: Callable[[str], object] | None = None,
) -> Opened:
    """Open engine, profiles and release; for a newcomer no profiles but their own.

    Without `personal` only the engine. With `further` the other releases in the workspace too;
    it is told the names of those that are damaged, which are left out.
    """
    people, made_from, rows = People(), "", None
    if newcomer:
        people, rows = _open_newcomer(workspace, newcomer, release)
    elif personal:
        people = _open_people(workspace, profiles, release)
    if further and people.profiles is not None:
        made_from = fingerprint(people.profiles)
        others = further_releases(workspace, made_from, further)
        people = people._replace(further=others)
    folder = workspace.index_named(index) if index else workspace.find("index")
    lucene, forward = open_index(
        folder,
        heap=settings.heap,
        k1=settings.k1,
        b=settings.b,
        title_boost=settings.title_boost,
    )
    engine = Engine(lucene, forward, settings.vectors, deadline=settings.deadline)
    smoothed = _smoothed(people, rows, forward) if settings.smoothing else {}
    return Opened(Modes(engine, *people, smoothed), lucene.close, made_from)


def _open_people(workspace: Workspace, profiles: Path | None, release: Path | None) -> People:
    """Read the named profiles and release, else the current ones if there are any."""
    if release and release.is_file():
        raise UsageError(
            f"--release {release}: a published file does not say who has which row; "
            "name your profile with --newcomer FILE, or the release's folder"
        )
    current = workspace.current()
    if profiles is None and current.profiles:
        profiles = workspace.find("profiles")
    if release is None and current.release:
        release = workspace.find("release")
    people = read_profiles(profiles) if profiles else None
    return People(people, _matching(release, people) if release else None)


def _smoothed(people: People, rows: Published | None, forward: Forward) -> dict[str, SmoothedRows]:
    """Return what smooths the rows of each mode, where that helps."""
    found = {"group": rows} if rows else {}
    releases = {f"{MODE_OF_FURTHER}{name}": each for name, each in people.further.items()}
    if people.release:
        releases["group"] = people.release
    found |= {mode: _published(release) for mode, release in releases.items()}
    made = {mode: smoothing_of(each, forward) for mode, each in found.items()}
    return {mode: each for mode, each in made.items() if each is not None}


def _published(release: Release) -> Published:
    return Published(release.rows, release.grouping.sizes, release.method, release.parameters)


def _open_newcomer(
    workspace: Workspace, file: Path, release: Path | None
) -> tuple[People, Published | None]:
    """Read a newcomer's profile, and choose a row of the named or current release."""
    profile = read_profiles(file)
    if len(profile) > 1:
        raise UsageError(
            f"{file}: {len(profile):,} profiles where a newcomer has one; "
            "put the line of one person alone into a .jsonl file"
        )
    profile = replace(profile, users=(NEWCOMER,))  # their name is not needed any more
    if release is None and workspace.current().release:
        release = workspace.find("release")
    if release is None:
        return People(profile), None
    rows = _released(release)
    return People(profile, newcomer=welcome(profile, rows.rows, rows.users)), rows


def _released(path: Path) -> Published:
    """Read the rows of a release's folder or of a published file, and how many share each."""
    if path.is_dir():
        return _published(read_release(path))
    from anonymizer.publication import read_published

    published = read_published(path)
    about = published.about
    given = about.get("parameters")
    parameters = given if isinstance(given, dict) else {}
    return Published(published.rows, published.sizes, str(about.get("method")), parameters)


def _matching(folder: Path, profiles: Profiles | None) -> Release:
    """Read a release and refuse one that was made from other profiles than those beside it."""
    release = read_release(folder)
    if profiles is not None and read_input_hash(folder) != fingerprint(profiles):
        raise BadInput(f"{folder} was made from other profiles; run: veilsearch anonymize PROFILES")
    return release


def further_releases(
    workspace: Workspace, made_from: str, tell: Callable[[str], object]
) -> dict[str, Release]:
    """Read the releases of the same profiles beside the current one, the first few by name."""
    current = workspace.root / workspace.current().release
    found: dict[str, Release] = {}
    for manifest in sorted(workspace.root.glob("*/release.json")):
        folder = manifest.parent
        unseen = folder.name.startswith(".") or folder.resolve() == current.resolve()
        if unseen or len(found) == FURTHER:
            continue
        try:
            if read_input_hash(folder) == made_from:
                found[folder.name] = read_release(folder)
        except AnonymizerError:
            tell(folder.name)
    return found


def people_of(truth: Mapping[str, Any], modes: Modes) -> dict[str, str]:
    """Return the invented people who have a profile: user -> name and interests, by name."""
    shown = {
        user: f"{person['name']} · {', '.join(each['label'] for each in person['interests'])}"
        for user, person in truth["users"].items()
        if modes.profiles is not None and user in modes.profiles.row_of
    }
    return dict(sorted(shown.items(), key=lambda item: item[1]))
