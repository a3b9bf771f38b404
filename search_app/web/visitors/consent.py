"""A person's choices about their data: carried out wherever data is kept, or refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from flask import abort

from anonymizer.errors import AnonymizerError

from ...errors import UsageError
from ...forgetting.person import ForgetReport, UnknownPerson
from ...settings import PRIVATE
from ..site import Site
from . import limits

BUSY = (
    "This could not be finished just now: the workspace is in use or can’t be written to. "
    "Please try again in a minute. If that does not help, tell the operator of this server."
)
_logger = logging.getLogger(__name__)


def choose(
    site: Site, user: str, *, paused: bool | None = None, remember: bool | None = None
) -> None:
    """Store the choices of `user` at `site`: whether to pause, and whether to remember searches."""
    holder = site.access == PRIVATE
    _stored(lambda: site.store.choose(user, paused=paused, remember=remember, holder=holder))
    # The last requests of somebody who pauses are shown no more.
    if paused:
        site.transcripts.drop(user)
    if remember is False:
        _stored(lambda: site.store.forget_searches(user))


def let_grow(site: Site, user: str, on: bool, *, keep: bool) -> None:
    """Store whether searches of `user` at `site` feed their profile; `keep` what was gathered."""
    if on and site.growth.fault:
        abort(400, f"Searches can’t be added to your profile: {site.growth.fault}.")
    holder = site.access == PRIVATE
    _stored(lambda: site.store.choose(user, grow=on, keep=keep, holder=holder))
    if not keep:
        _drop_requests(site, user)


def forget_grown(site: Site, user: str, terms: Collection[str] | None) -> None:
    """Remove `terms`, or all if they are None, from what grew from searches of `user`."""
    _stored(lambda: site.store.forget_grown({user: terms}))
    _drop_requests(site, user)


def forget_search(site: Site, user: str, number: int | None) -> None:
    """Delete the search `number` of `user` at `site`; all searches if it is None."""
    _stored(lambda: site.store.forget_searches(user, number))


def forget_terms(site: Site, user: str, terms: Collection[str]) -> ForgetReport:
    """Remove `terms` from the profile of `user`, and from what grew; return what changed."""
    if site.modes.past(user).keys().isdisjoint(terms):
        forget_grown(site, user, terms)
        return ForgetReport()
    try:
        return _forgotten(lambda: site.forget(site.store, user, terms))
    finally:
        _drop_requests(site)


def leave_group(site: Site, user: str) -> ForgetReport:
    """Withdraw the row of `user` at `site`, who keeps profile and code; return what changed."""
    done = _forgotten(lambda: site.leave(user))
    _warn_of_files(done, user)
    # The row stands in the last requests of the other members, too.
    _drop_requests(site)
    return done


def forget_person(site: Site, user: str) -> ForgetReport:
    """Remove every byte of `user` at `site`; return what changed."""
    try:
        done = _forgotten(lambda: site.forget(site.store, user, None))
    finally:
        # Their terms were part of rows in other people's requests. Clearing also starts a new
        # generation: a search that began before it notes nothing afterwards.
        _drop_requests(site)
        limits.forget(user)
        site.log.repeats.forget(user)
    _warn_of_files(done, user)
    return done


def _warn_of_files(done: ForgetReport, user: str) -> None:
    """Tell the operator which files may still hold something of `user`, by `done`."""
    # A file may be called like the person, and no log holds an id.
    if done.left:
        names = ", ".join(name.replace(user, "…") for name in done.left)
        _logger.warning("these files may still hold something of a person who left: %s", names)


def _drop_requests(site: Site, user: str = "") -> None:
    """Drop the last requests of `user`, or of everybody, and what was prepared for searches."""
    # Both hold the former profile. What grew is in no file that a new site would be opened for.
    if user:
        site.transcripts.drop(user)
    else:
        site.transcripts.clear()
    site.modes.clear()
    site.everywhere()


def _stored(change: Callable[[], object]) -> None:
    """Make a change in the store; if it fails, refuse the request."""
    try:
        change()
    except UsageError as fault:
        # The type alone is logged, as the message may name a path.
        _logger.warning("store not changed: %s", type(fault).__name__)
        abort(503, BUSY)


def _forgotten(change: Callable[[], ForgetReport]) -> ForgetReport:
    try:
        done = change()
        if done.damaged:
            _logger.warning(
                "somebody left, and the ledger could not be used; see: veilsearch doctor"
            )
        return done
    # A first try removed the profile but could not remove the rest; this one goes on.
    except UnknownPerson:
        return ForgetReport()
    except (UsageError, AnonymizerError, OSError) as fault:
        _logger.warning("nothing was forgotten: %s", type(fault).__name__)
        abort(503, BUSY)
