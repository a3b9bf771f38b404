"""Which releases are withheld: of these a person sees their own group's row and nothing else.

The people of a server may be real. Then nobody sees another group's row, or anything made of all
rows, such as smoothed rows, the fallback row and figures of groups. A release that was published is
no secret any more, so all of it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from pathlib import Path

from anonymizer.storage.parts import row_hash
from anonymizer.storage.releases import read_hash, row_lines_of

from ..errors import UsageError
from .ledger import Noted, rows_published


class Published:
    """A question that can be asked again: was each row published, by the ledger as it is now?"""

    def __init__(self, ledger: Callable[[], Sequence[Noted]], sha256: str, rows: Set[bytes]):
        self._ledger = ledger
        self._sha256, self._rows = sha256, rows  # of all rows together; of each row
        self._last: tuple[object, bool] = ((), False)

    def __call__(self) -> bool:
        """Return whether each row was published."""
        # A ledger that can't be read proves nothing published: when in doubt, withhold.
        try:
            noted = self._ledger()
        except UsageError:
            return False
        if noted is not self._last[0]:
            hashes, rows = rows_published(noted)
            self._last = noted, self._sha256 in hashes or self._rows <= rows
        return self._last[1]


def published(ledger: Callable[[], Sequence[Noted]], release: Path) -> Published:
    """Return the question whether the folder `release` was published by the `ledger`."""
    rows = {row_hash(line) for line in row_lines_of(release)}
    return Published(ledger, read_hash(release), rows)
