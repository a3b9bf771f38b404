"""A person in no release, served by a row that their own machine chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.arrays import Ints
from anonymizer.model import Profiles, ReleasedRow
from anonymizer.rows.closest import Choice, closest_row

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


def welcome(profile: Profiles, rows: Profiles, sizes: Ints) -> Newcomer:
    """Return the row of `rows` that is closest to the one `profile`, with the reasons."""
    choice = closest_row(profile.at(0), rows)
    if choice.row is None:
        return Newcomer(choice, None)
    row = ReleasedRow(rows.users[choice.row], int(sizes[choice.row]), rows.at(choice.row))
    return Newcomer(choice, row)
