"""The log is counted once for all visitors, and not again at once where that takes long."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.exceptions import ServiceUnavailable

from search_app.evaluation.log import Chosen, Entry, LogSummary, PrecisionLog
from search_app.measures.precision import PoolPrecision
from search_app.web.charts import log_figures
from search_app.web.charts.log_figures import COUNTING, KEPT, pictured, summaries

SETTING = Chosen(100, "cosine", "c", "r")


def searched(log: PrecisionLog, pool: int = 100) -> None:
    same = PoolPrecision(0.5, 0.5, 0.5, None, 40)
    log.add([Entry(1000, mode, pool, "cosine", "c", "r", same) for mode in ("none", "group")])


def counts(log: PrecisionLog) -> list[int]:
    return [summary.searches for summary in summaries(log).value]


class Gate:
    """Holds a thread that counts until it may go on."""

    def __init__(self, log: PrecisionLog, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self._count = log.summary
        monkeypatch.setattr(log, "summary", self.summary)

    def summary(self) -> list[LogSummary]:
        self.begun.set()
        assert self.may_end.wait(30)
        return self._count()

    def __enter__(self) -> None:
        assert self.begun.wait(30)

    def __exit__(self, *_fault: object) -> None:
        self.may_end.set()


def test_an_unchanged_log_is_not_counted_again(log: PrecisionLog) -> None:
    searched(log)
    assert summaries(log).value is summaries(log).value
    assert pictured(log, SETTING).value is pictured(log, SETTING).value


def test_a_short_log_is_counted_after_every_search(log: PrecisionLog) -> None:
    for number in (1, 2):
        searched(log)
        assert counts(log) == [number, number]
        assert pictured(log, SETTING).value.differences[0].searches == number


def test_a_long_count_is_not_repeated_at_once_and_tells_its_age(
    client: FlaskClient, log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_figures, "SHORT", 0.0)
    monkeypatch.setattr(log_figures, "REST", 1e9)
    searched(log)
    assert " old:" not in client.get("/log").text
    searched(log)
    assert re.search(r"Averages and pictures are \d+ seconds? old:", client.get("/log").text)
    answer: Any = client.get("/api/v1/log").json
    assert [mean["searches"] for mean in answer["means"]] == [1, 1]
    assert answer["age"] >= 1
    monkeypatch.setattr(log_figures, "REST", 0)
    assert counts(log) == [2, 2]
    assert " old:" not in client.get("/log").text


def test_while_one_counts_the_others_get_what_was_counted_last(
    log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(log)
    summaries(log)
    searched(log)
    gate = Gate(log, monkeypatch)
    counter = threading.Thread(target=summaries, args=(log,))
    counter.start()
    with gate:
        seen = summaries(log)
    counter.join()
    assert [summary.searches for summary in seen.value] == [1, 1]
    assert seen.age >= 1
    assert counts(log) == [2, 2]


def test_the_first_count_is_not_awaited_for_ever_and_stops_no_search(
    client: FlaskClient, log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_figures, "PATIENCE", 0.01)
    gate = Gate(log, monkeypatch)
    counter = threading.Thread(target=summaries, args=(log,))
    counter.start()
    with gate:
        with pytest.raises(ServiceUnavailable, match=COUNTING):
            summaries(log)
        refused = client.get("/log")
        searched(log)
    counter.join()
    assert refused.status_code == 503
    assert COUNTING in refused.text
    assert client.get("/log").status_code == 200


def test_who_waited_takes_what_the_other_counted(
    log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(log)
    gate = Gate(log, monkeypatch)
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(summaries(log).value)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    with gate:
        pass
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert all(value is found[0] for value in found)


def test_a_count_that_failed_is_tried_again(
    log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.delattr(PrecisionLog, "summary")
        with pytest.raises(AttributeError):
            summaries(log)
    searched(log)
    assert counts(log) == [1, 1]


def test_few_settings_are_kept(log: PrecisionLog) -> None:
    searched(log)
    first = pictured(log, SETTING).value
    for pool in range(1, KEPT + 1):
        searched(log, pool)
        pictured(log, SETTING._replace(pool=pool))
    assert pictured(log, SETTING).value is not first


def test_means_and_pictures_share_one_patience(
    log: PrecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A visit that waited for the means until its end doesn't wait for the pictures again."""
    searched(log)
    gate = Gate(log, monkeypatch)
    counter = threading.Thread(target=summaries, args=(log,))
    counter.start()
    with gate:
        begun = time.monotonic()
        with pytest.raises(ServiceUnavailable, match=COUNTING):
            pictured(log, SETTING, begun)
        assert time.monotonic() - begun < log_figures.PATIENCE / 2
    counter.join()
