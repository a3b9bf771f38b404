"""veilsearch profiles: turn a query log into profiles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..disclosure.numbers import count
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from .arguments import add_engine, add_json, add_second, engine_of

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkEngine

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("log", type=Path, nargs="*", metavar="LOG", help="plain, .gz or .bz2")
    parser.add_argument(
        "--searches",
        action="store_true",
        help="instead of a LOG: the searches of people who let them feed their profile",
    )
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        help="form of the logs: aol, tsv, excite, jsonl, parquet or an installed package's "
        "(default: recognized from suffix and first lines)",
    )
    parser.add_argument(
        "--rejects",
        type=Path,
        metavar="FILE",
        help="write file, line number and reason of each bad line",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PROFILES",
        help=".jsonl or .npz (default: WORKSPACE/profiles.jsonl)",
    )
    _add_choices(parser)
    parser.add_argument(
        "--add",
        action="store_true",
        help="add the people who have no profile yet; all that is there stays",
    )
    add_engine(parser)
    parser.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="with --engine spark: parts of the log, each of which fits a worker's memory "
        "(default: 256 MB of the files each, and 2 a core)",
    )
    add_second(parser)
    add_json(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what profiles are made of."""
    parser.add_argument(
        "--size",
        type=int,
        metavar="N",
        help="keep users with N terms or more, and their N most frequent ones",
    )
    parser.add_argument("--users", type=int, metavar="N", help="keep the first N of these users")
    parser.add_argument("--weights", default="binary", help="binary, tf, tfidf or recency (binary)")
    parser.add_argument(
        "--terms",
        choices=("wordnet", "all", "letters-digits", "german", "french"),
        help="base forms that WordNet has, all words, all words and numbers, or stems of German or "
        "French (by the setting language: wordnet, german, french)",
    )
    parser.add_argument(
        "--phrases", action="store_true", help="make one term of a phrase that WordNet has"
    )
    parser.add_argument(
        "--granularity", default="user", help="one profile a user, or one a session (user)"
    )
    parser.add_argument(
        "--gap", default="30m", metavar="TIME", help="pause that ends a session (30m)"
    )
    parser.add_argument(
        "--drop-robots", type=int, metavar="N", help="drop users with a session of over N queries"
    )
    parser.add_argument(
        "--test-share",
        type=float,
        default=0.0,
        metavar="X",
        help="hold out this share of each user's queries, the last ones, for evaluate (0)",
    )
    parser.add_argument(
        "--no-origins", action="store_true", help="do not store when and how often terms were used"
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the profiles of the log in `arguments`, make them current, and return 0."""
    from ..tasks.adding import add_profiles_of, profiles_of_searches
    from ..tasks.growth import settle_growth
    from ..tasks.profiling import write_profiles_of
    from ..tasks.serving import refuse_starting_over
    from ..workspace.profile_choices import ProfilingChoices, usual_choices

    choices = ProfilingChoices(
        size=arguments.size,
        users=arguments.users,
        weights=arguments.weights,
        granularity=arguments.granularity,
        gap=seconds(arguments.gap),
        test_share=arguments.test_share,
        terms=arguments.terms or usual_choices(settings).terms,
        phrases=arguments.phrases,
        robots=arguments.drop_robots,
    )
    reading: dict[str, Any] = {"form": arguments.format, "rejects": arguments.rejects}
    engine = _engine_of(arguments)
    workspace = Workspace(settings.workspace)
    with workspace.writing("profiles"):
        settle_growth(workspace, settings)
        if arguments.searches:
            if (
                arguments.log
                or arguments.add
                or arguments.output
                or choices != usual_choices(settings)
            ):
                raise UsageError("--searches takes no LOG, no -o and no choices")
            added = profiles_of_searches(settings)
            console.answer(added, _added_lines(added), as_json=arguments.json)
            return 0
        if not arguments.log:
            raise UsageError("name a LOG, or take --searches")
        if arguments.add:
            if arguments.output or arguments.no_origins:
                raise UsageError(
                    "--add changes the current profiles; leave out -o and --no-origins"
                )
            added = add_profiles_of(arguments.log, settings, choices, **reading)
            console.answer(added, _added_lines(added), as_json=arguments.json)
            return 0
        if not arguments.second:
            refuse_starting_over(workspace)
        made = write_profiles_of(
            arguments.log,
            arguments.output or settings.workspace / "profiles.jsonl",
            settings,
            choices,
            **reading,
            origins=not arguments.no_origins,
            engine=engine,
        )
    console.answer(made, _lines(made), as_json=arguments.json)
    return 0


def _engine_of(arguments: argparse.Namespace) -> SparkEngine | None:
    """Return the cluster that `arguments` name, and refuse it for what it can't do."""
    engine = engine_of(arguments)
    if arguments.parts is not None and not engine:
        raise UsageError("--parts needs --engine spark")
    if engine and (arguments.searches or arguments.add):
        raise UsageError("--engine spark makes profiles of a LOG; leave out --searches and --add")
    return engine


def seconds(text: str) -> int:
    """Return the seconds in `text`, such as 30m, 45s or 2h."""
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "s")
    # int() alone would take digits of any script, signs and underscores.
    if not (number.isascii() and number.isdecimal() and len(number) <= 7):
        raise UsageError(f"--gap {text[:20]} must be a whole number with s, m, h or d, like 30m")
    return int(number) * _UNITS[unit]


def _added_lines(added: dict[str, Any]) -> Iterator[str]:
    """Yield what was read, and how many people were added."""
    if "log" in added:
        yield from _log_lines(added)
        if not added["log"]["events"]:
            yield "The log is empty."
    came = count(added["added"], "person", "people")
    have = count(added["users"], "has", "have")
    yield f"{came} added, {have} a profile: {added['profiles']}"


def _lines(made: dict[str, Any]) -> Iterator[str]:
    """Yield what was read and made."""
    yield from _log_lines(made)
    yield (
        f"{made['users']:,} profiles over {made['terms']:,} terms, {made['mean_size']:.1f} a "
        f"person: {made['profiles']}"
    )


def _log_lines(made: dict[str, Any]) -> Iterator[str]:
    """Yield what was read; say where lines were rejected."""
    log = made["log"]
    yield (
        f"{log['lines']:,} lines: {log['events']:,} queries, {log['repeats']:,} clicks and next "
        f"pages folded, {log['empty']:,} empty, {log['headers']:,} headers, "
        f"{log['rejected']:,} rejected"
    )
    for reason, lines in log["reasons"].items():
        yield f"  rejected: {reason}: {lines:,}"
    for place in log["first_rejects"]:
        console.say(f"  {place}")
    if made["robots_dropped"] is not None:
        yield (
            f"{count(made['robots_dropped'], 'person', 'people')} dropped for more than "
            f"{made['choices']['robots']:,} queries in a session"
        )
