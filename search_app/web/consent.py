"""What a person decides about what is kept of them: done everywhere it is kept, or refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from flask import abort

from anonymizer.model import AnonymizerError

from ..errors import UsageError
from ..forgetting import Forgotten, UnknownPerson, look_again
from ..workspace import Workspace
from . import limits
from .site import Site

BUSY = (
    "This could not be finished just now: the workspace is in use or can’t be written to. "
    "Please try again in a minute. If that does not help, tell whoever runs this server."
)
LEFTOVERS = (
    "Your profile is removed, but what is kept of your code and choices is not: its file is in "
    "use. Please try again in a minute."
)
_logger = logging.getLogger(__name__)


def choose(
    site: Site, user: str, *, paused: bool | None = None, remember: bool | None = None
) -> None:
    """Keep choices; who pauses is not shown any more, who ends remembering leaves nothing."""
    _stored(lambda: site.store.choose(user, paused=paused, remember=remember))
    if paused:
        site.transcripts.drop(user)
    if remember is False:
        _stored(lambda: site.store.forget_searches(user))


def forget_search(site: Site, user: str, number: int | None) -> None:
    """Delete one of a person's searches, or all."""
    if number is None:
        _stored(lambda: site.store.forget_searches(user))
    else:
        _stored(lambda: site.store.forget_search(user, number))


def forget_terms(site: Site, user: str, terms: Collection[str]) -> Forgotten:
    """Remove terms from a person's profile and from all that was made from it."""
    done = _forgotten(site, user, terms)
    site.transcripts.clear()  # rows that the terms had a part in stand in others' requests too
    return done


def forget_person(site: Site, user: str) -> Forgotten:
    """Remove every byte of a person."""
    done = _forgotten(site, user, None)
    try:
        _stored(lambda: site.store.forget(user), LEFTOVERS)
    finally:  # who was let in with a session is not noted after it has ended
        site.transcripts.clear()  # the rows they had a part in stand in others' requests too
        limits.forget(user)
    done = look_again(Workspace(site.settings.workspace), user, done)
    if done.left:
        _logger.warning("what was to be forgotten still stands in: %s", ", ".join(done.left))
    return done


def _stored(change: Callable[[], object], sentence: str = BUSY) -> None:
    """Change what is stored of a person, or say in one sentence that it did not work."""
    try:
        change()
    except UsageError as fault:  # its text may name a path
        _logger.warning("store not changed: %s", type(fault).__name__)
        abort(503, sentence)


def _forgotten(site: Site, user: str, terms: Collection[str] | None) -> Forgotten:
    """Remove a person, or terms of theirs, from the workspace."""
    try:
        return site.forget(user, terms)
    except UnknownPerson:  # gone before, when what is kept elsewhere could not be removed
        return Forgotten((), (), False, (), (), ())
    except (UsageError, AnonymizerError, OSError) as fault:
        _logger.warning("nothing was forgotten: %s", type(fault).__name__)
        abort(503, BUSY)
