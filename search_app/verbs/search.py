"""veilsearch search: answer a query, or a file of topics as a TREC run; personalized or not."""

from __future__ import annotations

import argparse
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings, changed
from ..workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..modes import Answer, Modes
    from ..newcomer import Newcomer
    from ..runs import RunWriter
    from ..topics import Topic

MOST_HITS = 10_000  # in a pool
DEEP = 1000  # hits a topic, as runs usually have
NAMED = 20  # topics named in one line of talk
ROWLESS = "no row stands for who asks, as all of their terms were deleted: plain order for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("query", metavar="QUERY", nargs="?")
    _add_asker(parser)
    parser.add_argument(
        "--pool", type=int, metavar="N", help="documents that are re-ranked (100; of topics 1000)"
    )
    parser.add_argument("--top", type=int, metavar="N", help="results shown (10; of topics all)")
    parser.add_argument("--mix", type=float, metavar="X", help="1: profile alone, 0: BM25 alone")
    parser.add_argument(
        "--smoothing",
        action="store_true",
        help="smooth a group's row by all released rows and the index, where that helps",
    )
    parser.add_argument(
        "--operators",
        action="store_true",
        help='let "a phrase", +must and -not mean something (-- before a query that begins with -)',
    )
    parser.add_argument(
        "--explain", action="store_true", help="say why each result stands where it stands"
    )
    parser.add_argument("--topics", type=Path, metavar="FILE", help="TREC, or qid[<TAB>user]<TAB>q")
    parser.add_argument("--run", type=Path, metavar="FILE", dest="run_file", help="the TREC run")
    parser.add_argument("--threads", type=int, metavar="N", help="threads for topics (1)")
    parser.add_argument("--tag", metavar="NAME", help="the run's name (veilsearch)")
    parser.add_argument("--index", metavar="NAME", help="an index of the workspace by name")
    parser.add_argument("--profiles", type=Path, metavar="FILE", help="other than the current ones")
    parser.add_argument(
        "--release",
        type=Path,
        metavar="DIR",
        help="other than the current one; for a newcomer also a published file",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_asker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", metavar="U", help="the person who asks")
    parser.add_argument(
        "--newcomer",
        type=Path,
        metavar="FILE",
        help="the profile of a person in no release: served by the released row closest to it, "
        "which is chosen here",
    )
    parser.add_argument(
        "--mode",
        choices=("none", "own", "group"),
        help="plain, by the own profile, or by the released row "
        "(none if nobody is named; else group, or own where there is no release)",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer the query or the topics."""
    _check_use(arguments)
    _check_asker(arguments)
    settings = changed(
        settings,
        pool=_pool(arguments, settings),
        top=arguments.top,
        mix=arguments.mix,
        operators=arguments.operators or None,
        smoothing=arguments.smoothing or None,
    )
    if arguments.topics:
        return _answer_topics(arguments, settings)
    return _answer_query(arguments, settings)


def _pool(arguments: argparse.Namespace, settings: Settings) -> int:
    """Return how many documents are searched: all that shall be shown, if nothing else is said."""
    top, given = arguments.top or 0, arguments.pool
    if given is None:
        usual = DEEP if arguments.topics else settings.pool
        return max(usual, min(top, MOST_HITS))
    if 0 < given < top:
        console.say(f"--top {top} is more than --pool {given}: no more than {given} are found")
    return int(given)


def _check_use(arguments: argparse.Namespace) -> None:
    if (arguments.query is None) == (arguments.topics is None):
        raise UsageError("say what to search for: either a QUERY or --topics FILE with --run FILE")
    if (arguments.topics is None) != (arguments.run_file is None):
        raise UsageError("--topics FILE and --run FILE go together; give both")
    if arguments.topics and arguments.explain:
        raise UsageError("--explain is for one QUERY; leave it out, or ask without --topics")
    for name in ("threads", "tag"):
        if not arguments.topics and getattr(arguments, name) is not None:
            raise UsageError(f"--{name} is for --topics; leave it out")
    for name in ("index", "user"):
        if getattr(arguments, name) == "":
            raise UsageError(f"--{name} is empty; name one or leave it out")
    if arguments.topics:
        _check_run(arguments)
    if arguments.query is not None and not arguments.query.strip():
        raise UsageError("the query is empty; say what to search for")


def _check_asker(arguments: argparse.Namespace) -> None:
    for name in ("user", "profiles"):
        if arguments.newcomer and getattr(arguments, name):
            raise UsageError(
                f"--newcomer and --{name} name different people; leave one of them out"
            )


def _check_run(arguments: argparse.Namespace) -> None:
    """Refuse to write the run over what is read, whatever links lead there."""
    run = arguments.run_file
    for name in ("topics", "profiles", "newcomer", "release"):
        read = getattr(arguments, name)
        with suppress(OSError):  # what is not there, or out of reach, is told when it is opened
            if read and run.samefile(read):
                raise UsageError(f"--run {run} is the file of --{name}; name another for the run")


def _open(arguments: argparse.Namespace, settings: Settings, personal: bool) -> Modes:
    from ..opening import open_modes

    personal = personal or arguments.mode in ("own", "group")
    for name in ("profiles", "release"):
        if getattr(arguments, name) and not personal:
            raise UsageError(
                f"--{name} is for a person's search; name who asks with --user or --newcomer"
            )
    return open_modes(
        Workspace(settings.workspace),
        settings,
        index=arguments.index,
        profiles=arguments.profiles,
        release=arguments.release,
        newcomer=arguments.newcomer,
        personal=personal,
    )


# -- one query -----------------------------------------------------------------------------------


def _answer_query(arguments: argparse.Namespace, settings: Settings) -> int:
    from ..search_lines import is_lone, notice

    modes = _open(arguments, settings, bool(_user(arguments)))
    user = _user(arguments)
    mode = arguments.mode or modes.usual_mode(user)
    modes.engine.warm_up()  # what one process waits for once is no part of a search's time
    began = time.perf_counter()
    answer = modes.answer(
        arguments.query,
        mode,
        user,
        pool=settings.pool,
        mix=settings.mix,
        operators=settings.operators,
    )
    milliseconds = 1000 * (time.perf_counter() - began)
    hits = hits_of(answer, modes, settings.top)
    lines = _explain(answer, hits, modes) if arguments.explain else [[]] * len(hits)
    if answer.cut:
        console.say("the query is very long; only its beginning was searched")
    served = _served(modes, mode)
    if told := notice(modes, mode, user):
        console.say(told)
    if arguments.json:
        found = _as_json(arguments, answer, hits, settings, milliseconds)
        console.show_json({**found, **_choice(served)})
    else:
        _print(answer, hits, lines, settings, served, lone=is_lone(modes))
    return 0


def _user(arguments: argparse.Namespace) -> str | None:
    """Return who asks."""
    from ..newcomer import NEWCOMER

    return NEWCOMER if arguments.newcomer else arguments.user


def _served(modes: Modes, mode: str | None) -> Newcomer | None:
    """Return the newcomer if it is a row that shall order the results."""
    return modes.newcomer if mode in (None, "group") else None


def _choice(served: Newcomer | None) -> dict[str, Any]:
    return {"choice": served.as_json()} if served else {}


def hits_of(answer: Answer, modes: Modes, top: int) -> list[dict[str, Any]]:
    """Return the first documents of a ranking with their places."""
    ranking = answer.ranking
    documents = modes.engine.documents(ranking, 0, top)
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
    """Add to each hit what gives it its BM25 and its place; return the same in lines."""
    from ..explanation import as_json, explain_places
    from ..explanation_words import in_lines
    from ..search_lines import is_lone

    told = answer.request
    pool = modes.engine.pool(told.query, told.pool, operators=told.operators)
    places = [hit["plain_rank"] - 1 for hit in hits]
    lone = is_lone(modes)
    placed = explain_places(modes.engine, told, pool, places)
    explained = [replace(each, lone=lone and each.kind == "group") for each in placed]
    for hit, found in zip(hits, explained, strict=True):
        hit["parts"] = [vars(part) for part in found.parts]
        hit["why"] = as_json(found)
    return [in_lines(found) for found in explained]


def _as_json(
    arguments: argparse.Namespace,
    answer: Answer,
    hits: list[dict[str, Any]],
    settings: Settings,
    milliseconds: float,
) -> dict[str, Any]:
    return {
        "query": arguments.query,
        "operators": settings.operators,
        "cut": answer.cut,
        "mode": answer.mode,
        "user": arguments.user,
        "row": answer.row or None,
        "pool": settings.pool,
        "mix": settings.mix,
        "found": len(answer.ranking),
        "milliseconds": round(milliseconds, 3),
        "precision": vars(answer.precision) if answer.precision else None,
        "hits": hits,
    }


def _print(
    answer: Answer,
    hits: list[dict[str, Any]],
    lines: list[list[str]],
    settings: Settings,
    served: Newcomer | None,
    *,
    lone: bool,
) -> None:
    from ..search_lines import headline

    if not hits:
        console.show("nothing found")
        return
    console.show(headline(answer, settings, lone))
    if served and served.row:
        console.show(served.in_words())
    for hit, explained in zip(hits, lines, strict=True):
        moved = hit["plain_rank"] - hit["rank"]
        mark = f"▲{moved}" if moved > 0 else f"▼{-moved}" if moved else "·"
        move = "" if answer.mode == "none" else f"{mark:>5}  "
        console.show(
            f"{hit['rank']:>4}  {move}{hit['score']:8.4f}  {hit['id']}  {hit['title'][:70]}"
        )
        for line in explained:
            console.show(f"      {line}")


# -- many topics ---------------------------------------------------------------------------------


def _answer_topics(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer all topics, and only then put the run in its place."""
    from ..batch import check_topics, rank_topics, without_row
    from ..runs import writing_run

    topics = _topics(arguments)
    tag = "veilsearch" if arguments.tag is None else arguments.tag
    empty, cut = [], []
    with writing_run(arguments.run_file, tag) as run_file:  # before anything else takes time
        modes = _open(arguments, settings, any(topic.user for topic in topics))
        check_topics(modes, topics, arguments.mode)
        rowless = without_row(modes, topics, arguments.mode)
        began = time.perf_counter()
        ranked = rank_topics(
            modes,
            topics,
            arguments.mode,
            pool=settings.pool,
            top=arguments.top or settings.pool,
            mix=settings.mix,
            threads=1 if arguments.threads is None else arguments.threads,
            operators=settings.operators,
        )
        with console.progress("search", len(topics)) as progress:
            for each in ranked:
                run_file.add(each.topic.qid, each.ids, each.scores)
                empty += [] if each.ids else [each.topic.qid]
                cut += [each.topic.qid] if each.cut else []
                progress(run_file.topics)
    seconds = time.perf_counter() - began
    _tell("nothing found for", empty)
    _tell("only the beginning was searched of the very long", cut)
    _tell(ROWLESS, rowless)
    found = {"empty": empty, "cut": cut, "no_row": rowless}
    _tell_run(arguments, run_file, seconds, found, _served(modes, arguments.mode))
    return 0


def _topics(arguments: argparse.Namespace) -> list[Topic]:
    from ..topics import read_topics

    topics, user = read_topics(arguments.topics), _user(arguments)
    if not user:
        return topics
    if any(topic.user for topic in topics):
        named = "newcomer" if arguments.newcomer else "user"
        raise UsageError(f"{arguments.topics} names who asks; leave out --{named}")
    return [replace(topic, user=user) for topic in topics]


def _tell(what: str, qids: list[str]) -> None:
    if qids:
        more = f" and {len(qids) - NAMED} more" if len(qids) > NAMED else ""
        console.say(f"{what} topics: {', '.join(qids[:NAMED])}{more}")


def _tell_run(
    arguments: argparse.Namespace,
    run: RunWriter,
    seconds: float,
    found: Mapping[str, list[str]],
    served: Newcomer | None,
) -> None:
    from ..search_lines import shared_row

    if served and served.notice:
        console.say(served.notice)
    if arguments.json:
        facts = {"topics": run.topics, "rows": run.rows, "seconds": round(seconds, 3)}
        written = {"run": str(arguments.run_file), **facts, **found}
        console.show_json({**written, **_choice(served)})
        return
    console.show(
        f"{run.topics:,} topics, {run.rows:,} rows in {seconds:.1f} s: {arguments.run_file}"
    )
    if served and served.row:
        console.show(f"{shared_row(served.row.name, served.row.users)}, {served.in_words()}")
