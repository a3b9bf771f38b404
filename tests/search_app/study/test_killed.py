"""A process that records events is killed at random moments: none is lost, none is there twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from search_app.study.store import FILE, Event, StudyStore

KILLS = int(os.environ.get("VEILSEARCH_KILLS", "4"))
RECORDING = """
import sys, threading
from pathlib import Path
from search_app.study.store import Event, StudyStore

store, number, name = StudyStore(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
lock = threading.Lock()

def work(thread):
    for at in range(10**9):
        event = Event("java", "click", f"{name}.{thread}.{at}", 1)
        store.record(number, [event], 5)
        store.record(number, [event], 6)  # as a browser that sends it again
        with lock:
            print(event.object_id, flush=True)

for thread in range(8):
    threading.Thread(target=work, args=(thread,)).start()
"""


def test_no_acknowledged_event_is_lost_and_none_is_there_twice(tmp_path: Path) -> None:
    path, rng = tmp_path / FILE, random.Random(5)  # noqa: S311
    with closing(StudyStore(path)) as store:
        store.invite(1)
        (person,) = store.participants()
    acknowledged: list[str] = []
    for kill in range(KILLS):
        command = [sys.executable, "-c", RECORDING, str(path), str(person.id), f"run{kill}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(rng.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
        process.stdout.close()
        process.wait()
        # The last line may be cut.
        acknowledged += (first + rest.rpartition("\n")[0]).split()
    assert len(acknowledged) >= KILLS
    with closing(StudyStore(path)) as store:
        there = Counter(row[3] for row in store.events())
        assert store.fault() == ""
        store.record(person.id, [Event("java", "click", "after", 1)], 7)
        assert len(store.events()) == len(there) + 1
    assert set(there.values()) == {1}
    assert not {*acknowledged} - {*there}
