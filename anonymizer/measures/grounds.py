"""What the promise of a method is judged by."""

from __future__ import annotations

from typing import NamedTuple

from .evidence import Parts, Rows
from .finding import Ints
from .people import People
from .tally import Tally


class Shares(NamedTuple):
    """What rows must publish where terms that no member has may stand in them: a fraction a cell.

    The cells are all that is above 0.
    """

    keys: Ints  # row * span + term, ascending
    having: Ints
    among: Ints


class Grounds(NamedTuple):
    """A release and the profiles that it was made from, as the judge has read and counted them."""

    people: People
    parts: Parts
    rows: Rows
    group_of: Ints  # each user's row; -1 for who has none
    tally: Tally
    shares: Shares | None = None  # as they were foreseen, where the method foresees them
