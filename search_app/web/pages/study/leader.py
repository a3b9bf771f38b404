"""The pages of a study's leader: how it stands, and a slide on which an audience votes."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from flask import Blueprint, Response, abort, make_response, render_template, request

from ....study.analysis import SAME, VOTE
from ....study.design import CHOOSE, Task
from ....study.status import status_of
from ....study.trials import Trial, make_trial, shown_conditions
from ...visitors import sessions
from ...visitors.limits import network
from .forms import clean
from .place import LEADERS_COOKIE, ServedStudy, here, leads, set_cookie, to
from .tasks import Shown, lists_of

pages = Blueprint("leader", __name__)
WRONG = "This is not the operator’s token."
NO_SLIDE = "No slide of this task is open. Open it on the leader’s page."
LETTERS = "ABC"
SHOWN = 5  # results of a list on a slide


class VoteCount(NamedTuple):
    """The votes for a list of a slide, or for none of them."""

    name: str
    votes: int
    share: float  # of all votes
    condition: str = ""  # once it may be seen


@pages.before_request
def _leaders_only() -> Response | None:
    if not here().settings.admin_token:
        abort(404)
    if leads() or request.endpoint in ("leader.show_door", "leader.enter"):
        return None
    return to("leader.show_door")


@pages.get("/leader/sign-in")
def show_door() -> str:
    """Return the form for the operator's token."""
    return render_template("study/leader_sign_in.html", fault="")


@pages.post("/leader/sign-in")
def enter() -> Response:
    """Begin a session with the token in the form, and return a redirection to the board."""
    place, client = here(), network(request.remote_addr)
    # Somebody may choose a weak token. So wrong ones cost time, and a right one waits with them.
    wait = place.tries.begin(client, None, place.clock())
    right = not wait and sessions.same(
        request.form.get("token", "").strip(), place.settings.admin_token
    )
    if not right:
        page = render_template("study/leader_sign_in.html", fault=WRONG)
        return make_response(page, 429 if wait else 403, {"Retry-After": str(wait)} if wait else {})
    place.tries.take_back(client, None)
    response = to("leader.show")
    set_cookie(response, LEADERS_COOKIE, place.operators.begin(place.clock()))
    return response


@pages.post("/leader/sign-out")
def leave() -> Response:
    """End the session, and return a redirection to the sign-in page."""
    here().operators.end(request.cookies.get(LEADERS_COOKIE, ""))
    response = to("leader.show_door")
    set_cookie(response, LEADERS_COOKIE, "")
    return response


@pages.get("/leader")
def show() -> str:
    """Return the board: how many stand where, and what they prefer once the study ended."""
    place = here()
    return render_template(
        "study/leader.html",
        peek=_peek(),
        choices=[task for task in place.study.tasks if _votes(task)],
        people=place.rankings.people,
        place=place,
        status=_status(place),
    )


@pages.get("/leader/numbers")
def numbers() -> str:
    """Return the part of the board that changes, for the script that shows it live."""
    return render_template("study/numbers.html", peek=_peek(), status=_status(here()))


@pages.post("/leader/door")
def door() -> Response:
    """Let people without a code begin, or no more of them; return to the board."""
    place = here()
    if place.guarded:
        abort(403, "Rows of real people that are not published order results here: give codes.")
    place.open_door = request.form.get("open") == "1"
    return to("leader.show")


@pages.post("/leader/close")
def close() -> Response:
    """Let nobody begin any more; return to the board."""
    if request.form.get("sure") != "1":
        abort(400, "Closing can’t be undone: tick that you are sure.")
    here().store.close_study()
    return to("leader.show")


@pages.post("/leader/slide/<name>")
def open_slide(name: str) -> Response:
    """Open the slide of the task `name`, or end it; return a redirection.

    As long as it is open, everybody who reaches the task sees the lists of the slide.
    """
    place, task = here(), _choice(name)
    person, wishes = request.form.get("persona", ""), clean(request.form.get("searches", ""))
    if request.form.get("open") == "0":
        place.slides.pop(name, None)
        return to("leader.show")
    if person and person not in place.rankings.people:
        abort(400, "There is no such person. Choose one from the list.")
    profile = {} if person else place.rankings.of_queries(wishes.splitlines())
    if not (person or profile):
        abort(400, "All lists would be the same: choose a person, or write some searches.")
    # The order is secret, and the same when the server starts again.
    seed = hmac.digest(place.settings.admin_token.encode(), name.encode(), hashlib.sha256)
    rng = np.random.default_rng(int.from_bytes(seed))
    order = rng.permutation(place.study.conditions).tolist()
    ranked = place.rank(task.query, place.study.conditions, person, profile)
    place.slides[name] = make_trial(CHOOSE, shown_conditions(CHOOSE, order, 0), ranked, rng)
    return to("leader.slide", name=name)


@pages.get("/leader/slide/<name>")
def slide(name: str) -> str:
    """Return the slide of the task `name`: its lists without names, and the votes so far."""
    place, task, trial = here(), _choice(name), _slide(name)
    lists = [items[:SHOWN] for items in lists_of(place, Shown(trial, task.query, 0))]
    return render_template(
        "study/slide.html",
        task=task,
        lists=lists,
        letters=LETTERS,
        revealed=_peek(),
        bars=_bars(place, name, trial),
        address=request.url_root,
    )


@pages.get("/leader/slide/<name>/bars")
def bars(name: str) -> str:
    """Return the votes on the slide of the task `name`, for the script that lets them grow."""
    return render_template("study/bars.html", bars=_bars(here(), name, _slide(name)))


def _peek() -> bool:
    return request.args.get("reveal") == "1"


def _status(place: ServedStudy) -> dict[str, Any]:
    return status_of(place.study, place.store, place.seconds(), peek=_peek())


def _votes(task: Task) -> bool:
    return task.kind == CHOOSE and not task.free


def _choice(name: str) -> Task:
    task = next((one for one in here().study.tasks if one.id == name and _votes(one)), None)
    if task is None:
        abort(404)
    return task


def _slide(name: str) -> Trial:
    trial = here().slides.get(name)
    if trial is None:
        abort(404, NO_SLIDE)
    return trial


def _bars(place: ServedStudy, name: str, trial: Trial) -> list[VoteCount]:
    rows = place.store.trials()
    audience = {who for who, task, shown, *_ in rows if task == name and Trial.of(shown) == trial}
    votes = Counter(
        value
        for who, task, action, _, _, _, value, *_ in place.store.events()
        if task == name and action == VOTE and who in audience
    )
    names = dict(zip(trial.conditions, LETTERS, strict=False)) | {SAME: "No difference"}
    total = max(sum(votes[condition] for condition in names), 1)
    return [
        VoteCount(letter, votes[one], votes[one] / total, one if _peek() and one != SAME else "")
        for one, letter in names.items()
    ]
