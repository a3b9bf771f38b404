"""What the machine did while something was measured: for us, and for others. [I/O]"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

STAT = Path("/proc/stat")
_COMPUTING = (0, 1, 2, 5, 6, 7)  # user, nice, system, interrupts of two kinds, stolen by a host
SHARE = 0.25  # of the cores, from which others' computing disturbs


class Spent(NamedTuple):
    """Seconds that went by, and what this process with its ended children and others computed.

    What others computed is known on Linux alone.
    """

    seconds: float
    computing: float
    others: float | None = None

    def since(self, earlier: Spent) -> Spent:
        """Return what was spent since an earlier moment."""
        others = None
        if self.others is not None and earlier.others is not None:
            others = round(max(0.0, self.others - earlier.others), 1)  # clocks of their own
        return Spent(
            round(self.seconds - earlier.seconds, 1),
            round(self.computing - earlier.computing, 1),
            others,
        )


class Load(NamedTuple):
    """Load averages of a minute, before and after."""

    before: float
    after: float


def now() -> Spent:
    """Return what is spent up to now."""
    ours = sum(os.times()[:4])
    everyone = computed()
    return Spent(time.perf_counter(), ours, None if everyone is None else everyone - ours)


def computed() -> float | None:
    """Return the seconds that the whole machine has computed, over all cores; None if unknown."""
    try:
        numbers = STAT.read_text(encoding="ascii").split(None, 9)[1:9]
    except OSError:
        return None
    return sum(int(numbers[at]) for at in _COMPUTING) / os.sysconf("SC_CLK_TCK")


def load_average() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def busy(spent: Spent, load: Load) -> str:
    """Say how others kept the machine busy meanwhile; nothing if they hardly did.

    The load average lags and counts our own threads that wait for a core, so it decides only where
    nobody says what others computed.
    """
    all_cores, seconds = os.cpu_count() or 1, max(spent.seconds, 0.1)
    if spent.others is None:
        if max(load) - spent.computing / seconds < SHARE * all_cores:
            return ""
        return f"the load was {load.before:g} before and {load.after:g} after"
    if spent.others < SHARE * all_cores * seconds:
        return ""
    return f"others kept {spent.others / seconds:.1f} of {all_cores} cores busy"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
