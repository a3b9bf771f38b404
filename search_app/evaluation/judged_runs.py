"""A run of each mode and the own-profile judgments, for any IR tool [I/O]: all files or none.

MODE.run   for each mode, in TREC's form, with strictly falling scores
qrels.txt  qid 0 document relevance: 30, 29, ... 1 for the first 30 of the own-profile order
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import Progress
from anonymizer.storage.files import replaced_folder, replaced_whole

from ..errors import UsageError, plain_when_writing
from ..measures.precision import DEPTH
from ..search.engine import Ranking
from ..search.modes import Modes
from .batch import SearchOptions
from .judging import Answered, Judged, judge, why_not_judged
from .runs import RunWriter, writing_run
from .topics import Topic

QRELS = "qrels.txt"
_RUN = ".run"
_NO_WORD = re.compile(r"[^\w.:-]")


def judge_into(
    modes: Modes,
    topics: Sequence[Topic],
    names: Sequence[str],
    search: SearchOptions,
    folder: Path | None,
    progress: Progress,
) -> Judged:
    """Return `topics` judged in the modes `names`; write the runs into `folder` if it is given."""
    done = 0
    with ExitStack() as parts:
        runs = parts.enter_context(writing_runs(folder, names)) if folder else None
        for mode, run in runs.runs.items() if runs else ():
            search.describe(run, modes, mode)

        def on_answer(answer: Answered) -> None:
            nonlocal done
            done += 1
            progress(done)
            if runs:
                ids = modes.engine.ids(answer.pool.rows)
                runs.add(answer.topic.qid, ids, answer.gold, answer.rankings)

        judged = judge(modes, topics, names, search, on_answer)
        # Raised inside the block: then no runs are written.
        if not judged.qids:
            why = why_not_judged(judged.left_out)
            raise UsageError(f"none of {len(topics):,} queries can be judged; {why}")
        return judged


class RunsWriter(NamedTuple):
    """Writes topics: for each its judgments, and its ranking in each mode."""

    runs: Mapping[str, RunWriter]
    qrels: BufferedIOBase

    def add(
        self, qid: str, ids: NDArray[np.object_], gold: Ranking, rankings: Mapping[str, Ranking]
    ) -> None:
        """Write the topic `qid`; `ids` are the documents of its pool in the plain order."""
        for mode, ranking in rankings.items():
            self.runs[mode].add(qid, ids[ranking.plain_ranks - 1].tolist(), ranking.scores)
        relevant = ids[gold.plain_ranks[:DEPTH] - 1].tolist()
        graded = zip(relevant, range(DEPTH, 0, -1), strict=False)
        self.qrels.writelines(f"{qid} 0 {name} {grade}\n".encode() for name, grade in graded)


@contextmanager
def writing_runs(folder: Path, modes: Sequence[str]) -> Iterator[RunsWriter]:
    """Yield a writer of runs of `modes`; `folder` appears only if the block ends well."""
    check_place(folder)
    plain = partial(plain_when_writing, folder)
    with (
        replaced_folder(Path(os.path.realpath(folder)), lambda _: plain()) as new,
        ExitStack() as files,
    ):
        runs = {}
        for mode in modes:
            run = writing_run(new / f"{mode}{_RUN}", _NO_WORD.sub("-", f"veilsearch-{mode}"))
            runs[mode] = files.enter_context(run)
        qrels = replaced_whole(new / QRELS, 0o666, lambda _: plain())
        yield RunsWriter(runs, files.enter_context(qrels))


def check_place(folder: Path) -> None:
    """Refuse `folder` unless it is new, empty or holds nothing but runs."""
    with plain_when_writing(folder):
        if not os.path.lexists(folder):
            if not folder.parent.is_dir():
                raise UsageError(f"--run-dir {folder}: there is no folder {folder.parent}; make it")
            return
        if not folder.is_dir():
            raise UsageError(f"--run-dir {folder} must be a folder; name another")
        held = {path.name for path in folder.iterdir()}
    others = [name for name in held if name != QRELS and not name.endswith(_RUN)]
    if held and (others or QRELS not in held):
        raise UsageError(f"--run-dir {folder} holds other files than runs; name another folder")
