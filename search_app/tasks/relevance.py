"""Where relevance comes from [I/O]: the truth of the workspace's town, or files of labels."""

from __future__ import annotations

from pathlib import Path

from anonymizer.terms.wordnet import open_wordnet

from ..errors import UsageError
from ..evaluation.relevance import Relevance, read_relevance
from ..settings import Settings
from ..town.relevance import truth_relevance
from ..workspace.folder import Workspace

TRUTH = "truth"


def relevance_for(source: str, labels: Path | None, settings: Settings) -> Relevance:
    """Return the relevance in the file `source` and `labels`; for "truth", by the town's truth."""
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
