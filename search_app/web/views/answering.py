"""A question -> its rankings; measured values are logged, and faults become notices."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from flask import url_for
from markupsafe import Markup

from index.model import TooSlow

from ...evaluation.log import Entry
from ...search.modes import FURTHER, MODES, Answer
from ...search.request import COSINE
from ..question import Question
from ..site import STOPPED, Site, generation

NOT_PERSONAL = (
    "Personalization failed for this search, so you see the plain order. "
    "Nobody else’s profile was used."
)
NOT_LOGGED = "The average precision of this search could not be written to the log."
NOT_REMEMBERED = "This search could not be added to the list of your searches."
NOT_GROWN = "The words of this search could not be added to your profile."
PAUSED = (
    "You have paused personalization, so the results are in the plain order, "
    "and your profile was not read."
)
UNSURE = (
    "The server could not read whether you have paused personalization. So the results are in the "
    "plain order, and your profile was not read. Please try again in a minute."
)
RESUME = "Resume it on your page"
NEW = "You have no profile yet, so the results are in the plain order."
CHOOSE = "What you can choose"
NOBODY = "Nobody is chosen, so the results are in the plain order."
CLOSEST = (
    "You are in no group. In “{mode}” the row of the closest group orders the results. You see "
    "that order, and no interest of the row."
)
OWN_RULE = (
    "The row of a group that you are not in orders results by the usual rule only, and a pool of "
    "the usual size where the rows are not published. So this is the plain order."
)
ENOUGH = (
    "The row of a group that you are not in ordered enough results today: "
    "many orders together tell what is in it. So this is the plain order; try again in an hour."
)
CUT = "The query was very long; only its first 2,000 characters were searched."
MANY = "The query has very many words; only the first of them were searched."
_logger = logging.getLogger(__name__)


class Linked(str):
    """A notice that ends in a link on a page."""

    def __new__(cls, text: str, address: str, label: str) -> Linked:
        """Return `text` as a notice with a link; as a text it is complete without the link."""
        made = super().__new__(cls, text)
        made.address, made.label = address, label
        return made

    address: str
    label: str

    def __html__(self) -> str:
        """Return the notice with its link, for a page."""
        return Markup('{} <a href="{}">{}</a>').format(str(self), self.address, self.label)


@dataclass(frozen=True)
class Outcome:
    """The answers by mode (none is always there), the notices, and the time it took."""

    answers: Mapping[str, Answer]
    notices: tuple[str, ...]
    milliseconds: int

    def in_mode(self, mode: str) -> Answer:
        """Return the answer in `mode`, or the plain one where that mode failed."""
        return self.answers.get(mode, self.answers["none"])


def ask(site: Site, question: Question, counted: bool, also: Sequence[str] = ()) -> Outcome:
    """Return the answers to `question` in all modes and those in `also`; if `counted`, log them."""
    start = site.clock()
    halted = _halted(site, question)
    allowed = replace(question, user="") if halted else question
    new = allowed.user and not site.modes.has_profile(allowed.user)
    here, wanted = site.modes.modes, (question.mode, *also)
    # Every search is ranked in all modes, so that the log compares them over the same queries.
    every = dict.fromkeys((*MODES, *wanted)) if allowed.user and not new else ("none",)
    modes = tuple(mode for mode in every if mode in here or mode in wanted)
    refused = _refused(site, allowed)
    if refused:
        modes = tuple(mode for mode in modes if not site.modes.stands_outside(allowed.user, mode))
    answers = _answers(site, replace(allowed, user="") if new else allowed, modes)
    took = round(1000 * max(site.clock() - start, 0))
    notices = [CUT] * question.cut + [MANY] * any(answer.cut for answer in answers.values())
    notices += halted
    if site.stopped:
        notices.append(STOPPED)
    elif new:
        notices.append(Linked(NEW, f"{_own_page(question)}#grown", CHOOSE))
    missing = [mode for mode in modes if mode not in answers]
    rowless = []
    for mode in (mode for mode in missing if site.modes.lacks_row(allowed.user, mode)):
        where = f" in the release {mode.removeprefix(FURTHER)}" * (":" in mode)
        rowless.append(site.words_of(mode).rowless.format(where=where, mode=site.name_of(mode)))
    # A mode without a row has said why; any other missing mode has a fault.
    notices += rowless + [NOT_PERSONAL] * (len(rowless) < len(missing))
    if question.mode != "none" and not question.user:
        notices.append(NOBODY)
    foreign = [mode for mode, answer in answers.items() if answer.foreign]
    for mode in answers.keys() - foreign if allowed.user else ():
        site.transcripts.note(allowed.user, mode, answers[mode].request, generation())
    # Of another group's row a person sees the order only.
    notices += [CLOSEST.format(mode=site.name_of(mode)) for mode in foreign]
    notices += [refused] * bool(refused)
    if counted and question.page == 1:
        # No search of a person without a row is logged: without a line of the group's mode, or
        # with one that always equals the plain order's, the log would tell which are theirs.
        unlogged = bool(refused) or any(site.modes.lacks_row(allowed.user, one) for one in modes)
        notices += _kept(site, allowed, () if unlogged else answers.values())
    return Outcome(answers, tuple(notices), took)


def _refused(site: Site, question: Question) -> str:
    """Return why the row of another group must not order the results; empty if it may."""
    if not site.modes.stands_outside(question.user):
        return ""
    # Two orders of the same documents by one row tell more of it than one. By evidence these depend
    # on the pool's size, too.
    usual = question.rule.ranking == COSINE or question.pool == site.settings.pool
    if question.rule != site.rule or (site.modes.withheld() and not usual):
        return OWN_RULE
    # A published row is no secret. Of any other, each order says which documents the row likes,
    # and many of them say which terms it has.
    known = not site.modes.withheld() or site.store.take_order(question.user, site.clock())
    return "" if known else ENOUGH


def _halted(site: Site, question: Question) -> list[str]:
    """Return why nothing of a person may be read now; empty where it may."""
    if not question.user:
        return []
    try:
        site.grown(question.user)  # no search may fail later because it can't be read
        if not site.store.choices(question.user).paused:
            return []
    except Exception as fault:
        # The person may have paused, so the search goes on without their profile.
        _logger.warning("choices not read: %s", type(fault).__name__)
        return [UNSURE]
    return [Linked(PAUSED, f"{_own_page(question)}#choices", RESUME)]


def _own_page(question: Question) -> str:
    named: dict[str, Any] = {"user": question.user} if question.named else {}
    return url_for("me.show", **named)


def _kept(site: Site, question: Question, answers: Collection[Answer]) -> list[str]:
    """Log a search, and remember it if the person chose so; return what did not work."""
    notices, at = [], int(site.clock())
    # Which documents the query found, in which order: by nothing else of it do figures differ.
    pools = [blake2b(one.ranking.rows.tobytes()).digest() for one in answers if one.mode == "none"]
    entries = [
        Entry(
            *(at, answer.mode, question.pool, question.rule.name, site.corpus),
            # The name has the hash, so a release made again in the same folder counts apart.
            site.further.get(answer.mode, site.release_name),
            answer.precision,
            answer.plain,
        )
        for answer in answers
        if answer.precision
    ]
    try:
        if entries:
            # Once for each person and all that changes figures: no reload is a search, no comma.
            how = question.pool, question.rule.name, site.build, site.release_name
            site.log.add(entries, question.user, (pools[0], *how))
            # Who was forgotten meanwhile must not be remembered now.
            if site.transcripts.generation != generation():
                site.log.repeats.forget(question.user)
    except Exception as fault:
        # The person gets their results even if the log can't be written.
        _logger.warning("log not written: %s", type(fault).__name__)
        notices.append(NOT_LOGGED)
    try:
        if question.user:
            site.store.remember(question.user, question.query, question.mode, at)
    except Exception as fault:
        # Only the type is written: the fault's text may hold the query.
        _logger.warning("search not remembered: %s", type(fault).__name__)
        notices.append(NOT_REMEMBERED)
    try:
        if question.user and site.store.choices(question.user).grow and not site.growth.fault:
            site.store.grow(question.user, site.growth.counts(question.query))
    except Exception as fault:
        _logger.warning("profile not grown: %s", type(fault).__name__)
        notices.append(NOT_GROWN)
    return notices


def _answers(site: Site, question: Question, modes: tuple[str, ...]) -> dict[str, Answer]:
    """Return the answers in all modes that work; at a fault, at least the plain order."""
    if not question.user:
        return _ranked(site, question, ("none",), None)
    try:
        return _ranked(site, question, modes, question.user)
    except TooSlow:
        # The pool took too long. All modes share it, so another try would take as long.
        raise
    except Exception as fault:
        # The fault's text may hold a query or a profile, so only its type is written.
        _logger.warning("personalization failed: %s", type(fault).__name__)
    answers: dict[str, Answer] = {}
    for mode in modes:
        with suppress(Exception):
            answers |= _ranked(site, question, (mode,), question.user)
    return answers if "none" in answers else answers | _ranked(site, question, ("none",), None)


def _ranked(
    site: Site, question: Question, modes: tuple[str, ...], user: str | None
) -> dict[str, Answer]:
    answers = site.modes.answers(
        question.query,
        modes,
        user,
        pool=question.pool,
        rule=question.rule,
        operators=question.operators,
    )
    return {answer.mode: answer for answer in answers}
