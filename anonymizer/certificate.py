"""The certificate of a release: what attackers get from it, in figures that show no person.

A release with a certificate was attacked, and no attack got more than is promised. Figures of
attacks are rounded up to tenths, and their intervals outwards. A tenth of the fewest people who
are measured is ten people, so a figure says little of one person. It is still a count: with the
profiles of all others, somebody may see it change at the edge of a tenth. Bounds of the promise
are counted over everybody, and never stated above what is promised. Readers can't count it again,
as that takes the profiles. So it is quoted, and has no room for a message.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .storage.records import Record, check_record

if TYPE_CHECKING:
    from .attacks import Attacked, AttackResult
    from .model import Profiles, Release

CERTIFICATE = "certificate"
NOT_PROMISED = (
    "that nobody finds out which row is yours",
    "that nobody finds out if you are in the data",
    "that no sentence on the rows fits one person alone",
)
KNOWN = (1, 3, 5)  # terms of a victim
SEED = 0  # of victims and what is known of them; it decides nothing about rows
VICTIMS = 500  # at most
FEWEST = 100  # people: of fewer, a tenth would be fewer than ten
LARGEST = 5_000  # people who are fitted to rows, or whose combinations of terms are counted
MOST_TOGETHER = 3  # terms of a combination: of raw profiles there are too many with four
_STEPS = 10  # figures are whole tenths
# Measures that are always counted over everybody, of which a promise may speak.
BOUNDED = {
    "inference": {
        "column: largest published change of belief",
        "column: largest real change of belief",
        "column: published share off the real one, largest",
        "members who have a released term, largest share",
        "mean profile over a row's distinct terms, largest",
    },
    "fitting": {"largest change of belief"},
    "beyond-m": {"terms of a row that fewer than k rows have"},
    "singling-out": {"naming the person behind a row, smallest row"},
}
# Measures of which none speaks.
FREE = {
    "linking": {"top-1"},
    "membership": {"AUC", "true positives at 1 % false"},
    "singling-out": {"one sentence a row, right"},
    "inference": {"column: true terms claimed beyond p"},
    "fitting": {"members found"},
    "beyond-m": {"victims whose row alone has the terms", "rows singled out by a term's weight"},
}
_EXAMPLE: Record = {"attacks": [], "not_promised": [], "seed": 0, "sha256": "0a1b", "victims": 500}
_FIGURES = ("value", "low", "high", "raw")
_FIELDS = ("attack", "choice", "known", "measure", *_FIGURES, "promised")


def certified(
    release: Release, profiles: Profiles, sha256: str, *, people: int, compare: bool
) -> tuple[Record, list[str]]:
    """Return the certificate of `release`, whose rows have this hash, and what beats its promise.

    Its rows state that they are of `people`. Some may have left, and `profiles` are of the others.
    With `compare`, profiles are as they were when it was made. Else the figures of the promise
    could differ from those of the making, and are not compared with it.
    """
    from .attacks import Attacked

    known = tuple(count for count in KNOWN if count <= int(profiles.sizes.max()))
    target = Attacked(profiles, release, known=known, victims=VICTIMS, seed=SEED)
    results = [*_attacked(target, people)]
    beaten = [
        f"{one.attack}: {one.measure} is {one.value:.6g}, and {one.most:.6g} is promised"
        for one in results
        if compare and one.beats and one.most is not None
    ]
    # Attacks read terms as they stand. Reading them as the words below gets more.
    read = not release.promise.words_above
    lines = [
        _line(one) for one in results if one.most is not None or (read and _is_free(one, people))
    ]
    certificate = {
        "attacks": sorted(lines, key=_key),
        "not_promised": [*NOT_PROMISED],
        "seed": SEED,
        "sha256": sha256,
        "victims": min(VICTIMS, people),
    }
    return certificate, beaten


def _attacked(target: Attacked, people: int) -> Iterator[AttackResult]:
    """Yield the figures of all attacks on `target` that a release of `people` is measured by."""
    from .attacks import ATTACKS, applicable, columns

    yield from columns(target)
    yield from ATTACKS["singling-out"](target)
    if people <= LARGEST:
        yield from ATTACKS["fitting"](target)
        if "beyond-m" in applicable(target) and (target.release.number("m") or 0) <= MOST_TOGETHER:
            yield from ATTACKS["beyond-m"](target)
    if people >= FEWEST:
        yield from ATTACKS["membership"](target)
        for choice in ("random", "rarest"):
            yield from ATTACKS["linking"](replace(target, choice=choice))


def _is_free(one: AttackResult, people: int) -> bool:
    """Return whether a figure that no promise speaks of may be stated of these `people`."""
    return people >= FEWEST and one.measure in FREE.get(one.attack, ())


def _line(one: AttackResult) -> Record:
    """Return what the certificate says of `one`."""
    most = None if one.most is None else float(one.most)
    figures = {"value": _up(one.value), "low": _down(one.low), "high": _up(one.high)}
    if most is not None:
        figures = dict.fromkeys(figures, min(_up(one.value), most))
    raw = None if one.raw is None else _up(one.raw)
    about = {name: getattr(one, name) for name in ("attack", "choice", "known", "measure")}
    return {**about, **figures, "raw": raw, "promised": most}


def _up(share: float) -> float:
    return min(1.0, math.ceil(round(_STEPS * max(share, 0.0), 6)) / _STEPS)


def _down(share: float) -> float:
    return min(1.0, math.floor(round(_STEPS * max(share, 0.0), 6)) / _STEPS)


def _key(line: Mapping[str, Any]) -> tuple[str, str, int, str]:
    return line["attack"], line["measure"], line["known"] or 0, line["choice"] or ""


# -- what is read ----------------------------------------------------------------------------------


def certificate_faults(
    certificate: Record, sha256: str, parameters: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what no `certificate` says of rows with this hash, made with `parameters`."""
    check_record(certificate, _EXAMPLE)
    if certificate["sha256"] != sha256:
        yield "its certificate is of other rows"
    about = (certificate["seed"], certificate["not_promised"])
    if about != (SEED, [*NOT_PROMISED]) or not 1 <= certificate["victims"] <= VICTIMS:
        yield "its certificate has another seed, number of victims or list of what is not promised"
    promised = {None, 0, parameters.get("p")}
    if k := parameters.get("k"):
        promised.add(1 / k)
    lines = certificate["attacks"]
    if not all(isinstance(line, dict) and _is_sound(line, promised) for line in lines):
        yield "its certificate has a line that no attack writes"
    elif any(_key(one) >= _key(later) for one, later in pairwise(lines)):
        yield "the attacks of its certificate stand in another order, or twice"


def _is_sound(line: Record, promised: set[Any]) -> bool:
    """Return whether an attack may say `line`; `promised`: what a release may promise."""
    if line.keys() != {*_FIELDS} or not isinstance(line["attack"], str):
        return False
    bound = line["promised"]
    kind = FREE if bound is None else BOUNDED
    if line["measure"] not in kind.get(line["attack"], ()) or not _is_known(line):
        return False
    figures = [line[name] for name in _FIGURES if name != "raw" or line["raw"] is not None]
    if any(type(figure) is not float or not _is_step(figure, bound) for figure in figures):
        return False
    sound_bound = bound is None or (type(bound) is float and bound in promised)
    return bool(sound_bound and line["low"] <= line["value"] <= line["high"])


def _is_known(line: Record) -> bool:
    """Return whether `line` says in a known way what the attacker knows."""
    known, choice = line["known"], line["choice"]
    number = known is None or (type(known) is int and 0 <= known < _STEPS)
    return number and choice in (None, "random", "rarest")


def _is_step(figure: float, bound: float | None) -> bool:
    steps = np.arange(_STEPS + 1) / _STEPS
    return figure == bound or bool(np.any(steps == figure))
