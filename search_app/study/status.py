"""How a study stands: numbers, and what people prefer once the study ended."""

from __future__ import annotations

from math import isnan
from typing import Any

from .analysis import preferences
from .design import Study
from .export.tables import kept_in
from .flow import steps_of
from .store import StudyStore


def status_of(study: Study, store: StudyStore, now: int, *, peek: bool = False) -> dict[str, Any]:
    """Return how `study` in `store` stands at the second `now`.

    Preferences are None until all planned people finished, or the study was closed: a leader who
    looks earlier may stop early. `peek` shows them all the same.
    """
    standing = store.standing(len(study.cells), now, 60 * study.minutes)
    closed, steps = store.is_closed(), steps_of(study)
    begun = sum(number for step, number in standing.by_step.items() if step)
    called = [
        " ".join(dict.fromkeys((str(number), step.kind, step.name))).strip()
        for number, step in enumerate(steps, 1)
    ]
    ended = closed or standing.finished >= study.participants
    return {
        "invited": standing.invited + begun,
        "active": standing.active,
        "silent": begun - standing.active - standing.finished,
        "finished": standing.finished,
        "planned": study.participants,
        "withdrawn": standing.withdrawn,
        "closed": closed,
        "cells": list(standing.cells),
        "at": {called[min(at, len(steps) - 1)]: n for at, n in sorted(standing.by_step.items())},
        "preferences": _preferences(study, store) if ended or peek else None,
    }


def _preferences(study: Study, store: StudyStore) -> list[dict[str, Any]]:
    made = [one._asdict() for one in preferences(study, kept_in(study, store).judgements())]
    for one in made:  # JSON has no NaN, which stands for what too few people give
        one |= {name: None for name in ("mean", "low", "high", "p", "p_holm") if isnan(one[name])}
    return made
