"""The pages of a participant: one address shows the step where they stand, forms go on from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flask import Blueprint, Response, abort, make_response, render_template, request

from ....accounts.codes import LONGEST as LONGEST_CODE
from ....accounts.codes import make_code
from ....study.design import CODE, INTERESTS, OPT_INS, PERSONA, QUERIES, RATE
from ....study.flow import CONSENT, END, FORM, PRACTICE, PROFILE, TASK, StudyStep
from ....study.store import Participant
from ....study.trials import GRADES, SHOWN
from ...parameters import LONGEST
from ...views.prose import prose
from ...views.results import web_address
from ...visitors.sign_in import TOO_MANY, WRONG
from .forms import clean, field_of, read_answers
from .place import (
    COOKIE,
    PAUSED,
    ServedStudy,
    completion_of,
    here,
    of_code,
    of_withdrawal,
    set_cookie,
    sign_in,
    to,
    visitor,
    whose,
    withdrawal_of,
)
from .tasks import (
    GONE,
    Shown,
    begin,
    click,
    decision,
    document_of,
    grades_in,
    lists_of,
    shown_to,
    text_of,
)

pages = Blueprint("study", __name__)
CLOSED = "This study is closed: nobody can begin any more."
NEW_CONSENT = "The text has changed since you saw it. Please read it again."
NOTHING = "Nothing was found. Please try other words."
TYPED, LEAST = 20, 3  # typical searches that a participant is asked for, and that are enough
_TOO_FEW = f"Please write at least {LEAST} searches, one on each line."
_NO_TERMS = "Nothing in this can order results. Please try other ones."
_PICK = "Please pick at least one."
_LONGEST_TIME = 15  # digits of milliseconds
_NOBODY: Mapping[str, float] = {}


@pages.get("/")
def show() -> str | Response:
    """Return the page of the step where the participant stands, or the form for their code."""
    place, person = here(), visitor()
    if person is None:
        return _code_page()
    step = place.step_of(person)
    if step.kind == CONSENT or person.consent != place.study.consent_version:
        return _consent_page("", "")
    return _SHOW[step.kind](place, person, step)


@pages.get("/join/<code>")
def invited(code: str) -> str | Response:
    """Return the page to which the invitation with `code` leads; looking begins nothing."""
    return _welcome(code, go_on=False)


@pages.post("/join")
def join() -> str | Response:
    """Let the participant with the code in the form go on, or return the consent page."""
    return _welcome(request.form.get("code", ""), go_on=True)


def _welcome(code: str, *, go_on: bool) -> str | Response:
    place = here()
    person, wait = of_code(code)
    if person is None:
        return _code_page(f"{WRONG} {TOO_MANY}" if wait else WRONG, 429 if wait else 403, wait)
    if person.consent != place.study.consent_version:
        return _consent_page(code, "")
    # A link is only looked at: programs that preview it must not end a session.
    return sign_in(person) if go_on else render_template("study/go_on.html", code=code)


@pages.post("/consent")
def consent() -> str | Response:
    """Note what the participant agrees to, set the cookie, and return to the step."""
    place, code = here(), request.form.get("code", "")
    study, store = place.study, place.store
    if request.form.get("version") != study.consent_version:
        return _consent_page(code, NEW_CONSENT)
    person, wait = of_code(code) if code else (visitor(), 0)
    closed = store.is_closed()
    if person is None and not code and place.lets_in and not closed:
        # Who clicks twice sends one form twice, and is one participant.
        person = store.begin(request.form.get("new", ""))
    if person is None:
        return _code_page(WRONG, 429 if wait else 403, wait)
    if closed and not person.consent:
        abort(403, CLOSED)
    agreed = [one for one in study.opt_ins if one in request.form.getlist("agree")]
    patience = 60 * study.minutes
    store.consent(
        person.id, study.consent_version, agreed, len(study.cells), place.seconds(), patience
    )
    return sign_in(person)


# -- profile ---------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """A profile, or the person who has it, or a sentence on what is missing."""

    person: str = ""
    profile: Mapping[str, float] = _NOBODY
    fault: str = ""


@pages.get("/profile")
def profile_again() -> str | Response:
    """Return the form for the profile once more: this browser may have none of this person."""
    place, person = here(), visitor()
    if person is None or not place.study.device or person.consent != place.study.consent_version:
        return to("study.show")
    return _profile_page(place, person, place.step_of(person))


@pages.post("/profile")
def profile() -> str | Response:
    """Keep the profile in the form, and return to the step."""
    place, person, step = _at(PROFILE)
    if person is None:
        return to("study.show")
    given = _Given() if place.study.device else _PROFILES[place.study.profile](place)
    if given.fault:
        return make_response(_profile_page(place, person, step, given.fault), 400)
    place.store.set_profile(
        person.id, person.step, given.person, given.profile, place.milliseconds()
    )
    place.forget_gone(person)
    return to("study.show")


def _of_queries(place: ServedStudy) -> _Given:
    lines = clean(request.form.get("queries", "")).splitlines()
    queries = [line.strip()[:LONGEST] for line in lines if line.strip()]
    if len(queries) < LEAST:
        return _Given(fault=_TOO_FEW)
    made = place.rankings.of_queries(queries)
    return _Given(profile=made, fault="" if made else _NO_TERMS)


def _of_interests(place: ServedStudy) -> _Given:
    known = set(place.rankings.interests())
    wanted = [label for label in request.form.getlist("interest") if label in known]
    if not wanted:
        return _Given(fault=_PICK)
    made = place.rankings.of_interests(wanted)
    return _Given(profile=made, fault="" if made else _NO_TERMS)


def _of_persona(place: ServedStudy) -> _Given:
    wanted = request.form.get("persona", "")
    return _Given(person=wanted) if wanted in place.rankings.people else _Given(fault=_PICK)


def _of_code(place: ServedStudy) -> _Given:
    people, now = place.people, place.clock()
    token = people.sign_in(request.form.get("own-code", ""), now) if people else None
    user = people.visitor_of(token, now) if people and token else None
    if people and token:
        people.sign_out(token)
    if not (user and place.rankings.modes.has_profile(user)):
        return _Given(fault=WRONG)
    return _Given(fault=PAUSED) if place.is_paused(user) else _Given(person=user)


_PROFILES: Mapping[str, Callable[[ServedStudy], _Given]] = {
    QUERIES: _of_queries,
    INTERESTS: _of_interests,
    PERSONA: _of_persona,
    CODE: _of_code,
}


def _profile_page(place: ServedStudy, person: Participant, step: StudyStep, fault: str = "") -> str:
    kind = place.study.profile
    return _page(
        "study/profile.html",
        person,
        step,
        kind=kind,
        typed=request.form.get("queries", ""),
        ticked=request.form.getlist("interest"),
        interests=place.rankings.interests() if kind == INTERESTS else (),
        people=place.rankings.people if kind == PERSONA else {},
        wanted=TYPED,
        least=LEAST,
        fault=fault,
    )


# -- tasks -----------------------------------------------------------------------------------------


@pages.post("/query")
def query() -> str | Response:
    """Search for the query in the form, and return to the step, which shows the results."""
    place, person, step = _at(TASK, PRACTICE)
    if person is None or step.task is None or not step.task.free:
        return to("study.show")
    typed = clean(request.form.get("q", ""))[:LONGEST]
    if not (typed and begin(place, person, step, typed)):
        page = _page("study/query.html", person, step, typed=typed, fault=NOTHING)
        return make_response(page, 400)
    return to("study.show")


@pages.post("/open")
def open_document() -> Response:
    """Record the click on a title, and return a redirection to its document."""
    place, (person, step, shown) = here(), step_and_shown()
    column, _, at = request.form.get("open", "").partition("-")
    if person is None or shown is None or not (_is_place(column) and _is_place(at)):
        return to("study.show")
    now = place.milliseconds()
    event = click(step, shown, int(column), int(at), now)
    if event is None:
        return to("study.show")
    if shown.trial.kind == RATE:
        place.ticked[person.id] = grades_in(shown.trial, request.form)
        place.forget_gone(person)
    if step.kind == TASK:
        place.store.record(person.id, [event._replace(client_timestamp=_client_time())], now)
    return to("study.document", column=int(column), at=int(at))


@pages.get("/document/<int:column>/<int:at>")
def document(column: int, at: int) -> str | Response:
    """Return the document at the place `at` of the list `column` of the current task."""
    place, person = here(), visitor()
    step = place.step_of(person) if person else None
    if person is None or step is None or step.kind not in (TASK, PRACTICE):
        return to("study.show")
    shown = shown_to(place, person, step)
    chosen = document_of(place, shown, column, at) if shown else None
    if chosen is None:
        abort(404, GONE)
    return _page(
        "study/document.html",
        person,
        step,
        column=column,
        at=at,
        title=chosen.title.strip() or chosen.id.strip() or "Untitled",
        text=text_of(chosen),
        address=web_address(chosen.url),
    )


@pages.post("/answer")
def answer() -> str | Response:
    """Keep the decision in a task, and return to the step."""
    place, (person, step, shown) = here(), step_and_shown()
    if person is None or shown is None:
        return to("study.show")
    now = place.milliseconds()
    decided = decision(step, shown, request.form, now, _client_time())
    if isinstance(decided, str):
        return make_response(_task_page(place, person, step, decided), 400)
    place.drop(person)
    place.store.answer(person.id, person.step, decided, now, last=_is_last(place, person))
    return to("study.show")


@pages.post("/form")
def form() -> str | Response:
    """Keep the answers to a form, and return to the step."""
    place, person, step = _at(FORM)
    if person is None:
        return to("study.show")
    given = read_answers(step.name, step.items, request.form, _client_time())
    if given.faults:
        page = _form_page(place, person, step, given.given, given.faults)
        return make_response(page, 400)
    now = place.milliseconds()
    place.store.answer(person.id, person.step, given.events, now, last=_is_last(place, person))
    return to("study.show")


def _task_page(place: ServedStudy, person: Participant, step: StudyStep, fault: str = "") -> str:
    shown = shown_to(place, person, step)
    if shown is None:
        return _page("study/query.html", person, step, typed="", fault=fault)
    return _page(
        "study/task.html",
        person,
        step,
        query=shown.query,
        kind=shown.trial.kind,
        device=shown.trial.blank,
        lists=lists_of(place, shown),
        letters="ABC",
        grades=GRADES,
        graded=request.form or place.ticked.get(person.id, {}),
        depth=SHOWN,
        fault=fault,
    )


def _form_page(
    _place: ServedStudy,
    person: Participant,
    step: StudyStep,
    given: Mapping[str, str] = {},
    faults: Mapping[str, str] = {},
) -> str:
    return _page(
        "study/form.html",
        person,
        step,
        items=step.items,
        field_of=field_of,
        given=given,
        faults=faults,
    )


def _end_page(place: ServedStudy, person: Participant, step: StudyStep) -> str:
    completion, is_address = completion_of(place, person)
    return _page(
        "study/end.html",
        person,
        step,
        completion=completion,
        link=web_address(completion) if is_address else "",
        proof=withdrawal_of(person),
        here=request.host_url,
    )


_SHOW: Mapping[str, Callable[[ServedStudy, Participant, StudyStep], str]] = {
    PROFILE: _profile_page,
    FORM: _form_page,
    PRACTICE: _task_page,
    TASK: _task_page,
    END: _end_page,
}


# -- withdrawal ------------------------------------------------------------------------------------


@pages.get("/withdraw")
def ask_withdrawal() -> str:
    """Return the page that asks whether somebody wants to withdraw."""
    return render_template("study/withdraw.html", known=visitor() is not None, proof="", fault="")


@pages.get("/withdraw/<proof>")
def ask_withdrawal_later(proof: str) -> str:
    """Return the same page for somebody whose link has `proof` of who they are."""
    return render_template("study/withdraw.html", known=True, proof=proof, fault="")


@pages.post("/withdraw")
def withdraw() -> Response:
    """Erase the participant that the form or the cookie names, and return a redirection."""
    place, code, proof = here(), request.form.get("code", ""), request.form.get("proof", "")
    wait = 0
    if proof:
        person = of_withdrawal(place, proof)
    elif code:
        person, wait = of_code(code)
    else:
        person = visitor()
    if person is None:
        page = render_template("study/withdraw.html", known=False, proof="", fault=WRONG)
        return make_response(page, 429 if wait else 403)
    place.forget(person)
    response = to("study.erased")
    set_cookie(response, COOKIE, "")
    return response


@pages.get("/withdrawn")
def erased() -> str:
    """Return the page for somebody who has withdrawn."""
    return render_template("study/withdrawn.html", remains=here().store.remains)


def step_and_shown() -> tuple[Participant | None, StudyStep, Shown | None]:
    """Return who sends this form, at which step they are, and what they are shown there."""
    place, person, step = _at(TASK, PRACTICE)
    return person, step, shown_to(place, person, step) if person else None


# -- parts -----------------------------------------------------------------------------------------


def _at(*kinds: str) -> tuple[ServedStudy, Participant | None, StudyStep]:
    """Return the place, who sends this form and their step; nobody if it is of another step.

    The step is one of `kinds`. A form of another step comes from an old tab or by the back button.
    """
    place, person = here(), visitor()
    step = place.step_of(person) if person else place.steps[0]
    current = person is not None and request.form.get("step") == str(person.step)
    return place, person if current and step.kind in kinds else None, step


def _is_last(place: ServedStudy, person: Participant) -> bool:
    return person.step == len(place.steps) - 2


def _is_place(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3


def _client_time() -> int | None:
    text = request.form.get("client_time", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_TIME else None


def _page(template: str, person: Participant, step: StudyStep, **values: Any) -> str:
    place = here()
    task = step.task if step.kind in (TASK, PRACTICE) else None
    plays = place.study.profile == PERSONA
    return render_template(
        template,
        step=person.step,
        steps=len(place.steps) - 1,
        practice=step.kind == PRACTICE,
        task=task,
        text=values.pop("text", prose(task.text) if task else ""),
        number=step.place + 1,
        played=place.rankings.people.get(person.person, "") if plays else "",
        whose=whose(person),
        **values,
    )


def _code_page(fault: str = "", status: int = 200, wait: int = 0) -> str | Response:
    place = here()
    if place.lets_in and not fault and not place.store.is_closed():
        return _consent_page("", "")
    page = render_template("study/code.html", fault=fault, longest_code=2 * LONGEST_CODE)
    return make_response(page, status, {"Retry-After": str(wait)} if wait else {})


def _consent_page(code: str, fault: str) -> str | Response:
    place, study = here(), here().study
    person = visitor()
    if place.store.is_closed() and not (person and person.consent):
        abort(403, CLOSED)
    return render_template(
        "study/consent.html",
        text=prose(study.consent),
        code=code,
        new="" if code or person else make_code(),
        version=study.consent_version,
        opt_ins=OPT_INS,
        fault=fault,
    )
