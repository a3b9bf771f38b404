"""Java classes as Python sees them; threads talk to them in turns, errors become a line. [I/O]"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from . import jvm
from .model import SearchError

ANALYZER = "DefaultEnglishAnalyzer, porter"


@cache
def java(name: str) -> Any:
    """Return a Java class by its full name."""
    return jvm.bridge().autoclass(name)


@cache
def analyzer() -> Any:
    """Return the analysis of all indexed text: Anserini's, with Porter's stemmer."""
    return java("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter")


def directory(folder: Path) -> Any:
    """Return a folder as Lucene takes it."""
    path = java("java.nio.file.Paths").get(str(folder.resolve()))
    return java("org.apache.lucene.store.MMapDirectory")(path)


@contextmanager
def talking(subject: object) -> Iterator[None]:
    """Talk to Java, one thread at a time; what it raises becomes one plain line."""
    with jvm.talking:
        try:
            yield
        except (jvm.bridge().JavaException, UnicodeError) as error:
            said = str(getattr(error, "innermessage", None) or error).split("\n")[0]
            raise SearchError(f"{subject}: Lucene says: {said}") from error
