"""Relevance by the town's truth: people ask for interests, to which entries of WordNet belong."""
# Nothing here reads the log or a profile. Queries are drawn as words of an entry that belongs
# to an interest. A quarter of them is about what the person is not interested in.

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.terms.analysis import STOP_WORDS

from ..errors import UsageError
from ..evaluation.relevance import LabelledQuery, Relevance
from ..evaluation.topics import Topic
from .queries import DEVOTION
from .subjects import INTERESTS, Library, Wheel

if TYPE_CHECKING:
    from anonymizer.terms.wordnet import WordNet

ASKED = ("in", "in", "in", "off")  # the kinds of each person's queries
_SINGLE = 0.6  # share of queries of one word; the others have two
_STREAM = 20  # so that these draws differ from those that made the town
_WORDS = re.compile(r"[a-z]{3,}")


def truth_relevance(wordnet: WordNet, truth: Mapping[str, Any]) -> Relevance:
    """Return queries of the people in `truth`, and for each entry the interests it belongs to.

    An entry of `wordnet` belongs to an interest if it stands below the interest's synset. A query
    is one or two words of an entry: of its first name or of its definition.
    """
    library = Library(wordnet)
    wheel = Wheel(INTERESTS, (interest.weight for interest in INTERESTS))
    members = {interest.label: list(library.tree((interest.synset,))) for interest in INTERESTS}
    rng = np.random.default_rng([int(truth["seed"]), _STREAM])
    queries = list[LabelledQuery]()
    for user, person in truth["users"].items():
        own = [interest["label"] for interest in person["interests"]]
        if not own or not set(own) <= members.keys():
            raise UsageError(
                "the town's truth names other interests than this program knows; write the town "
                "again: veilsearch town -o LOG.tsv"
            )
        for kind in ASKED:
            # People ask more about what they like more, as they did in the log.
            label = Wheel(own, DEVOTION[: len(own)]).spin(rng)
            while kind == "off" and label in own:
                label = wheel.spin(rng).label
            entry = members[label][int(rng.integers(len(members[label])))]
            text = _words_of(wordnet, entry, rng) or label
            topic = Topic(f"t{len(queries) + 1:05}", text, 0, user)
            queries.append(LabelledQuery(topic, kind, frozenset({_word(label)})))
    labels: dict[str, set[str]] = {}
    for label, entries in members.items():
        for entry in entries:
            labels.setdefault(wordnet.name(entry), set()).add(_word(label))
    return Relevance(queries, {name: frozenset(words) for name, words in labels.items()})


def labels_of_interests(person: Mapping[str, Any]) -> frozenset[str]:
    """Return the labels of what a `person` of the truth is interested in."""
    return frozenset(_word(interest["label"]) for interest in person["interests"])


def _words_of(wordnet: WordNet, entry: int, rng: np.random.Generator) -> str:
    """Return one or two words of `entry`, drawn by `rng`; "" if it has none."""
    text = f"{wordnet.lemmas(entry)[0]} {wordnet.gloss(entry)}".lower()
    words = [word for word in dict.fromkeys(_WORDS.findall(text)) if word not in STOP_WORDS]
    size = min(1 + int(rng.random() >= _SINGLE), len(words))
    return " ".join(rng.choice(words, size, replace=False).tolist()) if words else ""


def _word(label: str) -> str:
    return label.replace(" ", "-")
