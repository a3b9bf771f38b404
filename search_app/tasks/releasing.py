"""Make a release folder from a profiles file, handing the method everything it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.backends.everybody import with_everybody
from anonymizer.backends.parts import Parts, deal, deal_key, key_of_deal
from anonymizer.backends.shards import in_outline, keep, write_shards
from anonymizer.compiled import when_compiling
from anonymizer.marketing.table import read_table, synthetic_table_of, used_table
from anonymizer.measures.facts import fact_sums, facts, facts_of
from anonymizer.methods import (
    METHODS,
    anonymize,
    anonymize_in_parts,
    idle_parameters,
    method_of,
    read_parameters,
    refuse_parts,
)
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, QueryLog, Release, whole
from anonymizer.profiles.building import build_profiles
from anonymizer.querylog.files import may_be_log
from anonymizer.rows.secret_order import fresh_key
from anonymizer.similarity.documents import Documents
from anonymizer.storage.files import scratch_folder
from anonymizer.storage.profiles import (
    StoredProfiles,
    fingerprint,
    open_profiles,
    read_profiles,
)
from anonymizer.storage.releases import write_release
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.stemming import STEMMED
from anonymizer.terms.taxonomy import read_taxonomy
from anonymizer.terms.wordnet import WordNet, open_wordnet

from .. import console
from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from ..workspace.folder import Workspace
from ..workspace.ledger import note_made
from ..workspace.profile_choices import ProfilingChoices, analysis, analysis_of, choices_of
from .profiling import log_at, say_rejected

if TYPE_CHECKING:
    from anonymizer.backends.spark import SparkSession
    from anonymizer.similarity.cooccurrence import Network
    from index.forward.reading import Forward

Deal = Callable[[Iterable[Profiles], int, bytes, Path], Parts]
Contexts = tuple[csr_matrix, list[str]]  # queries x terms, and these terms
MOST_AT_ONCE = 1 << 23  # users: what the index of profiles of the clustering can number
_IN_A_PART = 1 << 18  # users; larger parts are slower, and hardly closer
_USER_BYTES = 24  # or more of a file of profiles are one user's
OF_LOG = "letters-digits"  # the terms of a method that takes a log: every word of a query
COMPILING = (
    "The method is being compiled, which takes up to a minute: once, until veilsearch is updated."
)


class MadeOfLog(NamedTuple):
    """A log, the profiles made of it, and how."""

    log: QueryLog
    profiles: Profiles
    choices: dict[str, Any]


OfLog = Callable[[Path, Settings, Mapping[str, Any]], MadeOfLog]


def release_of(
    method: str,
    inputs: Inputs,
    parameters: Mapping[str, Any],
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None = None,
) -> Release:
    """Return the release of `method` for `inputs`, to which what it needs is added."""
    return anonymize(method, supplied(method, inputs, parameters, forward, queries), parameters)


def supplied(
    method: str,
    inputs: Inputs,
    parameters: Mapping[str, Any],
    forward: Callable[[], Forward],
    queries: Callable[[], Contexts] | None = None,
) -> Inputs:
    """Return `inputs` with what `method` needs for these `parameters`."""
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
    return inputs


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


@dataclass(frozen=True)
class ReleaseRequest:
    """Which release is to be made."""

    method: str
    parameters: Mapping[str, str]
    seed: int
    logs: Sequence[Path] = ()
    parts: int | None = None  # of the users; None: one, if they are not too many
    deal: Deal = deal  # makes the parts
    of_log: OfLog | None = None  # reads the log of a method that takes one; None: made_of_log

    @cached_property
    def values(self) -> dict[str, Any]:
        """Return the parameters as values."""
        return read_parameters(self.method, self.parameters)


def write_release_of(
    source: Path,
    output: Path,
    request: ReleaseRequest,
    settings: Settings,
    check: Callable[[Release], object] | None = None,
) -> dict[str, Any]:
    """Anonymize `source` by `request` into the folder `output`; return what release.json says.

    `check` is called with the release before it is written.
    """
    method, values = request.method, request.values
    for name in idle_parameters(method, values):
        console.say(f"Note: {name} has no effect with the other parameters.")
    if request.logs and not _learns(method, values, "log"):
        raise UsageError("--log is for --set augment=cooccurrence --set network=log")
    stored = _in_parts(source, request)
    if stored:
        choices = choices_of(source, stored.fingerprint)
        stated = _write_in_parts(stored, output, request, settings, choices, check)
    else:
        stated, choices = _write_at_once(source, output, request, settings, check)
    note_made(Workspace(settings.workspace), output)
    return {
        "release": str(output),
        "method": method,
        "parameters": dict(stated.parameters),
        "seed": request.seed,
        "profiles": choices,
        "facts": dict(stated.facts),
    }


class _Stated(NamedTuple):
    """What release.json says of a release."""

    parameters: Mapping[str, object]
    facts: Mapping[str, object]


def _write_at_once(
    source: Path,
    output: Path,
    request: ReleaseRequest,
    settings: Settings,
    check: Callable[[Release], object] | None,
) -> tuple[_Stated, dict[str, Any]]:
    """Write the release of all users at once; return what it says, and how profiles were made."""
    method, log = request.method, None
    if takes_log(method):
        read = request.of_log
        made = read(source, settings, request.values) if read else made_of_log(source, settings)
        log, profiles, choices = made.log, made.profiles, made.choices
        made_from = fingerprint(profiles)
    else:
        profiles = read_profiles(source)
        made_from = fingerprint(profiles)
        choices = choices_of(source, made_from)
    release = released(
        profiles,
        method,
        request.values,
        request.seed,
        settings,
        choices=choices,
        queries=_queries(request, choices, settings),
        log=log,
    )
    if check:
        check(release)
    write_release(release, output, seed=request.seed, input_hash=made_from, profiles=choices)
    return _Stated(release.parameters, release.facts), choices


def _in_parts(source: Path, request: ReleaseRequest) -> StoredProfiles | None:
    """Return the profiles at `source` if they are grouped in parts; None if all at once."""
    if request.parts == 1:
        return None
    if request.parts:
        refuse_parts(request.method, request.values)
        return open_profiles(source)
    # Only a large file is opened to count its users.
    few = not source.is_file() or source.stat().st_size < _USER_BYTES * MOST_AT_ONCE
    if few or method_of(request.method).in_parts is None:
        return None
    stored = open_profiles(source)
    return stored if stored.users > MOST_AT_ONCE else None


def _write_in_parts(
    stored: StoredProfiles,
    output: Path,
    request: ReleaseRequest,
    settings: Settings,
    choices: Mapping[str, Any],
    check: Callable[[Release], object] | None,
) -> _Stated:
    """Write the release of the `stored` profiles in parts; return what it says."""
    count = request.parts
    if not count:
        count = -(-stored.users // _IN_A_PART)
        console.say(
            f"Note: {stored.users} users are more than {MOST_AT_ONCE}, so they are grouped in "
            f"{count} parts, one after the other; --parts N chooses another number."
        )
    if cost := method_of(request.method).parts_cost:
        console.say(f"Note: in parts {cost}.")
    secret = fresh_key() if "key" in method_of(request.method).needs else None
    key = key_of_deal(secret) if secret else deal_key(stored.blocks(), request.seed)
    waiting = when_compiling(lambda: console.remark(COMPILING))
    with (
        scratch_folder(output, plain_when_writing) as scratch,
        console.progress(request.method, stored.users) as progress,
        waiting,
    ):
        # Next to the release, as the folder of temporary files may be in memory or too small.
        parts = request.deal(stored.blocks(), count, key, scratch / "parts")
        dealt = with_everybody(parts, whole(request.values.get("min_users", 1)))
        inputs = Inputs(
            Profiles((), parts.terms, csr_matrix((0, len(parts.terms)))),
            request.seed,
            wordnet=_wordnet(choices, settings),
            key=secret,
            everybody=dealt.everybody,
        )
        queries = _queries(request, choices, settings)
        inputs = supplied(
            request.method, inputs, request.values, lambda: _forward(settings), queries
        )
        made = anonymize_in_parts(request.method, dealt, inputs, request.values, fact_sums)
        shards = keep(made, scratch, progress)
        stated = _Stated(shards.first.parameters, facts_of(shards.measured))
        # The outline names everybody, so it is made only for a release that will be served.
        if check:
            check(in_outline(shards, stated.facts))
        write_shards(
            shards,
            stated.facts,
            dealt.like_rows,
            output,
            seed=request.seed,
            input_hash=stored.fingerprint,
            profiles=choices,
        )
    return stated


def _queries(
    request: ReleaseRequest, choices: Mapping[str, Any], settings: Settings
) -> Callable[[], Contexts] | None:
    if not request.logs:
        return None
    return lambda: contexts(log_at(request.logs), choices, settings)


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
    wordnet = _wordnet(choices, settings)
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


def _wordnet(choices: Mapping[str, Any], settings: Settings) -> WordNet | None:
    """Return WordNet if terms that were made as `choices` say can be compared by it."""
    # It knows English only: methods refuse to compare other terms by it.
    return None if choices.get("terms") in STEMMED else open_wordnet(settings.cache)


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
    _refuse_profiles(path)
    if not len(log := log_at([path])):
        raise _no_queries(path)
    return whole_log(log, settings)


def made_of_log_on(
    cluster: SparkSession, path: Path, settings: Settings, values: Mapping[str, Any]
) -> MadeOfLog:
    """Return the log at `path` and its profiles as `made_of_log` does, made on the `cluster`.

    The log has only those queries that can be released with the parameters `values`.
    """
    from anonymizer.backends.log_profiles import PartChoices
    from anonymizer.backends.spark_logs import common_log_on, profiles_on

    _refuse_profiles(path)
    # The parameter of every method that takes a log: the people who entered a query.
    log, report = common_log_on(cluster, path, whole(values["k"]))
    say_rejected(report)
    if not report.events:
        raise _no_queries(path)
    choices = ProfilingChoices(terms=OF_LOG, weights="tf")
    analyse = partial(analysis, OF_LOG, Settings(cache=settings.cache.absolute()))
    made = profiles_on(cluster, [path], PartChoices(choices, None, analyse, False))
    # The log is read twice: its people and queries must be those of one log.
    if made.report != report:
        raise UsageError(f"{path}: it changed while it was read")
    return MadeOfLog(log, made.profiles, dict(vars(choices)))


def _refuse_profiles(path: Path) -> None:
    if not may_be_log(path):
        raise UsageError(f"{path}: these are profiles; name the query log that they were made from")


def _no_queries(path: Path) -> UsageError:
    return UsageError(f"{path}: no line of the log is a query")


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
