"""A person in no release, served by a row that their own machine chooses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from anonymizer.arrays import Ints
from anonymizer.model import Profiles, ReleasedRow
from anonymizer.rows.closest import Choice, closest_row, nearest

NEWCOMER = "newcomer"  # stands in place of a user id
NAMED = 5  # terms named in a line


@dataclass(frozen=True)
class Newcomer:
    """Which row was chosen and why; only the row goes to the engine."""

    choice: Choice
    row: ReleasedRow | None  # None: no row has a term of their profile

    @property
    def notice(self) -> str:
        """Return what happens in mode group if there is no row; empty if there is one."""
        if self.row:
            return ""
        return (
            f"none of the {self.choice.rows:,} rows shares a term with your profile: "
            "this is the plain order, and nobody's profile was used for it"
        )

    def in_words(self) -> str:
        """Return one line that says why the row was chosen."""
        choice = self.choice
        terms = [f"{part.term} {part.share:.3f}" for part in choice.contributions[:NAMED]]
        more = len(choice.contributions) - len(terms)
        named = ", ".join(terms) + (f" and {more:,} more" if more else "")
        after = "" if choice.runner_up is None else f", next {choice.runner_up:.3f}"
        are = "is" if choice.unknown == 1 else "are"
        unknown = f"; {choice.unknown:,} of your {choice.terms:,} terms {are} in no row"
        return (
            f"closest of {choice.rows:,} to your profile (cosine {choice.cosine:.3f}{after}): "
            f"{named}{unknown if choice.unknown else ''}; nothing of it left this machine"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the whole choice as JSON has it."""
        contributions = [part._asdict() for part in self.choice.contributions]
        name, users = (self.row.name, self.row.users) if self.row else (None, None)
        choice = {**vars(self.choice), "row": name, "contributions": contributions}
        return {**choice, "users": users, "notice": self.notice or None}


def welcome(profile: Profiles, shards: Iterable[tuple[Profiles, Ints]]) -> tuple[Newcomer, int]:
    """Return the row that is closest to the one `profile`, and the number of its shard.

    The rows and their sizes come in `shards`, of which one at a time is needed.
    """
    choices, rows, known = list[Choice](), list[ReleasedRow | None](), set[str]()
    for some, sizes in shards:
        choice, own = closest_row(profile.at(0), some), some.in_order()
        known.update(own.terms)
        choices.append(choice)
        at = choice.row
        row = None if at is None else ReleasedRow(some.users[at], int(sizes[at]), some.at(at))
        rows.append(row)
    shard, choice = nearest(choices, len({*profile.terms} - known))
    return Newcomer(choice, rows[shard]), shard
