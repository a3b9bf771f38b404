"""Where the releases of a workspace are [I/O]."""

from __future__ import annotations

from pathlib import Path

from anonymizer.publishing import PublishedRows, published_rows
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


def published_files(workspace: Workspace) -> dict[Path, PublishedRows]:
    """Return the published files in `workspace`, and what they hold, sound or not."""
    files = (path for path in sorted(workspace.root.rglob("*")) if is_looked_at(workspace, path))
    seen = {path: published_rows(path) for path in files if path.is_file()}
    return {path: rows for path, rows in seen.items() if rows is not None}


def is_looked_at(workspace: Workspace, path: Path) -> bool:
    """Return whether `path` may be of a release: of no index, not hidden, and no database."""
    parts = path.relative_to(workspace.root).parts
    hidden = any(part.startswith(".") for part in parts)
    return parts[0] != workspace.indexes.name and not hidden and not is_database(path)
