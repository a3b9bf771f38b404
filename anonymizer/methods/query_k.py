"""Query k-anonymity: a query is released only if k people or more entered it (Adar 2007).

Carpineto & Romano (IIR 2018) judge it. It takes a log, not profiles: queries are normalized as
everywhere, and people are counted, not events. What is released is a log, a line for each event,
by rows: a row is one person under a pseudonym of this release alone. Lines have no time, rank or
URL. They stand by row and query, and rows by their content, so that no order tells anything. For
personalized search each row also has the terms of its lines, with their counts.

A query without a letter or digit has no term, and is not released.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints, Marks
from ..deletion.histories import by_content
from ..errors import BadInput, Unsatisfiable
from ..model import Profiles, QueryLog, Release, row_names
from ..promise import Promise
from ..rows.reduced import deletions_of
from ..rows.representative import over_used
from ..terms.analysis import WordAnalysis
from .method import Inputs, Method, Options, option


@dataclass(frozen=True)
class QueryK(Options):
    """What can be chosen of a released log."""

    k: int = option(5, "each released query was entered by at least k people", least=1)


def run(inputs: Inputs, options: QueryK) -> Release:
    """Return the queries of the log in `inputs` that k people or more entered, and their terms."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..terms.counting import TermCounter

    if inputs.log is None:
        raise BadInput(f"{METHOD.name} takes a query log, and there is none")
    events, queries = common_queries(inputs.log, options.k)
    counter = TermCounter(WordAnalysis(digits=True))
    counted = counter.count(queries)
    ends = np.append(0, counted.ends)
    shape = (len(queries), len(counter.terms))
    terms = csr_matrix((counted.tf.astype(np.float64), counted.columns, ends), shape=shape)
    named = np.diff(ends) > 0
    events, terms = events[:, named].tocsr(), terms[named]
    users = np.flatnonzero(np.diff(events.indptr))
    if not users.size:
        raise Unsatisfiable(f"no query was entered by k={options.k} people; take a smaller k")
    events = events[users]
    order = by_content(events.indptr.astype(np.int64), events.indices, events.data)
    users, events = users[order], events[order]
    names = row_names(users.size, {*inputs.log.users})
    texts = tuple(query for query, kept in zip(queries, named.tolist(), strict=True) if kept)
    rows = over_used(names, tuple(counter.terms), csr_matrix(events @ terms))
    people = [inputs.log.users[user] for user in users.tolist()]
    row_of = {user: row for row, user in enumerate(people)}
    if not row_of.keys() <= inputs.profiles.row_of.keys():
        raise BadInput("the log has people without a profile; give the profiles made of this log")
    # In the order of the profiles, as all releases have them.
    served = tuple(user for user in inputs.profiles.users if user in row_of)
    release = METHOD.release(options, rows, served, np.array([row_of[user] for user in served]))
    facts = {"users_left_out": len(inputs.profiles) - users.size}
    kept = _kept(inputs.profiles, release)
    deletions = deletions_of(inputs.profiles, ~kept, np.where(kept, 0, 1))
    log = Profiles(names, texts, events)
    return replace(release, log=log, facts=facts, deletions=deletions)


def _kept(profiles: Profiles, release: Release) -> Marks:
    """Return marks for the cells of `profiles` whose term is in the user's row of `release`."""
    number = {term: at for at, term in enumerate(profiles.terms)}
    column = np.array([number[term] for term in release.rows.terms], dtype=np.int64)
    user_of = np.empty(len(release.rows), dtype=np.int64)
    user_of[release.row_of_user] = [profiles.row_of[user] for user in release.users]
    span, rows = len(profiles.terms), release.rows
    released = np.repeat(user_of * span, rows.sizes) + column[rows.weights.indices]
    own = np.repeat(np.arange(len(profiles)) * span, profiles.sizes) + profiles.weights.indices
    kept: Marks = np.isin(own, released)
    return kept


def common_queries(log: QueryLog, k: int) -> tuple[csr_matrix, list[str]]:
    """Return users x queries, with numbers of events, and the queries that `k` users entered.

    Queries stand in alphabetical order.
    """
    span = len(log.queries)
    keys, counts = np.unique(log.user.astype(np.int64) * span + log.query, return_counts=True)
    user, query = np.divmod(keys, max(1, span))
    having: Ints = np.bincount(query, minlength=span)
    texts = sorted((log.queries.text(at), at) for at in np.flatnonzero(having >= k).tolist())
    column = np.full(span, -1, dtype=np.int64)
    column[[at for _, at in texts]] = np.arange(len(texts))
    kept = column[query] >= 0
    entries = (counts[kept].astype(np.float64), (user[kept], column[query[kept]]))
    events = csr_matrix(entries, shape=(len(log.users), len(texts)))
    events.sort_indices()
    return events, [text for text, _ in texts]


METHOD = Method(
    name="query-k",
    paper="Adar; Carpineto & Romano",
    about="a log's queries that k people entered, under pseudonyms; it takes a log",
    promise=Promise("query", "query"),
    run=run,
    options=QueryK,
    needs=frozenset({"log"}),
)
