"""own-rows: everybody's own profile under a number, as a release that anonymizes nothing.

Search by such a row is search by the own profile, and an attack on it must succeed. So it is the
other end of each comparison. The plain order, without any row, needs no release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Release
from ...promise import Promise
from ...rows.reduced import reduced_release
from ..method import Inputs, Method, Options, each_by_itself


@dataclass(frozen=True)
class OwnRows(Options):
    """There is nothing to choose."""


def run(inputs: Inputs, options: OwnRows) -> Release:
    """Return all profiles of `inputs` as rows, in the order of their content."""
    cells = inputs.profiles.weights.nnz
    return reduced_release(
        inputs.profiles,
        np.ones(cells, dtype=np.bool_),
        np.zeros(cells, dtype=np.int64),
        options.parameters(),
        method=METHOD.name,
        promise=METHOD.promise,
    )


METHOD = Method(
    name="own-rows",
    paper="ours",
    about="everybody's own profile under a number: nothing is hidden; to compare with",
    promise=Promise("person", "nothing"),
    run=run,
    in_parts=each_by_itself(run),
    options=OwnRows,
)
