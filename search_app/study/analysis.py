"""What a study found: preferences between conditions, with intervals; and how many people it takes.

The unit is the participant. For each pair of conditions a participant has a score: the mean over
their tasks of 1 (the first was preferred), 0 (the second) and 1/2 (no difference). Without a
preference the mean score is 1/2. Intervals and P-values are Student's t; where several pairs are
compared, Holm's correction holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats

from ..measures.significance import holm
from .design import CHOOSE, INTERLEAVED, SIDE_BY_SIDE, Study
from .flow import TASK, steps_of
from .store import Event
from .trials import Trial, shown_conditions

PREFER, VOTE, CLICK, GRADE, ANSWER, QUERY = "prefer", "vote", "click", "grade", "answer", "query"
SAME = "same"  # the value of a preference for neither
LEVEL = 0.95
TIE = 0.5


class Judgement(NamedTuple):
    """One participant's score of one task for two conditions: 1, 0 or 1/2."""

    participant: int
    task: str
    first: str
    second: str
    score: float


class Preference(NamedTuple):
    """How much the first condition is preferred to the second, over people."""

    first: str
    second: str
    people: int
    wins: int  # judgements for the first, for the second, and for neither
    losses: int
    ties: int
    mean: float
    low: float
    high: float
    p: float  # of the mean being 1/2, before Holm's correction
    p_holm: float


def judgements(
    study: Study,
    events: Iterable[tuple[int, Event]],
    trials: Mapping[tuple[int, str], Trial],
) -> list[Judgement]:
    """Return the scores that `events` of participants give in `study`, by what `trials` showed."""
    kinds = {
        step.name: step.task.kind for step in steps_of(study) if step.kind == TASK and step.task
    }
    done: dict[tuple[int, str], list[Event]] = defaultdict(list)
    for participant, event in events:
        if event.query_id in kinds:
            done[participant, event.query_id].append(event)
    made = []
    for (participant, task), own in sorted(done.items()):
        trial = trials.get((participant, task))
        if trial is None:
            continue
        for one, other, score in _scores(kinds[task], trial, own):
            # Each pair is told in one order, that of the study's file.
            if study.conditions.index(one) < study.conditions.index(other):
                made.append(Judgement(participant, task, one, other, score))
            else:
                made.append(Judgement(participant, task, other, one, 1 - score))
    return made


def _scores(kind: str, trial: Trial, own: Sequence[Event]) -> list[tuple[str, str, float]]:
    """Return pairs of conditions of `trial` with their scores by the events `own`."""
    shown = trial.conditions
    by_action = {event.action_name: event for event in own}
    if kind == SIDE_BY_SIDE and PREFER in by_action:
        value = by_action[PREFER].value
        return [(shown[0], shown[1], TIE if value == SAME else float(value == shown[0]))]
    if kind == CHOOSE and VOTE in by_action:
        value = by_action[VOTE].value
        if value == SAME:
            return [(one, other, TIE) for one, other in combinations(shown, 2)]
        return [(value, other, 1.0) for other in shown if other != value]
    if kind == INTERLEAVED and ANSWER in by_action:
        clicked = [event.object_id for event in own if event.action_name == CLICK]
        credit = trial.credits(clicked)
        return [
            (one, other, TIE + (np.sign(credit[one] - credit[other]) / 2).item())
            for one, other in combinations(shown, 2)
        ]
    return []


def preferences(study: Study, scored: Sequence[Judgement]) -> list[Preference]:
    """Return the preference for each pair of conditions of `study` that `scored` judges."""
    by_pair: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for one in scored:
        by_pair[one.first, one.second].append(one)
    made = []
    for first, second in combinations(study.conditions, 2):
        own = by_pair.get((first, second), [])
        people: dict[int, list[float]] = defaultdict(list)
        for one in own:
            people[one.participant].append(one.score)
        means = np.array([np.mean(scores) for scores in people.values()])
        mean, low, high, p = (value.item() for value in student(means[None]))
        wins, losses, ties = (sum(one.score == value for one in own) for value in (1.0, 0.0, TIE))
        counts = (len(people), wins, losses, ties)
        made.append(Preference(first, second, *counts, mean, low, high, p, p))
    corrected = holm([one.p for one in made])
    return [one._replace(p_holm=p) for one, p in zip(made, corrected, strict=True)]


def student(scores: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, low, high and P of each row of `scores`: studies x people.

    P is two-sided, of a mean of 1/2. People who all agree leave no spread to judge by: then the
    interval is the mean, and P is that of the sign test.
    """
    from scipy.special import stdtr, stdtrit

    people = scores.shape[1]
    if not people:
        nothing = np.full(scores.shape[0], np.nan)
        return nothing, nothing, nothing, nothing
    mean: Floats = scores.mean(1)
    if people == 1:
        nothing = np.full(scores.shape[0], np.nan)
        return mean, nothing, nothing, nothing
    error = scores.std(1, ddof=1) / sqrt(people)
    reach = stdtrit(people - 1, (1 + LEVEL) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(people - 1, -np.abs(mean - TIE) / error)
    p = np.where(error > 0, p, np.where(mean == TIE, 1.0, 2.0 ** (1 - people)))
    return mean, np.maximum(mean - reach, 0), np.minimum(mean + reach, 1), p


def pairs_a_person(study: Study, order: Sequence[str]) -> dict[tuple[str, str], int]:
    """Return how many tasks of `study` compare two conditions for a person with this `order`."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for place, task in enumerate(study.tasks):
        if task.kind in (SIDE_BY_SIDE, CHOOSE, INTERLEAVED):
            shown = sorted(shown_conditions(task.kind, order, place), key=study.conditions.index)
            for pair in combinations(shown, 2):
                counts[pair] += 1
    return counts
