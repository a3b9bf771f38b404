"""A question -> its rankings; what was measured is logged, what went wrong is told."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from index.model import TooSlow

from ..modes import MODES, Answer
from ..precision_log import Entry
from .question import Question
from .site import Site

NOT_PERSONAL = (
    "Personalization failed for this search: in its place you see the plain order. "
    "Nobody else’s profile was used."
)
NOT_LOGGED = "The average precision of this search could not be written to the log."
NOBODY = "Nobody is chosen, so the results are in the plain order."
CUT = "The query was very long; only its first 2,000 characters were searched."
MANY = "The query has very many words; only the first of them were searched."
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """The answers by mode (none is always there), what to tell, and the time it took."""

    answers: Mapping[str, Answer]
    notices: tuple[str, ...]
    milliseconds: int

    def in_mode(self, mode: str) -> Answer:
        """Return the answer in a mode, or the plain one where that mode failed."""
        return self.answers.get(mode, self.answers["none"])


def ask(site: Site, question: Question, counted: bool) -> Outcome:
    """Rank in all modes; log them together, so that they are compared over the same queries."""
    start = site.clock()
    modes = MODES if question.user else ("none",)
    answers = _answers(site, question, modes)
    took = round(1000 * max(site.clock() - start, 0))
    notices = [CUT] * question.cut + [MANY] * any(answer.cut for answer in answers.values())
    if set(answers) != set(modes):
        notices.append(NOT_PERSONAL)
    if question.mode != "none" and not question.user:
        notices.append(NOBODY)
    if counted and question.page == 1 and not _log(site, question, answers.values()):
        notices.append(NOT_LOGGED)
    return Outcome(answers, tuple(notices), took)


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
        Entry(at, answer.mode, question.pool, mix, corpus, site.release_name, answer.precision)
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
