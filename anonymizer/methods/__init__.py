"""The published methods, by name: each takes profiles and returns a Release or raises.

A new method is one file and one line in METHODS. Its keyword parameters with a default are what
`--set name=value` may name; where None is allowed, `off` sets it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import numpy as np

from ..model import BadParameter, Profiles, Progress, Release, silent
from ..wordnet import WordNet
from . import composition, km_anonymity, p_linkability, pooled

METHODS: dict[str, Callable[..., Release]] = {
    "composition": composition.anonymize,
    "p-linkability": p_linkability.anonymize,
    "km-anonymity": km_anonymity.anonymize,
    "pooled": pooled.anonymize,
}
IDLE: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "p-linkability": p_linkability.idle,
    "km-anonymity": km_anonymity.idle,
}
OFF = "off"
_HANDED_IN = ("wordnet", "links", "sample", "table", "key", "rng", "progress", "on_pass")
_KINDS = {int: "a whole number", float: "a number"}
_SPELT = {  # int() and float() take digits of any script, and more
    int: re.compile(r"-?[0-9]+"),
    float: re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"),
}


def parameters_of(method: str) -> dict[str, Any]:
    """Return a method's parameters with their defaults."""
    if method not in METHODS:
        raise BadParameter(f"no method {method}; there are: {', '.join(METHODS)}")
    signature = inspect.signature(METHODS[method])
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _HANDED_IN
    }


def takes(method: str, name: str) -> bool:
    """Tell whether a method must be handed something beside its parameters."""
    return name in inspect.signature(METHODS[method]).parameters


def read_parameters(method: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Turn name=value texts into a method's parameters; name all faults at once."""
    defaults = parameters_of(method)
    hints = get_type_hints(METHODS[method])
    unknown = sorted(set(texts) - set(defaults))
    faults = [f"{method} has no parameter {name}" for name in unknown]
    values: dict[str, Any] = {}
    for name in sorted(set(texts) & set(defaults)):
        kinds = get_args(hints[name]) or (hints[name],)
        if texts[name] == OFF and type(None) in kinds:
            values[name] = None
            continue
        try:
            values[name] = _value(kinds[0], texts[name])
        except ValueError:
            or_off = f" or {OFF}" if type(None) in kinds else ""
            faults.append(f"{name}={texts[name]} must be {_KINDS[kinds[0]]}{or_off}")
    if unknown:
        faults.append(f"it has {', '.join(defaults)}")
    if faults:
        raise BadParameter("; ".join(faults))
    return values


def _value(kind: type, text: str) -> Any:
    if kind in _SPELT and not _SPELT[kind].fullmatch(text):
        raise ValueError(text)
    return kind(text)


def idle_parameters(method: str, given: Mapping[str, Any]) -> list[str]:
    """Name the given parameters that have no effect beside the others."""
    idle = IDLE[method]({**parameters_of(method), **given}) if method in IDLE else []
    return [name for name in idle if name in given]


def anonymize(
    method: str,
    profiles: Profiles,
    parameters: Mapping[str, Any],
    *,
    wordnet: WordNet,
    seed: int = 0,
    progress: Progress = silent,
    **handed_in: Any,
) -> Release:
    """Run a method by name on profiles; the seed settles every choice left to chance.

    What else is handed in (a network of terms, documents) goes to a method that takes it.
    """
    allowed = parameters_of(method)
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        raise BadParameter(f"{method} has no {', '.join(unknown)}; it has {', '.join(allowed)}")
    rng = np.random.default_rng(seed)
    return METHODS[method](
        profiles, **parameters, **handed_in, wordnet=wordnet, rng=rng, progress=progress
    )
