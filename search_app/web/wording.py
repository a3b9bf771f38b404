"""The words for modes, moves and numbers, the same on every page."""

from __future__ import annotations

from typing import NamedTuple

from anonymizer.model import has_lone_rows

MODE_NAMES = {"none": "Plain", "own": "My own profile", "group": "My group"}
REDUCED = "My reduced profile"  # names the mode where each row is of one person
NO_VALUE = "–"


def kind(mode: str) -> str:
    """Return whose colour a mode has: none, own or group, further releases like the group."""
    return mode.partition(":")[0]


def mode_name(mode: str, *, lone: bool = False) -> str:
    """Name a mode, a further release by its folder's name; lone: its rows are of one person."""
    base, _, release = mode.partition(":")
    name = REDUCED if lone and base == "group" else MODE_NAMES[base]
    return f"{name}, {release}" if release else name


def logged_name(mode: str, release: str) -> str:
    """Name a mode as it is in the log, by the name of the release that served it."""
    return mode_name(mode, lone=has_lone_rows(release.partition(" ")[0]))


class Move(NamedTuple):
    """How a document stands against the plain order: for the eye and for the ear."""

    kind: str
    text: str
    label: str


def move(rank: int, plain_rank: int, shown: int | None = None) -> Move:
    """Compare a rank with the plain one; beyond the plain ranks shown a document is new."""
    if rank == plain_rank:
        return Move("same", "–", f"same place as in the plain order, {rank}")
    if shown is not None and plain_rank > shown:
        return Move(
            "new",
            f"▲ {plain_rank - rank}",
            f"new among the first {shown}, up from {plain_rank} to {rank}",
        )
    if rank < plain_rank:
        steps = plain_rank - rank
        return Move("up", f"▲ {steps}", f"moved up {steps}, from {plain_rank} to {rank}")
    steps = rank - plain_rank
    return Move("down", f"▼ {steps}", f"moved down {steps}, from {plain_rank} to {rank}")


def moved_because(rank: int, plain_rank: int, reason: str) -> str:
    """Say a reason together with the move, against which it may speak."""
    if not reason or rank == plain_rank:
        return reason
    shares = reason[0].lower() + reason[1:]
    if rank < plain_rank:
        return f"Up {plain_rank - rank}: {shares}"
    return f"Down {rank - plain_rank}, though it {shares}"


def unparted(name: str) -> str:
    """Keep a dot between a name and interests at the end of a line, never at a beginning."""
    return name.replace(" · ", "\u00a0· ")


def sees(mode: str, sharing: int | None, *, lone: bool = False, spare: bool = False) -> str:
    """Say what the ranking in a mode sees of a person.

    Lone: a row is of one person; spare: it is the mean of all groups, for who is in none.
    """
    if mode == "none":
        return "the query only"
    if mode == "own":
        return "the query and the whole own profile"
    if lone:
        return "the query and what a deletion has left of the own profile"
    return f"the query and {_row(sharing, spare)}"


def _row(sharing: int | None, spare: bool) -> str:
    if sharing is None:
        return "the group’s row"
    if spare:
        return f"the mean of all groups’ rows, {count(sharing, 'person', 'people')}’s"
    if sharing == 1:
        return "a row, but this row is one person’s own profile: it hides nothing"
    return f"a row shared by {count(sharing, 'person', 'people')}"


def count(number: int, one: str, many: str) -> str:
    """Write a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def two_decimals(value: float | None) -> str:
    """Write a measured value with a true minus and no minus zero; a dash where there is none."""
    return NO_VALUE if value is None else f"{round(value, 2) + 0:.2f}".replace("-", "−")


def hundredths(value: float) -> str:
    """Write a share in hundredths, rounded as its two decimals are."""
    return f"{100 * round(value, 2):.0f}"
