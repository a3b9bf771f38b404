"""The rankings that a study compares, for a participant of its own or a person of the workspace."""
# A typed profile is laid over that of a user who is in no release. So mode own ranks by it, and
# mode group by the row that is closest to it.

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from index.model import Document

from ..errors import UsageError
from ..search.engine import Ranking
from ..search.modes import Modes
from ..search.request import rule_of
from ..settings import Settings
from ..tasks.growth import Growth, growth_of
from ..workspace.folder import Workspace
from ..workspace.ledger import LastLedger
from ..workspace.opening import as_of_one_moment, open_once, people_of
from ..workspace.withholding import published

if TYPE_CHECKING:
    from ..town.subjects import Interest, Library

# Stands for a person who searches with a profile of their own. One name serves all: what the modes
# keep of a person is then that of the last one only. No user id has a line end.
_PARTICIPANT = "a participant\n"
DEPTH = 10  # documents of a ranking for each condition: what a draft of all of them needs


class Rankings:
    """Ranks queries in the conditions of a study; safe for many threads."""

    def __init__(
        self,
        modes: Modes,
        growth: Growth,
        people: Mapping[str, str],
        settings: Settings,
        *,
        state: object = None,
        parts: str = "",
    ):
        self.people = people  # invented people that participants may play: labels
        self.state, self.parts = state, parts  # of the workspace when opened; its index
        self.growth = growth  # how counts of terms make a profile
        self.modes, self.rule = modes, rule_of(settings)
        self._settings = settings
        self._now, self._lock = threading.local(), threading.Lock()
        self._counted: dict[str, Counter[str]] = {}  # by the label of an interest
        # It must not hold these rankings: they go, with their files, as soon as nobody uses them.
        before, now = modes.lay_over, self._now

        def lay_over(user: str, past: Mapping[str, float]) -> Mapping[str, float]:
            return now.profile if user == _PARTICIPANT else before(user, past)

        modes.lay_over = lay_over

    # -- profiles ------------------------------------------------------------------------------

    def of_queries(self, queries: Iterable[str]) -> dict[str, float]:
        """Return the profile that `queries` make, analysed as the log of the workspace was."""
        return self.growth.profile(_sum(map(self.growth.counts, queries)))

    def of_interests(self, labels: Iterable[str]) -> dict[str, float]:
        """Return the profile of somebody with the interests `labels`; see `interests`."""
        return self.growth.profile(_sum(self.counts_of_interests(labels).values()))

    def counts_of_interests(self, labels: Iterable[str]) -> dict[str, Counter[str]]:
        """Return how often each term is in the phrases of each of the interests `labels`."""
        from ..town.subjects import INTERESTS

        wanted = {*labels}
        if unknown := wanted - {interest.label for interest in INTERESTS}:
            raise UsageError(f"{len(unknown)} of the interests are unknown; take those of the list")
        return {
            interest.label: self._counts_of(interest)
            for interest in INTERESTS
            if interest.label in wanted
        }

    def _counts_of(self, interest: Interest) -> Counter[str]:
        """Return how often each term is in the topics of `interest`; made once, as it is slow."""
        with self._lock:
            if interest.label not in self._counted:
                counts = self._counted[interest.label] = Counter[str]()
                for topic in self._library.subject(interest).topics:
                    counts.update(self.growth.counts(topic.phrase))
            return self._counted[interest.label]

    @staticmethod
    def interests() -> tuple[str, ...]:
        """Return the labels of all interests that participants may pick, in alphabetical order."""
        from ..town.subjects import INTERESTS

        return tuple(sorted(interest.label for interest in INTERESTS))

    # -- rankings ------------------------------------------------------------------------------

    def of(
        self, query: str, conditions: Sequence[str], person: str, profile: Mapping[str, float]
    ) -> dict[str, tuple[str, ...]]:
        """Return the ids of the best documents for `query` in each of `conditions`, best first.

        `person` is one of the workspace; if empty, `profile` is the participant's own. All orders
        are of one pool. Without a profile all are the plain order.
        """
        if not (person or profile):
            answer = self.modes.answer(query, "none", None, pool=self._settings.pool)
            return dict.fromkeys(conditions, self._ids(answer.ranking, conditions))
        # In this thread only: other participants search at the same time.
        self._now.profile = dict(profile)
        try:
            user = person or _PARTICIPANT
            pool = self._settings.pool
            answers = self.modes.answers(query, conditions, user, pool=pool, rule=self.rule)
        finally:
            self._now.profile = {}
        ranked = (self._ids(answer.ranking, conditions) for answer in answers)
        return dict(zip(conditions, ranked, strict=True))

    def _ids(self, ranking: Ranking, conditions: Sequence[str]) -> tuple[str, ...]:
        # A draft takes documents that other rankings have not brought, so it may look further down.
        best = ranking.rows[: DEPTH * len(conditions)]
        return tuple(map(str, self.modes.engine.ids(best).tolist()))

    def forget(self) -> None:
        """Keep no profile and nothing typed in memory: somebody's may have to go."""
        self.modes.clear()
        self.growth.clear()

    def documents(self, ids: Sequence[str]) -> list[Document | None]:
        """Return the documents with these `ids`; None for one that the index has no more."""
        known = [self._row_of.get(name) for name in ids]
        rows = np.array([row for row in known if row is not None], dtype=np.int64)
        read = iter(self.modes.engine.documents(rows))
        return [None if row is None else next(read) for row in known]

    @cached_property
    def _row_of(self) -> dict[str, int]:
        ids = self.modes.engine.ids(np.arange(self.modes.engine.size, dtype=np.int64))
        return {str(name): row for row, name in enumerate(ids.tolist())}

    @cached_property
    def _library(self) -> Library:
        from anonymizer.terms.wordnet import open_wordnet

        from ..town.subjects import Library

        return Library(open_wordnet(self._settings.cache))


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counted in counts:
        total.update(counted)
    return dict(total)


def open_rankings(settings: Settings) -> Rankings:
    """Return the rankings of the workspace in `settings`, open as long as somebody uses them."""
    workspace = Workspace(settings.workspace)
    workspace.check()
    opened, state = as_of_one_moment(
        workspace,
        lambda: (open_once(workspace, settings, further=lambda _name: None), workspace.stamp()),
        lambda old: old[0].close(),
    )
    truth = workspace.truth()
    people = people_of(truth, opened.modes) if truth else {}
    if truth is None and opened.modes.release is not None:
        opened.modes.withhold(published(LastLedger(workspace), workspace.find("release")))
    growth, build = growth_of(workspace, opened.made_from, settings), workspace.find("index").name
    rankings = Rankings(opened.modes, growth, people, settings, state=state, parts=build)
    weakref.finalize(rankings, opened.close).atexit = False
    return rankings
