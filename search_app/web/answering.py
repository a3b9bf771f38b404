"""A question -> its rankings; what was measured is logged, what went wrong is told."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from flask import url_for
from markupsafe import Markup

from index.model import TooSlow

from ..modes import FURTHER, MODES, Answer
from ..precision_log import Entry
from .question import Question
from .site import Site, generation

NOT_PERSONAL = (
    "Personalization failed for this search: in its place you see the plain order. "
    "Nobody else’s profile was used."
)
NO_ROW = (
    "No row stands for you{}, because all of your terms were deleted: instead of “{}” you get the "
    "plain order. Nobody else’s row is used."
)
WITHHELD = (
    "You were left over when groups were made. The mean of all groups’ rows serves nobody here, as "
    "these rows are not published: instead of “{}” you get the plain order."
)
NOT_LOGGED = "The average precision of this search could not be written to the log."
NOT_REMEMBERED = "This search could not be added to the list of your searches."
PAUSED = (
    "You have paused personalization, so the results are in the plain order, "
    "and your profile was not read."
)
UNSURE = (
    "Whether you have paused personalization could not be read, so the results are in the plain "
    "order, and your profile was not read. Please try again in a minute."
)
RESUME = "Resume it on your page"
NOBODY = "Nobody is chosen, so the results are in the plain order."
CUT = "The query was very long; only its first 2,000 characters were searched."
MANY = "The query has very many words; only the first of them were searched."
_logger = logging.getLogger(__name__)


class Linked(str):
    """A notice that on a page ends in a link."""

    def __new__(cls, text: str, address: str, label: str) -> Linked:
        """Join text and link, so that as a text it is complete."""
        made = super().__new__(cls, text)
        made.address, made.label = address, label
        return made

    address: str
    label: str

    def __html__(self) -> str:
        """Return the notice as a page shows it."""
        return Markup('{} <a href="{}">{}</a>').format(str(self), self.address, self.label)


@dataclass(frozen=True)
class Outcome:
    """The answers by mode (none is always there), what to tell, and the time it took."""

    answers: Mapping[str, Answer]
    notices: tuple[str, ...]
    milliseconds: int

    def in_mode(self, mode: str) -> Answer:
        """Return the answer in a mode, or the plain one where that mode failed."""
        return self.answers.get(mode, self.answers["none"])


def ask(site: Site, question: Question, counted: bool, also: Sequence[str] = ()) -> Outcome:
    """Rank in all modes and further ones; log them together, to be compared over same queries."""
    start = site.clock()
    halted = _halted(site, question)
    asked = replace(question, user="") if halted else question
    modes = _modes(site, asked, also)
    answers = _answers(site, asked, modes)
    took = round(1000 * max(site.clock() - start, 0))
    notices = [CUT] * question.cut + [MANY] * any(answer.cut for answer in answers.values())
    notices += halted
    notices += _not_personal(site, asked.user, [mode for mode in modes if mode not in answers])
    if question.mode != "none" and not question.user:
        notices.append(NOBODY)
    if asked.user:
        for mode, answer in answers.items():
            site.transcripts.note(asked.user, mode, answer.request, generation())
    if counted and question.page == 1:
        rowless = any(site.leaves_out(mode, asked.user) for mode in modes)
        notices += _kept(site, asked, () if rowless else answers.values())
    return Outcome(answers, tuple(notices), took)


def _modes(site: Site, question: Question, also: Sequence[str]) -> tuple[str, ...]:
    """Return the modes to answer in: what can be answered here, and what was asked for."""
    if not question.user:
        return ("none",)
    here = site.modes.modes
    asked = (question.mode, *also)
    return tuple(mode for mode in dict.fromkeys((*MODES, *asked)) if mode in here or mode in asked)


def _not_personal(site: Site, user: str, missing: Sequence[str]) -> list[str]:
    """Say why a person is not answered in some modes: they have no row, or a fault."""
    rowless = [mode for mode in missing if site.leaves_out(mode, user)]
    told = [_rowless(site, mode) for mode in rowless]
    return told + [NOT_PERSONAL] * (len(rowless) < len(missing))


def _rowless(site: Site, mode: str) -> str:
    name = site.name_of(mode)
    if site.lone(mode) is None:
        return WITHHELD.format(name)
    return NO_ROW.format(f" in the release {mode.removeprefix(FURTHER)}" * (":" in mode), name)


def _halted(site: Site, question: Question) -> list[str]:
    """Say why nothing of a person may be read now; nothing where it may."""
    if not question.user:
        return []
    try:
        if not site.store.choices(question.user).paused:
            return []
    except Exception as fault:  # who may have said no is not searched as
        _logger.warning("choices not read: %s", type(fault).__name__)
        return [UNSURE]
    named: dict[str, Any] = {"user": question.user} if question.named else {}
    return [Linked(PAUSED, f"{url_for('me.show', **named)}#choices", RESUME)]


def _kept(site: Site, question: Question, answers: Iterable[Answer]) -> list[str]:
    """Log a search, and remember it if the person chose so; say what did not work.

    Of whom a release has left nothing no search is logged: without a line of the group, or with one
    that is always the plain order's, the log would tell which searches are theirs.
    """
    notices = [] if _log(site, question, answers) else [NOT_LOGGED]
    try:
        if question.user:
            at = int(site.clock())
            site.store.remember(question.user, question.query, question.mode, at)
    except Exception as fault:  # its text may hold the query
        _logger.warning("search not remembered: %s", type(fault).__name__)
        notices.append(NOT_REMEMBERED)
    return notices


def _answers(site: Site, question: Question, modes: tuple[str, ...]) -> dict[str, Answer]:
    """Answer in every mode that works; a fault of a profile or row leaves the plain order."""
    if not question.user:
        return _ranked(site, question, ("none",), None)
    try:
        return _ranked(site, question, modes, question.user)
    except TooSlow:  # the pool, which all modes share: asking again would take as long
        raise
    except Exception as fault:
        _logger.warning("personalization failed: %s", type(fault).__name__)  # no text: it may tell
    answers: dict[str, Answer] = {}
    for mode in modes:
        with suppress(Exception):
            answers |= _ranked(site, question, (mode,), question.user)
    return answers if "none" in answers else answers | _ranked(site, question, ("none",), None)


def _ranked(
    site: Site, question: Question, modes: tuple[str, ...], user: str | None
) -> dict[str, Answer]:
    pool, mix = question.pool, question.mix
    answers = site.modes.answers(
        question.query, modes, user, pool=pool, mix=mix, operators=question.operators
    )
    return {answer.mode: answer for answer in answers}


def _log(site: Site, question: Question, answers: Iterable[Answer]) -> bool:
    """Append the average precision of the answers in one transaction; tell whether it worked."""
    at, mix, corpus = int(site.clock()), question.mix, site.corpus
    entries = [
        Entry(
            *(at, answer.mode, question.pool, mix, corpus),
            _release(site, answer.mode),
            answer.precision,
        )
        for answer in answers
        if answer.precision
    ]
    try:
        if entries:
            site.log.add(entries)
    except Exception as fault:  # a search is worth more than its log
        _logger.warning("log not written: %s", type(fault).__name__)
        return False
    return True


def _release(site: Site, mode: str) -> str:
    """Name the release behind a mode: one made again in the same folder has another name."""
    return site.further[mode].name if mode in site.further else site.release_name
