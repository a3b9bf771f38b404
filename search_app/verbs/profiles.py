"""veilsearch profiles: turn a query log into profiles."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from ..workspace import Workspace, write_whole
from .town import truth_path

if TYPE_CHECKING:
    from anonymizer.counting import TermCounter
    from anonymizer.model import Profiles, QueryLog
    from anonymizer.origins import Origins
    from anonymizer.querylog import ReadReport, Reject

_DEFAULTS: dict[str, Any] = {
    "size": None,
    "users": None,
    "weights": "binary",
    "granularity": "user",
    "gap": 1_800,
    "test_share": 0.0,
}
_KINDS: dict[str, tuple[type, ...]] = {  # the choices as release.json may have them
    "size": (int, type(None)),
    "users": (int, type(None)),
    "weights": (str,),
    "granularity": (str,),
    "gap": (int,),
    "test_share": (int, float),
    "terms": (str,),
    "phrases": (bool,),
    "robots": (int, type(None)),
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("log", type=Path, nargs="+", metavar="LOG", help="may be .gz or .bz2")
    parser.add_argument(
        "--format",
        choices=("aol", "tsv", "jsonl", "parquet"),
        help="of the logs; else each file's suffix and first lines tell",
    )
    parser.add_argument(
        "--rejects",
        type=Path,
        metavar="FILE",
        help="write file, number and reason of each bad line",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="PROFILES", help=".jsonl or .npz")
    parser.add_argument("--size", type=int, metavar="N", help="the N most frequent terms of a user")
    parser.add_argument("--users", type=int, metavar="N", help="the first N users with SIZE terms")
    parser.add_argument("--weights", default="binary", help="binary, tf, tfidf or recency")
    parser.add_argument(
        "--terms",
        choices=("wordnet", "all", "letters-digits"),
        default="wordnet",
        help="base forms WordNet has, all words, or all words and numbers",
    )
    parser.add_argument(
        "--phrases", action="store_true", help="several words of WordNet may be one term"
    )
    parser.add_argument("--granularity", default="user", help="user or session")
    parser.add_argument("--gap", default="30m", metavar="TIME", help="between sessions (30m)")
    parser.add_argument(
        "--drop-robots", type=int, metavar="N", help="drop who has over N queries in a session"
    )
    parser.add_argument("--test-share", type=float, default=0.0, metavar="X")
    parser.add_argument(
        "--no-origins", action="store_true", help="don't keep when and how often terms were used"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read the log, write the profiles, and make them the workspace's current ones."""
    with Workspace(settings.workspace).writing("profiles"):
        made = write_profiles_of(
            arguments.log,
            arguments.output or settings.workspace / "profiles.jsonl",
            settings,
            form=arguments.format,
            rejects=arguments.rejects,
            terms=arguments.terms,
            phrases=arguments.phrases,
            robots=arguments.drop_robots,
            origins=not arguments.no_origins,
            size=arguments.size,
            users=arguments.users,
            weights=arguments.weights,
            granularity=arguments.granularity,
            gap=seconds(arguments.gap),
            test_share=arguments.test_share,
        )
    _print(made, arguments.json)
    return 0


def write_profiles_of(
    logs: Sequence[Path],
    output: Path,
    settings: Settings,
    *,
    form: str | None = None,
    rejects: Path | None = None,
    terms: str = "wordnet",
    phrases: bool = False,
    robots: int | None = None,
    origins: bool = True,
    **choices: Any,
) -> dict[str, Any]:
    """Read logs, write their profiles and held-out queries, and return what was read and made."""
    from anonymizer.profiles import build_profiles

    workspace = Workspace(settings.workspace)
    _check_outputs(logs, output, rejects)
    counter = analysis(terms, settings, phrases=phrases)
    log, report = _read(logs, form, rejects)
    log, dropped = _without_robots(log, robots, choices)
    dated: list[Origins] = []
    kept = dated.append if origins else None
    with console.progress("profiles") as progress:
        profiles, held_out = build_profiles(
            log, counter, **choices, progress=progress, on_origins=kept
        )
    del log  # a large one takes more memory than its profiles
    workspace.make_current(truth="", log_sha256="")  # lest a kill leaves a town's names beside them
    chosen = {**_DEFAULTS, **choices, "terms": terms, "phrases": phrases, "robots": robots}
    _write(profiles, output, chosen, dated)
    if choices.get("test_share"):
        write_whole(held_out_path(output), _held_out_lines(held_out))
    truth, sha256 = synthetic_truth(logs, workspace)
    workspace.make_current(
        profiles=workspace.relative(output), release="", truth=truth, log_sha256=sha256
    )
    return {**_facts(profiles, report, output), "robots_dropped": dropped, "choices": chosen}


def _check_outputs(logs: Sequence[Path], output: Path, rejects: Path | None) -> None:
    """Refuse to write over a log or twice to one file, whatever links lead there."""
    from anonymizer.origins import origins_path

    written = [("-o", output)]
    if output.name:
        beside = (held_out_path, choices_path, origins_path)
        written += [("-o", path_of(output)) for path_of in beside]
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


def _read(logs: Sequence[Path], form: str | None, rejects: Path | None) -> tuple[Any, ReadReport]:
    from anonymizer.querylog import read_log

    with console.progress("log") as progress, rejects_written(rejects) as on_reject:
        log, report = read_log(logs, progress, form=form, on_reject=on_reject)
    if not len(log) and report.rejected:
        raise UsageError(f"no line of the log is a query; {_place(report.first_rejects[0])}")
    return log, report


def _without_robots(
    log: QueryLog, robots: int | None, choices: Mapping[str, Any]
) -> tuple[QueryLog, int | None]:
    """Return the log without robots, and how many they were, None where nobody asked."""
    from anonymizer.profiles import without_robots

    if robots is None:
        return log, None
    rest, dropped = without_robots(log, robots=robots, gap=choices.get("gap", _DEFAULTS["gap"]))
    if dropped and not len(rest):
        raise UsageError(f"--drop-robots {robots} drops everybody; raise it or --gap")
    return rest, dropped


@contextmanager
def rejects_written(path: Path | None) -> Iterator[Callable[[Reject], object]]:
    """Write each reject that is handed in as a line of JSON; whole or not at all, owner only."""
    if path is None:
        yield lambda _reject: None
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with plain_when_writing(path):
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:

            def write(reject: Reject) -> None:
                record = dict(zip(("file", "line", "reason"), reject, strict=True))
                with plain_when_writing(path):
                    file.write(f"{json.dumps(record)}\n")

            yield write
            with plain_when_writing(path):
                file.flush()
                os.fsync(file.fileno())
        with plain_when_writing(path):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def analysis(terms: str, settings: Settings, *, phrases: bool = False) -> TermCounter:
    """Return the analysis of queries by name."""
    from anonymizer.counting import TermCounter
    from anonymizer.phrases import Phrases
    from anonymizer.text import Analysis, Words
    from anonymizer.wordnet import open_wordnet

    if phrases and terms != "wordnet":
        raise UsageError(f"--phrases needs --terms wordnet, not {terms}: phrases are WordNet's")
    if terms != "wordnet":
        return TermCounter(Words(digits=terms == "letters-digits"))
    wordnet = open_wordnet(settings.cache)
    return TermCounter(Analysis(wordnet), Phrases(wordnet.phrases()) if phrases else None)


def choices_path(profiles: Path) -> Path:
    """Return where the choices that made profiles lie: beside them."""
    return profiles.with_suffix(".made.json")


def _write(
    profiles: Profiles, output: Path, choices: Mapping[str, Any], dated: Sequence[Origins]
) -> None:
    """Write profiles and what belongs to them; what belonged to those before goes first."""
    from anonymizer.origins import origins_path, write_origins
    from anonymizer.profile_file import fingerprint, write_profiles

    for path in (held_out_path(output), origins_path(output)):
        with plain_when_writing(path):
            path.unlink(missing_ok=True)
    write_profiles(profiles, output)
    made_from = fingerprint(profiles)
    write_choices(output, made_from, choices)
    for origins in dated:
        write_origins(origins, output, made_from)


def write_choices(profiles: Path, fingerprint: str, choices: Mapping[str, Any]) -> None:
    """Write beside profiles how they were made."""
    made = {"sha256": fingerprint, "choices": choices}
    write_whole(choices_path(profiles), json.dumps(made, sort_keys=True) + "\n")


def choices_of(profiles: Path, fingerprint: str) -> dict[str, Any]:
    """Return the choices that made profiles; none where they are unknown or other profiles'."""
    from anonymizer.records import read_object

    try:
        made = read_object(choices_path(profiles).read_bytes())
        choices = made["choices"] if made["sha256"] == fingerprint else {}
    except (OSError, ValueError, KeyError, RecursionError):
        return {}
    known = choices.items() if isinstance(choices, dict) else ()
    return {name: value for name, value in known if _is_choice(name, value)}


def _is_choice(name: str, value: object) -> bool:
    """Tell whether a release can say so: a name of ours, and a plain value of its type."""
    if isinstance(value, float) and not math.isfinite(value):  # JSON's 1e999
        return False
    return type(value) in _KINDS.get(name, ())


def seconds(text: str) -> int:
    """Read a length of time such as 30m, 45s, 2h."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "s")
    if not (number.isascii() and number.isdecimal() and len(number) <= 7):
        raise UsageError(f"--gap {text[:20]} must be a whole number with s, m, h or d, like 30m")
    return int(number) * _UNITS[unit]


def synthetic_truth(logs: Sequence[Path], workspace: Workspace) -> tuple[str, str]:
    """Return path and log's hash of the truth of an unchanged synthetic log; else nothing."""
    if len(logs) != 1 or not truth_path(logs[0]).is_file():
        return "", ""
    sha256 = hashlib.sha256(logs[0].read_bytes()).hexdigest()
    try:
        truth = json.loads(truth_path(logs[0]).read_text(encoding="utf-8"))
        same = truth["log_sha256"] == sha256
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    return (workspace.relative(truth_path(logs[0])), sha256) if same else ("", "")


def held_out_path(profiles: Path) -> Path:
    """Return where the held-out queries of profiles lie: beside them."""
    return profiles.with_suffix(".held-out.tsv")


def _held_out_lines(held_out: QueryLog) -> str:
    rows = enumerate(held_out.user.tolist())
    return "".join(f"q{i + 1}\t{held_out.users[u]}\t{held_out.text(i)}\n" for i, u in rows)


def _facts(profiles: Profiles, report: ReadReport, output: Path) -> dict[str, Any]:
    """Sum up what was read and made."""
    return {
        "profiles": str(output),
        "users": len(profiles),
        "terms": len(profiles.terms),
        "mean_size": float(profiles.sizes.mean()),
        "log": {
            "lines": report.lines,
            "events": report.events,
            "repeats": report.repeats,
            "empty": report.empty,
            "headers": report.headers,
            "rejected": report.rejected,
            "reasons": dict(report.reasons),
            "first_rejects": [_place(reject) for reject in report.first_rejects],
        },
    }


def _place(reject: tuple[str, int, str]) -> str:
    """Say where a line was rejected and why; never what it says."""
    file, line, reason = reject
    return f"{file}, line {line}: {reason}"


def _print(made: dict[str, Any], as_json: bool) -> None:
    if as_json:
        console.show_json(made)
        return
    log = made["log"]
    console.show(
        f"{log['lines']:,} lines: {log['events']:,} queries, {log['repeats']:,} clicks and next "
        f"pages folded, {log['empty']:,} empty, {log['headers']:,} headers, "
        f"{log['rejected']:,} rejected"
    )
    for reason, count in log["reasons"].items():
        console.show(f"  rejected: {reason}: {count:,}")
    for place in log["first_rejects"]:
        console.say(f"  {place}")
    if made["robots_dropped"] is not None:
        console.show(
            f"{made['robots_dropped']:,} people dropped for more than "
            f"{made['choices']['robots']:,} queries in a session"
        )
    console.show(
        f"{made['users']:,} profiles over {made['terms']:,} terms, {made['mean_size']:.1f} a "
        f"person: {made['profiles']}"
    )
