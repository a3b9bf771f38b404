"""The pieces that an invented log of AOL's shape is joined from: words, times, ranks, sites."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.pieces import Pieces, pieces
from anonymizer.text import Analysis
from anonymizer.wordnet import open_wordnet

from ..settings import load_settings

INVENTED, SITES = 200_000, 50_000
TOPICS, TOPIC_WORDS = 4_000, 300
DAYS = 92  # from 2006-03-01


class Words(NamedTuple):
    """All pieces of lines; the words first, each as it opens a query and as it goes on."""

    pieces: Pieces
    known: int  # how many of the words WordNet has, the others being invented
    invented: int
    at: dict[str, int]  # where the pieces of other kinds begin
    topics: NDArray[np.int32]


def make_words(rng: np.random.Generator, invented: int = INVENTED) -> Words:
    """Lay out all pieces that lines are made of."""
    known, made = _words(rng, invented)
    texts = [*known, *made, *(f" {word}" for word in (*known, *made))]
    at = {}
    for name, part in _parts(made).items():
        at[name] = len(texts)
        texts += part
    topics = rng.integers(len(known), size=(TOPICS, TOPIC_WORDS), dtype=np.int32)
    return Words(pieces(texts), len(known), len(made), at, topics)


def _words(rng: np.random.Generator, invented: int) -> tuple[list[str], list[str]]:
    """Return WordNet's words, and words that it does not have, each in a random order."""
    wordnet = open_wordnet(load_settings().cache)
    analysis = Analysis(wordnet)
    synsets = range(len(wordnet.names))
    lemmas = sorted({lemma.lower() for synset in synsets for lemma in wordnet.lemmas(synset)})
    known = [name for name in lemmas if name.isascii() and name.isalpha() and len(name) > 1]
    known = [name for name in known if analysis.term(name) == name]
    known = [known[i] for i in rng.permutation(len(known)).tolist()]
    made = sorted({word for word in invented_words(invented, rng) if not analysis.term(word)})
    return known, [made[i] for i in rng.permutation(len(made)).tolist()]


def _parts(made: list[str]) -> dict[str, list[str]]:
    """Return the pieces after the words, by their kinds."""
    days = np.datetime64("2006-03-01") + np.arange(DAYS)
    return {
        "day": [f"\t{day} " for day in days],
        "minute": [f"{minute // 60:02}:{minute % 60:02}:" for minute in range(1440)],
        "plain": [f"{second:02}\t\t\n" for second in range(60)],
        "clicked": [f"{second:02}\t" for second in range(60)],
        "rank": [f"{rank}\thttp://www." for rank in range(1, 501)],
        "site": [f"{made[i % len(made)]}.{('com', 'org', 'net')[i % 3]}\n" for i in range(SITES)],
        "odd": ["-", "\n"],  # an empty query; what cuts a line short
    }


def invented_words(count: int, rng: np.random.Generator) -> list[str]:
    """Make up names and typos of two to five syllables."""
    syllables = [f"{one}{two}" for one in "bcdfghjklmnprstvwz" for two in ("a", "e", "i", "o", "u")]
    syllables += [f"{syllable}{end}" for syllable in syllables for end in "nrst"]
    lengths = rng.integers(2, 6, size=count)
    drawn = iter(rng.integers(len(syllables), size=int(lengths.sum())).tolist())
    return ["".join(syllables[next(drawn)] for _ in range(length)) for length in lengths.tolist()]
