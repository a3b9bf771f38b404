"""Build profiles from logs [I/O]."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.model import Profiles, QueryLog
from anonymizer.profiles.building import (
    build_profiles,
    without_people,
    without_robots,
)
from anonymizer.profiles.origins import Origins, origins_path, write_origins
from anonymizer.querylog.reading import ReadReport, Reject, read_log
from anonymizer.storage.files import replaced_whole
from anonymizer.storage.profiles import fingerprint, write_profiles

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from ..workspace.folder import Workspace, write_whole
from ..workspace.profile_choices import (
    ProfilingChoices,
    analysis,
    choices_path,
    hash_of_text,
    held_out_path,
    write_choices,
)
from .town import truth_path

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkEngine, SparkSession


class NobodyNew(UsageError):
    """Everybody in a log is known already."""

    def __init__(self, report: ReadReport):
        super().__init__("everybody in the log has a profile already, so nothing was changed")
        self.report = report


class Built(NamedTuple):
    """Profiles, the queries held back from them, where their terms come from; what was read."""

    profiles: Profiles
    held_out: QueryLog
    origins: Origins | None
    report: ReadReport
    dropped: int | None  # robots; None: the choice was not made


def build_from(
    logs: Sequence[Path],
    settings: Settings,
    choices: ProfilingChoices,
    *,
    form: str | None = None,
    rejects: Path | None = None,
    origins: bool = True,
    known: Collection[str] = (),
) -> Built:
    """Return the profiles of the people in `logs`, except those who are `known`."""
    counter = analysis(choices.terms, settings, phrases=choices.phrases)
    with console.progress("log") as progress, rejects_written(rejects) as on_reject:
        log, report = read_log(logs, progress, form=form, on_reject=on_reject)
    _refuse_no_queries(report)
    if known:
        log = without_people(log, known)
        if not len(log):
            raise NobodyNew(report)
    dropped = None  # unless the choice is made
    if choices.robots is not None:
        log, dropped = without_robots(log, robots=choices.robots, gap=choices.gap)
        _refuse_only_robots(choices, dropped, len(log))
    dated: list[Origins] = []
    with console.progress("profiles") as progress:
        profiles, held_out = build_profiles(
            log,
            counter,
            choices,
            progress=progress,
            on_origins=dated.append if origins else None,
        )
    return Built(profiles, held_out, dated[0] if dated else None, report, dropped)


def build_on(
    engine: SparkEngine,
    logs: Sequence[Path],
    settings: Settings,
    choices: ProfilingChoices,
    *,
    form: str | None = None,
    rejects: Path | None = None,
    origins: bool = True,
) -> Built:
    """Return the profiles of the people in `logs`, which the `engine` makes."""
    from anonymizer.backends.log_profiles import PartChoices
    from anonymizer.backends.spark_logs import profiles_on

    # Compiles WordNet here, if need be. Workers get the cache's place, and no other setting.
    analysis(choices.terms, settings, phrases=choices.phrases)
    bare = Settings(cache=settings.cache.absolute())
    analyse = partial(analysis, choices.terms, bare, phrases=choices.phrases)

    def on_read(report: ReadReport, dropped: int | None, left: int) -> None:
        _refuse_no_queries(report)
        _refuse_only_robots(choices, dropped, left)

    # Rejects are kept in memory only if somebody wants them in a file.
    with on_cluster(engine, "profiles") as cluster, rejects_written(rejects) as on_reject:
        made = profiles_on(
            cluster,
            logs,
            PartChoices(choices, choices.robots, analyse, origins),
            form=form,
            parts=engine.parts,
            on_reject=on_reject if rejects else None,
            on_read=on_read,
        )
    return Built(*made)


@contextmanager
def on_cluster(engine: SparkEngine, label: str) -> Iterator[SparkSession]:
    """Give a session on the cluster of `engine`, whose tasks are shown under the name `label`."""
    from anonymizer.backends.spark import connected

    with console.shares(label) as progress, connected(engine.master, progress) as cluster:
        yield cluster


def _refuse_no_queries(report: ReadReport) -> None:
    """Refuse a log without a query, by its `report`, and say what is doubtful of another."""
    if not report.events and report.rejected:
        why = (*report.doubts, place_of(report.first_rejects[0]))[0]
        raise UsageError(f"no line of the log is a query; {why}")
    for doubt in report.doubts:
        console.say(f"nearly every line was rejected: {doubt}")


def _refuse_only_robots(choices: ProfilingChoices, dropped: int | None, left: int) -> None:
    if dropped and not left:
        raise UsageError(f"--drop-robots {choices.robots} drops everybody; raise it or --gap")


def write_profiles_of(
    logs: Sequence[Path],
    output: Path,
    settings: Settings,
    choices: ProfilingChoices,
    *,
    form: str | None = None,
    rejects: Path | None = None,
    origins: bool = True,
    engine: SparkEngine | None = None,
) -> dict[str, Any]:
    """Read `logs`, write profiles to `output`, and return what was read and made."""
    from .serving import changes, served_release

    workspace = Workspace(settings.workspace)
    check_outputs(logs, output, rejects)
    build = partial(build_on, engine) if engine else build_from
    built = build(logs, settings, choices, form=form, rejects=rejects, origins=origins)
    profiles = built.profiles
    # A release belongs to the profiles it was made from, so now there is none.
    for change in changes(served_release(workspace), None):
        console.say(str(change))
    # Before the profiles change: if this process is killed, the invented names of a town must not
    # stand with real people's profiles.
    workspace.make_current(truth="", log_sha256="")
    for path in (held_out_path(output), origins_path(output)):  # they belong to the old profiles
        with plain_when_writing(path):
            path.unlink(missing_ok=True)
    write_profiles(profiles, output)
    made_from = fingerprint(profiles)
    kept_back = held_out_lines(built.held_out) if choices.test_share else ""
    write_choices(output, made_from, vars(choices), hash_of_text(kept_back))
    if built.origins:
        write_origins(built.origins, output, made_from)
    if choices.test_share:
        write_whole(held_out_path(output), kept_back)
    truth, sha256 = synthetic_truth(logs, workspace)
    workspace.make_current(
        profiles=workspace.relative(output), release="", truth=truth, log_sha256=sha256
    )
    return about(built, profiles, output, choices)


def about(
    built: Built, profiles: Profiles, output: Path, choices: ProfilingChoices
) -> dict[str, Any]:
    """Return what was read when profiles were `built`, and what the `profiles` at `output` are."""
    return {
        "profiles": str(output),
        "users": len(profiles),
        "terms": len(profiles.terms),
        "mean_size": float(profiles.sizes.mean()),
        "log": read_of(built.report),
        "robots_dropped": built.dropped,
        "choices": dict(vars(choices)),
    }


def read_of(report: ReadReport) -> dict[str, Any]:
    """Return what was read of a log, by `report`."""
    return {**vars(report), "first_rejects": [*map(place_of, report.first_rejects)]}


def held_out_lines(held_out: QueryLog, before: int = 0) -> str:
    """Return the lines of the queries `held_out`, numbered after those `before` them."""
    queries = enumerate(held_out.user.tolist())
    lines = (f"q{before + i + 1}\t{held_out.users[u]}\t{held_out.text(i)}\n" for i, u in queries)
    return "".join(lines)


def check_outputs(logs: Sequence[Path], output: Path, rejects: Path | None) -> None:
    """Refuse outputs that are a log or the same file, even through links."""
    written = [("-o", output)]
    if output.name:
        companions = (held_out_path, choices_path, origins_path)
        written += [("-o", path_of(output)) for path_of in companions]
    if rejects:
        for _, path in written:
            if _is_same(rejects, path):
                raise UsageError(f"--rejects {rejects} is a file that -o writes; name another")
        written.append(("--rejects", rejects))
    for option, path in written:
        for log in logs:
            if _is_same(path, log):
                raise UsageError(f"{option} would write over the log {log}; name another file")


def _is_same(one: Path, other: Path) -> bool:
    with suppress(OSError):  # one of them is not there yet
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def rejects_written(path: Path | None) -> Iterator[Callable[[Reject], object]]:
    """Give a function that writes a reject to `path`, if any, as a line of JSON."""
    if path is None:
        yield lambda _reject: None
        return
    # The file appears whole or not at all, readable by its owner only: it names bad lines of a log.
    with replaced_whole(path, plain=plain_when_writing) as file:

        def write(reject: Reject) -> None:
            record = dict(zip(("file", "line", "reason"), reject, strict=True))
            with plain_when_writing(path):
                file.write(f"{json.dumps(record)}\n".encode())

        yield write


def synthetic_truth(logs: Sequence[Path], workspace: Workspace) -> tuple[str, str]:
    """Return the truth's path and the log's hash if `logs` is one unchanged synthetic log."""
    if len(logs) != 1 or not truth_path(logs[0]).is_file():
        return "", ""
    sha256 = hashlib.sha256(logs[0].read_bytes()).hexdigest()
    try:
        truth = json.loads(truth_path(logs[0]).read_text(encoding="utf-8"))
        same = truth["log_sha256"] == sha256
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    return (workspace.relative(truth_path(logs[0])), sha256) if same else ("", "")


def place_of(reject: tuple[str, int, str]) -> str:
    """Return where and why `reject` was rejected, without its text, which is private."""
    file, line, reason = reject
    return f"{file}, line {line}: {reason}"


def log_at(logs: Sequence[Path], *, form: str | None = None, folded: bool = True) -> QueryLog:
    """Return the query log in the files `logs`; say how many lines of it were rejected, and why."""
    with console.progress("log") as progress:
        log, report = read_log(logs, progress, form=form, folded=folded)
    say_rejected(report)
    return log


def say_rejected(report: ReadReport) -> None:
    """Say how many lines of a log were rejected, and why, by its `report`."""
    if report.rejected:
        rejected = count(report.rejected, "line was", "lines were")
        why = (*report.doubts, place_of(report.first_rejects[0]))[0]
        console.say(f"{rejected} rejected, the first one: {why}")
