"""Write an invented log, or its profiles, with the marginals of Burghardt et al.'s AltaVista log.

usage: python -m search_app.benchmark.altavista_shape -o PROFILES.npz|LOG.tsv [--share 0.1]

Nothing of a real log is in it, but exactly as many users, queries, distinct terms and occurrences
of terms as section 5.1 counts, and its longest history (5.2), or a share of these. Numbers of
terms a user are heavy-tailed (median about 6); words are Zipf's, more than half of them one
user's alone; some are of a topic of the user's, some come again; the log is one day's, without
robots. What a query says is not said twice in a row, so that nothing of it is folded away.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.model import Floats, Ints, Profiles
from anonymizer.pieces import joined, pieces
from anonymizer.profile_file import write_profiles

from .aol_words import invented_words

DAY, SECONDS = "2002-09-08", 86_400
SPREAD = 1.3  # of the logarithm of a user's terms: mean 15 at median 6
HEAD, STEEP = 30, 1.4  # a word's weight is (rank + HEAD) ** -STEEP
AGAIN, OWN_TOPIC = 0.35, 0.35  # shares of words
TOPIC_WORDS, USERS_A_TOPIC = 100, 180
LONGEST_REPEATS = 3  # one in so many words of the longest history comes again
THINKING, MOST_THINKING = 60, 150  # seconds between queries
SITTING, PAUSE = 90, 2_400  # queries until a user pauses, and for how many seconds


class Shape(NamedTuple):
    """How many there are of everything."""

    users: int = 367_803
    terms: int = 251_115  # distinct
    occurrences: int = 5_501_825
    queries: int = 1_846_134
    longest: int = 495  # terms of the longest history

    def part(self, share: float) -> Shape:
        """Return the shape of a smaller log, whose rare terms are as rare (Heaps' law)."""
        users, occurrences, queries = (
            round(share * whole) for whole in (self.users, self.occurrences, self.queries)
        )
        terms = round(share ** (1 / STEEP) * self.terms)
        return Shape(users, terms, occurrences, queries, self.longest)


WHOLE = Shape()


class Log(NamedTuple):
    """Words in log order: those of query q are word[at[q]:at[q + 1]]; users stand one by one."""

    shape: Shape
    word: Ints
    at: Ints
    user: Ints  # of each query
    terms: tuple[str, ...]  # by number, sorted


def main() -> None:
    """Write the log or its profiles."""
    parser = argparse.ArgumentParser(description=__doc__, usage=(__doc__ or "").split("\n")[2][7:])
    parser.add_argument("--share", type=float, default=1.0, help="of users, queries and words")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    if not 0.001 <= given.share <= 1:
        parser.error(f"--share {given.share} must be from 0.001 to 1")
    log = draw_log(WHOLE.part(given.share), given.seed)
    if given.output.suffix in (".npz", ".jsonl"):
        write_profiles(profiles_of(log), given.output)
    else:
        write_log(log, given.output, given.seed)


def altavista_profiles(share: float = 1.0, seed: int = 0) -> Profiles:
    """Return the profiles of such a log, weights being term frequencies."""
    return profiles_of(draw_log(WHOLE.part(share), seed))


def draw_log(shape: Shape, seed: int = 0) -> Log:
    """Draw who asks what; the same seed draws the same."""
    rng = np.random.default_rng(seed)
    sizes, longest = sizes_of_users(shape, rng)
    starts = query_starts(shape, sizes, rng)
    user = np.repeat(np.arange(shape.users), sizes)
    rank, placed = drawn_words(shape, user, sizes, rng)
    first = int(np.cumsum(sizes)[longest] - sizes[longest])
    own = slice(first, first + int(sizes[longest]))
    rank[own] = words_of_longest(shape, starts[own], rng)
    at = np.append(np.flatnonzero(starts), user.size)
    part_repeats(rank, at, user[at[:-1]], placed, rng)
    terms = term_names(shape.terms, rng)
    return Log(shape, rng.permutation(shape.terms)[rank], at, user[at[:-1]], terms)


def sizes_of_users(shape: Shape, rng: np.random.Generator) -> tuple[Ints, int]:
    """Draw how many words each user asks for, and whose history is the longest."""
    weights = np.exp(rng.normal(0.0, SPREAD, shape.users))
    longest = int(np.argmax(weights))
    own = shape.longest + shape.longest // LONGEST_REPEATS
    others = np.delete(weights, longest)
    sizes = shared_out(others, shape.occurrences - own, shape.longest - 1, rng)
    return np.insert(sizes, longest, own), longest


def shared_out(weights: Floats, total: int, most: int, rng: np.random.Generator) -> Ints:
    """Share a total out by weights, at least 1 and at most so many each."""
    sizes: Ints = np.rint(weights * (total / weights.sum())).astype(np.int64).clip(1, most)
    while missing := total - int(sizes.sum()):
        room = np.flatnonzero(sizes < most if missing > 0 else sizes > 1)
        picked = rng.choice(room, min(abs(missing), room.size), replace=False)
        sizes[picked] += np.sign(missing)
    return sizes


def query_starts(shape: Shape, sizes: Ints, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which words begin a query: each user's first one, and others anywhere."""
    starts = np.zeros(shape.occurrences, dtype=np.bool_)
    starts[np.cumsum(sizes) - sizes] = True
    free = np.flatnonzero(~starts)
    starts[rng.choice(free, shape.queries - shape.users, replace=False)] = True
    return starts


def drawn_words(
    shape: Shape, user: Ints, sizes: Ints, rng: np.random.Generator
) -> tuple[Ints, NDArray[np.bool_]]:
    """Draw a word's rank for each place, and mark the places that hold each rank once."""
    nth = np.arange(user.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    again = (rng.random(user.size) < AGAIN) & (nth > 0)
    rank = zipf(shape.terms, HEAD, STEEP, user.size, rng)
    topics = zipf(shape.terms, TOPIC_WORDS, 1.1, shape.users // USERS_A_TOPIC + 1, rng)
    own = np.flatnonzero(rng.random(user.size) < OWN_TOPIC)
    # A topic is a run of words by rank, so that its words are about as frequent as others.
    step = zipf(TOPIC_WORDS, 5, 1.01, own.size, rng)
    mine = topics[rng.integers(topics.size, size=shape.users)[user[own]]]
    rank[own] = (mine + step) % shape.terms
    placed = np.zeros(user.size, dtype=np.bool_)
    fresh = np.flatnonzero(~again & (sizes[user] < shape.longest))
    at = rng.choice(fresh, shape.terms, replace=False)
    rank[at], placed[at] = rng.permutation(shape.terms), True
    source = np.arange(user.size)
    source[again] -= 1 + (rng.random(int(again.sum())) * nth[again]).astype(np.int64)
    while not np.array_equal(source, source[source]):  # again what came again
        source = source[source]
    return rank[source], placed


def zipf(size: int, head: int, steep: float, count: int, rng: np.random.Generator) -> Ints:
    """Draw ranks whose weights are (rank + head) ** -steep, by the inverse of their sum."""
    low, high = float(head) ** (1 - steep), float(head + size) ** (1 - steep)
    drawn: Ints = (low - rng.random(count) * (low - high)) ** (1 / (1 - steep)) - head
    return np.minimum(drawn.astype(np.int64), size - 1)


def words_of_longest(shape: Shape, starts: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """Draw exactly so many distinct words as the longest history has, and the rest from these."""
    drawn = zipf(shape.terms, HEAD, STEEP, 40 * shape.longest, rng).tolist()
    distinct = list(dict.fromkeys([*drawn, *range(shape.terms)]))[: shape.longest]
    words = rng.choice(distinct, starts.size)
    # Queries begin with words of their own: none is the one before it.
    order = np.argsort(~starts, kind="stable")
    words[order[: shape.longest]] = distinct
    return words


def part_repeats(
    rank: Ints, at: Ints, user: Ints, placed: NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """Change a word of each query that says what its user's query before says."""
    while (found := repeated_queries(rank, at, user)).size:
        later, before = at[found], at[found - 1]
        rank[np.where(placed[later], before, later)] = zipf(
            int(rank.max()) + 1, HEAD, STEEP, found.size, rng
        )


def repeated_queries(rank: Ints, at: Ints, user: Ints) -> Ints:
    """Return the queries that are word for word their user's query before."""
    length = np.diff(at)
    like = np.flatnonzero((length[1:] == length[:-1]) & (user[1:] == user[:-1])) + 1
    words = length[like]
    begin = np.cumsum(words) - words
    later = np.repeat(at[like] - begin, words) + np.arange(int(words.sum()))
    same = rank[later] == rank[later - np.repeat(words, words)]
    if not like.size:
        return like
    found: Ints = like[np.logical_and.reduceat(same, begin)]
    return found


def term_names(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Make up so many words."""
    names: dict[str, None] = {}
    while len(names) < count:
        names |= dict.fromkeys(invented_words(count, rng))
    return tuple(sorted(list(names)[:count]))


def profiles_of(log: Log) -> Profiles:
    """Return the profiles of the log, weights being term frequencies."""
    shape = log.shape
    keys = np.repeat(log.user, np.diff(log.at)) * shape.terms + log.word
    cells, counts = np.unique(keys, return_counts=True)
    user, term = np.divmod(cells, shape.terms)
    ends = np.searchsorted(user, np.arange(shape.users + 1))
    matrix = csr_matrix((counts, term, ends), shape=(shape.users, shape.terms))
    return Profiles(user_names(shape.users), log.terms, matrix)


def user_names(users: int) -> tuple[str, ...]:
    """Return a name for each user, in log order."""
    return tuple(f"u{number}" for number in range(1, users + 1))


def write_log(log: Log, path: Path, seed: int = 0) -> None:
    """Write the log as lines of user, query and time."""
    words, users = len(log.terms), user_names(log.shape.users)
    days = [f"\t{DAY} {s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}\n" for s in range(SECONDS)]
    shared = pieces([*log.terms, *(f" {term}" for term in log.terms), *days])
    queries = log.user.size
    # A line is its user, its words, each but the first after a blank, and its time.
    numbers = np.empty(log.word.size + 2 * queries, dtype=np.int32)
    before = 2 * np.repeat(np.arange(queries), np.diff(log.at)) + 1
    numbers[np.arange(log.word.size) + before] = log.word + words
    begin = log.at[:-1] + 2 * np.arange(queries)
    numbers[begin], numbers[begin + 1] = ~log.user, log.word[log.at[:-1]]
    when = times(log.user, np.random.default_rng([seed, 1]))
    numbers[log.at[1:] + 2 * np.arange(queries) + 1] = when + 2 * words
    path.write_bytes(joined(shared, pieces([f"{user}\t" for user in users]), numbers))


def times(user: Ints, rng: np.random.Generator) -> Ints:
    """Draw when in the day each query is asked; no user asks more than 90 without a pause."""
    first = np.searchsorted(user, user)
    nth = np.arange(user.size) - first
    steps = np.minimum(rng.exponential(THINKING, user.size), MOST_THINKING).astype(np.int64)
    steps += PAUSE * (nth % SITTING == 0)
    steps[nth == 0] = 0
    passed = np.cumsum(steps)
    within = passed - passed[first]
    lasts = np.zeros(int(user[-1]) + 1, dtype=np.int64)
    np.maximum.at(lasts, user, within)
    opens: Ints = (rng.random(lasts.size) * (SECONDS - lasts)).astype(np.int64)
    return opens[user] + within


if __name__ == "__main__":
    main()
