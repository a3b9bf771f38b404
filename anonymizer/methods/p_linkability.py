"""p-linkability groups: greedy constrained clustering.

Zhu & Xiong, Anonymizing User Profiles for Personalized Web Search (TR-2010-007 and WWW 2010),
definition 1 and algorithm 1. A group satisfies the constraint if the distinct original terms of
its members number at least |U|avg / p, where |U|avg is the mean number of terms of a profile: a
bound on the average probability of linking a member to one of the group's terms, not on each.
With guarantee "every-term" a row leaves out each term that more than p of the members have.

Ties the paper leaves open: among equally close profiles the lowest row joins; among equally far
ones the lowest row is the next seed; a leftover member goes to the oldest of the closest groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from ..augment import COMBINE, augment_profiles, unit_rows
from ..clustering import cluster
from ..constraints import Bounds, bounds_of, overall, refuse_hopeless
from ..cooccurrence import Network, augment_by_network, learn
from ..model import BadInput, BadParameter, Floats, Grouping, Profiles, Progress, Release, silent
from ..refinement import refine as swap
from ..representative import REPRESENTATIVES, represent
from ..scanning import DenseVectors, SparseVectors, Vectors, scan
from ..similarity import Documents, document_vectors
from ..wordnet import WordNet

_CHOICES = {
    "guarantee": ("average", "every-term"),
    "linkage": ("seed", "centroid"),
    "similarity": ("profiles", "documents"),
    "augment": ("none", "wordnet", "cooccurrence"),
    "network": ("profiles", "index", "log"),
    "combine": COMBINE,
    "sense": ("profile", "first"),
    "representative": tuple(REPRESENTATIVES),
    "refine": ("none", "swap"),
}
MOST_SCORES = 500_000_000  # of a user for a document: 4 GB
_RANGES = {"a": (0, 100), "neighbours": (1, 1000), "documents": (2, 1_000_000)}


def anonymize(
    profiles: Profiles,
    *,
    p: float | None = 0.4,
    k: int | None = None,
    l: float | None = None,  # noqa: E741 the papers' letter
    t: float | None = None,
    a: int = 1,
    guarantee: str = "average",
    linkage: str = "seed",
    similarity: str = "profiles",
    representative: str = "centroid",
    augment: str = "wordnet",
    combine: str = "max",
    sense: str = "profile",
    neighbours: int = 5,
    network: str = "profiles",
    documents: int = 1000,
    refine: str = "none",
    first_seed: str = "",
    wordnet: WordNet,
    links: Network | None = None,
    sample: Documents | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Release:
    """Group similar profiles until each group satisfies p-linkability; release one row a group."""
    parameters = {name: value for name, value in locals().items() if name not in _HANDED_IN}
    _refuse_unknown(parameters)
    bounds = _bounds(profiles, guarantee, p=p, k=k, l=l, t=t)
    first = profiles.number(first_seed) if first_seed else int(rng.integers(len(profiles)))
    parameters["first_seed"] = "given" if first_seed else "drawn"  # publish no user's name
    vectors = _vectors(profiles, parameters, wordnet, links, sample, progress)
    grouping = _grouped(profiles, vectors, bounds, first, linkage, progress)
    if refine == "swap":
        grouping = swap(profiles, vectors, grouping, bounds, overall(profiles), progress=progress)
    most = p if guarantee == "every-term" else None
    rows = represent(profiles, grouping, representative, most_share=most)
    return Release(rows, profiles.users, grouping.group_of, "p-linkability", parameters)


_HANDED_IN = ("profiles", "wordnet", "links", "sample", "rng", "progress")


def idle(parameters: Mapping[str, object]) -> list[str]:
    """Name the parameters that have no effect beside the others."""
    documents = parameters["similarity"] == "documents"
    augment = "none" if documents else parameters["augment"]
    effective = {
        "a": augment == "wordnet",
        "sense": augment == "wordnet",
        "combine": augment != "none",
        "neighbours": augment == "cooccurrence",
        "network": augment == "cooccurrence",
        "documents": documents,
        "augment": not documents,
    }
    return [name for name, has_effect in effective.items() if not has_effect]


def _refuse_unknown(parameters: dict[str, object]) -> None:
    faults = [
        f"{name}={parameters[name]} must be one of {', '.join(allowed)}"
        for name, allowed in _CHOICES.items()
        if parameters[name] not in allowed
    ]
    faults += [
        f"{name}={parameters[name]} must be from {least} to {most}"
        for name, (least, most) in _RANGES.items()
        if not least <= int(str(parameters[name])) <= most
    ]
    if faults:
        raise BadParameter("; ".join(faults))


def _bounds(
    profiles: Profiles, guarantee: str, *, p: float | None, **others: float | None
) -> Bounds:
    """Return what each group must satisfy, or refuse it if not even all users together do."""
    with np.errstate(over="ignore"):
        if not np.isfinite(profiles.weights.data.sum()):
            raise BadInput("weights are too large to be added up; divide them by a large number")
    bounds = bounds_of(profiles, p=p, **others)  # type: ignore[arg-type]
    if guarantee == "every-term":
        if p is None:
            raise BadParameter("guarantee=every-term needs a p; set one, like p=0.4")
        members = math.ceil(1 / Fraction(str(p)))  # a term of one member has share 1 / members
        bounds = bounds._replace(members=max(bounds.members, members))
    refuse_hopeless(profiles, bounds)
    return bounds


def _vectors(
    profiles: Profiles,
    parameters: dict[str, object],
    wordnet: WordNet,
    links: Network | None,
    sample: Documents | None,
    progress: Progress,
) -> csr_matrix | Floats:
    """Return the unit rows whose products are the users' similarities."""
    if parameters["similarity"] == "profiles":
        return unit_rows(_augmented(profiles, parameters, wordnet, links, progress))
    if sample is None:
        raise BadParameter("similarity=documents needs a sample of an index's documents handed in")
    size = sample.vectors.shape[0]
    if len(profiles) * size > MOST_SCORES:
        raise BadParameter(
            f"documents={size} are too many for {len(profiles)} users; at most "
            f"{MOST_SCORES // len(profiles)} fit, or take similarity=profiles"
        )
    # What was in effect: documents are scored by original profiles, and there may be fewer.
    parameters |= {"augment": "none", "documents": size}
    return document_vectors(profiles, sample.vectors, sample.terms)


def _augmented(
    profiles: Profiles,
    parameters: dict[str, object],
    wordnet: WordNet,
    links: Network | None,
    progress: Progress,
) -> csr_matrix:
    """Return the profiles over what their similarity is measured by."""
    combine = str(parameters["combine"])
    match parameters["augment"]:
        case "wordnet":
            return augment_profiles(
                profiles,
                wordnet,
                a=int(str(parameters["a"])),
                combine=combine,
                sense=str(parameters["sense"]),
                progress=progress,
            )
        case "cooccurrence":
            return augment_by_network(
                profiles, _network(profiles, parameters, links), combine=combine
            )
        case _:
            return profiles.weights


def _network(profiles: Profiles, parameters: dict[str, object], links: Network | None) -> Network:
    """Return the links that were handed in, or learn them from the profiles."""
    if parameters["network"] == "profiles":
        count = int(str(parameters["neighbours"]))
        return learn(profiles.weights, profiles.terms, neighbours=count)
    if links is None:
        raise BadParameter(f"network={parameters['network']} needs that network handed in")
    return links


def _grouped(
    profiles: Profiles,
    vectors: csr_matrix | Floats,
    bounds: Bounds,
    first: int,
    linkage: str,
    progress: Progress,
) -> Grouping:
    """Run algorithm 1, by the index where it can be had."""
    if isinstance(vectors, csr_matrix) and linkage == "seed":
        return cluster(profiles, vectors, bounds, first, progress=progress)
    rows: Vectors = (
        SparseVectors(vectors) if isinstance(vectors, csr_matrix) else DenseVectors(vectors)
    )
    return scan(profiles, rows, bounds, first, linkage=linkage, progress=progress)
