"""The dial's stops as the page, the API and a slide of the lecture show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import abort

from ...accounts.transcripts import Transcripts
from ...disclosure.numbers import count
from ...lesson.stops import GUESSES, Reading, Stop, label_of
from ...settings import DEMO, PRIVATE
from ..question import Question, address
from ..site import Site
from ..wording import kind
from .answering import CLOSEST, Outcome, ask
from .results import Result, cards, results

_WORST = "worst_linkability"  # the fact of a release
SHOWN = 7  # documents of a ranking
NOT_HERE = (
    "There is no dial here: it shows what rows of several releases give away, and real people have "
    "one row each, which nobody else sees."
)
_DOTS = 60
_NO_STOP = "In {releases} you are in no group, so {those} no stop here."
_WORSE = " The plain order is closer: {plain}."
_OWN = "The server reads your whole profile."
_LIKE = "The ranking is {share} like the one by your own profile."
_GUESSED = "{who} makes {guesses} guesses about your interests, and {right} of {guesses} are right."
_NOTHING = "It tells nobody anything of you, so there is nothing to guess by."


class ShownStop(NamedTuple):
    """A stop, with what its panels show of it."""

    stop: Stop
    kind: str  # the mode that gives it its colour
    says: str
    results: list[Result]
    address: str  # of the page at this stop


class DialView(NamedTuple):
    """All stops, and which one the panels show first."""

    question: Question
    person: str  # as shown
    stops: list[ShownStop]
    at: int
    api: str  # the address of the same as JSON
    outcome: Outcome
    notices: Sequence[str]
    building: Sequence[str]  # releases that are being made
    usual: float  # guesses that are right on average without any row
    guesses: int = GUESSES
    most: int = _DOTS

    @property
    def now(self) -> ShownStop:
        """Return the stop that the panels show first."""
        return self.stops[self.at]


def refuse_closed(site: Site) -> None:
    """Refuse where the people of `site` are real and sign in."""
    if site.access == PRIVATE:
        abort(404, NOT_HERE)


def dial_view(site: Site, question: Question, stop: str = "") -> DialView:
    """Return what templates/lesson/dial_panels.html shows, by the name `dial`.

    The stops are of the search `question` at `site`; the panels begin at the one named `stop`, or
    at the first row of a group. Nothing is logged or remembered.
    """
    refuse_closed(site)
    modes = site.dial.now()
    readings = site.dial.readings(modes) if question.user else []
    # What the engine receives here is no search of the person, so their page does not list it.
    all_stops = replace(site, modes=modes, transcripts=Transcripts())
    outcome = ask(all_stops, question, False, [one.mode for one in readings])
    answers = outcome.answers
    stops = site.dial.stops(modes, question.user, answers)
    rankings = [one.answer.ranking for one in stops]
    known = cards(modes.engine, rankings, question.query, count=SHOWN, opens=True)
    same = question.but(mode="")  # the stop says by what the pool is ordered
    here = address("dial.show", same, site)
    shown = [
        ShownStop(
            one,
            kind(one.mode),
            _says(one, stops[-1], all_stops),
            results(one.answer.ranking, known, count=SHOWN),
            f"{here}&{urlencode({'stop': one.mode})}",
        )
        for one in stops
    ]
    # Such an order says nothing of the person's own row, so there is nothing to guess by.
    outside = [mode for mode, answer in answers.items() if answer.foreign]
    closest = {CLOSEST.format(mode=all_stops.name_of(mode)) for mode in outside}
    notices = [notice for notice in outcome.notices if notice not in closest]
    if outside:
        those = "it is" if len(outside) == 1 else "they are"
        releases = count(len(outside), "release", "releases")
        notices.append(_NO_STOP.format(releases=releases, those=those))
    return DialView(
        question=question,
        person=site.people.get(question.user, ""),
        stops=shown,
        at=_at(shown, stop),
        api=address("api_dial.dial", same, site),
        outcome=outcome,
        notices=notices,
        building=site.building(),
        usual=readings[0].attacker.usual(GUESSES) if readings else 0.0,
    )


class GivenAway(NamedTuple):
    """What the release in use gives away, next to one that bounds what is believed."""

    label: str
    mean: float | None  # right guesses on average; None: not counted yet
    bound: Reading | None  # the strictest bound; None: there is none yet
    guesses: int = GUESSES


def certain(site: Site) -> bool:
    """Return whether somebody's interest is certain by their row in the release of `site`."""
    return site.modes.release is not None and site.shown().stated.get(_WORST) == 1


def first_page(site: Site) -> dict[str, Any]:
    """Return what the first page says about the release of `site`."""
    return {"given": given_away(site), "certain": certain(site)}


def given_away(site: Site) -> GivenAway | None:
    """Return what the release of `site` gives away; None unless interests are certain there.

    Nothing is read for it: the first page is not to wait.
    """
    release = site.modes.release
    if site.access != DEMO or release is None or not certain(site):
        return None
    known = site.dial.known
    mean = next((one.mean for one in known if one.mode == "group"), None)
    bounds = [one for one in known if one.release.promise.bounds == "belief"]
    return GivenAway(label_of(release), mean, bounds[-1] if bounds else None)


def _at(stops: Sequence[ShownStop], name: str) -> int:
    names = [one.stop.mode for one in stops]
    return names.index(name) if name in names else min(1, len(stops) - 1)


def _says(stop: Stop, plain: Stop, site: Site) -> str:
    """Return the sentences of `stop`: how like the own ranking, and how many guesses are right."""
    like = _LIKE.format(share=stop.share) if stop.share else ""
    if (stop.ap or 0) < (plain.ap or 0):
        like += _WORSE.format(plain=plain.share)
    who = f"Someone who learns which {site.words_of(stop.mode).unit} is yours"
    if stop.mode == "own":
        like, who = _OWN, "Someone who reads it"
    guesses = len(stop.guesses)
    guessed = _GUESSED.format(who=who, right=stop.right, guesses=guesses) if guesses else _NOTHING
    return f"{like} {guessed}".strip()
