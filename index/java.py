"""Java classes as Python sees them; threads talk to them in turns, errors become a line. [I/O]"""

from __future__ import annotations

import os
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


def class_of(name: str) -> Any:
    """Return the object Java has for a class, as [I for an array of ints."""
    return java("java.lang.Class").forName(name)


def signature(text: str) -> Any:
    """Return a method's type by its descriptor, as (I)V."""
    return java("java.lang.invoke.MethodType").fromMethodDescriptorString(text, None)


def handles() -> Any:
    """Return what composes methods to loops that run in Java alone."""
    return java("java.lang.invoke.MethodHandles")


@cache
def lookup() -> Any:
    """Return what finds methods to compose."""
    return handles().publicLookup()


@cache
def analyzer() -> Any:
    """Return the analysis of all indexed text: Anserini's, with Porter's stemmer."""
    return java("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter")


def directory(folder: Path) -> Any:
    """Return a folder as Lucene takes it."""
    name = os.fsencode(folder.resolve()).decode()  # Java runs in UTF-8 whatever Python's locale is
    path = java("java.nio.file.Paths").get(name)
    return java("org.apache.lucene.store.MMapDirectory")(path)


@contextmanager
def talking(subject: object, remedy: str = "") -> Iterator[None]:
    """Talk to Java, one thread at a time; what it raises becomes one plain line."""
    with jvm.talking:
        try:
            yield
        except (jvm.bridge().JavaException, UnicodeError) as error:
            said = str(getattr(error, "innermessage", None) or error).split("\n")[0]
            raise SearchError(f"{subject}: Lucene says: {said}{remedy}") from error
