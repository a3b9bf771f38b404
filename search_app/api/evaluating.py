"""How close rankings by releases come to the order of each person's own profile [I/O]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

from search_app import console
from search_app.errors import UsageError
from search_app.evaluation.batch import SearchOptions
from search_app.evaluation.judging import judge, summaries
from search_app.evaluation.topics import Topic, read_personal_topics
from search_app.measures.precision import DEPTH, MEASURES
from search_app.measures.significance import Interval
from search_app.search.modes import FURTHER
from search_app.search.request import rule_of
from search_app.settings import changed
from search_app.workspace.opening import ServedPeople, modes_of

from .checking import refuse_other_kind, whole
from .people import People
from .releases import OwnedRelease
from .searching import SearchIndex
from .tables import records_of, table

_BARE = ("none", "own")
_COLUMNS = ("user", "query")


def evaluate(
    index: SearchIndex,
    queries: Any,
    people: People,
    releases: OwnedRelease | Mapping[str, OwnedRelease] | None = None,
    *,
    measures: Sequence[str] = ("AP",),
    pool: int = 100,
    seed: int = 0,
) -> Any:
    """Return a table of `measures`: of the plain order, the own profile and each of `releases`.

    They judge orders of the `pool` best documents by the own-profile order: AP, AP@10, AP@20, AP_c,
    nDCG, overlap@10, tau, RBO. `queries` are pairs of a person and a query, a table with the
    columns user and query, or a file of topics with people. Means are over people; `low` and `high`
    end the 95 % interval, drawn by `seed`.
    """
    # As further releases, so that one call compares any number on the same pools.
    named = {"release": releases} if isinstance(releases, OwnedRelease) else releases or {}
    _refuse_misfits(index, people, named)
    if unknown := [name for name in measures if name not in MEASURES]:
        raise UsageError(f"no measure {unknown[0]}; there are: {', '.join(MEASURES)}")
    if whole("pool", pool) <= DEPTH:
        raise UsageError(f"pool={pool} judges nothing; give {DEPTH + 1} or more")
    settings = changed(index.settings, pool=pool)
    served = ServedPeople(people.matrix, further={name: one.made for name, one in named.items()})
    modes, _ = modes_of(index.lucene, index.forward, served, settings)
    chosen = (*_BARE, *(f"{FURTHER}{name}" for name in named))
    topics = _topics(queries)
    search = SearchOptions(settings.pool, rule_of(settings), settings.operators)
    with console.progress("judge", len(topics)) as progress:
        done = iter(range(1, len(topics) + 1))
        judged = judge(modes, topics, chosen, search, lambda _: progress(next(done)))
    if not judged.qids:
        raise UsageError(f"no query could be judged: {dict(judged.left_out)}")
    return table(
        {
            "order": summary.mode.removeprefix(FURTHER),
            **{key: value for name in measures for key, value in _ends(name, summary.means[name])},
            "queries": len(judged.qids),
            "people": judged.people,
        }
        for summary in summaries(judged, whole("seed", seed))
    )


def _refuse_misfits(index: object, people: object, releases: Mapping[str, object]) -> None:
    """Refuse what is of another kind, and releases of other people."""
    refuse_other_kind("index", index, SearchIndex)
    refuse_other_kind("people", people, People)
    refuse_other_kind("releases", releases, OwnedRelease, Mapping)
    for name, release in releases.items():
        refuse_other_kind("a release", release, OwnedRelease)
        if not isinstance(name, str) or name in ("", *_BARE):
            raise UsageError(f"a release can't be called {name!r}; give it another name")
        if cast(OwnedRelease, release).people.matrix is not cast(People, people).matrix:
            raise UsageError(f"the release {name} was made of other people")


def _ends(name: str, value: Interval) -> Iterator[tuple[str, float]]:
    yield from ((name, value.mean), (f"{name} low", value.low), (f"{name} high", value.high))


def _topics(queries: Any) -> list[Topic]:
    if isinstance(queries, str | PathLike):
        return read_personal_topics(Path(queries))
    records = records_of(queries)
    if records is None:
        refuse_other_kind("queries", queries, Iterable)
    pairs: Iterable[Any] = queries
    if records:
        if missing := [name for name in _COLUMNS if name not in records[0]]:
            raise UsageError(
                f"queries need the columns {', '.join(_COLUMNS)}; {missing[0]} is missing"
            )
        pairs = ([record[name] for name in _COLUMNS] for record in records)
    elif records is not None:
        pairs = ()
    topics = []
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, list | tuple) or [*map(type, pair)] != [str, str]:
            raise UsageError(f"query {number} must be a pair of a person and a query")
        topics.append(Topic(f"q{number}", pair[1], number, pair[0]))
    return topics
