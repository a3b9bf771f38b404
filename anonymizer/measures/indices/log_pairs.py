"""A log before and after sanitization, compared query by query: all indices of each user.

Documents are normalized queries, counts are query events. The original log is folded, as every log.
In a released one each line is an event, as suppressing what stood between makes neighbours of
repeats. So it is read with `folded=False`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Floats
from ...errors import BadInput
from ...model import QueryLog
from .divergence import WEIGHTS, Compared, cell_weights, divergence, mean, weights_of
from .exposure import CHANNELS, exposures


@dataclass(frozen=True)
class LogPair:
    """An original log and what was released of it."""

    compared: Compared
    users: tuple[str, ...]
    queries: Sequence[str]

    @classmethod
    def of(cls, original: QueryLog, released: QueryLog) -> LogPair:
        """Return the pair of `original`, folded, and `released`, where each event is a line."""
        refuse_unknown(unknown_users(original, released), len(released.users))
        row_of = {user: row for row, user in enumerate(original.users)}
        texts = [log.queries.strings() for log in (original, released)]
        # By the alphabet, so that sums are rounded alike in a log and in a part of its users.
        queries = sorted({*texts[0], *texts[1]})
        number = {query: at for at, query in enumerate(queries)}
        before, after = (
            np.array([number[text] for text in some], dtype=np.int64) for some in texts
        )
        rows = np.array([row_of[user] for user in released.users], dtype=np.int64)
        shape = (len(row_of), len(number))
        compared = Compared(
            _counts(original.user.astype(np.int64), before[original.query], shape),
            _counts(rows[released.user], after[released.query], shape),
        )
        return cls(compared, original.users, queries)

    def weights(self, probabilities: Mapping[str, float] | None) -> Floats:
        """Return 1 less the probability to be sensitive of each query; else 1.

        `probabilities` has them by query; None: all weights are 1.
        """
        return weights_of(self.queries, self.compared, probabilities)

    @cached_property
    def words(self) -> csr_matrix:
        """Return which words, between blanks, each query has: queries x words."""
        words = [{*query.split()} for query in self.queries]
        number = {word: at for at, word in enumerate(sorted(set().union(*words)))}
        ends = np.cumsum([0, *map(len, words)])
        columns = np.fromiter((number[word] for own in words for word in own), np.int64, ends[-1])
        entries = (np.ones(columns.size), columns, ends)
        matrix = csr_matrix(entries, shape=(len(words), max(1, len(number))))
        matrix.sort_indices()
        return matrix


def unknown_users(original: QueryLog, released: QueryLog) -> int:
    """Return how many users of the log `released` are not in `original`."""
    known = {*original.users}
    return sum(user not in known for user in released.users)


def refuse_unknown(unknown: int, users: int) -> None:
    """Refuse a released log if `unknown` of its `users` are not in the original one."""
    if unknown:
        raise BadInput(
            f"{unknown:,} of {users:,} users of the released log are not in the "
            "original one; name the log that it was made from"
        )


@dataclass(frozen=True)
class LogIndices:
    """The indices of each user of a log; NaN where an index is undefined."""

    users: tuple[str, ...]
    columns: Mapping[str, Floats]  # by name
    sizes: Floats  # original queries of each user
    released: Floats

    def means(self) -> dict[str, dict[str, float | None]]:
        """Return the mean of each index over users, and weighted by their original queries."""
        return {
            name: {"mean": mean(values), "by_queries": mean(values, self.sizes)}
            for name, values in self.columns.items()
        }


class QueryPart(NamedTuple):
    """What a query adds to the indices of a user; as private as the log."""

    user: str
    query: str
    before: int  # events
    after: int
    JSD: float
    SPI: float


def contributions(
    pair: LogPair,
    probabilities: Mapping[str, float] | None,
    spi_weights: str,
    count: int,
) -> list[QueryPart]:
    """Return the `count` queries of users in `pair` that add most to the user's JSD."""
    cells = pair.compared.cells
    weights = cell_weights(cells, pair.weights(probabilities))[spi_weights]
    order = np.argsort(-cells.divergence, kind="stable")[:count]
    columns = (cells.before, cells.after, cells.divergence, weights * cells.divergence)
    numbers = [column[order].tolist() for column in columns]
    users = (pair.users[at] for at in cells.user[order].tolist())
    queries = (pair.queries[at] for at in cells.document[order].tolist())
    return [
        QueryPart(user, query, int(before), int(after), jsd, spi)
        for user, query, before, after, jsd, spi in zip(users, queries, *numbers, strict=True)
    ]


def log_indices(
    pair: LogPair,
    probabilities: Mapping[str, float] | None = None,
    spi_weights: str = "paper",
    empty: str = "one",
) -> LogIndices:
    """Return all indices of `pair`; SPI is the one with `spi_weights`, and both have their name.

    `probabilities` say how sensitive queries are. Without any all weights are 1, and SPI is JSD.
    """
    compared = pair.compared
    diverged = divergence(compared, pair.weights(probabilities), empty)
    columns = {"SPI": diverged.spi[spi_weights], "JSD": diverged.jsd}
    columns |= {f"SPI_{which}": diverged.spi[which] for which in WEIGHTS}
    exposed = exposures(compared, pair.words)
    # Who is skipped is in no mean.
    for channel in CHANNELS:
        columns[f"PEL_{channel}"] = np.where(np.isnan(diverged.jsd), np.nan, exposed[channel])
    return LogIndices(pair.users, columns, compared.sizes, compared.released)


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_matrix:
    counts = csr_matrix((np.ones(rows.size), (rows, columns)), shape=shape)
    counts.sum_duplicates()
    return counts
