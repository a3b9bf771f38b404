"""What a release keeps of the terms: of all of them, of the groups', and of each user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .group_counts import count_groups, released_weights
from .measurement import Measurement, by_user

if TYPE_CHECKING:
    from ..model import Profiles, Release


def kept_terms(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure the share of each user's terms that stand in their row, and count terms and cells."""
    cells = count_groups(profiles, release).term.size
    released = int(release.rows.weights[: release.groups].nnz)
    whole = {
        "distinct terms in profiles": np.unique(profiles.weights.indices).size,
        "distinct terms released": np.unique(release.rows.weights.indices).size,
        "terms of groups": cells,
        "terms of groups released": released,
    }
    if not release.hides_shares:  # pools release terms that no member has, and suppress none
        whole["terms of groups suppressed"] = cells - released
    stands = released_weights(profiles, release) > 0
    kept = np.add.reduceat(stands.astype(np.int64), profiles.weights.indptr[:-1]) / profiles.sizes
    rows = [Measurement(name, float(value)) for name, value in whole.items()]
    return [*rows, *by_user("share of own terms kept", kept, profiles.users)]
