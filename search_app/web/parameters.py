"""What requests may say: one definition for validation, forms and the API's document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort

from ..modes import MODES
from .site import Site

LONGEST = 2000  # characters of a query
LARGEST_POOL = 10_000
_WHOLE = re.compile(r"[0-9]{1,5}")
_NUMBER = re.compile(r"[0-9]{1,5}(\.[0-9]{0,15})?|\.[0-9]{1,15}")
_SHOWN = 20  # characters of a wrong value that are told back


def _none(_site: Site) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Parameter:
    """A parameter of requests: its kind, its range, and what it is when left out."""

    name: str
    kind: str  # text, whole, number, switch or choice
    meaning: str
    usual: Callable[[Site], Any]
    least: float = 0
    most: float = 0
    choices: Callable[[Site], Sequence[str]] = _none

    def read(self, text: str, site: Site) -> Any:
        """Turn text into a value; raise ValueError with what is allowed."""
        if not text:
            return self.usual(site)
        return _READERS[self.kind](self, text, site)

    def schema(self, site: Site) -> dict[str, Any]:
        """Describe the values in JSON Schema."""
        usual = self.usual(site)
        schema: dict[str, Any] = {"type": _TYPES[self.kind]}
        if self.kind in ("whole", "number"):
            schema |= {"minimum": self.least, "maximum": self.most}
        if self.kind == "switch":
            schema |= {"enum": [0, 1]}
            usual = int(usual)
        if self.kind == "choice":
            schema["enum"] = list(self.choices(site))
        return schema if usual == "" else {**schema, "default": usual}


def _text(_parameter: Parameter, text: str, _site: Site) -> str:
    return text


def _whole(parameter: Parameter, text: str, _site: Site) -> int:
    number = int(text) if _WHOLE.fullmatch(text) else -1
    if not parameter.least <= number <= parameter.most:
        raise ValueError(f"a whole number from {parameter.least} to {parameter.most}")
    return number


def _number(parameter: Parameter, text: str, _site: Site) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not parameter.least <= number <= parameter.most:
        raise ValueError(f"a number from {parameter.least} to {parameter.most}")
    return number


def _switch(_parameter: Parameter, text: str, _site: Site) -> bool:
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return text == "1"


def _choice(parameter: Parameter, text: str, site: Site) -> str:
    known = parameter.choices(site)
    if text not in known:
        raise ValueError(f"one of {', '.join(known)}")
    return text


_READERS: dict[str, Callable[[Parameter, str, Site], Any]] = {
    "text": _text,
    "whole": _whole,
    "number": _number,
    "switch": _switch,
    "choice": _choice,
}
_TYPES = {
    "text": "string",
    "whole": "integer",
    "number": "number",
    "switch": "integer",
    "choice": "string",
}


def _modes(site: Site) -> Sequence[str]:
    return (*MODES, *site.further)


QUERY = Parameter("q", "text", "What to search for.", lambda _: "")
USER = Parameter("user", "text", "The invented person who asks; in demo mode only.", lambda _: "")
MODE = Parameter(
    "mode",
    "choice",
    "How the pool is ordered; left out: for a person by the row that stands for them.",
    lambda _: "",
    choices=_modes,
)
POOL = Parameter(
    "pool",
    "whole",
    "How many documents are found by BM25 and ordered again.",
    lambda site: site.settings.pool,
    1,
    LARGEST_POOL,
)
MIX = Parameter(
    "mix",
    "number",
    "What the profile or row counts: 1 orders by it alone, 0 by BM25 alone.",
    lambda site: site.settings.mix,
    0,
    1,
)
PAGE = Parameter("page", "whole", "Which page of the results.", lambda _: 1, 1, LARGEST_POOL)
OPERATORS = Parameter(
    "operators",
    "switch",
    "Whether quotes, + and - mean something in the query.",
    lambda site: site.settings.operators,
)
BLIND = Parameter("blind", "switch", "Whether it is hidden which column is which.", lambda _: False)
REVEAL = Parameter(
    "reveal", "switch", "Whether a blind comparison says which column is which.", lambda _: False
)
SHOW = Parameter(
    "show", "choice", "A column to show; may stand more than once.", lambda _: "", choices=_modes
)
OWN_SORT = Parameter(
    "sort",
    "choice",
    "What own terms are listed by.",
    lambda _: "weight",
    choices=lambda _: ("weight", "name", "last"),
)
FIND = Parameter("find", "text", "List the own terms that have this in them.", lambda _: "")
RELEASE = Parameter(
    "release",
    "choice",
    "A further release by name; the first one when left out.",
    lambda _: "",
    choices=lambda site: tuple(mode.partition(":")[2] for mode in site.further),
)
GROUP_SORT = Parameter(
    "sort",
    "choice",
    "What groups are listed by.",
    lambda _: "name",
    choices=lambda _: ("name", "people", "terms"),
)
LOG_POOL = Parameter(
    "pool", "whole", "Only searches over a pool of this size.", lambda _: "", 1, LARGEST_POOL
)
LOG_MIX = Parameter("mix", "number", "Only searches with this mix.", lambda _: "", 0, 1)
LOG_CORPUS = Parameter("corpus", "text", "Only searches in the index of this name.", lambda _: "")
LOG_RELEASE = Parameter(
    "release", "text", "Only searches with the release of this name.", lambda _: ""
)
LOG_PAGE = Parameter("page", "whole", "Which page of the latest searches.", lambda _: 1, 1, 100)
ROW = Parameter("row", "text", "The name of a released row.", lambda _: "")
DOC = Parameter("doc", "text", "The id of the document whose place is explained.", lambda _: "")
FRAGMENT = Parameter(
    "fragment", "switch", "Whether only the explanation is sent, to open in place.", lambda _: False
)


def read_parameters(
    arguments: Mapping[str, str], parameters: Iterable[Parameter], site: Site
) -> dict[str, Any]:
    """Read parameters by name; whatever is wrong is refused in one sentence."""
    values: dict[str, Any] = {}
    faults = []
    for parameter in parameters:
        given = arguments.get(parameter.name, "")
        try:
            values[parameter.name] = parameter.read(given, site)
        except ValueError as fault:
            faults.append(f"{parameter.name}={short(given)} must be {fault}")
    if faults:
        abort(400, "; ".join(faults))
    return values


def short(value: str) -> str:
    """Cut a wrong value that is told back."""
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
