"""Experiments as files [I/O]: TOML with inputs, defaults and variants.

name = "mine"
report = "general"            # or a paper's, such as zhu-xiong, which finds variants by table name
[inputs]                      # `experiment --help` lists all of them with their defaults
queries_per_user = 5
[defaults]                    # for every variant
method = "p-linkability"
[[variant]]
name = "by-p"
parameters = { p = [0.1, 0.4] }   # a list: one variant for each value
modes = ["group", "random-groups"]   # []: make the release and search nothing
pools = [100]
seeds = [0, 1, 2]
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from anonymizer.errors import BadParameter
from anonymizer.methods import METHODS
from anonymizer.methods.method import Chooser

from ..errors import UsageError
from .design import (
    GENERAL,
    LEAST_POOL,
    MARKETING,
    MOST_POOL,
    SESSIONS,
    VECTORS,
    WEIGHTS,
    Experiment,
    ExperimentInputs,
    Variant,
)
from .modes import MODES
from .results.derived import REPORTS
from .spi.strategies import CHOOSERS, STRATEGIES

SUFFIX = ".toml"
_PRIVATE = (MARKETING, "first_seed")  # parameters that no variant sets
MOST_VARIANTS = 1000  # in one table
MOST_UNITS = 5000  # releases in an experiment
_TOP = {"name": str, "title": str, "report": str, "inputs": dict, "defaults": dict, "variant": list}
_KINDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "method": (str,),
    "parameters": (dict,),
    "weights": (str, list),
    "vectors": (str, list),
    "modes": (list,),
    "pools": (list,),
    "seeds": (list,),
}


def names() -> list[str]:
    """Return the names of the experiments that come with the program."""
    inside = (file.name for file in files(__package__).iterdir())
    return sorted(name.removesuffix(SUFFIX) for name in inside if name.endswith(SUFFIX))


def text_of(name: str) -> str:
    """Return the definition's text; `name` is one of our experiments or a TOML file."""
    if name in names():
        return (files(__package__) / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    if not name.endswith(SUFFIX):
        raise UsageError(
            f"no experiment {name}; there are: {', '.join(names())}; or name a file that ends in "
            f"{SUFFIX}"
        )
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{name} is not UTF-8; save it as a TOML file in UTF-8") from fault


def read_definition(text: str, place: str, given: Mapping[str, str] | None = None) -> Experiment:
    """Return the experiment in `text`, its inputs overridden by `given`; `place` names the text."""
    try:
        table = tomllib.loads(text)
    # tomllib calls itself for each level of nested lists.
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{place} can't be read as TOML: {fault}") from fault
    faults = list(_table_faults(table))
    inputs, wrong = _inputs({**_tables(table, "inputs"), **(given or {})})
    named = table.get("variant")
    variants = [
        {**_tables(table, "defaults"), **own, "name": str(own.get("name", ""))}
        for own in (named if isinstance(named, list) else [])
        if isinstance(own, dict)
    ]
    faults += wrong
    for number, own in enumerate(variants, 1):
        faults += [f"variant {own['name'] or number}: {fault}" for fault in _variant_faults(own)]
    if faults:
        raise UsageError(f"{place}: {'; '.join(faults)}")
    # Spreading the lists takes memory, so the product of their lengths is checked before.
    units = 0
    for variant in variants:
        parameters = variant.get("parameters", {}).values()
        lists = [*parameters, variant.get("weights"), variant.get("vectors")]
        units += prod(len(_listed(some)) for some in lists) * len(variant.get("seeds", [0]))
    if units > MOST_UNITS:
        raise UsageError(f"{place}: {units:,} releases by all seeds; at most {MOST_UNITS:,}")
    spread = tuple(variant for given in variants for variant in _spread(given))
    name = table["name"]
    return Experiment(name, table.get("title", name), inputs, spread, table.get("report", GENERAL))


def _tables(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = table.get(name, {})
    return part if isinstance(part, dict) else {}


def _table_faults(table: Mapping[str, Any]) -> Iterator[str]:
    unknown = sorted(set(table) - set(_TOP))
    if unknown:
        yield f"unknown {', '.join(unknown)}; allowed are {', '.join(_TOP)}"
    for name, kind in _TOP.items():
        if name in table and not isinstance(table[name], kind):
            yield f"{name} must be a {_CALLED[kind]}"
    if not isinstance(table.get("name"), str) or not is_plain(table["name"]):
        yield 'name must be letters, digits and hyphens, like name = "mine"'
    report = table.get("report", GENERAL)
    if isinstance(report, str) and report not in REPORTS:
        yield f"no report {report}; there are: {', '.join(REPORTS)}"
    variants = table.get("variant")
    if not variants or not isinstance(variants, list):
        yield "at least one [[variant]] is needed"
    elif not all(isinstance(variant, dict) for variant in variants):
        yield "each variant must be a table, under its own [[variant]]"


_CALLED = {str: "text", dict: "table", list: "list of tables"}


def is_plain(name: str) -> bool:
    """Return whether `name` is a safe name for files and folders on every system."""
    return 0 < len(name) <= 60 and all(c.isascii() and (c.isalnum() or c == "-") for c in name)


def _inputs(given: Mapping[str, Any]) -> tuple[ExperimentInputs, list[str]]:
    """Return the `given` inputs and the faults in them."""
    chooser = Chooser("an experiment", ExperimentInputs)
    values, faults = dict[str, Any](), list[str]()
    for name, value in given.items():
        try:
            values |= chooser.read({name: _text(value)})
        except BadParameter as fault:
            faults.append(str(fault))
    inputs = ExperimentInputs(**values)
    return inputs, sorted([*faults, *inputs.range_faults()])


_WHY = "in a pool of 30 documents or fewer all are relevant, so every order has AP 1"


def _variant_faults(given: Mapping[str, Any]) -> Iterator[str]:
    unknown = sorted(set(given) - set(_KINDS))
    if unknown:
        yield f"unknown {', '.join(unknown)}; allowed are {', '.join(_KINDS)}"
    if not is_plain(given["name"]):
        yield "name must be letters, digits and hyphens"
    wrong = [
        name for name, kinds in _KINDS.items() if not isinstance(given.get(name, kinds[0]()), kinds)
    ]
    if wrong:
        yield (
            f"{', '.join(wrong)}: wrong type; name and method are texts, parameters is a table, "
            "and modes, pools and seeds are lists"
        )
    right = {name: value for name, value in given.items() if name not in wrong}
    yield from _list_faults(right)
    if "method" not in wrong:
        yield from _method_faults(right)


def _method_faults(given: Mapping[str, Any]) -> Iterator[str]:
    method, parameters = given.get("method", ""), given.get("parameters", {})
    if not method:
        modes = given.get("modes", ["group"])
        if any(MODES[name].needs_release for name in modes if name in MODES):
            yield "a mode that searches by a release needs a method; add method"
        if parameters:
            yield "parameters need a method; add method"
    elif method not in CHOOSERS:
        yield f"no method {method}; there are: {', '.join(METHODS)}"
    elif method in STRATEGIES and given.get("modes", ["group"]):
        yield f"{method} releases a log, which nothing is searched by; set modes = []"
    else:
        yield from _parameter_faults(method, parameters)


def _list_faults(given: Mapping[str, Any]) -> Iterator[str]:
    for name, allowed in (
        ("modes", tuple(MODES)),
        ("weights", (*WEIGHTS, SESSIONS)),
        ("vectors", VECTORS),
    ):
        values = _listed(given.get(name, allowed[0]))
        wrong = [str(value) for value in values if value not in allowed]
        if wrong:
            yield f"no {name} {', '.join(wrong)}; there are {', '.join(allowed)}"
    for name, low, high, why in (
        ("pools", LEAST_POOL, MOST_POOL, f": {_WHY}"),
        ("seeds", 0, 2**32 - 1, ""),
    ):
        numbers = given.get(name, [low])
        # isinstance would accept true and false, which are integers in Python.
        fit = all(type(number) is int and low <= number <= high for number in numbers)
        if not numbers or not fit or len(set(numbers)) != len(numbers):
            yield f"{name} must be different whole numbers from {low} to {high}{why}"
    if SESSIONS in _listed(given.get("weights")) and given.get("modes", ["group"]):
        yield f"weights={SESSIONS} is not searched by; set modes = []"
    for name in ("modes", "weights", "vectors"):
        several = _listed(given.get(name, "one"))
        if name != "modes" and not given.get(name, "one"):
            yield f"{name} is empty"
        elif any(value in several[:at] for at, value in enumerate(several)):
            yield f"{name} names a value twice"


def _parameter_faults(method: str, given: Mapping[str, Any]) -> Iterator[str]:
    if given.get("first_seed", "") != "":
        yield "first_seed names a person; leave it out of an experiment"
    if MARKETING in given:
        yield "marketing is not for variants: all share one table; give it with --marketing"
    if "log" in _listed(given.get("network")):
        yield "network=log would learn from the held-out queries; choose another network"
    lists = [_listed(value) for value in given.values()]
    if not all(lists):
        yield "a parameter's list is empty"
    elif prod(map(len, lists)) > MOST_VARIANTS:
        yield f"its parameters' lists give more than {MOST_VARIANTS:,} variants; shorten them"
    else:
        # Many choices of values may share one fault; the keys of a dict keep each once, in order.
        faults = dict[str, None]()
        for values in _products(given):
            try:
                CHOOSERS[method].read({name: _text(value) for name, value in values.items()})
            except BadParameter as fault:
                faults[str(fault)] = None
        yield from faults


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _products(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one mapping for each way to choose a value from every list in `given`."""
    lists = [_listed(value) for value in given.values()]
    return (dict(zip(given, values, strict=True)) for values in product(*lists))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spread(given: Mapping[str, Any]) -> Iterator[Variant]:
    """Yield the variants that the table `given` defines."""
    method = given.get("method", "")
    plain = {name: tuple(given[name]) for name in ("modes", "pools", "seeds") if name in given}
    weights = _listed(given.get("weights", WEIGHTS[0]))
    vectors = _listed(given.get("vectors", VECTORS[0]))
    releases: list[dict[str, Any]] = [{}]
    if method:
        chosen = [_complete(method, values) for values in _products(given.get("parameters", {}))]
        releases = [values for at, values in enumerate(chosen) if values not in chosen[:at]]
    for complete in releases:
        for weight, vector in product(weights, vectors):
            yield Variant(
                name=given["name"],
                method=method,
                parameters=_telling(method, complete) if method else {},
                weights=weight,
                vectors=vector,
                complete=complete,
                **plain,
            )


def _complete(method: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of `method`: those in `values`, and defaults for the others."""
    usual = {name: value for name, value in _usual(method).items() if name != MARKETING}
    typed = CHOOSERS[method].read({name: _text(value) for name, value in values.items()})
    complete = {**usual, **typed}
    # An idle parameter gets its default, so that equal releases have equal parameters.
    return complete | {name: usual[name] for name in _idle(method, complete)}


def label_of(method: str, parameters: Mapping[str, Any]) -> str:
    """Return what a variant of `method` with these `parameters` is called; "" for no method."""
    if method not in METHODS:
        return ""
    usual = _usual(method)
    given = {name: value for name, value in parameters.items() if name in usual}
    # Releases name no person, and their tables are not an experiment's.
    given = {**usual, **given, **{name: usual[name] for name in _PRIVATE if name in usual}}
    return Variant("", method, _telling(method, given)).label


def _usual(method: str) -> dict[str, Any]:
    return dict(CHOOSERS[method].options().parameters())


def _idle(method: str, given: Mapping[str, Any]) -> list[str]:
    return [name for name in CHOOSERS[method].chosen(given).idle() if name in given]


def _telling(method: str, complete: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters in `complete` that a reader needs to tell releases apart."""
    # Parameters of one letter (p, k, m, a) are the papers' own: they are shown even as defaults.
    usual, idle = _usual(method), _idle(method, complete)
    return {
        name: value
        for name, value in complete.items()
        if name not in idle and (value != usual[name] or (len(name) == 1 and value is not None))
    }


def as_text(experiment: Experiment) -> str:
    """Return `experiment` as TOML in full: every input, and one table for every variant."""
    lines = [
        f"name = {_toml(experiment.name)}",
        f"title = {_toml(experiment.title)}",
        f"report = {_toml(experiment.report)}",
        "",
        "[inputs]",
    ]
    lines += [f"{name} = {_toml(value)}" for name, value in asdict(experiment.inputs).items()]
    for variant in experiment.variants:
        heads = [f"{name} = {_toml(getattr(variant, name))}" for name in ("name", "method")]
        lines += ["", "[[variant]]", *heads]
        inside = ", ".join(f"{name} = {_toml(value)}" for name, value in variant.complete.items())
        lines += [f"parameters = {{ {inside} }}"] if inside else []
        for name in ("weights", "vectors", "modes", "pools", "seeds"):
            lines.append(f"{name} = {_toml(getattr(variant, name))}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if value is None:
        return '"off"'
    if isinstance(value, str):
        return '"' + "".join(_ESCAPED.get(c, c) for c in value) + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)


# TOML allows no control characters in texts, except as escapes.
_ESCAPED = {'"': '\\"', "\\": "\\\\", **{chr(n): f"\\u{n:04x}" for n in (*range(32), 127)}}
