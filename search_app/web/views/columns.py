"""The rankings of one pool as columns: which, in which order, and whether they show names."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from werkzeug.datastructures import MultiDict

from anonymizer.arrays import Ints, Marks

from ...measures.precision import PoolAgreement, PoolPrecision
from ...measures.relevance import relevant_precision
from ...search.modes import Answer
from ..parameters import BLIND, REVEAL, SHOW, read_parameters
from ..question import Question, address
from ..site import Site
from ..wording import fitting, kind
from .answering import Outcome
from .results import Cards, GoneDocument, Result, because, cards, gone, results

MOST = 4  # columns, unless others are chosen
SNIPPET = 120
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_KEY = "blind"  # the secret without which nobody can work out the blind order from an address


@dataclass(frozen=True)
class Look:
    """What of a comparison is shown."""

    modes: tuple[str, ...] = ()  # the columns chosen by name
    blind: bool = False  # in an order drawn by lot
    reveal: bool = False  # blind, but with their names

    @property
    def hidden(self) -> bool:
        """Return whether the columns have no names."""
        return self.blind and not self.reveal

    def parameters(self) -> list[tuple[str, str]]:
        """Return the parameters of an address with this look."""
        switches = [("blind", self.blind), ("reveal", self.blind and self.reveal)]
        shown = [("show", mode) for mode in self.modes]
        return shown + [(name, "1") for name, on in switches if on]

    def seen(self, *, blind: bool, reveal: bool = False) -> Look:
        """Return the same columns, `blind` or not; `reveal`: blind with names."""
        return replace(self, blind=blind, reveal=reveal)


class ComparedRanking(NamedTuple):
    """One ranking; while names are hidden, all fields that could reveal the mode are empty."""

    kind: str  # the mode that gives it its colour
    name: str
    letter: str  # in the blind order
    release: str  # a further release, by method and hash
    sees: str
    precision: PoolPrecision | None
    agreement: PoolAgreement | None
    truth: float | None  # AP by the invented person's true interests
    results: list[Result]
    gone: list[GoneDocument]
    fit: str  # how well the interests fit the search, by the rule `evidence`
    more: str  # the address of the whole ranking; empty if this is the whole


def read_look(arguments: MultiDict[str, str], site: Site) -> Look:
    """Return which columns `arguments` choose and how; refuse what is wrong in one sentence."""
    switches = read_parameters(arguments, (BLIND, REVEAL), site)
    named = {
        read_parameters({SHOW.name: value}, (SHOW,), site)[SHOW.name]
        for value in arguments.getlist(SHOW.name)
    }
    chosen = tuple(mode for mode in site.modes.modes if mode in named)
    return Look(chosen, switches["blind"], switches["blind"] and switches["reveal"])


def shown_modes(site: Site, question: Question, look: Look, limit: int = MOST) -> tuple[str, ...]:
    """Return the modes to show: those that `look` names, or the first up to `limit`."""
    if not question.user:
        return ("none",)
    known = site.modes.modes
    if look.modes:
        return tuple(mode for mode in known if mode == "none" or mode in look.modes)
    first = known[:limit]
    if question.mode in first or question.mode not in known:
        return first
    return (*first[: limit - 1], question.mode)


def boxes(site: Site, modes: Sequence[str]) -> list[tuple[str, str, str, bool]]:
    """Return mode, name and release of each column to choose, and whether it is in `modes`."""
    # Without further releases there is nothing to choose: all columns fit.
    if not site.further:
        return []
    return [
        (mode, site.name_of(mode), site.further.get(mode, ""), mode in modes)
        for mode in site.modes.modes
        if mode != "none"
    ]


def with_look(link: str, look: Look) -> str:
    """Return the address `link` with the parameters of `look`."""
    added = urlencode(look.parameters())
    return f"{link}{'&' if '?' in link else '?'}{added}" if added else link


def columns(
    site: Site,
    question: Question,
    outcome: Outcome,
    modes: Sequence[str],
    look: Look,
    count: int = 10,
    size: int = SNIPPET,
    why: bool = True,  # whether each document says in short why it is at its place
) -> list[ComparedRanking]:
    """Return the answers of `outcome` in `modes`, as columns to show side by side."""
    known_modes = [mode for mode in modes if mode in outcome.answers]
    order = known_modes
    if look.blind:
        order = blind_order(known_modes, question, site.store.secret(_KEY))
    answers = [outcome.answers[mode] for mode in order]
    # What is gone from the first plain ranks is named, whether the plain order is shown or not.
    rankings = [answer.ranking for answer in (*answers, outcome.answers["none"])]
    known = cards(site.modes.engine, rankings, question.query, count=count, size=size, opens=True)
    explain = why and not look.hidden
    made = [_column(site, question, answer, known, count, explain) for answer in answers]
    if look.blind:
        made = [one._replace(letter=letter) for one, letter in zip(made, LETTERS, strict=False)]
    if not look.hidden:
        return made
    # Only the documents and their order stay: everything else could reveal whose order it is.
    empty: dict[str, Any] = dict.fromkeys(("kind", "name", "release", "sees", "fit", "more"), "")
    return [
        column._replace(**empty, precision=None, agreement=None, truth=None, gone=[])
        for column in made
    ]


def blind_order(modes: Sequence[str], question: Question, key: bytes) -> list[str]:
    """Return `modes` in an order drawn by lot: by a keyed hash of each with `question`."""
    # A hash keeps the order while the same question is shown; a new question draws again.
    about = [question.query, question.user, question.pool, *question.rule, question.operators]

    def drawn(mode: str) -> bytes:
        text = json.dumps([mode, *about]).encode()
        return hmac.digest(key, text, "sha256")

    return sorted(modes, key=drawn)


def liked(site: Site, user: str, rows: Ints) -> Marks | None:
    """Return which documents at `rows` are on what `user` likes; None: not known, or none is."""
    truth = site.truth()
    own = truth.interests.get(user) if truth else None
    if truth is None or not own:
        return None
    ids, none = site.modes.engine.ids(rows), frozenset[str]()
    marks = [not own.isdisjoint(truth.relevance.labels.get(name, none)) for name in ids.tolist()]
    return np.array(marks) if any(marks) else None


def _by_truth(site: Site, user: str, answer: Answer) -> float | None:
    """Return AP of `answer` where documents of what `user` likes are relevant, if any are."""
    marks = liked(site, user, answer.ranking.rows)
    return None if marks is None else float(relevant_precision(marks))


def _column(
    site: Site, question: Question, answer: Answer, known: Cards, count: int, why: bool
) -> ComparedRanking:
    reasons = because(site, question, answer, count=count) if why else None
    whole = address("search.show", question.but(mode=answer.mode), site)
    return ComparedRanking(
        kind=kind(answer.mode),
        name=site.name_of(answer.mode),
        letter="",
        release=site.further.get(answer.mode, ""),
        sees=site.sees(answer),
        precision=answer.precision,
        agreement=answer.agreement,
        truth=_by_truth(site, question.user, answer),
        results=results(answer.ranking, known, count=count, shown=count, because=reasons),
        gone=gone(answer.ranking, known, count),
        fit=fitting(answer, site.words_of(answer.mode, question.user).whose),
        more=whole if len(answer.ranking) > count else "",
    )
