"""Families of things by name: ours, and those that installed packages add by entry points.

A package is loaded when something of it is used, and never to judge or to publish a release. What
is ours keeps its name. `veilsearch doctor` says what packages add, and what of it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .errors import AnonymizerError
from .promise import NAME

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


class PackageFault(AnonymizerError):
    """A package that adds to a family is broken, or adds what is refused."""


class Addition(NamedTuple):
    """What a package adds to a family."""

    entry: EntryPoint

    def __str__(self) -> str:
        dist = self.entry.dist
        package = f"{dist.name} {dist.version}" if dist else "a package"
        return f"{package}: {self.entry.group.rpartition('.')[2]}, {self.entry.name}"

    def fault(self, why: str) -> PackageFault:
        """Return the error that names the package and says `why` it is refused."""
        return PackageFault(f"{self}: {why}; mend the package, or uninstall it")

    def guarded(self, call: Callable[..., Any], *passed: type[Exception]) -> Callable[..., Any]:
        """Return `call` with its errors as one line, except ours and those that are `passed`."""

        @wraps(call)
        def guard(*given: Any, **named: Any) -> Any:
            try:
                return call(*given, **named)
            except (Exception, SystemExit) as fault:
                if isinstance(fault, (AnonymizerError, *passed)):
                    raise
                # Its text may hold queries or ids, so only the traceback shows it.
                raise self.fault(f"it failed ({type(fault).__name__})") from fault

        return guard


class Family(Mapping[str, T]):
    """Our `own` by name, and behind them what packages add to `group`, as `adopt` returns it."""

    def __init__(
        self, group: str, own: Mapping[str, T], adopt: Callable[[Any, Addition], T]
    ) -> None:
        self.own, self.group, self._adopt = own, group, adopt
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        # Ours first, so that no package is looked for where none is needed.
        if name in self.own:
            return self.own[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.added

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from self.added

    def __len__(self) -> int:
        return len(self.own) + len(self.added)

    @property
    def added(self) -> list[str]:
        """Return the names that packages add, without loading these."""
        names = dict.fromkeys(entry.name for entry in _installed(self.group))
        return [name for name in names if name not in self.own]

    def look(self) -> Iterator[Addition | PackageFault]:
        """Yield what packages add, and in place of what is refused the error that says why."""
        for entry in _installed(self.group):
            addition = Addition(entry)
            try:
                if entry.name in self.own:
                    raise addition.fault("the name is ours")
                self[entry.name]
                yield addition
            except PackageFault as fault:
                yield fault

    def _load(self, name: str) -> T:
        entries = [*_installed(self.group).select(name=name)]
        if not entries:
            raise KeyError(name)
        addition, *more = map(Addition, entries)
        if more:
            raise addition.fault(f"{more[0]} has this name, too")
        if not NAME.fullmatch(name):
            raise addition.fault("a name is 2 to 40 lower-case letters, digits or hyphens")
        try:
            return self._adopt(addition.entry.load(), addition)
        except PackageFault:
            raise
        # A package may fail in any way while it is imported, and may end the program.
        except (Exception, SystemExit) as fault:
            text = " ".join(str(fault).split())
            raise addition.fault(f"can't be loaded ({type(fault).__name__}: {text})") from fault


def function(given: Any, addition: Addition) -> Any:
    """Return `given`, the function of an `addition`, guarded."""
    if not callable(given):
        raise addition.fault("it must be a function")
    return addition.guarded(given)


def listing(kind: type) -> Callable[[Any, Addition], Any]:
    """Return what adopts a function that returns or yields things of a `kind`, as their list."""

    def adopt(given: Any, addition: Addition) -> Any:
        def made(*values: Any) -> list[Any]:
            # A generator fails only while it is read.
            things = [*given(*values)]
            if not all(isinstance(thing, kind) for thing in things):
                raise addition.fault(f"it must return {kind.__name__}s")
            return things

        return function(made if callable(given) else None, addition)

    return adopt


@cache
def _installed(group: str) -> EntryPoints:
    """Return what all packages add to `group`, which is read once."""
    # Its import takes as long as reading them, and most runs use only what is ours.
    from importlib.metadata import entry_points

    return entry_points(group=group)
