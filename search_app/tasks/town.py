"""The synthetic town as files: its log, next to it its truth, and relevance by that truth."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.terms.wordnet import WordNet, open_wordnet

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace, with_check, write_whole

if TYPE_CHECKING:
    from ..evaluation.relevance import Relevance

TRUTH = "truth"


def truth_path(log: Path) -> Path:
    """Return the path of the truth of a synthetic `log`."""
    return log.with_suffix(".truth.json")


def write_town(
    wordnet: WordNet, log: Path, *, users: int | None, queries: int | None, seed: int
) -> dict[str, Any]:
    """Build a town of `users`, write its `log` and truth, and return what was made."""
    from .. import town as towns

    if not log.name or log.is_dir():
        raise UsageError(f"-o {log} must be a file, like town.tsv")
    sizes = {"users": users, "queries": queries}
    given = {name: size for name, size in sizes.items() if size is not None}
    with console.progress("town", users) as progress:
        town = towns.build_town(
            wordnet, **given, rng=np.random.default_rng(seed), progress=progress
        )
    text = towns.log_text(town)
    # By the hash a log that was changed is told apart: its people may be real.
    truth = {**towns.truth(town, seed), "log_sha256": hashlib.sha256(text.encode()).hexdigest()}
    # The truth first: a log without it would be taken for a log of real people.
    write_whole(truth_path(log), with_check(truth))
    write_whole(log, text)
    return {
        "log": str(log),
        "truth": str(truth_path(log)),
        "people": len(town.people),
        "lines": len(town.lines),
        "seed": seed,
    }


def town_log(workspace: Workspace) -> Path:
    """Return the log of the town of `workspace`: the only log that a workspace knows."""
    truth = workspace.current().truth
    log = workspace.root / truth.replace(".truth.json", ".tsv")
    if not truth or truth_path(log) != workspace.root / truth or not log.is_file():
        raise UsageError("the workspace has no town; name a log with --log LOG")
    return log


def relevance_for(source: str, labels: Path | None, settings: Settings) -> Relevance:
    """Return the relevance in the file `source` and `labels`; for "truth", by the town's truth."""
    from ..evaluation.relevance import read_relevance
    from ..town.relevance import truth_relevance

    if source != TRUTH:
        if labels is None:
            raise UsageError(f"{source} needs labels of documents, too; give --labels LABELS")
        return read_relevance(Path(source), labels)
    if labels is not None:
        raise UsageError("the town's truth has its own labels; leave out --labels")
    truth = Workspace(settings.workspace).truth()
    if truth is None:
        raise UsageError(
            f"{settings.workspace} has no invented people whose truth is known; give queries and "
            "--labels"
        )
    return truth_relevance(open_wordnet(settings.cache), truth)
