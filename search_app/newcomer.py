"""A person in no release, served by the row they have chosen on their own side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.model import Ints, Profiles, ReleasedRow
from anonymizer.newcomer import Choice, closest_row

NEWCOMER = "newcomer"  # in place of a name
NAMED = 5  # terms named in a line


@dataclass(frozen=True)
class Newcomer:
    """What was chosen and why; of this only the row goes to the engine."""

    choice: Choice
    row: ReleasedRow | None  # None: no row has a term of theirs

    @property
    def notice(self) -> str:
        """Say what happens in mode group if there is no row; nothing if there is one."""
        if self.row:
            return ""
        return (
            f"none of the {self.choice.rows:,} rows shares a term with your profile: "
            "this is the plain order, and nobody's profile was used for it"
        )

    def in_words(self) -> str:
        """Say why the row was chosen, in a line."""
        choice = self.choice
        terms = [f"{each.term} {each.share:.3f}" for each in choice.contributions[:NAMED]]
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
        """Return the choice in full."""
        contributions = [each._asdict() for each in self.choice.contributions]
        name, users = (self.row.name, self.row.users) if self.row else (None, None)
        choice = {**vars(self.choice), "row": name, "contributions": contributions}
        return {**choice, "users": users, "notice": self.notice or None}


def welcome(profile: Profiles, rows: Profiles, sizes: Ints) -> Newcomer:
    """Choose the row for the one person of a profile."""
    choice = closest_row(profile.at(0), rows)
    if choice.row is None:
        return Newcomer(choice, None)
    row = ReleasedRow(rows.users[choice.row], int(sizes[choice.row]), rows.at(choice.row))
    return Newcomer(choice, row)
