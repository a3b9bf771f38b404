"""Simulated participants with a known preference: what a study can find, before anybody is asked.

A simulated person has no preference in a task with the chance NEITHER. Else they decide for the
favourite condition, against any other one, with the chance `effect`; .5 is no preference. Their
choices follow the model of Bradley and Terry, their clicks prefer the favourite's documents alike,
and their grades prefer its ranking. `play` lets them take part in a study; `found` simulates whole
studies by the thousand, only their scores, from the exact chances of each score.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats

from .analysis import (
    ANSWER,
    CLICK,
    GRADE,
    LEVEL,
    PREFER,
    SAME,
    TIE,
    VOTE,
    mean_grades,
    scores,
    student,
    welch,
)
from .design import (
    BETWEEN,
    CHOICE,
    CHOOSE,
    INTERLEAVED,
    LIKERT,
    NUMBER,
    RATE,
    SIDE_BY_SIDE,
    FormItem,
    Study,
)
from .flow import CONSENT, END, PROFILE, TASK, steps_of
from .store import Event, StudyStore
from .trials import GRADES, SHOWN, Trial, generator, make_trial, shown_conditions

ALPHA = 1 - LEVEL
STUDIES = 10_000  # simulated ones
NEITHER = 0.2
CLICKS = 3  # a simulated person's, on an interleaved list
MOST = 100_000  # people that a plan may need
_SECONDS_A_QUESTION = 10
_SECONDS_TO_BEGIN = 180  # to read the consent and to give a profile
_GRADED = 500  # lists whose grades are drawn, for the chances of their scores
_POOL = 15  # documents of these lists together
_LEAST = 1e-6  # liking, so that the least liked can be clicked when nothing else is left
_AT_ONCE = 1 << 22  # scores in memory

Pair = tuple[str, str]
Rank = Callable[[str], Mapping[str, Sequence[str]]]  # a query, by condition


class Chances(NamedTuple):
    """The scores that a person may give in a task, and their chances; NaN: no score."""

    scores: Floats
    chances: Floats


# -- what one person does --------------------------------------------------------------------------


def likings(conditions: Sequence[str], favourite: str, effect: float) -> Floats:
    """Return how much each of `conditions` is liked: a choice of two follows their shares."""
    # Nothing shown is the favourite, so any choice is as good.
    if favourite not in conditions:
        return np.ones(len(conditions))
    effect = min(max(effect, _LEAST), 1 - _LEAST)
    return np.array([effect if one == favourite else 1 - effect for one in conditions])


def decided(
    task: str, trial: Trial, favourite: str, effect: float, rng: np.random.Generator
) -> list[Event]:
    """Return what a person does in `task`, who prefers `favourite` with the chance `effect`."""
    shown = trial.conditions
    # Ties of real people lower the power, so simulated people are undecided at times, too.
    liked = likings(shown, favourite, effect)
    if trial.kind in (SIDE_BY_SIDE, CHOOSE):
        neither = rng.random() < NEITHER
        value = SAME if neither else str(rng.choice(shown, p=liked / liked.sum()))
        return [Event(task, PREFER if trial.kind == SIDE_BY_SIDE else VOTE, value=value)]
    if trial.kind == RATE:
        grades = _graded(trial, favourite, effect, rng)
        return [
            Event(task, GRADE, one, at, value=str(grades[one])) for one, at, _ in trial.places()
        ]
    places_of = trial.places()
    if not places_of:  # nothing was found
        return [Event(task, ANSWER)]
    weights = np.array([liked[shown.index(condition)] for _, _, condition in places_of])
    clicks = min(CLICKS, len(places_of))
    clicked = rng.choice(len(places_of), clicks, replace=False, p=weights / weights.sum())
    events = [Event(task, CLICK, *places_of[at]) for at in clicked.tolist()]
    return [*events, Event(task, ANSWER)]


def _graded(
    trial: Trial, favourite: str, effect: float, rng: np.random.Generator
) -> dict[str, int]:
    """Return a grade of each document of `trial`; grades are even but for which ranking they like.

    With the chance `effect` they like `favourite`. Where they don't, the best grade is the worst.
    """
    grades = dict(
        zip(trial.lists[0], rng.choice(GRADES, len(trial.lists[0])).tolist(), strict=True)
    )
    likes = rng.random() < (effect if favourite in trial.conditions else 1 - effect)
    # Turning all grades round keeps how often each is given.
    lead = _lead(trial, grades, favourite)
    if lead and likes != (lead > 0):
        return {document: GRADES[-1] - grade for document, grade in grades.items()}
    return grades


def _lead(trial: Trial, grades: Mapping[str, int], favourite: str) -> float:
    """Return by how much `grades` prefer the favourite to the others; alone: to the middle."""
    means = mean_grades(trial, grades)
    if len(means) == 1:
        return sum(means.values()) - TIE
    if favourite not in means:
        return 0.0
    rest = [mean for condition, mean in means.items() if condition != favourite]
    return means[favourite] - sum(rest) / len(rest)


# -- a simulated run of the study ------------------------------------------------------------------


def play(
    study: Study,
    store: StudyStore,
    count: int,
    ranker: Callable[[np.random.Generator], tuple[str, Rank]],
    rng: np.random.Generator,
    now: int,
    effect: float = TIE,
) -> int:
    """Let `count` simulated people take part in `study`; return how many finished.

    They prefer its first condition with the chance `effect`, and tick every opt-in. `ranker` draws
    a person and returns who it is and how queries are ranked for them; `now` is in seconds.
    """
    steps, cells = steps_of(study), study.cells
    finished = 0
    store.note_simulated(count)
    for code in store.invite(count):
        person = store.of_code(str(code))
        if person is None:
            continue
        # The way of a real participant, so that cells are dealt as they will be.
        patience = 60 * study.minutes
        store.consent(person.id, study.consent_version, study.opt_ins, len(cells), now, patience)
        joined = store.of_code(str(code))
        cell = joined.cell if joined and joined.cell is not None else 0
        order = [study.conditions[at] for at in cells[cell]]
        who, rank = ranker(rng)
        for at, step in enumerate(steps):
            if step.kind == PROFILE:
                store.set_profile(person.id, at, who, {}, 1000 * now)
            elif step.kind not in (CONSENT, END):
                events = [_answered(step.name, item, rng) for item in step.items]
                if step.kind == TASK and step.task:
                    conditions = shown_conditions(step.task.kind, order, step.place)
                    draws = generator(person.seed, step.name)
                    ranked = rank(step.task.query)
                    trial = make_trial(step.task.kind, conditions, ranked, draws)
                    store.keep_trial(person.id, step.name, trial.as_record(), "", 1000 * now)
                    events = decided(step.name, trial, study.conditions[0], effect, rng)
                last = at == len(steps) - 2
                finished += store.answer(person.id, at, events, 1000 * now, last=last) and last
    return finished


def _answered(name: str, item: FormItem, rng: np.random.Generator) -> Event:
    value = {
        LIKERT: str(int(rng.integers(1, item.points + 1))),
        CHOICE: str(rng.choice(item.choices)) if item.choices else "",
        NUMBER: str(int(rng.integers(0, 100))),
    }.get(item.type, "simulated")
    return Event(name, ANSWER, item.id, value=value)


# -- thousands of simulated studies ----------------------------------------------------------------


@lru_cache
def chances(
    kind: str, shown: tuple[str, ...], pair: Pair, favourite: str, effect: float
) -> Chances:
    """Return the chances of each score of `pair` in a task of `kind` that compares those `shown`.

    `favourite` is preferred with the chance `effect`. If `pair` is (condition, ""), the score is
    the mean grade of the condition.
    """
    liked = likings(shown, favourite, effect)
    if kind == RATE:
        return _grade_chances(shown, pair, favourite, effect)
    one, other = shown.index(pair[0]), shown.index(pair[1])
    if kind == INTERLEAVED:
        wins, losses = _click_chances(liked, one, other)
        return Chances(np.array([1, 0, TIE]), np.array([wins, losses, 1 - wins - losses]))
    votes = (1 - NEITHER) * liked / liked.sum()
    rest = max(1 - NEITHER - votes[one] - votes[other], 0.0)  # for a third one
    return Chances(
        np.array([1, 0, TIE, np.nan]), np.array([votes[one], votes[other], NEITHER, rest])
    )


def _click_chances(liked: Floats, one: int, other: int) -> tuple[float, float]:
    """Return the chances of more clicks for the team `one` than for `other`, and of fewer."""
    teams = liked.size
    wins = losses = 0.0
    drafts = [*combinations(range(teams), SHOWN % teams)]  # who brings one more in the last round
    for more in drafts:
        counts = np.array([SHOWN // teams + (team in more) for team in range(teams)], dtype=float)
        for lead, chance in _after_clicks(counts * liked, liked, (one, other), CLICKS).items():
            wins += chance / len(drafts) * (lead > 0)
            losses += chance / len(drafts) * (lead < 0)
    return wins, losses


def _after_clicks(
    left: Floats, liked: Floats, pair: tuple[int, int], clicks: int
) -> dict[int, float]:
    """Return the chance of each lead of the first of `pair` after `clicks` on what is `left`."""
    if not clicks:
        return {0: 1.0}
    ends: dict[int, float] = {}
    for team in np.flatnonzero(left > 1e-9).tolist():
        rest = left.copy()
        rest[team] -= liked[team]
        step = (team == pair[0]) - (team == pair[1])
        for lead, chance in _after_clicks(rest, liked, pair, clicks - 1).items():
            ends[lead + step] = ends.get(lead + step, 0.0) + chance * left[team] / left.sum()
    return ends


def _grade_chances(shown: Sequence[str], pair: Pair, favourite: str, effect: float) -> Chances:
    """Return the chances of scores by grades of random rankings; as good grades as bad ones."""
    rng = np.random.default_rng(len(shown))
    likes = effect if favourite in shown else 1 - effect
    values, weights = [], []
    pool = [str(number) for number in range(_POOL)]
    for _ in range(_GRADED):
        ranked = {one: rng.permutation(pool).tolist() for one in shown}
        trial = make_trial(RATE, shown, ranked, rng)
        grades = _graded(trial, "", TIE, rng)
        lead = _lead(trial, grades, favourite)
        for mirrored in (False, True):
            given = {d: GRADES[-1] - g if mirrored else g for d, g in grades.items()}
            made = scores(trial, [Event("", GRADE, d, value=str(g)) for d, g in given.items()])
            values += [_of_pair(made, pair)]
            weights += [TIE if not lead else likes if (lead > 0) != mirrored else 1 - likes]
    return Chances(np.array(values), np.array(weights) / sum(weights))


def _of_pair(made: Sequence[tuple[str, str, float]], pair: Pair) -> float:
    """Return the score of `pair` among those `made`, in whatever order it stands there."""
    for one, other, score in made:
        if (one, other) == pair:
            return score
        if (other, one) == pair:
            return 1 - score
    return np.nan


class Simulator:
    """Simulates a pair of conditions of a study, with tasks of `kind` or, if empty, of all."""

    def __init__(self, study: Study, pair: Pair, effect: float, kind: str = ""):
        self._groups = [  # by cell: the chances of each task, in each set of people to compare
            [_of_cell(study, cell, wanted, effect, kind) for cell in study.cells]
            for wanted in ([(one, "") for one in pair] if study.design == BETWEEN else [pair])
        ]
        self._test = welch if study.design == BETWEEN else student

    @property
    def able(self) -> bool:
        """Return whether a task compares the pair."""
        return all(any(cells) for cells in self._groups)

    def found(self, people: int, seed: int = 0, studies: int = STUDIES) -> float:
        """Return the share of `studies` with this many `people` that find a preference."""
        rng, done = np.random.default_rng([seed, people]), 0
        step = max(_AT_ONCE // people, 1)
        for start in range(0, studies, step):
            some = min(step, studies - start)
            drawn = [self._scores(cells, people, some, rng) for cells in self._groups]
            done += int((self._test(*drawn)[3] < ALPHA).sum())
        return done / studies

    def _scores(
        self,
        cells: Sequence[Sequence[Chances]],
        people: int,
        studies: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Return the mean score of each person in each of `studies`; NaN: they have none."""
        parts = [np.full((studies, 0), np.nan)]
        for number, tasks in enumerate(cells):
            count = people // len(cells) + (number < people % len(cells))
            if not tasks or not count:
                continue
            drawn = np.stack([rng.choice(t.scores, (studies, count), p=t.chances) for t in tasks])
            known = ~np.isnan(drawn)
            with np.errstate(invalid="ignore"):
                parts.append(np.where(known, drawn, 0).sum(0) / known.sum(0))
        return np.concatenate(parts, axis=1)

    def planned(self, people: int) -> float:
        """Return the power with this many `people` by the noncentral t distribution."""
        from scipy.special import nctdtr, stdtrit

        shares, means, variances = zip(*map(_moments, self._groups), strict=True)
        sizes = [people * share for share in shares]
        error = sqrt(sum(v / n for v, n in zip(variances, sizes, strict=True))) / len(means)
        away = abs(means[0] - (TIE if len(means) == 1 else means[1])) / len(means)
        freedom = max(sum(sizes) - len(sizes), 1.0)
        bound = stdtrit(freedom, (1 + LEVEL) / 2)
        far, near = (nctdtr(freedom, away / error, sign * bound) for sign in (1, -1))
        return float(1 - far + near)

    def needed(self, power: float = 0.8) -> int | None:
        """Return how many people give this `power`; None if MOST are too few."""
        if self.planned(MOST) < power:
            return None
        return 2 + bisect_left(range(2, MOST), power, key=self.planned)


def _moments(cells: Sequence[Sequence[Chances]]) -> tuple[float, float, float]:
    """Return the share of people with a score, and mean and variance of their mean scores.

    `cells` have equally many people, who do the tasks of their cell.
    """
    total = np.zeros(3)
    for tasks in cells:
        # By the number of scores so far: the chance, and the parts of sum and sum of squares in it.
        by_count = np.zeros((len(tasks) + 1, 3))
        by_count[0, 0] = 1
        for scores_of, chances_of in tasks:
            known = ~np.isnan(scores_of)
            some = [scores_of[known] ** power @ chances_of[known] for power in range(3)]
            chance, parts, squares = by_count.T.copy()
            by_count *= 1 - some[0]
            by_count[1:, 0] += some[0] * chance[:-1]
            by_count[1:, 1] += some[0] * parts[:-1] + some[1] * chance[:-1]
            squared = some[0] * squares[:-1] + 2 * some[1] * parts[:-1] + some[2] * chance[:-1]
            by_count[1:, 2] += squared
        counts = np.arange(1, len(tasks) + 1)
        total += [(by_count[1:, power] / counts**power).sum() for power in range(3)]
    share, mean, square = total / (len(cells), total[0], total[0])
    return float(share), float(mean), float(square - mean**2)


def _of_cell(
    study: Study, cell: Sequence[int], wanted: Pair, effect: float, kind: str
) -> list[Chances]:
    """Return the chances of each task that gives somebody in `cell` a score of those `wanted`."""
    order = [study.conditions[number] for number in cell]
    made = []
    for place, task in enumerate(study.tasks):
        seen = shown_conditions(task.kind, order, place)
        shown = tuple(one for one in study.conditions if one in seen)
        if kind in ("", task.kind) and {*wanted} - {""} <= {*shown}:
            made.append(chances(task.kind, shown, wanted, study.conditions[0], effect))
    return made


def pairs_of(study: Study) -> list[Pair]:
    """Return the pairs of conditions of `study`, those with its first condition first."""
    return [*combinations(study.conditions, 2)]


def minutes(study: Study) -> float:
    """Return how many minutes a participant needs at most in `study`, without the practice."""
    questions = sum(len(step.items) for step in steps_of(study))
    seconds = sum(task.seconds for task in study.tasks) + _SECONDS_A_QUESTION * questions
    return (seconds + _SECONDS_TO_BEGIN) / 60
