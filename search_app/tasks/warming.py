"""Compiling loops ahead of time, in a process of its own [I/O].

`loops` keeps the machine code, so this happens once for each version. It takes half a minute, in
which the demo's first build makes its index.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

LONGEST = 120  # seconds to wait; loops not compiled by then are compiled when first used


@contextmanager
def warming() -> Iterator[Callable[[], None]]:
    """Begin to compile; the function given waits until that is done."""
    command = [sys.executable, "-m", __name__]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:  # noqa: S603

        def wait() -> None:
            try:
                process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                process.kill()

        try:
            yield wait
        finally:
            process.kill()


def compile_loops() -> None:
    """Run a query log of a few lines through all steps that need no WordNet."""
    # Numba compiles a loop at its first call, for the types of that call.
    import numpy as np

    from anonymizer.grouping.bounds import Bounds
    from anonymizer.grouping.greedy import cluster
    from anonymizer.measures.facts import facts
    from anonymizer.model import Release
    from anonymizer.profiles.building import ProfileChoices, build_profiles
    from anonymizer.profiles.events import Events, by_column
    from anonymizer.promise import UNKNOWN
    from anonymizer.querylog.reading import read_log
    from anonymizer.rows.representative import represent
    from anonymizer.similarity.wordnet import unit_rows
    from anonymizer.storage.profiles import read_profiles, write_profiles
    from anonymizer.storage.releases import read_release, write_release
    from anonymizer.terms.analysis import WordAnalysis
    from anonymizer.terms.counting import TermCounter

    from ..measures.inversions import inversions

    with TemporaryDirectory(prefix="veilsearch.") as name:
        folder = Path(name)
        (folder / "log.tsv").write_text(_LOG, encoding="utf-8")
        log, _ = read_log([folder / "log.tsv"])
        counter = TermCounter(WordAnalysis())
        profiles, _ = build_profiles(log, counter, ProfileChoices(size=2, users=3))
        write_profiles(profiles, folder / "profiles.jsonl")
        profiles = read_profiles(folder / "profiles.jsonl")
        grouping = cluster(profiles, unit_rows(profiles.weights), Bounds(3), 0)
        rows = represent(profiles, grouping, "centroid")
        release = Release(rows, profiles.users, grouping.group_of, "none", {}, promise=UNKNOWN)
        facts(profiles, release)
        # Terms of WordNet get other numbers, so their columns are sorted.
        one = np.zeros(1, np.uint32)
        by_column(np.arange(2), np.zeros(1, np.int32), Events(one, one, one))
        write_release(release, folder / "release", seed=0, input_hash="")
        read_release(folder / "release", lambda *_: UNKNOWN)
    inversions(np.zeros((1, 1), np.int64))  # of the first page that compares orders


_TIME = "2006-03-01 07:17:12"
_LOG = "".join(
    f"{user}\t{query}\t{_TIME}\n{user}\t{query}\t{_TIME}\t1\thttp://www.example.com\n"
    for user, own in enumerate(("apples", "bread", "cheese"))
    for query in (own, "tea", "cups and mugs")
)

if __name__ == "__main__":
    from index.archive import make

    compile_loops()
    make()  # unless the set-up did
