"""Attacks on a release by name; each docstring says what the attacker knows, and uses no maker."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import BadParameter
from .attacked import KNOWN, Attacked, AttackResult
from .fitting import fitting
from .inference import inference
from .linking import linking

ATTACKS: dict[str, Callable[[Attacked], list[AttackResult]]] = {
    "linking": linking,
    "inference": inference,
    "fitting": fitting,
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


__all__ = ["ATTACKS", "KNOWN", "AttackResult", "Attacked", "applicable", "attack_of"]
