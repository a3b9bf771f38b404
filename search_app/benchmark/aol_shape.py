"""Write an invented query log of the shape of AOL's: lines, users, clicks, and words as skewed.

usage: python -m search_app.benchmark.aol_shape -o LOG.tsv [--users 657000 --lines 36000000]

Nothing of a real log is in it. Users have heavy-tailed numbers of queries (median about 10); words
are Zipf's over WordNet's own, partly from topics their user cares for, and partly names and typos
that no dictionary has; queries come again; lines stand user by user, time ascending, with clicks,
next pages, empty queries and a few broken lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import Ints
from anonymizer.pieces import joined, pieces

from .aol_words import DAYS, INVENTED, SITES, TOPIC_WORDS, TOPICS, Words, make_words
from .plan import LINES, USERS

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
BLOCK = 1 << 18  # events made at a time
LINES_A_QUERY = 1.707  # what the shares below come to
SPREAD = 1.53  # of the logarithm of a user's queries: mean 32 at median 10
CLICKED, MORE_CLICKS, MORE_PAGES = 0.55, 0.38, 0.27
AGAIN, EMPTY, BROKEN = 0.35, 0.012, 2e-6  # shares of queries
WORDS = (0.30, 0.32, 0.22, 0.10, 0.06)  # shares of queries of 1, 2, ... words
OWN_TOPIC, NO_WORD = 0.35, 0.18  # shares of words
TOPICS_A_USER = 3
HEAD = 22  # the head of Zipf's law is flat: a word's weight is 1 / (rank + HEAD)
SECONDS = 86_400 * DAYS


def main() -> None:
    """Write the log."""
    parser = argparse.ArgumentParser(description=__doc__, usage=(__doc__ or "").split("\n")[2][7:])
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--lines", type=int, default=LINES, help="about so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    if not 1 <= given.users <= given.lines / 2:
        parser.error(f"--users {given.users} must be at least 1 and at most half of --lines")
    write_log(given.output, given.users, given.lines, given.seed)


def write_log(path: Path, users: int, lines: int, seed: int = 0, invented: int = INVENTED) -> None:
    """Write a log of about so many lines; the same seed writes the same bytes."""
    rng = np.random.default_rng(seed)
    words = make_words(rng, invented)
    queries = queries_of_users(users, lines, rng)
    with path.open("wb") as file:
        file.write(HEADER)
        file.writelines(blocks(queries, words, rng))


def queries_of_users(users: int, lines: int, rng: np.random.Generator) -> Ints:
    """Draw how many queries each user asks, heavy-tailed, for so many lines in all."""
    wanted = max(lines / LINES_A_QUERY, users)
    drawn = np.exp(rng.normal(0.0, SPREAD, users).clip(-4, 4.6))
    counts: Ints = np.maximum(1, np.rint(drawn * wanted / drawn.sum())).astype(np.int64)
    return counts


def blocks(queries: Ints, words: Words, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield the lines of some users at a time."""
    names = np.sort(rng.choice(38 * queries.size, queries.size, replace=False)) + 100
    rng.shuffle(names)
    cuts = np.unique(np.searchsorted(np.cumsum(queries), np.arange(0, queries.sum(), BLOCK)))
    for low, high in pairwise([*cuts.tolist(), queries.size]):
        yield block(names[low:high], queries[low:high], words, rng)


def block(names: Ints, queries: Ints, words: Words, rng: np.random.Generator) -> bytes:
    """Return the lines of some users."""
    user = np.repeat(np.arange(names.size), queries)
    time = times(user, rng)
    length, query_at, query = asked(user, queries, words, rng)
    clicks = (rng.random(user.size) < CLICKED) * rng.geometric(1 - MORE_CLICKS, user.size)
    pages = rng.geometric(1 - MORE_PAGES, user.size) - 1
    event = np.repeat(np.arange(user.size), np.maximum(clicks, 1) + pages)
    place = np.arange(event.size) - np.searchsorted(event, event)
    click = place < clicks[event]
    later = np.maximum(place - np.maximum(clicks[event], 1) + 1, 0)
    when = user[event] * (2 * SECONDS) + time[event] + 45 * later
    when = np.minimum(np.maximum.accumulate(when) - user[event] * (2 * SECONDS), SECONDS - 1)
    parts = line_ends(when, click, words, rng)
    order = in_lines(~user[event], length[event], query_at[event], query, parts)
    users = pieces([f"{name}\t" for name in names.tolist()])
    return joined(words.pieces, users, order)


def times(user: Ints, rng: np.random.Generator) -> Ints:
    """Draw when each query is asked: some within a session, ascending for each user."""
    opens = rng.random(user.size) < 0.4
    opens[:1] = True
    opens[1:] |= user[1:] != user[:-1]
    session = np.cumsum(opens) - 1
    start = rng.integers(SECONDS - 7_200, size=int(session[-1]) + 1)
    owner = user[opens]
    start = np.sort(owner * SECONDS + start) - owner * SECONDS  # sessions of a user in order
    gaps = rng.exponential(150.0, user.size)
    gaps[opens] = 0.0
    passed = np.cumsum(gaps)
    within = passed - passed[opens][session]
    drawn: Ints = start[session] + np.minimum(within, 7_000).astype(np.int64)
    return drawn


def asked(
    user: Ints, queries: Ints, words: Words, rng: np.random.Generator
) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """Return each query's length and place, and the pieces of all queries."""
    n = user.size
    first = np.repeat(np.cumsum(queries) - queries, queries)
    nth = np.arange(n) - first
    source = np.where(rng.random(n) < AGAIN, first + (rng.random(n) * nth).astype(np.int64), -1)
    source = np.where((source < 0) | (nth == 0), np.arange(n), source)
    while not np.array_equal(source, source[source]):  # again what was asked again
        source = source[source]
    length = rng.choice(len(WORDS), size=n, p=WORDS) + 1
    starts = np.cumsum(length) - length
    word = drawn_words(np.repeat(user, length), words, rng)
    later = np.ones(word.size, dtype=np.bool_)
    later[starts] = False
    word[later] += words.known + words.invented
    empty = rng.random(n) < EMPTY
    word[starts[empty]] = words.at["odd"]
    length = np.where(empty, 1, length)
    return length[source], starts[source], word


def drawn_words(user: Ints, words: Words, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw a word for each place of a query: anybody's, of the user's topics, or invented."""
    word = zipf(words.known, HEAD, user.size, rng)
    kind = rng.random(user.size)
    own = np.flatnonzero(kind < OWN_TOPIC)
    mine = zipf(TOPICS, 20, (int(user[-1]) + 1) * TOPICS_A_USER, rng)
    topic = mine[user[own] * TOPICS_A_USER + rng.integers(TOPICS_A_USER, size=own.size)]
    word[own] = words.topics[topic, zipf(TOPIC_WORDS, 5, own.size, rng)]
    none = np.flatnonzero(kind > 1 - NO_WORD)
    word[none] = words.known + zipf(words.invented, HEAD, none.size, rng)
    return word


def zipf(size: int, head: int, count: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw ranks whose weights are 1 / (rank + head), by the inverse of their sum."""
    drawn = (head * ((size + head) / head) ** rng.random(count) - head).astype(np.int32)
    return np.minimum(drawn, size - 1)


def line_ends(
    when: Ints, click: NDArray[np.bool_], words: Words, rng: np.random.Generator
) -> tuple[NDArray[Any], ...]:
    """Return the pieces after each line's query, -1 where there is none."""
    at = words.at
    rank = np.minimum(rng.geometric(0.4, when.size), 500) - 1
    site = zipf(SITES, HEAD, when.size, rng)
    second = np.where(click, at["clicked"], at["plain"]) + when % 60
    second[rng.random(when.size) < BROKEN] = at["odd"] + 1
    clicked = click & (second != at["odd"] + 1)
    return (
        at["day"] + when // 86_400,
        at["minute"] + when % 86_400 // 60,
        second,
        np.where(clicked, at["rank"] + rank, -1),
        np.where(clicked, at["site"] + site, -1),
    )


def in_lines(
    user: Ints,
    length: Ints,
    query_at: Ints,
    query: NDArray[np.int32],
    parts: tuple[NDArray[Any], ...],
) -> NDArray[np.int32]:
    """Put the numbers of all pieces in the order in which they are written."""
    total = 1 + length + sum((part >= 0).astype(np.int64) for part in parts)
    at = np.cumsum(total) - total
    order = np.empty(int(total.sum()), dtype=np.int32)
    order[at] = user
    at += 1
    within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    order[np.repeat(at, length) + within] = query[np.repeat(query_at, length) + within]
    at += length
    for part in parts:
        present = part >= 0
        order[at[present]] = part[present]
        at += present
    return order


if __name__ == "__main__":
    main()
