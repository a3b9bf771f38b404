"""Where code is kept that is made once for all processes: of loops, and Java's classes. [I/O]"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def folder() -> Path | None:
    """Return where code is kept: in the user's cache, or next to this file, or None."""
    chosen = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = Path(chosen, "veilsearch", "compiled")
    for place in (own, Path(__file__).parent / "__pycache__"):
        with suppress(OSError, RuntimeError):  # OSError: read-only; RuntimeError: no home folder
            kept = place.expanduser()
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            facts = kept.stat()
            # Code from here is executed, so nobody else may own the folder or write to it.
            if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
                continue
            # Only writing shows whether a file can be written here.
            tempfile.TemporaryFile(dir=kept).close()
            return kept
    return None
