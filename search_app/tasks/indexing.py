"""Build an index from corpora, or update one, and make it the workspace's current index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from anonymizer.terms.wordnet import open_wordnet
from index.build import build_index, update_index
from index.corpora.files import corpus_files
from index.corpora.irds import read_dataset
from index.corpora.reading import read_documents, wordnet_entries
from index.lucene.searching import K1, B
from index.model import Account, Document

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from ..workspace.profile_choices import analysis


def build_index_of(
    corpus: list[str], form: str | None, name: str, settings: Settings
) -> dict[str, Any]:
    """Build index `name` from `corpus`, switch to it, and return what was read and skipped."""
    workspace, account = Workspace(settings.workspace), Account()
    folder = workspace.new_index(name)
    manifest = _built(corpus, form, folder, account, settings)
    return _switched(workspace, manifest, account, folder)


def _built(
    corpus: list[str], form: str | None, folder: Path, account: Account, settings: Settings
) -> dict[str, Any]:
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        return build_index(
            _documents(corpus, form, account, settings),
            analysis("wordnet", settings),
            folder,
            account=account,
            k1=K1 if settings.k1 is None else settings.k1,
            b=B if settings.b is None else settings.b,
            heap=settings.heap,
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
        _built(corpus, None, folder, account, settings)
        workspace.record_index(folder)
    return folder


def update_index_of(
    corpus: list[str],
    form: str | None,
    name: str | None,
    settings: Settings,
    *,
    delete: list[str],
) -> dict[str, Any]:
    """Add `corpus` to an index, take the ids in `delete` out of it, and return what has changed."""
    # The result is a new folder: searches go on in the old one until the switch.
    workspace, account = Workspace(settings.workspace), Account()
    old = workspace.index_named(name) if name else workspace.find("index")
    folder = workspace.new_index(old.name.rpartition(".")[0])
    adds = bool(corpus) or form is not None
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        manifest = update_index(
            old,
            _documents(corpus, form, account, settings) if adds else (),
            analysis("wordnet", settings),
            folder,
            delete=delete,
            account=account,
            heap=settings.heap,
            progress=progress,
        )
    change = {key: value for key, value in manifest["changes"][-1].items() if key != "account"}
    return {**_switched(workspace, manifest, account, folder), "change": change}


def _switched(
    workspace: Workspace, manifest: dict[str, Any], account: Account, folder: Path
) -> dict[str, Any]:
    """Switch to the build in `folder` and return its figures; say if the current name changes."""
    if name := workspace.switch_index(folder):
        console.say(f"search and serve use {name} from now on")
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
        "fingerprint": manifest["fingerprint"],
    }


def _documents(
    corpus: list[str], form: str | None, account: Account, settings: Settings
) -> Iterator[Document]:
    if bool(corpus) == (form == "wordnet"):
        raise UsageError(
            "--format wordnet is WordNet itself and takes no CORPUS"
            if corpus
            else "name a CORPUS (files, folders, ids of ir_datasets), or take --format wordnet"
        )
    if form == "wordnet":
        return wordnet_entries(open_wordnet(settings.cache), account)
    if form == "irds":
        return chain.from_iterable(read_dataset(name, account) for name in corpus)
    return read_documents([Path(path) for path in corpus], form, account)
