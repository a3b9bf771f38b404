"""A judge who sees HTML, headers and order of side-by-side pages, and guesses what is what.

The judge sees everything but the documents: these are what people compare. It learns from half of
the pages what goes with which condition on the left, and guesses it for the other half.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from math import log, sqrt

from flask import Flask

from search_app.web import ServedStudy

from .conftest import Phone

PAGES = int(os.environ.get("VEILSEARCH_BLIND_PAGES", "200"))
_SIGNS = re.compile(r"doc\d\d|Title \d\d|coffee|code|docs\.example · ")
_OWN = re.compile(r"[0-9a-f]{12,}")


def features(headers: dict[str, str], html: str) -> set[str]:
    """Return all that can be seen of a page, without the documents."""
    seen = {f"{name}: {value}" for name, value in headers.items() if name != "Date"}
    masked = _SIGNS.sub("", html)
    lists = masked.split("<section")[1:]
    seen |= {f"length {len(masked)}"} | {f"line {line.strip()}" for line in masked.splitlines()}
    for at, part in enumerate(lists):
        seen |= {f"{at} {line.strip()}" for line in part.splitlines()}
        seen |= {f"{at} has {len(part)}", f"{at} tags {Counter(re.findall('<[a-z0-9]+', part))}"}
    return {_OWN.sub("", one) for one in seen}


def guessed(learn: list[tuple[set[str], str]], judge: list[tuple[set[str], str]]) -> int:
    """Return how often naive Bayes, which learns from pages and answers, guesses right."""
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


def test_the_judge_sees_what_is_planted() -> None:
    pages = [({"same", f"class {answer}"}, answer) for answer in ("own", "none") * 20]
    assert guessed(pages[:20], pages[20:]) == 20


def test_a_judge_guesses_no_better_than_chance(app: Flask, place: ServedStudy) -> None:
    """Of two conditions that meet, one is on the left; the judge knows which two they are."""
    pages: dict[frozenset[str], list[tuple[set[str], str]]] = defaultdict(list)
    for code in place.store.invite(PAGES):
        phone = Phone(app, code)
        phone.agree()
        while phone.go_on() != "/answer":  # practice
            pass
        with phone.client.get("/") as answer:
            html, headers = answer.text, dict(answer.headers)
        person = place.store.of_code(phone.code)
        kept = place.store.trial(person.id, "sides") if person else None
        assert kept is not None
        conditions = kept[0]["conditions"]
        for condition in place.study.conditions:
            assert f'"{condition}"' not in html.replace(' role="group"', "")
        pages[frozenset(conditions)].append((features(headers, html), conditions[0]))
    right = 0
    for seen in pages.values():
        half = len(seen) // 2
        right += guessed(seen[:half], seen[half:]) + guessed(seen[half:], seen[:half])
    print(f"{right} of {PAGES} guesses are right")
    # By chance 1 run in 16,000 is farther away.
    assert abs(right / PAGES - 0.5) <= 4 * sqrt(0.25 / PAGES), right


def test_the_work_is_the_same_whichever_conditions_meet(phone: Phone, place: ServedStudy) -> None:
    ranked: list[tuple[str, ...]] = []
    of = place.rankings.of

    def noted(query: str, conditions: tuple[str, ...], *who: object) -> object:
        ranked.append(conditions)
        return of(query, conditions, *who)  # type: ignore[arg-type]

    place.rankings.of = noted  # type: ignore[assignment, method-assign]
    phone.agree()
    phone.to_the_end()
    assert ranked == [place.study.conditions] * 6  # practice and five tasks, once each
