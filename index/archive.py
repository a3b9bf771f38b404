"""An archive of Java's classes, made once at set-up: `python -m index.archive`. [I/O]

A JVM that maps it need not read and check the classes: that saves a fifth of a cold search.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from .backends import LuceneBackend
from .build import build_index
from .lucene import jvm
from .model import Account, Document
from .opening import open_index

_HEAP = "256m"
_KEPT = 4  # archives, 23 MB each: the newest, as other environments keep theirs there, too


def make() -> Path | None:
    """Return the archive, made if it is not there; None where it can't be kept or made."""
    made = jvm.archive()
    if made is None or made.exists():
        return made
    with TemporaryDirectory(dir=made.parent, prefix="java") as name:
        listed, dumped = Path(name, "classes"), Path(name, "archive")
        child = [sys.executable, "-m", f"{__package__}.archive", str(listed)]
        java = [
            str(jvm.java_home() / "bin" / "java"),
            "-Xshare:dump",
            "-XX:+UseG1GC",
            f"-Xmx{_HEAP}",
        ]
        java += [f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={dumped}"]
        for command in (child, [*java, "-cp", str(jvm.jar())]):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
        if not dumped.exists():
            return None
        dumped.replace(made)
    archives = sorted(made.parent.glob("java-*.jsa"), key=lambda path: path.stat().st_mtime_ns)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)
    return made


class _OneTerm:
    """Counts one term in each text."""

    terms = ["text"]  # noqa: RUF012

    def count(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        one = np.ones(len(texts), np.int32)
        return one - 1, one, np.cumsum(one, dtype=np.int64)


def list_classes(listed: Path) -> None:
    """Write to `listed` the names of the classes that building and searching an index need."""
    jvm.OPTIONS = (*jvm.OPTIONS, f"-XX:DumpLoadedClassList={listed}")
    with TemporaryDirectory(prefix="veilsearch.") as name:
        folder, lucene = Path(name, "index"), LuceneBackend(_HEAP)
        documents = [Document(str(at), f"title {at}", "some text") for at in range(3)]
        build_index(documents, _OneTerm(), folder, account=Account(), backend=lucene)
        index, _ = open_index(folder, backend=lucene)
        pool = index.pool("some text", 2, deadline=60)
        index.documents(pool.rows.tolist())
        index.ids(pool.rows)
        index.pool('"some text" +title -none', 2, operators=True)
        index.close()


if __name__ == "__main__":
    if sys.argv[1:]:
        list_classes(Path(sys.argv[1]))
    else:
        make()
