"""Logs written as events, and the same with the last queries of each user apart."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.model import QueryLog
from anonymizer.profiles.events import held_out, user_spans

Event = tuple[str, str, int]  # user, query, time


def log_of(events: Sequence[Event]) -> QueryLog:
    return QueryLog.from_events([(*event, 0) for event in events])


def split_by_time(events: Sequence[Event], share: float) -> tuple[list[Event], list[Event]]:
    """Split into events that build profiles, and the last share of each user's queries."""
    log = log_of(events)
    parts: tuple[list[Event], list[Event]] = [], []
    for event, held in zip(events, held_out(log, user_spans(log), share).tolist(), strict=True):
        parts[held].append(event)
    return parts
