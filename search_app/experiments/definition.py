"""Experiments as files [I/O]: TOML with inputs, defaults and variants.

name = "mine"
report = "general"            # or zhu-xiong, whose figures and claims go by tables' names
[inputs]                      # see design.py for all of them and their defaults
queries_per_user = 5
[defaults]                    # for every variant
method = "p-linkability"
[[variant]]
name = "by-p"
parameters = { p = [0.1, 0.4] }   # a list: one variant for each value
modes = ["group", "random-groups"]   # [] makes the release, and asks it nothing
pools = [100]
seeds = [0, 1, 2]
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from anonymizer.methods import METHODS, idle_parameters, parameters_of, read_parameters
from anonymizer.model import BadParameter

from ..errors import UsageError
from .baselines import MODES
from .derived import REPORTS
from .design import (
    GENERAL,
    LEAST_POOL,
    MARKETING,
    MOST_POOL,
    VECTORS,
    WEIGHTS,
    Experiment,
    Inputs,
    Variant,
)

SUFFIX = ".toml"
MOST_VARIANTS = 1000  # that one table may stand for
MOST_UNITS = 5000  # releases of an experiment
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
    """Name the experiments that come with the program."""
    folder = files(__package__)
    return sorted(
        each.name.removesuffix(SUFFIX) for each in folder.iterdir() if each.name.endswith(SUFFIX)
    )


def text_of(name: str) -> str:
    """Return the definition of an experiment: one of ours by name, or a file."""
    if name in names():
        return (files(__package__) / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    if not name.endswith(SUFFIX):
        raise UsageError(
            f"no experiment {name}; there are: {', '.join(names())}; or name a file ending in "
            f"{SUFFIX}"
        )
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{name} is not UTF-8; an experiment is a TOML file") from fault


def read_definition(text: str, place: str, given: Mapping[str, str] | None = None) -> Experiment:
    """Read a definition; inputs that are given override the file's. All faults are told at once."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{place} can't be read as TOML: {fault}") from fault
    faults = list(_table_faults(table))
    inputs, wrong = _inputs({**_tables(table, "inputs"), **(given or {})})
    named = table.get("variant")
    variants = [
        {**_tables(table, "defaults"), **each, "name": str(each.get("name", ""))}
        for each in (named if isinstance(named, list) else [])
        if isinstance(each, dict)
    ]
    faults += wrong
    for number, each in enumerate(variants, 1):
        faults += [f"variant {each['name'] or number}: {fault}" for fault in _variant_faults(each)]
    if faults:
        raise UsageError(f"{place}: {'; '.join(faults)}")
    units = sum(map(_units, variants))
    if units > MOST_UNITS:
        raise UsageError(f"{place}: {units:,} releases by all seeds; at most {MOST_UNITS:,}")
    spread = tuple(variant for each in variants for variant in _spread(each))
    name = table["name"]
    return Experiment(name, table.get("title", name), inputs, spread, table.get("report", GENERAL))


def _tables(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    return found if isinstance(found, dict) else {}


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
    elif not all(isinstance(each, dict) for each in variants):
        yield "each variant must be a table, under its own [[variant]]"


_CALLED = {str: "text", dict: "table", list: "list of tables"}


def is_plain(name: str) -> bool:
    """Tell whether a name can be a folder's and a file's everywhere."""
    return 0 < len(name) <= 60 and all(c.isascii() and (c.isalnum() or c == "-") for c in name)


# -- inputs ----------------------------------------------------------------------------------------


def _inputs(given: Mapping[str, Any]) -> tuple[Inputs, list[str]]:
    """Return the inputs and what is wrong with them."""
    known = {each.name for each in fields(Inputs)}
    faults = [
        f"no input {name}; there are {', '.join(sorted(known))}" for name in given.keys() - known
    ]
    values: dict[str, Any] = {}
    for name in given.keys() & known:
        try:
            values[name] = _number(name, given[name])
        except ValueError:
            faults.append(f"{name}={given[name]} must be {_ALLOWED[name]}")
    return Inputs(**values), sorted(faults)


_WHY = "in a pool of 30 documents or fewer all are relevant, and every order has AP 1"
_ALLOWED = {
    "size": "a whole number from 1 to 100000, or off",
    "users": "a whole number from 2 to 10000000, or off",
    "test_share": "above 0 and below 1",
    "terms": "wordnet, all or letters-digits",
    "robots": "a whole number from 1 to 1000000, or off",
    "queries_per_user": "a whole number from 1 to 1000",
    "least_hits": f"a whole number from {LEAST_POOL} to {MOST_POOL}: {_WHY}",
    "seed": "a whole number from 0 to 4294967295",
}
_RANGES = {
    "size": (1, 100_000),
    "users": (2, 10_000_000),
    "robots": (1, 1_000_000),
    "queries_per_user": (1, 1000),
    "least_hits": (LEAST_POOL, MOST_POOL),
    "seed": (0, 2**32 - 1),
}


def _number(name: str, value: Any) -> Any:
    """Read an input's value from TOML or from text; whatever is wrong raises ValueError."""
    if name == "terms":
        if value not in ("wordnet", "all", "letters-digits"):
            raise ValueError
        return value
    if value == "off" and name in ("size", "users", "robots"):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    if name == "test_share":
        share = float(value)
        if not 0 < share < 1:
            raise ValueError
        return share
    low, high = _RANGES[name]
    number = int(value) if isinstance(value, str) else value
    if not isinstance(number, int) or not low <= number <= high:
        raise ValueError
    return number


# -- variants --------------------------------------------------------------------------------------


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
            f"{', '.join(wrong)}: of the wrong kind; name and method are texts, parameters a "
            "table, modes, pools and seeds lists"
        )
    right = {name: value for name, value in given.items() if name not in wrong}
    yield from _list_faults(right)
    if "method" not in wrong:
        yield from _method_faults(right)


def _method_faults(given: Mapping[str, Any]) -> Iterator[str]:
    method, parameters = given.get("method", ""), given.get("parameters", {})
    if not method:
        asked = given.get("modes", ["group"])
        if any(mode.needs_release for name, mode in MODES.items() if name in asked):
            yield "modes of a release need a method"
        if parameters:
            yield "parameters need a method"
    elif method not in METHODS:
        yield f"no method {method}; there are: {', '.join(METHODS)}"
    else:
        yield from _parameter_faults(method, parameters)


def _list_faults(given: Mapping[str, Any]) -> Iterator[str]:
    for name, allowed in (("modes", tuple(MODES)), ("weights", WEIGHTS), ("vectors", VECTORS)):
        wrong = [str(each) for each in _listed(given.get(name, allowed[0])) if each not in allowed]
        if wrong:
            yield f"no {name} {', '.join(wrong)}; there are {', '.join(allowed)}"
    for name, low, high, why in (
        ("pools", LEAST_POOL, MOST_POOL, f": {_WHY}"),
        ("seeds", 0, 2**32 - 1, ""),
    ):
        numbers = given.get(name, [low])
        fit = all(type(each) is int and low <= each <= high for each in numbers)
        if not numbers or not fit or len(set(numbers)) != len(numbers):
            yield f"{name} must be different whole numbers from {low} to {high}{why}"
    for name in ("modes", "weights", "vectors"):
        several = _listed(given.get(name, "one"))
        if name != "modes" and not given.get(name, "one"):
            yield f"{name} is empty"
        elif any(each in several[:at] for at, each in enumerate(several)):
            yield f"{name} names one twice"


def _parameter_faults(method: str, given: Mapping[str, Any]) -> Iterator[str]:
    if given.get("first_seed", "") != "":
        yield "first_seed names a person, so it can't be in an experiment"
    if MARKETING in given:
        yield "marketing is no variant's: all share one table, synthetic or given by --marketing"
    if "log" in _listed(given.get("network")):
        yield "network=log would learn from the queries that are held out"
    lists = [_listed(value) for value in given.values()]
    if not all(lists):
        yield "a parameter's list is empty"
    elif prod(map(len, lists)) > MOST_VARIANTS:
        yield f"the lists of its parameters stand for more than {MOST_VARIANTS:,} variants"
    else:
        yield from dict.fromkeys(_refused(method, given))


def _refused(method: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the method says against each choice of values."""
    for values in _products(given):
        try:
            read_parameters(method, {name: _text(value) for name, value in values.items()})
        except BadParameter as fault:
            yield str(fault)


def _units(given: Mapping[str, Any]) -> int:
    """Count the releases that a table may stand for."""
    lists = [*given.get("parameters", {}).values(), given.get("weights"), given.get("vectors")]
    return prod(len(_listed(value)) for value in lists) * len(given.get("seeds", [0]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _products(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one mapping for each choice of a value from every list."""
    lists = [_listed(value) for value in given.values()]
    return (dict(zip(given, values, strict=True)) for values in product(*lists))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spread(given: Mapping[str, Any]) -> Iterator[Variant]:
    """Yield the variants that a table stands for."""
    method = given.get("method", "")
    plain = {name: tuple(given[name]) for name in ("modes", "pools", "seeds") if name in given}
    weights, vectors = (
        _listed(given.get(name, usual))
        for name, usual in (("weights", WEIGHTS[0]), ("vectors", VECTORS[0]))
    )
    releases: list[dict[str, Any]] = [{}]
    if method:
        chosen = [_complete(method, values) for values in _products(given.get("parameters", {}))]
        releases = [each for at, each in enumerate(chosen) if each not in chosen[:at]]
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
    """Return all parameters; one without effect has its default: a release is written one way."""
    usual = {name: value for name, value in parameters_of(method).items() if name != MARKETING}
    typed = read_parameters(method, {name: _text(value) for name, value in values.items()})
    complete = {**usual, **typed}
    return complete | {name: usual[name] for name in idle_parameters(method, complete)}


def _telling(method: str, complete: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that tell a release from others, however it was written down.

    These are the ones that are not at their defaults, and what the papers name by a letter.
    """
    usual, idle = parameters_of(method), idle_parameters(method, complete)
    return {
        name: value
        for name, value in complete.items()
        if name not in idle and (value != usual[name] or (len(name) == 1 and value is not None))
    }


def as_text(experiment: Experiment) -> str:
    """Write an experiment out in full: every input, every variant spread."""
    lines = [
        f"name = {_toml(experiment.name)}",
        f"title = {_toml(experiment.title)}",
        f"report = {_toml(experiment.report)}",
        "",
        "[inputs]",
    ]
    lines += [f"{name} = {_toml(value)}" for name, value in asdict(experiment.inputs).items()]
    for each in experiment.variants:
        lines += ["", "[[variant]]", f"name = {_toml(each.name)}", f"method = {_toml(each.method)}"]
        inside = ", ".join(f"{name} = {_toml(value)}" for name, value in each.complete.items())
        lines += [f"parameters = {{ {inside} }}"] if inside else []
        for name in ("weights", "vectors", "modes", "pools", "seeds"):
            lines.append(f"{name} = {_toml(getattr(each, name))}")
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


_ESCAPED = {'"': '\\"', "\\": "\\\\", **{chr(n): f"\\u{n:04x}" for n in (*range(32), 127)}}
