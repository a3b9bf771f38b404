"""Parameters of requests, defined once for validation, forms and the API's document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort

from ..search.candidates import KEPT, MOST
from ..search.modes import MODES
from ..search.request import RANKINGS
from .site import Site

LONGEST = 2000  # characters of a query
LARGEST_POOL = 10_000
LARGEST_PAGE = 1000  # results
_SHOWN = 20  # characters of a wrong value that a refusal repeats


Value = str | float | bool
Default = Callable[[Site], Value]
Options = Callable[[Site], Sequence[str]]


@dataclass(frozen=True)
class Parameter:
    """A parameter of requests: its kind, its range and its default."""

    name: str
    kind: str  # text, whole, number, switch or choice
    meaning: str
    default: Value | Default = ""
    within: tuple[float, float] = (0, 0)  # of numbers
    among: Sequence[str] | Options = ()

    def usual(self, site: Site) -> Any:
        """Return the default at `site`."""
        return self.default(site) if callable(self.default) else self.default

    def choices(self, site: Site) -> Sequence[str]:
        """Return the values that can be chosen at `site`."""
        return self.among(site) if callable(self.among) else self.among

    def read(self, text: str, site: Site) -> Any:
        """Return the value that `text` means at `site`; raise ValueError with what is allowed."""
        if not text:
            return self.usual(site)
        if self.kind in _NUMBERS:
            form, number, what = _NUMBERS[self.kind]
            # Texts that are no number become NaN, which is in no range.
            value, (least, most) = number(text) if form.fullmatch(text) else math.nan, self.within
            if not least <= value <= most:
                raise ValueError(f"{what} from {least} to {most}")
            return value
        if self.kind == "switch" and text not in ("0", "1"):
            raise ValueError("0 or 1")
        if self.kind == "choice" and text not in (known := self.choices(site)):
            raise ValueError(f"one of {', '.join(known)}")
        return text == "1" if self.kind == "switch" else text

    def schema(self, site: Site) -> dict[str, Any]:
        """Return a JSON Schema of the values at `site`."""
        usual = self.usual(site)
        schema: dict[str, Any] = {"type": _TYPES.get(self.kind, "string")}
        if self.kind in _NUMBERS:
            schema["minimum"], schema["maximum"] = self.within
        if self.kind == "switch":
            schema["enum"], usual = [0, 1], int(usual)
        if self.kind == "choice":
            schema["enum"] = list(self.choices(site))
        return schema if usual == "" else {**schema, "default": usual}


# int and float alone would also read blanks, underscores and digits of other scripts.
_NUMBERS: dict[str, tuple[re.Pattern[str], Callable[[str], float], str]] = {
    "whole": (re.compile(r"[0-9]{1,5}"), int, "a whole number"),
    "number": (re.compile(r"[0-9]{1,5}(\.[0-9]{0,15})?|\.[0-9]{1,15}"), float, "a number"),
}
_TYPES = {"whole": "integer", "number": "number", "switch": "integer"}


def _modes(site: Site) -> Sequence[str]:
    return (*MODES, *site.further)


def _releases(site: Site) -> Sequence[str]:
    return tuple(mode.partition(":")[2] for mode in site.further)


_POOLS = (1, LARGEST_POOL)

QUERY = Parameter("q", "text", "What to search for.")
USER = Parameter("user", "text", "The invented person who asks; in demo mode only.")
MODE = Parameter(
    "mode",
    "choice",
    "How the pool is ordered; by default, for a person by the row that serves them.",
    among=_modes,
)
POOL = Parameter(
    "pool",
    "whole",
    "How many documents BM25 finds, to be ordered again.",
    lambda site: site.settings.pool,
    _POOLS,
)
RANKING = Parameter(
    "ranking",
    "choice",
    "How interests order the pool: by cosine alone, or only as far as there is evidence.",
    lambda site: site.rule.ranking,
    among=RANKINGS,
)
PAGE = Parameter("page", "whole", "Which page of the results.", 1, _POOLS)
SIZE = Parameter(
    "size",
    "whole",
    "How many results a page has, at most as many as the pool.",
    lambda site: min(site.settings.top, LARGEST_PAGE),
    (1, LARGEST_PAGE),
)
OPERATORS = Parameter(
    "operators",
    "switch",
    "Whether quotes, + and - mean something in the query.",
    lambda site: site.settings.operators,
)
BLIND = Parameter("blind", "switch", "Whether the names of the columns are hidden.", False)
REVEAL = Parameter("reveal", "switch", "Whether a blind comparison names its columns.", False)
SHOW = Parameter("show", "choice", "A column to show; may be given more than once.", among=_modes)
OWN_SORT = Parameter(
    "sort",
    "choice",
    "The order of the own terms.",
    "searches",
    among=("searches", "weight", "name", "last"),
)
FIND = Parameter("find", "text", "Only own terms, or people, that have this in them.")
TO = Parameter(
    "to",
    "choice",
    "The page that a person is chosen for.",
    "search",
    among=("search", "compare", "me"),
)
RELEASE = Parameter(
    "release",
    "choice",
    "A further release by name; by default, the first one.",
    among=_releases,
)
GROUP_SORT = Parameter(
    "sort", "choice", "The order of the groups.", "name", among=("name", "people", "terms")
)
LOG_POOL = Parameter("pool", "whole", "Only searches over a pool of this size.", "", _POOLS)
LOG_RULE = Parameter("rule", "text", "Only searches ordered by the rule of this name.")
LOG_CORPUS = Parameter("corpus", "text", "Only searches in the index of this name.")
LOG_RELEASE = Parameter("release", "text", "Only searches with the release of this name.")
LOG_PAGE = Parameter("page", "whole", "Which page of the latest searches.", 1, (1, 100))
DEVICE_POOL = Parameter(
    "pool",
    "whole",
    "How many documents BM25 finds and the device gets.",
    lambda site: min(site.settings.pool, MOST),
    (1, MOST),
)
DEVICE_ROW = Parameter(
    "row",
    "text",
    "A group’s row that chooses which documents of the pool the device gets; by default, all.",
)
KEEP = Parameter(
    "keep", "whole", "How many documents that row chooses; needs row.", KEPT, (1, MOST)
)
ROUND = Parameter("round", "whole", "Which round of a game: its number draws it.", 1, (1, 99_999))
PLAYED = Parameter("played", "whole", "How many rounds were played before.", 0, (0, 99_999))
RIGHT = Parameter("right", "whole", "How much was right in these rounds.", 0, (0, 99_999))
PICK = Parameter("pick", "whole", "The person whose row it is said to be.", 0, (1, 4))
TICKS = Parameter("ticks", "switch", "Whether all ticks there are were made.", False)
TICK = Parameter("tick", "whole", "An interest that is said to be theirs.", 0, (1, 24))
ROW = Parameter("row", "text", "The name of a released row.")
DOC = Parameter("doc", "text", "The id of a document.")
FRAGMENT = Parameter(
    "fragment",
    "switch",
    "Whether only the explanation is sent, without the rest of the page.",
    False,
)


def read_parameters(
    arguments: Mapping[str, str], parameters: Iterable[Parameter], site: Site
) -> dict[str, Any]:
    """Return the values of `parameters` in `arguments`; refuse all wrong ones in one sentence."""
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
    """Return `value`, cut to a length that a refusal may repeat."""
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
