"""What every unit of an experiment shares: profiles, and the questions with their pools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Floats, Ints, Marks
from anonymizer.marketing.table import MarketingTable, synthetic_table, used_table
from anonymizer.model import Profiles, QueryLog, Release
from anonymizer.profiles.building import ProfileChoices, build_profiles, without_robots
from anonymizer.profiles.rare_terms import person_of
from anonymizer.storage.profiles import fingerprint
from anonymizer.terms.counting import TermCounter
from index.model import Pool

from ..errors import UsageError
from .design import SESSIONS, ExperimentInputs, Unit
from .facts import frequencies
from .spi.logged import LoggedPeople
from .spi.strategies import needs_of

# Sessions are of this many people, the first: everybody's would take minutes to match.
SESSION_PEOPLE = 200
# Held-out queries tried for each query wanted, as some find too few documents.
TRIED = 4
Search = Callable[[Sequence[str], int], Iterable[Pool]]  # queries and a limit -> their pools


class Taken(NamedTuple):
    """A query that is asked: the row of its person in the profiles, and its pool."""

    user: int
    rows: Ints
    scores: NDArray[np.float32]
    relevant: Marks | bool = False
    kind: int = -1  # its place in KINDS; -1: without relevance of its own


@dataclass(frozen=True)
class Questions:
    """Held-out queries, each with its pool: no text, and people by number only."""

    person: Ints  # query -> number of its person, from 1, in an order unrelated to the log's
    user: Ints  # query -> row of its person in the profiles
    pools: Ints  # queries x documents: rows of the index in Lucene's order, then -1
    hits: Ints  # query -> documents in its pool
    scores: Floats | None = None  # queries x documents: BM25, then 0; None: not kept
    # With relevance of their own: which documents are relevant, and each query's place in KINDS.
    relevant: Marks | None = None
    kind: Ints | None = None

    def __len__(self) -> int:
        return int(self.person.size)


@dataclass(frozen=True)
class Data:
    """Profiles of the same people by each kind of weights, the questions, the marketing table."""

    profiles: Mapping[str, Profiles]
    questions: Questions
    table: MarketingTable | None = None  # shared by all releases; None if no method needs one
    robots: int = 0  # people skipped because a session of theirs is too long
    logged: LoggedPeople | None = None  # None if no release of a log is measured
    victims: int | None = None  # people of each release who are attacked
    foreign: Mapping[str, Release] = field(default_factory=dict)  # made by others, by method

    def digest(self) -> str:
        """Return a hash of profiles, questions and table."""
        whole = hashlib.sha256()
        for name in sorted(self.profiles):
            whole.update(f"{name} {fingerprint(self.profiles[name])}\n".encode())
        for part in (self.questions.user, self.questions.pools):
            whole.update(np.ascontiguousarray(part).tobytes())
        if self.questions.relevant is not None and self.questions.kind is not None:
            whole.update(self.questions.relevant.tobytes())
            whole.update(self.questions.kind.tobytes())
        if self.table is not None:
            # Terms may hold unpaired surrogates, which UTF-8 refuses unless they are passed.
            columns = np.stack([self.table.bid, self.table.impressions, self.table.clicks])
            terms = "\n".join(self.table.terms).encode("utf-8", "surrogatepass")
            parts = (str(self.table.synthetic).encode(), terms, columns.tobytes())
            whole.update(b"\n".join(parts))
        if self.logged is not None:
            whole.update(self.logged.digest().encode())
        if self.victims is not None:
            whole.update(f"{self.victims} victims".encode())
        return whole.hexdigest()


def people_and_queries(
    log: QueryLog, counter: TermCounter, inputs: ExperimentInputs, weights: Collection[str]
) -> tuple[dict[str, Profiles], QueryLog]:
    """Return the profiles of `log` by each kind of `weights`, and the held-out queries."""
    made: dict[str, Profiles] = {}
    held_out, users = log, None
    if inputs.users is not None:
        choices = ProfileChoices(inputs.size, test_share=inputs.test_share)
        # build_profiles refuses more users than have enough terms. Here fewer people are fine.
        everybody, _ = build_profiles(log, counter, choices)
        users = inputs.users if len(everybody) > inputs.users else None
    people = ProfileChoices(inputs.size, users, test_share=inputs.test_share)
    for name in weights:
        if name != SESSIONS:
            choices = replace(people, weights=name)
            made[name], held_out = build_profiles(log, counter, choices)
    if SESSIONS in weights:
        few = next(iter(made.values())).users[:SESSION_PEOPLE]
        made[SESSIONS] = _sessions_of(few, log, counter, inputs.test_share)
    return made, held_out


def _sessions_of(
    users: Collection[str], log: QueryLog, counter: TermCounter, test_share: float
) -> Profiles:
    """Return the sessions of `users` in `log`, each as a profile of its own."""
    choices = ProfileChoices(weights="tf", granularity="session", test_share=test_share)
    every, _ = build_profiles(log, counter, choices)
    wanted = {*users}
    rows = [at for at, name in enumerate(every.users) if person_of(name) in wanted]
    return every.some(rows).in_order()


def drop_robots(log: QueryLog, inputs: ExperimentInputs) -> tuple[QueryLog, int]:
    """Return `log` without people whose sessions exceed `inputs.robots`, and their number."""
    if inputs.robots is None:
        return log, 0
    rest, dropped = without_robots(log, robots=inputs.robots)
    if not len(rest):
        raise UsageError(f"robots={inputs.robots} leaves nobody; raise it or turn it off")
    return rest, dropped


def table_for(
    units: Sequence[Unit],
    profiles: Mapping[str, Profiles],
    given: MarketingTable | None,
    inputs: ExperimentInputs,
) -> MarketingTable | None:
    """Return the marketing table: `given`, or a synthetic one if a method of `units` needs it."""
    wanted = any(unit.method and "table" in needs_of(unit.method) for unit in units)
    # An invented table follows how often terms are used, which only weights `tf` say.
    some = profiles.get("tf", profiles[min(profiles)])
    if given is not None:
        return used_table(given, some.terms)
    if not wanted:
        return None
    rng = np.random.default_rng([inputs.seed, 1])  # [seed, 0] draws the questions
    return synthetic_table(some.terms, *frequencies(some), rng)


def no_questions() -> Questions:
    """Return an empty set of questions, for experiments that search nothing."""
    none = np.zeros(0, dtype=np.int64)
    return Questions(none, none, np.zeros((0, 0), dtype=np.int64), none)


def draw_questions(
    held_out: QueryLog,
    users: Sequence[str],
    search: Search,
    inputs: ExperimentInputs,
    sizes: Collection[int],
) -> Questions:
    """Return some `held_out` queries of each of `users` that find enough documents."""
    # Each pool is cut to the largest of `sizes`, or `least_hits`, that it fills. The exact number
    # of documents that a query finds in a known corpus could reveal the query.
    steps, depth = np.array(sorted({inputs.least_hits, *sizes})), max(sizes)
    rng = np.random.default_rng([inputs.seed, 0])
    tried = _tried(held_out, users, TRIED * inputs.queries_per_user, rng)
    left = dict.fromkeys(range(len(users)), inputs.queries_per_user)
    taken: list[Taken] = []
    waiting = tried
    # In rounds, as most people need only their first few queries: fewer searches in all.
    while waiting:
        now, waiting = _next(waiting, left)
        texts = [held_out.queries.text(query) for _, query in now]
        pools = search(texts, max(depth, inputs.least_hits))
        for (user, _), pool in zip(now, pools, strict=True):
            if len(pool) >= inputs.least_hits:
                left[user] -= 1
                filled = int(steps[steps <= len(pool)].max())
                size = min(filled, depth)
                taken.append(Taken(user, pool.rows[:size], pool.scores[:size]))
    if not taken:
        raise UsageError(
            f"none of {len(tried):,} held-out queries finds {inputs.least_hits} documents; "
            "lower least_hits or index a larger corpus"
        )
    # Rows are published. Seeded by the log itself, their numbers reveal nothing of its order to
    # people who know the seed but not the log.
    secret = hashlib.sha256("\n".join(users).encode("utf-8", "surrogatepass"))
    secret.update(held_out.queries.blob.tobytes())
    return numbered(taken, len(users), np.random.default_rng([inputs.seed, *secret.digest()]))


def _next(
    waiting: list[tuple[int, int]], left: Mapping[int, int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the (user, query) pairs to search now and those to keep; `left` counts who needs."""
    more, now, later = dict(left), [], []
    for user, query in waiting:
        if more[user]:
            more[user] -= 1
            now.append((user, query))
        elif left[user]:
            later.append((user, query))
    return now, later


def _tried(
    held_out: QueryLog, users: Sequence[str], limit: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return up to `limit` distinct held-out queries of each user, in drawn order."""
    row_of = {user: row for row, user in enumerate(users)}
    rows = np.array([row_of.get(user, -1) for user in held_out.users], dtype=np.int64)
    pairs = np.stack([rows[held_out.user], held_out.query.astype(np.int64)], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] >= 0], axis=0)
    pairs = pairs[rng.permutation(len(pairs))]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    begins = np.searchsorted(pairs[:, 0], pairs[:, 0])
    kept = pairs[np.arange(len(pairs)) - begins < limit]
    return [(int(user), int(query)) for user, query in kept]


def numbered(taken: Sequence[Taken], users: int, rng: np.random.Generator) -> Questions:
    """Number the people of `taken` at random; return the questions in order of these numbers."""
    user = np.array([one.user for one in taken], dtype=np.int64)
    asking = rng.permutation(np.unique(user))
    number = np.zeros(users, dtype=np.int64)
    number[asking] = np.arange(1, asking.size + 1)
    order = np.argsort(number[user], kind="stable")
    hits = np.array([taken[at].rows.size for at in order], dtype=np.int64)
    pools = np.full((order.size, int(hits.max())), -1, dtype=np.int64)
    scores, relevant = np.zeros(pools.shape), np.zeros(pools.shape, dtype=np.bool_)
    for row, at in enumerate(order.tolist()):
        pools[row, : hits[row]] = taken[at].rows
        scores[row, : hits[row]] = taken[at].scores
        relevant[row, : hits[row]] = taken[at].relevant
    kind = np.array([taken[at].kind for at in order], dtype=np.int64)
    if (kind < 0).all():
        return Questions(number[user[order]], user[order], pools, hits, scores)
    return Questions(number[user[order]], user[order], pools, hits, scores, relevant, kind)
