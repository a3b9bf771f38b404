"""Loops that are compiled or loaded when they are first called; until then nothing loads numba."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

import numpy as np

R = TypeVar("R")


def compiled(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function` compiled; its machine code is kept where a folder can be written."""
    return cast(Callable[..., R], Loop(function))


def when_compiling(notice: Callable[[], object]) -> AbstractContextManager[None]:
    """Return a context in which `notice` is called once if a loop is compiled, as none was kept."""
    from .kept import noticed

    return noticed(notice)


def uncompiled(loop: Callable[..., R]) -> Callable[..., R]:
    """Return `loop` as Python runs it: the same result to the bit, if it calls no other loop."""
    # Here whole numbers that grow too large say so, where machine code is silent.
    return np.errstate(over="ignore")(cast(Loop, loop).function)


class Loop:
    """A loop, for Python and for other loops."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Return what the function returns for `values` and `named`."""
        return self.made(*values, **named)

    @cached_property
    def made(self) -> Any:
        """Return what numba made of the function."""
        from .kept import made

        return made(self.function)

    @property
    def _numba_type_(self) -> Any:
        """Return how numba sees it when it compiles a loop that calls it."""
        return self.made._numba_type_
