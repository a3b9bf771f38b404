"""Attacks on a release by name; each docstring says what the attacker knows, and uses no maker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import BadParameter
from ..families import Family, listing
from ..model import Profiles, Progress, silent
from .attacked import KNOWN, Attacked, AttackResult
from .beyond_m import beyond_m
from .fitting import fitting
from .inference import columns, inference
from .linking import linking
from .membership import membership
from .singling_out import singling_out
from .two_releases import two_releases

Attack = Callable[[Attacked], list[AttackResult]]
_OURS: dict[str, Attack] = {
    "linking": linking,
    "inference": inference,
    "membership": membership,
    "singling-out": singling_out,
    "two-releases": two_releases,
    "fitting": fitting,
    "beyond-m": beyond_m,
}
ATTACKS: Family[Attack] = Family("veilsearch.attacks", _OURS, listing(AttackResult))


def applicable(target: Attacked) -> list[str]:
    """Return the names of the attacks that `target` has all the input for."""
    lacking = {
        "two-releases": target.second is None,
        "beyond-m": target.release.promise.bounds != "combinations",
    }
    return [name for name in ATTACKS if not lacking.get(name)]


def attack_of(name: str) -> Attack:
    """Return the attack called `name`."""
    if name not in ATTACKS:
        raise BadParameter(f"no attack {name}; there are: {', '.join(ATTACKS)}")
    return ATTACKS[name]


def usual_known(profiles: Profiles) -> tuple[int, ...]:
    """Return how many known terms of a victim are usual, as far as `profiles` have them."""
    most = int(profiles.sizes.max())
    return tuple(count for count in KNOWN if count <= most)


def run_attacks(
    target: Attacked, names: Sequence[str] = (), progress: Progress = silent
) -> list[AttackResult]:
    """Return the figures of the attacks `names` on `target`, or of all that have their input."""
    chosen = [attack_of(name) for name in dict.fromkeys(names or applicable(target))]
    results: list[AttackResult] = []
    for done, attack in enumerate(chosen, 1):
        results += attack(target)
        progress(done)
    return results


__all__ = ["ATTACKS", "AttackResult", "Attacked", "columns", "run_attacks", "usual_known"]
