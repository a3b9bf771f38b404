"""What the engine was last told is kept by person and mode, bounded, and dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from search_app.accounts.transcripts import Transcripts
from search_app.search.request import Request


def test_the_last_request_of_each_mode_is_kept() -> None:
    kept = Transcripts()
    kept.note("1", "none", Request("java", 100), kept.generation)
    kept.note("1", "own", Request("java", 100, profile={"coffee": 1.0}), kept.generation)
    kept.note("1", "none", Request("tea", 100), kept.generation)
    assert kept.of("1") == {
        "none": Request("tea", 100),
        "own": Request("java", 100, profile={"coffee": 1.0}),
    }
    assert kept.of("2") == {}


def test_who_searched_longest_ago_goes_first() -> None:
    kept = Transcripts(people=2)
    for user in ("1", "2", "1", "3"):
        kept.note(user, "none", Request("java", 100), kept.generation)
    assert [bool(kept.of(user)) for user in ("1", "2", "3")] == [True, False, True]


def test_many_threads_note_at_once() -> None:
    kept = Transcripts(people=10)

    def search(number: int) -> None:
        for at in range(500):
            kept.note(str((number + at) % 20), "none", Request("java", 100), kept.generation)
            kept.drop(str(at % 20))

    threads = [threading.Thread(target=search, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(bool(kept.of(str(user))) for user in range(20)) <= 10


@pytest.mark.parametrize("drop", [lambda kept: kept.drop("1"), Transcripts.clear])
def test_a_search_that_began_before_something_was_dropped_is_not_kept(
    drop: Callable[[Transcripts], None],
) -> None:
    kept = Transcripts()
    began = kept.generation
    kept.note("1", "own", Request("java", 100), began)
    drop(kept)
    kept.note("1", "none", Request("java", 100), began)
    assert kept.of("1") == {}
    kept.note("1", "none", Request("java", 100), kept.generation)
    assert set(kept.of("1")) == {"none"}
