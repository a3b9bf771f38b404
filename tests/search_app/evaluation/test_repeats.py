"""A person's search is logged once, and intervals are over people; nothing of it is on the disk."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from search_app.evaluation.log import Chosen, Entry, PrecisionLog
from search_app.evaluation.log_history import course, differences
from search_app.evaluation.repeats import Repeats
from search_app.measures.precision import PoolPrecision

CAUCHY = math.tan(0.475 * math.pi)  # Student's t of one degree of freedom, 97.5 %
Values = list[tuple[str, float]]
SERVED = frozenset({("none", "r")})


def entry(mode: str, ap: float) -> Entry:
    return Entry(1000, mode, 100, "cosine", "c", "r", PoolPrecision(ap, ap, ap, None, 40))


def test_further_modes_of_a_search_join_it() -> None:
    log = PrecisionLog(None)
    for modes in ("none own", "own", "group own none", "none"):
        log.add([entry(mode, 0.5) for mode in modes.split()], "ada", "java")
    log.add([entry("none", 0.5)], "ada", "tea")
    rows = [(row["search"], row["mode"]) for row in log.rows()]
    assert rows == [(1, "none"), (1, "own"), (1, "group"), (2, "none")]


def test_what_could_not_be_written_is_not_taken_for_logged() -> None:
    log, broken = PrecisionLog(None), [entry("none", 0.5)._replace(corpus=object())]  # type: ignore[arg-type]
    with pytest.raises(Exception, match=r"not supported|can't"):
        log.add(broken, "ada", "java")
    log.add([entry("none", 0.5)], "ada", "java")
    assert log.last() == 1


def test_of_equal_requests_at_once_one_counts(tmp_path: Path) -> None:
    log, start = PrecisionLog(tmp_path / "log.sqlite"), threading.Barrier(8)

    def ask() -> None:
        start.wait()
        for number in range(20):
            log.add([entry("none", 0.5)], "ada", number)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (log.last(), len(log.repeats)) == (20, 20)


def test_who_is_forgotten_leaves_nothing_and_others_stay() -> None:
    repeats = Repeats()
    for number, user in enumerate(("ada", "bo", "cy", "ada"), 1):
        repeats.claim(user, number, SERVED)
        repeats.note(user, number, number)
    known = repeats.numbers()
    assert known[1] == known[4] != known[2]
    repeats.forget("ada")
    assert (len(repeats), repeats.numbers().keys()) == (2, {2, 3})
    repeats.keep({"cy", "dee"})
    assert (len(repeats), repeats.numbers().keys()) == (1, {3})


def test_what_is_claimed_is_new_once_until_it_is_released() -> None:
    """Two workers of a server share this, and each logs what it claims."""
    repeats, other = Repeats(), frozenset({("own", "r")})
    assert repeats.claim("ada", "java", SERVED) == (None, SERVED)
    assert repeats.claim("ada", "java", SERVED) == (None, frozenset())
    repeats.note("ada", "java", 7)
    assert repeats.claim("ada", "java", SERVED | other) == (7, other)
    repeats.release("ada", "java", other)
    assert repeats.claim("ada", "java", SERVED | other) == (7, other)
    repeats.forget("ada")
    repeats.note("ada", "java", 8)  # who was forgotten meanwhile stays so
    assert (len(repeats), repeats.numbers()) == (0, {})


def test_no_server_knows_the_people_of_another() -> None:
    """Each has its own key, so that hashes tell nothing elsewhere, not even that two are equal."""
    hashes = set[tuple[bytes, bytes]]()
    for repeats in (Repeats(), Repeats()):
        repeats.claim("ada", "java", SERVED)
        hashes |= {*repeats._logged}
    assert len(hashes) == 2
    assert not any(b"ada" in part for place in hashes for part in place)


searches = [(user, query, modes) for user in "ab" for query in "xy" for modes in ("n", "no", "g")]
# Each search stands five times, so that memories fill before somebody leaves.
steps = st.lists(
    st.sampled_from([*searches * 5, *(("forget", user) for user in "ab"), ("keep", "a")]),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(steps, st.integers(1, 4))
def test_it_counts_as_a_list_of_all_that_was_asked_does(steps: list[tuple], kept: int) -> None:  # type: ignore[type-arg]
    """The twin keeps plain names in a list, the oldest first, and looks through it each time."""
    log, lines = PrecisionLog(None), []
    log.repeats = Repeats(kept)
    seen: list[tuple[str, str, int, set[str]]] = []
    for step in steps:
        if step[0] == "forget":
            log.repeats.forget(step[1])
            seen = [one for one in seen if one[0] != step[1]]
        elif step[0] == "keep":
            log.repeats.keep(step[1])
            seen = [one for one in seen if one[0] in step[1]]
        else:
            user, query, modes = step
            log.add([entry(mode, 0.5) for mode in modes], user, query)
            before = [one for one in seen if one[:2] == (user, query)]
            number, had = before[0][2:] if before else (1 + max([0, *(n for n, _ in lines)]), set())
            if new := [mode for mode in modes if mode not in had]:
                lines += [(number, mode) for mode in new]
                seen = [one for one in seen if one not in before]
                seen = [*seen, (user, query, number, had | set(new))][-kept:]
    assert [(row["search"], row["mode"]) for row in log.rows()] == lines
    assert len(log.repeats) == len(seen)
    known = {number: user for user, _, number, _ in seen}
    people = log.repeats.numbers()
    assert people.keys() == known.keys()
    for one, user in known.items():
        same = {other for other in people if people[other] == people[one]}
        assert same == {other for other in known if known[other] == user}


def test_workers_that_log_a_search_at_once_leave_nothing_of_who_is_forgotten() -> None:
    """Neither knows yet that the other one logs it in another mode."""
    repeats = Repeats()
    for mode in ("own", "group"):
        assert repeats.claim("ada", "java", frozenset({(mode, "r")}))[0] is None
    for number in (1, 2):
        repeats.note("ada", "java", number)
    assert repeats.numbers() == {1: -1, 2: -1}
    repeats.forget("ada")
    assert repeats.numbers() == {}


def test_two_counts_at_once_number_people_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The numbers of people differ from count to count, so none may change within one."""
    log = logged([("ada", 0.4), ("bo", 0.6)])
    answers, counts = log._counter.ask, list[threading.Thread]()

    def ask(question: str, values: Mapping[str, Any]) -> list[Any]:
        before = log._counted.people
        if not counts:
            counts.append(threading.Thread(target=log.summary))
            counts[0].start()
            counts[0].join(0.1)
        assert log._counted.people is before
        return answers(question, values)

    monkeypatch.setattr(log._counter, "ask", ask)
    assert {mean.people for mean in log.summary()} == {2}
    counts[0].join()


def interval(values: Values) -> tuple[float, float] | None:
    """Return mean and half width by the residuals of each person; "" is a person of its own."""
    x = np.array([value for _, value in values])
    names = [name or f"?{at}" for at, (name, _) in enumerate(values)]
    people = sorted(set(names))
    sums = [sum(x[at] - x.mean() for at, n in enumerate(names) if n == one) for one in people]
    if len(people) < 2:
        return None
    error = math.sqrt(np.square(sums).sum() * len(people) / (len(people) - 1)) / len(x)
    return float(x.mean()), float(stats.t.ppf(0.975, len(people) - 1)) * error


def logged(values: Iterable[tuple[str, float]]) -> PrecisionLog:
    log = PrecisionLog(None)
    for number, (user, ap) in enumerate(values):
        log.add([entry("none", 0.0), entry("own", 1.0), entry("group", ap)], user, number)
    return log


def test_ten_searches_of_one_person_are_no_ten_people() -> None:
    """Two people with means of 0.4 and 0.6, five searches each: as two values, 0.1 apart of 0.5."""
    log = logged([("ada", 0.4), ("bo", 0.6)] * 5)
    (group,) = (mean for mean in log.summary() if mean.mode == "group")
    assert (group.searches, group.people) == (10, 2)
    assert group.half_width == pytest.approx(CAUCHY * 0.1)
    (gained, _), (line, *_) = (
        differences(log, Chosen(100, "cosine", "c", "r")),
        course(log, Chosen(100, "cosine", "c", "r")),
    )
    assert (gained.searches, gained.half) == (10, pytest.approx(CAUCHY * 0.1))
    assert line.points[0].half is None  # a point of two people has none
    log.repeats.forget("bo")
    (group,) = (mean for mean in log.summary() if mean.mode == "group")
    assert group.people == 6  # one known, and five searches of nobody known


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a", "b", "c"]), st.sampled_from([0.0, 0.25, 0.5, 0.9])),
        min_size=1,
        max_size=25,
    )
)
def test_intervals_are_those_of_each_persons_residuals(values: Values) -> None:
    log, expected = logged(values), interval(values)
    (group,) = (mean for mean in log.summary() if mean.mode == "group")
    gained = next(d for d in differences(log, Chosen(100, "cosine", "c", "r")) if d.mode == "group")
    for mean, half in ((group.ap, group.half_width), (gained.mean, gained.half)):
        assert (half is None) is (expected is None)
        if expected:
            assert (mean, half) == pytest.approx(
                expected, abs=1e-6
            )  # of a square root of a rounded 0
