"""What a release of matched vocabularies keeps, and what its input is like, as facts of units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anonymizer.measures.patterns import TermSet, retrieved
from anonymizer.measures.vocabulary import (
    LENGTHS,
    loss,
    occurrences,
    own_share,
    patterns_are_defined,
    taxonomy_for,
    upwards,
)
from anonymizer.model import Profiles, Release
from anonymizer.profiles.rare_terms import persons_of
from anonymizer.similarity.term_distances import term_distances
from anonymizer.terms.taxonomy import Taxonomy, noun_taxonomy
from anonymizer.terms.wordnet import WordNet
from anonymizer.vocabularies.bags import bags_of
from anonymizer.vocabularies.clustering import costs_of, distance

from ..facts import Facts

EVERY_EPS = (2, 4, 6, 8)  # at which releases without it are measured
_PAIRS = 1_000  # of people, of which both models are compared


def recall(least: int) -> str:
    """Return the name of the fact that holds Recall of patterns of `least` terms or more."""
    return f"recall_{least}"


def far(least: int, eps: float) -> str:
    """Return the name of the fact that holds sDist by `eps`, of patterns of `least` or more."""
    return f"s_dist_{least}_eps_{eps:g}"


def facts_of_vocabularies(
    profiles: Profiles, release: Release, wordnet: WordNet, patterns: Sequence[Sequence[TermSet]]
) -> Facts:
    """Return what `release` keeps of the vocabularies in `profiles`, and of their top `patterns`.

    The lists of patterns are those by LENGTHS.
    """
    counts, taxonomy = occurrences(profiles, release), taxonomy_for(release, wordnet)
    # Several sessions of a person in a row are one person.
    pairs = {*zip(release.row_of_user.tolist(), persons_of(release.users), strict=True)}
    people = Counter(row for row, _ in pairs)
    few = [count < (release.number("k") or 1) for count in people.values()]
    facts: Facts = {
        "loss": loss(profiles, release, taxonomy),
        "kept_share": counts.kept / counts.every,
        "replaced_share": counts.replaced / max(counts.kept, 1),
        "own_share": own_share(release),
        "users_left_empty": len(profiles) - len(release.users),
        "terms_a_row": float(release.rows.sizes[release.row_of_user].sum() / len(profiles)),
        "rows_of_few_people": float(np.mean(few)),
    }
    if release.parameters.get("bag") == "false":
        facts["loss_as_if_kept"] = _as_if_kept(profiles, release, wordnet)
    if str(release.parameters.get("model")) == "1":
        facts["equal_distances"] = _equal_distances(profiles, release, taxonomy)
    own = release.number("eps")
    if not patterns_are_defined(release):
        return facts
    for least, before in zip(LENGTHS, patterns, strict=True):
        # A rival has no eps of its own; it is compared at those of SSC.
        for eps in EVERY_EPS if own is None else (own,):
            given = eps if own is None else None
            shared, away = retrieved(before, release, taxonomy, least, given)
            facts |= {recall(least): shared, far(least, eps): away}
    return facts


def _equal_distances(profiles: Profiles, release: Release, taxonomy: Taxonomy) -> float:
    """Return the share of pairs of people who are equally far apart by both models."""
    bags, eps = bags_of(profiles), release.number("eps") or 0
    distances = term_distances(profiles.terms, taxonomy, eps, every_sense=False)
    rng = np.random.default_rng(0)
    # All pairs would take minutes, and the share needs no more digits.
    drawn = [rng.choice(len(profiles), 2, replace=False) for _ in range(_PAIRS)]
    costs = [costs_of(release.number("omega") or eps, most_pairs=most) for most in (False, True)]
    equal = [
        distance(one, other, bags, distances, costs[0])
        == distance(one, other, bags, distances, costs[1])
        for one, other in drawn
    ]
    return float(np.mean(equal))


def _as_if_kept(profiles: Profiles, release: Release, wordnet: WordNet) -> float:
    """Return LM as LG reports it: each occurrence below a published term counts as kept."""
    taxonomy = taxonomy_for(release, wordnet)
    below = Counter(name for term in profiles.terms for name in {*upwards(taxonomy, term)})
    sizes = Counter({slot.term: 0 for slot in release.slots})
    for slot in release.slots:
        sizes[slot.term] += len(slot.occurrences)
    lost = sum(count * (below[term] - 1) for term, count in sizes.items())
    return float(lost / (len(profiles.terms) - 1) / sizes.total())


def facts_of_bags(profiles: Profiles, wordnet: WordNet) -> Facts:
    """Return what vocabularies in `profiles` are like, and how much of them `wordnet` knows."""
    weights, nouns = profiles.weights, noun_taxonomy(wordnet)
    known = np.array([bool(nouns.nodes_of(term)) for term in profiles.terms])
    having = np.bincount(weights.indices, minlength=len(profiles.terms))
    return {
        "terms_a_vocabulary": float(profiles.sizes.mean()),
        "terms_of_one": float(np.mean(having[having > 0] == 1)),
        "known_terms": float(known.mean()),
        "known_occurrences": float(weights.data[known[weights.indices]].sum() / weights.data.sum()),
    }
