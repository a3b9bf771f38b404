"""What all pages of a study share: the study as it is served, and who sends a request."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from flask import Response, abort, current_app, g, make_response, redirect, request, url_for
from werkzeug.wrappers import Response as Answer

from ....accounts.codes import SIGNS, public_part
from ....accounts.store import PeopleStore
from ....settings import Settings
from ....study.design import Study
from ....study.flow import StudyStep, steps_of, way_of
from ....study.rankings import Rankings
from ....study.store import Participant, StudyStore
from ....study.trials import Trial
from ...visitors.limits import network
from ...visitors.sessions import OperatorSessions
from ...visitors.sign_in import cookie_attributes
from ...visitors.tries import Tries

KEY = "veilsearch.study"
COOKIE, LEADERS_COOKIE = "veilsearch-study", "veilsearch-leader"
STOPPED = (
    "The search behind this study has changed, so the study waits for the person who leads it. "
    "What you answered is kept. Please try again later."
)
UNKNOWN = (
    "The search engine no longer has the profile by which your results are ordered. So the study "
    "can’t go on for you. You may withdraw."
)
PAUSED = (
    "You have paused personalization in the search engine, so your profile is not read. Resume it "
    "there, on your own page, or withdraw from the study."
)
_SIGNS = 8  # of a completion code
_NUMBER = re.compile("[0-9a-f]{1,14}")
_PROOF = 26  # hexadecimal digits that prove a withdrawal link: 104 bits


@dataclass(eq=False)
class ServedStudy:
    """A study that is served, with all that its pages need."""

    study: Study
    store: StudyStore
    rankings: Rankings
    settings: Settings
    people: PeopleStore | None = None  # of the workspace; None unless its codes give the profiles
    clock: Callable[[], float] = time.time
    tries: Tries = field(default_factory=Tries)
    operators: OperatorSessions = field(default_factory=OperatorSessions)
    # In memory only. The query that a participant typed is needed as long as they see its results.
    typed: dict[int, tuple[str, str]] = field(default_factory=dict)
    # The grades that they have ticked when they open a document and come back.
    ticked: dict[int, Mapping[str, str]] = field(default_factory=dict)
    slides: dict[str, Trial] = field(default_factory=dict)  # by task, while everybody votes on it
    open_door: bool = False  # whether people without a code may begin
    stopped: bool = False  # whether the workspace has no more what the study is of
    gone: int = 0  # people who had withdrawn when memory was last rid of them

    def __post_init__(self) -> None:
        self.store.way(way_of(self.study))

    @property
    def guarded(self) -> bool:
        """Return whether only people with a code may ever begin."""
        # Strangers without number could read the rows of real people off the orders they make.
        return self.by_rows and self.rankings.modes.withheld()

    @property
    def by_rows(self) -> bool:
        """Return whether rows of a release order results in some condition."""
        return any(name.startswith("group") for name in self.study.conditions)

    @property
    def lets_in(self) -> bool:
        """Return whether people without a code may begin now."""
        return self.open_door and not self.guarded

    # -- the workspace may change while it is served

    @property
    def state(self) -> object:
        """Return the stamp of the workspace when its rankings were opened."""
        return self.rankings.state

    def switch(self, rankings: Rankings) -> None:
        """Order by `rankings` from now on, and by no row that is withdrawn."""
        self.rankings, self.stopped = rankings, False
        self.slides.clear()

    def fail(self) -> str:
        """Order nothing as long as the workspace can't be opened; return a sentence on that."""
        # The workspace may have withdrawn rows by which the old rankings order.
        self.stopped = True
        self.rankings.forget()
        self.slides.clear()
        return f"Nobody gets results until it can. See: veilsearch study check {self.study.folder}"

    def settle(self) -> None:
        """Prepare what searches by the rule `evidence` share."""
        self.rankings.modes.settle()

    def close_unused(self) -> None:
        """Keep nothing in memory of people who left by the leader's command."""
        # Former rankings are closed with their last request.
        gone = self.store.withdrawn()
        if gone != self.gone:
            there = {one.id for one in self.store.participants()}
            for number in {*self.typed, *self.ticked} - there:
                self.typed.pop(number, None)
                self.ticked.pop(number, None)
            self.rankings.forget()
            self.gone = gone

    def rank(
        self, query: str, conditions: Sequence[str], person: str, profile: Mapping[str, float]
    ) -> dict[str, tuple[str, ...]]:
        """Return the best documents for `query` in each of `conditions`; see `Rankings.of`."""
        rankings = self.rankings
        if self.stopped:
            abort(503, STOPPED)
        if person and not rankings.modes.has_profile(person):
            abort(410, UNKNOWN)
        if self.is_paused(person):
            abort(409, PAUSED)
        return rankings.of(query, conditions, person, profile)

    def is_paused(self, person: str) -> bool:
        """Return whether `person` of the workspace wants their profile not to be read."""
        return self.people is not None and self.people.choices(person).paused

    @cached_property
    def steps(self) -> tuple[StudyStep, ...]:
        """Return the steps of the study."""
        return steps_of(self.study)

    def step_of(self, person: Participant) -> StudyStep:
        """Return the step at which `person` stands."""
        return self.steps[min(person.step, len(self.steps) - 1)]

    def seconds(self) -> int:
        """Return the time in seconds since 1970."""
        return int(self.clock())

    def milliseconds(self) -> int:
        """Return the time in milliseconds since 1970."""
        return int(1000 * self.clock())

    def forget(self, person: Participant) -> None:
        """Erase `person`, in memory too."""
        self.store.withdraw(person.id)
        self.forget_gone(person)

    def forget_gone(self, person: Participant) -> None:
        """Keep nothing of `person` in memory if they have withdrawn, maybe meanwhile."""
        if self.store.of_number(person.id) is None:
            self.drop(person)
            self.rankings.forget()

    def drop(self, person: Participant) -> None:
        """Keep in memory nothing of a task of `person`."""
        self.typed.pop(person.id, None)
        self.ticked.pop(person.id, None)


def here() -> ServedStudy:
    """Return the study that this application serves."""
    return cast(ServedStudy, current_app.extensions[KEY])


def visitor() -> Participant | None:
    """Return the participant who sends this request; None if nobody has signed in."""
    if "participant" not in g:
        token = request.cookies.get(COOKIE, "")
        g.participant = here().store.of_token(token) if token else None
    return cast(Participant | None, g.participant)


def leads() -> bool:
    """Return whether the study's leader sends this request."""
    place, token = here(), request.cookies.get(LEADERS_COOKIE, "")
    return bool(place.settings.admin_token) and place.operators.holds(token, place.clock())


def of_code(text: str) -> tuple[Participant | None, int]:
    """Return the participant with the code `text`, and the seconds that wrong codes cost here."""
    place, client, public = here(), network(request.remote_addr), public_part(text)
    wait = place.tries.begin(client, public, place.clock())
    person = place.store.of_code(text)
    if person and not wait:
        place.tries.take_back(client, public)
    return person, wait


def sign_in(person: Participant) -> Response:
    """Begin a session of `person`, and return a redirection to their step; an older one ends."""
    response = to("study.show")
    set_cookie(response, COOKIE, here().store.sign_in(person.id))
    return response


def set_cookie(response: Answer, name: str, token: str) -> None:
    """Set the cookie `name` in `response`; without `token`, delete it."""
    attributes = cookie_attributes(here().settings)
    if token:
        response.set_cookie(name, token, **attributes)
    else:
        response.delete_cookie(name, **attributes)


def to(endpoint: str, **values: Any) -> Response:
    """Return a redirection to a page of ours: to `endpoint` with `values`."""
    return make_response(redirect(url_for(endpoint, **values), 303))


def completion_of(place: ServedStudy, person: Participant) -> tuple[str, bool]:
    """Return the completion code of `person`, and whether it is an address to open."""
    digest = _keyed(person, "completion")
    signs = "".join(SIGNS[byte % len(SIGNS)] for byte in digest[:_SIGNS])
    wanted = place.study.code
    if "{code}" in wanted:
        return wanted.replace("{code}", signs), True
    return f"{wanted}-{signs}", False


def whose(person: Participant) -> str:
    """Return a name for `person` by which a browser knows whose profile it keeps."""
    return _keyed(person, "device").hex()[:_PROOF]


def withdrawal_of(person: Participant) -> str:
    """Return what proves in a link, without the personal code, that `person` wants to withdraw."""
    return f"{person.id:x}-{_keyed(person, 'withdrawal').hex()[:_PROOF]}"


def of_withdrawal(place: ServedStudy, proof: str) -> Participant | None:
    """Return the participant that `proof` of a withdrawal link names; None if it is wrong."""
    number, _, _ = proof.partition("-")
    person = place.store.of_number(int(number, 16)) if _NUMBER.fullmatch(number) else None
    if person and hmac.compare_digest(withdrawal_of(person).encode(), proof.encode()):
        return person
    return None


def _keyed(person: Participant, purpose: str) -> bytes:
    return hmac.digest(person.seed, purpose.encode(), hashlib.sha256)
