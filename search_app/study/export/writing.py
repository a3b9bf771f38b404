"""The export of a study [I/O]: tables with a codebook, qrels and runs, a notebook, the methods."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.storage.records import csv_text

from ... import __version__
from ...errors import UsageError, plain_when_writing
from ...evaluation.runs import is_word, writing_run
from ...settings import Settings
from ..analysis import GRADE
from ..design import BETWEEN, Study
from ..sample import refuse_used
from ..store import StudyStore
from .notebook import notebook
from .published import publish_profiles, publish_queries
from .tables import ExportTable, KeptStudy, kept_in, may_name, tables_of

_DEVICE = """
Profiles stayed in the participants' browsers, which ordered the results: the server learned
choices, places of clicks and mean grades, but neither profiles nor orders."""


def export(study: Study, store: StudyStore, folder: Path, settings: Settings) -> dict[str, Any]:
    """Write all of `study` in `store` that may leave to the new `folder`; return what was written.

    Profiles and queries leave once, when the study is closed: nobody stands in two sets of rows.
    """
    kept = kept_in(study, store)
    refuse_used(folder)
    if folder.resolve().is_relative_to(kept.study.folder.resolve()):
        raise UsageError(f"{folder} lies in the study's folder; name a folder outside of it")
    with plain_when_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    tables = tables_of(kept)
    parquet = _parquet()
    for table in tables:
        _write(folder / f"{table.name}.csv", csv_text([[*table.columns], *table.rows]))
        if parquet:
            with plain_when_writing(folder):
                parquet(table, folder / f"{table.name}.parquet")
    coded = [(one.name, column, about) for one in tables for column, about in one.columns.items()]
    _write(folder / "codebook.csv", csv_text([("table", "column", "unit or coding"), *coded]))
    topics = _write_trec(kept, folder)
    once = store.publish_once if store.is_closed() else None
    profiles = publish_profiles(kept, folder, settings, once)
    queries = publish_queries(kept, folder, settings, once)
    text = notebook(kept.study.title, kept.study.conditions, between=kept.study.design == BETWEEN)
    _write(folder / "analysis.ipynb", text)
    _write(folder / "methods.md", methods(kept, store, profiles, queries))
    return {
        "folder": str(folder),
        "people": len(kept.people),
        "rows": {table.name: len(table.rows) for table in tables},
        "parquet": parquet is not None,
        "topics": topics,
        "profiles": profiles,
        "queries": queries,
    }


def _write(path: Path, text: str) -> None:
    with plain_when_writing(path):
        path.write_text(text, encoding="utf-8")


def _parquet() -> Callable[[ExportTable, Path], None] | None:
    """Return what writes a table as Parquet; None without pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return None

    def write(table: ExportTable, path: Path) -> None:
        names = [*table.columns]
        # An empty cell is a null: a column has one type.
        values = [
            [None if row[at] == "" else row[at] for row in table.rows] for at in range(len(names))
        ]
        parquet.write_table(pa.table(dict(zip(names, values, strict=True))), path)

    return write


def _write_trec(kept: KeptStudy, folder: Path) -> int:
    """Write the rankings and grades that may leave in TREC's form; return of how many topics.

    A topic is a task of a person: TASK.NUMBER. A document that nobody graded is in no line.
    """
    named = {key: trial for key, trial in kept.trials.items() if may_name(kept, *key)}
    named = {key: one for key, one in named.items() if all(map(is_word, _documents(one.lists)))}
    tasks = {task.id for task in kept.study.tasks}
    topics = {key: f"{key[1]}.{key[0]}" for key in sorted(named) if key[1] in tasks}
    if not topics:
        return 0
    with plain_when_writing(folder):
        (folder / "runs").mkdir()
    for condition in kept.study.conditions:
        path = folder / "runs" / f"{condition.replace(':', '-').replace('/', '-')}.run"
        with writing_run(path, condition) as run:
            for key, topic in topics.items():
                ranked = named[key].rankings().get(condition, ())
                run.add(topic, ranked, -np.arange(1.0, len(ranked) + 1))
    lines = (
        f"{topics[who, one.query_id]} 0 {one.object_id} {one.value}\n"
        for who, one in kept.events
        if one.action_name == GRADE and (who, one.query_id) in topics
    )
    _write(folder / "qrels.txt", "".join(lines))
    return len(topics)


def _documents(lists: Sequence[Sequence[str]]) -> list[str]:
    return [document for documents in lists for document in documents]


def methods(kept: KeptStudy, store: StudyStore, profiles: str, queries: str) -> str:
    """Return a paragraph about how the study in `store` was done.

    `profiles` and `queries` say what of them left.
    """
    study, people = kept.study, kept.people.values()
    finished = sum(one.finished > 0 for one in people)
    versions = sorted({one.consent for one in people})
    tasks = Counter(task.kind for task in study.tasks)
    kinds = ", ".join(f"{number} {kind}" for kind, number in tasks.items())
    orders = [">".join(study.conditions[at] for at in cell) for cell in study.cells]
    dealt = (
        f"Each person met one of the conditions, dealt by the fewest people in a cell: {orders}."
        if study.design == BETWEEN
        else f"Each person met all conditions. Their orders are the {len(orders)} rows of a "
        f"Williams square (1949): {'; '.join(orders)}. Task number n began at place n of the order."
    )
    agree = "" if study.design == BETWEEN else "; where all people agree, P is the sign test's"
    size = ", ".join(f"{one.id}: {one.seconds} s" for one in study.tasks)
    agreed = [f"{name}: {sum(name in one.opt_ins for one in people)}" for name in study.opt_ins]
    device = _DEVICE if study.device else ""
    simulated = store.simulated()
    invented = f"\n{simulated} of these people are simulated." if simulated else ""
    return f"""# Methods: {study.title}

{len(people)} people agreed to take part (consent version {", ".join(versions) or "none"}), and
{finished} of them finished; {study.participants} were planned.{invented} The conditions were
{", ".join(study.conditions)}. {dealt} Tasks: {kinds}. Time: {size}. Participants did not see
which condition was which.{device} {_rows_of(store.origin())}

Interleaved lists were made by team draft (Radlinski, Kurup & Joachims, CIKM 2008; for
three rankings or more Schuth et al., CIKM 2014). A click counts for the team of the
document, and equal credit is a tie. What chance decided follows from a seed of 128 random bits
for each person, which study.sqlite keeps: the draws of a task begin with SHA-256 of seed and task.

The unit of analysis is the person: their mean score over tasks, 1 for the first condition of a
pair, 0 for the second, 1/2 for neither. Grades give 1/2 plus half of the difference of mean
grades (weight 1 / log2(place + 1), only of graded documents). Intervals and P-values are
{"Welch's" if study.design == BETWEEN else "Student's"} t{agree}. Holm's correction is over
{comb(len(study.conditions), 2)} pairs. Strengths are those of Bradley and Terry (1952).

Opt-ins: {"; ".join(agreed) or "none"}. Published profiles: {profiles}. Published queries:
{queries}. Texts in forms are published of people who agreed to publish_texts. Documents that were
shown are published of people who agreed to publish_results.

Made by veilsearch {__version__}, Python {platform.python_version()}, numpy {np.__version__}.
"""


def _rows_of(origin: Mapping[str, str]) -> str:
    """Return sentences on the corpus and the rows of `origin`."""
    made = {name: json.loads(text) for name, text in origin.items() if name != "index"}
    sentences = [f"The corpus was {origin['index']}."] if origin else []
    for condition, one in made.items():
        chosen = ", ".join(f"{name}={value}" for name, value in one["parameters"].items())
        sentences.append(f"Rows of {condition} were made by {one['method']} ({chosen}).")
    return " ".join(sentences)
