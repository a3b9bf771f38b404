"""Vocabulary k-anonymity by semantic clustering (SSC).

Liu & Wang, Enforcing Vocabulary k-Anonymity by Semantic Similarity Based Clustering (2010). A
vocabulary is a bag of terms. Clusters of k people or more form, one after the other. A cluster's
centre holds bags of matched terms, one of each member. A row publishes one term for each bag, and
nothing of what stays unmatched.

Two terms match if their path in WordNet's nouns, or in a taxonomy, has at most eps steps. At eps=0
only identical words match. The distance of two vocabularies is that of their best matching, and
what stays unmatched costs omega. A word that the taxonomy lacks matches only itself.

Promised: a row stands for k people or more, and each published occurrence for one occurrence of
every one of them. Not promised: a published term may be everybody's own word. The paper counts
vocabularies. Here people are counted, so two sessions of a person share no row; count=vocabularies
is the paper's reading. A session whose person is in every cluster gets no row, and nobody whose
cluster has nothing in common has one.

The option members=m, which is not the paper's, lets m people form a cluster. A bag is published if
at least k of them match it. So a row also has words that not all of its people have, and someone
who matches none of them has no row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..model import Release
from ..promise import Promise
from .method import (
    SWITCH,
    Inputs,
    Method,
    Options,
    each_by_itself,
    option,
    rare,
    taxonomies,
    taxonomy_faults,
)

if TYPE_CHECKING:
    from ..rows.typical import Published, Typical
    from ..similarity.term_distances import TermDistances
    from ..vocabularies.clustering import Cluster

_FARTHEST = 1_000_000


@dataclass(frozen=True)
class VocabularyK(Options):
    """The options of clusters of vocabularies."""

    k: int = option(5, "each row stands for at least k people", least=1)
    eps: float = option(
        4.0,
        "the most steps between terms that match; 0: only identical words match",
        least=0,
        most=_FARTHEST,
    )
    omega: float | None = option(
        None,
        "cost of an occurrence that stays unmatched, above 0; off: eps, or 1 if eps is 0",
        least=0,
        most=_FARTHEST,
    )
    model: int = option(
        2,
        "the least distance, with omega for what stays unmatched; 1: first the most pairs",
        least=1,
        most=2,
    )
    typical: str = option(
        "majority",
        "of matched terms, publish the one closest to the others; bags: all; generalize: the "
        "closest term above them",
        choices=("majority", "bags", "generalize"),
    )
    order: str = option(
        "size",
        "the smallest vocabulary opens the next cluster; input: the first in the profiles",
        choices=("size", "input"),
    )
    taxonomy: str = taxonomies()
    senses: str = option(
        "first",
        "a term means its most common sense; closest: whichever is closest to the other term",
        choices=("first", "closest"),
    )
    count: str = option(
        "people",
        "k people stand behind a row; vocabularies: k sessions, which may be one person's",
        choices=("people", "vocabularies"),
    )
    matchings: int | None = option(
        None, "the most vocabularies that a search matches, as an approximation", least=1
    )
    members: int | None = option(
        None,
        "people in a cluster, more than k: a term is published if k of them match; off: k, who all "
        "match",
        least=2,
    )
    anneal: str = option(
        "false",
        "exchange people between the finished clusters while more of their words match",
        choices=SWITCH,
    )
    min_users: int = rare()

    def effects(self) -> dict[str, bool]:
        """Return for options whether they have an effect with these others."""
        wordnet = self.eps > 0 and self.taxonomy == "wordnet"
        return {"taxonomy": self.eps > 0, "senses": wordnet, "model": self.members is None}

    def faults(self, inputs: Inputs) -> list[str]:
        """Return what is wrong with the values, for these `inputs`."""
        faults = super().faults(inputs)
        if self.omega == 0:
            faults.append("omega=0.0 must be above 0, or off")
        if self.members is not None and self.members <= self.k:
            faults.append(f"members={self.members} must be more than k={self.k}, or off")
        return [*faults, *taxonomy_faults(self.taxonomy, inputs)]


def run(inputs: Inputs, options: VocabularyK) -> Release:
    """Return the release of the typical vocabularies of clusters of `inputs`."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..rows.typical import slot_rows
    from ..similarity.term_distances import term_distances
    from ..vocabularies.annealing import annealed
    from ..vocabularies.bags import bags_of, refuse_few
    from ..vocabularies.clustering import cluster, costs_of

    if inputs.everybody:
        # Else all terms of everybody would be compared in each part.
        inputs = replace(inputs, profiles=inputs.profiles.in_order())
    profiles, every_sense = inputs.profiles, options.senses == "closest"
    bags = bags_of(profiles, by_person=options.count == "people")
    refuse_few(bags, options.k)
    refuse_few(bags, options.members or options.k, "members")
    taxonomy = inputs.nodes if options.eps else None
    distances = term_distances(profiles.terms, taxonomy, options.eps, every_sense=every_sense)
    # The paper says only "first". In the order of the profiles its example does not come out.
    order = np.arange(len(profiles))
    if options.order == "size":
        order = np.argsort(bags.sizes, kind="stable")
    least = options.k if options.members else None
    most_pairs = options.model == 1 and not options.members
    costs = costs_of(options.omega or options.eps or 1.0, most_pairs=most_pairs)
    clusters = cluster(
        bags,
        distances,
        costs,
        options.members or options.k,
        order,
        least=least,
        matchings=options.matchings,
        progress=inputs.progress,
    )
    if options.anneal == "true":
        clusters = annealed(bags, distances, costs, clusters, inputs.rng, least)
    name = _typical(inputs, options, distances)
    published = (_published(cluster, name) for cluster in clusters)
    return METHOD.released_slots(options, inputs, slot_rows(profiles, published))


def _typical(inputs: Inputs, options: VocabularyK, distances: TermDistances) -> Typical:
    """Return the function that names what a bag of terms publishes."""
    from ..rows.typical import general, majority, whole_bag
    from ..similarity.term_distances import nodes_of

    terms = inputs.profiles.terms
    if options.typical == "majority":
        return majority(terms, distances)
    if options.typical == "bags":
        return whole_bag(terms)
    nodes = nodes_of(terms, inputs.nodes, every_sense=options.senses == "closest")
    return general(terms, inputs.nodes, nodes)


def _published(cluster: Cluster, name: Typical) -> Published:
    """Return who of `cluster` has a row, and its slots: each bag with its term by `name`."""
    from ..vocabularies.centres import NOBODY

    terms, stand = cluster.centre.terms.tolist(), cluster.centre.stand.tolist()
    slots, matched = [], set()
    for bag, times in zip(terms, stand, strict=True):
        pairs = [one for one in zip(cluster.members, bag, strict=True) if one[1] != NOBODY]
        slots += [(name(tuple(term for _, term in pairs)), pairs)] * times
        matched |= {member for member, _ in pairs}
    return sorted(matched), slots


METHOD = Method(
    name="vocabulary-k",
    paper="Liu & Wang 2010",
    about="clusters of vocabularies that mean alike; a row publishes a term for each bag of terms "
    "that match over all members",
    promise=Promise("group", "vocabulary"),
    run=run,
    in_parts=each_by_itself(run),
    options=VocabularyK,
    needs=frozenset({"wordnet", "taxonomy"}),
)
