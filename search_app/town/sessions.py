"""Three months of a person's searches: sessions with a daily and weekly rhythm, repeats, clicks."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from .queries import Searcher, TypedQuery, misspell
from .subjects import Wheel

START = datetime(2026, 3, 1)
DAYS = 92  # to the end of May
_END = DAYS * 86_400
_HOURS = (3, 2, 1, 1, 1, 2, 4, 7, 9, 10, 10, 10, 11, 10, 9, 10, 11, 12, 14, 17, 19, 18, 13, 7)
# The chance of a click falls with the rank: 1, 1/2, 1/3, ...
_RESULTS = Wheel(range(1, 21), [1 / rank for rank in range(1, 21)])

MISSPELLED = 0.04  # shares of all queries
REPEATED = 0.06
NEXT_PAGE = 0.06
EMPTY = 0.005
CLICKED = 0.52
CLICKED_AGAIN = 0.2
_ENDS = 0.28  # chance that a query is the last of its session
_WANDERS = 0.2  # chance that the next query is about something else

COUNTED = ("queries", "repeated", "misspelled", "empty", "next pages", "clicks")


class TimedQuery(NamedTuple):
    """A query at a time, with the results that were clicked: (rank, host)."""

    time: int  # seconds since the start
    text: str
    clicks: tuple[tuple[int, str], ...]


class Diary:
    """The three months of one person: when they search, and what they typed before."""

    def __init__(self, searcher: Searcher, rng: np.random.Generator):
        self._searcher = searcher
        self._rng = rng
        weekend = 0.6 + 0.8 * rng.random()
        weekdays = ((START + timedelta(days=day)).weekday() for day in range(DAYS))
        self._days = Wheel(range(DAYS), [weekend if day >= 5 else 1.0 for day in weekdays])
        self._hours = Wheel(range(24), np.roll(_HOURS, int(rng.integers(-2, 3))).tolist())
        self._before: list[TypedQuery] = []
        self.counts: Counter[str] = Counter()

    def requests(self, queries: int) -> list[TimedQuery]:
        """Return `queries` queries, and requests for next pages after them, in order of time."""
        requests: list[TimedQuery] = []
        left, rng = queries, self._rng
        while left:  # session by session
            size = min(left, int(rng.geometric(_ENDS)))
            left -= size
            theme = self._searcher.theme(rng)
            moment = self._days.spin(rng) * 24 + self._hours.spin(rng)
            time = min(moment * 3600 + int(rng.integers(3600)), _END - 3600)
            for _ in range(size):
                if rng.random() < _WANDERS:
                    theme = self._searcher.theme(rng)
                query = self._typed(theme.query(rng))
                requests.append(self._request(time, query))
                if rng.random() < NEXT_PAGE:
                    self.counts["next pages"] += 1
                    time += 12 + int(rng.exponential(30))
                    requests.append(self._request(time, query))
                time += 15 + int(rng.exponential(70))
        return sorted(requests, key=lambda request: request.time)

    def _typed(self, query: TypedQuery) -> TypedQuery:
        rng = self._rng
        self.counts["queries"] += 1
        if rng.random() < EMPTY:
            self.counts["empty"] += 1
            return TypedQuery("-", ())
        if self._before and rng.random() < REPEATED:
            self.counts["repeated"] += 1
            return self._before[int(rng.integers(len(self._before)))]
        if rng.random() < MISSPELLED:
            slipped = misspell(query.text, rng)
            self.counts["misspelled"] += slipped != query.text
            query = TypedQuery(slipped, query.hosts)
        self._before.append(query)
        return query

    def _request(self, time: int, query: TypedQuery) -> TimedQuery:
        rng = self._rng
        clicks: dict[int, str] = {}
        chance = CLICKED if query.hosts else 0.0
        while rng.random() < chance:
            rank = 1 if len(query.hosts) == 1 else _RESULTS.spin(rng)
            at = min(int(rng.exponential(2.5)), len(query.hosts) - 1)
            clicks.setdefault(rank, query.hosts[at])
            chance = CLICKED_AGAIN
        self.counts["clicks"] += len(clicks)
        return TimedQuery(min(time, _END - 1), query.text, tuple(clicks.items()))
