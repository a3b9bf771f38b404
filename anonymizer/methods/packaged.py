"""Methods of installed packages: what they may be, and how their releases declare the promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass, replace
from typing import Any

from ..families import Addition
from ..model import Release
from ..promise import DECLARATION, DECLARED
from .method import Inputs, Method, Options, option

GROUP = "veilsearch.methods"
_NEEDS = frozenset({"wordnet", "sample"})
_ITS_OWN = ("effects", "faults", "own_faults", "parameters")  # that a package may override


def adopted(given: Any, addition: Addition) -> Method[Any]:
    """Return the method `given` of an `addition`, whose releases declare what it promises."""
    if not isinstance(given, Method) or given.name != addition.entry.name:
        raise addition.fault("it must be a Method of the same name")
    bounds = given.promise.bounds
    if DECLARED.get(bounds) != given.promise or given.promises:
        known = ", ".join(DECLARED)
        raise addition.fault(f"only our own methods can promise this; others promise {known}")
    if given.needs - _NEEDS:
        raise addition.fault(f"only our own methods need more than {', '.join(sorted(_NEEDS))}")
    if DECLARATION in given.options().parameters():
        raise addition.fault(f"no option may be called {DECLARATION}")
    # As an option, so that release.json, --help and later cohorts state it like all others.
    text = "what the judge counts again; the method's own, so no other may be chosen"
    declaration = (DECLARATION, str, option(str(bounds), text, choices=(bounds,)))
    options = make_dataclass(
        given.options.__name__,
        [declaration],
        bases=(given.options,),
        frozen=True,
        namespace={name: addition.guarded(getattr(given.options, name)) for name in _ITS_OWN},
    )
    return replace(given, options=options, run=addition.guarded(_declaring(given)), in_parts=None)


def _declaring(method: Method[Any]) -> Callable[[Inputs, Any], Release]:
    """Return what runs `method`, and whose releases say by which method they are, and how."""

    def declaring(inputs: Inputs, options: Options) -> Release:
        made = method.run(inputs, options)
        # Whatever the package says of itself: this is what the judge reads.
        parameters, promise = options.parameters(), method.promise
        return replace(made, method=method.name, parameters=parameters, promise=promise)

    return declaring
