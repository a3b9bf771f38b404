"""The rankings of one pool as columns: which, in which order, and whether one may know which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from ..evaluation import Agreement, Precision
from ..modes import MODES, Answer
from .answering import Outcome
from .blind import LETTERS, blind_order
from .parameters import BLIND, REVEAL, SHOW, read_parameters
from .question import Question, address
from .results import Cards, Gone, Result, because, cards, gone, results
from .site import Site
from .wording import kind

MOST = 4  # columns unless others are asked for
SNIPPET = 120


@dataclass(frozen=True)
class Look:
    """What of a comparison is shown."""

    asked: tuple[str, ...] = ()  # columns asked for by name
    blind: bool = False  # in an order drawn by lot
    reveal: bool = False  # and yet with their names

    @property
    def hidden(self) -> bool:
        """Tell whether nothing may say which column is which."""
        return self.blind and not self.reveal

    def parameters(self) -> list[tuple[str, str]]:
        """Return the parameters that ask for this look."""
        switches = [("blind", self.blind), ("reveal", self.blind and self.reveal)]
        shown = [("show", mode) for mode in self.asked]
        return shown + [(name, "1") for name, on in switches if on]

    def seen(self, *, blind: bool, reveal: bool = False) -> Look:
        """Return the same columns, hidden or not."""
        return replace(self, blind=blind, reveal=reveal)


class Column(NamedTuple):
    """One ranking; while blind all that could tell which is empty."""

    kind: str  # whose colour it has
    name: str
    letter: str  # in the blind order
    release: str  # a further release by method and hash
    sees: str
    precision: Precision | None
    agreement: Agreement | None
    results: list[Result]
    gone: list[Gone]
    more: str  # where the whole ranking is shown; nowhere if this is the whole


class Box(NamedTuple):
    """A column to choose."""

    mode: str
    name: str
    release: str
    chosen: bool


def read_look(arguments: MultiDict[str, str], site: Site) -> Look:
    """Check which columns are asked for and how; whatever is wrong is refused in one sentence."""
    switches = read_parameters(arguments, (BLIND, REVEAL), site)
    named = {
        read_parameters({SHOW.name: each}, (SHOW,), site)[SHOW.name]
        for each in arguments.getlist(SHOW.name)
    }
    asked = tuple(mode for mode in site.modes.modes if mode in named)
    return Look(asked, switches["blind"], switches["blind"] and switches["reveal"])


def shown_modes(site: Site, question: Question, look: Look, most: int = MOST) -> tuple[str, ...]:
    """Return the modes to show: the plain one, and those asked for or else the first."""
    if not question.user:
        return ("none",)
    known = site.modes.modes
    if look.asked:
        return tuple(mode for mode in known if mode == "none" or mode in look.asked)
    first = known[:most]
    if question.mode in first or question.mode not in known:
        return first
    return (*first[: most - 1], question.mode)


def further_of(modes: Sequence[str]) -> tuple[str, ...]:
    """Return those of the modes that are served by further releases."""
    return tuple(mode for mode in modes if mode not in MODES)


def boxes(site: Site, modes: Sequence[str]) -> list[Box]:
    """List the columns to choose from, where there are more than the usual ones."""
    if not site.further:
        return []
    return [
        Box(mode, site.name_of(mode), _release(site, mode), mode in modes)
        for mode in site.modes.modes
        if mode != "none"
    ]


def with_look(link: str, look: Look) -> str:
    """Add a look to the address of a page."""
    asked = urlencode(look.parameters())
    return f"{link}{'&' if '?' in link else '?'}{asked}" if asked else link


def columns(
    site: Site,
    question: Question,
    outcome: Outcome,
    modes: Sequence[str],
    look: Look,
    count: int = 10,
    size: int = SNIPPET,
    why: bool = True,  # whether each document says in short why it stands there
) -> list[Column]:
    """Lay the answers out side by side."""
    known_modes = [mode for mode in modes if mode in outcome.answers]
    order = blind_order(known_modes, question) if look.blind else known_modes
    answers = [outcome.answers[mode] for mode in order]
    rankings = [answer.ranking for answer in answers]
    known = cards(site.modes.engine, rankings, question.query, count=count, size=size)
    told = why and not look.hidden
    made = [_column(site, question, answer, known, count, told) for answer in answers]
    if look.blind:
        made = [
            column._replace(letter=letter) for column, letter in zip(made, LETTERS, strict=False)
        ]
    return [_hidden(column) for column in made] if look.hidden else made


def _column(
    site: Site, question: Question, answer: Answer, known: Cards, count: int, why: bool
) -> Column:
    reasons = because(site, question, answer, count=count) if why else None
    return Column(
        kind=kind(answer.mode),
        name=site.name_of(answer.mode),
        letter="",
        release=_release(site, answer.mode),
        sees=site.sees(answer),
        precision=answer.precision,
        agreement=answer.agreement,
        results=results(answer.ranking, known, count=count, shown=count, because=reasons),
        gone=gone(answer.ranking, known, count),
        more=_whole(site, question, answer, count),
    )


def _hidden(column: Column) -> Column:
    """Keep the documents in their order, and nothing that tells whose order it is."""
    empty: dict[str, Any] = dict.fromkeys(("kind", "name", "release", "sees", "more"), "")
    return column._replace(**empty, precision=None, agreement=None, gone=[])


def _whole(site: Site, question: Question, answer: Answer, count: int) -> str:
    if len(answer.ranking) <= count:
        return ""
    return address("search.show", question.in_mode(answer.mode), site)


def _release(site: Site, mode: str) -> str:
    return site.further[mode].name if mode in site.further else ""
