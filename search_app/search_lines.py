"""What `veilsearch search` says of whose row, profile or neither orders the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lone_rows import NO_ROW, lone_rows

if TYPE_CHECKING:
    from .modes import Answer, Modes
    from .settings import Settings


def notice(modes: Modes, mode: str | None, user: str | None) -> str:
    """Say why there is no row to order the results by; nothing if there is, or need be none."""
    if modes.newcomer:
        return modes.newcomer.notice if mode in (None, "group") else ""
    return NO_ROW if mode == "group" and modes.leaves_out(user) else ""


def is_lone(modes: Modes) -> bool:
    """Tell whether each row of the release is of one person."""
    return lone_rows(modes.release) is not None


def shared_row(name: str, users: int, lone: bool = False, spare: bool = False) -> str:
    """Name a row, and who is behind it.

    Lone: the person whom it is what is left of; spare: all who are in groups.
    """
    if spare:
        return f"by row {name}, the mean of all groups' rows, {users:,} people's"
    if lone:
        return f"by row {name}, what a deletion has left of the own profile"
    return f"by row {name}, {'of one person' if users == 1 else f'shared by {users:,} people'}"


def headline(answer: Answer, settings: Settings, lone: bool) -> str:
    """Say what orders the results, and how near it comes to the own profile."""
    who = {
        "none": "plain BM25 order",
        "own": "by the own profile",
        "group": shared_row(answer.row, answer.users, lone, answer.spare)
        + (", smoothed" if answer.request.smoothed else ""),
    }[answer.mode]
    if answer.precision is None:
        return f"{who}, pool {settings.pool}"
    precision = answer.precision
    corrected = "" if precision.ap_c is None else f", AP_c {precision.ap_c:.3f}"
    return f"{who}; AP {precision.ap:.3f}{corrected} over a pool of {precision.pool}"
