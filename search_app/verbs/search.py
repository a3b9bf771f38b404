"""veilsearch search: answer a query, personalized or not."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import console
from ..errors import UsageError
from ..settings import Settings, changed
from ..workspace import Workspace

if TYPE_CHECKING:
    from ..modes import Answer, Modes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--user", metavar="U", help="the person who asks")
    parser.add_argument(
        "--mode",
        choices=("none", "own", "group"),
        help="plain, by the own profile, or by the group's row "
        "(none without a user; else group, or own where there is no release)",
    )
    parser.add_argument("--pool", type=int, metavar="N", help="documents that are re-ranked (100)")
    parser.add_argument("--top", type=int, metavar="N", help="results shown (10)")
    parser.add_argument("--mix", type=float, metavar="X", help="1: profile alone, 0: BM25 alone")
    parser.add_argument("--index", metavar="NAME", help="an index of the workspace by name")
    parser.add_argument("--profiles", type=Path, metavar="FILE", help="other than the current ones")
    parser.add_argument("--release", type=Path, metavar="DIR", help="other than the current one")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer the query."""
    from ..opening import open_modes

    settings = changed(settings, pool=arguments.pool, top=arguments.top, mix=arguments.mix)
    if not arguments.query.strip():
        raise UsageError("the query is empty; say what to search for")
    modes = open_modes(
        Workspace(settings.workspace),
        settings,
        index=arguments.index,
        profiles=arguments.profiles,
        release=arguments.release,
        personal=bool(arguments.user) or arguments.mode in ("own", "group"),
    )
    mode = arguments.mode or _default_mode(arguments.user, modes)
    modes.engine.warm_up()  # what one process waits for once is no part of a search's time
    began = time.perf_counter()
    answer = modes.answer(
        arguments.query, mode, arguments.user, pool=settings.pool, mix=settings.mix
    )
    milliseconds = 1000 * (time.perf_counter() - began)
    hits = hits_of(answer, modes, settings.top)
    if arguments.json:
        console.show_json(_as_json(arguments, answer, hits, settings, milliseconds))
    else:
        _print(answer, hits, settings)
    return 0


def _default_mode(user: str | None, modes: Modes) -> str:
    if not user:
        return "none"
    return "group" if modes.release else "own"


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


def _as_json(
    arguments: argparse.Namespace,
    answer: Answer,
    hits: list[dict[str, Any]],
    settings: Settings,
    milliseconds: float,
) -> dict[str, Any]:
    return {
        "query": arguments.query,
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


def _print(answer: Answer, hits: list[dict[str, Any]], settings: Settings) -> None:
    if not hits:
        console.show("nothing found")
        return
    console.show(_headline(answer, settings))
    for hit in hits:
        moved = hit["plain_rank"] - hit["rank"]
        mark = f"▲{moved}" if moved > 0 else f"▼{-moved}" if moved else "·"
        move = "" if answer.mode == "none" else f"{mark:>5}  "
        console.show(
            f"{hit['rank']:>4}  {move}{hit['score']:8.4f}  {hit['id']}  {hit['title'][:70]}"
        )


def _headline(answer: Answer, settings: Settings) -> str:
    who = {
        "none": "plain BM25 order",
        "own": "by the own profile",
        "group": f"by row {answer.row}, shared by {answer.users} people",
    }[answer.mode]
    if answer.precision is None:
        return f"{who}, pool {settings.pool}"
    precision = answer.precision
    corrected = "" if precision.ap_c is None else f", AP_c {precision.ap_c:.3f}"
    return f"{who}; AP {precision.ap:.3f}{corrected} over a pool of {precision.pool}"
