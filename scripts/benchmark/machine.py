"""How busy the machine was during a measurement: by us, and by other programs. [I/O]"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

STAT = Path("/proc/stat")
_COMPUTING = (0, 1, 2, 5, 6, 7)  # user, nice, system, two kinds of interrupts, stolen by a host
SHARE = 0.25  # of the cores: if others use more, a missed bar is not judged


class Spent(NamedTuple):
    """Seconds on the clock, and seconds computed: by this process with its children, and by others.

    Only Linux says what others computed.
    """

    seconds: float
    computing: float
    others: float | None = None

    def since(self, earlier: Spent) -> Spent:
        """Return what was spent since `earlier`."""
        others = None
        if self.others is not None and earlier.others is not None:
            # The two clocks differ a little.
            others = round(max(0.0, self.others - earlier.others), 1)
        return Spent(
            round(self.seconds - earlier.seconds, 1),
            round(self.computing - earlier.computing, 1),
            others,
        )


class Load(NamedTuple):
    """Load averages of one minute, before and after a measurement."""

    before: float
    after: float


def now() -> Spent:
    """Return what has been spent up to now."""
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
    """Return how others kept the machine busy, or nothing if they hardly did, by `spent`."""
    # The load average lags and counts our own threads that wait for a core. So it decides only
    # where the system does not say what others computed.
    all_cores, seconds = os.cpu_count() or 1, max(spent.seconds, 0.1)
    if spent.others is None:
        if max(load) - spent.computing / seconds < SHARE * all_cores:
            return ""
        return f"the load was {load.before:g} before and {load.after:g} after"
    if spent.others < SHARE * all_cores * seconds:
        return ""
    return f"others kept {spent.others / seconds:.1f} of {all_cores} cores busy"
