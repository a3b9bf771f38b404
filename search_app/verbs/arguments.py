"""Arguments that several verbs take, and how they are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..settings import ACCESS, Settings, changed
from ..workspace.folder import Workspace

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkEngine

    from ..search.modes import Modes


PROFILES = "a profiles file (default: the current one)"


def help_with(more: Callable[[], str]) -> type[argparse.HelpFormatter]:
    """Return a formatter that ends --help with what `more` returns, which may import a lot."""

    class WithMore(argparse.RawDescriptionHelpFormatter):
        """Adds more at the end of --help, but not to an error, which shows usage alone."""

        def start_section(self, heading: str | None) -> None:
            """Begin the section `heading`, as only --help does."""
            self._whole = True
            super().start_section(heading)

        def format_help(self) -> str:
            """Return the help of argparse, then `more`."""
            text = super().format_help()
            return f"{text}\n{more()}" if getattr(self, "_whole", False) else text

    return WithMore


def add_json(parser: argparse.ArgumentParser, what: str = "result") -> None:
    """Add --json to `parser`, which prints `what` for machines."""
    parser.add_argument("--json", action="store_true", help=f"print the {what} as JSON")


def add_metadata(parser: argparse.ArgumentParser) -> None:
    """Add --metadata to `parser`, which describes each run in the run itself."""
    text = "begin each run with ir_metadata: comments that trec_eval skips from version 10 on"
    parser.add_argument("--metadata", action="store_const", const=True, help=text)


def add_second(parser: argparse.ArgumentParser) -> None:
    """Add --second to `parser`, the consent to start over."""
    parser.add_argument(
        "--second",
        action="store_true",
        help="start over even if the release was published, lost people or got newcomers; the old "
        "release stays in its folder",
    )


def add_seed(parser: argparse.ArgumentParser, what: str = "every random choice") -> None:
    """Add --seed to `parser`, the seed of `what`."""
    parser.add_argument("--seed", type=int, default=0, metavar="S", help=f"seed of {what} (0)")


def seed_of(arguments: argparse.Namespace) -> int:
    """Return the seed in `arguments`; numpy's generators take none below 0."""
    if arguments.seed < 0:
        raise UsageError(f"--seed {arguments.seed} must be 0 or more")
    return int(arguments.seed)


def add_set(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --set to `parser`, which sets `what`; `assignments` reads the values."""
    text = f"set {what} (see below); may be repeated"
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=text)


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Return the values by name from name=value `texts`; refuse a name that comes twice."""
    wrong = [text for text in texts if text.find("=") < 1]
    if wrong:
        raise UsageError(f"--set {wrong[0]} must be name=value, like --set p=0.4")
    pairs = [text.partition("=") for text in texts]
    names = [name for name, _, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--set names {', '.join(twice)} twice")
    return {name: value for name, _, value in pairs}


def add_opened(
    parser: argparse.ArgumentParser, release: str = "a release (default: the current one)"
) -> None:
    """Add to `parser` which index, profiles and `release` a search uses."""
    parser.add_argument("--index", metavar="NAME", help="an index (default: the current one)")
    parser.add_argument("--profiles", type=Path, metavar="FILE", help=PROFILES)
    parser.add_argument("--release", type=Path, metavar="DIR", help=release)


def opened(arguments: argparse.Namespace, settings: Settings, **choices: Any) -> Modes:
    """Open and return the index, profiles and release in `arguments`, else the current ones."""
    from ..workspace.opening import open_modes

    named = {name: getattr(arguments, name) for name in ("index", "profiles", "release")}
    return open_modes(Workspace(settings.workspace), settings, **named, **choices)


def add_rule(parser: argparse.ArgumentParser) -> None:
    """Add to `parser` the rule by which interests order a pool."""
    parser.add_argument(
        "--ranking",
        choices=("cosine", "evidence"),
        help="cosine: by likeness to the interests alone, as in the papers; evidence: a result "
        "moves only where the interests fit the search (default: the setting, or cosine)",
    )
    parser.add_argument(
        "--care",
        choices=("default", "careful"),
        help="how far evidence moves a result (default: the setting)",
    )


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add to `parser` a release and the profiles it is compared with."""
    current = "a release folder (default: the current one)"
    parser.add_argument("release", type=Path, nargs="?", metavar="RELEASE", help=current)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="PROFILES",
        help="the profiles it was made from (default: the current ones)",
    )


def release_and_profiles(arguments: argparse.Namespace, settings: Settings) -> tuple[Path, Path]:
    """Return the paths that `arguments` name, or the current ones of the workspace."""
    workspace = Workspace(settings.workspace)
    release = arguments.release or workspace.find("release")
    return release, arguments.against or workspace.find("profiles")


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add to `parser` where to listen."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")


def add_admission(
    parser: argparse.ArgumentParser, modes: Sequence[str] = ACCESS, also: str = ""
) -> None:
    """Add to `parser` who may search, in one of `modes`, and host names; `also` explains more."""
    parser.add_argument(
        "--mode",
        choices=modes,
        help="demo: visitors choose an invented person; private: people sign in; plain: searches "
        f"without a person{also} (default: as set, else demo for invented people, else "
        "plain)",
    )
    parser.add_argument(
        "--trust-host",
        metavar="NAME",
        action="append",
        default=[],
        help="also answer under this host name; may be repeated",
    )


def with_admission(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Return `settings` with what `arguments` say about who may search."""
    hosts = (*settings.hosts, *(name.lower() for name in arguments.trust_host))
    return changed(settings, access=arguments.mode, hosts=hosts)


def refuse_overwriting(option: str, output: Path, read: Path | None, what: str) -> None:
    """Refuse an `output` that is the file `read`, even through links."""
    # A file that is missing or closed to us is reported when it is opened.
    with suppress(OSError):
        if read and output.samefile(read):
            raise UsageError(f"{option} {output} is the file of {what}")


def ids_in(path: Path, option: str) -> list[tuple[int, str]]:
    """Return the ids in the file `path`, one a line, with the lines' numbers, as `option` asks."""
    # utf-8-sig skips a byte order mark, which would become part of the first id.
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8"
        raise UsageError(
            f"{option} {path} can't be read: {why}; give a file of ids, one a line"
        ) from fault
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]


def add_lists(parser: argparse.ArgumentParser, about: str) -> None:
    """Add --names and --places to `parser`; `about` says what lists are for."""
    for what in ("names", "places"):
        parser.add_argument(
            f"--{what}",
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            help=f"{about.format(what)}; may be repeated",
        )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add to `parser` which engine does the work."""
    parser.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="local: this machine; spark: a cluster, with the same result (local)",
    )
    parser.add_argument(
        "--master", metavar="URL", help="with --engine spark: its master, like spark://HOST:7077"
    )


def parts_of(arguments: argparse.Namespace) -> int | None:
    """Return the number of parts in `arguments`, if they have one."""
    from anonymizer.backends.parts import MOST_PARTS

    parts: int | None = getattr(arguments, "parts", None)
    if parts is not None and not 1 <= parts <= MOST_PARTS:
        raise UsageError(f"--parts {parts} must be from 1 to {MOST_PARTS}")
    return parts


def engine_of(arguments: argparse.Namespace) -> SparkEngine | None:
    """Return the cluster that `arguments` name; None for this machine."""
    from anonymizer.backends.spark import SparkEngine

    spark = arguments.engine == "spark"
    if spark != (arguments.master is not None):
        raise UsageError("--engine spark and --master spark://HOST:7077 belong together")
    return SparkEngine(arguments.master, parts_of(arguments)) if spark else None
