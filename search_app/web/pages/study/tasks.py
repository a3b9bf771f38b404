"""What a task shows, and what a participant does in it; no page names a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from index.forward.texts import Opening
from index.model import Document

from ....search.snippet import stems
from ....study.analysis import ANSWER, CLICK, GRADE, PREFER, QUERY, SAME, VOTE
from ....study.design import CHOOSE, INTERLEAVED, KEEP_QUERIES, RATE, SIDE_BY_SIDE, Task
from ....study.flow import PRACTICE, StudyStep
from ....study.store import Event, Participant
from ....study.trials import (
    GRADES,
    SHOWN,
    Trial,
    blank_trial,
    generator,
    is_mean_grade,
    make_trial,
    shown_conditions,
)
from ...views.results import DocumentCard, card
from .place import ServedStudy

GONE = "This document is no longer here."
CHOOSE_ONE = "Please choose one of the answers."
GRADE_ONE = "Please grade at least one of the results."


class Shown(NamedTuple):
    """A task as a participant sees it."""

    trial: Trial
    query: str  # empty if it was typed, is not kept, and the server started again
    since: int  # milliseconds


class PlacedCard(NamedTuple):
    """A result at its place of a list."""

    place: int
    card: DocumentCard | None


def shown_to(place: ServedStudy, person: Participant, step: StudyStep) -> Shown | None:
    """Return what `person` sees at `step`; None if they have to type a query first."""
    task = _task(step)
    kept = place.store.trial(person.id, step.name)
    if kept is None:
        if task.free:
            return None
        begin(place, person, step, task.query)
        kept = place.store.trial(person.id, step.name)
    if kept is None:  # they have withdrawn meanwhile
        return None
    record, text, since = kept
    trial = Trial.of(record)
    now_typed = place.typed.get(person.id, ("", ""))
    typed = now_typed[1] if now_typed[0] == step.name else ""
    query = task.query or text or typed
    if trial.blank and not query:  # it was typed before the server started: a device needs it
        return None
    return Shown(trial, query, since)


def begin(place: ServedStudy, person: Participant, step: StudyStep, query: str) -> bool:
    """Let `person` begin `step` with `query`; return whether it has results."""
    study, task, now = place.study, _task(step), place.milliseconds()
    order = [study.conditions[at] for at in study.cells[person.cell or 0]]
    shown, draws = shown_conditions(task.kind, order, step.place), generator(person.seed, step.name)
    # The rankings of all conditions are made for every task: the time shows no condition.
    if study.device:
        plain = place.rank(query, ("none",), "", {})["none"]
        trial = blank_trial(task.kind, shown, len(plain), draws)
    else:
        ranked = place.rank(query, study.conditions, person.person, person.profile)
        trial = make_trial(task.kind, shown, ranked, draws)
    trial = place.slides.get(step.name, trial)
    if task.free:
        if not any(trial.lists):
            return False
        place.store.record(person.id, [Event(step.name, QUERY)], now)
    kept = query if task.free and KEEP_QUERIES in person.opt_ins else ""
    first = place.store.keep_trial(person.id, step.name, trial.as_record(), kept, now)
    lost = trial.blank and place.typed.get(person.id, ("", ""))[0] != step.name
    # The results that are kept are those of the first query, whatever another tab sends.
    if task.free and (first or lost):
        place.typed[person.id] = step.name, query
    place.forget_gone(person)
    return True


def lists_of(place: ServedStudy, shown: Shown) -> list[list[PlacedCard]]:
    """Return the lists that `shown` has, from the left, each result at its place."""
    if shown.trial.blank:
        return _blank_lists(shown.trial)
    names = list(dict.fromkeys(name for names in shown.trial.lists for name in names))
    wanted = stems(shown.query)
    cards = {
        name: None if document is None else card(0, Opening.of(document), wanted)
        for name, document in zip(names, place.rankings.documents(names), strict=True)
    }
    return [
        [PlacedCard(at, cards[name]) for at, name in enumerate(names, 1)]
        for names in shown.trial.lists
    ]


def _blank_lists(trial: Trial) -> list[list[PlacedCard]]:
    """Return the lists of `trial` without documents, which a device fills in."""
    # How many documents its rankings share is known to the device only.
    most = SHOWN * len(trial.conditions)
    sizes = [most] if trial.kind == RATE else map(len, trial.lists)
    return [[PlacedCard(at, None) for at in range(1, size + 1)] for size in sizes]


def document_of(place: ServedStudy, shown: Shown, column: int, at: int) -> Document | None:
    """Return the document at the place `at` of the list `column` of `shown`, both from 1."""
    there = _is_there(shown.trial, column, at)
    return place.rankings.documents([shown.trial.lists[column - 1][at - 1]])[0] if there else None


def _is_there(trial: Trial, column: int, at: int) -> bool:
    return 1 <= column <= len(trial.lists) and 1 <= at <= len(trial.lists[column - 1])


def click(step: StudyStep, shown: Shown, column: int, at: int, now: int) -> Event | None:
    """Return the click on the place `at` of the list `column` of `shown`; None if nothing is there.

    `now` is in milliseconds.
    """
    trial = shown.trial
    if not _is_there(trial, column, at):
        return None
    before = sum(map(len, trial.lists[: column - 1]))
    document, position, condition = trial.places()[before + at - 1]
    late = _is_late(step, shown, now)
    return Event(step.name, CLICK, document, position, condition, late=late)


def decision(
    step: StudyStep, shown: Shown, form: Mapping[str, str], now: int, client: int | None
) -> list[Event] | str:
    """Return the events by which `form` answers what is `shown`, or a sentence on what it lacks.

    `now` is in milliseconds, as is `client`, the time of the person's device.
    """
    trial, late = shown.trial, _is_late(step, shown, now)
    if step.kind == PRACTICE:
        return []
    if trial.kind == INTERLEAVED:
        return [Event(step.name, ANSWER, late=late, client_timestamp=client)]
    if trial.kind == RATE:
        grades = (means_in if trial.blank else grades_in)(trial, form)
        return [
            Event(step.name, GRADE, document, at, condition, grade, late, client)
            for document, at, condition in trial.places()
            if (grade := grades.get(f"grade-{at}"))
        ] or GRADE_ONE
    columns = {str(at): condition for at, condition in enumerate(trial.conditions, 1)}
    value = {**columns, SAME: SAME}.get(form.get("choice", ""))
    action = {SIDE_BY_SIDE: PREFER, CHOOSE: VOTE}[trial.kind]
    if value is None:
        return CHOOSE_ONE
    return [Event(step.name, action, value=value, late=late, client_timestamp=client)]


def grades_in(trial: Trial, form: Mapping[str, str]) -> dict[str, str]:
    """Return the grades of documents of `trial` in `form`, by the names of its fields."""
    names = (f"grade-{at}" for _, at, _ in trial.places())
    allowed = {str(grade) for grade in GRADES}
    return {name: grade for name in names if (grade := form.get(name, "")) in allowed}


def means_in(trial: Trial, form: Mapping[str, str]) -> dict[str, str]:
    """Return the mean grades that a device gives in `form`, by the names of its fields."""
    names = (f"grade-{at}" for _, at, _ in trial.places())
    return {name: mean for name in names if is_mean_grade(mean := form.get(name, ""))}


def text_of(document: Document, longest: int = 20_000) -> Markup:
    """Return the first `longest` characters of the text of `document` as paragraphs."""
    text = document.text[:longest] + (" …" if len(document.text) > longest else "")
    parts = (part.strip() for part in text.split("\n\n"))
    return Markup("\n").join(Markup("<p>%s</p>") % part for part in parts if part)


def _is_late(step: StudyStep, shown: Shown, now: int) -> bool:
    return now > shown.since + 1000 * _task(step).seconds


def _task(step: StudyStep) -> Task:
    if step.task is None:
        raise TypeError("only a task shows results")
    return step.task
