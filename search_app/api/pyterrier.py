"""PyTerrier: a transformer that re-ranks its results, the town as a dataset, and one Java for both.

PyTerrier finds `Java` and `Towns` by entry points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import numpy as np

from anonymizer.model import ReleasedRow
from anonymizer.terms.wordnet import open_wordnet
from index.corpora.reading import wordnet_entries
from index.lucene import jvm
from index.model import Account, Pool
from search_app.errors import UsageError
from search_app.evaluation.relevance import LabelledQuery, Relevance
from search_app.evaluation.runs import strictly_falling
from search_app.search.request import Request
from search_app.settings import load_settings
from search_app.tasks.town import TRUTH, relevance_for

from .people import profiles
from .searching import SearchIndex

try:
    import pandas
    import pyterrier as pt
except ImportError as fault:
    raise UsageError("PyTerrier is not installed; run: pip install python-terrier") from fault

Row = ReleasedRow | Mapping[str, ReleasedRow] | None
Profile = Mapping[str, float] | Mapping[str, Mapping[str, float]] | None


class Rerank(pt.Transformer):
    """Re-ranks results by a released row or a profile: the cosine with our vectors of documents."""

    def __init__(self, index: SearchIndex, *, row: Row = None, profile: Profile = None) -> None:
        """Order by a `row` or a `profile`: one for all queries, or a mapping that has one by qid.

        A query that the mapping lacks keeps its order.
        """
        if not isinstance(index, SearchIndex) or (row is None) == (profile is None):
            raise UsageError("Rerank needs index=vs.open_index(...), and either a row or a profile")
        given: Any = row if profile is None else profile
        # PyTerrier's qids are texts, so a number would be nobody's key, and all orders would stay.
        if isinstance(given, Mapping) and not all(isinstance(key, str) for key in given):
            raise UsageError("the keys of row= and profile= must be texts: qids, or terms")
        for one in given.values() if _is_by_query(profile) else [profile]:
            if one:
                profiles({"profile": one})  # refuses what is no weight
        self.index, self.row, self.profile = index, row, profile
        self._places = dict[str, int | None]()

    def transform(self, results: Any) -> Any:
        """Return the frame `results` (qid, docno, score and more) in the new order, with ranks."""
        pt.validate.result_frame(results)
        parts = [self._ranked(part) for _, part in results.groupby("qid", sort=False)]
        return pandas.concat(parts, ignore_index=True) if parts else results

    def _ranked(self, part: Any) -> Any:
        # Ranks say more than scores, which may be equal.
        before = "rank" if "rank" in part.columns else "score"
        part = part.sort_values(before, ascending=before == "rank", kind="stable")
        qid = str(part["qid"].iloc[0])
        row = self.row.get(qid) if isinstance(self.row, Mapping) else self.row
        engine, places = self.index._engine, np.array([*map(self._place, part["docno"])])
        pool = Pool(places, part["score"].to_numpy(np.float32))
        ranking = engine.rank(pool, Request(qid, len(pool), row=row, profile=self._profile_of(qid)))
        part = part.iloc[ranking.plain_ranks - 1]
        # Tools sort by score and break ties by docno, so equal scores would lose our order.
        scores = strictly_falling(ranking.scores).astype(np.float64)
        return part.assign(score=scores, rank=np.arange(len(part)))

    def _profile_of(self, qid: str) -> Mapping[str, float] | None:
        given: Any = self.profile
        return dict(given.get(qid) or {}) or None if _is_by_query(given) else given

    def _place(self, docno: str) -> int:
        if docno not in self._places:
            self._places[docno] = self.index.lucene.row_of(str(docno))
        place = self._places[docno]
        if place is None:
            raise UsageError(f"document {docno} is not in {self.index!r}; index the same corpus")
        return place


def _is_by_query(profile: Any) -> bool:
    return bool(profile) and isinstance(next(iter(profile.values())), Mapping)


class Java(pt.java.JavaInitializer):
    """Adds our jar where PyTerrier starts Java."""

    _ours: AbstractContextManager[None]

    def condition(self) -> bool:
        """Return true; refuse where Java runs without PyTerrier, before any jar is fetched."""
        if jvm.runs():
            raise UsageError(
                "veilsearch has started Java without PyTerrier's jars; import pyterrier before an "
                "index is opened"
            )
        return True

    def priority(self) -> int:
        """Return that it goes after the others, as the first jar settles how Java logs."""
        return 1000

    def pre_init(self, jnius_config: Any) -> None:
        """Put our jar and options into `jnius_config`, and name our Java."""
        # PyTerrier may have chosen an older Java, which can't read our jar.
        jvm.prepare(jnius_config)
        self._ours = jvm.environment()
        self._ours.__enter__()

    def post_init(self, jnius: Any) -> None:
        """Restore the environment, and quiet the JVM of `jnius`."""
        jvm.quiet(jnius)
        self._ours.__exit__(None, None, None)


class TownDataset(pt.datasets.Dataset):
    """The town's queries, and the entries of WordNet that are relevant by its truth."""

    # Drawn once, as topics and judgments must be of the same queries.
    @cached_property
    def _relevance(self) -> Relevance:
        return relevance_for(TRUTH, None, load_settings())

    def get_topics(self, variant: str | None = None) -> Any:
        """Return qid, query and user of the queries; with a `variant`: in or off interests."""
        topics = [one.topic for one in self._queries(variant)]
        lines = [(topic.qid, topic.query, topic.user) for topic in topics]
        return pandas.DataFrame(lines, columns=["qid", "query", "user"])

    def get_qrels(self, variant: str | None = None) -> Any:
        """Return the documents that share an interest with each query of `variant`."""
        chosen, labels = self._queries(variant), self._relevance.labels
        queries = [(one.topic.qid, label) for one in chosen for label in one.labels]
        documents = [(name, label) for name in labels for label in labels[name]]
        by_query = pandas.DataFrame(queries, columns=["qid", "interest"])
        by_document = pandas.DataFrame(documents, columns=["docno", "interest"])
        qrels = by_query.merge(by_document)[["qid", "docno"]].drop_duplicates()
        return qrels.assign(label=1)

    def get_corpus_iter(self, **_options: bool) -> Iterator[dict[str, str]]:
        """Yield docno, title and text of each entry of WordNet."""
        for one in wordnet_entries(open_wordnet(load_settings().cache), Account()):
            yield {"docno": one.id, "title": one.title, "text": one.text}

    def _queries(self, variant: str | None) -> list[LabelledQuery]:
        return [one for one in self._relevance.queries if variant in (None, one.kind)]


class Towns(pt.datasets.DatasetProvider):
    """Gives `pt.get_dataset("veilsearch:town")`: that of the workspace, with its truth."""

    def get_dataset(self, name: str) -> TownDataset:
        """Return the dataset `name`, which is the town."""
        if name != "town":
            raise KeyError(name)
        return TownDataset()

    def list_dataset_names(self) -> Iterable[str]:
        """Return the one name."""
        return ["town"]
