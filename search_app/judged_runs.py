"""The runs of each mode and the own-profile judgments, for any IR tool [I/O]: all or none.

MODE.run   one a mode, TREC's form, strictly falling scores
qrels.txt  qid 0 document relevance: 30, 29, ... 1 for the first 30 of the own-profile order
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from anonymizer.records import exchange, sync_folder

from .engine import Ranking
from .errors import UsageError, plain_when_writing
from .evaluation import DEPTH
from .runs import RunWriter, writing_run

QRELS = "qrels.txt"
_RUN = ".run"
_NO_WORD = re.compile(r"[^\w.:-]")


class RunsWriter:
    """Writes one topic after another: its judgments, and its ranking in each mode."""

    def __init__(self, runs: Mapping[str, RunWriter], qrels: TextIO) -> None:
        self._runs = runs
        self._qrels = qrels

    def add(
        self, qid: str, ids: NDArray[np.object_], gold: Ranking, rankings: Mapping[str, Ranking]
    ) -> None:
        """Write a topic; ids are those of its pool in the plain order."""
        for mode, ranking in rankings.items():
            self._runs[mode].add(qid, ids[ranking.plain_ranks - 1].tolist(), ranking.scores)
        relevant = ids[gold.plain_ranks[:DEPTH] - 1].tolist()
        self._qrels.writelines(
            f"{qid} 0 {name} {DEPTH - place}\n" for place, name in enumerate(relevant)
        )


@contextmanager
def writing_runs(folder: Path, modes: Sequence[str]) -> Iterator[RunsWriter]:
    """Write a folder beside its place, and put it there when the block has ended well."""
    check_place(folder)
    place = Path(os.path.realpath(folder))
    new = place.with_name(f".{place.name[:40]}.{secrets.token_hex(4)}")
    with plain_when_writing(folder):
        new.mkdir()
    try:
        with ExitStack() as files:
            runs = {mode: files.enter_context(_run(new, mode)) for mode in modes}
            with plain_when_writing(folder):
                qrels = files.enter_context((new / QRELS).open("w", encoding="utf-8", newline=""))
            yield RunsWriter(runs, qrels)
            with plain_when_writing(folder):
                qrels.flush()
                os.fsync(qrels.fileno())
        with plain_when_writing(folder):
            sync_folder(new)
            _switch(new, place)
            sync_folder(place.parent)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # what was replaced, or is not whole


@contextmanager
def _run(folder: Path, mode: str) -> Iterator[RunWriter]:
    with writing_run(folder / f"{mode}{_RUN}", _NO_WORD.sub("-", f"veilsearch-{mode}")) as run:
        yield run


def _switch(new: Path, place: Path) -> None:
    if not place.exists():
        new.rename(place)
    elif not exchange(new, place):
        old = new.with_name(f"{new.name}.old")
        place.rename(old)
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)


def check_place(folder: Path) -> None:
    """Refuse to replace anything but an empty folder or one of runs."""
    with plain_when_writing(folder):
        if not os.path.lexists(folder):
            if not folder.parent.is_dir():
                raise UsageError(f"--run-dir {folder}: there is no folder {folder.parent}; make it")
            return
        if not folder.is_dir():
            raise UsageError(f"--run-dir {folder} must be a folder; name another")
        held = {each.name for each in folder.iterdir()}
    if held and (QRELS not in held or any(not _is_ours(name) for name in held)):
        raise UsageError(f"--run-dir {folder} holds other files than runs; name another folder")


def _is_ours(name: str) -> bool:
    return name == QRELS or name.endswith(_RUN)
