"""topic-rows: groups by topic (k-means of profiles), which serve well and promise nothing.

They are what rows by topic come to without noise, and so a bound for those that have some.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...model import Grouping, Release
from ...promise import Promise
from ...rows.representative import represent
from ..method import Inputs, Method, Options, option, rare
from .topics import topics_of


@dataclass(frozen=True)
class TopicRows(Options):
    """The options of rows by topic."""

    rows: int = option(16, "topics, each with a row; fewer if profiles are alike", least=1)
    min_users: int = rare()


def run(inputs: Inputs, options: TopicRows) -> Release:
    """Return the means of the clusters that k-means makes of the profiles of `inputs`."""
    profiles = inputs.profiles
    group_of = topics_of(profiles.weights, options.rows, inputs.seed)
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
