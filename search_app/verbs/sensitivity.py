"""veilsearch sensitivity: train a classifier of sensitive queries, and label logs by it."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import console
from ..errors import UsageError
from ..settings import Settings
from .arguments import add_json, add_lists, refuse_overwriting


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.description = (
        "Train naive Bayes on LABELS.csv (text,label; 1 is sensitive), or on weak labels by word "
        "lists, and print its accuracy and how reliable its probabilities are. With --apply, write "
        "the probability of each query of a log. Model and file are as personal as the log."
    )
    parser.add_argument(
        "source", type=Path, nargs="?", metavar="LABELS.csv|LOG", help="labels, or a query log"
    )
    parser.add_argument(
        "--weak",
        action="store_true",
        help="label the queries of LOG by WordNet's domains, such as disease, drug and crime; "
        "without LOG, label WordNet's own terms",
    )
    add_lists(parser, "a list of {} that are sensitive, too, if they are no ordinary words")
    parser.add_argument(
        "--apply", type=Path, metavar="MODEL", help="label LOG by this model: text,probability"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Train or apply a model as `arguments` say, print its figures, and return 0."""
    from ..tasks.sensitivity import (
        label_log,
        train_on_labels,
        train_on_weak_labels,
        training_lines,
    )

    output, source = arguments.output, arguments.source
    if not output.name or output.is_dir():
        raise UsageError(f"-o {output} must be a file, like model.npz")
    if arguments.apply and arguments.weak:
        raise UsageError("--weak trains a model and --apply uses one; give one of them")
    if (arguments.names or arguments.places) and not arguments.weak:
        raise UsageError("--names and --places make weak labels; add --weak")
    if source is None and not arguments.weak:
        what = "the log to label" if arguments.apply else "LABELS.csv, or give --weak"
        raise UsageError(f"name {what}")
    for path in (source, arguments.apply, *arguments.names, *arguments.places):
        refuse_overwriting("-o", output, path, "what is read; name another")
    if arguments.apply:
        made = label_log(arguments.apply, source, output)
        lines = [
            f"{made['queries']:,} queries, {made['sensitive']:,} of them more likely sensitive "
            f"than not, by {made['labels']}: {made['probabilities']}"
        ]
        console.answer(made, lines, as_json=arguments.json)
        return 0
    if arguments.weak:
        made = train_on_weak_labels(source, output, settings, arguments.names, arguments.places)
    else:
        made = train_on_labels(source, output)
    console.answer(made, training_lines(made), as_json=arguments.json)
    return 0
