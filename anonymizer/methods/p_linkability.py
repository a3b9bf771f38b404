"""p-linkability groups: greedy constrained clustering.

Zhu & Xiong, Anonymizing User Profiles for Personalized Web Search (TR-2010-007 and WWW 2010),
definition 1 and algorithm 1. A group satisfies the constraint if its members have at least
|U|avg / p distinct original terms, where |U|avg is the mean number of terms of a profile. This
bounds the average probability of linking a member to one of the group's terms, not each of them.
With guarantee "every-term" a row suppresses each term that more than p of the members have.

The paper does not say how to break ties. Here the lowest row joins among equally close profiles,
and is the next seed among equally far ones; a user in no group joins the oldest of equal groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats
from ..errors import BadInput, BadParameter
from ..model import Grouping, Release
from ..promise import AVERAGE, Promise
from ..rows.representative import REPRESENTATIVES, represent
from ..similarity.documents import document_vectors
from .method import Inputs, Method, Options, each_by_itself, option, rare

if TYPE_CHECKING:
    from ..grouping.bounds import Bounds

MOST_SCORES = 500_000_000  # users x documents; their scores take 4 GB


@dataclass(frozen=True)
class PLinkability(Options):
    """The options of groups that satisfy p-linkability."""

    p: float | None = option(
        0.4, "at least |U|avg / p distinct terms in each group; off: no such bound"
    )
    k: int | None = option(None, "in addition to p: at least k members in each group")
    l: float | None = option(None, "in addition to p: l-diversity of term weights")  # noqa: E741 the papers' letter
    t: float | None = option(None, "in addition to p: t-closeness of term weights")
    a: int = option(1, "WordNet: how many steps of hypernyms are added", least=0, most=100)
    guarantee: str = option(
        "average",
        "every-term: rows suppress terms that more than p of the members have",
        choices=("average", "every-term"),
    )
    linkage: str = option(
        "seed",
        "the person closest to the seed joins; centroid: the one closest to the members' mean "
        "(slow: the time grows with the square of the number of users)",
        choices=("seed", "centroid"),
    )
    similarity: str = option(
        "profiles",
        "documents: people are similar who score a sample of the index's documents alike",
        choices=("profiles", "documents"),
    )
    representative: str = option(
        "centroid",
        "the members' mean weights; union: their largest",
        choices=tuple(REPRESENTATIVES),
    )
    augment: str = option(
        "wordnet",
        "profiles are compared by synsets and hypernyms; cooccurrence: by terms that go "
        "together; none: by their own terms",
        choices=("none", "wordnet", "cooccurrence"),
    )
    combine: str = option(
        "max",
        "weight where two terms bring the same: the larger, or the sum",
        choices=("max", "sum"),
    )
    sense: str = option(
        "profile",
        "WordNet: the sense whose words fit the profile; first: the most common one",
        choices=("profile", "first"),
    )
    neighbours: int = option(5, "cooccurrence: how many terms a term brings", least=1, most=1000)
    network: str = option(
        "profiles",
        "cooccurrence: learnt from profiles, index, or log (all queries of the log of --log)",
        choices=("profiles", "index", "log"),
    )
    documents: int = option(
        1000, "similarity=documents: size of the sample", least=2, most=1_000_000
    )
    refine: str = option(
        "none",
        "swap: exchange members to make groups closer while every bound holds",
        choices=("none", "swap"),
    )
    first_seed: str = option(
        "", "the user who seeds the first group; by default --seed draws one", shown="USER"
    )
    min_users: int = rare()

    def effects(self) -> dict[str, bool]:
        """Return for options whether they have an effect with these others."""
        documents = self.similarity == "documents"
        augment = "none" if documents else self.augment
        return {
            "a": augment == "wordnet",
            "sense": augment == "wordnet",
            "combine": augment != "none",
            "neighbours": augment == "cooccurrence",
            "network": augment == "cooccurrence",
            "documents": documents,
            "augment": not documents,
        }

    def faults_in_parts(self) -> list[str]:
        """Return what of these values can't be had in parts of the users."""
        faults = []
        if self.first_seed:
            faults.append("first_seed is of one group, and each part has a first one; leave it out")
        if self.network == "profiles" and self.effects()["network"]:
            faults.append("network=profiles needs all users at once; in parts take index or log")
        return faults


def run(inputs: Inputs, options: PLinkability) -> Release:
    """Return the release of `inputs` in groups of similar profiles that satisfy p-linkability."""
    # Imported here, so that `--help` does not load the compiled loops.
    from ..grouping.swapping import refine as swap

    profiles, named = inputs.profiles, options.first_seed
    bounds, everybody = _bounds(inputs, options), _shares(inputs)
    first = profiles.number(named) if named else int(inputs.rng.integers(len(profiles)))
    vectors = _vectors(inputs, options)
    grouping = _grouped(inputs, vectors, bounds, first, everybody, options.linkage)
    if options.refine == "swap":
        grouping = swap(profiles, vectors, grouping, bounds, everybody, progress=inputs.progress)
    limit = options.p if options.guarantee == "every-term" else None
    rows = represent(profiles, grouping, options.representative, most_share=limit)
    # release.json is published, so it must not name the user.
    settled = replace(options, first_seed="given" if named else "drawn")
    if options.similarity == "documents" and inputs.sample is not None:
        # What took effect: original profiles score documents, and the index may have fewer.
        settled = replace(settled, augment="none", documents=inputs.sample.vectors.shape[0])
    return METHOD.release(settled, rows, profiles.users, grouping.group_of)


def _bounds(inputs: Inputs, options: PLinkability) -> Bounds:
    """Return what each group must satisfy; refuse it if not even all users together do."""
    from ..grouping.bounds import bounds_of, refuse_hopeless

    profiles, everybody, p = inputs.profiles, inputs.everybody, options.p
    average = Fraction(everybody.profile_terms, everybody.users) if everybody else None
    # The bounds add up weights, and could not be compared with an infinite sum.
    with np.errstate(over="ignore"):
        if not np.isfinite(profiles.weights.data.sum()):
            raise BadInput("weights are too large to be added up; divide them by a large number")
    bounds = bounds_of(profiles, p=p, k=options.k, l=options.l, t=options.t, average=average)
    if options.guarantee == "every-term":
        if p is None:
            raise BadParameter("guarantee=every-term needs a p; set one, like p=0.4")
        # In a smaller group already one member is more than a share p: no term could stand.
        members = math.ceil(1 / Fraction(str(p)))
        bounds = bounds._replace(members=max(bounds.members, members))
    refuse_hopeless(profiles, bounds)
    return bounds


def _shares(inputs: Inputs) -> Floats:
    """Return the share of each term in the weight of all users."""
    from ..grouping.bounds import overall

    if inputs.everybody is None:
        return overall(inputs.profiles)
    # Sums over parts may differ from one sum in the last digits, which the slack of bounds covers.
    weights = inputs.everybody.weights
    if not np.isfinite(total := weights.sum()):
        raise BadInput("weights are too large to be added up; divide them by a large number")
    share: Floats = weights / total
    return share


def _vectors(inputs: Inputs, options: PLinkability) -> csr_matrix | Floats:
    """Return the unit rows whose products are the users' similarities."""
    from ..similarity.wordnet import unit_rows

    profiles, sample = inputs.profiles, inputs.sample
    if options.similarity == "profiles":
        if inputs.kept is None:
            return unit_rows(_augmented(inputs, options))
        # The same for each seed and p, so an experiment makes them once for all of these.
        how = options.augment, options.a, options.combine, options.sense, options.neighbours
        made_of = id(profiles), id(inputs.links), how
        if made_of not in inputs.kept:
            inputs.kept.clear()  # no two are in memory
            # An id means one object only as long as that is kept.
            vectors = unit_rows(_augmented(inputs, options))
            inputs.kept[made_of] = vectors, profiles, inputs.links
        return cast(csr_matrix, inputs.kept[made_of][0])
    if sample is None:
        raise BadParameter("similarity=documents needs a sample of an index's documents")
    size = sample.vectors.shape[0]
    if len(profiles) * size > MOST_SCORES:
        raise BadParameter(
            f"documents={size} are too many for {len(profiles)} users; at most "
            f"{MOST_SCORES // len(profiles)} fit, or take similarity=profiles"
        )
    return document_vectors(profiles, sample.vectors, sample.terms)


def _augmented(inputs: Inputs, options: PLinkability) -> csr_matrix:
    """Return the profiles, augmented by what the options compare them by."""
    from ..similarity.cooccurrence import augment_by_network, learn
    from ..similarity.wordnet import augment_profiles

    profiles, combine = inputs.profiles, options.combine
    if options.augment == "none":
        return profiles.weights
    if inputs.everybody:
        profiles = profiles.in_order()  # all terms of everybody would be looked up in each part
    if options.augment == "cooccurrence":
        links = inputs.links
        if options.network == "profiles":
            links = learn(profiles.weights, profiles.terms, neighbours=options.neighbours)
        if links is None:
            raise BadParameter(f"network={options.network} needs that network, and none was given")
        return augment_by_network(profiles, links, combine=combine)
    if inputs.wordnet is None:
        raise BadParameter(
            "augment=wordnet needs WordNet, and none was given; without English terms take "
            "augment=cooccurrence or none"
        )
    return augment_profiles(
        profiles,
        inputs.wordnet,
        a=options.a,
        combine=combine,
        sense=options.sense,
        progress=inputs.progress,
    )


def _grouped(
    inputs: Inputs,
    vectors: csr_matrix | Floats,
    bounds: Bounds,
    first: int,
    everybody: Floats,
    linkage: str,
) -> Grouping:
    """Run algorithm 1, with an index of profiles where one is possible."""
    from ..grouping.greedy import cluster
    from ..grouping.greedy_scan import scan

    profiles, progress = inputs.profiles, inputs.progress
    if isinstance(vectors, csr_matrix) and linkage == "seed":
        return cluster(profiles, vectors, bounds, first, everybody=everybody, progress=progress)
    return scan(
        profiles, vectors, bounds, first, linkage=linkage, everybody=everybody, progress=progress
    )


METHOD = Method(
    name="p-linkability",
    paper="Zhu & Xiong 2010",
    about="groups of similar people with many distinct terms; one row is released for each group",
    promise=AVERAGE,
    run=run,
    in_parts=each_by_itself(run),
    options=PLinkability,
    needs=frozenset({"wordnet", "sample", "links"}),
    promises={("guarantee", "every-term"): Promise("group", "every-term")},
)
