"""Users in an order that no file, no name and nobody without the key tells."""

from __future__ import annotations

import numpy as np

from .histories import by_content
from .model import Ints, Profiles
from .secret_order import secret_order


def in_order_of_content(profiles: Profiles, key: bytes) -> tuple[Profiles, Ints]:
    """Order users by their terms, equal ones by the key; return whose places those were.

    What is made of them then depends on nobody's place in the file.
    """
    cells = profiles.weights
    drawn = secret_order(key, "places", len(profiles))  # of users of the same terms
    shuffled = cells[drawn]
    ends = shuffled.indptr.astype(np.int64)
    order = drawn[by_content(ends, shuffled.indices, np.ones(cells.nnz))]
    users = tuple(profiles.users[user] for user in order.tolist())
    return Profiles(users, profiles.terms, cells[order]), order
