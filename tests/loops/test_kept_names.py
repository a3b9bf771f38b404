"""Machine code that two processes kept works in a third one, whichever it loads first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_LOOPS = """
import os, sys
import numpy as np
{early}

def loops():
    from loops.kept import compiled

    @compiled
    def by_value(values):
        return np.sort(values)

    @compiled
    def by_place(values):
        places = np.empty(values.size, np.int64)
        at = 0
        for place in np.argsort(values):
            places[at] = place
            at += 1
        return places

    return by_value, by_place

def in_child(work):
    child = os.fork()
    if not child:
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

values = np.random.default_rng(0).permutation(1000)
right = np.sort(values), np.argsort(values)
one = lambda which: (loops()[which](values) == right[which]).all()
print(in_child(lambda: one(0)), in_child(lambda: one(1)))
for first in (0, 1):
    print(in_child(lambda: one(first) and one(1 - first)))
"""


@pytest.mark.parametrize("early", ["", "import loops.kept"])
def test_loops_kept_by_two_processes_work_together(
    early: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sorts call helpers of one name but for their number, and these do different things."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    words = [sys.executable, "-c", _LOOPS.format(early=early)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"] * 4, done.stderr
    kept = {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert len(kept) == 2


_AT_ONCE = """
import sys
from loops.kept import compiled, when_compiling

@compiled
def thrice(number):
    return 3 * number

said = []
with when_compiling(lambda: said.append(True)):
    print(thrice(5), bool(said))
"""


def test_two_processes_that_compile_at_once_leave_whole_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    words = [sys.executable, "-c", _AT_ONCE]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert all(one.communicate()[0].startswith("15 ") for one in both)
    assert subprocess.check_output(words, text=True) == "15 False\n"
