"""Open a workspace's index, profiles and releases for searching [I/O], as of one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from anonymizer.errors import AnonymizerError, BadInput
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.storage.releases import read_in_shards, read_input_hash, read_release
from index.backends import Backend, FilledIndex, LuceneBackend, OpenSearchBackend
from index.forward.reading import Forward
from index.model import Index, SearchError
from index.opening import open_index
from index.opensearch.client import ClusterPlace, OpenSearchCluster

from ..errors import UsageError
from ..search.engine import Engine
from ..search.evidence import RowPopulation
from ..search.modes import FURTHER as MODE_OF_FURTHER
from ..search.modes import Modes
from ..search.newcomer import NEWCOMER, Newcomer, welcome
from ..search.smoothing import PublicRelease, SmoothedRows, smoothing_of
from ..settings import Settings
from .folder import Workspace

TRIES = 5  # to read a workspace that updates replace meanwhile
FEW = 20  # rows; fewer say too little of what people have in common
FURTHER = 6  # limit of releases in addition to the current one
T = TypeVar("T")


class OpenedModes(NamedTuple):
    """What answers searches, and a function that closes its files."""

    modes: Modes
    close: Callable[[], object]
    made_from: str = ""  # the profiles' fingerprint, if further releases are open
    # Modes with further releases, by name, that were made from the same profiles.
    extend: Callable[[Mapping[str, Release]], Modes] | None = None


class ServedPeople(NamedTuple):
    """The people who can search with personalization: those of a workspace, or one newcomer."""

    profiles: Profiles | None = None
    release: Release | None = None
    newcomer: Newcomer | None = None
    further: Mapping[str, Release] = {}  # other releases of the same profiles, by name


def as_of_one_moment(
    workspace: Workspace, read: Callable[[], T], discard: Callable[[T], object] = lambda _: None
) -> T:
    """Return the result of `read`; if an update comes meanwhile, `discard` it and read again."""
    # An update first switches to the new files and then removes the old ones. So a missing or unfit
    # file is an error only if nothing was switched meanwhile.
    for _ in range(TRIES):
        before = workspace.stamp()
        try:
            result = read()
        except (UsageError, SearchError, AnonymizerError, OSError):
            if workspace.stamp() == before:
                raise
            continue
        if workspace.stamp() == before:
            return result
        discard(result)
    raise UsageError(f"{workspace.root} was updated {TRIES} times while it was read; try again")


def open_modes(workspace: Workspace, settings: Settings, **choices: Any) -> Modes:
    """Return `workspace` opened as of one moment, until the process ends; see `open_once`."""
    return as_of_one_moment(
        workspace,
        lambda: open_once(workspace, settings, **choices),
        lambda opened: opened.close(),
    ).modes


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
) -> OpenedModes:
    """Return engine, profiles and release, opened; for a `newcomer` no profiles but their own.

    Without `personal` only the engine is opened. With `further` the other releases are opened, too;
    it is called with the names of those that are damaged and skipped.
    """
    people, made_from, rows = ServedPeople(), "", None
    if newcomer:
        people, rows = _open_newcomer(workspace, newcomer, release)
    elif personal:
        people = _open_people(workspace, profiles, release)
    if further and people.profiles is not None:
        made_from = fingerprint(people.profiles)
        others = further_releases(workspace, made_from, further)
        people = people._replace(further=others)
    folder = workspace.index_named(index) if index else workspace.find("index")
    opened, forward = open_by(folder, settings)
    modes, extend = modes_of(opened, forward, people, settings, rows)
    return OpenedModes(modes, opened.close, made_from, extend)


def backend_of(settings: Settings) -> Backend:
    """Return what searches and fills indexes as `settings` say."""
    search = settings.search
    if search.backend == "lucene":
        return LuceneBackend(settings.heap)
    place = {name: value for name, value in vars(search).items() if name != "backend"}
    return OpenSearchBackend(OpenSearchCluster(ClusterPlace(**place)), settings.heap)


def open_by(folder: Path, settings: Settings) -> tuple[FilledIndex, Forward]:
    """Return both halves of the index in `folder`, searched as `settings` say."""
    return open_index(
        folder,
        backend=backend_of(settings),
        k1=settings.k1,
        b=settings.b,
        title_boost=settings.title_boost,
    )


def modes_of(
    index: Index,
    forward: Forward,
    people: ServedPeople,
    settings: Settings,
    rows: PublicRelease | None = None,
) -> tuple[Modes, Callable[[Mapping[str, Release]], Modes]]:
    """Return what answers searches of `people` in `index`, and how to extend it by releases.

    A newcomer chose among `rows`.
    """
    engine = Engine(index, forward, settings.vectors, deadline=settings.deadline)

    def prepared(
        given: Mapping[str, PublicRelease],
    ) -> tuple[dict[str, SmoothedRows], set[str]]:
        """Return what smooths the rows of `given`, by mode, and the modes in which one stands."""
        made = ((mode, smoothing_of(public, forward)) for mode, public in given.items())
        smoothed = dict[str, SmoothedRows]()
        if settings.smoothing:
            smoothed = {mode: rows_of for mode, rows_of in made if rows_of is not None}
        populations = set[str]()
        for mode, public in given.items():
            if (population := population_of(public)) is not None:
                engine.prepare(mode, population)
                populations.add(mode)
        return smoothed, populations

    def extend(further: Mapping[str, Release]) -> Modes:
        return modes.extended(further, *prepared(_public_by_mode(further)))

    given = {"group": rows} if rows else {}
    given |= {"group": public_of(people.release)} if people.release else {}
    modes = Modes(engine, *people, *prepared({**_public_by_mode(people.further), **given}))
    return modes, extend


def _public_by_mode(further: Mapping[str, Release]) -> dict[str, PublicRelease]:
    return {f"{MODE_OF_FURTHER}{name}": public_of(one) for name, one in further.items()}


def _open_people(workspace: Workspace, profiles: Path | None, release: Path | None) -> ServedPeople:
    """Return the people of `profiles` and `release`; without these, of the current ones."""
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
    if release is None:
        return ServedPeople(people)
    read = read_release(release, promise_of)
    if people is not None and read_input_hash(release) != fingerprint(people):
        raise BadInput(
            f"{release} was made from other profiles; run: veilsearch anonymize PROFILES"
        )
    return ServedPeople(people, read)


def public_of(release: Release) -> PublicRelease:
    """Return the public part of `release`."""
    public = (release.rows, release.grouping.sizes, release.promise, release.parameters)
    return PublicRelease(*public, range(release.groups, len(release.rows)))


def _groups_of(published: PublicRelease) -> RowPopulation:
    """Return the rows of what is `published` that are groups'."""
    rows, kept = published.rows, np.delete(np.arange(len(published.rows)), [*published.fallback])
    return RowPopulation(rows.some(kept) if published.fallback else rows, published.users[kept])


def population_of(published: PublicRelease) -> RowPopulation | None:
    """Return the groups' rows of what is `published`, to stand among; None if they are too few."""
    groups = _groups_of(published)
    return groups if len(groups.rows) >= FEW else None


def _open_newcomer(
    workspace: Workspace, file: Path, release: Path | None
) -> tuple[ServedPeople, PublicRelease | None]:
    """Return the newcomer in `file`, with a row of `release` or of the current release."""
    profile = read_profiles(file)
    if len(profile) > 1:
        raise UsageError(
            f"{file}: {len(profile):,} profiles where a newcomer has one; "
            "put the line of one person alone into a .jsonl file"
        )
    profile = replace(profile, users=(NEWCOMER,))  # their name is not needed
    if release is None and workspace.current().release:
        release = workspace.find("release")
    if release is None:
        return ServedPeople(profile), None
    # A fallback row is a mean of all groups: it is like many people, and no group's. Searches are
    # compared with the rows of the same shard: those of all shards may not fit into memory.
    newcomer, shard = welcome(profile, map(_groups_of, _released(release)))
    rows = next(islice(_released(release), shard, None))
    return ServedPeople(profile, newcomer=newcomer), rows


def _released(path: Path) -> Iterator[PublicRelease]:
    """Yield the public part of each shard of the release at `path`, a folder or published file."""
    if path.is_dir():
        yield from map(public_of, read_in_shards(path, promise_of))
        return
    from anonymizer.publishing import read_published

    published = read_published(path)
    given = published.about.get("parameters")
    parameters = given if isinstance(given, dict) else {}
    promise = promise_of(str(published.about.get("method")), parameters)
    yield PublicRelease(published.rows, published.sizes, promise, parameters, published.fallback)


def further_releases(
    workspace: Workspace, made_from: str, tell: Callable[[str], object]
) -> dict[str, Release]:
    """Return the first releases by name, without the current one, that were `made_from` profiles.

    `tell` is called with the names of damaged ones.
    """
    current = workspace.root / workspace.current().release
    further: dict[str, Release] = {}
    for manifest in sorted(workspace.root.glob("*/release.json")):
        folder = manifest.parent
        unseen = folder.name.startswith(".") or folder.resolve() == current.resolve()
        if unseen or len(further) == FURTHER:
            continue
        try:
            if read_input_hash(folder) == made_from:
                further[folder.name] = read_release(folder, promise_of)
        except AnonymizerError:
            tell(folder.name)
    return further


def people_of(truth: Mapping[str, Any], modes: Modes) -> dict[str, str]:
    """Return the people of `truth` who have a profile: user -> name and interests, by name."""
    shown = {
        user: f"{person['name']} · {', '.join(part['label'] for part in person['interests'])}"
        for user, person in truth["users"].items()
        if modes.profiles is not None and user in modes.profiles.row_of
    }
    return dict(sorted(shown.items(), key=lambda item: item[1]))
