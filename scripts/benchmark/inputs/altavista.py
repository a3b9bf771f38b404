"""Write profiles of an invented log with the marginals of Burghardt et al.'s AltaVista log.

usage: python -m scripts.benchmark.inputs.altavista -o PROFILES.npz [--share 0.1]

It holds nothing of a real log. It has exactly the numbers of users, queries, distinct terms and
occurrences of terms in the paper's section 5.1, and its longest history (5.2), or a share of these.
Numbers of terms per user are heavy-tailed (median about 6). Words follow Zipf's law; more than half
of them belong to one user; some come from a topic of the user, some are repeated. No query repeats
the one before it, as a log that is read would be folded.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Profiles
from anonymizer.storage.profiles import write_profiles

from .aol import invented_words

SPREAD = 1.3  # of the logarithm of a user's number of terms: mean 15, median 6
HEAD, STEEP = 30, 1.4  # a word's weight is (rank + HEAD) ** -STEEP
AGAIN, OWN_TOPIC = 0.35, 0.35  # shares of words
TOPIC_WORDS, USERS_A_TOPIC = 100, 180
LONGEST_REPEATS = 3  # one word in 3 of the longest history is repeated


class Shape(NamedTuple):
    """The numbers of users, terms, queries and so on in a log."""

    users: int = 367_803
    terms: int = 251_115  # distinct
    occurrences: int = 5_501_825
    queries: int = 1_846_134
    longest: int = 495  # terms of the longest history

    def part(self, share: float) -> Shape:
        """Return the shape of a `share` of the log, whose rare terms are as rare (Heaps' law)."""
        users, occurrences, queries = (
            round(share * whole) for whole in (self.users, self.occurrences, self.queries)
        )
        terms = round(share ** (1 / STEEP) * self.terms)
        return Shape(users, terms, occurrences, queries, self.longest)


WHOLE = Shape()


class Log(NamedTuple):
    """Words in log order, user by user: those of query q are word[at[q]:at[q + 1]]."""

    shape: Shape
    word: Ints
    at: Ints
    user: Ints  # of each query
    terms: tuple[str, ...]  # by number, sorted


def main() -> None:
    """Write the profiles."""
    parser = argparse.ArgumentParser(description=__doc__, usage=(__doc__ or "").split("\n")[2][7:])
    parser.add_argument("--share", type=float, default=1.0, help="of users, queries and words")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    if not 0.001 <= given.share <= 1:
        parser.error(f"--share {given.share} must be from 0.001 to 1")
    write_profiles(altavista_profiles(given.share), given.output)


def altavista_profiles(share: float = 1.0, seed: int = 0) -> Profiles:
    """Return the profiles of such a log by `share` and `seed`; weights are term frequencies."""
    return profiles_of(draw_log(WHOLE.part(share), seed))


def draw_log(shape: Shape, seed: int = 0) -> Log:
    """Return a log of this `shape`; the same `seed` gives the same log."""
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
    """Return how many words each user of `shape` enters, and who has the longest history."""
    weights = np.exp(rng.normal(0.0, SPREAD, shape.users))
    longest = int(np.argmax(weights))
    own = shape.longest + shape.longest // LONGEST_REPEATS
    others = np.delete(weights, longest)
    sizes = shared_out(others, shape.occurrences - own, shape.longest - 1, rng)
    return np.insert(sizes, longest, own), longest


def shared_out(weights: Floats, total: int, most: int, rng: np.random.Generator) -> Ints:
    """Return `total` shared out by `weights`, from 1 to `most` each."""
    sizes: Ints = np.rint(weights * (total / weights.sum())).astype(np.int64).clip(1, most)
    while missing := total - int(sizes.sum()):
        room = np.flatnonzero(sizes < most if missing > 0 else sizes > 1)
        picked = rng.choice(room, min(abs(missing), room.size), replace=False)
        sizes[picked] += np.sign(missing)
    return sizes


def query_starts(shape: Shape, sizes: Ints, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which words begin a query, by `sizes`: each user's first one, and random others."""
    starts = np.zeros(shape.occurrences, dtype=np.bool_)
    starts[np.cumsum(sizes) - sizes] = True
    free = np.flatnonzero(~starts)
    starts[rng.choice(free, shape.queries - shape.users, replace=False)] = True
    return starts


def drawn_words(
    shape: Shape, user: Ints, sizes: Ints, rng: np.random.Generator
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return a rank for each word of each `user`, and the places that hold every rank once."""
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
    while not np.array_equal(source, source[source]):  # a repeat of a repeat
        source = source[source]
    return rank[source], placed


def zipf(size: int, head: int, steep: float, count: int, rng: np.random.Generator) -> Ints:
    """Return `count` ranks below `size`, with weights (rank + `head`) ** -`steep`."""
    # By the inverse of the sum of weights, taken as an integral.
    low, high = float(head) ** (1 - steep), float(head + size) ** (1 - steep)
    drawn: Ints = (low - rng.random(count) * (low - high)) ** (1 / (1 - steep)) - head
    return np.minimum(drawn.astype(np.int64), size - 1)


def words_of_longest(shape: Shape, starts: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """Return the words of the longest history of `shape`: distinct ones, and repeats of them."""
    drawn = zipf(shape.terms, HEAD, STEEP, 40 * shape.longest, rng).tolist()
    distinct = list(dict.fromkeys([*drawn, *range(shape.terms)]))[: shape.longest]
    words = rng.choice(distinct, starts.size)
    # Queries begin with different words, so none repeats the one before it.
    order = np.argsort(~starts, kind="stable")
    words[order[: shape.longest]] = distinct
    return words


def part_repeats(
    rank: Ints, at: Ints, user: Ints, placed: NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """Change in `rank` a word of each query that repeats its user's query before."""
    while (repeated := repeated_queries(rank, at, user)).size:
        later, before = at[repeated], at[repeated - 1]
        rank[np.where(placed[later], before, later)] = zipf(
            int(rank.max()) + 1, HEAD, STEEP, repeated.size, rng
        )


def repeated_queries(rank: Ints, at: Ints, user: Ints) -> Ints:
    """Return the queries that repeat, word for word, the query before of the same `user`."""
    length = np.diff(at)
    like = np.flatnonzero((length[1:] == length[:-1]) & (user[1:] == user[:-1])) + 1
    words = length[like]
    begin = np.cumsum(words) - words
    later = np.repeat(at[like] - begin, words) + np.arange(int(words.sum()))
    same = rank[later] == rank[later - np.repeat(words, words)]
    if not like.size:
        return like
    repeated: Ints = like[np.logical_and.reduceat(same, begin)]
    return repeated


def term_names(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Return `count` invented words, sorted."""
    names: dict[str, None] = {}
    while len(names) < count:
        names |= dict.fromkeys(invented_words(count, rng))
    return tuple(sorted(list(names)[:count]))


def profiles_of(log: Log) -> Profiles:
    """Return the profiles of `log`; weights are term frequencies."""
    shape = log.shape
    keys = np.repeat(log.user, np.diff(log.at)) * shape.terms + log.word
    cells, counts = np.unique(keys, return_counts=True)
    user, term = np.divmod(cells, shape.terms)
    ends = np.searchsorted(user, np.arange(shape.users + 1))
    matrix = csr_matrix((counts, term, ends), shape=(shape.users, shape.terms))
    users = tuple(f"u{number}" for number in range(1, shape.users + 1))
    return Profiles(users, log.terms, matrix)


if __name__ == "__main__":
    main()
