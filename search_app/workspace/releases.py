"""Where the releases of a workspace are [I/O]."""

from __future__ import annotations

from pathlib import Path

from anonymizer.storage.parts import COHORTS, MANIFEST

from .folder import Workspace
from .tables import is_database


def release_folders(workspace: Workspace) -> list[Path]:
    """Return the folders of releases in `workspace`, and the current one wherever it is."""
    name = workspace.current().release
    current = {workspace.root / name} if name and (workspace.root / name).is_dir() else set()
    manifests = (path for path in workspace.root.rglob(MANIFEST) if is_looked_at(workspace, path))
    # A later cohort is part of a release, in RELEASE/cohorts/0002.
    return sorted(
        current | {path.parent for path in manifests if path.parent.parent.name != COHORTS}
    )


def is_looked_at(workspace: Workspace, path: Path) -> bool:
    """Return whether `path` may be of a release: of no index, not hidden, and no database."""
    parts = path.relative_to(workspace.root).parts
    hidden = any(part.startswith(".") for part in parts)
    return parts[0] != workspace.indexes.name and not hidden and not is_database(path)
