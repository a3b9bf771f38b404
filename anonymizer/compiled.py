"""Loops compiled by numba: the one place that imports it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop, and keep the machine code for the next process where that can be written."""
    try:
        made: Callable[..., Any] = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache may be written to
        made = njit(nogil=True)(function)
    return made
