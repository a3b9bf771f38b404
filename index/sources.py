"""The files that an index was read from, and what has become of them since. [I/O]

`sources.jsonl` in an index has a line for each file: its path, size, time, hash and documents' ids.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .corpora.files import corpus_files, is_gone, is_same, place_of
from .manifest import REMEDY
from .model import Account, SearchError, Source

FILE = "sources.jsonl"


def write_sources(folder: Path, sources: Mapping[str, Source | None]) -> None:
    """Write the `sources` of the index in `folder`, if there are any."""
    lines = (
        json.dumps({"path": path, **asdict(source)}) + "\n"
        for path, source in sources.items()
        if source
    )
    if first := next(lines, ""):
        with (folder / FILE).open("w", encoding="utf-8") as file:
            file.write(first)
            file.writelines(lines)


def read_sources(folder: Path) -> dict[str, Source]:
    """Return the files that the index in `folder` was read from, by path; {} if it has no note."""
    sources = {}
    try:
        with (folder / FILE).open(encoding="utf-8") as file:
            for line in file:
                facts = json.loads(line)
                path = facts.pop("path")
                sources[path] = Source(**facts)
    except FileNotFoundError:
        return {}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SearchError(f"{folder}: {FILE} is damaged; {REMEDY}") from error
    return sources


@dataclass
class FileChanges:
    """What has become of files, by their absolute paths."""

    new: list[str]
    changed: list[str]
    gone: list[str]
    same: frozenset[str]
    ids: list[str]  # of documents that changed and gone files had, and no other file has


def changes_of(
    paths: Sequence[Path], form: str | None, sources: Mapping[str, Source]
) -> FileChanges:
    """Return what has become of the files in `paths` since they were read as `sources` say."""
    listed = {place_of(file): file for file, _ in corpus_files(paths, form, Account())}
    roots = [place_of(path) for path in paths]
    below = tuple(f"{root.rstrip(os.sep)}{os.sep}" for root in roots)
    known = {path for path in sources if path in roots or path.startswith(below)}
    gone = sorted(path for path in known - listed.keys() if is_gone(Path(path)))
    if gone and not listed:
        raise SearchError(
            f"{paths[0]}: none of {len(gone):,} files is there any more; is its disk mounted? "
            "To delete documents all the same, use --delete"
        )
    same = frozenset(path for path in known & listed.keys() if is_same(listed[path], sources[path]))
    left = {*gone, *(known & listed.keys() - same)}
    # A document may be in several files. All of these are read again, so that it is the last one's.
    again = {name for path in left for name in sources[path].ids}
    same = frozenset(path for path in same if again.isdisjoint(sources[path].ids))
    kept = {name for path, source in sources.items() if path not in left for name in source.ids}
    return FileChanges(
        new=[path for path in listed if path not in known],
        changed=[path for path in listed if path in left],
        gone=gone,
        same=same,
        ids=[name for path in sorted(left) for name in sources[path].ids if name not in kept],
    )
