"""Attacks on a release by name; each docstring says what the attacker knows, and uses no maker."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import BadParameter
from .attacked import KNOWN, Attacked, AttackResult
from .beyond_m import beyond_m
from .fitting import fitting
from .inference import columns, inference
from .linking import linking
from .membership import membership
from .singling_out import singling_out
from .two_releases import two_releases

ATTACKS: dict[str, Callable[[Attacked], list[AttackResult]]] = {
    "linking": linking,
    "inference": inference,
    "membership": membership,
    "singling-out": singling_out,
    "two-releases": two_releases,
    "fitting": fitting,
    "beyond-m": beyond_m,
}


def applicable(target: Attacked) -> list[str]:
    """Return the names of the attacks that `target` has all the input for."""
    lacking = {
        "two-releases": target.second is None,
        "beyond-m": target.release.promise.bounds != "combinations",
    }
    return [name for name in ATTACKS if not lacking.get(name)]


def attack_of(name: str) -> Callable[[Attacked], list[AttackResult]]:
    """Return the attack called `name`."""
    if name not in ATTACKS:
        raise BadParameter(f"no attack {name}; there are: {', '.join(ATTACKS)}")
    return ATTACKS[name]


__all__ = ["ATTACKS", "KNOWN", "AttackResult", "Attacked", "applicable", "attack_of", "columns"]
