"""Loops compiled by numba [I/O]: the only module that imports it.

The machine code of a loop is kept for the next process. Its file is named by a digest of the loop's
bytecode, of how it is compiled, and of all that it reads: constants and other loops. So an edit
compiles only what it changes, and every checkout of the same code shares the same files.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType, NoneType
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core.event import Listener, install_listener

from loops.place import folder

try:  # names that numba keeps to itself
    from numba.core.bytecode import FunctionIdentity
    from numba.core.caching import IndexDataCacheFile
    from numba.core.codegen import JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.dispatcher import Dispatcher
    from numba.core.runtime.nrt import rtsys

    _OWN: Any = (
        IndexDataCacheFile,
        CompileResult._rebuild,
        JITCPUCodegen.magic_tuple,
        FunctionIdentity._unique_ids,
    )
except (ImportError, AttributeError):  # another numba: no machine code is kept
    _OWN = ()

R = TypeVar("R")

_FORMAT = "names from a random number"  # of kept code; older code is not loaded
_HASHES = b"_numba_hashsecret_"  # what machine code that hashes texts names
_VERSIONS = 8  # of each loop: the newest whose machine code is kept


def compiled(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function` compiled; its machine code is kept where a folder can be written."""
    # Without the GIL, so that threads can run loops at the same time.
    made: Any = numba.njit(nogil=True)(function)
    if _OWN:
        made._cache = _KeptCode(made)
    return cast(Callable[..., R], made)


class _KeptCode:
    """The kept machine code of a loop; numba asks for it when the loop is first called."""

    cache_path = None

    def __init__(self, made: Any) -> None:
        self._made = made
        self._name = f"{made.__module__}.{made.__qualname__}".replace(".<locals>", "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        place = folder()
        if place is None:
            return None
        files = self._files(place, sig, target_context.codegen())
        # Where nothing is kept, or a file is broken, the loop is compiled again.
        with suppress(Exception):
            kept = files.load(None)
            # To load all that compiling needs takes a quarter of a second. Machine code needs the
            # runtime only, unless it hashes texts.
            if _HASHES in kept[0][-1][0]:
                target_context.refresh()
            rtsys.initialize(target_context)
            return _OWN[1](target_context, *kept)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        place = folder()
        # As in numba's own cache: lifted loops and dynamic globals can't be loaded again.
        if place is None or data.lifted or data.library.has_dynamic_globals:
            return
        files = self._files(place, sig, data.codegen)
        # The disk may be full, or another process may be removing files, too.
        with suppress(OSError):
            files.flush()  # begins with an empty index, as the old one may be broken
            files.save(None, data._reduce())
            # Remove the machine code of all but the newest versions of the loop.
            kept = place.glob(f"{self._name}-*-*.nb?")
            paths = sorted(kept, key=lambda path: -path.stat().st_mtime_ns)
            versions = dict.fromkeys(path.name.removeprefix(self._name)[:17] for path in paths)
            for version in list(versions)[_VERSIONS:]:
                for path in place.glob(f"{self._name}{version}-*"):
                    path.unlink()

    def _files(self, place: Path, sig: Any, codegen: Any) -> Any:
        """Return the files of one signature on one kind of processor: an index of one entry."""
        parts = "\n".join((repr(codegen.magic_tuple()), *_type_parts(sig)))
        kind = hashlib.sha256(parts.encode()).hexdigest()
        return _OWN[0](str(place), f"{self._name}-{self._digest[:16]}-{kind[:16]}", self._digest)

    @cached_property
    def _digest(self) -> str:
        """Return a digest of all that the loop is made from; complete only once it is called."""
        versions = (_FORMAT, sys.version, np.__version__, numba.__version__, llvmlite.__version__)
        parts = "\n".join((*versions, *_parts(self._made, set())))
        return hashlib.sha256(parts.encode()).hexdigest()


def _number_functions_anew() -> None:
    """Let numba number functions from a random number on, so that no two processes share names."""
    # Machine code calls helpers, such as the parts of a sort, by a name with this number. Two kept
    # files from two processes could have the same name for different helpers. Then the one that is
    # loaded first would serve both loops.
    if _OWN:
        FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_number_functions_anew()
# A forked process would go on from its parent's number.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_functions_anew)


def _parts(made: Any, met: set[object]) -> Iterator[str]:
    """Yield all that the machine code of a loop is made from."""
    function = made.py_func
    if id(function) in met:
        return
    met.add(id(function))
    names: set[str] = set()
    yield repr(sorted(made.targetoptions.items()))
    yield from _code_parts(function.__code__, names)
    named = tuple(sorted((function.__kwdefaults__ or {}).items()))
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    yield from _read_parts((function.__defaults__, named, cells), names, met)
    for name in sorted(names & function.__globals__.keys()):
        yield name
        yield from _read_parts(function.__globals__[name], names, met)


def _code_parts(code: CodeType, names: set[str]) -> Iterator[str]:
    names.update(code.co_names)
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant, names)
        else:
            yield repr(sorted(constant) if isinstance(constant, frozenset) else constant)


def _read_parts(value: Any, names: set[str], met: set[object]) -> Iterator[str]:
    """Yield what machine code takes over from `value`, which a loop reads; loops in full."""
    if isinstance(value, Dispatcher):
        yield from _parts(value, met)
    elif isinstance(value, ModuleType):
        for name in sorted(names & vars(value).keys()):
            if (id(value), name) not in met:
                met.add((id(value), name))
                yield from _read_parts(vars(value)[name], names, met)
    elif isinstance(value, tuple):
        yield repr((type(value).__name__, getattr(value, "_fields", None), len(value)))
        for inner in value:
            yield from _read_parts(inner, names, met)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype, value.shape, value.tobytes()))
    elif isinstance(value, (NoneType, bool, int, float, complex, str, np.generic, np.dtype)):
        yield repr(value)
    elif isinstance(value, (type, np.ufunc)) or (
        str(getattr(value, "__module__", "")).split(".")[0] in ("numpy", "math", "builtins")
    ):
        yield repr((value.__name__, getattr(value, "_fields", None)))
    else:
        raise TypeError(f"a loop reads {value!r}, which is neither a number nor another loop")


def _type_parts(kind: Any) -> Iterator[str]:
    """Yield what machine code takes over from the argument type `kind`, with fields of records."""
    yield repr((str(kind), getattr(kind, "fields", None)))
    for inner in kind if isinstance(kind, tuple) else getattr(kind, "types", ()):
        yield from _type_parts(inner)


@contextmanager
def when_compiling(notice: Callable[[], object]) -> Iterator[None]:
    """Call `notice` once if a loop is compiled meanwhile, because no machine code was kept."""
    with install_listener("numba:compile", _Once(notice)):
        yield


class _Once(Listener):
    def __init__(self, notice: Callable[[], object]) -> None:
        self._notices: list[Callable[[], object]] = [notice]

    def on_start(self, _event: Any) -> None:
        if self._notices:
            self._notices.pop()()

    def on_end(self, _event: Any) -> None: ...
