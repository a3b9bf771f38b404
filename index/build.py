"""An index on disk: built or updated whole or not at all, opened only if no byte has changed. [I/O]

A folder holds `lucene/`, `forward/` and `manifest.json`. It is never changed: an update makes a new
folder, which shares the files of Lucene that stay the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from . import jvm
from .forward import Forward
from .forward_writing import ForwardWriter, TermCounter
from .java import ANALYZER
from .lucene import K1, B, LuceneIndex, check_bm25
from .manifest import (
    FORMAT,
    REMEDY,
    Fingerprint,
    faults_of,
    read_manifest,
    sync,
    write_manifest,
)
from .model import Account, Document, Progress, SearchError, silent
from .writing import LuceneWriter

SAMPLE = 50  # rows whose numbers are compared when an index is opened
READ = 1000  # documents read at a time
LAST_CHANGES = 50  # that a manifest remembers


def build_index(
    documents: Iterable[Document],
    counter: TermCounter,
    folder: Path,
    *,
    account: Account,
    k1: float = K1,
    b: float = B,
    heap: str = "2g",
    progress: Progress = silent,
) -> dict[str, Any]:
    """Build an index into a folder that is not there yet, and return its manifest.

    Of documents with the same id the last one stays; the account counts the others.
    """
    check_bm25(k1, b)
    jvm.start(heap)
    with _whole(folder) as made, _Halves(made, counter) as halves:
        halves.add(documents, account, progress)
        settings = {"analyzer": ANALYZER, "k1": k1, "b": b}
        return halves.finish({"format": FORMAT, **settings, "account": asdict(account)})


def update_index(
    old: Path,
    documents: Iterable[Document],
    counter: TermCounter,
    folder: Path,
    *,
    delete: Collection[str] = (),
    account: Account,
    heap: str = "2g",
    progress: Progress = silent,
) -> dict[str, Any]:
    """Delete documents of an index and add others, into a new folder; return its manifest.

    The result finds and ranks as one built anew. An added document replaces the one with its id.
    """
    lucene, forward = open_index(old, heap=heap)  # checked: no damage is passed on
    try:
        manifest = read_manifest(old)
        with _whole(folder) as made, _Halves(made, counter, _Base(old, lucene, forward)) as halves:
            missing = halves.delete(delete)
            halves.add(documents, account, progress)
            if not any(halves.change.values()):
                raise SearchError(_nothing(old, missing, account))
            change = {**halves.change, "missing": missing, "account": asdict(account)}
            changes = [*manifest.get("changes", []), change][-LAST_CHANGES:]
            return halves.finish({**manifest, "changes": changes})
    finally:
        lucene.close()


def open_index(
    folder: Path,
    *,
    heap: str = "2g",
    k1: float | None = None,
    b: float | None = None,
    title_boost: float = 0.0,
) -> tuple[LuceneIndex, Forward]:
    """Open an index after checking every file; refuse one that is not as it was built.

    k1 and b are those it was built with, unless others are given.
    """
    manifest = read_manifest(folder)
    for fault in faults_of(folder, manifest):
        raise SearchError(f"{folder}: {fault}; {REMEDY}")
    jvm.start(heap)
    chosen = {"k1": manifest["k1"] if k1 is None else k1, "b": manifest["b"] if b is None else b}
    return _aligned(folder, manifest["counts"]["documents"], **chosen, title_boost=title_boost)


def open_forward(folder: Path) -> Forward:
    """Open the document vectors of an index alone, which need no Java, after the same checks."""
    for fault in faults_of(folder, read_manifest(folder)):
        raise SearchError(f"{folder}: {fault}; {REMEDY}")
    return Forward.open(folder / "forward")


def check_index(folder: Path) -> list[str]:
    """Return what is wrong with an index, one plain line each; nothing if it is good."""
    try:
        manifest = read_manifest(folder)
        faults = list(faults_of(folder, manifest))
        if not faults:
            _aligned(folder, manifest["counts"]["documents"])[0].close()
    except SearchError as error:
        return [str(error)]
    return faults


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """Make a folder under another name, and give it its own only if all goes well."""
    if folder.exists():
        raise SearchError(f"{folder} is there already; name a new folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            made = Path(beside, "index")
            made.mkdir()
            yield made
            made.rename(folder)
            sync(folder.parent)
    except OSError as error:
        said = error.strerror or error
        raise SearchError(f"{folder} can't be written ({said}); see to room and rights") from error


class _Base:
    """An index that is extended."""

    def __init__(self, folder: Path, lucene: LuceneIndex, forward: Forward) -> None:
        manifest = read_manifest(folder)
        self.folder, self.lucene, self.forward = folder, lucene, forward
        self.next: int = manifest["next"]
        self.fingerprint: str = manifest["fingerprint"]
        ids = lucene.ids(np.arange(lucene.size)).tolist()
        self.number = dict(zip(ids, forward.numbers.tolist(), strict=True))

    def parts(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield what some documents gave to the fingerprint."""
        rows = np.searchsorted(self.forward.numbers, sorted(numbers))
        for low in range(0, rows.size, READ):
            for document in self.lucene.documents(rows[low : low + READ].tolist()):
                yield Fingerprint().add(document)


class _Halves:
    """Both halves of an index under way, written in step."""

    def __init__(self, folder: Path, counter: TermCounter, base: _Base | None = None) -> None:
        self._folder, self._base = folder, base
        self._first = self._next = base.next if base else 0
        self._number = base.number if base else {}  # id -> number
        self._fingerprint = Fingerprint(base.fingerprint if base else "0")
        self._parts = bytearray()  # what each new document gave to the fingerprint
        self._gone: list[int] = []  # documents of the base
        self.change = {"added": 0, "replaced": 0, "deleted": 0}
        if base:
            _link(base.folder / "lucene", folder / "lucene")
        extended = base.forward if base else None
        with ExitStack() as stack:
            forward = ForwardWriter(folder / "forward", counter, self._first, extended)
            self._forward = stack.enter_context(closing(forward))
            lucene = LuceneWriter(folder / "lucene", self._first)
            self._lucene = stack.enter_context(closing(lucene))
            self._open = stack.pop_all()

    def add(self, documents: Iterable[Document], account: Account, progress: Progress) -> None:
        """Add documents; the last one with an id stays."""
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
            self._lucene.add(document)
            progress(done)
        self.change["added"] = self._next - self._first - account.duplicates
        if not self._number:
            raise SearchError(f"no document is left to index (skipped: {_skipped(account)})")

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents; return how many of the ids are not there."""
        missing = 0
        for each in dict.fromkeys(ids):
            number = self._number.pop(each, None)
            if number is None:
                missing += 1
            else:
                self._drop(number)
                self.change["deleted"] += 1
        return missing

    def _drop(self, number: int) -> None:
        self._forward.drop(number)
        self._lucene.drop(number)
        new = 32 * (number - self._first)
        if new < 0:
            self._gone.append(number)
        else:
            self._fingerprint.remove(bytes(self._parts[new : new + 32]))

    def finish(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Write all that waits, open the result as a judge, and seal it with a manifest."""
        for part in self._base.parts(self._gone) if self._base else ():
            self._fingerprint.remove(part)
        self._lucene.commit(one_segment=self._base is None)
        documents = len(self._number)
        counts = {"documents": documents, "terms": self._forward.write()}
        self._open.close()
        _aligned(self._folder, documents)[0].close()
        rest = {"counts": counts, "fingerprint": str(self._fingerprint), "next": self._next}
        write_manifest(self._folder, {**facts, **rest})
        return read_manifest(self._folder)

    def __enter__(self) -> _Halves:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _skipped(account: Account) -> str:
    return ", ".join(f"{reason}: {count}" for reason, count in account.skipped.items()) or "none"


def _nothing(old: Path, missing: int, account: Account) -> str:
    """Say why an update would change nothing."""
    none = f"it has none of the ids to delete (asked for: {missing:,}); ids are compared exactly"
    return f"{old} stays as it is: " + (
        none if missing else f"nothing was added (skipped: {_skipped(account)})"
    )


def _link(old: Path, new: Path) -> None:
    """Share the files of a folder, or copy them where a disk can't share; none is ever changed."""
    new.mkdir()
    for path in old.iterdir():
        try:
            os.link(path, new / path.name)
        except OSError:
            shutil.copyfile(path, new / path.name)


def _aligned(
    folder: Path, documents: int, k1: float = K1, b: float = B, title_boost: float = 0.0
) -> tuple[LuceneIndex, Forward]:
    """Open both halves, and compare their sizes and the numbers of a sample of rows."""
    forward = Forward.open(folder / "forward")
    lucene = LuceneIndex(folder / "lucene", k1, b, title_boost)
    same = documents == lucene.size == forward.documents
    rows = np.unique(np.linspace(0, documents - 1, SAMPLE, dtype=np.int64))
    if same and lucene.numbers(rows.tolist()) == forward.numbers[rows].tolist():
        return lucene, forward
    lucene.close()
    raise SearchError(f"{folder}: Lucene's and the forward index's documents differ; {REMEDY}")
