"""What is spared where one search is answered: checks made before, and a second compiler."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ONE = ContextVar("one search", default=False)


@contextmanager
def one_search() -> Iterator[None]:
    """Open meanwhile what one search needs: see `faults_of` and `jvm.start`."""
    before = _ONE.set(True)
    try:
        yield
    finally:
        _ONE.reset(before)


def is_one_search() -> bool:
    """Return whether what is opened now serves one search only."""
    return _ONE.get()


def spare_modules() -> None:
    """Let parts of numpy load only when something uses them."""
    # SciPy touches all of numpy's names. Of these two nobody uses anything, and to load them takes
    # a twentieth of a search.
    import numpy as np

    for part in ("f2py", "testing"):
        name = f"numpy.{part}"
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            continue
        loader = importlib.util.LazyLoader(spec.loader)
        spec.loader = loader
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        setattr(np, part, module)
