"""Simulated participants with a known preference: what a study can find, before anybody is asked.

A simulated person compares two conditions and decides for the preferred one with the chance
`effect`; .5 is no preference. All other choices are even. Whole studies are simulated by the
thousand, only their scores. `play` lets simulated people take part in a real study folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats

from .analysis import ANSWER, CLICK, GRADE, PREFER, TIE, VOTE, pairs_a_person, student
from .design import CHOICE, CHOOSE, INTERLEAVED, LIKERT, NUMBER, RATE, SIDE_BY_SIDE, Item, Study
from .flow import CONSENT, END, FORM, PRACTICE, PROFILE, Step, steps_of
from .store import Event, StudyStore
from .trials import GRADES, SHOWN, Trial, make_trial, shown_conditions

ALPHA = 0.05
CLICKS = 3  # a simulated person's, on an interleaved list
MINUTES_A_STEP = 1.0  # beyond the time that tasks allow
_SIGN_IN = 1


class Power(NamedTuple):
    """How often simulated studies found a preference at the 5 % level."""

    people: int
    effect: float
    found: float


def planned(study: Study, people: int) -> tuple[tuple[str, str], int]:
    """Return the pair of conditions that `people` of `study` compare least, and how often each.

    The number is of tasks a person, rounded down.
    """
    counts = dict.fromkeys(combinations(study.conditions, 2), 0)
    cells = study.cells
    for person in range(people):
        order = [study.conditions[number] for number in cells[person % len(cells)]]
        for pair, count in pairs_a_person(study, order).items():
            counts[pair] += count
    pair = min(counts, key=lambda pair: counts[pair])
    return pair, counts[pair]


def power(
    scores_of: Callable[[int, np.random.Generator], Floats],
    people: int,
    effect: float,
    rng: np.random.Generator,
    studies: int = 10_000,
) -> Power:
    """Return how often `studies` studies of `people` find `effect`; `scores_of` draws scores."""
    scores = np.stack([scores_of(studies, rng) for _ in range(people)], axis=1)
    p = student(scores)[3]
    return Power(people, effect, float(np.mean(p < ALPHA)))


def drawn_scores(
    kind: str, tasks: int, effect: float
) -> Callable[[int, np.random.Generator], Floats]:
    """Return a function that draws mean scores of people who do `tasks` tasks of `kind`.

    Each compares two conditions; the first is preferred with the chance `effect`.
    """

    def draw(count: int, rng: np.random.Generator) -> Floats:
        if kind == INTERLEAVED:
            wins = rng.binomial(CLICKS, effect, (count, tasks))
            return (TIE + np.sign(2 * wins - CLICKS) / 2).mean(1)
        return rng.binomial(tasks, effect, count) / tasks

    return draw


def play(
    study: Study,
    store: StudyStore,
    count: int,
    rankings_of: Callable[[str, np.random.Generator], Mapping[str, Sequence[str]]],
    rng: np.random.Generator,
    now: int,
    effect: float = TIE,
) -> int:
    """Let `count` simulated people take part in `study`; return how many finished.

    They prefer its first condition with the chance `effect`. `rankings_of` ranks a query by
    condition for a person who is drawn; `now` is in seconds.
    """
    steps, cells = steps_of(study), study.cells
    finished = 0
    for code in store.invite(count):
        participant = store.of_code(str(code))
        if participant is None:
            continue
        number = participant.id
        patience = 60 * study.minutes
        store.consent(number, study.consent_version, (), len(cells), now, patience)
        joined = store.of_code(str(code))
        cell = joined.cell if joined and joined.cell is not None else 0
        order = [study.conditions[at] for at in cells[cell]]
        for at, step in enumerate(steps):
            if step.kind in (CONSENT, END):
                continue
            events = _events(study, store, number, step, order, rankings_of, rng, now, effect)
            last = at == len(steps) - 2
            finished += store.answer(number, at, events, 1000 * now, last=last) and last
    return finished


def _events(
    study: Study,
    store: StudyStore,
    number: int,
    step: Step,
    order: Sequence[str],
    rankings_of: Callable[[str, np.random.Generator], Mapping[str, Sequence[str]]],
    rng: np.random.Generator,
    now: int,
    effect: float,
) -> list[Event]:
    """Return what a simulated person does at `step`."""
    if step.kind in (PROFILE, PRACTICE):
        return []
    if step.kind == FORM:
        return [_answered(step.name, item, rng) for item in step.items]
    task = step.task
    if task is None:
        return []
    conditions = shown_conditions(task.kind, order, step.place)
    trial = make_trial(task.kind, conditions, rankings_of(task.query or "java", rng), rng)
    store.keep_trial(number, task.id, trial.as_record(), "", 1000 * now)
    return decided(task.id, trial, study.conditions[0], effect, rng)


def decided(
    task: str, trial: Trial, favourite: str, effect: float, rng: np.random.Generator
) -> list[Event]:
    """Return what a person does in `task`, who likes `favourite` with the chance `effect`."""
    shown = trial.conditions
    chance = [effect if one == favourite else 1 - effect for one in shown]
    if favourite not in shown:
        chance = [1.0] * len(shown)
    weights = np.array(chance) / sum(chance)
    if trial.kind == SIDE_BY_SIDE:
        return [Event(task, PREFER, value=str(rng.choice(shown, p=weights)))]
    if trial.kind == CHOOSE:
        return [Event(task, VOTE, value=str(rng.choice(shown, p=weights)))]
    if trial.kind == RATE:
        grades = rng.choice(GRADES, len(trial.lists[0])).tolist()
        numbered = enumerate(zip(trial.lists[0], grades, strict=True), 1)
        return [Event(task, GRADE, doc, at, value=str(grade)) for at, (doc, grade) in numbered]
    places = trial.places()
    of_team = [weights[shown.index(condition)] for _, _, condition in places]
    clicks = min(CLICKS, len(places))
    clicked = rng.choice(len(places), clicks, False, np.array(of_team) / sum(of_team)).tolist()
    events = [Event(task, CLICK, places[at][0], places[at][1], places[at][2]) for at in clicked]
    return [*events, Event(task, ANSWER)]


def _answered(name: str, item: Item, rng: np.random.Generator) -> Event:
    value = {
        LIKERT: str(int(rng.integers(1, item.points + 1))),
        CHOICE: str(rng.choice(item.choices)) if item.choices else "",
        NUMBER: str(int(rng.integers(0, 100))),
    }.get(item.type, "simulated")
    return Event(name, ANSWER, item.id, value=value)


def minutes(study: Study) -> float:
    """Return how many minutes a participant needs at most in `study`."""
    steps = steps_of(study)
    seconds = sum(task.seconds for task in study.tasks)
    return seconds / 60 + MINUTES_A_STEP * sum(step.kind == FORM for step in steps) + SHOWN / 10
