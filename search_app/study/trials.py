"""What a participant is shown in a task: rankings without names, made once and then kept.

Which conditions meet, and on which side, follows the participant's order of conditions, so over a
whole square each stands equally often on each side. All else draws from the generator that is
given: teams of interleaved lists, and the order of documents that are rated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .design import CHOOSE, INTERLEAVED, RATE, SIDE_BY_SIDE
from .interleaving import Mixed, credit, team_draft

SHOWN = 10  # documents of a list
COLUMNS = 3  # that one vote chooses among, at most
GRADES = (0, 1, 2, 3)  # of a rated document
_MEAN = re.compile(r"[0-9]\.[0-9]{2}")


def is_mean_grade(text: str) -> bool:
    """Return whether `text` is a mean of grades, as devices write it."""
    return bool(_MEAN.fullmatch(text)) and float(text) <= GRADES[-1]


class Trial(NamedTuple):
    """What is shown: lists of documents, and the condition behind each list or document."""

    kind: str
    conditions: tuple[str, ...]  # of the lists, from the left; or of the teams
    lists: tuple[tuple[str, ...], ...]
    teams: tuple[int, ...] = ()  # interleaved: of the documents of the one list
    orders: tuple[tuple[str, ...], ...] = ()  # what each condition ranked, if `lists` mix it
    blank: bool = False  # whether documents have numbers only: a device fills them in

    def as_record(self) -> dict[str, Any]:
        """Return the trial as JSON keeps it."""
        return self._asdict()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Trial:
        """Return the trial that `record` keeps."""
        lists, orders = (
            tuple(tuple(documents) for documents in record[name]) for name in ("lists", "orders")
        )
        conditions, teams = tuple(record["conditions"]), tuple(record["teams"])
        return cls(record["kind"], conditions, lists, teams, orders, record.get("blank", False))

    def rankings(self) -> dict[str, tuple[str, ...]]:
        """Return the best documents of each condition, as it ranked them."""
        return dict(zip(self.conditions, self.orders or self.lists, strict=True))

    def places(self) -> list[tuple[str, int, str]]:
        """Return each shown document with its place, from 1, and the condition that brought it."""
        if self.kind in (RATE, INTERLEAVED):
            # What is rated was brought by all conditions together; a device gives a mean for each.
            together = self.conditions if self.blank else [""] * len(self.lists[0])
            brought = [self.conditions[team] for team in self.teams] or together
            numbered = enumerate(zip(self.lists[0], brought, strict=False), 1)
            return [(document, place, condition) for place, (document, condition) in numbered]
        return [
            (document, place, condition)
            for condition, documents in zip(self.conditions, self.lists, strict=True)
            for place, document in enumerate(documents, 1)
        ]

    def credits(self, clicked: Sequence[str]) -> dict[str, int]:
        """Return the clicks on an interleaved list, `clicked`, by condition."""
        counts = credit(Mixed(self.lists[0], self.teams), clicked, len(self.conditions))
        return dict(zip(self.conditions, counts, strict=True))


def shown_conditions(kind: str, order: Sequence[str], place: int) -> tuple[str, ...]:
    """Return the conditions that a task of `kind` compares, from the left.

    `order` is the participant's order of conditions. The task at `place` begins there in the order.
    """
    turned = [order[(place + step) % len(order)] for step in range(len(order))]
    # Three columns are what fits on a slide and in a look.
    most = {SIDE_BY_SIDE: 2, CHOOSE: COLUMNS}.get(kind, len(turned))
    return tuple(turned[:most])


def make_trial(
    kind: str,
    conditions: Sequence[str],
    rankings: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
) -> Trial:
    """Return what a task of `kind` shows of the `rankings` of `conditions`; `rng` draws."""
    lists = [tuple(rankings[condition][:SHOWN]) for condition in conditions]
    if kind == INTERLEAVED:
        mixed = team_draft([rankings[condition] for condition in conditions], SHOWN, rng)
        return Trial(kind, tuple(conditions), (mixed.documents,), mixed.teams, tuple(lists))
    if kind == RATE:
        pooled = list(dict.fromkeys(document for documents in lists for document in documents))
        mixed_up = tuple(rng.permutation(sorted(pooled)).tolist())
        return Trial(kind, tuple(conditions), (mixed_up,), orders=tuple(lists))
    return Trial(kind, tuple(conditions), tuple(lists))


def blank_trial(
    kind: str, conditions: Sequence[str], documents: int, rng: np.random.Generator
) -> Trial:
    """Return a trial of `kind` for a device that orders this number of `documents` itself.

    Places have numbers in place of documents, in no list the same ones: so what is kept of choices
    and clicks tells no order. Of grades a device tells a mean for each condition.
    """
    places = min(documents, 1 if kind == RATE else SHOWN)
    columns = range(1, len(conditions) + 1)
    lists = tuple(tuple(f"{at}.{place}" for place in range(1, places + 1)) for at in columns)
    trial = Trial(kind, tuple(conditions), lists, blank=True)
    if kind == INTERLEAVED:
        # Rankings of one pool end together, so the teams are those of any documents.
        mixed = team_draft(lists, places, rng)
        return trial._replace(lists=(mixed.documents,), teams=mixed.teams, orders=lists)
    if kind == RATE:
        return trial._replace(lists=(sum(lists, ()),), orders=lists)
    return trial


def generator(seed: bytes, task: str) -> np.random.Generator:
    """Return what draws for the participant with this `seed` in `task`: always the same."""
    digest = hashlib.sha256(seed + task.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest))
