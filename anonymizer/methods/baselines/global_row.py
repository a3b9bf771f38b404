"""global-row: one group of everybody, whose row is the average of all profiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Grouping, Release
from ...promise import Promise
from ...rows.representative import represent
from ..method import Inputs, Method, Options, rare


@dataclass(frozen=True)
class GlobalRow(Options):
    """The options of one row for everybody."""

    min_users: int = rare()


def run(inputs: Inputs, options: GlobalRow) -> Release:
    """Return the mean of all profiles of `inputs` as the one row that serves everybody."""
    together = Grouping(np.zeros(len(inputs.profiles), dtype=np.int64))
    rows = represent(inputs.profiles, together, "centroid")
    return METHOD.release(options, rows, inputs.profiles.users, together.group_of)


METHOD = Method(
    name="global-row",
    paper="ours",
    about="one row for everybody, the average; without a promise, to compare with",
    promise=Promise("group", "nothing"),
    run=run,
    options=GlobalRow,
)
