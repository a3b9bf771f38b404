"""Runs of experiments, read once, and again when a file has changed."""

from __future__ import annotations

import heapq
import re
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from ...experiments.report.report import FAILS, HOLDS, UNDECIDED, Report, from_record
from ...workspace.folder import check_of
from .files import (
    RunFolder,
    Stamp,
    UnfitError,
    folders_in,
    is_folder,
    outline_of,
    read_file,
    read_object,
    stamp_of,
    written_at,
)
from .means import Mean, read_means

FORMATS = (1, 2)  # only the second has a hash of run.json itself
MANIFEST = "run.json"
LISTED = 100  # runs of a list
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
COUNTS = ("people", "queries", "units", "rows")
KINDS = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv"}  # a figure's files
FILES = {
    "summary.csv": "text/csv",
    "units.csv": "text/csv",
    "report.json": "application/json",
    "experiment.toml": "text/plain",
}
_TAKEN = {"compare"}  # addresses of other pages
_FIGURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_LARGEST = 1e15  # of a number that is shown
_LONGEST = 300  # characters of a title or a setting
_MOST = 200  # settings shown, and runs kept: more than are listed
_DEEPEST = 4  # levels of settings within settings
Made = TypeVar("Made")
Pairs = tuple[tuple[str, str], ...]


class VerdictCounts(NamedTuple):
    """How many claims have each verdict."""

    holds: int
    fails: int
    undecided: int


@dataclass(frozen=True)
class Run:
    """The sound parts of a run's folder; its faults say what is wrong with the others."""

    name: str  # of the folder
    title: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    inputs: Pairs = ()
    provenance: Pairs = ()
    finished: str = ""  # day and time in UTC
    report: Report | None = None  # its figures are those with a picture that fits
    hashes: Mapping[str, object] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # of FILES, those that fit
    pictures: tuple[str, ...] = ()  # files of figures that fit, such as figure-2.svg
    summary: bytes = b""
    faults: tuple[str, ...] = ()

    @property
    def tally(self) -> VerdictCounts | None:
        """Return how many claims have each verdict; None without a report."""
        if self.report is None:
            return None
        verdicts = [claim.verdict for claim in self.report.claims]
        return VerdictCounts(*(verdicts.count(verdict) for verdict in (HOLDS, FAILS, UNDECIDED)))

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """Return the means in the summary."""
        # Only comparisons of runs need them, so most summaries are never read.
        return read_means(self.summary)

    def files_of(self, figure: str) -> list[str]:
        """Return the names of the files of `figure`; its picture comes first."""
        return [name for kind in KINDS if (name := f"{figure}.{kind}") in self.pictures]


class _KeptRun(NamedTuple):
    outline: Stamp
    stamp: Stamp
    run: Run


class Shelf:
    """The runs that were read last; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, _KeptRun] = OrderedDict()

    def latest(self, folder: Path, limit: int = LISTED) -> list[Run]:
        """Return at most `limit` runs in `folder`, latest first, as they were when read."""
        paths = [folder / name for name in runs_in(folder)]
        paths = heapq.nlargest(limit, paths, key=lambda path: written_at(path / MANIFEST))
        runs = [self._known(path) or self._read(path) for path in paths]
        return sorted(runs, key=lambda run: (run.finished, run.name), reverse=True)

    def one(self, folder: Path, name: str) -> Run | None:
        """Return the run `name` in `folder` as its files are now; None where there is none."""
        path = folder / name
        if not is_address(name) or not is_folder(path):
            return None
        with self._lock:
            kept = self._kept.get(path)
        return kept.run if kept and kept.stamp == stamp_of(path) else self._read(path)

    def _known(self, path: Path) -> Run | None:
        """Return the kept run of `path` if it was not written again since."""
        # A list may have hundreds of runs, so only three entries of each are checked. Its own page
        # shows a change in any other file.
        with self._lock:
            kept = self._kept.get(path)
        return kept.run if kept and kept.outline == outline_of(path) else None

    def _read(self, path: Path) -> Run:
        # Stamped first: if a file changes while it is read, the run is read again.
        outline, stamp = outline_of(path), stamp_of(path)
        run = read_run(path)
        with self._lock:
            self._kept[path] = _KeptRun(outline, stamp, run)
            self._kept.move_to_end(path)
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return run


def runs_in(folder: Path) -> list[str]:
    """Return the names of the folders in `folder` that a page can show."""
    return [name for name in folders_in(folder) if is_address(name) and is_folder(folder / name)]


def is_address(name: str) -> bool:
    """Return whether `name` can be part of an address here."""
    return NAME.fullmatch(name) is not None and name not in _TAKEN


def read_run(path: Path) -> Run:
    """Return the run in the folder `path`; its faults say what is wrong with it."""
    try:
        manifest = read_object(read_file(path, MANIFEST), MANIFEST)
        if manifest.get("format") not in FORMATS:
            raise UnfitError("run.json is of no format that this version reads: 1 or 2")
        if manifest["format"] > 1 and manifest.get("check") != check_of(manifest):
            raise UnfitError("run.json is not what the run wrote")
        if not isinstance(manifest.get("sha256"), dict):
            raise UnfitError("run.json holds no hashes")
    except UnfitError as fault:
        return Run(path.name, faults=(f"{fault}.",))
    folder, faults = RunFolder(path, manifest["sha256"]), list[str]()

    def read(name: str, made: Callable[[bytes], Made]) -> Made | None:
        try:
            return made(folder.read(name))
        except UnfitError as fault:
            faults.append(f"{fault}.")
            return None

    report = read("report.json", lambda text: as_report(read_object(text, "report.json")))
    record = read("provenance.json", lambda text: read_object(text, "provenance.json")) or {}
    names = [figure.name for figure in report.figures] if report else []
    every = [f"{name}.{kind}" for name in names for kind in KINDS]
    pictures = tuple(name for name in every if folder.fits(f"figures/{name}"))
    if missing := [name for name in every if name not in pictures]:
        faults.append(f"figures/{', figures/'.join(missing)}: missing, or not what the run wrote.")
    if report:
        shown = tuple(figure for figure in report.figures if f"{figure.name}.svg" in pictures)
        report = replace(report, figures=shown)
    files = tuple(name for name in FILES if read(name, len) is not None)
    given = manifest.get("counts")
    counts = ((name, given.get(name)) for name in COUNTS) if isinstance(given, Mapping) else ()
    return Run(
        name=path.name,
        title=_text(manifest.get("title", "")),
        # Not isinstance: True is an int too.
        counts={name: n for name, n in counts if type(n) is int and 0 <= n < _LARGEST},
        inputs=_pairs(manifest.get("inputs")),
        provenance=_pairs(record),
        finished=_finished(record.get("finished"), path),
        report=report,
        hashes=manifest["sha256"],
        files=files if report else tuple(name for name in files if name != "report.json"),
        pictures=pictures,
        summary=folder.read("summary.csv") if "summary.csv" in files else b"",
        faults=tuple(dict.fromkeys(faults)),
    )


def as_report(record: Mapping[str, Any]) -> Report:
    """Return `record` as a report; raise UnfitError unless every field is of its type."""
    try:
        report = from_record(record)
        names = [figure.name for figure in report.figures]
        sound = _is(report, Report) and len(set(names)) == len(names)
        sound = sound and all(_FIGURE.fullmatch(name) for name in names)
        sound = sound and all(len(figure.ends) in (0, 4) for figure in report.figures)
        sound = sound and all(len(row) == len(t.head) for t in report.tables for row in t.rows)
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise UnfitError("report.json is no report as this version writes it")
    return report


def _is(value: object, kind: Any) -> bool:
    """Return whether `value` is of `kind`: a text, finite number, tuple, union or record."""
    parts = get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return isinstance(value, kind) and all(
            _is(getattr(value, name), its) for name, its in _fields(kind).items()
        )
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is(item, parts[0]) for item in value)
    if get_origin(kind) in (Union, types.UnionType):
        return any(_is(value, part) for part in parts)
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and -_LARGEST < value < _LARGEST  # type: ignore[operator]
    return isinstance(value, kind)


_fields = cache(get_type_hints)


def _pairs(record: object) -> Pairs:
    pairs = list(_flat(record, "", _DEEPEST)) if isinstance(record, Mapping) else []
    return tuple(pairs[:_MOST])


def _flat(value: object, name: str, deeper: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and deeper:
        for key, inner in value.items():
            yield from _flat(inner, f"{name} {key}".strip(), deeper - 1)
    elif isinstance(value, list):
        yield _text(name), _text(", ".join(map(_text, value[:_MOST])))
    else:
        yield _text(name), _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    if not isinstance(value, str | int | float):
        return "…"
    text = f"{value:,}" if isinstance(value, int) and abs(value) < _LARGEST else f"{value}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _finished(given: object, path: Path) -> str:
    """Return when a run ended as `given`, or else when its manifest was written."""
    with suppress(ValueError, OverflowError):
        return f"{datetime.fromisoformat(str(given)).astimezone(UTC):%Y-%m-%d %H:%M}"
    with suppress(OSError, ValueError, OverflowError):
        return f"{datetime.fromtimestamp(written_at(path / MANIFEST), UTC):%Y-%m-%d %H:%M}"
    return ""
