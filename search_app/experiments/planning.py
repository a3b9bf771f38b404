"""Variants to units: what has to be made and searched, once each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .design import Variant
from .outcomes import Unit

Key = tuple[str, tuple[tuple[str, str], ...], str, str, int]


def units_of(variants: Sequence[Variant]) -> tuple[Unit, ...]:
    """Name each release that is needed, with every mode and pool any variant asks of it."""
    asked: dict[Key, dict[tuple[str, int], None]] = {}
    first: dict[Key, Variant] = {}
    for variant in variants:
        for seed in variant.seeds:
            key = _key(variant, seed)
            first.setdefault(key, variant)
            wanted = ((mode, pool) for mode in variant.modes for pool in variant.pools)
            asked.setdefault(key, {}).update(dict.fromkeys(wanted))
    return tuple(
        Unit(
            name=f"u{number:03d}",
            label=first[key].label,
            method=first[key].method,
            parameters=first[key].complete,
            weights=first[key].weights,
            vectors=first[key].vectors,
            seed=key[-1],
            asked=_mode_by_mode(asked[key]),
        )
        for number, key in enumerate(first, 1)
    )


def _mode_by_mode(asked: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Put what is asked in the order in which it is measured: a mode's pools follow each other."""
    pools: dict[str, list[int]] = {}
    for mode, pool in asked:
        pools.setdefault(mode, []).append(pool)
    return tuple((mode, pool) for mode, found in pools.items() for pool in sorted(found))


def _key(variant: Variant, seed: int) -> Key:
    complete = sorted((name, repr(value)) for name, value in variant.complete.items())
    return variant.method, tuple(complete), variant.weights, variant.vectors, seed
