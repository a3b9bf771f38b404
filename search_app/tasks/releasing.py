"""Make a release folder from a profiles file, handing the method everything it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.compiled import when_compiling
from anonymizer.marketing.table import read_table, synthetic_table_of, used_table
from anonymizer.measures.facts import facts
from anonymizer.methods import METHODS, anonymize, idle_parameters, method_of, read_parameters
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, QueryLog, Release
from anonymizer.profiles.building import build_profiles
from anonymizer.querylog.files import may_be_log
from anonymizer.rows.secret_order import fresh_key
from anonymizer.similarity.documents import Documents
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.storage.releases import write_release
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.stemming import STEMMED
from anonymizer.terms.taxonomy import read_taxonomy
from anonymizer.terms.wordnet import open_wordnet

from .. import console
from ..errors import UsageError
from ..settings import Settings
from ..workspace.folder import Workspace
from ..workspace.ledger import note_made
from ..workspace.profile_choices import ProfilingChoices, analysis, analysis_of, choices_of
from .profiling import log_at

if TYPE_CHECKING:
    from anonymizer.similarity.cooccurrence import Network
    from index.forward.reading import Forward

Contexts = tuple[csr_matrix, list[str]]  # queries x terms, and these terms
OF_LOG = "letters-digits"  # the terms of a method that takes a log: every word of a query
COMPILING = (
    "The method is being compiled, which takes up to a minute: once, until veilsearch is updated."
)


class MadeOfLog(NamedTuple):
    """A log, the profiles made of it, and how."""

    log: QueryLog
    profiles: Profiles
    choices: dict[str, Any]


def release_of(
    method: str,
    inputs: Inputs,
    parameters: Mapping[str, Any],
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None = None,
) -> Release:
    """Return the release of `method` for `inputs`, to which what it needs is added."""
    # The seed settles which documents or bids the method sees. A key serves one release only, so
    # it is always drawn. Index and queries are opened only if an option needs them.
    needs, seed = method_of(method).needs, inputs.seed
    options = method_of(method).chosen(parameters)
    values = options.parameters()
    marketing = values.get("marketing", "none")
    if "table" in needs and inputs.table is None and marketing != "none":
        profiles = inputs.profiles
        if marketing == "synthetic":
            table = synthetic_table_of(profiles, seed)
        else:
            table = used_table(read_table(Path(str(marketing))), profiles.terms)
        inputs = replace(inputs, table=table)
    taxonomy = str(values.get("taxonomy", "wordnet"))
    if "taxonomy" in needs and inputs.taxonomy is None and taxonomy != "wordnet":
        inputs = replace(inputs, taxonomy=read_taxonomy(Path(taxonomy)))
    method_of(method).refuse_faults(options, inputs)
    if "key" in needs and inputs.key is None:
        inputs = replace(inputs, key=fresh_key())
    if "sample" in needs and inputs.sample is None and "documents" not in options.idle():
        rng = np.random.default_rng([seed, 1])  # not the method's own draws
        count = int(str(values["documents"]))
        inputs = replace(inputs, sample=sample_documents(forward(), count, rng))
    if _learns(method, parameters, "index", "log"):
        inputs = replace(inputs, links=_links(values, forward, queries))
    return anonymize(method, inputs, parameters)


def _learns(method: str, parameters: Mapping[str, Any], *networks: str) -> bool:
    """Return whether a method needs links between terms that are learnt from one of `networks`."""
    options = method_of(method).chosen(parameters)
    needed = "links" in method_of(method).needs and "network" not in options.idle()
    return needed and options.parameters()["network"] in networks


def sample_documents(forward: Forward, count: int, rng: np.random.Generator) -> Documents:
    """Return `count` random documents of `forward` that have terms, or all if there are fewer."""
    rows = np.flatnonzero(np.diff(forward.counts[0]))
    drawn = np.sort(rng.choice(rows, min(count, rows.size), replace=False))
    parts = [forward.weights_of(row) for row in drawn.tolist()]
    ends = np.cumsum([0, *(columns.size for columns, _ in parts)])
    columns = np.concatenate([columns for columns, _ in parts] or [np.zeros(0, np.int64)])
    weights = np.concatenate([weights for _, weights in parts] or [np.zeros(0)])
    shape = (drawn.size, len(forward.terms))
    return Documents(csr_matrix((weights, columns, ends), shape=shape), tuple(forward.terms))


def _links(
    values: Mapping[str, Any],
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None,
) -> Network:
    """Learn which terms meet in the index's documents, or in the queries of a log."""
    from anonymizer.similarity.cooccurrence import learn

    from ..search.smoothing import documents_by_terms

    count = values["neighbours"]
    if values["network"] == "index":
        index = forward()
        return learn(documents_by_terms(index), index.terms, neighbours=count)
    if queries is None:
        raise UsageError("--set network=log needs the log: --log FILE")
    contexts, terms = queries()
    return learn(contexts, terms, neighbours=count)


def write_release_of(
    source: Path,
    output: Path,
    *,
    method: str,
    parameters: dict[str, str],
    seed: int,
    settings: Settings,
    logs: Sequence[Path] = (),
    check: Callable[[Release], object] = lambda _release: None,
) -> dict[str, Any]:
    """Anonymize `source` by `method` into the folder `output`; return what release.json says.

    `check` is called with the release before it is written.
    """
    values = read_parameters(method, parameters)
    for name in idle_parameters(method, values):
        console.say(f"Note: {name} has no effect with the other parameters.")
    if logs and not _learns(method, values, "log"):
        raise UsageError("--log is for --set augment=cooccurrence --set network=log")
    log = None
    if takes_log(method):
        made = made_of_log(source, settings)
        log, profiles, choices = made.log, made.profiles, made.choices
        made_from = fingerprint(profiles)
    else:
        profiles = read_profiles(source)
        made_from = fingerprint(profiles)
        choices = choices_of(source, made_from)
    queries = (lambda: contexts(log_at(logs), choices, settings)) if logs else None
    release = released(
        profiles, method, values, seed, settings, choices=choices, queries=queries, log=log
    )
    check(release)
    write_release(release, output, seed=seed, input_hash=made_from, profiles=choices)
    workspace = Workspace(settings.workspace)
    note_made(workspace, output)
    return {
        "release": str(output),
        "method": method,
        "parameters": dict(release.parameters),
        "seed": seed,
        "profiles": choices,
        "facts": dict(release.facts),
    }


def released(
    profiles: Profiles,
    method: str,
    values: Mapping[str, Any],
    seed: int,
    settings: Settings,
    *,
    choices: Mapping[str, Any],
    queries: Callable[[], Contexts] | None = None,
    log: QueryLog | None = None,
) -> Release:
    """Return the release of `profiles` by `method`, with the index at hand, and its facts.

    `choices` say how terms of the profiles were made, and `queries` show which go together. `log`
    is what the profiles were made from, for a method that takes it.
    """
    # WordNet knows English only: methods refuse to compare other terms by it.
    wordnet = None if choices.get("terms") in STEMMED else open_wordnet(settings.cache)
    waiting = when_compiling(lambda: console.remark(COMPILING))
    with console.progress(method, len(profiles)) as progress, waiting:
        inputs = Inputs(profiles, seed, progress, wordnet, log=log)
        release = release_of(
            method,
            inputs,
            values,
            forward=lambda: _forward(settings),
            queries=queries,
        )
    return replace(release, facts=facts(profiles, release))


def contexts(log: QueryLog, choices: Mapping[str, Any], settings: Settings) -> Contexts:
    """Return the distinct queries of `log`, over terms made as `choices` made the profiles'."""
    counter = analysis_of(choices, settings)
    return queries_by_terms(log, counter), counter.terms


def takes_log(method: str) -> bool:
    """Return whether `method` takes a log in place of profiles."""
    # A release may be by a method that is not known here, and a package's takes profiles.
    return method in METHODS.own and "log" in METHODS.own[method].needs


def made_of_log(path: Path, settings: Settings) -> MadeOfLog:
    """Return the log at `path`, and the profiles that a method which takes a log makes of it."""
    if not may_be_log(path):
        raise UsageError(f"{path}: these are profiles; name the query log that they were made from")
    if not len(log := log_at([path])):
        raise UsageError(f"{path}: no line of the log is a query")
    return whole_log(log, settings)


def whole_log(log: QueryLog, settings: Settings) -> MadeOfLog:
    """Return `log` with the profiles that a method which takes a log makes of it."""
    choices = ProfilingChoices(terms=OF_LOG, weights="tf")
    profiles, _ = build_profiles(log, analysis(choices.terms, settings), choices)
    return MadeOfLog(log, profiles, dict(vars(choices)))


def profiles_at(path: Path, method: str, settings: Settings) -> Profiles:
    """Return the profiles at `path`; if `method` takes a log, those of the log there."""
    if takes_log(method) and may_be_log(path):
        return made_of_log(path, settings).profiles
    return read_profiles(path)


def queries_by_terms(log: QueryLog, counter: TermCounter) -> csr_matrix:
    """Return the counts of terms in the distinct queries of `log`: queries x terms of `counter`."""
    counts = counter.count_packed(log.queries, np.arange(len(log.queries)))
    starts = np.concatenate([[0], counts.ends])
    shape = (counts.ends.size, len(counter.terms))
    return csr_matrix((counts.tf.astype(np.float64), counts.columns, starts), shape=shape)


def _forward(settings: Settings) -> Forward:
    from index.opening import open_forward

    return open_forward(Workspace(settings.workspace).find("index"))
