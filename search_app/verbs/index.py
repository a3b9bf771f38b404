"""veilsearch index: build an index from a corpus."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace import Workspace

if TYPE_CHECKING:
    from index.documents import Account


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("corpus", type=Path, nargs="*", metavar="CORPUS", help="files or folders")
    parser.add_argument("--format", help="trec, jsonl or wordnet (told by the files if not given)")
    parser.add_argument("--name", default="corpus", metavar="N", help="the index's name (corpus)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build the index and make it the workspace's current one."""
    with Workspace(settings.workspace).writing():
        made = build_index_of(arguments.corpus, arguments.format, arguments.name, settings)
    if arguments.json:
        console.show_json(made)
        return 0
    console.show(f"{made['documents']:,} documents over {made['terms']:,} terms: {made['index']}")
    for reason, count in made["skipped"].items():
        console.show(f"  skipped: {reason}: {count:,}")
    for place in made["first_skips"]:
        console.say(f"  {place}")
    if made["duplicates"]:
        console.show(f"  ids that came again (the last one stays): {made['duplicates']:,}")
    return 0


def build_index_of(
    corpus: list[Path], form: str | None, name: str, settings: Settings
) -> dict[str, Any]:
    """Build an index, switch to it, and return what was read, skipped and made."""
    from anonymizer.text import Analysis
    from anonymizer.wordnet import open_wordnet
    from index.build import build_index
    from index.documents import Account, read_documents, wordnet_entries

    if bool(corpus) == (form == "wordnet"):
        raise UsageError(
            "--format wordnet is WordNet itself and takes no CORPUS"
            if corpus
            else "name a CORPUS (files or folders), or take --format wordnet"
        )
    workspace = Workspace(settings.workspace)
    wordnet = open_wordnet(settings.cache)
    account = Account()
    documents = (
        wordnet_entries(wordnet, account)
        if form == "wordnet"
        else read_documents(corpus, form, account)
    )
    folder = workspace.new_index(name)
    with console.progress("index") as progress:
        manifest = build_index(
            documents,
            Analysis(wordnet).terms,
            folder,
            account=account,
            k1=settings.k1,
            b=settings.b,
            heap=settings.heap,
            progress=progress,
        )
    workspace.switch_index(folder)
    return _facts(manifest, account, folder)


def _facts(manifest: dict[str, Any], account: Account, folder: Path) -> dict[str, Any]:
    return {
        "index": str(folder),
        "documents": manifest["counts"]["documents"],
        "terms": manifest["counts"]["terms"],
        "read": account.read,
        "skipped": dict(account.skipped),
        "first_skips": [f"{file}: {where}: {why}" for file, where, why in account.first_skips],
        "duplicates": account.duplicates,
    }
