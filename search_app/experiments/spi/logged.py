"""People's queries, which releases of a log are measured on, and how sensitive each query is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints, Marks
from anonymizer.measures.indices.divergence import Compared
from anonymizer.measures.indices.log_pairs import LogPair
from anonymizer.model import QueryLog
from anonymizer.sensitivity.classifier import SensitivityModel
from anonymizer.sensitivity.files import read_model
from anonymizer.sensitivity.lexicon import Lexicon, build_lexicon
from anonymizer.terms.wordnet import open_wordnet

from ...errors import UsageError
from ...settings import Settings
from ...tasks.sensitivity import matched, trained_weakly


@dataclass(frozen=True)
class Sensitive:
    """How to know what is sensitive: words, and a model; without one, it is trained weakly."""

    lexicon: Lexicon
    model: SensitivityModel | None = None


@dataclass(frozen=True)
class LoggedPeople:
    """What people asked, as numbers only, and the probability of each query to be sensitive."""

    events: csr_matrix  # people x different queries: how often
    words: csr_matrix  # queries x words
    sensitive: Floats  # query -> probability
    listed: Marks  # query -> whether it has a name, a place or a private word
    model: SensitivityModel
    sources: tuple[str, ...]  # of these names, places and words

    @cached_property
    def people_of(self) -> Ints:
        """Return the number of people who asked each query."""
        return np.bincount(self.events.indices, minlength=self.events.shape[1]).astype(np.int64)

    @cached_property
    def impressions(self) -> Floats:
        """Return how often each query was asked by all people."""
        return np.asarray(self.events.sum(axis=0), dtype=np.float64).ravel()

    def digest(self) -> str:
        """Return a hash of all numbers here."""
        whole = hashlib.sha256()
        for part in (*_arrays(self.events), *_arrays(self.words), self.sensitive, self.listed):
            whole.update(np.ascontiguousarray(part).tobytes())
        return whole.hexdigest()


def sensitive_by(
    model: Path | None, names: Sequence[Path], places: Sequence[Path], settings: Settings
) -> Sensitive:
    """Return the words of WordNet's domains and of `names` and `places`, and the `model` if any."""
    lexicon = build_lexicon(open_wordnet(settings.cache), names, places)
    return Sensitive(lexicon, read_model(model) if model else None)


def logged_people(log: QueryLog, least: int, sensitive: Callable[[], Sensitive]) -> LoggedPeople:
    """Return the people of `log` with `least` queries or more, and how `sensitive` these are."""
    enough = np.bincount(log.user, minlength=len(log.users)) >= least
    if not enough.any():
        raise UsageError(f"least_queries={least} leaves nobody; lower it")
    kept = enough[log.user]
    used, query = np.unique(log.query[kept], return_inverse=True)
    user = np.cumsum(enough)[log.user[kept]] - 1
    texts = [log.queries.text(at) for at in used.tolist()]
    shape = (int(enough.sum()), used.size)
    events = csr_matrix((np.ones(query.size), (user, query)), shape=shape)
    events.sort_indices()
    how = sensitive()
    model = how.model or trained_weakly(texts, how.lexicon).model
    return LoggedPeople(
        events,
        LogPair(Compared(events, events), (), texts).words,
        model.probabilities(texts),
        matched(texts, how.lexicon),
        model,
        how.lexicon.sources,
    )


def _arrays(matrix: csr_matrix) -> tuple[np.ndarray, ...]:
    return matrix.data, matrix.indices, matrix.indptr
