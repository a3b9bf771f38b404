"""An index on disk: built or updated, completely or not at all. [I/O]

A folder holds `lucene/`, `forward/` and `manifest.json`; without `lucene/` the index is in a
cluster. It never changes: an update makes a new folder, which shares those files of Lucene that
stay the same.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from .backends import LUCENE, Backend, FilledIndex, NewBuild, OpenSearchBackend, start_java
from .forward.reading import Forward
from .forward.writing import ForwardWriter, TextCounter
from .lucene.java import ANALYZERS, ENGLISH
from .lucene.searching import K1, B
from .manifest import FORMAT, Fingerprint, read_manifest, sync, write_manifest
from .model import Account, Document, NothingChanged, Progress, SearchError, silent
from .opening import aligned, open_index
from .sources import read_sources, write_sources

READ = 1000  # documents that are read together
LAST_CHANGES = 50  # that a manifest lists


def build_index(
    documents: Iterable[Document],
    counter: TextCounter,
    folder: Path,
    *,
    account: Account,
    bm25: tuple[float, float] = (K1, B),
    language: str = ENGLISH,
    backend: Backend = LUCENE,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Build an index of the last of `documents` with each id in `folder`; return its manifest.

    Its words are analyzed as words of `language`, and `bm25` are k1 and b.
    """
    start_java(backend)
    facts = {"format": FORMAT, "analyzer": ANALYZERS[language], "k1": bm25[0], "b": bm25[1]}
    with _whole(folder) as made, _Halves(made, folder, counter, facts, backend) as halves:
        halves.add(documents, account, progress)
        write_sources(made, account.sources)
        return halves.finish({"account": _stated(account)})


def update_index(
    old: Path,
    documents: Iterable[Document],
    counter: TextCounter,
    folder: Path,
    *,
    delete: Collection[str] = (),
    account: Account,
    backend: Backend = LUCENE,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Build `old` again in `folder`, less `delete`, plus `documents`; return its manifest."""
    # Opening checks every file, so no damage is passed on.
    index, forward = open_index(old, backend=backend)
    try:
        manifest, base = read_manifest(old), _Base(old, index, forward)
        with (
            _whole(folder) as made,
            _Halves(made, folder, counter, manifest, backend, base) as halves,
        ):
            missing = halves.delete(delete)
            halves.add(documents, account, progress)
            if not any(halves.change.values()):
                why = f"it has none of the {missing:,} ids to delete; ids are compared exactly"
                if not missing:
                    why = f"nothing was added (skipped: {_skipped(account)})"
                raise NothingChanged(f"{old} stays as it is: {why}")
            write_sources(made, {**read_sources(old), **account.sources})
            change = {**halves.change, "missing": missing, "account": _stated(account)}
            changes = [*manifest.get("changes", []), change][-LAST_CHANGES:]
            return halves.finish({"changes": changes})
    finally:
        index.close()


def copy_index(folder: Path, backend: OpenSearchBackend) -> dict[str, Any]:
    """Copy the files of the index that is current in the cluster to `folder`; return its manifest.

    The index is the one of the name that `folder` is a build of.
    """
    with _whole(folder) as made:
        backend.copy(_name_of(folder), made)
        open_index(made, backend=backend)[0].close()
    return read_manifest(folder)


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """Yield a folder under a temporary name, which becomes `folder` if all goes well."""
    if folder.exists():
        raise SearchError(f"{folder} exists already; name a new folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # The name of all temporaries. A sweep of unfinished files leaves alone what is locked.
        room = folder.with_name(f".{folder.name}.veil{token_hex(2)}")
        try:
            room.mkdir(mode=0o700)
            with (room / "lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                (room / "new").mkdir()
                yield room / "new"
                (room / "new").rename(folder)
                sync(folder.parent)
        finally:
            try:
                if room.exists():
                    shutil.rmtree(room)
            except KeyboardInterrupt:  # Ctrl+C in the midst of tidying up leaves nothing either
                shutil.rmtree(room, ignore_errors=True)
                raise
    except OSError as error:
        why = error.strerror or error
        raise SearchError(f"{folder} can't be written ({why}); check space and rights") from error


class _Base:
    """An index that is extended."""

    def __init__(self, folder: Path, index: FilledIndex, forward: Forward) -> None:
        manifest = read_manifest(folder)
        self.folder, self.index, self.forward = folder, index, forward
        self.next: int = manifest["next"]
        self.fingerprint: str = manifest["fingerprint"]
        ids = index.ids(np.arange(index.size)).tolist()
        self.number = dict(zip(ids, forward.numbers.tolist(), strict=True))

    def parts(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield what the documents of `numbers` added to the fingerprint."""
        rows = np.searchsorted(self.forward.numbers, sorted(numbers))
        for low in range(0, rows.size, READ):
            for document in self.index.documents(rows[low : low + READ].tolist()):
                yield Fingerprint().add(document)


class _Halves:
    """Both halves of an unfinished index, written in step."""

    def __init__(
        self,
        folder: Path,
        final: Path,
        counter: TextCounter,
        facts: dict[str, Any],
        backend: Backend,
        base: _Base | None = None,
    ) -> None:
        self._folder, self._backend, self._base = folder, backend, base
        self._first = self._next = base.next if base else 0
        self._number = base.number if base else {}  # id -> number
        self._fingerprint = Fingerprint(base.fingerprint if base else "0")
        self._parts = bytearray()  # what each new document added to the fingerprint
        self._gone: list[int] = []  # numbers of documents of the base that are dropped
        self.change = {"added": 0, "replaced": 0, "deleted": 0}
        extended = base.forward if base else None
        new = NewBuild(folder, _name_of(final), facts, self._first, base.folder if base else None)
        # If the second writer can't be opened, the first is closed.
        with ExitStack() as stack:
            forward = ForwardWriter(folder / "forward", counter, self._first, extended)
            self._forward = stack.enter_context(closing(forward))
            writer, more = backend.writer(new)
            self._writer = stack.enter_context(closing(writer))
            self._open = stack.pop_all()
        self._facts = {**facts, **more}

    def add(self, documents: Iterable[Document], account: Account, progress: Progress) -> None:
        """Add `documents`; of those with one id the last is kept."""
        for done, document in enumerate(documents, 1):
            earlier = self._number.get(document.id)
            if earlier is not None:
                self._drop(earlier)
                account.duplicates += earlier >= self._first
                self.change["replaced"] += earlier < self._first
            self._number[document.id] = self._next
            self._next += 1
            self._parts += self._fingerprint.add(document)
            self._forward.add(f"{document.title} {document.text}")
            self._writer.add(document)
            progress(done)
        self.change["added"] = self._next - self._first - account.duplicates
        if not self._number:
            raise SearchError(f"there is no document to index (skipped: {_skipped(account)})")

    def delete(self, ids: Iterable[str]) -> int:
        """Delete the documents of `ids`; return how many of the ids are not there."""
        missing = 0
        for name in dict.fromkeys(ids):
            number = self._number.pop(name, None)
            if number is None:
                missing += 1
            else:
                self._drop(number)
                self.change["deleted"] += 1
        return missing

    def _drop(self, number: int) -> None:
        self._forward.drop(number)
        self._writer.drop(number)
        # Each new document has 32 bytes, a SHA-256, in `_parts`.
        new = 32 * (number - self._first)
        if new < 0:
            self._gone.append(number)
        else:
            self._fingerprint.remove(bytes(self._parts[new : new + 32]))

    def finish(self, more: dict[str, Any]) -> dict[str, Any]:
        """Write all that waits, check it, and write the manifest, which says `more`; return it."""
        for part in self._base.parts(self._gone) if self._base else ():
            self._fingerprint.remove(part)
        self._writer.commit(one_segment=self._base is None)
        documents = len(self._number)
        counts = {"documents": documents, "terms": self._forward.write()}
        self._open.close()
        aligned(self._folder, documents, self._facts, self._backend)[0].close()
        rest = {"counts": counts, "fingerprint": str(self._fingerprint), "next": self._next}
        write_manifest(self._folder, {**self._facts, **more, **rest})
        manifest = read_manifest(self._folder)
        self._backend.keep(self._folder, manifest)
        return manifest

    def __enter__(self) -> _Halves:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _name_of(folder: Path) -> str:
    """Return the name of the index of which `folder` is a build."""
    return folder.name.rpartition(".")[0] or folder.name


def _stated(account: Account) -> dict[str, Any]:
    """Return what a manifest states of `account`: all but the files, which have their own note."""
    facts = asdict(replace(account, sources={}))
    del facts["sources"]
    return facts


def _skipped(account: Account) -> str:
    return ", ".join(f"{reason}: {count}" for reason, count in account.skipped.items()) or "none"
