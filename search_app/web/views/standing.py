"""Where people stand: new, gathering, waiting for a group, in one, or out of it again."""

from __future__ import annotations

from typing import NamedTuple

from ...disclosure.numbers import count
from ..site import Site

NEW, GATHERING, WAITING, IN_GROUP = "new", "gathering", "waiting", "in a group"
BETWEEN, LEFT = "in no group", "left"
STATES = (NEW, GATHERING, WAITING, IN_GROUP, BETWEEN, LEFT)


class Standing(NamedTuple):
    """The state of a person, one of STATES, and what it means for them."""

    state: str
    sentence: str


class Standings(NamedTuple):
    """How many people stand where: without a row, in a later cohort, or without one again."""

    new: int
    gathering: int
    waiting: int
    admitted: int
    left: int


def standing(site: Site, user: str) -> Standing:
    """Return where `user` stands at `site`."""
    past = site.modes.past(user)
    row, served = site.modes.row_for(user), _served(site, user)
    if not site.modes.has_profile(user):
        return Standing(NEW, "You are new here: you have no profile, and your searches are plain.")
    if not past and (gathering := _gathering(site, user)):
        return Standing(GATHERING, f"{gathering} {served}")
    if row is not None and not row.foreign and not row.fallback:
        people = count(row.users, "person", "people")
        shared = f"You are in a group of {people} with one shared list of interests, its row."
        alone = "A row stands for you alone."
        return Standing(IN_GROUP, f"{alone if row.users == 1 else shared} {served}")
    if user in site.stood:
        gone = "The row that you had a part in is withdrawn, and you get no other."
        return Standing(LEFT, f"{gone} {served}")
    if user in site.named:
        return Standing(BETWEEN, f"{site.words.reached} {served}")
    paused = site.store.choices(user).paused
    wait = "You wait to be admitted, which happens when there are enough people."
    if paused:
        wait = "You have paused personalization, so you do not wait to be admitted."
    return Standing(GATHERING if paused else WAITING, f"{wait} {served}")


def _gathering(site: Site, user: str) -> str:
    """Return why `user`, who has no past, does not wait at `site`; empty if they do."""
    grown, chosen = site.grown(user), site.store.choices(user)
    gathered = count(len(grown), "interest", "interests")
    if chosen.paused or not chosen.grow:
        return (
            "Your searches feed no profile now, so you do not wait to be admitted. What was "
            f"gathered stays: {gathered}."
        )
    if site.growth.ready(grown):
        return ""
    enough = f"From {site.growth.needed} on, you can be admitted."
    return f"Your profile is growing: {gathered} so far. {enough}"


def standings(site: Site) -> Standings:
    """Return how many people of `site` are new, gather, wait, were admitted, and left."""
    profiles = site.modes.profiles
    past = {*profiles.users} if profiles is not None else set[str]()
    grown = set[str]() if site.growth.fault else site.store.rich(site.growth.needed)
    waiting = (past | grown) - site.named - site.store.pausing()
    gathering = set[str]() if site.growth.fault else site.store.gatherers() - past - waiting
    new = {user for user, _ in site.store.codes()} - past - waiting - gathering
    return Standings(*map(len, (new, gathering, waiting, site.later, site.stood)))


def _served(site: Site, user: str) -> str:
    """Return a sentence on what orders the results of `user` in mode group."""
    if site.modes.release is None:
        return "There is no release here yet."
    mode, row = site.name_of("group"), site.modes.row_for(user)
    if row is not None and row.fallback:
        return f"In “{mode}” the average of all groups’ rows serves you."
    # Whether there is one says whether any group has an interest, which may be made up.
    if site.modes.stands_outside(user):
        return f"In “{mode}” the row of the closest group serves you, if there is one."
    if row is None:
        return f"In “{mode}” you get the plain order."
    return f"In “{mode}” its row serves you."
