"""Ratios R4, R5, R6, R9 and R10 of the bars: whole logs to releases, as JSON.

R4   clustering alone, exact, 40 terms a user: time of 2n users / time of n
R5   clustering / the obvious version, one sparse product a seed; the groups must be the same
R6   an invented log of AOL's shape: profiles, anonymize and verify, each as its own process
R9   verify / anonymize of the same runs
R10  read_log / pyarrow.csv, rows a second on the same file

Without --full, logs have at most 32,000 users; with it the log has AOL's 657,000 and 36 M lines,
and prefixes of it show how time grows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from aol_shape import LINES, USERS, zipf
from scale_plot import exponent, plot
from scipy.sparse import csr_matrix

from anonymizer.augment import unit_rows
from anonymizer.clustering import cluster
from anonymizer.constraints import Bounds, bounds_of
from anonymizer.model import Ints, Profiles
from anonymizer.querylog import read_log

P = 0.4
SIZES = (8_000, 16_000, 32_000, 64_000, 128_000)
OBVIOUS = 20_000  # users of R5
SMALL = (8_000, 32_000)  # users of logs without --full
TERMS, VOCABULARY = 40, 60_000
READ = 8_000_000  # lines of R10 at most
RELEASES = {"raw terms": ["augment=none"], "WordNet a=1": ["augment=wordnet", "a=1"]}
BARS = {
    "R4": "time(2n) / time(n) at most 3.3, 128,000 users in at most 10 s",
    "R5": "at most 0.05, the same groups",
    "R6": "657,000 users: raw terms at most 240 s, WordNet a=1 at most 720 s, at most 8 GB",
    "R9": "at most 0.25",
    "R10": "at least 0.15",
}


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    gigabytes: float


def main() -> None:
    """Measure and print."""
    given = arguments()
    began = time.perf_counter()
    report: dict[str, Any] = {}
    with working_folder(given.folder) as folder:
        # First, for the peak memory of a process counts what its parent had when it began.
        runs, log = pipelines(folder, USERS if given.full else max(SMALL), given)
        report |= {"R6": runs, "R9": judged(runs), "R10": reading(log, given.rounds, folder)}
    report["R4"] = growth(given.users, given.rounds)
    if not given.no_obvious:
        report["R5"] = against_the_obvious(given.obvious, given.rounds)
    report |= {"bars": BARS, "versions": versions(), "cores": len(os.sched_getaffinity(0))}
    report["seconds"] = round(time.perf_counter() - began)
    if given.plot:
        given.plot.write_text(plot(stages(report)), encoding="utf-8")
    print(json.dumps(report, indent=1) if given.json else table(report))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, nargs="+", default=SIZES, help="of R4")
    parser.add_argument("--obvious", type=int, default=OBVIOUS, help="users of R5")
    parser.add_argument("--no-obvious", action="store_true", help="leave R5 out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="R6 on the whole shape of AOL's log")
    parser.add_argument("--sizes", type=int, nargs="+", help="users of the prefixes of R6")
    parser.add_argument("--releases", nargs="+", default=list(RELEASES), choices=RELEASES)
    parser.add_argument("--folder", type=Path, help="keeps the log; the rest is removed")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


@contextmanager
def working_folder(kept: Path | None) -> Iterator[Path]:
    """Give a folder to work in."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with TemporaryDirectory(prefix="veilsearch-bench.") as folder:
        yield Path(folder)


# -- R4, R5 ----------------------------------------------------------------------------------------


def invented_profiles(users: int) -> Profiles:
    """Draw profiles of 40 distinct terms, Zipf's, a third of them from a topic of the user's."""
    rng = np.random.default_rng(users)
    drawn = zipf(VOCABULARY, 22, users * 3 * TERMS, rng).reshape(users, -1)
    topics = rng.integers(VOCABULARY, size=(2_000, 300), dtype=np.int32)
    mine = topics[zipf(2_000, 20, users, rng)]
    own = rng.random(drawn.shape) < 0.35
    picked = np.take_along_axis(mine, zipf(300, 5, drawn.size, rng).reshape(drawn.shape), 1)
    drawn = np.where(own, picked, drawn)
    rows = [np.sort(list(dict.fromkeys(row))[:TERMS]) for row in drawn.tolist()]
    columns = np.concatenate(rows)
    ends = np.cumsum([0, *map(len, rows)])
    matrix = csr_matrix((np.ones(columns.size), columns, ends), shape=(users, VOCABULARY))
    names = tuple(f"t{number}" for number in range(VOCABULARY))
    return Profiles(tuple(f"u{number}" for number in range(users)), names, matrix)


def prepared(users: int) -> tuple[Profiles, csr_matrix, Bounds]:
    """Return what clustering is given."""
    profiles = invented_profiles(users)
    return profiles, unit_rows(profiles.weights), bounds_of(profiles, p=P, k=None, l=None, t=None)


def growth(sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """Time clustering alone: medians of rounds in turns."""
    cases = {users: prepared(users) for users in sizes}
    warm = prepared(500)
    cluster(*warm, 0)
    taken: dict[int, list[float]] = {users: [] for users in sizes}
    for _ in range(rounds):
        for users, case in cases.items():
            began = time.perf_counter()
            cluster(*case, 0)
            taken[users].append(time.perf_counter() - began)
    seconds = {users: statistics.median(times) for users, times in taken.items()}
    doubled = [(one, two) for one, two in pairwise(sorted(seconds)) if two == 2 * one]
    return {
        "seconds": {users: round(value, 3) for users, value in seconds.items()},
        "time(2n) / time(n)": {
            f"{two} / {one}": round(seconds[two] / seconds[one], 2) for one, two in doubled
        },
        "exponent": round(exponent(list(seconds.items())), 2),
    }


def against_the_obvious(users: int, rounds: int) -> dict[str, Any]:
    """Time clustering, and the obvious version once, on the same profiles."""
    case = prepared(users)
    cluster(*prepared(500), 0)
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        ours = cluster(*case, 0)
        taken.append(time.perf_counter() - began)
    began = time.perf_counter()
    theirs = obvious(*case, 0)
    plain = time.perf_counter() - began
    if not np.array_equal(ours.group_of, theirs):
        raise SystemExit("R5: the groups differ from those of the obvious version")
    seconds = statistics.median(taken)
    return {
        "users": users,
        "groups": ours.count,
        "seconds": round(seconds, 3),
        "obvious": round(plain, 3),
        "ratio": round(seconds / plain, 4),
    }


def obvious(profiles: Profiles, unit: csr_matrix, bounds: Bounds, seed: int) -> Ints:
    """Run algorithm 1 as it is written: one sparse product a seed, and a sort."""
    group_of, seeds = np.full(len(profiles), -1), []
    while True:
        similarity = np.round((unit @ unit[seed].T).toarray().ravel(), 12)
        living = np.flatnonzero(group_of < 0)
        others = living[living != seed]
        covered: set[int] = set()
        members = []
        for row in [seed, *others[np.argsort(-similarity[others], kind="stable")].tolist()]:
            covered.update(profiles.slice(row)[0].tolist())
            members.append(row)
            if len(covered) >= bounds.terms:
                break
        if len(covered) < bounds.terms:
            break
        group_of[members] = len(seeds)
        seeds.append(seed)
        living = np.flatnonzero(group_of < 0)
        if not living.size:
            return group_of
        seed = int(living[np.argmin(similarity[living])])
    for row in members:
        closest = np.round((unit[seeds] @ unit[row].T).toarray().ravel(), 12)
        group_of[row] = int(np.argmax(closest))
    return group_of


# -- R6, R9, R10 -----------------------------------------------------------------------------------


def pipelines(
    folder: Path, most: int, given: argparse.Namespace
) -> tuple[list[dict[str, Any]], Path]:
    """Run all commands on prefixes of a log, the whole of it last."""
    log = folder / f"log-{most}.tsv"
    if not log.exists():
        temporary = log.with_suffix(".part")
        lines = round(LINES / USERS * most)
        script = Path(__file__).parent / "aol_shape.py"
        sizes = ["--users", str(most), "--lines", str(lines)]
        subprocess.run([sys.executable, script, *sizes, "-o", temporary], check=True)  # noqa: S603
        temporary.replace(log)
    sizes = given.sizes or ([8_000 << n for n in range(7)] + [USERS] if given.full else SMALL)
    pipeline(folder, log, 500 / most, RELEASES)  # compiles what is compiled once
    chosen = {name: RELEASES[name] for name in given.releases}
    return [pipeline(folder, log, users / most, chosen) for users in sorted(sizes)], log


def pipeline(
    folder: Path, log: Path, share: float, releases: dict[str, list[str]]
) -> dict[str, Any]:
    """Run log -> profiles -> release -> verify on a share of the log."""
    with TemporaryDirectory(dir=folder, prefix="run.") as place:
        run, profiles = Path(place), Path(place) / "profiles.npz"
        part = log if share >= 1 else prefix(log, share, run / "log.tsv")
        made, told = command(run, "profiles", part, "-o", profiles, "--json")
        found: dict[str, Any] = {
            "users": told["users"],
            "terms": told["terms"],
            "mean size": round(told["mean_size"], 1),
            "lines": told["log"]["lines"],
            "profiles": made._asdict(),
        }
        for name, parameters in releases.items():
            words = [word for text in [f"p={P}", *parameters] for word in ("--set", text)]
            release = run / "release"
            anonymized, told = command(run, "anonymize", profiles, *words, "-o", release, "--json")
            verified, _ = command(run, "verify", release, "--against", profiles, "--json")
            total = made.seconds + anonymized.seconds + verified.seconds
            found[name] = {
                "anonymize": anonymized._asdict(),
                "verify": verified._asdict(),
                "groups": told["facts"]["groups"],
                "seconds in all": round(total, 2),
            }
        return found


def prefix(log: Path, share: float, to: Path) -> Path:
    """Copy the first lines of a log."""
    left = int(log.stat().st_size * share)
    with log.open("rb") as source, to.open("wb") as copy:
        while left > 0 and (lines := source.read(min(left, 1 << 24)) + source.readline()):
            left -= copy.write(lines)
    return to


def command(workspace: Path, *words: object) -> tuple[Run, Any]:
    """Run a verb in a process of its own; return what it took and what it answered."""
    line = [sys.executable, "-m", "search_app", "--workspace", str(workspace), *map(str, words)]
    with (workspace / "answer").open("w+b") as answer, (workspace / "said").open("w+b") as said:
        began = time.perf_counter()
        process = subprocess.Popen(line, stdout=answer, stderr=said)  # noqa: S603 (our own)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        said.seek(0)
        answer.seek(0)
        if status:
            why = (answer.read() + said.read()).decode()[-500:]
            raise SystemExit(f"failed: {' '.join(line[2:])}\n{why}")
        run = Run(round(seconds, 2), round(used.ru_maxrss / 1e6, 2))
        return run, json.loads(answer.read())


def judged(runs: Sequence[dict[str, Any]]) -> dict[str, dict[int, float]]:
    """Divide verify by anonymize."""
    return {
        name: {
            run["users"]: round(
                run[name]["verify"]["seconds"] / run[name]["anonymize"]["seconds"], 3
            )
            for run in runs
        }
        for name in RELEASES
        if name in runs[0]
    }


def reading(log: Path, rounds: int, folder: Path) -> dict[str, Any]:
    """Time read_log and pyarrow.csv on the same file, in turns."""
    from pyarrow import csv

    lines = round(LINES / USERS * int(log.stem.partition("-")[2]))
    path = log
    if lines > READ:
        path = prefix(log, READ / lines, folder / "read.tsv")
    options = csv.ParseOptions(
        delimiter="\t", quote_char=False, invalid_row_handler=lambda _row: "skip"
    )
    calls: dict[str, Callable[[], int]] = {
        "read_log": lambda: read_log([path])[1].lines,
        "pyarrow.csv": lambda: csv.read_csv(path, parse_options=options).num_rows,
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    read_log([path])
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            rows = call()
            taken[name].append(rows / (time.perf_counter() - began))
    medians = {name: round(statistics.median(values)) for name, values in taken.items()}
    ratio = round(medians["read_log"] / medians["pyarrow.csv"], 3)
    return {"rows a second": medians, "read_log / pyarrow.csv": ratio}


# -- what is told ----------------------------------------------------------------------------------


def stages(report: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return seconds over users of each stage."""
    found = {"clustering alone": list(report["R4"]["seconds"].items())}
    runs = report["R6"]
    found["profiles"] = [(run["users"], run["profiles"]["seconds"]) for run in runs]
    for name in report["R9"]:
        for verb in ("anonymize", "verify"):
            found[f"{verb}, {name}"] = [(run["users"], run[name][verb]["seconds"]) for run in runs]
    return found


def table(report: dict[str, Any]) -> str:
    """Say the same for people."""
    lines = []
    for name, bar in BARS.items():
        lines += [f"{name}: {bar}"]
        found = report.get(name, "left out")
        rows = found if isinstance(found, list) else [found]
        lines += [f"    {json.dumps(row)}" for row in rows]
    return "\n".join(lines)


def versions() -> dict[str, str]:
    """Return the versions of what was measured."""
    names = ("veilsearch", "numpy", "scipy", "numba", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


if __name__ == "__main__":
    main()
