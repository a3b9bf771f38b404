"""The words for modes and moves, the same on every page."""

from __future__ import annotations

from typing import NamedTuple

from anonymizer.methods import promise_of

from ..disclosure.kinds import kind_of
from ..search.explanation_words import fits, held_by, says_nothing
from ..search.modes import Answer

MODE_NAMES = {"none": "Plain", "own": "My own profile"}


def kind(mode: str) -> str:
    """Return the colour class of `mode`: none, own or group; further releases have group's."""
    return mode.partition(":")[0]


def mode_name(mode: str, by_row: str) -> str:
    """Return the name of `mode`; `by_row` names ranking by a row, a folder a further release."""
    base, _, release = mode.partition(":")
    name = MODE_NAMES.get(base, by_row)
    return f"{name}, {release}" if release else name


def logged_name(mode: str, release: str) -> str:
    """Return the name of a `mode` in the log; `release` names the release that served it."""
    promise = promise_of(release.partition(" ")[0], {})
    return mode_name(mode, kind_of(promise).words.mode)


def fitting(answer: Answer, whose: str) -> str:
    """Return how well the interests behind `answer` fit the search; empty if that is not known.

    `whose` is whose a row's interests are.
    """
    if answer.standing is None:
        return ""
    held = held_by(answer.mode if answer.mode == "own" else "group", whose)
    if answer.plain:
        return f"Plain order, because {says_nothing(held)}."
    return f"{fits(answer.standing, held[0].upper() + held[1:], answer.request.among)}."


class Move(NamedTuple):
    """How a document moved from its plain rank: a sign, and a label for screen readers."""

    kind: str
    text: str
    label: str


def move(rank: int, plain_rank: int, shown: int | None = None) -> Move:
    """Return the move from `plain_rank` to `rank`; plain ranks above `shown` count as new."""
    if rank == plain_rank:
        return Move("same", "–", f"same place as in the plain order, {rank}")
    if shown is not None and plain_rank > shown:
        return Move(
            "new",
            f"▲ {plain_rank - rank}",
            f"new among the first {shown}, up from {plain_rank} to {rank}",
        )
    way, sign = ("up", "▲") if rank < plain_rank else ("down", "▼")
    steps = abs(rank - plain_rank)
    return Move(way, f"{sign} {steps}", f"moved {way} {steps}, from {plain_rank} to {rank}")


def moved_because(rank: int, plain_rank: int, reason: str) -> str:
    """Return `reason` after the move from `plain_rank` to `rank`, which it may contradict."""
    if not reason or rank == plain_rank:
        return reason
    shares = reason[0].lower() + reason[1:]
    if rank < plain_rank:
        return f"Up {plain_rank - rank}: {shares}"
    return f"Down {rank - plain_rank}, though it {shares}"


def unparted(name: str) -> str:
    """Return `name` with its dot bound to the word before, so that no line begins with it."""
    return name.replace(" · ", "\u00a0· ")


def sees(mode: str, by_row: str) -> str:
    """Return what the ranking in `mode` sees of a person; `by_row` is what row modes see."""
    if mode == "none":
        return "the query only"
    return "the query and the whole own profile" if mode == "own" else by_row
