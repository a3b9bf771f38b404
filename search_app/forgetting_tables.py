"""A workspace's marketing tables without the terms that nobody has any more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from anonymizer.marketing import is_table, write_table_without
from anonymizer.model import BadInput

from .forgetting_profiles import Changed, Known, gone_terms
from .replacing import Replacement
from .workspace import Workspace


def forget_in_tables(
    workspace: Workspace,
    known: Collection[Known],
    changed: Mapping[str, Changed],
    replacement: Replacement,
) -> tuple[str, ...]:
    """Write the tables anew, or remove them; return those that can't be read as a whole.

    A term that a person alone had says what they asked for, whatever a table says of it.
    """
    tables = list(_tables(workspace, replacement)) if known else []
    gone = (
        {term.strip().lower() for term in gone_terms(workspace, known, changed)} if tables else ()
    )
    unclear = []
    for path in tables if gone else ():
        staged = replacement.place(path)
        try:
            _, stay = write_table_without(path, staged, gone)
        except BadInput as fault:
            if isinstance(fault.__cause__, OSError):  # a full disk is no fault of the table
                raise
            unclear.append(workspace.relative(path))
            continue
        if not stay:
            replacement.remove(path)
    return tuple(unclear)


def _tables(workspace: Workspace, replacement: Replacement) -> Iterator[Path]:
    """Yield the tables in the workspace, but for those in folders that go or come as a whole."""
    folders = {*replacement.replaced, *replacement.removed, workspace.indexes}
    for path in sorted(workspace.root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace.root).parts)
        if not hidden and folders.isdisjoint(path.parents) and is_table(path):
            yield path
