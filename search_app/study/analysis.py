"""What a study found: preferences between conditions, with intervals.

The unit is the participant. For each pair of conditions a participant has a score: the mean over
their tasks of 1 (the first was preferred), 0 (the second) and 1/2 (no difference). Where they grade
documents, the score is 1/2 plus half of the difference of mean grades. Without a preference the
mean score is 1/2. Intervals and P-values are Student's t, or Welch's if each person meets one
condition. Where several pairs are compared, Holm's correction holds.

Strengths of three or more conditions are those of Bradley and Terry (1952), fitted by the
algorithm of Hunter (2004), with intervals by resampling people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import log2
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats

from ..measures.significance import holm
from .design import BETWEEN, CHOOSE, INTERLEAVED, RATE, SIDE_BY_SIDE, Study
from .flow import TASK, steps_of
from .store import Event
from .trials import GRADES, Trial

PREFER, VOTE, CLICK, GRADE, ANSWER, QUERY = "prefer", "vote", "click", "grade", "answer", "query"
SAME = "same"  # the value of a preference for neither
LEVEL = 0.95
TIE = 0.5
RESAMPLES = 1000
_STEPS = 200  # of the algorithm, after which strengths don't change any more
# People who agree on 0.1 have a mean of 0.1 and a bit: that bit is no spread.
_DECIMALS = 12


class Judgement(NamedTuple):
    """One participant's score of one task for two conditions, from 0 to 1.

    Where each person meets one condition, `second` is empty, and the score is the mean grade.
    """

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
        if trial is None or not {*trial.conditions} <= {*study.conditions}:
            continue  # the file was changed after people took part
        for one, other, score in scores(trial, own):
            # Each pair is told in one order, that of the study's file.
            if not other or study.conditions.index(one) < study.conditions.index(other):
                made.append(Judgement(participant, task, one, other, score))
            else:
                made.append(Judgement(participant, task, other, one, 1 - score))
    return made


def scores(trial: Trial, own: Sequence[Event]) -> list[tuple[str, str, float]]:
    """Return pairs of conditions of `trial` with their scores by the events `own`."""
    kind, shown = trial.kind, trial.conditions
    by_action = {event.action_name: event for event in own}
    if kind == SIDE_BY_SIDE and PREFER in by_action:
        value = by_action[PREFER].value
        return [(shown[0], shown[1], TIE if value == SAME else float(value == shown[0]))]
    if kind == CHOOSE and VOTE in by_action:
        value = by_action[VOTE].value
        # A vote for none says that no pair differs.
        if value == SAME:
            return [(one, other, TIE) for one, other in combinations(shown, 2)]
        # Between two that lost the vote says nothing.
        return [(value, other, 1.0) for other in shown if other != value]
    if kind == INTERLEAVED and ANSWER in by_action:
        clicked = [event.object_id for event in own if event.action_name == CLICK]
        credit = trial.credits(clicked)
        return [
            (one, other, TIE + (np.sign(credit[one] - credit[other]) / 2).item())
            for one, other in combinations(shown, 2)
        ]
    return _graded(trial, own) if kind == RATE else []


def _graded(trial: Trial, own: Sequence[Event]) -> list[tuple[str, str, float]]:
    given = {one.object_id: float(one.value) for one in own if one.action_name == GRADE}
    means = mean_grades(trial, given)
    if len(trial.conditions) == 1:
        return [(condition, "", mean) for condition, mean in means.items()]
    return [(a, b, TIE + (means[a] - means[b]) / 2) for a, b in combinations(means, 2)]


def mean_grades(trial: Trial, grades: Mapping[str, float]) -> dict[str, float]:
    """Return the mean of `grades` in each ranking of `trial`, weighted by 1 / log2(place + 1).

    The best grade counts 1. Documents without a grade don't count, nor rankings without one.
    """
    made = {}
    for condition, documents in trial.rankings().items():
        graded = [(1 / log2(place + 1), grades[one]) for place, one in enumerate(documents, 1)
                  if one in grades]  # fmt: skip
        if graded:
            weight = sum(one for one, _ in graded)
            made[condition] = sum(one * grade for one, grade in graded) / weight / max(GRADES)
    return made


def preferences(study: Study, scored: Sequence[Judgement]) -> list[Preference]:
    """Return the preference for each pair of conditions of `study` that `scored` judges."""
    by_pair: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for one in scored:
        by_pair[one.first, one.second].append(one)
    made = []
    for first, second in combinations(study.conditions, 2):
        if study.design == BETWEEN:
            made.append(_compared(first, second, by_pair[first, ""], by_pair[second, ""]))
            continue
        own = by_pair[first, second]
        means = np.array(_person_means(own))
        mean, low, high, p = (value.item() for value in student(means[None]))
        wins, losses = (sum(sign * (one.score - TIE) > 0 for one in own) for sign in (1, -1))
        counts = (means.size, wins, losses, len(own) - wins - losses)
        made.append(Preference(first, second, *counts, mean, low, high, p, p))
    # Each further pair is another chance to find something where nothing is.
    corrected = holm([one.p for one in made])
    return [one._replace(p_holm=p) for one, p in zip(made, corrected, strict=True)]


def _person_means(own: Iterable[Judgement]) -> list[float]:
    people: dict[int, list[float]] = defaultdict(list)
    for one in own:
        people[one.participant].append(one.score)
    return [float(np.mean(values)) for values in people.values()]


def _compared(
    first: str, second: str, own: Sequence[Judgement], others: Sequence[Judgement]
) -> Preference:
    """Return the preference for `first` by mean grades of two sets of people."""
    groups = [np.array(_person_means(part)) for part in (own, others)]
    people = sum(group.size for group in groups)
    mean, low, high, p = (value.item() for value in welch(groups[0][None], groups[1][None]))
    return Preference(first, second, people, 0, 0, 0, mean, low, high, p, p)


def student(scores: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, low, high and P of each row of `scores`: studies x people; NaN: no score.

    P is two-sided, of a mean of 1/2. People who all agree leave no spread to judge by: then the
    interval is the mean, and P is that of the sign test.
    """
    people, mean, variance = _moments(scores)
    with np.errstate(invalid="ignore"):  # nobody
        error = np.sqrt(variance / people)
    mean, low, high, p = _intervals(mean, error, people - 1)
    # Student's t needs a spread; the sign test does not.
    agreed = np.where(mean == TIE, 1.0, 2.0 ** (1 - people))
    return mean, low, high, np.where((error > 0) | (people < 2), p, agreed)


def welch(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, low, high and P of 1/2 + half the difference of the means of two sets of people.

    Each row of `first` and `second` is a study.
    """
    (n, one, spread), (m, other, wide) = _moments(first), _moments(second)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = spread / n, wide / m
        freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    return _intervals(TIE + (one - other) / 2, np.sqrt(a + b) / 2, freedom)


def _moments(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how many people have one of `scores`, their mean and variance, for each row."""
    known = ~np.isnan(scores)
    people = known.sum(1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, scores, 0).sum(1) / people
        away = np.where(known, np.round(scores - mean[:, None], _DECIMALS), 0)
        return people, np.round(mean, _DECIMALS), (away**2).sum(1) / (people - 1)


def _intervals(
    mean: Floats, error: Floats, freedom: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        reach = stdtrit(freedom, (1 + LEVEL) / 2) * error
        p = 2 * stdtr(freedom, -np.abs(mean - TIE) / error)
    return mean, np.maximum(mean - reach, 0), np.minimum(mean + reach, 1), p


def strengths(
    study: Study, scored: Sequence[Judgement], seed: int = 0
) -> dict[str, tuple[float, float, float]]:
    """Return the Bradley-Terry strength of each condition of `study`, with its 95 % interval.

    Strengths add up to 1. A condition is preferred to another one with the chance of its share in
    the sum of both. `seed` draws the people of 1,000 resamples. Without judgements: nothing.
    """
    number = {
        who: at for at, who in enumerate({one.participant: 0 for one in scored if one.second})
    }
    people = len(number)
    if not people:
        return {}
    place = {name: at for at, name in enumerate(study.conditions)}
    wins = np.zeros((people, len(place), len(place)))
    for one in scored:
        if one.second:
            who, a, b = number[one.participant], place[one.first], place[one.second]
            wins[who, a, b] += one.score
            wins[who, b, a] += 1 - one.score
    # People are drawn, not judgements: those of one person are alike.
    drawn = np.random.default_rng(seed).integers(people, size=(RESAMPLES, people))
    counts = np.stack([np.bincount(row, minlength=people) for row in drawn]).astype(float)
    whole = _fitted(wins.sum(0)[None])[0]
    low, high = np.percentile(_fitted(np.einsum("rp,pab->rab", counts, wins)), [2.5, 97.5], axis=0)
    return {name: (float(whole[at]), float(low[at]), float(high[at])) for name, at in place.items()}


def _fitted(wins: Floats) -> Floats:
    """Return the strengths for each matrix of `wins`; half a win each way keeps all finite."""
    size = wins.shape[1]
    wins = wins + (1 - np.eye(size)) / 2
    met, strength = wins + wins.transpose(0, 2, 1), np.full(wins.shape[:2], 1 / size)
    for _ in range(_STEPS):
        both = strength[:, :, None] + strength[:, None, :]
        strength = wins.sum(2) / (met / both).sum(2)
        strength /= strength.sum(1, keepdims=True)
    return strength
