"""Build an index from corpora, or update one, and make it the workspace's current index."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from anonymizer.terms.wordnet import open_wordnet
from index.backends import OpenSearchBackend, language_of
from index.build import build_index, copy_index, update_index
from index.corpora.files import corpus_files
from index.corpora.irds import read_dataset
from index.corpora.reading import read_documents, wordnet_entries
from index.lucene.searching import K1, B
from index.manifest import read_manifest
from index.model import Account, Document, NothingChanged
from index.sources import changes_of, read_sources

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.builds import name_of
from ..workspace.folder import Workspace
from ..workspace.opening import backend_of
from ..workspace.profile_choices import analysis, usual_terms


@dataclass(frozen=True)
class Corpus:
    """What to index: files and folders, or ids of ir_datasets."""

    paths: Sequence[str]
    form: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # of tables: field -> its column


def build_index_of(corpus: Corpus, name: str, settings: Settings) -> dict[str, Any]:
    """Build index `name` from `corpus`, switch to it, and return what was read and skipped."""
    workspace, account = Workspace(settings.workspace), Account()
    folder = workspace.new_index(name)
    manifest = _built(corpus, folder, account, settings)
    return _switched(workspace, manifest, account, folder, settings)


def copy_index_of(name: str, settings: Settings) -> dict[str, Any]:
    """Copy the index `name` that is current in the cluster, and return its figures.

    It becomes the workspace's current index.
    """
    workspace, backend = Workspace(settings.workspace), backend_of(settings)
    if not isinstance(backend, OpenSearchBackend):
        raise UsageError('--from-cluster needs backend = "opensearch" in [search]')
    folder = workspace.new_index(name)
    manifest = copy_index(folder, backend)
    return _now_current(workspace, manifest, Account(), folder)


def copy_later_index(settings: Settings) -> bool:
    """Copy the current index if the cluster in `settings` has a later fill; return whether."""
    workspace, backend = Workspace(settings.workspace), backend_of(settings)
    if not isinstance(backend, OpenSearchBackend):
        return False
    with closing(backend.cluster):
        folder = workspace.find("index")
        if not backend.has_later(read_manifest(folder)):
            return False
    # One that fills here is not waited for: it switches this workspace itself.
    with workspace.writing("serve"):
        copy_index_of(name_of(folder), settings)
    return True


def _built(corpus: Corpus, folder: Path, account: Account, settings: Settings) -> dict[str, Any]:
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        return build_index(
            _documents(corpus, account, settings),
            analysis(usual_terms(settings.language), settings),
            folder,
            account=account,
            bm25=(
                K1 if settings.k1 is None else settings.k1,
                B if settings.b is None else settings.b,
            ),
            language=settings.language,
            backend=backend_of(settings),
            progress=progress,
        )


def index_for(corpus: list[str], settings: Settings) -> Path:
    """Return the build of an index of the files `corpus`; one made before is used again.

    The current index stays current.
    """
    workspace, account = Workspace(settings.workspace), Account()
    whole = hashlib.sha256()
    for file, _ in corpus_files([Path(path) for path in corpus], None, Account()):
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    name = f"corpus-{whole.hexdigest()[:12]}"
    if name in workspace.builds():
        return workspace.index_named(name)
    with workspace.writing("experiment"):
        folder = workspace.new_index(name)
        manifest = _built(Corpus(corpus), folder, account, settings)
        workspace.record_index(folder)
        backend_of(settings).switch(manifest)
    return folder


def update_index_of(
    corpus: Corpus | None, name: str | None, settings: Settings, *, delete: list[str]
) -> dict[str, Any]:
    """Add `corpus` to an index, take the ids in `delete` out of it, and return what has changed."""
    workspace, account = Workspace(settings.workspace), Account()
    old = _old(workspace, name)
    documents = _documents(corpus, account, settings) if corpus else ()
    return _updated(workspace, old, documents, account, settings, delete=delete)


def reread_index_of(corpus: Corpus, name: str | None, settings: Settings) -> dict[str, Any]:
    """Read again what is new, changed or gone in the files of `corpus`; return what has changed."""
    workspace, account = Workspace(settings.workspace), Account()
    old = _old(workspace, name)
    paths = [Path(path) for path in corpus.paths]
    became = changes_of(paths, corpus.form, read_sources(old))
    files = {"new": len(became.new), "changed": len(became.changed), "gone": len(became.gone)}
    files["unchanged"] = len(became.same)
    account.sources.update(dict.fromkeys(became.gone))
    documents = _documents(corpus, account, settings, but=became.same)
    try:
        made = _updated(workspace, old, documents, account, settings, delete=became.ids)
    except NothingChanged:
        made = _figures(old, read_manifest(old), account)
    return {**made, "files": files}


def _old(workspace: Workspace, name: str | None) -> Path:
    return workspace.index_named(name) if name else workspace.find("index")


def _updated(
    workspace: Workspace,
    old: Path,
    documents: Iterable[Document],
    account: Account,
    settings: Settings,
    *,
    delete: list[str],
) -> dict[str, Any]:
    """Switch to a build of `old` with `documents` and without the ids in `delete`."""
    if (spoken := language_of(read_manifest(old))) != settings.language:
        raise UsageError(
            f"{old} was built with language={spoken}, and the setting is {settings.language}; "
            "build it again or change veilsearch.toml"
        )
    # The result is a new folder: searches go on in the old one until the switch.
    folder = workspace.new_index(old.name.rpartition(".")[0])
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        manifest = update_index(
            old,
            documents,
            analysis(usual_terms(settings.language), settings),
            folder,
            delete=delete,
            account=account,
            backend=backend_of(settings),
            progress=progress,
        )
    change = {key: value for key, value in manifest["changes"][-1].items() if key != "account"}
    return {**_switched(workspace, manifest, account, folder, settings), "change": change}


def _switched(
    workspace: Workspace,
    manifest: dict[str, Any],
    account: Account,
    folder: Path,
    settings: Settings,
) -> dict[str, Any]:
    """Switch to the build in `folder`, here and in a cluster, and return its figures."""
    figures = _now_current(workspace, manifest, account, folder)
    backend_of(settings).switch(manifest)
    return figures


def _now_current(
    workspace: Workspace, manifest: dict[str, Any], account: Account, folder: Path
) -> dict[str, Any]:
    """Make the build in `folder` current and return its figures; say if the name changes."""
    if name := workspace.switch_index(folder):
        console.say(f"search and serve use {name} from now on")
    return _figures(folder, manifest, account)


def _figures(folder: Path, manifest: dict[str, Any], account: Account) -> dict[str, Any]:
    """Return what is in the build in `folder`, and what was read for it."""
    return {
        "index": str(folder),
        "documents": manifest["counts"]["documents"],
        "terms": manifest["counts"]["terms"],
        "read": account.read,
        "skipped": dict(account.skipped),
        "first_skips": [f"{file}: {where}: {why}" for file, where, why in account.first_skips],
        "duplicates": account.duplicates,
        "truncated": account.truncated,
        "latin1": account.latin1,
        "cut": account.cut,
        "fingerprint": manifest["fingerprint"],
    }


def _documents(
    corpus: Corpus, account: Account, settings: Settings, *, but: Collection[str] = ()
) -> Iterator[Document]:
    if bool(corpus.paths) == (corpus.form == "wordnet"):
        raise UsageError(
            "--format wordnet is WordNet itself and takes no CORPUS"
            if corpus.paths
            else "name a CORPUS (files, folders, ids of ir_datasets), or take --format wordnet"
        )
    if corpus.form == "wordnet":
        return wordnet_entries(open_wordnet(settings.cache), account)
    if corpus.form == "irds":
        return chain.from_iterable(read_dataset(name, account) for name in corpus.paths)
    paths = [Path(path) for path in corpus.paths]
    return read_documents(paths, corpus.form, account, columns=corpus.columns, but=but)
