"""veilsearch search: answer a query, or a file of topics as a TREC run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings, changed
from ..workspace.folder import Workspace
from .arguments import add_json, add_metadata, add_opened, add_rule, opened, refuse_overwriting

if TYPE_CHECKING:
    from ..disclosure.disclosure import Disclosure
    from ..search.modes import Answer, Modes
    from ..search.newcomer import Newcomer

MOST_HITS = 10_000  # in a pool
DEEP = 1000  # hits for a topic, as usual in TREC runs
NAMED = 20  # topics listed in one message
ROWLESS = "plain order, as no row stands for the person, for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments to `parser`."""
    parser.add_argument("query", metavar="QUERY", nargs="?", help="what to search for")
    parser.add_argument("--user", metavar="U", help="the person who searches")
    parser.add_argument(
        "--newcomer",
        type=Path,
        metavar="FILE",
        help="profile of a person who is in no release; the closest released row is chosen here "
        "and orders the results",
    )
    parser.add_argument(
        "--mode",
        choices=("none", "own", "group"),
        help="none: plain order; own: by the person's profile; group: by the released row "
        "(default: none without a person; else group, or own if there is no release)",
    )
    parser.add_argument(
        "--pool", type=int, metavar="N", help="documents to re-rank (100; for topics 1000)"
    )
    parser.add_argument("--top", type=int, metavar="N", help="results to show (10; for topics all)")
    add_rule(parser)
    parser.add_argument(
        "--smoothing",
        action="store_true",
        help="smooth the group's row by all released rows and the index, where that helps",
    )
    parser.add_argument(
        "--operators",
        action="store_true",
        help='read "a phrase", +must and -not as operators (-- before a query that begins with -)',
    )
    parser.add_argument("--explain", action="store_true", help="explain the place of each result")
    parser.add_argument(
        "--topics", type=Path, metavar="FILE", help="TREC topics, or qid[<TAB>user]<TAB>query"
    )
    parser.add_argument(
        "--run", type=Path, metavar="FILE", dest="run_file", help="TREC run to write"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads for topics (1)")
    parser.add_argument("--tag", metavar="NAME", help="name of the run (veilsearch)")
    add_metadata(parser)
    add_opened(parser, "a release (default: the current one) or, for a newcomer, a published file")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer the query or the topics in `arguments`, and return 0."""
    _check_use(arguments)
    for name in ("user", "profiles"):
        if arguments.newcomer and getattr(arguments, name):
            raise UsageError(f"--newcomer and --{name} name different people; remove one of them")
    # None keeps the setting of the workspace: a flag can switch one on, not off.
    settings = changed(
        settings,
        pool=_pool(arguments, settings),
        top=arguments.top,
        ranking=arguments.ranking,
        care=arguments.care,
        operators=arguments.operators or None,
        smoothing=arguments.smoothing or None,
    )
    if arguments.topics:
        return _answer_topics(arguments, settings)
    return _answer_query(arguments, settings)


def _pool(arguments: argparse.Namespace, settings: Settings) -> int:
    """Return the size of the pool: --pool, else enough for all results to show."""
    top, given = arguments.top or 0, arguments.pool
    if given is None:
        usual = DEEP if arguments.topics else settings.pool
        return max(usual, min(top, MOST_HITS))
    if 0 < given < top:
        console.say(f"--top {top} is more than --pool {given}: at most {given} results are shown")
    return int(given)


def _check_use(arguments: argparse.Namespace) -> None:
    if (arguments.query is None) == (arguments.topics is None):
        raise UsageError("name what to search for: either a QUERY or --topics FILE with --run FILE")
    if (arguments.topics is None) != (arguments.run_file is None):
        raise UsageError("--topics FILE and --run FILE go together; give both")
    if arguments.topics and arguments.explain:
        raise UsageError("--explain is for one QUERY; remove it or --topics")
    for name in ("threads", "tag", "metadata"):
        if not arguments.topics and getattr(arguments, name) is not None:
            raise UsageError(f"--{name} is for --topics; remove it")
    for name in ("index", "user"):
        if getattr(arguments, name) == "":
            raise UsageError(f"--{name} is empty; name one or remove it")
    for name in ("topics", "profiles", "newcomer", "release") if arguments.topics else ():
        read, what = getattr(arguments, name), f"--{name}; name another for the run"
        refuse_overwriting("--run", arguments.run_file, read, what)
    if arguments.query is not None and not arguments.query.strip():
        raise UsageError("the query is empty; name what to search for")


def _open(arguments: argparse.Namespace, settings: Settings, personal: bool) -> Modes:
    personal = personal or arguments.mode in ("own", "group")
    for name in ("profiles", "release"):
        if getattr(arguments, name) and not personal:
            raise UsageError(
                f"--{name} is for a person's search; name the person with --user or --newcomer"
            )
    modes = opened(arguments, settings, newcomer=arguments.newcomer, personal=personal)
    # Other profiles than the current ones are nobody's who signs in here.
    if modes.profiles is not None and not (arguments.newcomer or arguments.profiles):
        from ..tasks.growth import laid_over

        modes.lay_over = laid_over(Workspace(settings.workspace), settings, modes.profiles)
    return modes


# -- one query -----------------------------------------------------------------------------------


def _answer_query(arguments: argparse.Namespace, settings: Settings) -> int:
    from index.brief import one_search, spare_modules

    spare_modules()
    from ..search.request import rule_of

    user = _user(arguments)
    with one_search():
        modes = _open(arguments, settings, bool(user))
    mode = arguments.mode or modes.usual_mode(user)
    modes.refuse((mode,), user)
    modes.refuse_unknown(mode, user)
    # The first use of the engine does not count as search time.
    modes.warm_up(rule_of(settings))
    began = time.perf_counter()
    answer = modes.answer(
        arguments.query,
        mode,
        user,
        pool=settings.pool,
        rule=rule_of(settings),
        operators=settings.operators,
    )
    milliseconds = 1000 * (time.perf_counter() - began)
    evidence = answer.ranking.evidence
    hits = hits_of(answer, modes, settings.top)
    lines = _explain(answer, hits, modes) if arguments.explain else [[]] * len(hits)
    if answer.cut:
        console.say("the query is very long; only its beginning was searched")
    served = _served(modes, mode)
    # Say why no row orders the results, where one was to be expected.
    if modes.newcomer and mode in (None, "group") and modes.newcomer.notice:
        console.say(modes.newcomer.notice)
    elif not modes.newcomer and mode == "group" and modes.lacks_row(user):
        console.say(_rows(modes).words.no_row)
    result = {
        "query": arguments.query,
        "operators": settings.operators,
        "cut": answer.cut,
        "mode": answer.mode,
        "user": arguments.user,
        "row": answer.row or None,
        "pool": settings.pool,
        "ranking": answer.request.rule.name,
        "standing": evidence.standing if evidence else None,
        "found": len(answer.ranking),
        "milliseconds": round(milliseconds, 3),
        "precision": vars(answer.precision) if answer.precision else None,
        "hits": hits,
        **({"choice": served.as_json()} if served else {}),
    }
    shown = _lines(answer, hits, lines, settings, served, _rows(modes))
    console.answer(result, shown, as_json=arguments.json)
    return 0


def _user(arguments: argparse.Namespace) -> str | None:
    from ..search.newcomer import NEWCOMER

    return NEWCOMER if arguments.newcomer else arguments.user


def _served(modes: Modes, mode: str | None) -> Newcomer | None:
    """Return the newcomer, if any, where `mode` orders results by a row."""
    return modes.newcomer if mode in (None, "group") else None


def hits_of(answer: Answer, modes: Modes, top: int) -> list[dict[str, Any]]:
    """Return the first `top` documents of `answer`, with their places."""
    ranking = answer.ranking
    documents = modes.engine.documents(ranking.rows[:top])
    return [
        {
            "rank": at + 1,
            "plain_rank": int(ranking.plain_ranks[at]),
            "id": document.id,
            "title": document.title,
            "url": document.url,
            "score": float(ranking.scores[at]),
        }
        for at, document in enumerate(documents)
    ]


def _explain(answer: Answer, hits: list[dict[str, Any]], modes: Modes) -> list[list[str]]:
    """Add to each of `hits` the parts of its BM25 score and of its place; return them in lines."""
    from ..search.explanation import as_json, explain_places
    from ..search.explanation_words import in_lines

    request = answer.request
    pool = modes.engine.pool(request.query, request.pool, operators=request.operators)
    places = [hit["plain_rank"] - 1 for hit in hits]
    whose = _rows(modes).words.whose
    placed = explain_places(modes.engine, request, pool, places)
    explained = [replace(place, whose=whose) for place in placed]
    for hit, place in zip(hits, explained, strict=True):
        hit["parts"] = [vars(part) for part in place.parts]
        hit["why"] = as_json(place)
    return [in_lines(place) for place in explained]


def _lines(
    answer: Answer,
    hits: list[dict[str, Any]],
    lines: list[list[str]],
    settings: Settings,
    served: Newcomer | None,
    rows: Disclosure,
) -> Iterator[str]:
    if not hits:
        yield "nothing found"
        return
    yield headline(answer, settings, rows)
    if served and served.row:
        yield served.in_words()
    for hit, explained in zip(hits, lines, strict=True):
        moved = hit["plain_rank"] - hit["rank"]
        mark = f"▲{moved}" if moved > 0 else f"▼{-moved}" if moved else "·"
        move = "" if answer.mode == "none" else f"{mark:>5}  "
        yield f"{hit['rank']:>4}  {move}{hit['score']:8.4f}  {hit['id']}  {hit['title'][:70]}"
        yield from (f"      {line}" for line in explained)


def _rows(modes: Modes) -> Disclosure:
    """Return the words for the rows of the current release."""
    from ..disclosure.kinds import disclosure_of

    return disclosure_of(modes.release)


def headline(answer: Answer, settings: Settings, rows: Disclosure) -> str:
    """Return in words what orders `answer`, and how near it comes to the own-profile order."""
    who = {
        "none": "plain BM25 order",
        "own": "by the own profile",
        "group": rows.named_row(answer.row, answer.users, fallback=answer.fallback)
        + (", smoothed" if answer.request.smoothed else ""),
    }[answer.mode]
    if answer.precision is None:
        return f"{who}, pool {settings.pool}"
    precision = answer.precision
    corrected = "" if precision.ap_c is None else f", AP_c {precision.ap_c:.3f}"
    return f"{who}; AP {precision.ap:.3f}{corrected} over a pool of {precision.pool}"


# -- many topics ---------------------------------------------------------------------------------


def _answer_topics(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer all topics and write the run, whole or not at all."""
    from ..evaluation.batch import SearchOptions, run_topics
    from ..evaluation.runs import writing_run
    from ..evaluation.topics import read_topics
    from ..search.request import rule_of

    topics, user = read_topics(arguments.topics), _user(arguments)
    if user and any(topic.user for topic in topics):
        option = "newcomer" if arguments.newcomer else "user"
        raise UsageError(f"{arguments.topics} names the users; remove --{option}")
    if user:
        topics = [replace(topic, user=user) for topic in topics]
    tag = "veilsearch" if arguments.tag is None else arguments.tag
    threads = 1 if arguments.threads is None else arguments.threads
    search = SearchOptions(settings.pool, rule_of(settings), settings.operators, threads)
    search = search._replace(described=bool(arguments.metadata))
    with writing_run(arguments.run_file, tag) as run:  # first, as it refuses a bad place
        modes = _open(arguments, settings, any(topic.user for topic in topics))
        with console.progress("search", len(topics)) as progress:
            top = arguments.top or settings.pool
            outcome = run_topics(modes, topics, arguments.mode, search, top, run, progress)
    _say_topics("nothing found for", outcome.empty)
    _say_topics("only the beginning was searched of very long", outcome.cut)
    _say_topics(ROWLESS, outcome.no_row)
    served = _served(modes, arguments.mode)
    if served and served.notice:
        console.say(served.notice)
    facts = {"topics": run.topics, "rows": run.rows, "seconds": round(outcome.seconds, 3)}
    named = {"empty": outcome.empty, "cut": outcome.cut, "no_row": outcome.no_row}
    written = {"run": str(arguments.run_file), **facts, **named}
    if served:
        written["choice"] = served.as_json()
    lines = [
        f"{run.topics:,} topics, {run.rows:,} rows in {outcome.seconds:.1f} s: {arguments.run_file}"
    ]
    if served and served.row:
        row = _rows(modes).named_row(served.row.name, served.row.users)
        lines.append(f"{row}, {served.in_words()}")
    console.answer(written, lines, as_json=arguments.json)
    return 0


def _say_topics(what: str, qids: list[str]) -> None:
    if qids:
        more = f" and {len(qids) - NAMED} more" if len(qids) > NAMED else ""
        console.say(f"{what} topics: {', '.join(qids[:NAMED])}{more}")
