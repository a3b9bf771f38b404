"""random-k: groups of k or more people drawn at random, as a control of what likeness earns."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Unsatisfiable
from ...model import Grouping, Release
from ...promise import Promise
from ...rows.representative import represent
from ..method import Inputs, Method, Options, each_by_itself, option, rare


@dataclass(frozen=True)
class RandomK(Options):
    """The options of random groups."""

    k: int = option(4, "members of a group, or more", least=2)
    min_users: int = rare()


def run(inputs: Inputs, options: RandomK) -> Release:
    """Return the means of the most groups of k or more that the users of `inputs` can make."""
    profiles, users, k = inputs.profiles, len(inputs.profiles), options.k
    if users < k:
        raise Unsatisfiable(f"{users} users make no group of k={k}; take a smaller k", needs=k)
    grouping = Grouping(inputs.rng.permutation(users) % (users // k))
    rows = represent(profiles, grouping, "centroid")
    return METHOD.release(options, rows, profiles.users, grouping.group_of)


METHOD = Method(
    name="random-k",
    paper="ours",
    about="groups of k or more people drawn at random; without a promise, to compare with",
    promise=Promise("group", "nothing"),
    run=run,
    in_parts=each_by_itself(run),
    options=RandomK,
)
