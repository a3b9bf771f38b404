"""A judge who sees HTML, headers and order of side-by-side pages, and guesses what is what.

The judge sees everything but the documents: these are what people compare. It learns from half of
the pages what goes with which condition on the left, and guesses it for the other half.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from math import sqrt
from pathlib import Path

import pytest

from scripts.blindness import Seen, features, right_guesses, timed
from search_app.search.modes import Modes
from search_app.web import ServedStudy, create_study_app

from .conftest import Clock, Page, Phone, place_of, write_study
from .test_study_device import CANDIDATES

PAGES = int(os.environ.get("VEILSEARCH_BLIND_PAGES", "120"))
_SIGNS = re.compile(r"doc\d\d|Title \d\d|coffee|code|docs\.example · ")


def test_the_judge_sees_what_is_planted() -> None:
    pages = [({"same", f"class {answer}"}, answer) for answer in ("own", "none") * 20]
    assert right_guesses(pages) == 40
    # And in times, whatever else is seen.
    slow = [[at % 2 + at * 7 % 40 / 1000] for at in range(40)]
    answers = ("own", "none") * 20
    pages = [({"same"} | tenth, one) for tenth, one in zip(timed(slow), answers, strict=True)]
    assert right_guesses(pages) > 30


@pytest.mark.parametrize("device", [False, True])
def test_a_judge_guesses_no_better_than_chance(
    tmp_path: Path, modes: Modes, clock: Clock, device: bool
) -> None:
    """Of two conditions that meet, one is on the left; the judge knows which two they are."""
    place = place_of(write_study(tmp_path / "blind", device=device), modes, clock)
    app = create_study_app(place)
    pages: dict[frozenset[str], list[Seen]] = defaultdict(list)
    for code in place.store.invite(PAGES):
        phone = Phone(app, code)
        phone.agree()
        while phone.go_on() != "/answer":  # practice
            pass
        with phone.client.get("/") as answer:
            html, headers = answer.text, dict(answer.headers)
        seen = features(headers, _SIGNS.sub("", html))
        if device:  # what the script gets, too
            answer = phone.client.post(CANDIDATES, data={"step": phone.step})
            seen |= features(dict(answer.headers), answer.text)
            for name in ("pad", "masked"):
                text = (answer.json or {})[name]
                seen |= {f"{name} {at} {sign}" for at, sign in enumerate(text)}
        person = place.store.of_code(phone.code)
        kept = place.store.trial(person.id, "sides") if person else None
        assert kept is not None
        conditions = kept[0]["conditions"]
        for condition in place.study.conditions:
            assert f'"{condition}"' not in html.replace(' role="group"', "")
        pages[frozenset(conditions)].append((seen, conditions[0]))
    right = sum(map(right_guesses, pages.values()))
    print(f"{right} of {PAGES} guesses are right")
    # By chance 1 run in 16,000 is farther away.
    assert abs(right / PAGES - 0.5) <= 4 * sqrt(0.25 / PAGES), right
    place.store.close()


def test_a_task_is_one_answer_made_as_a_whole(phone: Phone, place: ServedStudy) -> None:
    """So that no list can come before another, and no request is made for one of them."""
    phone.agree()
    tasks = 0
    while "Thank you" not in phone.get().text:
        with phone.client.get("/") as answer:
            page = Page(answer.text)
            if 'id="answer"' in answer.text:
                tasks += 1
                assert not answer.is_streamed
                assert answer.headers["Content-Length"] == str(len(answer.data))
                assert "Transfer-Encoding" not in answer.headers
                kinds = ("img", "iframe", "object", "embed", "source", "video")
                assert not [one for kind in kinds for one in page.all(kind)]
                fetched = {str(one["href"]) for one in page.all("link")}
                fetched |= {str(one["src"]) for one in page.all("script")}
                assert all(one.startswith("/static/") for one in fetched)
                assert "data-live" not in answer.text
        phone.go_on()
    assert tasks == 1 + len(place.study.tasks)


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
