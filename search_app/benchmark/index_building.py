"""Building an index against Anserini's own IndexCollection on the same TREC files. [I/O]"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UsageError
from . import anserini
from .bars import Measured
from .plan import Place, Plan
from .processes import Run, process, veilsearch
from .timing import divided, times_of

NAMES = (".trec", ".trec.gz", ".sgml", ".sgml.gz")


def measure(plan: Plan, place: Place) -> Measured:
    """Build both in turns."""
    files = [path.resolve() for each in plan.corpora for path in found(each)]
    if not files:
        raise UsageError(f"no TREC file there; their names end with {', '.join(NAMES)}")
    taken: dict[str, list[Run]] = {"veilsearch index": [], "IndexCollection": []}
    builders: list[Callable[[Path], Run]] = [
        lambda folder: ours(files, folder),
        lambda folder: theirs(files, folder, plan.threads),
    ]
    for _ in range(plan.rounds):
        for runs, build in zip(taken.values(), builders, strict=True):
            with TemporaryDirectory(dir=place.temporary) as folder:
                runs.append(build(Path(folder)))
    seconds = {name: [round(run.seconds, 2) for run in runs] for name, runs in taken.items()}
    memory = {name: max(run.gigabytes for run in runs) for name, runs in taken.items()}
    times = {name: times_of([run.seconds for run in runs]) for name, runs in taken.items()}
    values, counts = divided(times, {"index": ("veilsearch index", "IndexCollection")})
    return Measured(
        values={**values, "index memory": memory["veilsearch index"]},
        facts={
            "seconds": seconds,
            "peak GB": {name: round(most, 2) for name, most in memory.items()},
            "files": len(files),
            "Anserini's threads": plan.threads,
        },
        calls=counts,
    )


def found(path: Path) -> list[Path]:
    """List the TREC files of a folder."""
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [each for each in inside if each.is_file() and each.name.endswith(NAMES)]


def ours(files: list[Path], folder: Path) -> Run:
    """Build with the verb."""
    return process([*veilsearch(folder / "workspace"), "index", *map(str, files)])[0]


def theirs(files: list[Path], folder: Path, threads: int) -> Run:
    """Build with Anserini, which wants a folder."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for at, file in enumerate(files):
        (corpus / f"{at:04d}.{file.name}").symlink_to(file)
    return anserini.build("TrecCollection", corpus, folder / "index", threads)
