"""What a release promises of its groups, for the pages to say beside each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from anonymizer.model import BELIEF as BOUNDING_BELIEF

from ..lone_rows import LoneRows, lone_rows
from .wording import two_decimals

if TYPE_CHECKING:
    from anonymizer.model import Release

AVERAGE = "average"  # of the mean profile over a group's terms
EVERY_TERM = "every-term"  # of each released term
BELIEF = "belief"  # of the change of belief about each term


class Promise(NamedTuple):
    """What the release promises: at most p, of one of these.

    Where each row is of one person: what is promised of these.
    """

    p: float | None = None
    guarantee: str = ""
    rows: LoneRows | None = None

    def says(self, guarantee: str, what: str) -> str:
        """Return the sentence of a bound that is promised; nothing of another."""
        if self.p is None or self.guarantee != guarantee:
            return ""
        return f"The method promises at most p = {two_decimals(self.p)} for {what}. "


def promise_of(release: Release | None) -> Promise:
    """Return what a release promises."""
    if release is None:
        return Promise()
    p, guarantee = release.parameters.get("p"), release.parameters.get("guarantee", AVERAGE)
    if release.method in BOUNDING_BELIEF:
        guarantee = BELIEF
    return Promise(p if isinstance(p, float) else None, str(guarantee), lone_rows(release))
