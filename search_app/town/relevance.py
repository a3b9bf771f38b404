"""Relevance by the town's truth: people ask for interests, and entries of WordNet belong to some."""
# Nothing here reads the log or a profile: queries are drawn anew, from what people are interested
# in. A quarter of them is about what somebody else is interested in.

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from ..evaluation.relevance import LabelledQuery, Relevance
from ..evaluation.topics import Topic
from .queries import Curiosity
from .subjects import INTERESTS, Library, Wheel

if TYPE_CHECKING:
    from anonymizer.terms.wordnet import WordNet

ASKED = ("in", "in", "in", "off")  # the kinds of each person's queries
_STREAM = 20  # so that these draws differ from those that made the town


def truth_relevance(wordnet: WordNet, truth: Mapping[str, Any]) -> Relevance:
    """Return queries of the people in `truth`, and for each entry the interests it belongs to.

    An entry belongs to an interest if it stands below one of the interest's synsets in `wordnet`.
    """
    library = Library(wordnet)
    known = {interest.label: interest for interest in INTERESTS}
    subjects = {label: library.subject(interest) for label, interest in known.items()}
    wheel = Wheel(INTERESTS, (interest.weight for interest in INTERESTS))
    rng = np.random.default_rng([int(truth["seed"]), _STREAM])
    queries = list[LabelledQuery]()
    for user, person in truth["users"].items():
        own = [interest["label"] for interest in person["interests"]]
        if not own or not set(own) <= known.keys():
            raise UsageError(
                "the town's truth names other interests than this program knows; write the town "
                "again: veilsearch town -o LOG.tsv"
            )
        for kind in ASKED:
            label = own[int(rng.integers(len(own)))]
            while kind == "off" and label in own:
                label = wheel.spin(rng).label
            text = Curiosity(subjects[label], rng).query(rng).text
            topic = Topic(f"t{len(queries) + 1:05}", text, 0, user)
            queries.append(LabelledQuery(topic, kind, frozenset({_word(label)})))
    labels: dict[str, set[str]] = {}
    for label, interest in known.items():
        for synset in library.tree((interest.synset, *interest.more)):
            labels.setdefault(wordnet.name(synset), set()).add(_word(label))
    return Relevance(queries, {name: frozenset(words) for name, words in labels.items()})


def _word(label: str) -> str:
    return label.replace(" ", "-")
