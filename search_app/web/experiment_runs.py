"""Runs of experiments as the site shows them: read once, and again when a file has changed."""

from __future__ import annotations

import heapq
import re
import threading
import types
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from ..experiments.report import FAILS, HOLDS, UNDECIDED, Report, from_record
from .experiment_files import (
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
from .experiment_means import Mean, read_means

FORMAT = 1
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
_DEEPEST = 4
Pairs = tuple[tuple[str, str], ...]


class Tally(NamedTuple):
    """How many claims got which verdict."""

    holds: int
    fails: int
    undecided: int


@dataclass(frozen=True)
class Run:
    """A run folder: what of it is sound, and in faults what is not."""

    name: str  # of the folder
    title: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    inputs: Pairs = ()
    provenance: Pairs = ()
    finished: str = ""  # day and time in UTC
    report: Report | None = None  # with those figures whose pictures fit
    hashes: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # of FILES, those that fit
    pictures: tuple[str, ...] = ()  # files of figures that fit, such as figure-2.svg
    summary: bytes = b""
    faults: tuple[str, ...] = ()

    @property
    def tally(self) -> Tally | None:
        """Count the claims by verdict."""
        if self.report is None:
            return None
        verdicts = [claim.verdict for claim in self.report.claims]
        return Tally(*(verdicts.count(each) for each in (HOLDS, FAILS, UNDECIDED)))

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """Read the means from the summary, when somebody compares."""
        return read_means(self.summary)

    def files_of(self, figure: str) -> list[str]:
        """List a figure's files, of which the first is its picture."""
        return [name for kind in KINDS if (name := f"{figure}.{kind}") in self.pictures]


class _Kept(NamedTuple):
    outline: Stamp
    stamp: Stamp
    run: Run


class Shelf:
    """The runs read last; any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, _Kept] = OrderedDict()

    def latest(self, folder: Path, most: int = LISTED) -> list[Run]:
        """Return the runs written last in a folder, the latest first, as they were when read."""
        paths = [folder / name for name in runs_in(folder)]
        paths = heapq.nlargest(most, paths, key=lambda path: written_at(path / MANIFEST))
        found = [self._known(path) or self._read(path) for path in paths]
        return sorted(found, key=lambda run: (run.finished, run.name), reverse=True)

    def one(self, folder: Path, name: str) -> Run | None:
        """Return the run of a name as its files are now; None where there is none."""
        path = folder / name
        if not is_address(name) or not is_folder(path):
            return None
        with self._lock:
            kept = self._kept.get(path)
        return kept.run if kept and kept.stamp == stamp_of(path) else self._read(path)

    def _known(self, path: Path) -> Run | None:
        """Return a run that was not written anew: hundreds are listed, so few files are looked at.

        What changed in its figures since is noticed when it is shown.
        """
        with self._lock:
            kept = self._kept.get(path)
        return kept.run if kept and kept.outline == outline_of(path) else None

    def _read(self, path: Path) -> Run:
        outline, stamp = outline_of(path), stamp_of(path)  # first: what changes now is read again
        run = read_run(path)
        with self._lock:
            self._kept[path] = _Kept(outline, stamp, run)
            self._kept.move_to_end(path)
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return run


def runs_in(folder: Path) -> list[str]:
    """Name the folders that a page can show."""
    return [name for name in folders_in(folder) if is_address(name) and is_folder(folder / name)]


def is_address(name: str) -> bool:
    """Tell whether a folder's name can be part of an address here."""
    return NAME.fullmatch(name) is not None and name not in _TAKEN


def odd_names(folder: Path) -> int:
    """Count the folders and links that no page can show."""
    return len(folders_in(folder)) - len(runs_in(folder))


def read_run(path: Path) -> Run:
    """Read a run folder; what is wrong with it is among its faults."""
    try:
        manifest = read_object(read_file(path, MANIFEST), MANIFEST)
        if manifest.get("format") != FORMAT:
            raise UnfitError(f"run.json is not of format {FORMAT}, which this version reads")
        if not isinstance(manifest.get("sha256"), dict):
            raise UnfitError("run.json holds no hashes")
    except UnfitError as fault:
        return Run(path.name, faults=(f"{fault}.",))
    return _sound(path, manifest)


def _sound(path: Path, manifest: Mapping[str, Any]) -> Run:
    """Read what fits its hash."""
    folder, faults = RunFolder(path, manifest["sha256"]), list[str]()
    report, record = _report(folder, faults), _record(folder, faults)
    names = [figure.name for figure in report.figures] if report else []
    every = [f"{name}.{kind}" for name in names for kind in KINDS]
    pictures = tuple(name for name in every if folder.fits(f"figures/{name}"))
    if missing := [name for name in every if name not in pictures]:
        faults.append(f"figures/{', figures/'.join(missing)}: missing, or not what the run wrote.")
    if report:
        shown = tuple(each for each in report.figures if f"{each.name}.svg" in pictures)
        report = replace(report, figures=shown)
    files = tuple(name for name in FILES if _told(folder, name, faults))
    return Run(
        name=path.name,
        title=_text(manifest.get("title", "")),
        counts=_counts(manifest.get("counts")),
        inputs=_pairs(manifest.get("inputs")),
        provenance=_pairs(record),
        finished=_day(record.get("finished")) or _changed(path),
        report=report,
        hashes=manifest["sha256"],
        files=files if report else tuple(name for name in files if name != "report.json"),
        pictures=pictures,
        summary=folder.read("summary.csv") if "summary.csv" in files else b"",
        faults=tuple(dict.fromkeys(faults)),
    )


def _told(folder: RunFolder, name: str, faults: list[str]) -> bool:
    try:
        folder.read(name)
    except UnfitError as fault:
        faults.append(f"{fault}.")
        return False
    return True


def _report(folder: RunFolder, faults: list[str]) -> Report | None:
    try:
        return as_report(read_object(folder.read("report.json"), "report.json"))
    except UnfitError as fault:
        faults.append(f"{fault}.")
        return None


def as_report(record: Mapping[str, Any]) -> Report:
    """Rebuild a report of which every field is what it should be."""
    try:
        report = from_record(record)
        names = [figure.name for figure in report.figures]
        sound = _is(report, Report) and len(set(names)) == len(names)
        sound = sound and all(_FIGURE.fullmatch(name) for name in names)
        sound = sound and all(len(row) == len(t.head) for t in report.tables for row in t.rows)
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise UnfitError("report.json is no report as this version writes it")
    return report


def _is(value: object, kind: Any) -> bool:
    """Tell whether a value is of a type: of texts, finite numbers, tuples and records."""
    parts = get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return isinstance(value, kind) and all(
            _is(getattr(value, name), its) for name, its in _fields(kind).items()
        )
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is(each, parts[0]) for each in value)
    if get_origin(kind) in (Union, types.UnionType):
        return any(_is(value, part) for part in parts)
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and -_LARGEST < value < _LARGEST  # type: ignore[operator]
    return isinstance(value, kind)


@cache
def _fields(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _record(folder: RunFolder, faults: list[str]) -> dict[str, Any]:
    try:
        return read_object(folder.read("provenance.json"), "provenance.json")
    except UnfitError as fault:
        faults.append(f"{fault}.")
        return {}


def _counts(record: object) -> dict[str, int]:
    known = record if isinstance(record, Mapping) else {}
    found = {name: known.get(name) for name in COUNTS}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST
    }


def _pairs(record: object) -> Pairs:
    """Return settings as names and texts, one for each value."""
    found = list(_flat(record, "", _DEEPEST)) if isinstance(record, Mapping) else []
    return tuple(found[:_MOST])


def _flat(value: object, name: str, deeper: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and deeper:
        for key, each in value.items():
            yield from _flat(each, f"{name} {key}".strip(), deeper - 1)
    elif isinstance(value, list):
        yield _text(name), _text(", ".join(map(_text, value[:_MOST])))
    else:
        yield _text(name), _text(value)


def _text(value: object) -> str:
    """Write a single value of JSON for people."""
    if isinstance(value, bool) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    if not isinstance(value, str | int | float):
        return "…"
    text = f"{value:,}" if isinstance(value, int) and abs(value) < _LARGEST else f"{value}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _day(told: object) -> str:
    try:
        return f"{datetime.fromisoformat(str(told)).astimezone(UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return ""


def _changed(path: Path) -> str:
    try:
        return f"{datetime.fromtimestamp(written_at(path / MANIFEST), UTC):%Y-%m-%d %H:%M}"
    except (OSError, ValueError, OverflowError):
        return ""
