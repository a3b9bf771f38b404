"""What every unit of an experiment shares: profiles, and the questions with their pools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.counting import TermCounter
from anonymizer.marketing import MarketingTable, synthetic_table, used_table
from anonymizer.methods import parameters_of
from anonymizer.model import Profiles, QueryLog
from anonymizer.profile_file import fingerprint
from anonymizer.profiles import build_profiles, without_robots
from index.model import Pool

from ..errors import UsageError
from .design import MARKETING, Inputs
from .outcomes import Ints, Unit
from .unit_facts import frequencies

TRIED = 4  # held-out queries tried for each that is wanted of a person
Search = Callable[[Sequence[str], int], Iterable[Pool]]  # queries, and documents for each at most


@dataclass(frozen=True)
class Questions:
    """Held-out queries, each with its pool: no text, and people by number only."""

    person: Ints  # query -> number of who asks, from 1, in no order that the log tells
    user: Ints  # query -> row of who asks in the profiles
    pools: Ints  # queries x documents: rows of the index in Lucene's order, then -1
    hits: Ints  # query -> documents in its pool

    def __len__(self) -> int:
        return int(self.person.size)


@dataclass(frozen=True)
class Data:
    """Profiles of the same people by each kind of weights, the questions, and what terms earn."""

    profiles: Mapping[str, Profiles]
    questions: Questions
    table: MarketingTable | None = None  # the one of all releases, if a method values terms by one
    robots: int = 0  # people left out for the length of a session

    def digest(self) -> str:
        """Return a hash of all of it."""
        whole = hashlib.sha256()
        for name in sorted(self.profiles):
            whole.update(f"{name} {fingerprint(self.profiles[name])}\n".encode())
        for part in (self.questions.user, self.questions.pools):
            whole.update(np.ascontiguousarray(part).tobytes())
        if self.table is not None:
            whole.update(_content(self.table))
        return whole.hexdigest()


def _content(table: MarketingTable) -> bytes:
    columns = np.stack([table.bid, table.impressions, table.clicks])
    terms = "\n".join(table.terms).encode("utf-8", "surrogatepass")
    return b"\n".join([str(table.synthetic).encode(), terms, columns.tobytes()])


def people_and_queries(
    log: QueryLog, counter: TermCounter, inputs: Inputs, weights: Iterable[str]
) -> tuple[dict[str, Profiles], QueryLog]:
    """Build the profiles by each kind of weights; return them and the queries held out."""
    made: dict[str, Profiles] = {}
    held_out, users = log, _most_users(log, counter, inputs)
    for name in weights:
        made[name], held_out = build_profiles(
            log,
            counter,
            size=inputs.size,
            users=users,
            weights=name,
            test_share=inputs.test_share,
        )
    return made, held_out


def drop_robots(log: QueryLog, inputs: Inputs) -> tuple[QueryLog, int]:
    """Leave out who has a longer session than people have, if asked to; count them."""
    if inputs.robots is None:
        return log, 0
    rest, dropped = without_robots(log, robots=inputs.robots)
    if not len(rest):
        raise UsageError(f"robots={inputs.robots} leaves nobody; raise it, or turn it off")
    return rest, dropped


def table_for(
    units: Sequence[Unit],
    profiles: Mapping[str, Profiles],
    given: MarketingTable | None,
    inputs: Inputs,
) -> MarketingTable | None:
    """Return the table by which methods value terms: a given one, or one drawn if any wants it."""
    wanted = any(unit.method and MARKETING in parameters_of(unit.method) for unit in units)
    some = profiles.get("tf", profiles[min(profiles)])
    if given is not None:
        return used_table(given, some.terms)
    if not wanted:
        return None
    rng = np.random.default_rng([inputs.seed, 1])  # not the draw of questions
    return synthetic_table(some.terms, *frequencies(some), rng)


def _most_users(log: QueryLog, counter: TermCounter, inputs: Inputs) -> int | None:
    """Return how many people to take; None where there are no more than may be taken."""
    if inputs.users is None:
        return None
    everybody, _ = build_profiles(log, counter, size=inputs.size, test_share=inputs.test_share)
    return inputs.users if len(everybody) > inputs.users else None


def no_questions() -> Questions:
    """Return what is asked where no unit asks anything."""
    none = np.zeros(0, dtype=np.int64)
    return Questions(none, none, np.zeros((0, 0), dtype=np.int64), none)


def draw_questions(
    held_out: QueryLog,
    users: Sequence[str],
    search: Search,
    inputs: Inputs,
    sizes: Collection[int],
) -> Questions:
    """Draw of each person's held-out queries some that find enough documents.

    A pool is cut to the largest size asked for that it fills: how many documents a query finds in a
    known corpus would tell what was asked.
    """
    steps, depth = np.array(sorted({inputs.least_hits, *sizes})), max(sizes)
    rng = np.random.default_rng([inputs.seed, 0])
    tried = _tried(held_out, users, TRIED * inputs.queries_per_user, rng)
    left = dict.fromkeys(range(len(users)), inputs.queries_per_user)
    taken: list[tuple[int, Ints]] = []
    waiting = tried
    while waiting:  # most people need no more than their first few
        now, waiting = _next(waiting, left)
        asked = [held_out.queries.text(query) for _, query in now]
        pools = search(asked, max(depth, inputs.least_hits))
        for (user, _), pool in zip(now, pools, strict=True):
            if len(pool) >= inputs.least_hits:
                left[user] -= 1
                filled = int(steps[steps <= len(pool)].max())
                taken.append((user, pool.rows[: min(filled, depth)]))
    if not taken:
        raise UsageError(
            f"none of {len(tried):,} held-out queries finds {inputs.least_hits} documents; "
            "lower least_hits, or index a larger corpus"
        )
    return _numbered(taken, len(users), _secret(held_out, users, inputs.seed))


def _next(
    waiting: list[tuple[int, int]], left: Mapping[int, int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Part who is asked now, as many queries as a person lacks, from who may be asked later."""
    more, now, later = dict(left), [], []
    for user, query in waiting:
        if more[user]:
            more[user] -= 1
            now.append((user, query))
        elif left[user]:
            later.append((user, query))
    return now, later


def _tried(
    held_out: QueryLog, users: Sequence[str], most: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return up to so many distinct held-out queries of each user, in drawn order."""
    row_of = {user: row for row, user in enumerate(users)}
    rows = np.array([row_of.get(user, -1) for user in held_out.users], dtype=np.int64)
    pairs = np.stack([rows[held_out.user], held_out.query.astype(np.int64)], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] >= 0], axis=0)
    pairs = pairs[rng.permutation(len(pairs))]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    begins = np.searchsorted(pairs[:, 0], pairs[:, 0])
    kept = pairs[np.arange(len(pairs)) - begins < most]
    return [(int(user), int(query)) for user, query in kept]


def _secret(held_out: QueryLog, users: Sequence[str], seed: int) -> np.random.Generator:
    """Return a generator that only who has the log can seed: numbers shall not tell its order."""
    whole = hashlib.sha256("\n".join(users).encode("utf-8", "surrogatepass"))
    whole.update(held_out.queries.blob.tobytes())
    return np.random.default_rng([seed, *whole.digest()])


def _numbered(taken: list[tuple[int, Ints]], users: int, rng: np.random.Generator) -> Questions:
    """Number the people anew, at random, and put the questions in the order of these numbers."""
    user = np.array([row for row, _ in taken], dtype=np.int64)
    asking = rng.permutation(np.unique(user))
    number = np.zeros(users, dtype=np.int64)
    number[asking] = np.arange(1, asking.size + 1)
    order = np.argsort(number[user], kind="stable")
    hits = np.array([taken[at][1].size for at in order], dtype=np.int64)
    pools = np.full((order.size, int(hits.max())), -1, dtype=np.int64)
    for row, at in enumerate(order.tolist()):
        pools[row, : hits[row]] = taken[at][1]
    return Questions(number[user[order]], user[order], pools, hits)
