"""veilsearch index: build an index from a corpus, add to it or delete from it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import INDEX_NAME, Workspace
from .arguments import add_json, ids_in

PLACES = 5  # skipped documents shown for each reason
_FIELDS = ("id", "title", "text", "url")
HINT = " (--json lists more places)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="files or folders")
    parser.add_argument(
        "--format",
        help="trec, jsonl, beir, tsv, csv, pdf, html, markdown or text (default: recognized from "
        "the files); wordnet: WordNet's entries, without CORPUS; irds: CORPUS is ids of "
        "ir_datasets",
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=NAME",
        help="of CSV files: which column is the id, title, text or url; may be repeated",
    )
    parser.add_argument(
        "--name",
        metavar="N",
        help=f"name of the index (default: {INDEX_NAME}; with --add or --delete the current one)",
    )
    parser.add_argument(
        "--add",
        action="store_true",
        help="add to the index; a document replaces the one with its id",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="read only files in CORPUS that are new, changed or gone since the index read them",
    )
    parser.add_argument(
        "--from-cluster",
        action="store_true",
        help="copy the index that another host filled into OpenSearch, without CORPUS",
    )
    parser.add_argument(
        "--delete",
        action="append",
        default=[],
        metavar="ID",
        help="delete the document with this id; may be repeated (write --delete=-x for the id -x)",
    )
    parser.add_argument(
        "--delete-from",
        type=Path,
        metavar="FILE",
        help="delete the documents whose ids it lists, one a line",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build or update the index that `arguments` name, make it current, and return 0."""
    from ..tasks.indexing import (
        Corpus,
        build_index_of,
        copy_index_of,
        reread_index_of,
        update_index_of,
    )

    corpus = Corpus(arguments.corpus, arguments.format, _columns(arguments.column))
    name, given = arguments.name, bool(arguments.corpus) or arguments.format is not None
    delete = list(arguments.delete)
    if file := arguments.delete_from:
        delete += [name for _, name in ids_in(file, "--delete-from")]
        if not delete and not arguments.add:
            raise UsageError(f"{file} lists no id; give a file of ids, one a line")
    if arguments.from_cluster and (given or delete or arguments.add or arguments.update):
        raise UsageError(
            "--from-cluster copies a whole index; give it without a CORPUS and changes"
        )
    if arguments.update:
        _refuse_beside_update(arguments)
    elif given and delete and not arguments.add:
        raise UsageError("to add a CORPUS and delete from the same index, give --add, too")
    if arguments.add and not given:
        raise UsageError("--add needs a CORPUS (files or folders) to add")
    with Workspace(settings.workspace).writing("index"):
        if arguments.from_cluster:
            made = copy_index_of(name or INDEX_NAME, settings)
        elif arguments.update:
            made = reread_index_of(corpus, name, settings)
        elif arguments.add or delete:
            made = update_index_of(corpus if given else None, name, settings, delete=delete)
        else:
            made = build_index_of(corpus, name or INDEX_NAME, settings)
    console.answer(made, _lines(made), as_json=arguments.json)
    return 0


def _refuse_beside_update(arguments: argparse.Namespace) -> None:
    """Refuse what does not go with --update."""
    if arguments.add or arguments.delete or arguments.delete_from:
        raise UsageError("--update finds itself what to add and delete; give it without these")
    if not arguments.corpus or arguments.format in ("wordnet", "irds"):
        raise UsageError("--update needs the CORPUS (files or folders) to read again")


def _columns(given: list[str]) -> dict[str, str]:
    """Return the names of columns as `given`: field -> name."""
    pairs = [pair.partition("=") for pair in given]
    for field, _, column in pairs:
        if field not in _FIELDS or not column:
            raise UsageError(f"--column takes one of {', '.join(f'{f}=NAME' for f in _FIELDS)}")
    return {field: column for field, _, column in pairs}


def _lines(made: dict[str, Any]) -> Iterator[str]:
    """Yield what was made; say where documents were skipped."""
    yield f"{made['documents']:,} documents over {made['terms']:,} terms: {made['index']}"
    files = made.get("files")
    if files:
        counts = (f"{count:,} {what}" for what, count in files.items() if count)
        yield f"  files: {', '.join(counts) or 'none there'}"
    for what, count in made.get("change", {}).items():
        if count and not files:
            yield f"  {_CHANGES[what]}: {count:,}"
    for reason, count in made["skipped"].items():
        yield f"  skipped: {reason}: {count:,}"
        places = [place for place in made["first_skips"] if place.endswith(f": {reason}")]
        for place in places[:PLACES]:
            console.say(f"  {place}")
        if count > PLACES:
            console.say(f"  … and {count - PLACES:,} more{HINT if len(places) > PLACES else ''}")
    for what, text in _NOTED.items():
        if made[what]:
            yield f"  {text}: {made[what]:,}"


_CHANGES = {
    "added": "added",
    "replaced": "of these, replacing a document with the same id",
    "deleted": "deleted",
    "missing": "ids to delete that are not in the index",
}
_NOTED = {
    "duplicates": "repeated ids (the last document stays)",
    "truncated": "documents without an end tag, indexed all the same",
    "latin1": "documents that are not UTF-8, read as Latin-1",
    "cut": "PDFs too long to read whole; their beginning is indexed",
}
