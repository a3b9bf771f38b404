"""An index: built or opened, and searched by a row, by a profile or by nothing [I/O]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

from anonymizer.model import ReleasedRow
from index.backends import LuceneBackend
from index.build import build_index as build
from index.corpora.reading import read_documents
from index.model import Account, Document, Index, SearchError
from search_app import console
from search_app.errors import UsageError
from search_app.search.engine import Engine
from search_app.search.request import Request
from search_app.settings import Settings, changed, load_settings
from search_app.workspace.folder import CURRENT, Workspace
from search_app.workspace.opening import open_by
from search_app.workspace.profile_choices import analysis, usual_terms

from .checking import Place, place_of, refuse_other_kind, whole
from .people import profiles
from .tables import html_table, records_of

if TYPE_CHECKING:
    from index.forward.reading import Forward


class Hit(NamedTuple):
    """A document that was found, and its place without personalization."""

    rank: int
    id: str
    score: float
    plain_rank: int
    title: str


class Hits(list[Hit]):
    """The best documents for a query, the best first."""

    def _repr_html_(self) -> str:
        return html_table(hit._asdict() for hit in self)


@dataclass(frozen=True, repr=False, eq=False)
class SearchIndex:
    """An index that is open for searching."""

    lucene: Index
    forward: Forward
    settings: Settings
    folder: Path

    def __len__(self) -> int:
        return self.forward.documents

    def __repr__(self) -> str:
        return f"<SearchIndex: {len(self):,} documents in {self.folder}>"

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.lucene, self.forward, self.settings.vectors)

    def search(
        self,
        query: str,
        size: int = 10,
        *,
        row: ReleasedRow | None = None,
        profile: Mapping[str, float] | None = None,
        pool: int = 100,
    ) -> Hits:
        """Return the `size` best documents for `query`, re-ranked among the `pool` best of Lucene.

        They are ordered by a released `row`, by a `profile`, or by neither.
        """
        if row is not None and profile is not None:
            raise UsageError("row and profile are given; a search takes one of them")
        if row is not None and not isinstance(row, ReleasedRow):
            raise UsageError("row must be a released row: release.row_for(user)")
        if profile is not None and not isinstance(profile, Mapping):
            raise UsageError("profile must be terms with weights: people[user]")
        if profile:
            profiles({"profile": profile})  # refuses what is no weight
        refuse_other_kind("query", query, str)
        if whole("size", size, 1) > whole("pool", pool, 1):
            raise UsageError(f"size={size} is more than pool={pool}")
        # One engine for all searches: it keeps what it prepared for a row or a profile.
        engine = self._engine
        ranking = engine.rank(
            engine.pool(query, pool), Request(query, pool, profile=profile, row=row)
        )
        rows = ranking.rows[:size]
        places = zip(
            engine.ids(rows),
            ranking.scores,
            ranking.plain_ranks,
            engine.documents(rows),
            strict=False,
        )
        return Hits(
            Hit(rank, str(name), float(score), int(plain), document.title)
            for rank, (name, score, plain, document) in enumerate(places, 1)
        )


def open_index(path: Place) -> SearchIndex:
    """Return the index in the folder `path`, or the current one of the workspace there."""
    folder = place_of(path)
    settings = load_settings()
    if not folder.is_dir():  # a notebook runs in its own folder, which its reader may not know
        raise SearchError(f"{folder}: there is no such folder in {Path.cwd()}")
    if (folder / CURRENT).is_file():
        settings = load_settings(folder)
        folder = Workspace(folder).find("index")
    return _opened(folder, settings)


def build_index(documents: Any, path: Place | None = None, language: str = "en") -> SearchIndex:
    """Return an index of `documents`, built in the new folder `path`, or as long as it is used.

    `documents` are a file or folder in any format that `veilsearch index` reads, a table, or
    mappings with the texts `id` and `text`, and perhaps `title` and `url`. Their
    `language` is en, de or fr.
    """
    with ExitStack() as removal:
        if path is None:
            parent = mkdtemp(prefix="veilsearch-")
            removal.callback(rmtree, parent, ignore_errors=True)
        folder = Path(parent, "index") if path is None else place_of(path)
        settings, account = changed(load_settings(), language=language), Account()
        with console.progress("index") as progress:
            build(
                _documents(documents, account),
                analysis(usual_terms(language), settings),
                folder,
                account=account,
                language=language,
                backend=LuceneBackend(settings.heap),
                progress=progress,
            )
        made = _opened(folder, settings)
        # Lucene keeps its files open, so the folder stays as long as the object.
        finalize(made, removal.pop_all().close)
    return made


def _opened(folder: Path, settings: Settings) -> SearchIndex:
    return SearchIndex(*open_by(folder, settings), settings, folder)


def _documents(given: Any, account: Account) -> Iterator[Document]:
    if isinstance(given, str | PathLike):
        return read_documents([Path(given)], None, account)
    records = records_of(given)
    if records is None and not isinstance(given, Iterable):
        raise UsageError(f"documents can't be read from a {type(given).__name__}")
    return _from_records(given if records is None else records, account)


def _from_records(records: Iterable[Any], account: Account) -> Iterator[Document]:
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping) or not {"id", "text"} <= record.keys():
            raise UsageError(f"document {number} must be a mapping with id and text")
        account.read += 1
        fields = (record.get(name) for name in ("id", "title", "text", "url"))
        # Tables have NaN, which is unlike itself, where nothing is.
        yield Document(*("" if one is None or one != one else str(one) for one in fields))  # noqa: PLR0124
