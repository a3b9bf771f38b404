"""What it costs to admit and to forget 1,000 people beside 100,000, against a full run.

usage: .venv/bin/python -m scripts.changes [--people 100000] [--lines 55] [--index INDEX]

It invents a log of AOL's shape. Each command is a process of its own, and its time is that of the
processor. A first run with few people compiles what each machine compiles once.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from search_app.workspace.folder import Workspace

from .benchmark.inputs.aol import write_log
from .benchmark.processes import process, veilsearch

METHODS = {
    "p-linkability": ("p=0.4", "k=2"),
    "pooled": ("p=0.1",),
    "km-anonymity": ("k=2", "m=2"),
    "vocabulary-k": ("k=5", "eps=4"),
}
WARM_UP = 500  # people


def main() -> None:
    """Print a table of seconds."""
    parser = argparse.ArgumentParser(description=__doc__, usage=(__doc__ or "").split("\n")[2][7:])
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--changed", type=int, default=1_000)
    parser.add_argument("--lines", type=int, default=55, help="lines a person, as in AOL's log")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--index", type=Path, help="of a corpus; pooled needs one")
    parser.add_argument("--keep", type=Path, help="keep logs and workspaces here")
    given = parser.parse_args()
    # As where it is installed: Python keeps the bytecode that a first run compiles.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for method in given.methods.split(","):
            for people, changed in ((WARM_UP, WARM_UP // 4), (given.people, given.changed)):
                root = folder / f"{method}-{people}"
                if given.index:
                    Workspace(root).make_current(index=str(given.index.resolve()))
                log, later = logs(folder, people, changed, given.lines)
                taken = measured(root, method, log, later, changed)
            full = sum(taken[name] for name in ("profiles", "anonymize", "verify"))
            for name, seconds in taken.items():
                print(f"{method:14}{name:14}{seconds:8.2f} s{seconds / full:8.1%}", flush=True)


def logs(folder: Path, people: int, changed: int, lines: int) -> tuple[Path, Path]:
    """Return a log of `people` in `folder`, and one of those who come later; made if missing."""
    log, later = folder / f"log-{people}.tsv", folder / f"later-{people}.tsv"
    if not later.exists():
        write_log(log, people + changed, lines * (people + changed))
        split(log, later, people)
    return log, later


def measured(root: Path, method: str, log: Path, later: Path, changed: int) -> dict[str, float]:
    """Return the seconds of each command: people of `log`, of `later`, and `changed` who leave."""
    profiles = root / "profiles.jsonl"
    options = [word for option in METHODS[method] for word in ("--set", option)]

    def seconds(*words: str | Path) -> float:
        before = os.times()
        process([*veilsearch(root), *map(str, words)])
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    taken = {
        "profiles": seconds("profiles", log),
        "anonymize": seconds("anonymize", "-m", method, *options),
        "verify": seconds("verify"),
        "profiles --add": seconds("profiles", later, "--add"),
        "admit": seconds("admit"),
    }
    with profiles.open("rb") as lines:
        users = [json.loads(line)["user"] for line in lines]
    leaving = users[:: max(1, len(users) // changed)][:changed]
    return taken | {"forget": seconds("forget", "--user", *leaving)}


def split(log: Path, later: Path, people: int) -> None:
    """Move the lines of all but the first `people` of `log` to the file `later`."""
    header, *lines = log.read_bytes().splitlines(keepends=True)
    first = {line.partition(b"\t")[0]: at for at, line in reversed([*enumerate(lines)])}
    cut = sorted(first.values())[people]
    later.write_bytes(b"".join([header, *lines[cut:]]))
    log.write_bytes(b"".join([header, *lines[:cut]]))


if __name__ == "__main__":
    main()
