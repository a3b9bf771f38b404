"""veilsearch profiles: turn a query log into profiles."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace, write_whole
from .town import truth_path

if TYPE_CHECKING:
    from anonymizer.model import Profiles, QueryLog
    from anonymizer.querylog import ReadReport

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("log", type=Path, nargs="+", metavar="LOG", help="AOL format, may be .gz")
    parser.add_argument("-o", "--output", type=Path, metavar="PROFILES", help=".jsonl or .npz")
    parser.add_argument("--size", type=int, metavar="N", help="the N most frequent terms of a user")
    parser.add_argument("--users", type=int, metavar="N", help="the first N users with SIZE terms")
    parser.add_argument("--weights", default="binary", help="binary, tf, tfidf or recency")
    parser.add_argument("--terms", choices=("wordnet", "all"), default="wordnet")
    parser.add_argument("--granularity", default="user", help="user or session")
    parser.add_argument("--gap", default="30m", metavar="TIME", help="between sessions (30m)")
    parser.add_argument("--test-share", type=float, default=0.0, metavar="X")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read the log, write the profiles, and make them the workspace's current ones."""
    with Workspace(settings.workspace).writing("profiles"):
        made = write_profiles_of(
            arguments.log,
            arguments.output or settings.workspace / "profiles.jsonl",
            settings,
            terms=arguments.terms,
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
    terms: str = "wordnet",
    **choices: Any,
) -> dict[str, Any]:
    """Read logs, write their profiles and held-out queries, and return what was read and made."""
    from anonymizer.profile_file import write_profiles
    from anonymizer.profiles import build_profiles
    from anonymizer.querylog import read_log

    workspace = Workspace(settings.workspace)
    with console.progress("log") as progress:
        log, report = read_log(logs, progress)
    if not len(log) and report.rejected:
        raise UsageError(f"no line of the log is a query; {_place(report.first_rejects[0])}")
    with console.progress("profiles") as progress:
        profiles, held_out = build_profiles(
            log, analysis(terms, settings), **choices, progress=progress
        )
    workspace.make_current(truth="", log_sha256="")  # lest a kill leaves a town's names beside them
    write_profiles(profiles, output)
    if choices.get("test_share"):
        write_whole(held_out_path(output), _held_out_lines(held_out))
    truth, sha256 = synthetic_truth(logs, workspace)
    workspace.make_current(
        profiles=workspace.relative(output), release="", truth=truth, log_sha256=sha256
    )
    return _facts(profiles, report, output)


def analysis(terms: str, settings: Settings) -> Any:
    """Return the analysis of queries by name."""
    from anonymizer.text import Analysis, tokens
    from anonymizer.wordnet import open_wordnet

    return tokens if terms == "all" else Analysis(open_wordnet(settings.cache)).terms


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
    rows = zip(held_out.user, held_out.query, strict=True)
    return "".join(f"q{i}\t{held_out.users[u]}\t{q}\n" for i, (u, q) in enumerate(rows, 1))


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
    console.show(
        f"{made['users']:,} profiles over {made['terms']:,} terms, {made['mean_size']:.1f} a "
        f"person: {made['profiles']}"
    )
