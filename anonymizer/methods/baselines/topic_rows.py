"""topic-rows: groups by topic (k-means of profiles), which serve well and promise nothing.

They are what rows by topic come to without noise, and so a bound for those that have some.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import Unsatisfiable
from ...model import Grouping, Release
from ...promise import Promise
from ...rows.representative import represent
from ..method import Inputs, Method, Options, option, rare

_STARTS = 4  # k-means keeps the best of so many


@dataclass(frozen=True)
class TopicRows(Options):
    """The options of rows by topic."""

    rows: int = option(16, "topics, each with a row; fewer if profiles are alike", least=1)
    min_users: int = rare()


def run(inputs: Inputs, options: TopicRows) -> Release:
    """Return the means of the clusters that k-means makes of the profiles of `inputs`."""
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    profiles, count = inputs.profiles, options.rows
    if count > len(profiles):
        line = f"{len(profiles)} users make no {count} topics; take fewer rows"
        raise Unsatisfiable(line, needs=count)
    # Of unit vectors the distance depends on the cosine alone, as search does.
    points = normalize(profiles.weights)
    different = len(
        {(*map(np.ndarray.tobytes, profiles.slice(at)),) for at in range(len(profiles))}
    )
    clusters = KMeans(min(count, different), n_init=_STARTS, random_state=inputs.seed % 2**32)
    group_of = np.unique(clusters.fit_predict(points), return_inverse=True)[1]
    rows = represent(profiles, Grouping(group_of), "centroid")
    return METHOD.release(options, rows, profiles.users, group_of)


METHOD = Method(
    name="topic-rows",
    paper="ours",
    about="groups of people by topic, by k-means; without a promise, to compare with",
    promise=Promise("group", "nothing"),
    run=run,
    options=TopicRows,
)
