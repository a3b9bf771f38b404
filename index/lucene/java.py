"""Java classes for Python; threads use them in turns, and errors become one line. [I/O]"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ..model import SearchError
from . import jvm

ENGLISH = "en"
# How a manifest names the analysis of a language; the others are Lucene's own.
ANALYZERS = {
    ENGLISH: "DefaultEnglishAnalyzer, porter",
    "de": "GermanAnalyzer",
    "fr": "FrenchAnalyzer",
}
RENAME = "rename that folder, or name another one with --workspace"
FULL = "Java's memory is full; set a larger heap in the workspace's veilsearch.toml"


@cache
def java(name: str) -> Any:
    """Return the Java class with the full name `name`."""
    return jvm.bridge().autoclass(name)


def class_of(name: str) -> Any:
    """Return Java's Class object for `name`, which is [I for an array of ints."""
    return java("java.lang.Class").forName(name)


def signature(text: str) -> Any:
    """Return the type of a method by its descriptor `text`, such as (I)V."""
    return java("java.lang.invoke.MethodType").fromMethodDescriptorString(text, None)


def handles() -> Any:
    """Return the class that composes methods to loops that run only in Java."""
    return java("java.lang.invoke.MethodHandles")


@cache
def lookup() -> Any:
    """Return the object that finds methods to compose."""
    return handles().publicLookup()


def method(owner: str, name: str, kind: str) -> Any:
    """Return the method `name` of the class `owner`, with the descriptor `kind`, to compose."""
    return lookup().findVirtual(class_of(owner), name, signature(kind))


@cache
def analyzer(language: str) -> Any:
    """Return the analysis of all text in `language`: Lucene's, or Anserini's of English."""
    if language != ENGLISH:
        return java(f"org.apache.lucene.analysis.{language}.{ANALYZERS[language]}")()
    return java("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter")


def directory(folder: Path) -> Any:
    """Return `folder` as Lucene takes it."""
    try:
        # Java runs in UTF-8, whatever Python's locale is.
        name = os.fsencode(folder.resolve()).decode()
    except UnicodeDecodeError as error:
        raise SearchError(f"{folder}: Lucene needs a path in UTF-8; {RENAME}") from error
    path = java("java.nio.file.Paths").get(name)
    return java("org.apache.lucene.store.MMapDirectory")(path)


def refuse_no_room(size: int) -> None:
    """Raise SearchError if Java has no room for arrays of `size` bytes."""
    # pyjnius does not look whether Java made an array: the process would crash.
    runtime = java("java.lang.Runtime").getRuntime()
    for _ in range(2):
        if size < runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory():
            return
        runtime.gc()
    raise SearchError(FULL)


@contextmanager
def talking(subject: object, remedy: str = "") -> Iterator[None]:
    """Let one thread at a time use Java; an error becomes a line about `subject` and a `remedy`."""
    with jvm.talking:
        try:
            yield
        except (jvm.bridge().JavaException, UnicodeError) as error:
            if getattr(error, "classname", "") == "java.lang.OutOfMemoryError":
                raise SearchError(f"{subject}: {FULL}") from error
            line = str(getattr(error, "innermessage", None) or error).split("\n")[0]
            raise SearchError(f"{subject}: Lucene says: {line}{remedy}") from error
