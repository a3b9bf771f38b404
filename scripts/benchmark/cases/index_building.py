"""Building an index against Anserini's own IndexCollection on the same TREC files. [I/O]"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from search_app.errors import UsageError

from ..bars import Measured
from ..plan import Place, Plan
from ..processes import Run, process, veilsearch
from ..timing import divided, times_of
from . import anserini

NAMES = (".trec", ".trec.gz", ".sgml", ".sgml.gz")


def measure(plan: Plan, place: Place) -> Measured:
    """Build both indexes of `plan.corpora` in turns."""
    files = [path.resolve() for corpus in plan.corpora for path in trec_files(corpus)]
    if not files:
        raise UsageError(f"no TREC file in --index; their names end with {', '.join(NAMES)}")
    taken: dict[str, list[Run]] = {"veilsearch index": [], "IndexCollection": []}
    ours, theirs = taken.values()
    for _ in range(plan.rounds):
        with TemporaryDirectory(dir=place.temporary) as name:
            workspace = Path(name) / "workspace"
            ours.append(process([*veilsearch(workspace), "index", *map(str, files)])[0])
        with TemporaryDirectory(dir=place.temporary) as name:
            folder = Path(name)
            (folder / "corpus").mkdir()  # Anserini takes a folder only
            for at, file in enumerate(files):
                (folder / "corpus" / f"{at:04d}.{file.name}").symlink_to(file)
            built = (folder / "corpus", folder / "index", plan.threads)
            theirs.append(anserini.build("TrecCollection", *built))
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


def trec_files(path: Path) -> list[Path]:
    """Return the TREC files in the folder `path`, or `path` itself."""
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in inside if file.is_file() and file.name.endswith(NAMES)]
