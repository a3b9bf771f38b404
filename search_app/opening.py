"""A workspace's artefacts, opened for searching [I/O]."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymizer.model import BadInput, Profiles, Release
from anonymizer.profile_file import fingerprint, read_profiles
from anonymizer.release import read_input_hash, read_release
from index.build import open_index

from .engine import Engine
from .modes import Modes
from .settings import Settings
from .workspace import Workspace


def open_engine(workspace: Workspace, settings: Settings, index: str | None = None) -> Engine:
    """Open the named index, else the current one."""
    folder = workspace.index_named(index) if index else workspace.find("index")
    lucene, forward = open_index(folder, heap=settings.heap)
    return Engine(lucene, forward, settings.vectors)


def open_modes(
    workspace: Workspace,
    settings: Settings,
    *,
    index: str | None = None,
    profiles: Path | None = None,
    release: Path | None = None,
    personal: bool = True,
) -> Modes:
    """Open engine, profiles and release; without `personal` only the engine."""
    engine = open_engine(workspace, settings, index)
    if not personal:
        return Modes(engine, None, None)
    current = workspace.current()
    if profiles is None and current.profiles:
        profiles = workspace.find("profiles")
    if release is None and current.release:
        release = workspace.find("release")
    people = read_profiles(profiles) if profiles else None
    return Modes(engine, people, _matching(release, people) if release else None)


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
