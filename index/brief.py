"""What is spared where one search is answered, and what would pay only for many."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ONE = ContextVar("one search", default=False)


@contextmanager
def one_search() -> Iterator[None]:
    """Answer meanwhile one search: see who asks `is_one_search`."""
    before = _ONE.set(True)
    try:
        with loading():
            yield
    finally:
        _ONE.reset(before)


@contextmanager
def loading() -> Iterator[None]:
    """Look for no garbage meanwhile: loading modules makes many objects, and hardly any garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        _spare_modules()
        yield
    finally:
        if collecting:
            gc.enable()


def is_one_search() -> bool:
    """Return whether this is for one search only."""
    return _ONE.get()


def _spare_modules() -> None:
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
