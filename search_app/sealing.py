"""Which releases are sealed: of whose rows nobody may see more than the one that serves them.

What composition and pooled promise is promised of one release alone, but where somebody is
forgotten rows are made anew. Of real people's rows only published ones are therefore shown, and
nothing that is made of all of them: no mean for those left over, no smoothed row, no count of who
has a term. Else whoever looked before and after could tell who is gone, and what they had. Other
releases of people of whom such a one was published are sealed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anonymizer.model import BELIEF

from .errors import UsageError
from .ledger import OUT, PUBLISHED, Noted


@dataclass(frozen=True)
class Seal:
    """Tells whether a release is sealed, by the ledger as it is when asked."""

    ledger: Callable[[], Sequence[Noted]]
    method: str
    sha256: str  # of its rows
    people: Callable[[], str]  # the ledger's hash of who they are

    def __call__(self) -> bool:
        """Tell it; where the ledger can't be read, nothing counts as published."""
        try:
            noted = self.ledger()
        except UsageError:
            noted = ()
        if any(each.event == PUBLISHED and each.sha256 == self.sha256 for each in noted):
            return False
        others = [each.people for each in noted if each.event in OUT and each.method in BELIEF]
        return self.method in BELIEF or (any(others) and self.people() in others)
