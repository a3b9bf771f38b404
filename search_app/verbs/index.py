"""veilsearch index: build an index from a corpus, or add to one and delete from it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from index.model import Account, Document

NAME = "corpus"
PLACES = 5  # of what was skipped, shown for each reason
HINT = " (--json lists more places)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="files or folders")
    parser.add_argument(
        "--format",
        help="trec, jsonl, beir or tsv, told by the files if not given; wordnet is embedded; "
        "irds takes ids of ir_datasets as CORPUS",
    )
    parser.add_argument("--name", metavar="N", help=f"the index's name ({NAME}; else the current)")
    parser.add_argument(
        "--add", action="store_true", help="add to the index; a document replaces the one of its id"
    )
    parser.add_argument(
        "--delete",
        action="append",
        default=[],
        metavar="ID",
        help="delete a document (again and again; --delete=-x for an id -x)",
    )
    parser.add_argument("--delete-from", type=Path, metavar="FILE", help="delete the ids it lists")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build or update the index and make it the workspace's current one."""
    corpus, form, name = arguments.corpus, arguments.format, arguments.name
    delete = [*arguments.delete, *_listed(arguments.delete_from)]
    if arguments.delete_from and not delete and not arguments.add:
        raise UsageError(f"{arguments.delete_from} lists no id; give a file of ids, one a line")
    updates = arguments.add or bool(delete)
    _refuse_mixtures(arguments, bool(delete))
    with Workspace(settings.workspace).writing("index"):
        if updates:
            made = update_index_of(corpus, form, name, settings, delete=delete)
        else:
            made = build_index_of(corpus, form, name or NAME, settings)
    if arguments.json:
        console.show_json(made)
    else:
        _print(made)
    return 0


def build_index_of(
    corpus: list[str], form: str | None, name: str, settings: Settings
) -> dict[str, Any]:
    """Build an index, switch to it, and return what was read, skipped and made."""
    from anonymizer.counting import TermCounter
    from anonymizer.text import Analysis
    from anonymizer.wordnet import open_wordnet
    from index.build import build_index
    from index.lucene import K1, B
    from index.model import Account

    workspace = Workspace(settings.workspace)
    account = Account()
    folder = workspace.new_index(name)
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        manifest = build_index(
            _documents(corpus, form, account, settings),
            TermCounter(Analysis(open_wordnet(settings.cache))),
            folder,
            account=account,
            k1=K1 if settings.k1 is None else settings.k1,
            b=B if settings.b is None else settings.b,
            heap=settings.heap,
            progress=progress,
        )
    _switch(workspace, folder)
    return _facts(manifest, account, folder)


def update_index_of(
    corpus: list[str],
    form: str | None,
    name: str | None,
    settings: Settings,
    *,
    delete: list[str],
) -> dict[str, Any]:
    """Delete from an index and add to it, switch to the result, and say what has changed."""
    from anonymizer.counting import TermCounter
    from anonymizer.text import Analysis
    from anonymizer.wordnet import open_wordnet
    from index.build import update_index
    from index.model import Account

    workspace = Workspace(settings.workspace)
    account = Account()
    old = workspace.index_to_update(name)
    folder = workspace.new_index(old.name.rpartition(".")[0])
    adds = bool(corpus) or form is not None
    with console.corpus_progress("index", lambda: (account.done, account.size)) as progress:
        manifest = update_index(
            old,
            _documents(corpus, form, account, settings) if adds else (),
            TermCounter(Analysis(open_wordnet(settings.cache))),
            folder,
            delete=delete,
            account=account,
            heap=settings.heap,
            progress=progress,
        )
    _switch(workspace, folder)
    change = {key: value for key, value in manifest["changes"][-1].items() if key != "account"}
    return {**_facts(manifest, account, folder), "change": change}


def _switch(workspace: Workspace, folder: Path) -> None:
    """Switch to a build; say so where searches go to another index than before."""
    if name := workspace.switch_index(folder):
        console.say(f"search and serve use {name} from now on")


def _documents(
    corpus: list[str], form: str | None, account: Account, settings: Settings
) -> Iterator[Document]:
    from anonymizer.wordnet import open_wordnet
    from index.catalogue import read_dataset
    from index.documents import read_documents, wordnet_entries

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


def _listed(path: Path | None) -> list[str]:
    """Read a list of ids, one a line."""
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as fault:
        said = getattr(fault, "strerror", None) or "not UTF-8"
        raise UsageError(
            f"{path} can't be read ({said}); give a file of ids, one a line"
        ) from fault
    return [line.strip() for line in lines if line.strip()]


def _refuse_mixtures(arguments: argparse.Namespace, deletes: bool) -> None:
    corpus = bool(arguments.corpus) or arguments.format is not None
    if corpus and deletes and not arguments.add:
        raise UsageError("to add a CORPUS and delete from the same index, say --add as well")
    if arguments.add and not corpus:
        raise UsageError("--add needs a CORPUS (files or folders) to add")


def _facts(manifest: dict[str, Any], account: Account, folder: Path) -> dict[str, Any]:
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


def _print(made: dict[str, Any]) -> None:
    console.show(f"{made['documents']:,} documents over {made['terms']:,} terms: {made['index']}")
    for what, count in made.get("change", {}).items():
        if count:
            console.show(f"  {_CHANGES[what]}: {count:,}")
    for reason, count in made["skipped"].items():
        console.show(f"  skipped: {reason}: {count:,}")
        places = [place for place in made["first_skips"] if place.endswith(f": {reason}")]
        for place in places[:PLACES]:
            console.say(f"  {place}")
        if count > PLACES:
            console.say(f"  … and {count - PLACES:,} more{HINT if len(places) > PLACES else ''}")
    for what, said in _NOTED.items():
        if made[what]:
            console.show(f"  {said}: {made[what]:,}")


_CHANGES = {
    "added": "added",
    "replaced": "of these in place of one with the same id",
    "deleted": "deleted",
    "missing": "ids to delete that are not in the index",
}
_NOTED = {
    "duplicates": "ids that came again (the last one stays)",
    "truncated": "documents without an end, read all the same",
    "latin1": "documents that are not UTF-8, read as Latin-1",
}
