"""Compiling the anonymizer's loops ahead of time, in a process of its own [I/O].

The machine code is kept beside the sources, so this happens once for each installation. It takes
half a minute, which the demo's first build would otherwise spend after the index, not beside it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

LONGEST = 120  # seconds to wait for it; what is not compiled then is compiled when it is needed


@contextmanager
def warming() -> Iterator[Callable[[], None]]:
    """Begin to compile; call the result before the loops are needed."""
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

    from anonymizer.augment import unit_rows
    from anonymizer.clustering import cluster
    from anonymizer.constraints import Bounds
    from anonymizer.counting import TermCounter
    from anonymizer.measures.release_facts import facts
    from anonymizer.model import Release
    from anonymizer.profile_file import read_profiles, write_profiles
    from anonymizer.profiles import build_profiles
    from anonymizer.querylog import read_log
    from anonymizer.release import read_release, write_release
    from anonymizer.representative import represent
    from anonymizer.text import Words

    with TemporaryDirectory(prefix="veilsearch.") as name:
        folder = Path(name)
        (folder / "log.tsv").write_text(_LOG, encoding="utf-8")
        log, _ = read_log([folder / "log.tsv"])
        profiles, _ = build_profiles(log, TermCounter(Words()), size=2, users=3)
        write_profiles(profiles, folder / "profiles.jsonl")
        profiles = read_profiles(folder / "profiles.jsonl")
        grouping = cluster(profiles, unit_rows(profiles.weights), Bounds(3), 0)
        rows = represent(profiles, grouping, "centroid")
        release = Release(rows, profiles.users, grouping.group_of, "none", {})
        facts(profiles, release)
        write_release(release, folder / "release", seed=0, input_hash="")
        read_release(folder / "release")


_TIME = "2006-03-01 07:17:12"
_LOG = "".join(
    f"{user}\t{query}\t{_TIME}\n{user}\t{query}\t{_TIME}\t1\thttp://www.example.com\n"
    for user, own in enumerate(("apples", "bread", "cheese"))
    for query in (own, "tea", "cups and mugs")
)

if __name__ == "__main__":
    compile_loops()
