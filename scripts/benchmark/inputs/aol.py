"""Write an invented query log shaped like AOL's in lines, users, clicks and skew of words.

usage: python -m scripts.benchmark.inputs.aol -o LOG.tsv [--users 657000 --lines 36000000]

It holds nothing of a real log. Users have heavy-tailed numbers of queries (median about 10). Words
follow Zipf's law over WordNet's words. Some come from the user's topics; some are names and typos
that no dictionary has. Queries are repeated. Lines stand user by user, in order of time, with
clicks, next pages, empty queries and a few broken lines.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Ints
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.wordnet import open_wordnet
from search_app.settings import load_settings

from ..plan import LINES, USERS
from ..processes import process

INVENTED, SITES = 200_000, 50_000
TOPICS, TOPIC_WORDS = 4_000, 300
DAYS = 92  # from 2006-03-01
HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
BLOCK = 1 << 18  # queries made at a time
LINES_A_QUERY = 1.707  # as follows from the shares below
SPREAD = 1.53  # of the logarithm of a user's number of queries: mean 32, median 10
CLICKED, MORE_CLICKS, MORE_PAGES = 0.55, 0.38, 0.27
AGAIN, EMPTY, BROKEN = 0.35, 0.012, 2e-6  # shares of queries
WORDS = (0.30, 0.32, 0.22, 0.10, 0.06)  # shares of queries of 1, 2, ... words
OWN_TOPIC, NO_WORD = 0.35, 0.18  # shares of words
TOPICS_A_USER = 3
HEAD = 22  # makes the head of Zipf's law flat: a word's weight is 1 / (rank + HEAD)
SECONDS = 86_400 * DAYS


class Words(NamedTuple):
    """All pieces of lines; first the words, each as a query's first word and as a later one."""

    pieces: list[str]
    known: int  # how many of the words are WordNet's
    invented: int
    at: dict[str, int]  # where the pieces of other kinds begin
    topics: NDArray[np.int32]


def main() -> None:
    """Write the log."""
    parser = argparse.ArgumentParser(description=__doc__, usage=(__doc__ or "").split("\n")[2][7:])
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--lines", type=int, default=LINES, help="number of lines, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    if not 1 <= given.users <= given.lines / 2:
        parser.error(f"--users {given.users} must be at least 1 and at most half of --lines")
    write_log(given.output, given.users, given.lines, given.seed)


def invented_log(folder: Path, users: int) -> Path:
    """Return a log of `users`, written unless `folder` has it."""
    log = folder / f"log-{users}.tsv"
    if not log.exists():
        # In a process of its own: the peak memory of children includes that of a large parent.
        temporary = log.with_suffix(".part")
        command = [sys.executable, "-m", "scripts.benchmark.inputs.aol"]
        sizes = ["--users", str(users), "--lines", str(lines_of(users))]
        process([*command, *sizes, "-o", str(temporary)])
        temporary.replace(log)
    return log


def lines_of(users: int) -> int:
    """Return how many lines `users` would have in AOL's log."""
    return round(LINES / USERS * users)


def write_log(path: Path, users: int, lines: int, seed: int = 0, invented: int = INVENTED) -> None:
    """Write to `path` a log of about `lines` lines; the same `seed` writes the same bytes."""
    rng = np.random.default_rng(seed)
    words = make_words(rng, invented)
    queries = queries_of_users(users, lines, rng)
    with path.open("wb") as file:
        file.write(HEADER)
        file.writelines(blocks(queries, words, rng))


def make_words(rng: np.random.Generator, invented: int = INVENTED) -> Words:
    """Return all pieces that lines are made of, with `invented` words of no dictionary."""
    wordnet = open_wordnet(load_settings().cache)
    analysis = Analysis(wordnet)
    synsets = range(len(wordnet.names))
    lemmas = sorted({lemma.lower() for synset in synsets for lemma in wordnet.lemmas(synset)})
    known = [name for name in lemmas if name.isascii() and name.isalpha() and len(name) > 1]
    known = [name for name in known if analysis.term(name) == name]
    known = [known[i] for i in rng.permutation(len(known)).tolist()]
    made = sorted({word for word in invented_words(invented, rng) if not analysis.term(word)})
    made = [made[i] for i in rng.permutation(len(made)).tolist()]
    texts = [*known, *made, *(f" {word}" for word in (*known, *made))]
    days = np.datetime64("2006-03-01") + np.arange(DAYS)
    parts = {
        "day": [f"\t{day} " for day in days],
        "minute": [f"{minute // 60:02}:{minute % 60:02}:" for minute in range(1440)],
        "plain": [f"{second:02}\t\t\n" for second in range(60)],
        "clicked": [f"{second:02}\t" for second in range(60)],
        "rank": [f"{rank}\thttp://www." for rank in range(1, 501)],
        "site": [f"{made[i % len(made)]}.{('com', 'org', 'net')[i % 3]}\n" for i in range(SITES)],
        "odd": ["-", "\n"],  # an empty query; the end of a broken line
    }
    at = {}
    for name, part in parts.items():
        at[name] = len(texts)
        texts += part
    topics = rng.integers(len(known), size=(TOPICS, TOPIC_WORDS), dtype=np.int32)
    return Words(texts, len(known), len(made), at, topics)


def joined(shared: Sequence[str], own: Sequence[str], numbers: NDArray[np.int32]) -> bytes:
    """Return texts joined by `numbers`: i >= 0 is text i of `shared`, ~i is text i of `own`."""
    texts = [*shared, *reversed(own)]  # ~i counts from the end
    return "".join(map(texts.__getitem__, numbers.tolist())).encode()


def invented_words(count: int, rng: np.random.Generator) -> list[str]:
    """Return `count` names and typos of two to five syllables."""
    syllables = [f"{one}{two}" for one in "bcdfghjklmnprstvwz" for two in ("a", "e", "i", "o", "u")]
    syllables += [f"{syllable}{end}" for syllable in syllables for end in "nrst"]
    lengths = rng.integers(2, 6, size=count)
    drawn = iter(rng.integers(len(syllables), size=int(lengths.sum())).tolist())
    return ["".join(syllables[next(drawn)] for _ in range(length)) for length in lengths.tolist()]


def queries_of_users(users: int, lines: int, rng: np.random.Generator) -> Ints:
    """Return a heavy-tailed number of queries for each of `users`, for about `lines` in all."""
    wanted = max(lines / LINES_A_QUERY, users)
    drawn = np.exp(rng.normal(0.0, SPREAD, users).clip(-4, 4.6))
    counts: Ints = np.maximum(1, np.rint(drawn * wanted / drawn.sum())).astype(np.int64)
    return counts


def blocks(queries: Ints, words: Words, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield the lines of users with these numbers of `queries`, some users at a time."""
    names = np.sort(rng.choice(38 * queries.size, queries.size, replace=False)) + 100
    rng.shuffle(names)
    cuts = np.unique(np.searchsorted(np.cumsum(queries), np.arange(0, queries.sum(), BLOCK)))
    for low, high in pairwise([*cuts.tolist(), queries.size]):
        yield block(names[low:high], queries[low:high], words, rng)


def block(names: Ints, queries: Ints, words: Words, rng: np.random.Generator) -> bytes:
    """Return the lines of the users with these `names`."""
    user = np.repeat(np.arange(names.size), queries)
    time = times(user, rng)
    length, query_at, query = drawn_queries(user, queries, words, rng)
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
    return joined(words.pieces, [f"{name}\t" for name in names.tolist()], order)


def times(user: Ints, rng: np.random.Generator) -> Ints:
    """Return the time of each query, by its `user`: ascending, and in sessions."""
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


def drawn_queries(
    user: Ints, queries: Ints, words: Words, rng: np.random.Generator
) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """Return the length and place of each query of `user`, and the pieces of all queries."""
    n = user.size
    first = np.repeat(np.cumsum(queries) - queries, queries)
    nth = np.arange(n) - first
    source = np.where(rng.random(n) < AGAIN, first + (rng.random(n) * nth).astype(np.int64), -1)
    source = np.where((source < 0) | (nth == 0), np.arange(n), source)
    while not np.array_equal(source, source[source]):  # a repeat of a repeat
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
    """Return a word for each place of `user`: a common one, one of their topics, or invented."""
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
    """Return `count` ranks below `size`, with weights 1 / (rank + `head`)."""
    # By the inverse of the sum of weights, taken as an integral.
    drawn = (head * ((size + head) / head) ** rng.random(count) - head).astype(np.int32)
    return np.minimum(drawn, size - 1)


def line_ends(
    when: Ints, click: NDArray[np.bool_], words: Words, rng: np.random.Generator
) -> tuple[NDArray[Any], ...]:
    """Return the pieces after the query of each line, by `when` and `click`; -1 for none."""
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
    """Return the numbers of all pieces, `user`, `query` and `parts`, in the order of writing."""
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
