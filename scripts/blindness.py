"""Guess which condition is which from what a participant's browser gets, its timing included.

usage: .venv/bin/python -m scripts.blindness [WORKSPACE] [--tasks 1000]

A study with side-by-side tasks of three conditions is served by real HTTP from WORKSPACE, which
needs a release. A judge learns from half of the pages what goes with which condition on the left,
and guesses it for the other half. It sees HTML, headers, order and the times of two requests, but
not the documents: these are what people compare.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection
from math import log
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from search_app.study.store import FILE, StudyStore

Seen = tuple[set[str], str]  # what is seen of a page, and the condition on the left
QUERIES = ("java", "bass", "mercury", "python", "crane")
SEARCHES = ("coffee\nespresso\nroasting", "jazz\nguitar\nchord", "planet\norbit\ntelescope")
SHARES = 10  # into which times are cut
_OWN = re.compile(r"[0-9a-f]{12,}")
_DOCUMENTS = re.compile(r'<ol class="hits">.*?</ol>', re.DOTALL)
_STUDY = """name = "blind"
title = "Which would you rather have?"
conditions = ["none", "own", "group"]
profile = "queries"
consent = "text.md"
"""
_TASK = '[[task]]\nid = "{0}"\nquery = "{0}"\ntext = "text.md"\n'


def features(headers: Mapping[str, str], html: str) -> set[str]:
    """Return all that can be seen of a page whose documents are masked."""
    seen = {f"{name}: {value}" for name, value in headers.items() if name != "Date"}
    lists = html.split("<section")[1:]
    seen |= {f"length {len(html)}"} | {f"line {line.strip()}" for line in html.splitlines()}
    for at, part in enumerate(lists):
        seen |= {f"{at} {line.strip()}" for line in part.splitlines()}
        seen |= {f"{at} has {len(part)}", f"{at} tags {Counter(re.findall('<[a-z0-9]+', part))}"}
    return {_OWN.sub("", one) for one in seen}


def right_guesses(pages: Sequence[Seen]) -> int:
    """Return how often naive Bayes guesses right; each half of `pages` teaches the other."""
    half = len(pages) // 2
    return guessed(pages[:half], pages[half:]) + guessed(pages[half:], pages[:half])


def guessed(learn: Sequence[Seen], judge: Sequence[Seen]) -> int:
    """Return how often naive Bayes, which learns from `learn`, guesses right in `judge`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    answers = Counter(answer for _, answer in learn)
    for seen, answer in learn:
        counts[answer].update(seen)
    known = {one for seen, _ in learn for one in seen}

    def weight(seen: set[str], answer: str) -> float:
        total = log(answers[answer])
        for one in known:
            share = (counts[answer][one] + 1) / (answers[answer] + 2)
            total += log(share if one in seen else 1 - share)
        return total

    return sum(
        max(sorted(answers), key=lambda one: weight(seen, one)) == answer for seen, answer in judge
    )


def timed(times: Sequence[Sequence[float]]) -> list[set[str]]:
    """Return for each page in which tenth of all pages each of its `times` lies."""
    ranks = np.argsort(np.argsort(np.array(times), axis=0), axis=0)
    tenths = ranks * SHARES // max(len(times), 1)
    return [{f"time {at} in {one}" for at, one in enumerate(row)} for row in tenths.tolist()]


class Visitor:
    """A participant's browser."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._cookie = ""

    def send(self, path: str, **form: str) -> tuple[dict[str, str], str, float]:
        """Return headers and body of the answer, and the seconds until its last byte."""
        headers = {"Cookie": self._cookie, "Content-Type": "application/x-www-form-urlencoded"}
        method, body = ("POST", urlencode(form)) if form else ("GET", None)
        start = time.perf_counter()
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        took = time.perf_counter() - start
        self._cookie = (answer.headers["Set-Cookie"] or self._cookie).partition(";")[0]
        return dict(answer.headers), text, took


def value_of(name: str, html: str) -> str:
    """Return the value of the field `name` in `html`."""
    return str(re.findall(rf'name="{name}" value="([^"]*)"', html)[0])


def visit(port: int, code: str, searches: str) -> list[tuple[dict[str, str], str, list[float]]]:
    """Go through the study with `code`; return headers, page and times of each task."""
    visitor, pages = Visitor(port), []
    version = value_of("version", visitor.send(f"/join/{code}")[1])
    visitor.send("/consent", code=code, version=version)
    visitor.send("/profile", step="1", queries=searches)
    for step in range(2, 2 + len(QUERIES)):
        headers, page, first = visitor.send("/")  # makes the rankings
        *_, again = visitor.send("/")
        pages.append((headers, page, [first, again]))
        visitor.send("/answer", step=str(step), choice="same")
    return pages


def judged(folder: Path, port: int, tasks: int) -> dict[str, float]:
    """Return the share of right guesses of `tasks` tasks, by what the judge sees."""
    with closing(StudyStore(folder / FILE)) as store:
        codes = list(map(str, store.invite(-(-tasks // len(QUERIES)))))
    visits = [visit(port, code, SEARCHES[at % 3]) for at, code in enumerate(codes)]
    with closing(StudyStore(folder / FILE)) as store:
        shown = {(who, task): tuple(one["conditions"]) for who, task, one, *_ in store.trials()}
        people = [one.id for one in map(store.of_code, codes) if one]
    pages = [page for pages in visits for page in pages]
    met = [shown[who, task] for who in people for task in QUERIES]
    times = timed([took for *_, took in pages])
    texts = [features(headers, _DOCUMENTS.sub("", html)) for headers, html, _ in pages]
    kinds: dict[str, Callable[[int], set[str]]] = {
        "times": lambda at: times[at],
        "HTML, headers and order": lambda at: texts[at],
        "all of it": lambda at: times[at] | texts[at],
    }
    shares = {}
    for name, seen_of in kinds.items():
        pairs: dict[frozenset[str], list[Seen]] = defaultdict(list)
        for at, conditions in enumerate(met):
            pairs[frozenset(conditions)].append((seen_of(at), conditions[0]))
        shares[name] = sum(map(right_guesses, pairs.values())) / len(met)
    return shares


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a study of a workspace, and print how often the judge guesses right."""
    parser = argparse.ArgumentParser(description="guess the conditions of a blind study")
    parser.add_argument("workspace", nargs="?", type=Path, default=Path("veilsearch-data"))
    parser.add_argument("--tasks", type=int, default=1000)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = _STUDY + "".join(_TASK.format(query) for query in QUERIES)
        (folder / "study.toml").write_text(text)
        (folder / "text.md").write_text("Which one would you rather have?\n")
        command = [sys.executable, "-m", "search_app", "serve", "--mode", "study", name]
        command += ["--port", "0"]
        there = {**os.environ, "VEILSEARCH_WORKSPACE": str(chosen.workspace.resolve())}
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=there)  # noqa: S603
        try:
            lines = server.stderr or ()
            said = next((line for line in lines if line.startswith("Serving")), "")
            if not said:
                raise SystemExit("the study could not be served")
            port = int(re.findall(r":([0-9]+)/", said)[0])
            for kind, share in judged(folder, port, chosen.tasks).items():
                print(f"{kind}: {share:.1%} right")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
