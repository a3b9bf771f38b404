"""The published methods, by name: each takes profiles and returns a Release or raises.

A new method is a file and a line here; its judge is a file of the same name in
`anonymizer/verification/promises/` and a line in `judge.py`. docs/extend.md has the diff.
`--set name=value` may name each field of its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ..backends.everybody import Dealt, Made, Measure
from ..deletion.histories import unheard
from ..errors import BadParameter, Unsatisfiable
from ..families import Family
from ..model import Release, silent
from ..profiles.rare_terms import without_rare_terms
from ..promise import UNKNOWN, Promise, declared
from . import (
    composition,
    generalization,
    km_anonymity,
    p_linkability,
    pooled,
    query_k,
    vocabulary_k,
)
from .baselines import BASELINES
from .method import Inputs, Method
from .packaged import GROUP, adopted

S = TypeVar("S")
_OURS: dict[str, Method[Any]] = {
    method.name: method
    for method in (
        composition.METHOD,
        p_linkability.METHOD,
        km_anonymity.METHOD,
        pooled.METHOD,
        vocabulary_k.METHOD,
        generalization.METHOD,
        query_k.METHOD,
        *BASELINES,
    )
}
METHODS: Family[Method[Any]] = Family(GROUP, _OURS, adopted)


def method_of(name: str) -> Method[Any]:
    """Return the method called `name`."""
    if name not in METHODS:
        raise BadParameter(f"no method {name}; there are: {', '.join(METHODS)}")
    return METHODS[name]


def promise_of(name: str, parameters: Mapping[str, object]) -> Promise:
    """Return what method `name` promises with `parameters`; UNKNOWN if it is not known here.

    A package is not asked: the release itself declares what is judged and shown.
    """
    if name in METHODS.own:
        return METHODS.own[name].promise_of(parameters)
    return declared(parameters) or UNKNOWN


def names_where(condition: Callable[[Promise], bool]) -> list[str]:
    """Return the names of our methods whose promise meets `condition`."""
    return [method.name for method in METHODS.own.values() if condition(method.promise)]


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters of method `name` with their defaults."""
    return dict(method_of(name).options().parameters())


def read_parameters(name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of method `name` that `texts` set; raise all faults together."""
    return dict(method_of(name).read(texts))


def idle_parameters(name: str, given: Mapping[str, Any]) -> list[str]:
    """Return the names of the `given` parameters that have no effect with these others."""
    return [idle for idle in method_of(name).chosen(given).idle() if idle in given]


def anonymize(name: str, inputs: Inputs, parameters: Mapping[str, Any]) -> Release:
    """Return the release that method `name` makes from `inputs` with `parameters`."""
    method = method_of(name)
    options = method.chosen(parameters)
    method.refuse_faults(options, inputs)
    common = without_rare_terms(inputs.profiles, options.parameters())
    if common is not inputs.profiles:
        inputs = replace(inputs, profiles=common.in_order())
    return method.run(inputs, options)


def refuse_parts(name: str, parameters: Mapping[str, Any]) -> None:
    """Raise BadParameter if method `name` can't run in parts of the users with `parameters`."""
    method = method_of(name)
    if method.in_parts is None:
        can = ", ".join(other for other, one in METHODS.items() if one.in_parts)
        raise BadParameter(f"{name} needs all users at once; in parts there are: {can}")
    options = method.chosen(parameters)
    # What needs no profiles is checked at once: dealing many people takes minutes.
    if faults := [*options.own_faults(), *options.faults_in_parts()]:
        raise BadParameter("; ".join(faults))


def anonymize_in_parts(
    name: str, dealt: Dealt, inputs: Inputs, parameters: Mapping[str, Any], measure: Measure[S]
) -> Iterator[Made[S]]:
    """Yield the shards of the release that method `name` makes of `dealt` with `parameters`.

    The profiles of `inputs` are nobody's. With each shard comes what `measure` returns of it.
    """
    refuse_parts(name, parameters)
    method = method_of(name)
    options = method.chosen(parameters)
    # What goes to the parts can be pickled, which calls of the caller's often can't.
    inputs = replace(inputs, everybody=dealt.everybody, progress=silent, on_pass=unheard)
    method.refuse_faults(options, inputs)
    try:
        yield from method.in_parts(dealt, inputs, options, measure) if method.in_parts else ()
    except Unsatisfiable as fault:
        line = f"{fault}; this is so in one of {len(dealt.sizes)} parts, so take fewer parts"
        raise Unsatisfiable(line) from fault
