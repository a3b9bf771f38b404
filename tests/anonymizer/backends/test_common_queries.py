"""Common queries, found part by part: those of the whole log, by a naive count."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from anonymizer.backends.common_queries import (
    common_events,
    common_in,
    log_of_part,
    people_by_query,
    united_log,
)
from anonymizer.backends.log_pieces import deal_lines, pieces_of


@pytest.mark.parametrize("parts", [1, 3, 30])
def test_queries_of_k_people_are_counted_over_all_parts(tmp_path: Path, parts: int) -> None:
    rng = random.Random(7)  # noqa: S311
    lines = [(f"u{rng.randrange(20)}", f"q {rng.randrange(12)}") for _ in range(80)]
    text = "".join(f"{user}\t{query}\t{at}\n" for at, (user, query) in enumerate(lines))
    (tmp_path / "log.tsv").write_text(text, encoding="utf-8")
    people = {query: {user for user, own in lines if own == query} for _, query in lines}
    common = {query for query, users in people.items() if len(users) >= 5}
    assert 0 < len(common) < len(people)

    pieces = pieces_of([tmp_path / "log.tsv"], None, 200)
    dealt = [one for piece in pieces for one in deal_lines(piece, parts, 20)]
    logs = [log_of_part(some for at, some in dealt if at == part) for part in range(parts)]
    spread = [one for log in logs for one in people_by_query(log, 4)]
    assert {at for at, _ in spread} == {0, 1, 2, 3}
    found = sorted(
        query
        for bucket in range(4)
        for query in common_in((counts for at, counts in spread if at == bucket), 5)
    )
    assert found == sorted(common)

    made = united_log([common_events(log, found) for log in logs], found)
    assert made.users == tuple(dict.fromkeys(user for user, _ in lines))
    events = sorted((made.users[user], made.text(at)) for at, user in enumerate(made.user.tolist()))
    # A query that a person repeats at once is one event.
    last: dict[str, str] = {}
    folded = [(u, q) for u, q in lines if last.get(u) != q and not last.update({u: q})]
    assert events == sorted((user, query) for user, query in folded if query in common)
